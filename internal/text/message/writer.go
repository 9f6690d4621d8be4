package message

import (
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// writer is the program of the catalog that writes a line; nil where none is known.
func (x *Index) writer(from origin) *fault.Writer {
	for _, w := range x.writers {
		if w.Fits(from.writer, from.module) {
			return w
		}
	}
	return nil
}

// nextOf is where the rest of the log of a line's writer is, "" where that is not known.
func (x *Index) nextOf(from origin) string {
	if w := x.writer(from); w != nil {
		return w.Next
	}
	return ""
}

// says is a line without its headers, behind the name of what writes it.
func (x *Index) says(l Line) string {
	words := strings.TrimPrefix(strings.Trim(string(logline.Parse([]byte(l.Text)).Message), " `*"), "Message: ")
	words = strings.TrimSpace(words)
	name := l.writer
	if w := x.writer(l.origin); w != nil {
		name = w.Name
	}
	if name == "" || strings.HasPrefix(words, name) {
		return words
	}
	return name + ": " + words
}
