package page

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestClean: nothing that a terminal obeys is left, and what can be shown stays.
func TestClean(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		style       Style
		want, ascii string
	}{
		{"plain", "node master-0 is Ready", Style{}, "node master-0 is Ready", ""},
		{"escape", "a\x1b[2Jb", Style{}, `a\x1b[2Jb`, ""},
		{"reordered", "a\u202eb", Style{}, `a\u202eb`, ""},
		{"blanks", "a\tb\r\nc", Style{}, "a b  c", ""},
		{"bad UTF-8", "a\x9bb", Style{}, `a\ufffdb`, ""},
		{"ellipsis", "a…", Style{}, "a…", "a..."},
		{"umlaut", "ü", Style{}, "ü", `\u00fc`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.style.Clean(c.text); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if c.ascii == "" {
				c.ascii = c.want
			}
			c.style.ASCII = true
			if got := c.style.Clean(c.text); got != c.ascii {
				t.Errorf("ASCII: %q, want %q", got, c.ascii)
			}
		})
	}
}

// TestRoom: a width is within bounds, and NoWrap has none.
func TestRoom(t *testing.T) {
	for width, want := range map[int]int{0: 80, 10: minWidth, 100: 100, 500: maxWidth, NoWrap: noEnd} {
		if got := (Style{Width: width}).Room(); got != want {
			t.Errorf("width %d: %d columns, want %d", width, got, want)
		}
	}
}

// TestBreak: lines are broken at blanks only, and a long word is whole.
func TestBreak(t *testing.T) {
	for _, c := range []struct {
		text        string
		first, rest int
		want        []string
	}{
		{"", 10, 10, []string{""}},
		{"one two three", 20, 20, []string{"one two three"}},
		{"one two three", 3, 9, []string{"one", "two three"}},
		{"a https://api.example.test:6443 b", 5, 5, []string{"a", "https://api.example.test:6443", "b"}},
	} {
		if got := Break(c.text, c.first, c.rest); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d and %d: %q, want %q", c.text, c.first, c.rest, got, c.want)
		}
	}
}

// TestShorten: a text is cut to the characters that there are, and shows it.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text, want string
		n          int
		style      Style
	}{
		{"abcdef", "abcdef", 6, Style{}},
		{"abcdef", "abcd…", 5, Style{}},
		{"abcdef", "ab...", 5, Style{ASCII: true}},
		{"äöüäöü", "äö…", 3, Style{}},
		{"abc  ef", "abc…", 5, Style{}},
	} {
		if got := c.style.Shorten(c.text, c.n); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.text, c.n, got, c.want)
		}
	}
	if got := (Style{Width: 40}).OneRow(strings.Repeat("x", 50)); Length(got) != 39 {
		t.Errorf("one row of 40 columns has %d: %q", Length(got), got)
	}
	if got := cutWords("wait until the pool is updated", 14); got != "wait until the" {
		t.Errorf("%q", got)
	}
	if got := cutWords("wait until the pool is updated", 13); got != "wait until" {
		t.Errorf("%q", got)
	}
}

// TestPage: what each method writes, and how many rows of a screen that is.
func TestPage(t *testing.T) {
	long := strings.Repeat("word ", 20)
	for _, c := range []struct {
		name  string
		style Style
		write func(*Page)
		want  string
		rows  int
	}{
		{"blank", Style{}, (*Page).Blank, "\n", 1},
		{"heading", Style{Color: true}, func(p *Page) { p.Head(2, "Hosts") }, "  \x1b[1mHosts\x1b[0m\n", 1},
		{"a line is never broken", Style{Width: 40}, func(p *Page) { p.Line(0, Cyan.Span(strings.Repeat("x", 81))) }, strings.Repeat("x", 81) + "\n", 3},
		{"a line is clean", Style{}, func(p *Page) { p.Line(1, Bold.Span("a\n"), Plain.Span("\x00b")) }, " a \\x00b\n", 1},
		{"a paragraph hangs", Style{Width: 40}, func(p *Page) { p.Para(0, Plain.Span("- "), Plain, long[:44]) },
			"- word word word word word word word\n  word word\n", 2},
		{"a lead with a limit", Style{Width: 40}, func(p *Page) { p.Lead(0, Plain.Span("? "), "  ", Plain, long, 1) },
			"? word word word word word word word\n  word word word word word word word\n  word…\n", 3},
		{"the same words where there is more room", Style{Width: 120}, func(p *Page) { p.Lead(0, Plain.Span("? "), "  ", Plain, long, 1) },
			"? " + strings.Repeat("word ", 14) + "word…\n", 1},
		{"parts", Style{Width: 40, ASCII: true}, func(p *Page) { p.Parts(0, Plain, []string{strings.Repeat("a", 20), "b", strings.Repeat("c", 20)}) },
			strings.Repeat("a", 20) + " | b\n" + strings.Repeat("c", 20) + "\n", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Page{Style: c.style}
			c.write(p)
			if p.String() != c.want || p.Rows() != c.rows {
				t.Errorf("%q in %d rows, want %q in %d", p.String(), p.Rows(), c.want, c.rows)
			}
		})
	}
}

// broken is a pipe that nobody reads.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// TestFlush: an output that takes nothing is an error.
func TestFlush(t *testing.T) {
	p := &Page{}
	p.Head(0, "x")
	if err := p.Flush(broken{}); err == nil || !strings.Contains(err.Error(), "write the answer: broken pipe") {
		t.Errorf("%v", err)
	}
}

// TestWords: numbers, times and rows of a table.
func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(1, "host", "hosts"), "1 host"},
		{Count(0, "host", "hosts"), "0 hosts"},
		{Clock(time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))), "2026-01-02T03:04:05Z"},
		{Columns([]string{"a", "ü", "c"}, []int{2, 3, 1}), "a   ü    c  "},
		{Style{Width: 40}.Wrap(strings.Repeat("word ", 10)), "word word word word word word word word\nword word"},
		{Style{Width: 40}.Indent(strings.Repeat("word ", 10), 4), "    word word word word word word word\n    word word word"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestSigns: each sign has a form in ASCII.
func TestSigns(t *testing.T) {
	for g := Bad; g <= Pointer; g++ {
		if got := (Style{ASCII: true}).Sign(g); got == "" || len(got) != Length(got) {
			t.Errorf("sign %d in ASCII: %q", g, got)
		}
		if (Style{}).Sign(g) == "" {
			t.Errorf("sign %d has no form", g)
		}
	}
}
