package cmdutil

import (
	"os"
	"testing"

	"github.com/rollcall-project/rollcall/internal/page"
)

// TestStyle: what the terminal is, what the environment asks for, and what was asked for with a
// flag.
func TestStyle(t *testing.T) {
	terminal := Screen{Terminal: true, Width: 120}
	for _, c := range []struct {
		name   string
		screen Screen
		env    map[string]string
		ascii  bool
		want   page.Style
	}{
		{"a terminal", terminal, nil, false, page.Style{Width: 120, Color: true}},
		{"a pipe", Screen{Width: page.NoWrap}, nil, false, page.Style{Width: page.NoWrap}},
		{"--ascii", terminal, nil, true, page.Style{Width: 120, Color: true, ASCII: true}},
		{"dumb", terminal, map[string]string{"TERM": "dumb"}, false, page.Style{Width: 120, ASCII: true}},
		{"NO_COLOR", terminal, map[string]string{"NO_COLOR": "1"}, false, page.Style{Width: 120}},
		{"NO_COLOR, empty", terminal, map[string]string{"NO_COLOR": ""}, false, page.Style{Width: 120, Color: true}},
		{"CLICOLOR_FORCE into a pipe", Screen{}, map[string]string{"CLICOLOR_FORCE": "1"}, false, page.Style{Color: true}},
		{"CLICOLOR_FORCE=0", Screen{}, map[string]string{"CLICOLOR_FORCE": "0"}, false, page.Style{}},
		{"both", terminal, map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "0"}, false, page.Style{Width: 120}},
		{"LANG=C", terminal, map[string]string{"LANG": "C"}, false, page.Style{Width: 120, Color: true, ASCII: true}},
		{"LANG with UTF-8", terminal, map[string]string{"LANG": "de_DE.UTF-8"}, false, page.Style{Width: 120, Color: true}},
		{"LC_ALL before LANG", terminal, map[string]string{"LC_ALL": "POSIX", "LANG": "en_US.utf8"}, false, page.Style{Width: 120, Color: true, ASCII: true}},
		{"LC_CTYPE before LANG", terminal, map[string]string{"LC_CTYPE": "en_US.utf8", "LANG": "C"}, false, page.Style{Width: 120, Color: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &surroundings{screen: c.screen, env: c.env}
			a := s.frame()
			a.ASCII = c.ascii
			if got := a.Style(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestScreenOf: a file is no terminal, so paragraphs are not broken and nothing is paged.
func TestScreenOf(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := screenOf(f)
	if s.Terminal || s.Width != page.NoWrap || s.Size != nil || s.height() != 0 {
		t.Errorf("a file: %+v, %d rows", s, s.height())
	}
	s.Size = func() (int, int) { return 100, 40 }
	if s.height() != 40 {
		t.Errorf("%d rows, want 40", s.height())
	}
}
