package message

import (
	"bytes"
	"regexp"
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
	after = bytes.TrimPrefix(bytes.TrimPrefix(after, []byte("\r")), []byte("\n"))
	if l := logline.Parse(line); l.Form != logline.Plain {
		next, _, _ := bytes.Cut(after, []byte("\n"))
		if rest := logline.Parse(next[:min(len(next), maxTried)]); len(l.Program) > 0 && len(rest.Program) == 0 &&
			sameKernelRecord(Line{Text: text, origin: origin{writer: string(l.Program)}}, next) {
			return text + " " + string(rest.Message)
		}
		return text
	}
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

// kernelTime is the time that the kernel's log has before each line of one record (kernel/printk/printk.c of Linux,
// record_print_text).
var kernelTime = regexp.MustCompile(`^[> \t]*(\[ *\d+\.\d{6}\]) `)

// sameKernelRecord reports whether a line is a further one of the record that a program wrote to the kernel's log.
func sameKernelRecord(first Line, line []byte) bool {
	if first.writer == "" {
		return false
	}
	a, b := kernelTime.FindStringSubmatch(first.Text), kernelTime.FindSubmatch(line[:min(len(line), narrowest)])
	return a != nil && b != nil && a[1] == string(b[1])
}
