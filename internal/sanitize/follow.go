package sanitize

import "strings"

// Follow does to the state of a stream what Line does, and makes no text.
func (s *Sanitizer) Follow(v string) {
	if list := readings(v); len(list) > 0 {
		v = list[0]
	}
	switch begin, end := -1, -1; {
	case s.inside == 0 && !strings.Contains(v, "-----"):
	default:
		begin, end = last(keyBegin, v), last(keyEnd, v)
		if s.inside > 0 || begin > end {
			s.spanKey(begin, end)
			return
		}
	}
	if longRun(v) || s.body.active() || strings.Contains(v, "-----") {
		s.body.read(readable(v).text)
	}
	if s.block.left > 0 {
		if _, ok := s.block.next(s, v); ok {
			s.body.read(v)
			return
		}
	}
	if s.manifest.left > 0 || opensManifest(strings.TrimRight(v, " \t\r")) {
		if _, ok := s.manifest.next(s, v); ok {
			return
		}
	}
	s.block.open(v)
	if wrappedEnd([]byte(v)) {
		s.openBlob(v, s.Text(v))
	}
}

// wrappedEnd reports whether a line ends in as many characters of base64, or of a token,
// as lines have that are broken for their length.
func wrappedEnd(v []byte) bool {
	const run = 60
	if len(v) < run {
		return false
	}
	for _, c := range v[len(v)-run:] {
		if sixBits[c] == 0xff && c != '.' {
			return false
		}
	}
	return true
}
