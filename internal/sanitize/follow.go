package sanitize

import (
	"bytes"
	"strings"
)

// formData is in the head of a field of a form, whose value is in a line below.
var formData = []byte("form-data;")

// Spans reports whether a line may begin, continue with or end a secret of several
// lines, so that it must be seen even where no query looks for the line itself.
func (s *Sanitizer) Spans(raw []byte) bool {
	s.catchUp()
	return s.spans(raw)
}

func (s *Sanitizer) spans(raw []byte) bool {
	if s.inside > 0 || s.block.left > 0 || s.table.active() || covered(raw) || bytes.Contains(raw, []byte("-----")) {
		return true
	}
	if bytes.Contains(raw, []byte("? ")) || bytes.IndexByte(raw, '#') > 0 && (commentedHead.get().Match(raw) || bytes.Contains(raw, []byte(": #")) ||
		opensManifest(uncommented(string(bytes.TrimRight(raw, " \t\r"))))) {
		return true
	}
	if s.manifest.left > 0 || bytes.Contains(raw, []byte("<<")) || bytes.Contains(raw, []byte(`"""`)) || bytes.Contains(raw, []byte("'''")) {
		return true
	}
	raw = bytes.TrimRight(raw, " \t\r")
	if len(raw) == 0 {
		return false
	}
	if strings.IndexByte(":=|>-+\\{", raw[len(raw)-1]) >= 0 || bytes.IndexByte(raw, ';') >= 0 && bytes.Contains(raw, formData) ||
		endsInIndicator(raw) || opensItem(raw) || opensTable(raw) || opensManifest(string(raw[max(0, len(raw)-manifestTail):])) {
		return true
	}
	return endsInToken(raw)
}

// Follow keeps track of secrets of several lines over a line that nobody is shown: what Line of the lines behind
// it returns is the same as if it had been called with this one. It is a line without its end.
//
// Most lines of a log are behind the last one that is shown, and whole logs show none: a line is read when one behind
// it is shown, and only kept until then.
func (s *Sanitizer) Follow(raw []byte) {
	if !s.waiting.Add(raw) {
		s.catchUp()
		s.waiting.Add(raw)
	}
}

// Done says that no line of the stream will be shown any more. Without it nothing is wrong, but the memory of the
// lines that wait is not used again.
func (s *Sanitizer) Done() { s.waiting.Drop() }

// catchUp reads the lines that wait.
func (s *Sanitizer) catchUp() {
	_ = s.waiting.Drain(func(raw []byte) error {
		s.follow(raw)
		return nil
	})
}

func (s *Sanitizer) follow(raw []byte) {
	if !s.spans(raw) {
		return
	}
	v := string(raw)
	if s.needsAll(v) {
		s.nextLine(v)
		return
	}
	s.block.open(v)
	if s.table.sees(v) {
		s.table.read(readable(v).text)
	}
	if longRun(v) {
		s.body.read(readable(v).text)
	}
}

// needsAll reports whether only the whole work for a line tells what follows it.
func (s *Sanitizer) needsAll(v string) bool {
	end := strings.TrimRight(v, " \t\r")
	return s.inside > 0 || s.block.left > 0 || s.manifest.left > 0 || s.body.active() || len(end) < len(v) ||
		covered(v) || strings.IndexByte(v, '%') >= 0 || strings.Contains(v, "-----") || strings.Contains(v, redactedPrefix) ||
		opensManifest(uncommented(end)) || endsInToken(end) || wrappedEnd([]byte(end))
}

// commentedHead is the head of a block scalar with a comment behind it.
var commentedHead = lazily(`[ \t][|>][0-9+-]*[ \t]+#`)

// endsInIndicator reports whether a line ends in the head of a block scalar with its
// indentation, as |2.
func endsInIndicator(raw []byte) bool {
	if c := raw[len(raw)-1]; c < '0' || c > '9' {
		return false
	}
	head := bytes.TrimRight(raw, "0123456789+-")
	return bytes.HasSuffix(head, []byte("|")) || bytes.HasSuffix(head, []byte(">"))
}
