package cmdutil

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/session"
)

// Forms are the two forms of one answer, in memory: the text of the screen and the JSON of -o
// json. They are for who passes an answer on to another program.
type Forms struct {
	text, data     *App
	asText, asData bytes.Buffer
}

// Columns is how wide the text of Forms is.
const Columns = 100

// Forms returns an empty answer. Its text is that of a screen of Columns columns without colors,
// with lines of logs marked; nothing of it goes to the output of the program.
func (a *App) Forms() *Forms {
	f := &Forms{}
	f.text, f.data = a.into(&f.asText), a.into(&f.asData)
	return f
}

// into is the same with the answer in a buffer.
func (a *App) into(b *bytes.Buffer) *App {
	c := *a
	c.IO.In, c.IO.Out = strings.NewReader(""), b
	c.IO.Screen = Screen{Width: Columns}
	c.Quiet, c.ASCII, c.Output.MarkLogged = true, false, true
	c.IO.Getenv = func(name string) string {
		switch name {
		case "NO_COLOR":
			return "1"
		case "TERM", "LC_ALL", "LC_CTYPE", "LANG": // the text is UTF-8 wherever the program runs
			return ""
		}
		return a.IO.Getenv(name)
	}
	return &c
}

// Text is the text of the screen.
func (f *Forms) Text() string { return f.asText.String() }

// Data is the JSON of -o json.
func (f *Forms) Data() []byte { return f.asData.Bytes() }

// Each prints both forms. That a printer ends with the exit code of an answer is no error.
func (f *Forms) Each(print func(a *App, format string) error) error {
	if err := answered(print(f.text, "text")); err != nil {
		return err
	}
	return answered(print(f.data, "json"))
}

// Answer answers a question about a run with one diagnosis.
func (f *Forms) Answer(ctx context.Context, r *session.Run, q Question) error {
	diagnose := q.Diagnose
	if diagnose == nil {
		diagnose = r.Diagnose
	}
	once := sync.OnceValues(func() (*diagnosis.Diagnosis, error) { return diagnose(ctx) })
	q.Diagnose = func(context.Context) (*diagnosis.Diagnosis, error) { return once() }
	if err := answered(f.text.Answer(ctx, r, "text", q)); err != nil {
		return err
	}
	return answered(f.data.Answer(ctx, r, "json", q))
}

// answered leaves out the exit code of an answer that was given.
func answered(err error) error {
	var exit *ExitError
	if errors.As(err, &exit) && exit.Err == nil {
		return nil
	}
	return err
}
