package console

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func TestParse(t *testing.T) {
	for value, want := range map[string]Spec{
		"control2=sol.log":                {Host: "control2", File: "sol.log"},
		"control2.example.com=/a/b=c.txt": {Host: "control2.example.com", File: "/a/b=c.txt"},
		"10.0.0.1=x":                      {Host: "10.0.0.1", File: "x"},
	} {
		if got, err := Parse(value); err != nil || got.Host != want.Host || got.File != want.File {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", value, got, err, want)
		}
	}
	for value, want := range map[string]string{
		"": "no =", "sol.log": "no =", "=sol.log": "host is missing", "a=": "file is missing", "a b=c": "no host name has",
		"a\x1b[0m=c": "no host name has", "../a=c": "no host name has", strings.Repeat("a", 300) + "=c": "at most 253",
	} {
		if _, err := Parse(value); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "expected HOST=FILE") {
			t.Errorf("Parse(%q): %v, want %q and what is expected", value, err, want)
		}
	}
}

func TestClean(t *testing.T) {
	long := strings.Repeat("x", maxLine+5)
	for name, c := range map[string]struct{ in, want string }{
		"plain":              {"a\nb\n", "a\nb\n"},
		"no newline at end":  {"a", "a"},
		"CR LF":              {"a\r\nb\r\r\nc", "a\nb\nc"},
		"progress":           {"10%\r20%\rdone\n", "10%\n20%\ndone\n"},
		"colours":            {"\x1b[1;31mfailed\x1b[0m to fetch\n", "failed to fetch\n"},
		"cursor moves":       {"\x1b[2J\x1b[1;1HBIOS\x1b[5;1Hboot\x1b[K\n", "BIOS\nboot\n"},
		"window title":       {"\x1b]0;host\x07text\x1b]2;x\x1b\\y\n", "texty\n"},
		"charset and modes":  {"\x1b(B\x1b=\x1b[?25lA\x1b7B\n", "AB\n"},
		"noise":              {"a\x00b\xff\xfec\x07d\n", "abcd\n"},
		"overstrike":         {"p\bpa\bas\bs\b\b\b\b\bpass\b\bé\n\bx\b\n", "paés\nx\n"},
		"UTF-16":             {"\xff\xfef\x00a\x00i\x00l\x00\r\x00\n\x00x\x00", "fail\n\nx"},
		"UTF-8":              {"née ☎\ufeff\n", "née ☎\n"},
		"C1 and DEL":         {"a\u009bb\x7fc\n", "abc\n"},
		"escape at the end":  {"a\x1b", "a"},
		"unended sequence":   {"\x1b[12\nnext\n", "\nnext\n"},
		"unended title":      {"\x1b]0;x\nnext\n", "\nnext\n"},
		"sequence too long":  {"\x1b[" + strings.Repeat("1", 70) + "text\n", "11111" + "1" + "text\n"},
		"a line without end": {long + "\n", long[:maxLine] + "\n" + long[maxLine:] + "\n"},
	} {
		got, err := io.ReadAll(clean(strings.NewReader(c.in)))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		if got, _ = io.ReadAll(clean(iotest.OneByteReader(strings.NewReader(c.in)))); string(got) != c.want {
			t.Errorf("%s, byte by byte: %q, want %q", name, got, c.want)
		}
	}
}

// TestEndless: a file that shows nothing is read within bounds.
func TestEndless(t *testing.T) {
	s := &screen{in: bufio.NewReader(zeroes{}), read: maxScreen - 1<<20}
	if _, err := io.ReadAll(s); err == nil || !strings.Contains(err.Error(), "1024 MiB") {
		t.Errorf("err = %v", err)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestSource(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sol.log")
	if err := os.WriteFile(file, []byte("\x1b[1mignition\x1b[0m\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Spec{Host: "h2", File: file}, Spec{Host: "h1", File: file})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := s.Describe(t.Context()); err != nil || d.Name != "console:h1,h2" || !d.Now.IsZero() {
		t.Errorf("Describe = %+v, %v", d, err)
	}
	all, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Console})
	if err != nil || len(all) != 2 || all[0].Path != "console:h1/sol.log" || all[0].Host != "h1" {
		t.Fatalf("Texts = %+v, %v", all, err)
	}
	in, err := all[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || string(got) != "ignition\n" {
		t.Errorf("the text is %q, %v", got, err)
	}
	for _, q := range []evidence.TextQuery{{Kind: evidence.Console, Host: "h3"}, {Kind: evidence.Journal, Unit: "kubelet"}, {Kind: evidence.ContainerLog}} {
		if _, err := s.Texts(t.Context(), q); !notCollected(err) {
			t.Errorf("Texts(%s): %v, want not collected", q, err)
		}
	}
	if _, err := s.List(t.Context(), evidence.Nodes, ""); !notCollected(err) {
		t.Errorf("List: %v, want not collected", err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{dir: "--from", empty: "is empty", filepath.Join(dir, "none"): "no such file"} {
		if _, err := Open(Spec{Host: "h", File: file}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "console of h") {
			t.Errorf("Open(%s): %v, want %q", file, err, want)
		}
	}
}

func notCollected(err error) bool {
	u, ok := evidence.AsUnavailable(err)
	return ok && u.Why == evidence.NotCollected
}

func FuzzClean(f *testing.F) {
	f.Add([]byte("a\r\n\x1b[1mb\x1b]0;t\x07\xff\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := io.ReadAll(clean(bytes.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(out) {
			t.Errorf("%q gives no UTF-8: %q", in, out)
		}
		if i := bytes.IndexFunc(out, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("%q leaves a control character: %q", in, out[i:])
		}
		for line := range bytes.Lines(out) {
			if len(line) > maxLine+utf8.UTFMax+1 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
		again, err := io.ReadAll(clean(bytes.NewReader(out)))
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("cleaning twice changes %q to %q", out, again)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("control2=sol.log")
	f.Fuzz(func(t *testing.T, value string) {
		s, err := Parse(value)
		if err == nil && s.Host+"="+s.File != value {
			t.Errorf("Parse(%q) = %+v", value, s)
		}
	})
}

// TestJournal: a journal that was given as a host's console answers for its units, too.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const line = "2026-11-12T03:04:05.123456+0000 w1 "
	s, err := Open(Spec{Host: "w1", File: write("journal.txt", line+"kubenswrapper[1]: a\n"+line+"crio[2]: b\n"+line+"systemd[1]: Started kubelet.service - Kubernetes Kubelet.\n")},
		Spec{Host: "w2", File: write("screen.txt", "ignition[1]: GET\n")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    evidence.TextQuery
		want string // host: text
	}{
		{evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}, "w1: " + line + "kubenswrapper[1]: a\n\n" + line + "systemd[1]: Started kubelet.service - Kubernetes Kubelet.\n"},
		{evidence.TextQuery{Kind: evidence.Journal, Unit: "crio", Host: "w1"}, "w1: \n" + line + "crio[2]: b\n\n"},
		{evidence.TextQuery{Kind: evidence.Journal, Host: "w2"}, ""},
		{evidence.TextQuery{Kind: evidence.Console, Host: "w2"}, "w2: ignition[1]: GET\n"},
	} {
		list, err := s.Texts(t.Context(), c.q)
		if c.want == "" {
			if !notCollected(err) {
				t.Errorf("%s: %v, %v", c.q, list, err)
			}
			continue
		}
		if err != nil || len(list) != 1 || list[0].Kind != c.q.Kind {
			t.Errorf("%s: %v, %v", c.q, list, err)
			continue
		}
		in, err := list[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err != nil || list[0].Host+": "+string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.q, list[0].Host+": "+string(got), err, c.want)
		}
	}
}

// TestAlone: where nothing else is read the present is the newest time with which a line
// begins, else the clock. What a screen says of the host's own clock does not count.
func TestAlone(t *testing.T) {
	clock := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ text, want string }{
		"ISO":             {"2026-11-12T03:04:05.123456+0000 w1 x[1]: a\n2026-11-12T03:00:00+0000 w1 x[1]: b\n", "2026-11-12T03:04:05Z"},
		"no year":         {"Nov 12 03:04:05 w1 x[1]: a\n", "2026-11-12T03:04:05Z"},
		"of last year":    {"Dec 24 03:04:05 w1 x[1]: a\n", "2025-12-24T03:04:05Z"},
		"ahead":           {"2036-11-12T03:04:05+0000 w1 x[1]: a\n", "2026-11-23T06:00:00Z note"},
		"none":            {"[   12.1] ignition[751]: attempt #5\n", "2026-11-23T06:00:00Z note"},
		"the host's own":  {"[   12.1] ignition[751]: GET error: x509: certificate is not yet valid: current time 2016-11-12T03:04:05Z is before it\n", "2026-11-23T06:00:00Z note"},
		"beside a source": {"2026-11-12T03:04:05+0000 w1 x[1]: a\n", "0001-01-01T00:00:00Z"},
	} {
		file := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Spec{Host: "w1", File: file})
		if err != nil {
			t.Fatal(err)
		}
		if name != "beside a source" {
			s.Alone(clock)
		}
		d, err := s.Describe(t.Context())
		got := d.Now.Format(time.RFC3339)
		if len(d.Notes) > 0 {
			got += " note"
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
	}
}
