package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/demo"
)

// pack makes a gzipped tar of a fixture.
func pack(t *testing.T, name string) []byte {
	t.Helper()
	files, err := clitest.Fixture(name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Name: path, Mode: 0o644, Size: int64(len(files[path].Data)), Typeflag: tar.TypeReg}
		if err := tw.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(files[path].Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// call runs the command line in this process, with the examples of set.
func call(set *demo.Set, args ...string) (stdout, stderr string, code cmdutil.ExitCode) {
	var out, errs bytes.Buffer
	a := newApp("rollcall", cmdutil.IO{
		Cache: shared,
		In:    strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" },
		Clock: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) },
	})
	if set != nil {
		a.demos = func() (*demo.Set, error) { return set, nil }
	}
	code = a.run(context.Background(), append([]string{"rollcall"}, args...))
	return out.String(), errs.String(), code
}

// TestDemoIsDiagnoseFrom holds that a demo is the answer to its bytes.
func TestDemoIsDiagnoseFrom(t *testing.T) {
	raw := pack(t, "csr-approver-not-running")
	set, err := demo.Load(fstest.MapFS{
		"index.yaml":    {Data: []byte("demos:\n- {name: broken, file: broken.tar.gz, about: no one approves}\n")},
		"broken.tar.gz": {Data: raw},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("broken", raw, 0o600); err != nil {
		t.Fatal(err)
	}
	want, _, wantCode := call(nil, "diagnose", "--from", "broken")
	got, stderr, code := call(set, "demo")
	if wantCode != cmdutil.ExitFault || code != cmdutil.ExitOK || !strings.Contains(stderr, "diagnose would exit with 2") {
		t.Fatalf("exit code %d, diagnose --from has %d: %s", code, wantCode, stderr)
	}
	if got != want {
		t.Errorf("demo\n%s\ndiagnose --from\n%s", got, want)
	}
	if out, _, code := call(set, "demo", "--list"); code != cmdutil.ExitOK || !strings.Contains(out, "no one approves") {
		t.Errorf("--list: %d %s", code, out)
	}
	if _, stderr, code := call(set, "demo", "other"); code != cmdutil.ExitFailed || !strings.Contains(stderr, "there are: broken") {
		t.Errorf("unknown name: %d %s", code, stderr)
	}
	saved := filepath.Join(t.TempDir(), "saved.tar.gz")
	if _, stderr, code := call(set, "demo", "--save", saved); code != cmdutil.ExitOK {
		t.Errorf("--save: %d %s", code, stderr)
	}
	if have, err := os.ReadFile(saved); err != nil || !bytes.Equal(have, raw) {
		t.Errorf("--save wrote %d bytes of %d: %v", len(have), len(raw), err)
	}
	if _, stderr, code := call(set, "demo", "--save", saved); code != cmdutil.ExitFailed || !strings.Contains(stderr, "something is there already") {
		t.Errorf("--save over a file: %d %s", code, stderr)
	}
}
