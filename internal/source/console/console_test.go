package console

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/evidence"
)

func TestParse(t *testing.T) {
	for value, want := range map[string]Spec{
		"control2=sol.log":                {"control2", "sol.log"},
		"control2.example.com=/a/b=c.txt": {"control2.example.com", "/a/b=c.txt"},
		"10.0.0.1=x":                      {"10.0.0.1", "x"},
	} {
		if got, err := Parse(value); err != nil || got != want {
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
		"noise":              {"a\x00b\xff\xfec\x07\x08d\n", "abcd\n"},
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
	s, err := Open(Spec{"h2", file}, Spec{"h1", file})
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
		if _, err := Open(Spec{"h", file}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "console of h") {
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
