package refs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func TestCheckForm(t *testing.T) {
	ok := fault.Ref{Repo: "openshift/machine-config-operator", Path: "pkg/server/api.go", Symbol: "ServeHTTP", Branch: "release-4.20"}
	if err := checkForm(ok); err != nil {
		t.Errorf("%+v: %v", ok, err)
	}
	if err := checkForm(fault.Ref{Repo: "a/b", Note: "the whole of it"}); err != nil {
		t.Errorf("a note without a path: %v", err)
	}
	tests := []struct {
		name, says string
		ref        fault.Ref
	}{
		{"no owner", "owner/name", fault.Ref{Repo: "machine-config-operator", Path: "a"}},
		{"an address", "owner/name", fault.Ref{Repo: "https://github.com/a/b", Path: "a"}},
		{"nothing", "neither path nor note", fault.Ref{Repo: "a/b"}},
		{"symbol alone", "no path", fault.Ref{Repo: "a/b", Note: "x", Symbol: "F"}},
		{"absolute", "plain path", fault.Ref{Repo: "a/b", Path: "/etc/passwd"}},
		{"out of the repository", "plain path", fault.Ref{Repo: "a/b", Path: "../c"}},
		{"not clean", "plain path", fault.Ref{Repo: "a/b", Path: "pkg//x"}},
		{"a pattern", "plain path", fault.Ref{Repo: "a/b", Path: "pkg/*.go"}},
		{"two words", "one word", fault.Ref{Repo: "a/b", Path: "a", Symbol: "func F"}},
		{"an option for git", "branch or tag", fault.Ref{Repo: "a/b", Path: "a", Branch: "--upload-pack=x"}},
		{"a range", "branch or tag", fault.Ref{Repo: "a/b", Path: "a", Branch: "a..b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := checkForm(tt.ref); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("CheckForm = %v, want one that says %q", err, tt.says)
			}
		})
	}
}

// sources makes three copies: a bare repository with two branches, a work tree and
// plain files.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(at string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", at, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(p, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree := filepath.Join(dir, "own", "tree")
	write(filepath.Join(tree, "pkg/server/api.go"), "package server\n\nfunc (a *API) ServeHTTP() {}\n")
	git(tree, "init", "-q")
	git(tree, "add", ".")
	git(tree, "commit", "-q", "-m", "one")
	git(tree, "branch", "release-1")
	write(filepath.Join(tree, "pkg/server/new.go"), "package server\n\nfunc later() {}\n")
	git(tree, "add", ".")
	git(tree, "commit", "-q", "-m", "two")
	git(dir, "clone", "-q", "--bare", tree, filepath.Join(dir, "own+bare", "repo"))
	write(filepath.Join(dir, "own", "plain", "docs/page.md"), "about ServeHTTP\n")
	write(filepath.Join(dir, "secret.txt"), "ServeHTTP\n")
	if err := os.Symlink(filepath.Join(dir, "secret.txt"), filepath.Join(dir, "own", "plain", "link.txt")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLook(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := sources(t)
	tests := []struct {
		name string
		ref  fault.Ref
		says string // "" is verified
	}{
		{"path in a work tree", fault.Ref{Repo: "own/tree", Path: "pkg/server/api.go"}, ""},
		{"symbol in a bare one", fault.Ref{Repo: "own/bare", Path: "pkg/server/api.go", Symbol: "ServeHTTP"}, ""},
		{"symbol below a directory", fault.Ref{Repo: "own/bare", Path: "pkg/server", Symbol: "later"}, ""},
		{"on a branch", fault.Ref{Repo: "own/bare", Path: "pkg/server/api.go", Branch: "release-1"}, ""},
		{"not on that branch", fault.Ref{Repo: "own/bare", Path: "pkg/server/new.go", Branch: "release-1"}, "no such path"},
		{"no such branch", fault.Ref{Repo: "own/bare", Path: "pkg/server/api.go", Branch: "release-9"}, "no branch or tag release-9"},
		{"no such path", fault.Ref{Repo: "own/tree", Path: "pkg/server/gone.go"}, "no such path"},
		{"only a part of the word", fault.Ref{Repo: "own/tree", Path: "pkg/server/api.go", Symbol: "Serve"}, "does not occur"},
		{"plain file", fault.Ref{Repo: "own/plain", Path: "docs/page.md", Symbol: "ServeHTTP"}, ""},
		{"plain directory", fault.Ref{Repo: "own/plain", Path: "docs", Symbol: "ServeHTTP"}, ""},
		{"plain, no symbol", fault.Ref{Repo: "own/plain", Path: "docs/page.md", Symbol: "gone"}, "does not occur"},
		{"plain has no branches", fault.Ref{Repo: "own/plain", Path: "docs/page.md", Branch: "main"}, "no history"},
		{"a link out of the copy", fault.Ref{Repo: "own/plain", Path: "link.txt", Symbol: "ServeHTTP"}, "no such path"},
		{"bad form", fault.Ref{Repo: "own/plain", Path: "../x"}, "plain path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Look(t.Context(), dir, []Named{{Entry: "entry", Ref: tt.ref}})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.says == "":
				if r.Verified != 1 || len(r.Wrong) != 0 {
					t.Errorf("%+v, want it verified", r)
				}
			case len(r.Wrong) != 1 || !strings.Contains(r.Wrong[0].Err.Error(), tt.says) || r.Verified != 0:
				t.Errorf("%+v, want it wrong with %q", r, tt.says)
			}
		})
	}
}

func TestLookWithoutCopies(t *testing.T) {
	list := []Named{{Entry: "a", Ref: fault.Ref{Repo: "own/gone", Path: "x"}}, {Entry: "b", Ref: fault.Ref{Repo: "own/gone", Path: "y"}}}
	r, err := Look(t.Context(), t.TempDir(), list)
	if err != nil || r.Verified != 0 || r.Missing != 2 || !slices.Equal(r.Unlooked, []string{"own/gone (2)"}) {
		t.Errorf("%+v, %v: what has no copy is neither verified nor wrong", r, err)
	}
	if _, err := Look(t.Context(), filepath.Join(t.TempDir(), "nowhere"), list); err == nil {
		t.Error("a directory that is not there gives no error")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(t.Context(), file, list); err == nil {
		t.Error("a file for a directory gives no error")
	}
}

func TestLookEnds(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := sources(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Look(ctx, dir, []Named{{Entry: "a", Ref: fault.Ref{Repo: "own/tree", Path: "pkg"}}}); err == nil {
		t.Error("an ended context gives no error")
	}
}
