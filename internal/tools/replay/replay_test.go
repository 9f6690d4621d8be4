package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/fixture"
)

// history is a git repository that a test makes.
type history struct {
	t   *testing.T
	dir string
}

func (h history) git(env string, args ...string) {
	h.t.Helper()
	c := exec.CommandContext(h.t.Context(), "git", append([]string{"-C", h.dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", env)
	if out, err := c.CombinedOutput(); err != nil {
		h.t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

func (h history) commit(at string) {
	h.t.Helper()
	h.git("", "add", "-A")
	h.git("GIT_COMMITTER_DATE="+at, "commit", "-q", "--allow-empty", "-m", "change")
}

func (h history) write(path string, raw []byte) {
	h.t.Helper()
	p := filepath.Join(h.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(p, raw, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// TestReplay: a healthy cluster, then a node that is not Ready, at first for a short and
// then for a long time. What does not change the answer prints no line.
func TestReplay(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	h := history{t, t.TempDir()}
	h.git("", "init", "-q")
	base, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	node := ""
	for p, f := range base {
		h.write(p, f.Data)
		if strings.HasSuffix(p, "core/nodes/w0.yaml") {
			node = p
		}
	}
	h.commit("2026-03-01T12:00:00Z")
	h.commit("2026-03-01T12:00:01Z")
	changed := strings.Replace(string(base[node].Data), `type: Ready, status: "True"`, `type: Ready, status: "False"`, 1)
	changed = strings.Replace(changed, `lastTransitionTime: "2026-03-01T08:18:00Z"`, `lastTransitionTime: "2026-03-01T12:00:05Z"`, 1)
	if changed == string(base[node].Data) {
		t.Fatal("the Node of the base has no condition Ready")
	}
	h.write(node, []byte(changed))
	h.commit("2026-03-01T12:00:06Z")
	h.commit("2026-03-01T12:01:00Z")
	h.commit("2026-03-01T13:00:00Z")

	var out strings.Builder
	if err := run(t.Context(), []string{"--git", h.dir, "--every", "5s"}, &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if len(line) > 8 && line[2] == ':' {
			fields := strings.Fields(line)
			got = append(got, fields[0]+" "+fields[2]+" "+strings.Join(fields[3:5], " "))
		}
	}
	want := "12:00:00 healthy exit 0,; 12:00:06 settling exit 0,; 13:00:00 undetermined exit 3,"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("changes:\n%s\nwant:\n%s\nin:\n%s", s, want, out.String())
	}
	if !strings.Contains(out.String(), "\n5 snapshots of 5 commits in ") || !strings.Contains(out.String(), "undecided: error node-not-ready host/w0") {
		t.Errorf("the summary:\n%s", out.String())
	}
}

func TestUsage(t *testing.T) {
	var out strings.Builder
	for _, args := range [][]string{{}, {"--git", t.TempDir()}, {"--git", ".", "--from", "yesterday"}} {
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
