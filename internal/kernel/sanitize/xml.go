package sanitize

import "strings"

// Elements of XML and SOAP, also escaped for HTML or by Go's JSON. Their attributes are
// read as any other name="value".
var xmlMarks = []string{"pass", "pwd", "secret", "token", "key>", "key&", `key\u`, "credential", "authorization", "cookie", "psk"}

// xmlSigns are the spellings of "<" and ">".
var xmlSigns = [][2]string{{"<", ">"}, {"&lt;", "&gt;"}, {`\u003c`, `\u003e`}, {`\u003C`, `\u003E`}}

// xmlElements returns where the texts of elements are that are named as a secret.
func xmlElements(v string) (found []span) {
	for _, sign := range xmlSigns {
		open, end := sign[0], sign[1]
		for at := 0; ; {
			i := strings.Index(v[at:], open+"/")
			if i < 0 {
				break
			}
			closer := at + i
			name := closer + len(open) + 1
			stop := name
			for stop < len(v) && stop < name+128 && (word(v[stop]) || strings.IndexByte(":-.", v[stop]) >= 0) {
				stop++
			}
			if s := elementText(v, at, closer, open, end); s.from < s.to {
				tag := v[name:stop]
				if tag == "value" { // of libvirt's <secret>
					tag = parent(v[at:s.from], open, end)
				}
				value := v[s.from:s.to]
				switch kind := kindOfKey(tag[strings.LastIndexByte(tag, ':')+1:]); {
				case kind >= secretKey && noFlag(value), kind == maybeKey && noPath(value):
					found = append(found, s)
				}
			}
			at = max(stop, closer+1)
		}
	}
	return found
}

// parent returns the name of the element that the last one of a text is in, where it is
// the first in there.
func parent(v, open, end string) string {
	own := strings.LastIndex(v, open)
	if own < 0 {
		return ""
	}
	before := strings.TrimRight(v[:own], " \t\r\n")
	from := strings.LastIndex(before, open)
	if from < 0 || !strings.HasSuffix(before, end) {
		return ""
	}
	name := before[from+len(open):]
	return name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
}

// elementText returns the text before a closing tag, without the blanks around it.
func elementText(v string, from, closer int, open, end string) span {
	text := v[from:closer]
	inner, isCDATA := strings.CutSuffix(text, "]]"+end)
	if i := strings.LastIndex(inner, open+"![CDATA["); isCDATA && i >= 0 {
		from += i + len(open+"![CDATA[")
		return span{from, closer - len("]]"+end)}
	}
	i := strings.LastIndex(text, end)
	if i < 0 {
		return span{}
	}
	from += i + len(end)
	from = skip(v, from, " \t\r\n")
	return span{from, from + len(strings.TrimRight(v[min(from, closer):closer], " \t\r\n"))}
}
