package sanitize

import "strings"

// Here the lines of a text are read that a string of JSON holds: password: |\n  X\n. What opens a block in a file does so
// in the file that is a value of an object.

// escapedBlocks returns where values are whose names are in the lines before them, in texts that a program quoted; w is the
// view of v.
func (s *Sanitizer) escapedBlocks(v string, w view) (found []span) {
	if w.at == nil {
		return nil
	}
	var b block
	for at := 0; at <= len(w.text); {
		end, ends := quotedLineEnd(v, w, at)
		at += openedText(w.text[at:end])
		line := w.text[at:end]
		if b.left > 0 && line != "" {
			if clean, ok := b.next(s, line); ok && clean != line {
				from, to := changedPart(line, clean)
				found = append(found, span{at + from, at + to})
			} else if !ok {
				b.open(line)
			}
		} else {
			b.open(line)
		}
		if ends {
			b = block{}
		}
		at = end + 1
	}
	return w.spans(found)
}

// openedText returns where a text begins whose opening quote is in a line; 0 if there is none.
func openedText(line string) int {
	i := strings.LastIndexByte(line, '"')
	if i < 0 || !opensText(line[:i]) {
		return 0
	}
	return i + 1
}

// opensText reports whether a quote behind a text opens another one.
func opensText(head string) bool {
	head = strings.TrimRight(head, " \\")
	return head != "" && strings.IndexByte(":[,({=", head[len(head)-1]) >= 0
}

// quotedLineEnd returns where a line of the view ends: at a line break, or at the quote around the text, which ends
// whatever began in it.
func quotedLineEnd(v string, w view, at int) (end int, ends bool) {
	for end = at; end < len(w.text); end++ {
		switch w.text[end] {
		case '\n':
			return end, false
		case '"':
			if v[w.at[end]] == '"' {
				return end, true
			}
		}
	}
	return end, true
}

// changedPart returns where a line differs from what became of it.
func changedPart(line, clean string) (from, to int) {
	for from < len(line) && from < len(clean) && line[from] == clean[from] {
		from++
	}
	to = len(line)
	for n := len(clean); to > from && n > from && line[to-1] == clean[n-1]; {
		to, n = to-1, n-1
	}
	return from, to
}
