package command

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/watch/screen"
)

// shower chooses how a watch is shown: a screen on a terminal that has one.
func (a *app) shower(format string) shower {
	if format == "json" {
		return &asJSON{a.IO.Out}
	}
	if a.IO.Screen.Terminal && a.IO.Screen.Size != nil && a.IO.Getenv("TERM") != "dumb" {
		return &asScreen{out: a.IO.Out, err: a.IO.Err, size: a.IO.Screen.Size, style: a.Style(), clock: a.IO.Clock}
	}
	return &asLines{a.IO.Out, a.Style()}
}

// asJSON writes each change as one line of JSON.
type asJSON struct{ out io.Writer }

func (s *asJSON) isScreen() bool { return false }

func (s *asJSON) events(list []follow.Event) error {
	for _, e := range list {
		if err := screen.JSON(s.out, e); err != nil {
			return err
		}
	}
	return nil
}

func (s *asJSON) frame(follow.View, screen.Size, answer.Options) {}

func (s *asJSON) close() {}

func (s *asJSON) end(e follow.Event, _ *diagnosis.Diagnosis, _ answer.Options) error {
	return screen.JSON(s.out, e)
}

// asLines writes each change as one line.
type asLines struct {
	out   io.Writer
	style page.Style
}

func (s *asLines) isScreen() bool { return false }

func (s *asLines) events(list []follow.Event) error {
	for _, e := range list {
		if err := screen.Line(s.out, e, s.style); err != nil {
			return err
		}
	}
	return nil
}

func (s *asLines) frame(follow.View, screen.Size, answer.Options) {}

func (s *asLines) close() {}

func (s *asLines) end(e follow.Event, d *diagnosis.Diagnosis, o answer.Options) error {
	if err := screen.Line(s.out, e, s.style); err != nil {
		return err
	}
	return screen.End(s.out, *e.End, d, o)
}

// asScreen shows one frame in place, on the terminal's other screen: what was on the
// terminal before is there again afterwards, and nothing else is.
type asScreen struct {
	out, err io.Writer
	size     func() (width, height int)
	style    page.Style
	clock    func() time.Time
	open     bool
	closed   bool
	shown    []string
	width    int
	height   int
}

// What a terminal obeys (xterm's control sequences, which every terminal of today knows):
// the other screen, no cursor, no wrapping at the right edge; and a frame as a whole.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	frameBegin  = "\x1b[?2026h\x1b[H"
	frameEnd    = "\x1b[J\x1b[?2026l"
	lineBegin   = "\x1b[K" // before the line: behind a full one it would take the last character
	lineEnd     = "\r\n"
)

func (s *asScreen) isScreen() bool { return true }

func (s *asScreen) events([]follow.Event) error { return nil }

func (s *asScreen) frame(v follow.View, size screen.Size, o answer.Options) {
	if s.closed {
		return
	}
	size.Width, size.Height = s.size()
	o.Style = s.style
	o.Width = size.Width
	lines := screen.Frame(v, s.clock(), size, o)
	if slices.Equal(lines, s.shown) && s.width == size.Width && s.height == size.Height {
		return
	}
	s.shown, s.width, s.height = lines, size.Width, size.Height
	text := frameBegin + lineBegin + strings.Join(lines, lineEnd+lineBegin) + lineEnd + frameEnd
	if !s.open {
		s.open = true
		text = enterScreen + text
	}
	_, _ = io.WriteString(s.out, text) // a terminal that is gone ends the process by a signal
}

// close gives the terminal back. It may be called twice.
func (s *asScreen) close() {
	if s.open && !s.closed {
		_, _ = io.WriteString(s.out, leaveScreen)
	}
	s.closed = true
}

func (s *asScreen) end(e follow.Event, d *diagnosis.Diagnosis, o answer.Options) error {
	o.Style = s.style
	if e.End.ExitCode != int(cmdutil.ExitInterrupted) {
		fmt.Fprint(s.err, "\a") // who looks elsewhere hears that it is over
	}
	return screen.End(s.out, *e.End, d, o)
}
