package cmdutil

import (
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/rollcall-project/rollcall/internal/page"
)

// Screen is what stdout and stderr are.
type Screen struct {
	Terminal    bool // stdout is one
	ErrTerminal bool // stderr is one
	InTerminal  bool // stdin is one
	Width       int  // columns of stdout; 0: not known; page.NoWrap: it is no terminal

	Size func() (width, height int) // of stdout now; nil where it is no terminal
}

func screenOf(out *os.File) Screen {
	s := Screen{Terminal: isatty.IsTerminal(out.Fd()), ErrTerminal: isatty.IsTerminal(os.Stderr.Fd()), InTerminal: isatty.IsTerminal(os.Stdin.Fd())}
	if s.Terminal {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			s.Width = width
		}
		s.Size = func() (width, height int) {
			if width, height, err := term.GetSize(int(out.Fd())); err == nil {
				return width, height
			}
			return 80, 24
		}
	} else {
		s.Width = page.NoWrap
	}
	return s
}

// height is how many rows stdout has, 0 where it is no terminal.
func (s Screen) height() int {
	if s.Size == nil {
		return 0
	}
	_, rows := s.Size()
	return rows
}

// Style says how text output may look.
//
// NO_COLOR (any value but the empty one) wins over CLICOLOR_FORCE; a dumb terminal
// gets neither color nor line drawing; a locale that is not UTF-8 gets ASCII.
func (a *App) Style() page.Style {
	dumb := a.IO.Getenv("TERM") == "dumb"
	s := page.Style{
		Width: a.IO.Screen.Width,
		Color: a.IO.Screen.Terminal && !dumb,
		ASCII: a.ASCII || dumb || !utf8Locale(a.IO.Getenv),
	}
	if force := a.IO.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		s.Color = true
	}
	if a.IO.Getenv("NO_COLOR") != "" {
		s.Color = false
	}
	return s
}

// utf8Locale reports whether the locale's characters are UTF-8. POSIX: LC_ALL wins
// over LC_CTYPE, that over LANG. Where none is set nothing is known, and every
// terminal of today shows UTF-8.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
