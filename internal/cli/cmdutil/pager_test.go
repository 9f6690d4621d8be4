package cmdutil

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestPager(t *testing.T) {
	long := strings.Repeat("a line\n", 40)
	for name, c := range map[string]struct {
		env      map[string]string
		text     string
		terminal bool
		marked   bool
		fails    bool
		want     []string // the pager that is run
	}{
		"longer than the screen":  {text: long, terminal: true, marked: true, want: []string{"less"}},
		"the user's own":          {text: long, terminal: true, marked: true, env: map[string]string{"PAGER": "more -s"}, want: []string{"more", "-s"}},
		"that of the program":     {text: long, terminal: true, marked: true, env: map[string]string{"PAGER": "more", "ROLLCALL_PAGER": "less -S"}, want: []string{"less", "-S"}},
		"cat":                     {text: long, terminal: true, marked: true, env: map[string]string{"PAGER": "cat"}},
		"fits":                    {text: "a line\n", terminal: true, marked: true},
		"long lines":              {text: strings.Repeat(strings.Repeat("x", 200)+"\n", 9), terminal: true, marked: true, want: []string{"less"}},
		"colors take no room":     {text: strings.Repeat("\x1b[31m"+strings.Repeat("x", 70)+"\x1b[0m\n", 20), terminal: true, marked: true},
		"no terminal":             {text: long, marked: true},
		"a command that is not":   {text: long, terminal: true},
		"a pager that is missing": {text: long, terminal: true, marked: true, fails: true, want: []string{"less"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			var ran []string
			shown := ""
			a := New("rollcall", IO{Out: &out, Err: io.Discard, Getenv: func(k string) string { return c.env[k] },
				Pager: func(program []string, text []byte) error {
					ran = program
					if c.fails {
						return errors.New("not found")
					}
					shown = string(text)
					return nil
				}})
			if c.terminal {
				a.IO.Screen = Screen{Terminal: true, Width: 80, Size: func() (int, int) { return 80, 24 }}
			}
			cmd := &cobra.Command{}
			if c.marked {
				Paged(cmd)
			}
			a.HoldPage(cmd)
			fmt.Fprint(a.IO.Out, c.text)
			if err := a.ShowPage(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ran, c.want) || out.String()+shown != c.text {
				t.Errorf("ran %q; printed %d bytes, paged %d, of %d", ran, out.Len(), len(shown), len(c.text))
			}
			if a.IO.Out != &out {
				t.Error("what comes afterwards is held back")
			}
		})
	}
}
