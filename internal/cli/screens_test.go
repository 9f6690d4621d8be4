package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// terminal is one on which a screen is rendered.
type terminal struct{ width, height int }

var terminals = []terminal{{80, 24}, {120, 40}, {200, 60}}

// screenCase is a command with the rules of its screen.
type screenCase struct {
	name string
	args string
	// wide says why a line may be wider than the terminal, besides commands and words that are never
	// broken; "" where none may.
	wide string
	// below says that a column of the table stands below its rows on a terminal, with what is the same for several
	// rows once: the words of a pipe are the same, in another order.
	below []string
	// whole are the commands that show what is cut here, and a text that is read; none where nothing may be cut.
	whole []string
	// plain says that it has no color, as that of oc.
	plain bool
	// frame says that the screen is one frame of a terminal, and shows changes line by line in a pipe.
	frame bool
}

// wholeDemo shows everything about the example; conditions have their messages in their objects.
var wholeDemo = []string{"diagnose --from demo.tar.gz -o wide", "get mcp -o yaml --from demo.tar.gz", "get co machine-config -o yaml --from demo.tar.gz"}

// screenCases are the screens of the commands that people look at.
var screenCases = []screenCase{
	{name: "demo", args: "demo", whole: wholeDemo},
	{name: "status", args: "status --from demo.tar.gz", whole: wholeDemo, below: []string{"WHY", "both:"}},
	{name: "diagnose", args: "diagnose --from demo.tar.gz", whole: wholeDemo},
	{name: "watch", args: "watch --stop-on never --kubeconfig kubeconfig", frame: true},
	{name: "preflight", args: "preflight -f bad.yaml"},
	{name: "scan", args: "scan bmh.txt", whole: []string{"bmh.txt"}},
	{name: "explain", args: "explain approve-all-csrs"},
	{name: "list", args: "list refused", wide: "a row is one line, as grep wants it"},
	{name: "fix-plan", args: "fix plan --from demo.tar.gz"},
	{name: "csr", args: "csr list --from requests", below: []string{"WHY"}, plain: true},
	{name: "get", args: "get pods -A --from demo.tar.gz", wide: "a table as oc prints it", plain: true},
}

// screenDir is a directory with what the screens read.
func screenDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	if _, stderr, code := call(nil, "demo", "--save", "demo.tar.gz"); code != cmdutil.ExitOK {
		t.Fatal(stderr)
	}
	return dir
}

// writeScreenFiles writes a directory of requests, and files of scripts, into the current directory.
func writeScreenFiles(t *testing.T) {
	t.Helper()
	files, err := clitest.Fixture("csr-client-pending")
	if err != nil {
		t.Fatal(err)
	}
	if err := clitest.WriteFiles(files, filepath.Join(screenDir(t), "requests")); err != nil {
		t.Fatal(err)
	}
}

// fileOf is a file of a script.
func fileOf(t *testing.T, script, name string) []byte {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("script", "testdata", "script", script))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	t.Fatalf("%s has no %s", script, name)
	return nil
}

// onScreen runs a command on a terminal, or in a pipe where it is nil.
func onScreen(on *terminal, color bool, args ...string) string {
	out := &screenBuffer{}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	out.frame = stop // a watch is looked at once
	for _, plan := range plansHere() {
		_ = os.Remove(plan) // a plan is not written over another one
	}
	env := map[string]string{"TERM": "xterm-256color", "PAGER": "cat", "LC_ALL": "C.UTF-8", "HOME": "home"}
	if !color {
		env["NO_COLOR"] = "1"
	}
	screen := cmdutil.Screen{Width: page.NoWrap}
	if on != nil {
		screen = cmdutil.Screen{Terminal: true, Width: on.width, Size: func() (int, int) { return on.width, on.height }}
	}
	var errs bytes.Buffer
	a := newApp("rollcall", cmdutil.IO{
		Cache: shared, In: strings.NewReader(""), Out: out, Err: &errs, Screen: screen,
		Getenv: func(name string) string { return env[name] },
		Clock:  func() time.Time { return clitest.Now },
	})
	a.run(ctx, append([]string{"rollcall"}, args...))
	if text := changing.ReplaceAllString(out.String(), ""); text != "" {
		return text
	}
	return "nothing, and on stderr: " + errs.String()
}

func plansHere() []string {
	list, err := filepath.Glob("bootstrap-mc-mismatch-*.yaml")
	if err != nil {
		panic(err)
	}
	return list
}

// screenBuffer is what a screen was sent. It calls frame once a whole frame with hosts is there.
type screenBuffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	frame func()
}

func (s *screenBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.b.Write(p)
	if text := s.b.String(); strings.HasSuffix(text, onFrameEnd) && strings.Contains(text, "HOST ") {
		s.frame()
	}
	return n, err
}

func (s *screenBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.b.String()
	if i := strings.LastIndex(text, onFrameBegin); i >= 0 {
		frame, _, _ := strings.Cut(text[i+len(onFrameBegin):], onFrameEnd)
		return strings.ReplaceAll(strings.ReplaceAll(frame, "\r", ""), "\x1b[K", "")
	}
	return text
}

var (
	sgr     = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\][^\x1b\x07]*(?:\x07|\x1b\\\\)")
	drawing = strings.NewReplacer("│", " ", "├", " ", "└", " ", "─", " ", "┌", " ", "▶", " ", "·", " ")
	// changing is what a watch is told between two looks: it comes in any order.
	changing = regexp.MustCompile(`(?m) · (changed: .*|reading(, changed: .*)?)$`)
	// copied are lines that are never broken: commands to be copied.
	copied = regexp.MustCompile(`^\s*(by hand\s+)?(\$ )?(oc|rollcall|openssl|curl|ssh|sudo|kubectl|The whole answer: rollcall)\b`)
)

// fold is a text as words, without color and drawing.
func fold(text string) []string {
	return strings.Fields(drawing.Replace(sgr.ReplaceAllString(text, "")))
}

// TestEveryScreen renders the screens at each size, with and without color, and in a pipe. The words are the same and
// in the same order, no word is broken, no line is wider than the terminal, and what is cut is whole elsewhere.
// The sample has a half of the screens.
//
//	go test ./internal/cli -run TestEveryScreen -update
func TestEveryScreen(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	bad, bmh := fileOf(t, "preflight.txtar", "bad.yaml"), fileOf(t, "scan.txtar", "bmh.txt")
	writeScreenFiles(t)
	cluster, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Happen([]clitest.Change{{At: "nodes/w1", As: "w2", Patch: map[string]any{"status": map[string]any{"conditions": []any{}}}}}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cluster)
	defer server.Close()
	if err := clitest.WriteKubeconfig("kubeconfig", server.URL); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"bad.yaml": bad, "bmh.txt": bmh} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range screenCases {
		if !*update && !sample.Has(2, "screen", c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.check(t, filepath.Join(here, "testdata", "screens")) })
	}
}

func (c screenCase) check(t *testing.T, goldens string) {
	t.Helper()
	args := strings.Fields(c.args)
	var pipe string
	if !c.frame {
		pipe = onScreen(nil, true, args...)
		if strings.Contains(pipe, "\x1b") {
			t.Error("color without a terminal")
		}
	}
	want := fold(pipe)
	for i, on := range terminals {
		plain, colored := onScreen(&on, false, args...), onScreen(&on, true, args...)
		if sgr.MatchString(plain) {
			t.Errorf("%d columns: color though NO_COLOR is set", on.width)
		}
		if without := sgr.ReplaceAllString(colored, ""); without != plain || (without == colored) != c.plain {
			t.Errorf("%d columns: colors change the text, or there are none:\n%s\nwithout\n%s", on.width, without, plain)
		}
		have := fold(plain)
		if i == 0 && c.below != nil {
			c.sameWords(t, have, want)
			want = have
		}
		if i == 0 && c.frame {
			want = have
		}
		if at, differ := firstDifference(want, have); differ {
			t.Errorf("%d columns has other words: %q\nthan a pipe or 80 columns: %q\n%s", on.width, around(have, at), around(want, at), plain)
		}
		c.fits(t, on, plain)
		compareScreen(t, filepath.Join(goldens, fmt.Sprintf("%s-%dx%d.txt", c.name, on.width, on.height)), plain)
	}
	c.cutIsWhole(t, want)
}

// sameWords holds that nothing is on a terminal that a pipe has not, and nothing is missing.
func (c screenCase) sameWords(t *testing.T, have, want []string) {
	t.Helper()
	for _, list := range [][2][]string{{have, want}, {want, have}} {
		for _, word := range list[0] {
			if !slices.Contains(list[1], word) && !slices.Contains(c.below, word) {
				t.Errorf("%q is on a terminal or in a pipe alone", word)
			}
		}
	}
}

func firstDifference(a, b []string) (at int, differ bool) {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i, true
		}
	}
	return 0, false
}

func around(words []string, at int) []string {
	return words[min(len(words), max(0, at-5)):min(len(words), at+8)]
}

// fits holds the lines against the width.
func (c screenCase) fits(t *testing.T, on terminal, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if c.frame && len(lines) > on.height {
		t.Errorf("%d lines on a terminal of %d", len(lines), on.height)
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > on.width && c.wide == "" && len(fold(line)) > 1 && !copied.MatchString(line) {
			t.Errorf("%d characters on a terminal of %d: %s", n, on.width, line)
		}
	}
}

// cutIsWhole holds that what ends with an ellipsis is whole in the output that shows all.
func (c screenCase) cutIsWhole(t *testing.T, words []string) {
	t.Helper()
	whole := ""
	for _, of := range c.whole {
		if raw, err := os.ReadFile(of); err == nil {
			whole += " " + strings.Join(fold(string(raw)), " ")
			continue
		}
		whole += " " + strings.Join(fold(onScreen(nil, false, strings.Fields(of)...)), " ")
	}
	for i, word := range words {
		start, cut := strings.CutSuffix(strings.TrimRight(word, ";,."), "…")
		if !cut || start == "" {
			continue
		}
		before := start
		if page.Length(start) < 12 && i > 1 { // an end of a sentence and not of a name
			before = words[i-1] + " " + start
		}
		before = strings.ReplaceAll(regexp.QuoteMeta(before), "…", `\S*`)
		if !regexp.MustCompile(before + `[^…]`).MatchString(whole) {
			t.Errorf("%q is cut, and is not whole in %q", around(words, i), c.whole)
		}
	}
}

func compareScreen(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if string(want) != text {
		t.Errorf("%s differs; go test -update writes it\n%s", path, text)
	}
}
