package objectfile

import (
	"bytes"
	"iter"
)

// documents splits a stream of YAML at its "---" lines. Empty documents are left out.
func documents(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start := 0
		for at := 0; at <= len(raw); {
			end := bytes.IndexByte(raw[at:], '\n')
			if end < 0 {
				end = len(raw) - at
			}
			if line := raw[at : at+end]; len(line) > 2 && string(bytes.TrimRight(line, " \t\r")) == "---" {
				if doc := raw[start:at]; len(bytes.TrimSpace(doc)) > 0 && !yield(doc) {
					return
				}
				start = min(at+end+1, len(raw))
			}
			at += end + 1
		}
		if doc := raw[start:]; len(bytes.TrimSpace(doc)) > 0 {
			yield(doc)
		}
	}
}

// header is what a scan of the lines at the left margin shows of a document, without
// decoding it.
type header struct {
	doc        []byte
	apiVersion string
	kind       string
	items      int // offset after the line "items:", 0 where there is none
	noItems    bool
}

// scanHeader reads the top-level keys of a block style document.
func scanHeader(doc []byte) header {
	h := header{doc: doc}
	for at := 0; at < len(doc); {
		end := bytes.IndexByte(doc[at:], '\n')
		if end < 0 {
			end = len(doc) - at
		}
		line := doc[at : at+end]
		at += end + 1
		if len(line) == 0 || line[0] == ' ' || line[0] == '-' || line[0] == '#' {
			continue
		}
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		value = bytes.Trim(value, " \t\r\"'")
		switch string(key) {
		case "apiVersion":
			h.apiVersion = string(value)
		case "kind":
			h.kind = string(value)
		case "items":
			switch string(value) {
			case "":
				h.items = min(at, len(doc))
			case "null", "[]", "~":
				h.noItems = true
			}
		}
	}
	return h
}

// splitItems returns the text of each item of a block style List, given the text
// after its line "items:". The dash of an item is the leftmost character of its lines,
// and YAML keeps everything that belongs to the item further right, block scalars
// included, so that lines decide. The text of an item has a space instead of
// its dash, which makes it a document of its own. False means that the List has another
// form and that the document must be decoded as a whole.
func splitItems(body []byte) ([][]byte, bool) {
	if otherBreaks(body) {
		return nil, false
	}
	indent := -1
	var items [][]byte
	start := -1
	flush := func(end int) {
		if start >= 0 {
			item := bytes.Clone(body[start:end])
			item[indent] = ' '
			items = append(items, item)
			start = -1
		}
	}
	at := 0
	for at < len(body) {
		end := bytes.IndexByte(body[at:], '\n')
		if end < 0 {
			end = len(body) - at
		}
		line := body[at : at+end]
		left := margin(line)
		switch {
		case left == len(line) || line[left] == '#' && left == 0 || line[left] == '\r':
			// blank
		case indent < 0:
			if !dash(line, left) {
				return nil, line[left] != '[' && line[left] != '{' && line[left] != '&' && left == 0
			}
			indent, start = left, at
		case left == indent && dash(line, left):
			flush(at)
			if len(items) >= maxItems {
				return items, true
			}
			start = at
		case left <= indent:
			flush(at)
			return items, true
		}
		at += end + 1
	}
	flush(len(body))
	return items, true
}

// otherBreaks reports whether a text has line breaks that YAML knows and that are neither
// LF nor CRLF: a lone CR, NEL, LS and PS (go.yaml.in/yaml/v2:yamlprivateh.go is_break). No
// program that writes objects uses them outside of quotes.
func otherBreaks(text []byte) bool {
	for rest := text; ; {
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			break
		}
		if rest = rest[i+1:]; len(rest) > 0 && rest[0] != '\n' {
			return true
		}
	}
	return bytes.Contains(text, []byte("\u0085")) || bytes.Contains(text, []byte("\u2028")) || bytes.Contains(text, []byte("\u2029"))
}

func margin(line []byte) int {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

func dash(line []byte, at int) bool {
	return line[at] == '-' && (at+1 == len(line) || line[at+1] == ' ' || line[at+1] == '\r')
}
