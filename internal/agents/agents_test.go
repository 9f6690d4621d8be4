package agents

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/rollcall-project/rollcall/internal/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake answers with what a test wants. Its zero value answers every question with an empty document.
type fake struct {
	mu      sync.Mutex
	answer  Answer
	asked   []any
	err     error
	before  func(ctx context.Context) error
	readAll bool // of a plan, what is in it
}

func (f *fake) say(ctx context.Context, q any) (Answer, error) {
	f.mu.Lock()
	f.asked = append(f.asked, q)
	f.mu.Unlock()
	if f.before != nil {
		if err := f.before(ctx); err != nil {
			return Answer{}, err
		}
	}
	a := f.answer
	if a.Data == nil {
		a = Answer{"an answer\n", []byte(`{"kind": "Diagnosis"}`)}
	}
	return a, f.err
}

func (f *fake) Diagnose(ctx context.Context, q Diagnosis) (Answer, error) { return f.say(ctx, q) }
func (f *fake) Requests(ctx context.Context, q Requests) (Answer, error)  { return f.say(ctx, q) }
func (f *fake) Scan(ctx context.Context, text string) (Answer, error)     { return f.say(ctx, text) }
func (f *fake) Check(ctx context.Context, q Command) (Answer, error) {
	return f.say(ctx, q)
}
func (f *fake) Explain(ctx context.Context, words string) (Answer, error) { return f.say(ctx, words) }
func (f *fake) Objects(ctx context.Context, q Objects) (Answer, error)    { return f.say(ctx, q) }
func (f *fake) Logs(ctx context.Context, q Logs) (Answer, error)          { return f.say(ctx, q) }
func (f *fake) Preflight(ctx context.Context, q Plan) (Answer, error) {
	if f.readAll {
		raw, err := fs.ReadFile(q.FS, "install-config.yaml")
		return Answer{string(raw), []byte("{}")}, err
	}
	return f.say(ctx, q)
}

func options(roots ...string) Options {
	return Options{Name: "rollcall", Version: "v0", Roots: roots, Live: true, Budget: DefaultBudget, Log: slog.New(slog.DiscardHandler), Clock: time.Now,
		Clean: page.Style{}.Clean}
}

// connect starts a server, and returns a client of it.
func connect(t *testing.T, o Options, a Answers) *mcp.ClientSession {
	t.Helper()
	s, err := New(o, a)
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() { ended <- s.Run(ctx, there) }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), <-ended, s.Close()); err != nil {
			t.Error(err)
		}
		stop()
	})
	return c
}

// call returns the text of a tool, its JSON, and whether it is an error.
func call(t *testing.T, c *mcp.ClientSession, name string, args any) (string, map[string]any, bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := r.StructuredContent.(map[string]any)
	return r.Content[0].(*mcp.TextContent).Text, doc, r.IsError
}

// TestTools: each tool only reads and says so, and each argument has a bound.
func TestTools(t *testing.T) {
	c := connect(t, options(), &fake{})
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		a := tool.Annotations
		if !a.ReadOnlyHint || !a.IdempotentHint || a.DestructiveHint == nil || *a.DestructiveHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: %+v", tool.Name, a)
		}
		s := tool.InputSchema.(map[string]any)
		if s["additionalProperties"] != false {
			t.Errorf("%s takes any argument", tool.Name)
		}
		for name, p := range s["properties"].(map[string]any) {
			p := p.(map[string]any)
			bound := map[string]string{"string": "maxLength", "integer": "maximum", "boolean": "type"}[p["type"].(string)]
			if p[bound] == nil || p["description"] == "" {
				t.Errorf("%s: argument %s has no bound or no description: %v", tool.Name, name, p)
			}
		}
	}
	if want := []string{"check_command", "csr_list", "diagnose", "explain", "get", "host_status", "logs", "preflight", "scan"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// TestHostile: an argument that is not what a tool takes is an error that names it, what is wrong
// and the way out; nothing is asked.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, tool string
		args       any
		want       []string
	}{
		{"unknown tool argument", "diagnose", map[string]any{"kubeconfig": "/root/.kube/config"}, []string{`argument "kubeconfig"`, "there is none", "archive"}},
		{"a number as a string", "diagnose", map[string]any{"archive": 7}, []string{"argument archive", "not a string"}},
		{"a list as a string", "explain", map[string]any{"words": []string{"a"}}, []string{"argument words", "not a string"}},
		{"missing", "explain", map[string]any{}, []string{"argument words", "missing", "id"}},
		{"empty", "scan", map[string]any{"text": ""}, []string{"argument text", "missing"}},
		{"too long", "scan", map[string]any{"text": strings.Repeat("x", 256<<10+1)}, []string{"argument text", "262145 characters", "less"}},
		{"a subject that is a path", "diagnose", map[string]any{"subject": "../../etc/passwd"}, []string{"argument subject", "node/NAME"}},
		{"a subject of no kind", "diagnose", map[string]any{"subject": "etc/passwd"}, []string{"argument subject", "no such kind", "node"}},
		{"a flag as a subject", "diagnose", map[string]any{"subject": "--kubeconfig=/x"}, []string{"argument subject", "node/NAME"}},
		{"part", "diagnose", map[string]any{"part": "secrets"}, []string{"argument part", "none of", "findings"}},
		{"from is negative", "diagnose", map[string]any{"part": "findings", "from": -1}, []string{"argument from", "0 to"}},
		{"from is huge", "diagnose", map[string]any{"part": "findings", "from": 1 << 40}, []string{"argument from", "0 to"}},
		{"from alone", "diagnose", map[string]any{"from": 1}, []string{"argument from", "name the part"}},
		{"from behind the end", "diagnose", map[string]any{"part": "findings", "from": 1}, []string{"argument from", "0 entries"}},
		{"release", "preflight", map[string]any{"directory": ".", "release": "latest; rm -rf /"}, []string{"argument release", "4.18"}},
		{"node", "csr_list", map[string]any{"node": "a b"}, []string{"argument node", "name of a node"}},
		{"a boolean as a word", "csr_list", map[string]any{"all": "yes"}, []string{"argument all", "true nor false"}},
		{"dot dot", "diagnose", map[string]any{"archive": "../x"}, []string{"archive", "not below", dir}},
		{"dot dot inside", "diagnose", map[string]any{"archive": "a/../../x"}, []string{"archive", "not below", dir}},
		{"absolute", "diagnose", map[string]any{"archive": "/etc/passwd"}, []string{"archive", "not below", dir}},
		{"not there", "diagnose", map[string]any{"archive": "x.tar"}, []string{"archive", "no such file", "there are"}},
		{"zero", "diagnose", map[string]any{"archive": "a\x00b"}, []string{"archive", "control characters"}},
		{"standard input", "diagnose", map[string]any{"archive": "-"}, []string{"archive", "no such file"}},
		{"a plan that is a file", "preflight", map[string]any{"directory": "mg.tar"}, []string{"directory", "it is a file"}},
		{"a link that leads outside", "diagnose", map[string]any{"archive": "link"}, []string{"archive", "cannot be read", "escapes"}},
		{"a directory that leads outside", "diagnose", map[string]any{"archive": "out/secret"}, []string{"archive", "cannot be read", "escapes"}},
		{"a plan outside", "preflight", map[string]any{"directory": "out"}, []string{"directory", "cannot be read", "escapes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outside := t.TempDir()
			for _, err := range []error{os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600), os.WriteFile(filepath.Join(dir, "mg.tar"), nil, 0o600)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for name, to := range map[string]string{"link": filepath.Join(outside, "secret"), "out": outside} {
				_ = os.Remove(filepath.Join(dir, name)) // of the case before
				if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			f := &fake{}
			text, _, failed := call(t, connect(t, options(dir), f), c.tool, c.args)
			if !failed || len(f.asked) > 0 && !strings.HasPrefix(c.name, "from") {
				t.Fatalf("failed: %t, asked %v: %s", failed, f.asked, text)
			}
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in: %s", w, text)
				}
			}
		})
	}
}

// TestFind: what is below a root is found, by a relative path, an absolute one and over a link that
// stays inside.
func TestFind(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "a"), 0o700), os.WriteFile(filepath.Join(dir, "a", "mg.tar"), nil, 0o600),
		os.Symlink("a/mg.tar", filepath.Join(dir, "latest")), os.WriteFile(filepath.Join(dir, "both"), nil, 0o600),
		os.WriteFile(filepath.Join(other, "both"), nil, 0o600), os.WriteFile(filepath.Join(other, "only"), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f := &fake{}
	c := connect(t, options(dir, other, dir), f)
	for path, want := range map[string]string{"a/mg.tar": dir + "/a/mg.tar", "a/../a/mg.tar": dir + "/a/mg.tar", dir + "/a/mg.tar": dir + "/a/mg.tar",
		"latest": dir + "/a/mg.tar", "only": other + "/only", dir + "/both": dir + "/both", "a": dir + "/a"} {
		f.asked = nil
		text, _, failed := call(t, c, "diagnose", map[string]any{"archive": path})
		if got := (Diagnosis{Archive: want}); failed || len(f.asked) != 1 || f.asked[0] != got {
			t.Errorf("%s: %v, want %v: %s", path, f.asked, got, text)
		}
	}
	if text, _, failed := call(t, c, "diagnose", map[string]any{"archive": "both"}); !failed || !strings.Contains(text, "whole path") {
		t.Errorf("both: %s", text)
	}
	if text, _, failed := call(t, connect(t, options(), f), "diagnose", map[string]any{"archive": "x"}); !failed || !strings.Contains(text, "--root DIR") {
		t.Errorf("no root: %s", text)
	}
	if _, err := New(options(filepath.Join(dir, "none")), f); err == nil || !strings.Contains(err.Error(), "--root") {
		t.Errorf("a root that is missing: %v", err)
	}
}

// TestPlanLink: a file of a plan that is a link to the outside is not read.
func TestPlanLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{os.WriteFile(filepath.Join(outside, "s"), []byte("outside"), 0o600), os.Mkdir(filepath.Join(dir, "plan"), 0o700),
		os.Symlink(filepath.Join(outside, "s"), filepath.Join(dir, "plan", "install-config.yaml"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	text, _, failed := call(t, connect(t, options(dir), &fake{readAll: true}), "preflight", map[string]any{"directory": "plan"})
	if !failed || strings.Contains(text, "outside") {
		t.Errorf("failed %t: %s", failed, text)
	}
}

// TestCancel: a call that the client gives up ends, and with it what was read for it.
func TestCancel(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	f := &fake{before: func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}}
	c := connect(t, options(), f)
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "diagnose"})
		failed <- err
	}()
	<-began
	stop()
	if err := <-failed; err == nil {
		t.Error("no error")
	}
	<-ended
}

// TestConcurrent: calls side by side get their own answers, and no more than two are made at once.
func TestConcurrent(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	f := &fake{before: func(context.Context) error {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return nil
	}}
	c := connect(t, options(), f)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, doc, failed := call(t, c, "diagnose", nil); failed || doc["kind"] != "Diagnosis" {
				t.Errorf("%v", doc)
			}
		})
	}
	all.Wait()
	if most > atOnce || len(f.asked) != 50 {
		t.Errorf("%d at once, %d asked", most, len(f.asked))
	}
}

// TestPanic: a defect ends the answer, and not the server.
func TestPanic(t *testing.T) {
	f := &fake{before: func(context.Context) error { panic("secret value") }}
	c := connect(t, options(), f)
	text, _, failed := call(t, c, "diagnose", nil)
	if !failed || !strings.Contains(text, "defect of the program") || strings.Contains(text, "secret value") {
		t.Errorf("%s", text)
	}
	f.before = nil
	if text, _, failed = call(t, c, "diagnose", nil); failed {
		t.Error(text)
	}
}

// TestError: what an error says of a cluster comes clean.
func TestError(t *testing.T) {
	text, _, failed := call(t, connect(t, options(), &fake{err: errors.New("no \x1b[31mway" + strings.Repeat("\nline", 10000))}), "diagnose", nil)
	if !failed || strings.Contains(text, "\x1b") || len(text) > 4<<10 {
		t.Errorf("%d bytes: %.200q", len(text), text)
	}
}

// TestEnd: the server ends when its input does, also while it makes an answer.
func TestEnd(t *testing.T) {
	began := make(chan struct{})
	f := &fake{before: func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	}}
	s, err := New(options(), f)
	if err != nil {
		t.Fatal(err)
	}
	in, client := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context(), Lines(in, io.Discard)) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"diagnose"}}`,
	} {
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	<-began
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestPrompts: a prompt has the question and the answer, or an error that says what is wrong.
func TestPrompts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mg.tar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	c := connect(t, options(dir), f)
	for _, p := range []struct {
		name string
		args map[string]string
		want any
	}{
		{"host_does_not_join", nil, Diagnosis{}},
		{"host_does_not_join", map[string]string{"host": "w1", "archive": "mg.tar"}, Diagnosis{Archive: dir + "/mg.tar", Subject: "host/w1"}},
		{"read_must_gather", map[string]string{"archive": "mg.tar"}, Diagnosis{Archive: dir + "/mg.tar"}},
	} {
		f.asked = nil
		r, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.name, Arguments: p.args})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Messages[0].Content.(*mcp.TextContent).Text
		if len(f.asked) != 1 || f.asked[0] != p.want || !strings.Contains(text, "an answer\n") || !strings.Contains(text, notice) {
			t.Errorf("%s: %v, want %v: %s", p.name, f.asked, p.want, text)
		}
	}
	for name, args := range map[string]map[string]string{"read_must_gather": nil, "host_does_not_join": {"host": "a/b"}} {
		if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: args}); err == nil || !strings.Contains(err.Error(), "argument") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestArchivesOnly: without a cluster an archive is required, and nothing else is asked.
func TestArchivesOnly(t *testing.T) {
	o := options(t.TempDir())
	o.Live = false
	f := &fake{}
	c := connect(t, o, f)
	for _, name := range []string{"diagnose", "host_status", "csr_list"} {
		if text, _, failed := call(t, c, name, nil); !failed || !strings.Contains(text, "argument archive: it is missing") || len(f.asked) > 0 {
			t.Errorf("%s: %v %s", name, f.asked, text)
		}
	}
}

// TestRecent: more of an answer is of the same answer; a new question reads anew.
func TestRecent(t *testing.T) {
	f := &fake{answer: Answer{"text\n", []byte(`{"findings": [1, 2, 3]}`)}}
	c := connect(t, options(), f)
	for i, step := range []struct {
		args  map[string]any
		asked int
		want  []any
	}{
		{map[string]any{"part": "findings"}, 1, []any{1., 2., 3.}},
		{map[string]any{"part": "findings", "from": 1}, 1, []any{2., 3.}},
		{nil, 2, []any{1., 2., 3.}},
		{map[string]any{"part": "findings", "from": 2}, 2, []any{3.}},
		{map[string]any{"subject": "node/a", "part": "findings"}, 3, []any{1., 2., 3.}},
	} {
		_, doc, failed := call(t, c, "diagnose", step.args)
		if failed || len(f.asked) != step.asked || !slices.Equal(doc["findings"].([]any), step.want) {
			t.Errorf("step %d: asked %d, %v", i, len(f.asked), doc)
		}
	}
	now := time.Now()
	r := &recent{}
	for i := range 6 {
		r.put(string(rune('a'+i)), Answer{}, now)
	}
	if _, ok := r.get("a", now); ok || len(r.list) != maxRecent {
		t.Errorf("%d kept", len(r.list))
	}
	if _, ok := r.get("f", now.Add(recentFor)); ok {
		t.Error("an old answer")
	}
}

// TestHarmless: what a terminal obeys or nobody sees is spelled out in the JSON.
func TestHarmless(t *testing.T) {
	raw, err := json.Marshal(map[string]string{"name": "a\x1b[31m\u202eb\U000E0041"})
	if err != nil {
		t.Fatal(err)
	}
	_, doc, _ := call(t, connect(t, options(), &fake{answer: Answer{"t\n", raw}}), "diagnose", nil)
	if name := doc["name"].(string); strings.ContainsAny(name, "\x1b\u202e\U000E0041") || !strings.Contains(name, `\x1b`) {
		t.Errorf("%q", name)
	}
}
