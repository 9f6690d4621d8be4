package sanitize

import "strings"

// view is a text as it was before a program quoted it: what a log in JSON, logfmt or
// klog's structured form carries as \n, \" and \u003c. Every place knows where it is in
// the text itself.
type view struct {
	text string
	at   []int // of each byte of the view, and of its end; nil where they are the same
}

// escapes are what follows backslashes, however many levels of quotes make of them.
var escapes = []struct{ written, means string }{
	{"n", "\n"}, {"r", "\r"}, {"t", "\t"}, {`"`, `"`}, {"'", "'"}, {"/", "/"},
	{"u0022", `"`}, {"u0026", "&"}, {"u0027", "'"}, {"u003c", "<"}, {"u003e", ">"}, {"u003C", "<"}, {"u003E", ">"}, {"u003d", "="}, {"u000a", "\n"},
}

// unquoted returns the view of a text. With lines what is in double quotes is made a
// line of its own.
func unquoted(v string, lines bool) (view, bool) {
	if strings.IndexByte(v, '\\') < 0 && (!lines || strings.IndexByte(v, '"') < 0) {
		return view{}, false
	}
	var b strings.Builder
	b.Grow(len(v))
	at := make([]int, 0, len(v)+1)
	write := func(part string, i int) {
		b.WriteString(part)
		for range len(part) {
			at = append(at, i)
		}
	}
	for i := 0; i < len(v); {
		next := i + 1
		switch {
		case v[i] == '"' && lines:
			write("\n", i)
		case v[i] != '\\':
			b.WriteByte(v[i])
			at = append(at, i)
		default:
			run := slashRun(v, i)
			means := ""
			for _, e := range escapes {
				if strings.HasPrefix(v[run:], e.written) {
					means, next = e.means, run+len(e.written)
					break
				}
			}
			if means == "" {
				for next = i; next < run; next++ {
					b.WriteByte('\\')
					at = append(at, next)
				}
				break
			}
			if means == "\n" && run-i > 0 && (run-i)%3 == 0 { // with a backslash before it, of a script
				write("\\", i)
			}
			if means == `"` && lines {
				means = "\n"
			}
			write(means, i)
		}
		i = next
	}
	return view{b.String(), append(at, len(v))}, true
}

// spans returns where in the text itself is what was found in the view.
func (w view) spans(found []span) []span {
	for i, s := range found {
		found[i] = span{w.at[s.from], w.at[s.to]}
	}
	return found
}
