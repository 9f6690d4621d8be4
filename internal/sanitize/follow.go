package sanitize

import "strings"

// Follow does to the state of a stream what Line does, and makes no text.
func (s *Sanitizer) Follow(v string) {
	switch begin, end := -1, -1; {
	case s.inside == 0 && !strings.Contains(v, "-----"):
	default:
		begin, end = last(keyBegin, v), last(keyEnd, v)
		if s.inside > 0 || begin > end {
			s.spanKey(begin, end)
			return
		}
	}
	if s.block.left > 0 {
		if _, ok := s.block.next(s, v); ok {
			return
		}
	}
	s.block = opened(v)
	if endsWrapped(v) {
		s.openBlob(v, s.Text(v))
	}
}

// endsWrapped is a quick look for what wrapped matches.
func endsWrapped(v string) bool {
	const run = 60
	if len(v) < run {
		return false
	}
	for i := len(v) - run; i < len(v); i++ {
		if sixBits[v[i]] == 0xff {
			return false
		}
	}
	return true
}
