package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWorkerRoll replaces six workers one by one with the real eviction API, under a
// PodDisruptionBudget. While the budget allows no eviction it stops, and all is as before. Then
// one new machine cannot fetch its config: it stops there with the cause. Re-created without that
// trouble, it continues to the end. Pods and Nodes are never fewer than allowed.
func TestWorkerRoll(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip(full)
	}
	w := up(t, "hosted", true)
	if r := w.live(w.labWorkers(5, 6, "--window", "6m")...); r.code != 0 {
		t.Fatal(r)
	}
	s := newShop(t, w, 6)
	s.open(t)
	s.budget(t, 6)
	args := w.replacing("--option", "guest14=port-closed", "--drain-timeout", "25s")
	for i := range 6 {
		args = append(args, fmt.Sprintf("guest%d", 5+i), "--host", fmt.Sprintf("guest%d", 11+i))
	}
	stopped := func(r result, done int, why ...string) {
		t.Helper()
		t.Logf("stopped after %d of 6: %s", done, r.took.Round(time.Second))
		for _, text := range append(why, fmt.Sprintf("stopped after %d of 6 replacements", done)) {
			if r.code != 3 || !strings.Contains(r.out, text) {
				t.Fatalf("want %q: %s", text, r)
			}
		}
	}
	r := w.live(args...)
	stopped(r, 0, "a PodDisruptionBudget holds shop/web-", "1 pods of guest5 are not evicted after 25s")
	if state := nodeState(t, s.kube, "guest5"); state != "ready" {
		t.Errorf("guest5 is %s", state)
	}

	s.budget(t, 5)
	run := runID(r)
	r = w.live("worker", "resume", run, "--window", "4m")
	stopped(r, 3, "cause (proven): guest14", "(mcs-refused)")
	list := w.live("worker", "list", "--hosted", theGuest).out
	if n := strings.Count(list, " joined "); n != 6 || strings.Count(list, " deleted ") != 3 {
		t.Errorf("%d workers are in, want 6: %s", n, list)
	}

	r = w.live("worker", "resume", run, "--recreate", "--window", "4m")
	if r.code != 0 || !strings.Contains(r.out, "6 of 6 workers are replaced") {
		t.Fatal(r)
	}
	t.Logf("continued to the end in %s", r.took.Round(time.Second))
	seen := s.close()
	t.Logf("never fewer than %d ready pods and %d Ready Nodes; %d pods were made", seen.pods, seen.nodes, s.made)
	if seen.pods < 5 || seen.nodes < 7 { // guest0 and six
		t.Errorf("want 5 pods and 7 Nodes at least, all the time; last error %v", seen.err)
	}
	for i := range 12 {
		name, want := fmt.Sprintf("guest%d", 5+i), "gone"
		if i >= 6 {
			want = "ready"
		}
		if state := nodeState(t, s.kube, name); state != want {
			t.Errorf("%s is %s, want %s", name, state, want)
		}
	}
}

// TestWorkerSecrets: the token and the pull secret of a worker are in nothing that the run
// writes, says or passes on, and the token is in no file of the run when the worker is in.
func TestWorkerSecrets(t *testing.T) {
	w := up(t, "hosted", true)
	done := make(chan result, 1)
	go func() { done <- w.live(w.labWorkers(5, 1, "--window", "6m", "-vv")...) }()
	var config []byte
	eventually(t, time.Minute, func() string {
		var err error
		if config, err = os.ReadFile(filepath.Join(w.dir, "boot", "guest5.ign")); err != nil || len(config) == 0 {
			return fmt.Sprintf("no user-data yet: %v", err)
		}
		return ""
	})
	secrets := append(tokenForms(t, config), pullSecret(t, w)...)
	var r result
	for running := true; running; {
		select {
		case r = <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
			for _, found := range inProcesses(secrets) {
				t.Error(found)
			}
		}
	}
	if r.code != 0 {
		t.Fatal(r)
	}
	look := func(where string, data []byte) {
		for _, s := range secrets {
			if bytes.Contains(data, []byte(s)) {
				t.Errorf("a secret is in %s", where)
			}
		}
	}
	look("the output", []byte(r.out))
	look("the messages", []byte(r.err))
	files := 0
	for _, dir := range []string{w.state, filepath.Join(w.dir, "boot")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			files++
			look(path, raw)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 3 {
		t.Errorf("only %d files were searched", files)
	}
}

// tokenForms are the token of user-data as it is written in different places.
func tokenForms(t *testing.T, config []byte) []string {
	t.Helper()
	_, rest, ok := strings.Cut(string(config), `"Bearer `)
	sent, _, _ := strings.Cut(rest, `"`)
	plain, err := base64.StdEncoding.DecodeString(sent)
	if !ok || err != nil || len(plain) < 30 {
		t.Fatalf("the user-data has no token: %v", err)
	}
	return []string{sent, string(plain), base64.StdEncoding.EncodeToString([]byte(sent)), strings.TrimRight(sent, "=")}
}

// pullSecret is what of the lab's pull secret is secret.
func pullSecret(t *testing.T, w *world) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(w.dir, "hosted-payloads", "*.ign"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no payload: %v", err)
	}
	raw, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Storage struct {
			Files []struct {
				Path     string
				Contents struct{ Source string }
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for _, f := range doc.Storage.Files {
		if f.Path != "/var/lib/kubelet/config.json" {
			continue
		}
		_, data, _ := strings.Cut(f.Contents.Source, ",")
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			unescaped, err := url.PathUnescape(data)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(unescaped)
		}
		var secret struct {
			Auths map[string]struct{ Auth string }
		}
		if err := json.Unmarshal(text, &secret); err != nil {
			t.Fatalf("the pull secret: %v: %s", err, text)
		}
		var all []string
		for _, a := range secret.Auths {
			if len(a.Auth) >= 8 {
				all = append(all, a.Auth)
			}
		}
		if len(all) == 0 {
			t.Fatalf("the pull secret has no credential: %s", text)
		}
		return all
	}
	t.Fatal("the payload has no pull secret")
	return nil
}

// inProcesses looks for secrets in the arguments and environments of all processes.
func inProcesses(secrets []string) []string {
	var found []string
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, path := range list {
		for _, file := range []string{path, filepath.Join(filepath.Dir(path), "environ")} {
			raw, err := os.ReadFile(file)
			if err != nil {
				continue // it has ended, or is of somebody else
			}
			for _, s := range secrets {
				if bytes.Contains(raw, []byte(s)) {
					found = append(found, "a secret is in "+file+" of "+string(bytes.ReplaceAll(raw[:min(len(raw), 60)], []byte{0}, []byte{' '})))
				}
			}
		}
	}
	return found
}
