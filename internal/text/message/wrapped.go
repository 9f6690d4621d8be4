package message

import (
	"bytes"
	"regexp"
	"slices"
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

// klogHead is a header of klog with nothing behind it: the message was put on the next line where it was pasted.
var klogHead = regexp.MustCompile(`(?:^|[ :])[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.-]+\.go:\d+\]\s*$`)

// headOf is a line that is only a header, nil for another one.
func headOf(line []byte) []byte {
	const shortest = 30
	if len(line) < shortest || len(line) > maxTried || !bytes.HasSuffix(bytes.TrimRight(line, " \r\n"), []byte("]")) || !klogHead.Match(line) {
		return nil
	}
	return bytes.TrimRight(line, " \r\n")
}

// cutHead keeps a header until the line behind it comes.
type cutHead struct {
	line  []byte
	known bool // a message knows the header with the line behind it
}

// begins reports whether a line is only a header, and keeps it.
func (h *cutHead) begins(line []byte, known bool) bool {
	head := headOf(line)
	if head != nil {
		h.line, h.known = head, known
	}
	return head != nil
}

// join is a line with the header before it, if it has none of its own.
func (h *cutHead) join(line []byte, known bool) ([]byte, bool) {
	head := h.line
	if h.line = nil; head == nil || len(line) < minError || logline.Parse(line[:min(len(line), maxTried)]).Form == logline.Log {
		return line, known
	}
	return slices.Concat(head, []byte(" "), bytes.TrimLeft(line, " ")), known || h.known
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

// keyOfYAML begins a line that is no rest of a sentence: a key of YAML, or the next one of a list.
var keyOfYAML = regexp.MustCompile(`^\s*(?:- |[\w./-]+:(?: |$))`)

// folded is the rest of a sentence of YAML behind a line of it that is not its first one: lines of the same indentation without a
// key (yaml.org/spec: folded and quoted scalars over several lines).
func folded(line, after []byte) string {
	indent := line[:len(line)-len(bytes.TrimLeft(line, " "))]
	if len(indent) < 2 || keyOfYAML.Match(line) {
		return ""
	}
	var rest strings.Builder
	for range longestSentence {
		next, more, _ := bytes.Cut(after, []byte("\n"))
		next = bytes.TrimRight(next, "\r ")
		words, ok := bytes.CutPrefix(next, indent)
		if !ok || len(words) == 0 || words[0] == ' ' || keyOfYAML.Match(next) || len(next) > widest {
			break
		}
		rest.WriteByte(' ')
		rest.Write(words)
		after = more
	}
	return rest.String()
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
