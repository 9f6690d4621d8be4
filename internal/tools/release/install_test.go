package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestGoInstall installs the committed tree by its version, as `go install` does from the
// module proxy. The proxy is a directory; what the tool depends on comes from the module
// cache.
func TestGoInstall(t *testing.T) {
	if !full {
		t.Skip("it compiles the tool from another directory: .ci/run full")
	}
	m := module.Version{Path: "github.com/rollcall-project/rollcall", Version: "v0.99.0"}
	proxy := t.TempDir()
	at := filepath.Join(proxy, m.Path, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(at, m.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(t.TempDir(), "rollcall") // the checkout may be a worktree, which the package does not know
	run1(t, "../../..", nil, "git", "clone", "-q", ".", tree)
	if err := zip.CreateFromVCS(archive, m, tree, "HEAD", ""); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	gomod := run1(t, tree, nil, "git", "show", "HEAD:go.mod")
	for name, text := range map[string]string{
		m.Version + ".mod": gomod, m.Version + ".info": `{"Version":"` + m.Version + `","Time":"2026-01-01T00:00:00Z"}`, "list": m.Version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cache := strings.TrimSpace(run1(t, ".", nil, "go", "env", "GOMODCACHE"))
	bin, home := t.TempDir(), t.TempDir()
	run1(t, home, []string{
		"GOBIN=" + bin, "GOMODCACHE=" + filepath.Join(home, "mod"), "GOFLAGS=-trimpath -modcacherw", "CGO_ENABLED=0", "GONOSUMDB=" + m.Path,
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache, "cache", "download"),
	}, "go", "install", m.Path+"/cmd/rollcall@"+m.Version)
	program := filepath.Join(bin, "rollcall")
	demo(t, program)
	var version struct {
		Version, Catalog string
		Modules          []struct{ Path, Version, Sum string }
	}
	if err := json.Unmarshal([]byte(run1(t, home, nil, program, "version", "-o", "json")), &version); err != nil {
		t.Fatal(err)
	}
	if version.Version != m.Version || !strings.HasPrefix(version.Catalog, "sha256:") || len(version.Modules) < 20 {
		t.Errorf("version %q, catalog %q, %d modules", version.Version, version.Catalog, len(version.Modules))
	}
	for _, linked := range version.Modules {
		if linked.Version == "" || linked.Sum == "" {
			t.Errorf("module %+v", linked)
		}
	}
}
