package sanitize

import (
	"strings"
)

// The lines of a key in PEM, and of base64 that a program broke into lines, are told by their form
// wherever they stand: words of 64, 70 or 76 characters of base64, with a shorter one behind them.
// What a log writes in front of each line, and whether the head or the foot is there, does not
// matter. What a head, a foot or its own beginning shows to be public stays.

// bodyReader reads lines and notes those of bodies. It goes on over the lines of a stream.
type bodyReader struct {
	public  bool // in something that a head or its beginning shows to be public
	head    bool // it was a head that showed it
	column  int  // where the last line of the body begins, and 1; 0 if there is none
	before  span // the word at the end of the line before, and
	at      int  // where that begins in its line
	secret  bool // the body is more than plain text
	pending []span
	opaque  func(words string) bool // whether base64 is more than plain text
}

// active reports whether the reader is in a body, or in something public.
func (r *bodyReader) active() bool { return r != nil && (r.public || r.column > 0) }

// read returns where the words of bodies are in a text.
func (r *bodyReader) read(t string) (found []span) {
	r.pending, r.before, r.at = nil, span{}, 0 // of another text
	group := 0                                 // where in found the words of the group begin that is read
	next := func(ends bool) {
		var words strings.Builder
		for _, w := range found[group:] {
			words.WriteString(t[w.from:w.to])
		}
		if words.Len() > 0 && !r.secret && !r.opaque(words.String()) {
			found = found[:group]
		}
		r.secret = !ends && (r.secret || words.Len() > 0 && len(found) > group)
		group = len(found)
	}
	for at := 0; at < len(t); {
		line := t[at:]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		from, to, foot := pemMark(line)
		if from < 0 {
			if strings.ContainsAny(line, alphanumeric) && !r.line(at, line, &found) {
				next(true)
			}
			at += len(line) + 1
			continue
		}
		if head := line[:from]; strings.ContainsAny(head, alphanumeric+"=") && !r.line(at, head, &found) {
			next(true)
		}
		private := strings.Contains(strings.ToUpper(line[from:to]), "PRIVATE KEY")
		switch {
		case foot && private:
			found = append(found, r.beforeFoot()...)
		case foot:
			found = found[:group]
		}
		next(true)
		r.public, r.head, r.column, r.pending, r.before = !foot && !private, true, 0, nil, span{}
		if at += to; at < len(t) && t[at] == '\n' {
			at++
		}
	}
	next(false)
	return found
}

// beforeFoot returns the words of the lines in front of the foot of a key: the last may be short.
func (r *bodyReader) beforeFoot() []span {
	p := r.pending
	for i := len(p) - 2; i >= 0; i-- {
		if p[i].to-p[i].from < 16 {
			return p[i+1:]
		}
	}
	return p
}

// opaque reports whether base64 is no text, also in gzip, or one that holds a secret.
func (s *Sanitizer) opaque(words string) bool {
	raw := decode64(words, len(words))
	if strings.HasPrefix(raw, "\x1f\x8b\x08") {
		text, whole := inflated(raw, inflatedBase+inflatedTimes*len(words))
		if !whole {
			return true
		}
		raw = text
	}
	return len(textStart(raw)) < len(raw) || s.finds(raw)
}

// pemMark returns where the first head or foot is of PEM, or of SSH2's own; from is -1 if there is
// none.
func pemMark(line string) (from, to int, foot bool) {
	for at := 0; ; {
		n := strings.Index(line[at:], "----")
		if n < 0 {
			return -1, -1, false
		}
		from = at + n
		i := from
		for i < len(line) && (line[i] == '-' || line[i] == ' ') {
			i++
		}
		if foot = strings.HasPrefix(line[i:], "END "); foot || strings.HasPrefix(line[i:], "BEGIN ") {
			for to = i; to < len(line) && (word(line[to]) || line[to] == ' '); {
				to++
			}
			for to < len(line) && line[to] == '-' {
				to++
			}
			return from, to, foot
		}
		at = i
	}
}

// line reads one line, and reports whether a body goes on in it.
func (r *bodyReader) line(at int, line string, found *[]span) bool {
	full, last := false, 0     // the end of the last whole line of base64
	prior, beside := span{}, 0 // the word in front of it in this line, and where that ends
	for i := 0; i < len(line) && len(line) >= 64; {
		from, to := baseWord(line, i)
		if from < 0 {
			break
		}
		i = to
		switch w := line[from:to]; {
		case (isFullWord(w) || isFullHead(w)) && !hashBefore(line[:from]) && !ofLonger(line, from, to):
			if !r.active() && publicDER(w) {
				r.public, r.head = true, false
			}
			if from-beside >= 8 || prior.to == 0 {
				prior = r.before
			}
			if !full && !r.public && r.column == 0 && prior.to > prior.from {
				*found = append(*found, prior)
			}
			full, last, r.column = true, to, from+1
			if !r.public {
				*found = append(*found, span{at + from, at + to})
			}
		case last > 0 && from-last < 8 && len(w) <= 76 && !r.public && (len(w) > 3 || strings.HasPrefix(line[to:], "=")):
			*found = append(*found, span{at + from, at + to})
			last = 0
		case len(w) > 3:
			if prior, beside = (span{}), to; len(w) >= 16 && len(w) < 76 && mixedWord(w) {
				prior = span{at + from, at + to}
			}
		}
	}
	if full {
		r.pending = nil
		return true
	}
	from, to := lastBaseWord(line)
	if r.public {
		r.public = r.head || from >= 0 && r.column == from+1
		r.column = 0
		return r.public
	}
	tail := from >= 0 && r.column > 0 && r.column-from <= 3 && from-r.column < 3 && to-from <= 76
	switch {
	case tail:
		*found = append(*found, span{at + from, at + to})
		r.pending = nil
	case from < 0:
		r.pending = nil
	case r.at == from+1 && len(r.pending) < maxKeyLines:
		r.pending = append(r.pending, span{at + from, at + to})
	default:
		r.pending = append(r.pending[:0], span{at + from, at + to})
	}
	r.column, r.at, r.before = 0, from+1, span{}
	if from >= 0 && to-from >= 16 && to-from < 76 && mixedWord(line[from:to]) {
		r.before = span{at + from, at + to}
	}
	return tail
}

func baseSign(b byte) bool { return sixBits[b] != 0xff && b != '-' && b != '_' }

// baseWord returns where the next word of base64 is.
func baseWord(line string, i int) (from, to int) {
	for i < len(line) && !baseSign(line[i]) {
		i++
	}
	if from = i; from == len(line) {
		return -1, -1
	}
	for i < len(line) && baseSign(line[i]) {
		i++
	}
	if n := i - from; (n == 65 || n == 71 || n == 77) && line[from] == '+' { // a line that a diff added
		from++
	}
	return from, i
}

// lastBaseWord returns where the word of base64 is that ends a line, but for signs.
func lastBaseWord(line string) (from, to int) {
	to = len(line)
	if i := strings.LastIndex(line, "</"); i >= 0 && to-i < 16 {
		to = i // of an element of XML
	}
	line = strings.TrimSuffix(strings.TrimRight(line[:to], " \t\r"), " +")
	to = len(strings.TrimRight(line, "= \t\r\"',;:\\|()[]{}<>│"))
	for from = to; from > 0 && baseSign(line[from-1]); from-- {
	}
	if to-from < 2 {
		return -1, -1
	}
	return from, to
}

// mixedWord reports whether a word may be a part of a line of base64.
func mixedWord(w string) bool {
	n := classesOf(w)
	return n.upper > 1 && n.lower > 1 && n.digits > 0
}

// isFullWord reports whether a word is a whole line of base64: as long as programs break lines, and
// mixed as base64 is.
func isFullWord(w string) bool {
	if !lineLong(w) || strings.HasPrefix(w, "AAAA") {
		return false
	}
	n := classesOf(w)
	if n.upper < 3 || n.lower < 3 || n.digits < 2 {
		return false
	}
	changes := 0
	for i := 1; i < len(w); i++ {
		if classOf(w[i]) != classOf(w[i-1]) {
			changes++
		}
	}
	return changes > len(w)/3
}

// lineLong reports whether a word is as long as programs break lines of base64.
func lineLong(w string) bool { return len(w) == 64 || len(w) == 70 || len(w) == 76 }

// isFullHead reports whether a word is the first line of something public. The lengths and names that
// it begins with have long rows of capitals, so that it may be less mixed than the lines behind it.
func isFullHead(w string) bool { return lineLong(w) && publicDER(w) }

// ofLonger reports whether a word is a part of one in the alphabet of URLs.
func ofLonger(line string, from, to int) bool {
	return from > 1 && strings.IndexByte("-_", line[from-1]) >= 0 || to < len(line) && strings.IndexByte("-_", line[to]) >= 0
}

// hashBefore reports whether a text ends in the name of a hash, as in SHA384:...
func hashBefore(v string) bool {
	v = strings.ToLower(v[max(0, len(v)-7):])
	return strings.HasPrefix(v, "sha") && strings.IndexByte(":-=~", v[len(v)-1]) >= 0
}

// publicDER reports whether base64 begins as a certificate, a request or a public key: a SEQUENCE in
// a SEQUENCE that is no encrypted key.
func publicDER(w string) bool {
	if w[0] != 'M' {
		return false
	}
	raw := decode64(w, len(w))
	body, ok := derHead(raw, 0x30)
	if !ok {
		return false
	}
	_, sequence := derHead(body, 0x30)
	_, number := derHead(body, 0x02)
	return (sequence || number && body[1] >= 0x40) && !keyStore(raw)
}
