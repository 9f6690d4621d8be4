package sanitize

import "strings"

// Here a decoder reads anchors and tags of YAML, and the types of dumps.

// alias reads the value of the anchor of YAML that an alias at a place stands for.
func (d *decoder) alias(at int, kind keyKind) bool {
	if d.t[at] != '*' {
		return false
	}
	end := d.nameEnd(at + 1)
	if d.marks == nil {
		d.marks = map[string]int{}
		for i := strings.IndexByte(d.t, '&'); i >= 0 && i < len(d.t); {
			e := d.nameEnd(i + 1)
			if value := skip(d.t, e, " \t"); e > i+1 && value > e {
				d.marks[d.t[i+1:e]] = value
			}
			n := strings.IndexByte(d.t[e:], '&')
			if n < 0 {
				break
			}
			i = e + n
		}
	}
	value, ok := d.marks[d.t[at+1:end]]
	return ok && d.value(value, kind, beside)
}

// quietTag reports whether a text is the name of an anchor or a tag.
func (d *decoder) quietTag(v string) bool {
	return only(v, alphanumeric+"!_.:/-")
}

// dumpedText is the type in front of a text that PHP dumps; the text itself may be on the next line.
var dumpedText = lazily(`^string\(\d{1,9}\)[ \t]+`)

// underline reports whether a line only underlines the name above it, as oc describe draws it. Three
// hyphens begin a document of YAML.
func underline(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 3 && only(line, "-=─")
}

// dumpType reports whether a text in brackets is a type or a length, as go-spew prints them.
func dumpType(v string) bool {
	switch {
	case strings.HasPrefix(v, "len="), strings.HasPrefix(v, "cap="), strings.HasPrefix(v, "0x"):
		return true
	}
	return v == "string" || v == "*string" || v == "[]byte" || v == "[]uint8" || v == "interface {}" || v == "any"
}
