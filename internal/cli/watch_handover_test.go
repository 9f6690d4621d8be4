package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestWatchHandOver: one watch of a directory of openshift-install from before there is an
// API to the end: what the rendezvous host says, then the API in addition to it, then the API alone.
func TestWatchHandOver(t *testing.T) {
	t.Parallel() // it waits for checks of the network path
	c, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	late := map[string]clitest.Object{} // the last host joins at the end
	for key, o := range c.Objects {
		ref, _ := evidence.Field(o, "status", "nodeRef", "name").(string)
		if key == "nodes//w0" || strings.HasPrefix(key, "machines/") && ref == "w0" {
			late[key] = clitest.Clone(o)
		}
	}
	for key := range late {
		delete(c.Objects, key)
		if strings.HasPrefix(key, "machines/") {
			linked := clitest.Clone(late[key])
			delete(linked["status"].(clitest.Object), "nodeRef")
			c.Objects[key] = linked
		}
	}
	c.Down = true
	api := httptest.NewServer(c)
	defer api.Close()
	rendezvous := &rendezvousHost{}
	assisted := httptest.NewServer(rendezvous)
	defer assisted.Close()

	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "auth"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := clitest.WriteKubeconfig(filepath.Join(dir, "auth", "kubeconfig"), api.URL); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".openshift_install_state.json"), []byte(handOverState), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	out := &lockedBuffer{}
	in := cmdutil.IO{Cache: shared,
		In: strings.NewReader(""), Out: out, Err: io.Discard, Getenv: func(string) string { return "" }, Clock: func() time.Time { return clitest.Now.Add(time.Since(began)) }}
	ended := make(chan cmdutil.ExitCode, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		ended <- Main(ctx, []string{"rollcall", "watch", "--install-dir", dir, "--rendezvous", strings.TrimPrefix(assisted.URL, "http://"),
			"--kubeconfig", filepath.Join(dir, "auth", "kubeconfig"), "--interval", "1s", "--stable-for", "1s", "--timeout", "90s"}, in)
	}()
	out.wait(t, "0 of 5 expected hosts joined")
	rendezvous.set("installing-in-progress", "Writing image to disk")
	time.Sleep(3 * time.Second)
	change(c, func() { c.Down = false })
	out.wait(t, "m0, m1, m2, w1: imaged -> joined")
	rendezvous.stop()
	change(c, func() {
		for key, o := range late {
			c.Put(strings.Split(key, "/")[0], o)
		}
	})
	select {
	case code := <-ended:
		text := out.String()
		t.Log(text)
		if code != cmdutil.ExitOK {
			t.Errorf("it ended with %d", code)
		}
		at := 0
		for _, want := range []string{"the API cannot be used yet", "0 of 5 expected hosts joined", "the API answers for the first time", "w0: imaged -> ", "all 5 expected hosts have joined and the cluster is stable"} {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Errorf("not written, or in another order: %q", want)
				continue
			}
			at += i
		}
		if strings.Contains(text, "hunter2") || strings.Contains(text, "cause:") {
			t.Error("a secret, or a cause")
		}
	case <-time.After(time.Minute):
		t.Fatalf("it does not end\n%s", out.String())
	}
}

func change(c *clitest.Cluster, f func()) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	f()
}

const handOverState = `{"*agent.OptionalInstallConfig": {"config": {"metadata": {"name": "lark"}, "baseDomain": "example.com", "controlPlane": {"replicas": 3}, "compute": [{"name": "worker", "replicas": 2}], "platform": {"baremetal": {}}, "pullSecret": "hunter2"}},
 "*agentconfig.AgentConfig": {"Config": {"rendezvousIP": "127.0.0.1", "hosts": [
  {"hostname": "m0", "role": "master", "interfaces": [{"macAddress": "52:54:00:aa:00:00"}]},
  {"hostname": "m1", "role": "master", "interfaces": [{"macAddress": "52:54:00:aa:00:01"}]},
  {"hostname": "m2", "role": "master", "interfaces": [{"macAddress": "52:54:00:aa:00:02"}]},
  {"hostname": "w0", "role": "worker", "interfaces": [{"macAddress": "52:54:00:aa:00:03"}]},
  {"hostname": "w1", "role": "worker", "interfaces": [{"macAddress": "52:54:00:aa:00:04"}]}]}}}`

// rendezvousHost plays the assisted-service of the agent-based installer. Its last act is to
// become a member of the cluster itself: then it no longer answers.
type rendezvousHost struct {
	mu     sync.Mutex
	status string
	stage  string
	gone   bool
}

func (r *rendezvousHost) set(status, stage string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.stage = status, stage
}

func (r *rendezvousHost) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
}

func (r *rendezvousHost) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		panic(http.ErrAbortHandler)
	}
	status := r.status
	if status == "" {
		status = "known"
	}
	var hosts []clitest.Object
	for i, name := range []string{"m0", "m1", "m2", "w0", "w1"} {
		mac := fmt.Sprintf("52:54:00:aa:00:%02d", i)
		role := "master"
		if i > 2 {
			role = "worker"
		}
		hosts = append(hosts, clitest.Object{"id": fmt.Sprintf("h%d", i), "requested_hostname": name, "role": role, "status": status, "created_at": "2026-03-01T11:50:00Z",
			"status_updated_at": "2026-03-01T12:00:00Z", "progress": clitest.Object{"current_stage": r.stage, "stage_started_at": "2026-03-01T12:00:00Z"},
			"inventory": `{"hostname":"` + name + `","interfaces":[{"mac_address":"` + mac + `"}]}`})
	}
	cluster := clitest.Object{"id": "948b8ba9-798f-4310-bb08-67a6b56ebdcc", "name": "lark", "openshift_version": "4.20.6", "status": "installing", "hosts": hosts, "status_updated_at": "2026-03-01T12:00:00Z"}
	var answer any = clitest.Object{}
	switch {
	case q.URL.Path == "/api/assisted-install/v2/clusters":
		answer = []clitest.Object{cluster}
	case strings.HasPrefix(q.URL.Path, "/api/assisted-install/v2/clusters/"):
		answer = cluster
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// lockedBuffer is written by one goroutine and read by another.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *lockedBuffer) wait(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if strings.Contains(b.String(), text) {
			return
		}
	}
	t.Fatalf("never written: %q\n%s", text, b.String())
}
