package sanitize

import "strings"

// Here a decoder reads the value that belongs to a name, and judges it.

// value reads a value at a place of the view, and notes it if it is a secret.
func (d *decoder) value(i int, kind keyKind, how relation) bool {
	if i >= len(d.t) {
		return false
	}
	var s span
	if d.quote(i) {
		s = d.quotedValue(i)
		if i > 0 && d.t[i-1] == '[' {
			s.to = d.list(s.to)
		} else if how <= set && kind >= maybeKey {
			s.to = concatenated(d.v, d.quotedLines(shellEnd(d.v, s.from, s.to), d.v[s.from-1], kind), d.quotedUntil)
		}
	} else {
		from := d.w.place(i)
		s = span{from, d.unquotedUntil(from, kind < deepKey || how == cell || how == near)}
		if kind == deepKey && i > 0 && d.t[i-1] == '[' || kind >= maybeKey && i > 0 && strings.IndexByte("[{(", d.t[i-1]) >= 0 && isNumberList(d.t[i:]) {
			s.to = max(s.to, d.plainList(s.from))
		}
		if isNumberList(d.t[i:]) {
			return d.judge(s, deepKey, how, false)
		}
	}
	return d.judge(s, kind, how, d.quote(i))
}

// concatenated returns where the last of several texts in quotes ends that a sign joins, of which the first ends at i: "a" + "b".
func concatenated(v string, i int, quotedUntil func(int) int) int {
	for i < len(v) && strings.IndexByte("\"'\\", v[i]) >= 0 {
		n := len(joint.get().FindString(v[i:min(len(v), i+32)]))
		if n == 0 {
			break
		}
		i = quotedUntil(i + n)
	}
	return i
}

// joint stands between two texts that a program joins.
var joint = lazily(`^(\\*["'])[ \t]{0,4}(?:\+|\.|\|\|)[ \t\r\n]{0,12}\\*["']`)

// quotedLines returns where a value in quotes ends whose line ended first, as YAML, JSON with raw line breaks and shells
// have it: at the quote that ends one of the next lines. It is the end of the first line where none does.
func (d *decoder) quotedLines(end int, mark byte, kind keyKind) int {
	if kind < secretKey || end >= len(d.v) || d.v[end] != '\n' || mark != '"' && mark != '\'' || !d.spend(maxBeside/4) {
		return end
	}
	rest := d.v[end:min(len(d.v), end+maxBeside)]
	n := strings.IndexByte(rest, mark)
	if n < 0 || strings.Count(rest[:n], "\n") > maxFields || strings.ContainsAny(rest[:n], ":=") {
		return end
	}
	line, _, _ := strings.Cut(rest[n+1:], "\n")
	if strings.Trim(line, ",;)}] \t\r") != "" {
		return end
	}
	return end + n
}

// list returns where the last of the values of a list ends, of which the first ends at i; some may
// have no quotes.
func (d *decoder) list(i int) int {
	for mixed := false; ; {
		begin, next := i, 0
		rest := d.v[i:min(len(d.v), i+64)]
		if next = len(listNext.get().FindString(rest)); next > 0 && i+next < len(d.v) {
			i = d.quotedUntil(i + next)
		} else if next = len(listBare.get().FindString(rest)); next > 0 {
			end, more := d.plainItems(i + next)
			if end > i+next {
				i = end
			}
			if mixed = true; !more {
				return i
			}
		} else {
			return i
		}
		if mixed && !d.spend(i-begin) {
			return i
		}
	}
}

// plainItems returns where the values without quotes of a list end that begin at from, and whether
// one in quotes follows; from if no bracket closes the list.
func (d *decoder) plainItems(from int) (end int, more bool) {
	n := strings.IndexAny(d.v[from:min(len(d.v), from+maxBeside)], "]})\r\n\"'\\")
	if n <= 0 {
		return from, false
	}
	if strings.IndexByte("]})", d.v[from+n]) >= 0 {
		return from + n, false
	}
	if head := strings.TrimRight(d.v[from:from+n], " \t"); len(head) > 1 && strings.HasSuffix(head, ",") {
		return from + len(head) - 1, true
	}
	return from, false
}

// plainList returns where a list ends whose first value has no quotes and begins at from.
func (d *decoder) plainList(from int) int {
	end, more := d.plainItems(from)
	if more {
		end = d.list(end)
	}
	return end
}

// judge notes a span whose value is a secret.
func (d *decoder) judge(s span, kind keyKind, how relation, quoted bool) bool {
	if s.from >= s.to {
		return false
	}
	value := d.v[s.from:s.to]
	if d.w.at != nil {
		value = d.w.shown(s)
	}
	if d.header != "" && how == beside {
		if found := headerValue(d.header, value); len(found) > 0 {
			at := d.w.shownAt(s.from)
			for _, f := range found {
				d.note(at+f.from, at+f.to)
			}
			return true
		}
	}
	lo, hi := secretIn(value, kind, how, quoted)
	if lo >= hi {
		return false
	}
	if len(value) == s.to-s.from {
		s = span{s.from + lo, s.from + hi}
	}
	d.found = append(d.found, s)
	d.done = max(d.done, d.w.shownAt(s.to))
	return true
}

// quotedValue returns where a value is whose opening quote is at a place of the view.
func (d *decoder) quotedValue(i int) span {
	from := d.w.place(i + 1)
	if mark := d.v[from-1]; mark == '"' || mark == '\'' || strings.HasSuffix(d.v[:from], "u0022") {
		from = doubled(d.v, from)
		return span{from, d.quotedUntil(from)}
	}
	end := strings.IndexByte(d.t[i+1:min(len(d.t), i+1+maxValue)], d.t[i])
	if end < 0 {
		return span{from, d.unquotedUntil(from, false)}
	}
	return span{from, d.w.place(i + 1 + end)}
}

// quotedUntil is quotedEnd, which is not asked twice about one stretch of text.
func (d *decoder) quotedUntil(from int) int {
	key := [2]int{int(d.v[from-1]), slashes(d.v[max(0, from-64) : from-1])}
	return d.until(key, from, func() int { return quotedEnd(d.v, from) })
}

// unquotedUntil is unquotedEnd, of the same kind.
func (d *decoder) unquotedUntil(from int, word bool) int {
	key := [2]int{-1, 0}
	if word {
		key[1] = 1
	}
	return d.until(key, from, func() int { return unquotedEnd(d.v, from, word) })
}

// until remembers an end that is far away: a value that begins before it, and is of the same
// kind, ends there too.
func (d *decoder) until(key [2]int, from int, find func() int) int {
	const far = 128
	if end, ok := d.ends[key]; ok && from < end && end-from > far {
		return end
	}
	end := find()
	d.steps += end - from
	if end-from > far {
		if d.ends == nil {
			d.ends = map[[2]int]int{}
		}
		d.ends[key] = end
	}
	return end
}

// typeOfName is the type between a name and its value in quotes, as Python, Rust, Kotlin, Swift, Scala and TypeScript
// write it.
var typeOfName = lazily(`^[ \t]*&?(?:'\w+ )?(?:mut )?[A-Za-z][\w.]*(?:\[[\w., ]*\]|<[\w., ]*>)?[?!]?[ \t]+=[ \t]*(?:\w?["'])`)

// changed reads "changed to VALUE" behind a sign.
func (d *decoder) changed(at int, kind keyKind) {
	const most = 32
	if n := strings.Index(d.t[at:min(len(d.t), at+most)], " to "); n > 0 && !strings.ContainsAny(d.t[at:at+n], ",;\n\"{[") {
		d.behind(at+n+1, kind)
	}
}
