package message

import (
	"bytes"
	"regexp"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// multierror follows the list that Go programs print of several errors, one a line behind a star
// (hashicorp/go-multierror:format.go, ListFormatFunc). What is around it says only that there is a list.
type multierror struct {
	open    bool
	wrapper string // the form of the error that the list is of
	until   int    // its line
}

var (
	listBegins = regexp.MustCompile(`^\d+ (?:error|errors|error\(s\)) occurred:$`)
	listWithin = regexp.MustCompile(`\d+ (?:error|errors|error\(s\)) occurred:$`)
)

// wraps remembers an error that ends with a colon: a list of others may follow.
func (m *multierror) wraps(number int, l logline.Line) {
	if bytes.HasSuffix(bytes.TrimSpace(l.Message), []byte(":")) {
		m.wrapper, m.until = formOf(l), number
	}
}

// listGap is how many lines are between an error and the list of what it is of.
const listGap = 3

// see reads one line. Taken: it only says that a list follows. An item of a list is an error, whatever it
// looks like.
func (m *multierror) see(f *found, number int, line []byte, l *logline.Line) (taken bool) {
	text := bytes.TrimPrefix(bytes.TrimSpace(l.Message), []byte(`\t`))
	if listWithin.Match(text) && bytes.Contains(text, []byte("eval: *terraform.Eval")) { // each step that the error passes repeats it
		m.open = true
		return true
	}
	if listBegins.Match(text) {
		if m.open = true; m.wrapper != "" && number-m.until <= listGap {
			delete(f.errors, m.wrapper)
		}
		m.wrapper = ""
		return true
	}
	if !m.open {
		return false
	}
	whole := bytes.TrimLeft(line, " \t")
	switch {
	case listWithin.Match(text):
		return true
	case bytes.HasPrefix(whole, []byte("* ")), bytes.HasPrefix(text, []byte("* ")):
		l.Message = bytes.TrimPrefix(text, []byte("* "))
		l.Level = max(l.Level, logline.Error)
		if l.Form == logline.State {
			l.Form = logline.Plain
		}
	case len(text) > 0 && line[0] != ' ' && line[0] != '\t' && l.Form == logline.Plain:
		m.open = false
	}
	return false
}
