package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// modulePath is the module that users install.
const modulePath = "github.com/rollcall-project/rollcall"

// TestGoInstall installs the command as the README says it, `go install MODULE@VERSION`, from
// a module proxy that is a directory. The dependencies come from where they always come
// from, so only this module is compiled again.
func TestGoInstall(t *testing.T) {
	version := fmt.Sprintf("v0.0.1-test.%d", time.Now().UnixNano()) // the module cache keeps what it once had
	proxy, bin := moduleProxy(t, version), t.TempDir()
	t.Cleanup(func() { forget(t, version) })
	cmd := exec.CommandContext(t.Context(), "go", "install", "-modcacherw", modulePath+"/cmd/rollcall@"+version)
	cmd.Dir = bin // outside of every module
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOPROXY=file://"+filepath.ToSlash(proxy)+","+goEnv(t, "GOPROXY"), "GONOSUMDB="+modulePath)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	program := filepath.Join(bin, "rollcall")
	out, err := exec.CommandContext(t.Context(), program, "version", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version, Catalog string
		Modules          []struct{ Path string }
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != version || !strings.HasPrefix(got.Catalog, "sha256:") || len(got.Modules) == 0 {
		t.Errorf("version -o json: %s", out)
	}
	demo(t, program)
}

// moduleProxy makes what a proxy has of a version of this module: the files that are
// committed or would be.
func moduleProxy(t *testing.T, version string) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	goMod := read(t, "../../../go.mod")
	if strings.Contains(goMod, "\nreplace ") {
		t.Error("go.mod has a replace: `go install` refuses it")
	}
	var archive bytes.Buffer
	if err := modzip.CreateFromDir(&archive, module.Version{Path: modulePath, Version: version}, "../../.."); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"list": version + "\n", version + ".mod": goMod, version + ".zip": archive.String(),
		version + ".info": fmt.Sprintf("{\"Version\":%q,\"Time\":%q}", version, time.Now().UTC().Format(time.RFC3339)),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// forget takes a version out of the module cache again.
func forget(t *testing.T, version string) {
	cache := goEnv(t, "GOMODCACHE")
	files, err := filepath.Glob(filepath.Join(cache, "cache", "download", filepath.FromSlash(modulePath), "@v", version+".*"))
	if err != nil {
		t.Error(err)
	}
	for _, f := range append(files, filepath.Join(cache, filepath.FromSlash(modulePath)+"@"+version)) {
		if err := os.RemoveAll(f); err != nil {
			t.Error(err)
		}
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output() // also after the test's context has ended
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
