package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The tools that are run from the module proxy. goreleaser 2.13.3 builds with
// Go 1.26.0; 2.18.1 wants 1.27.
const (
	goreleaser = "github.com/goreleaser/goreleaser/v2@v2.13.3"
	validator  = "sigs.k8s.io/krew/cmd/validate-krew-manifest@v0.5.0"
	krew       = "sigs.k8s.io/krew/cmd/krew@v0.5.0"
)

// otherTargets are the lines of .goreleaser.yaml for what this machine cannot run.
var otherTargets = regexp.MustCompile(`(?m)^ +- (linux|darwin|windows)_\w+[\w.]*\n`)

// TestRelease builds a release with goreleaser, twice and the second time without a cache,
// and installs from each artefact. $ROLLCALL_DIST names one that is built already: then only
// that is checked.
func TestRelease(t *testing.T) {
	dist := os.Getenv("ROLLCALL_DIST")
	switch {
	case dist == "" && !full:
		t.Skip("a release takes minutes to build: .ci/run full")
	case dist == "":
		dist = release(t, os.Getenv("GOCACHE"))
		again := release(t, filepath.Join(t.TempDir(), "cache"))
		first, second := read(t, filepath.Join(dist, "SHA256SUMS")), read(t, filepath.Join(again, "SHA256SUMS"))
		if first != second {
			t.Errorf("built twice:\n%s\n%s", first, second)
		}
	}
	t.Run("archive", func(t *testing.T) { checkArchive(t, dist) })
	t.Run("deb", func(t *testing.T) { checkDeb(t, dist) })
	t.Run("rpm", func(t *testing.T) { checkRPM(t, dist) })
	t.Run("krew", func(t *testing.T) { checkKrew(t, dist) })
	for _, name := range []string{"gcp", "redfish"} {
		t.Run("provider "+name, func(t *testing.T) { checkProvider(t, dist, "rollcall-provider-"+name) })
	}
	for _, program := range []string{"rollcall", "rollcall-host", "rollcall-provider-gcp", "rollcall-provider-redfish"} {
		t.Run("sbom of "+program, func(t *testing.T) { checkSBOM(t, dist, program) })
	}
}

// release builds the committed tree in a clone of its own, for this machine's platform. The
// clone has a tag: goreleaser knows no time of the commit without one.
func release(t *testing.T, cache string) (dist string) {
	t.Helper()
	tree := filepath.Join(t.TempDir(), "rollcall")
	run1(t, "../../..", nil, "git", "clone", "-q", ".", tree)
	run1(t, tree, nil, "git", "tag", "-f", "v0.0.1")
	config := filepath.Join(t.TempDir(), "goreleaser.yaml")
	narrow := otherTargets.ReplaceAllStringFunc(read(t, "../../../.goreleaser.yaml"), func(line string) string {
		if strings.Contains(line, runtime.GOOS+"_"+runtime.GOARCH) {
			return line
		}
		return ""
	})
	if err := os.WriteFile(config, []byte(narrow), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"GOFLAGS="} // flags of a test are not those of a release
	if cache != "" {
		env = append(env, "GOCACHE="+cache)
	}
	run1(t, tree, nil, "go", "run", goreleaser, "check", ".goreleaser.yaml")
	run1(t, tree, env, "go", "run", goreleaser, "release", "--snapshot", "--clean", "--config", config)
	return filepath.Join(tree, ".release", "dist")
}

// run1 runs one command and returns what it prints.
func run1(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// artefact is the one file of a kind for this machine.
func artefact(t *testing.T, dist, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist, strings.ReplaceAll(pattern, "ARCH", runtime.GOARCH)))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %q, %v", pattern, dist, found, err)
	}
	path, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// packaged is what a package installs besides the programs.
var packaged = []string{
	"usr/bin/oc-rollcall", "usr/bin/kubectl-rollcall", "usr/bin/kubectl_complete-rollcall", "usr/bin/rollcall-host",
	"usr/share/man/man1/rollcall.1.gz", "usr/share/man/man1/rollcall-diagnose.1.gz",
	"usr/share/bash-completion/completions/rollcall", "usr/share/fish/vendor_completions.d/rollcall.fish",
}

// checkInstalled runs what a package has put below root.
func checkInstalled(t *testing.T, root string, files ...string) {
	t.Helper()
	for _, name := range append(files, packaged...) {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("not installed: %v", err)
		}
	}
	bin := filepath.Join(root, "usr/bin")
	demo(t, filepath.Join(bin, "rollcall"))
	for want, args := range map[string][]string{
		"csr-client-pending": {"kubectl_complete-rollcall", "explain", "csr-client"}, // an id
		"bootstrap-desync":   {"kubectl_complete-rollcall", "demo", ""},              // an example
		"oc rollcall":        {"oc-rollcall", "--help"},
	} {
		if got := run1(t, root, nil, append([]string{filepath.Join(bin, args[0])}, args[1:]...)...); !strings.Contains(got, want) {
			t.Errorf("%q prints no %q:\n%s", args, want, got)
		}
	}
	run1(t, root, nil, "bash", "-n", filepath.Join(root, "usr/share/bash-completion/completions/rollcall"))
	run1(t, root, nil, filepath.Join(bin, "rollcall-host"), "--help")
}

func checkArchive(t *testing.T, dist string) {
	dir := t.TempDir()
	run1(t, dir, nil, "tar", "-xzf", artefact(t, dist, "rollcall_*_linux_ARCH.tar.gz"))
	demo(t, filepath.Join(dir, "rollcall"))
	for _, name := range []string{"LICENSE", "README.md", "man/rollcall.1.gz", "completions/rollcall.bash"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	// the helper of kubectl in the archive is a script, which finds the plugin on the PATH
	if err := os.Symlink("rollcall", filepath.Join(dir, "kubectl-rollcall")); err != nil {
		t.Fatal(err)
	}
	got := run1(t, dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, filepath.Join(dir, "kubectl_complete-rollcall"), "explain", "csr-client")
	if !strings.Contains(got, "csr-client-pending") {
		t.Errorf("kubectl_complete-rollcall: %s", got)
	}
}

// checkDeb installs the package with dpkg into a root of its own.
func checkDeb(t *testing.T, dist string) {
	root := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	run1(t, root, nil, "dpkg", "--root="+root, "--force-not-root", "--force-architecture", "--log=/dev/null", "--install", artefact(t, dist, "rollcall_*_linux_ARCH.deb"))
	checkInstalled(t, root, "usr/share/doc/rollcall/copyright", "usr/share/zsh/vendor-completions/_rollcall")
	if got := run1(t, root, nil, "dpkg-query", "--admindir="+filepath.Join(root, "var/lib/dpkg"), "-W", "-f", "${Status}", "rollcall"); got != "install ok installed" {
		t.Errorf("dpkg-query: %q", got)
	}
}

// checkRPM installs the package with rpm into a root of its own.
func checkRPM(t *testing.T, dist string) {
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("there is no rpm: apt-get install rpm")
	}
	root, file := t.TempDir(), artefact(t, dist, "rollcall_*_linux_ARCH.rpm")
	run1(t, root, nil, "rpm", "--root", root, "--dbpath", "/var/lib/rpm", "--initdb")
	run1(t, root, nil, "rpm", "--root", root, "--dbpath", "/var/lib/rpm", "--install", "--nodeps", "--nosignature", file)
	checkInstalled(t, root, "usr/share/licenses/rollcall/LICENSE", "usr/share/zsh/site-functions/_rollcall")
	if got := run1(t, root, nil, "rpm", "-qp", "--nosignature", "--queryformat", "%{LICENSE}", file); !strings.Contains(got, "Apache-2.0") {
		t.Errorf("license: %q", got)
	}
}

// checkKrew lets krew's own validator download the archive from here and install it.
func checkKrew(t *testing.T, dist string) {
	server := httptest.NewServer(http.FileServer(http.Dir(dist)))
	t.Cleanup(server.Close)
	manifest := read(t, filepath.Join(dist, "krew", "rollcall.yaml"))
	here := regexp.MustCompile(`https://github.com/\S+/releases/download/[^/]+/`).ReplaceAllString(manifest, server.URL+"/")
	if here == manifest {
		t.Fatalf("no download address in\n%s", manifest)
	}
	file := filepath.Join(t.TempDir(), "rollcall.yaml")
	if err := os.WriteFile(file, []byte(here), 0o644); err != nil {
		t.Fatal(err)
	}
	// It calls `kubectl krew`, and kubectl runs the plugin of that name.
	bin := t.TempDir()
	run1(t, bin, []string{"GOBIN=" + bin}, "go", "install", krew)
	if err := os.Rename(filepath.Join(bin, "krew"), filepath.Join(bin, "kubectl-krew")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte("#!/bin/sh\nplugin=$1\nshift\nexec kubectl-$plugin \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	run1(t, t.TempDir(), path, "go", "run", validator, "-manifest", file)
	store := t.TempDir()
	env := append(path, "KREW_ROOT="+store, "HOME="+store)
	run1(t, store, env, "kubectl", "krew", "install", "--manifest="+file)
	demo(t, filepath.Join(store, "bin", "kubectl-rollcall"))
}

// checkProvider starts what is in the archive as `rollcall worker` does: one request, of a
// kind that does not exist, so that nothing is asked of a cloud or a BMC.
func checkProvider(t *testing.T, dist, program string) {
	dir := t.TempDir()
	run1(t, dir, nil, "tar", "-xzf", artefact(t, dist, program+"_*_linux_ARCH.tar.gz"))
	for _, name := range []string{"LICENSE", "README.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	account := filepath.Join(dir, "account.json") // gcp wants one before it reads the request
	if err := os.WriteFile(account, []byte(`{"type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, program))
	cmd.Env = append(os.Environ(), "GOOGLE_APPLICATION_CREDENTIALS="+account)
	cmd.Stdin = strings.NewReader(`{"apiVersion": "rollcall.dev/provider/v1alpha1", "op": "none"}`)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"unsupported":true`) {
		t.Errorf("%s: %v\n%s", program, err, out)
	}
}

// checkSBOM holds the list against what the linker wrote into the program.
func checkSBOM(t *testing.T, dist, program string) {
	info, err := buildinfo.ReadFile(artefact(t, dist, program+"_linux_ARCH*/"+program))
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(read(t, artefact(t, dist, program+"_[0-9]*_linux_ARCH.cdx.json")))
	var bom struct {
		BOMFormat  string
		Components []struct{ Name, Version string }
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, c := range bom.Components {
		listed[c.Name] = c.Version
	}
	if bom.BOMFormat != "CycloneDX" || listed["std"] != info.GoVersion || len(info.Deps) == 0 {
		t.Errorf("%s with std %s of %d modules", bom.BOMFormat, listed["std"], len(info.Deps))
	}
	for _, m := range info.Deps {
		want := m.Version
		if m.Replace != nil {
			want = info.Main.Version // of the same tree
		}
		if listed[m.Path] != want {
			t.Errorf("%s: listed %q, linked %q", m.Path, listed[m.Path], want)
		}
	}
}
