package message

import (
	"bytes"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// wrapped reports whether a line is the rest of a sentence: it has no header, and the text before
// it ends within a sentence.
func wrapped(before string, l logline.Line) bool {
	if l.Form != logline.Plain || len(l.Message) == 0 {
		return false
	}
	before = strings.TrimRight(before, " \r\n")
	if before == "" {
		return false
	}
	last, next := before[len(before)-1], l.Message[0]
	switch {
	case last == ',', bytes.HasPrefix(l.Message, []byte("Caused by: ")):
		return true
	case l.Level != logline.NoLevel, len(before) < narrowest, last != '(' && (last < 'a' || last > 'z'):
		return false
	}
	return next >= 'a' && next <= 'z' || next >= '0' && next <= '9'
}

// longestSentence is over how many lines a sentence is wrapped at most.
const longestSentence = 6

// sentence is a line with the rest of its sentence, where it was wrapped where it was pasted.
// After is what is behind the line.
func sentence(line, after []byte) string {
	text := strings.TrimRight(string(line), "\r\n")
	if logline.Parse(line).Form != logline.Plain {
		return text
	}
	after = bytes.TrimPrefix(bytes.TrimPrefix(after, []byte("\r")), []byte("\n"))
	for range longestSentence {
		next, rest, _ := bytes.Cut(after, []byte("\n"))
		l := logline.Parse(next[:min(len(next), maxTried)])
		if !wrapped(text, l) {
			break
		}
		text, after = text+" "+string(l.Message), rest
	}
	return text
}
