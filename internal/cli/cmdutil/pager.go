package cmdutil

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// pagedAnnotation marks commands whose answer is paged.
const pagedAnnotation = "rollcall.dev/paged"

// Paged marks commands whose answer is shown by a pager where it is longer than the terminal, as
// git does it. Those that print while they work, or ask, are not among them.
func Paged(commands ...*cobra.Command) {
	for _, c := range commands {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[pagedAnnotation] = "true"
	}
}

// held is an answer that is held back until it is whole.
type held struct {
	bytes.Buffer
	to io.Writer
}

// HoldPage holds the output of a command that is paged back. Off a terminal nothing is held.
func (a *App) HoldPage(cmd *cobra.Command) {
	if cmd.Annotations[pagedAnnotation] == "" || !a.IO.Screen.Terminal || a.IO.Pager == nil || a.IO.Screen.height() == 0 || len(a.pager()) == 0 {
		return
	}
	a.held = &held{to: a.IO.Out}
	a.IO.Out = a.held
}

// ShowPage shows what was held back: as it is where the terminal has room for it, else in the pager.
// Where there is no pager it is printed.
func (a *App) ShowPage() error {
	h := a.held
	if h == nil {
		return nil
	}
	a.held, a.IO.Out = nil, h.to
	if width, height := a.IO.Screen.Size(); rows(h.String(), width) >= height {
		if a.IO.Pager(a.pager(), h.Bytes()) == nil {
			return nil
		}
	}
	if _, err := h.WriteTo(h.to); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	return nil
}

// pager is the program of $ROLLCALL_PAGER or $PAGER with its arguments, else less; none where the
// variable is empty or cat.
func (a *App) pager() []string {
	for _, name := range []string{"ROLLCALL_PAGER", "PAGER"} {
		if value := a.IO.Getenv(name); value != "" {
			if words := strings.Fields(value); len(words) > 0 && words[0] != "cat" {
				return words
			}
			return nil
		}
	}
	return []string{"less"}
}

// style is what a terminal does not show: colors and links.
var style = regexp.MustCompile("\x1b(?:\\[[0-9;]*m|\\][^\x1b\x07]*(?:\x07|\x1b\\\\))")

// rows is how many rows of a terminal a text takes.
func rows(text string, width int) int {
	n := 0
	for line := range strings.Lines(style.ReplaceAllString(text, "")) {
		n++
		if columns := utf8.RuneCountInString(strings.TrimRight(line, "\n")); width > 0 && columns > width {
			n += (columns - 1) / width
		}
	}
	return n
}

// stderr is the process's own: os.Stderr is another for a moment where a client of an API is made.
var stderr = os.Stderr

// runPager runs a pager on the terminal. It ends when the reader leaves it, however much was read.
// less quits where the text fits a screen, shows colors and leaves the text there.
func runPager(program []string, text []byte) error {
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), os.Stdout, stderr
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the pager %s: %w", program[0], err)
	}
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return nil // the reader has left before the end
	}
	return nil
}
