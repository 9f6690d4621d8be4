package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/fleet"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// TestFleetOfServers: many API servers, of which some hang, refuse or are broken: a row for each, the worst first, and none
// that holds up the others.
func TestFleetOfServers(t *testing.T) {
	count := 12
	if sample.Full() {
		count = 50
	}
	healthy, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	ill, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	var list []clitest.Change
	if err := yaml.UnmarshalStrict([]byte(toRepair), &list); err != nil {
		t.Fatal(err)
	}
	if err := ill.Happen(list); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]clitest.Broken{}
	for _, k := range clitest.BrokenServers() {
		kinds[k.Name] = k
	}
	dir := t.TempDir()
	for i := range count {
		name, kind, cluster := fmt.Sprintf("ok-%02d", i), kinds["whole"], healthy
		switch {
		case i < 3:
			name, kind = fmt.Sprintf("hangs-%02d", i), kinds["hangs before headers"]
		case i < 5:
			name, kind = fmt.Sprintf("refuses-%02d", i), kinds["403"]
		case i < 7:
			name, cluster = fmt.Sprintf("ill-%02d", i), ill
		}
		server, end := kind.Serve(cluster)
		t.Cleanup(end)
		if err := clitest.WriteKubeconfig(filepath.Join(dir, name), server.URL); err != nil {
			t.Fatal(err)
		}
	}
	gone := httptest.NewServer(healthy)
	gone.Close()
	if err := clitest.WriteKubeconfig(filepath.Join(dir, "gone"), gone.URL); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := Main(t.Context(), []string{"rollcall", "fleet", "--kubeconfigs", dir, "--request-timeout", "10s", "-o", "json"}, cmdutil.IO{
		Cache: shared,
		In:    strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Clock: func() time.Time { return clitest.Now }})
	var r fleet.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || code != cmdutil.ExitFault {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, &out, &errs)
	}
	if len(r.Clusters) != count+1 || strings.Contains(out.String()+errs.String(), clitest.PlantedWord) {
		t.Errorf("%d of %d, %s", len(r.Clusters), count+1, &errs)
	}
	for i, c := range r.Clusters {
		kind, _, _ := strings.Cut(c.Name, "-")
		ok := map[string]bool{"ok": c.State == fleet.Quiet, "ill": c.State == fleet.Broken && len(c.Causes) > 0 && i < 2}[kind]
		if kind == "hangs" || kind == "refuses" || kind == "gone" {
			ok = c.State == fleet.NotRead || c.State == fleet.Undecided
		}
		if !ok {
			t.Errorf("row %d: %s is %s: %s %s", i, c.Name, c.State, c.Error, c.Reason)
		}
	}
	if !slices.ContainsFunc(r.Shared, func(s fleet.Shared) bool { return s.Fault == "pool-source-missing" && len(s.Clusters) == 2 }) {
		t.Errorf("in common: %+v", r.Shared)
	}
}

// TestFleetKilled: four processes share many archives, some of them damaged, and are killed again and again: in the end each
// archive has one result, the same as without a kill.
func TestFleetKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	count := 16
	switch {
	case sample.Full():
		count = 200
	case sample.Whole():
		count = 48
	}
	dir := t.TempDir()
	archives, results := filepath.Join(dir, "archives"), filepath.Join(dir, "results")
	files, err := clitest.Fixture("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(files, func(name string, _ *fstest.MapFile) bool { // many archives: what has a node or the version is enough
		return !strings.Contains(name, "core/nodes/") && !strings.Contains(name, "config.openshift.io/") && !strings.HasSuffix(name, "timestamp")
	})
	if len(files) < 5 {
		t.Fatalf("%d files are left of the base", len(files))
	}
	if err := os.Mkdir(archives, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range count {
		to := filepath.Join(archives, fmt.Sprintf("case-%03d", i))
		if i%40 == 7 {
			err = os.WriteFile(to+".tar.gz", []byte("\x1f\x8b damaged"), 0o600)
		} else {
			err = clitest.WriteFiles(files, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	args := func(more ...string) []string {
		return append([]string{"fleet", "--archives", archives, "--fail-on", "never"}, more...)
	}
	run := func(part int, kill time.Duration) {
		cmd := exec.CommandContext(t.Context(), "rollcall", args("--results", results, "--part", fmt.Sprintf("%d/4", part), "-q", "--at-once", "1")...)
		cmd.Env = append(os.Environ(), "HOME="+dir)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		if kill > 0 {
			time.Sleep(kill)
			_ = cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil && kill == 0 {
			t.Errorf("part %d: %v: %s", part, err, &errs)
		}
	}
	for round := range 3 {
		ended := make(chan struct{})
		for part := range 4 {
			go func() {
				defer func() { ended <- struct{}{} }()
				run(part, time.Duration(150+97*part+211*round)*time.Millisecond)
			}()
		}
		for range 4 {
			<-ended
		}
	}
	for part := range 4 {
		run(part, 0)
	}
	lines := map[string]int{}
	written, _ := filepath.Glob(filepath.Join(results, "*.jsonl"))
	for _, f := range written {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			var r fleet.Result
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%s: %q: %v", f, line, err)
			}
			lines[r.Name]++
		}
	}
	if len(lines) != count || len(written) != 4 {
		t.Errorf("%d results in %d files, want %d in 4", len(lines), len(written), count)
	}
	for name, n := range lines {
		if n != 1 {
			t.Errorf("%s was read %d times", name, n)
		}
	}
}
