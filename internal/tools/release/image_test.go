package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// full says whether what takes minutes is done, too: .ci/run full.
var full = os.Getenv("ROLLCALL_FULL") != ""

// build compiles cmd/rollcall for an architecture of Linux.
func build(t *testing.T, arch string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "rollcall-"+arch)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", out, "./cmd/rollcall")
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// unpack extracts the files of an image to a directory, as a container runtime does.
func unpack(t *testing.T, img v1.Image) string {
	t.Helper()
	root := t.TempDir()
	flat := mutate.Extract(img)
	defer flat.Close()
	tar := exec.CommandContext(t.Context(), "tar", "-x", "-p", "-C", root)
	tar.Stdin = flat
	if text, err := tar.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return root
}

// demo runs the demo of an installed program; it is the test of every artefact.
func demo(t *testing.T, program string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "demo", "-o", "name")
	cmd.Env = []string{"HOME=" + t.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s demo: %v\n%s", program, err, stderr.String())
	}
	if got := strings.TrimSpace(string(out)); got != "bootstrap-mc-mismatch" {
		t.Errorf("%s demo -o name: %q", program, got)
	}
}

// loopback starts a registry in memory and returns its address.
func loopback(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func pull(t *testing.T, ref, arch string) v1.Image {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(parsed, remote.WithContext(t.Context()), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestImage pushes an index, pulls it back for each platform and runs what this machine can
// run. The second architecture is compiled from nothing, so it comes with `.ci/run full`.
func TestImage(t *testing.T) {
	archs := []string{runtime.GOARCH}
	if full {
		archs = []string{"amd64", "arm64"}
	}
	ref := loopback(t) + "/rollcall:test"
	args := []string{"--to", ref}
	for _, arch := range archs {
		args = append(args, "linux/"+arch+"="+build(t, arch))
	}
	if err := pushImage(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	first := digest(t, ref)
	if err := pushImage(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	if again := digest(t, ref); again != first {
		t.Errorf("made twice: %s and %s", first, again)
	}
	for _, arch := range archs {
		img := pull(t, ref, arch)
		file, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if file.Architecture != arch || file.Config.User != nobody || strings.Join(file.Config.Entrypoint, " ") != "/usr/bin/rollcall" {
			t.Errorf("%s: the config is %s, user %q, entry %q", arch, file.Architecture, file.Config.User, file.Config.Entrypoint)
		}
		root := unpack(t, img)
		if arch == runtime.GOARCH {
			demo(t, filepath.Join(root, "usr/bin/rollcall"))
		}
	}
}

func digest(t *testing.T, ref string) string {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.Head(parsed, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return d.Digest.String()
}

// TestGatherImage runs the must-gather image's /usr/bin/gather by the bash of its base, as
// `oc adm must-gather` does, and replays what it wrote. The cluster is the archive of the
// demo; internal/cli has the same from an API.
func TestGatherImage(t *testing.T) {
	address := loopback(t)
	pushBase(t, address+"/base:test")
	program := build(t, runtime.GOARCH)
	ref := address + "/must-gather:test"
	if err := pushImage(t.Context(), []string{"--gather", "--base", address + "/base:test", "--to", ref, "linux/" + runtime.GOARCH + "=" + program}); err != nil {
		t.Fatal(err)
	}
	root := unpack(t, pull(t, ref, runtime.GOARCH))
	if err := os.MkdirAll(filepath.Join(root, "must-gather"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := diagnose(t, program, root, "case.tar.gz")
	if text, err := inside(t.Context(), root, "/bin/bash", "-c", "/usr/bin/gather --from /case.tar.gz; sync && tar -cf /copied.tar -C /must-gather .").CombinedOutput(); err != nil {
		t.Fatalf("gather: %v\n%s", err, text)
	}
	version, err := os.ReadFile(filepath.Join(root, "must-gather/version"))
	if err != nil || !strings.HasPrefix(string(version), "rollcall\n") {
		t.Errorf("version: %q, %v", version, err)
	}
	if got := diagnose(t, program, root, "must-gather"); got != want {
		t.Errorf("the gathered tree gives\n%s\nthe archive\n%s", got, want)
	}
}

// diagnose answers an archive below root; a demo's is written there first.
func diagnose(t *testing.T, program, root, from string) string {
	t.Helper()
	if from == "case.tar.gz" {
		if text, err := exec.CommandContext(t.Context(), program, "demo", "--save", filepath.Join(root, from)).CombinedOutput(); err != nil {
			t.Fatalf("save the demo: %v\n%s", err, text)
		}
	}
	out, err := exec.CommandContext(t.Context(), program, "diagnose", "--from", filepath.Join(root, from), "-o", "junit", "--fail-on", "never").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "bootstrap-mc-mismatch") {
		t.Fatalf("no root in the answer to %s:\n%s", from, out)
	}
	return strings.ReplaceAll(string(out), filepath.Join(root, from), "FROM")
}

// inside runs a command with root as its root directory; a user namespace gives that to
// everybody.
func inside(ctx context.Context, root string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

// pushBase makes a base of this machine's own bash, tar and sync with their libraries: no
// registry is reached in tests.
func pushBase(t *testing.T, ref string) {
	t.Helper()
	root := t.TempDir()
	add := func(from, to string) {
		t.Helper()
		content, err := os.ReadFile(from) // what a link leads to
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Join(root, filepath.Dir(to)), 0o755), os.WriteFile(filepath.Join(root, to), content, 0o755))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"bash", "tar", "sync"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		add(path, "/bin/"+program)
		libraries, err := exec.CommandContext(t.Context(), "ldd", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for word := range strings.FieldsSeq(string(libraries)) {
			if strings.HasPrefix(word, "/") {
				add(word, word)
			}
		}
	}
	var content bytes.Buffer
	tar := exec.CommandContext(t.Context(), "tar", "-c", "-C", root, ".")
	tar.Stdout = &content
	if err := tar.Run(); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(parsed, img, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// TestImageRefuses: a must-gather image without bash and tar would fail on the cluster.
func TestImageRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"--gather needs --base":    {"--gather", "--to", "x/y", "linux/amd64=z"},
		"at least one":             {"--to", "x/y"},
		"is not OS/ARCH=BINARY":    {"--to", "x/y", "linux=z"},
		"read the program: open z": {"--to", "localhost:1/y", "linux/amd64=z"},
	} {
		if err := pushImage(t.Context(), args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}
