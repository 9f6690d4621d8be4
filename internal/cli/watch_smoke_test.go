package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/smoke"
)

// TestSmokePod: where all else holds a pod is made on the host that is named, asked through
// the API server and deleted, and its answer decides the exit code.
func TestSmokePod(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answer  string // "": the API server does not reach the pod
		without bool   // no DaemonSet
		code    cmdutil.ExitCode
		says    string
		written int
	}{
		{"it answers", "Hello, 10.128.0.2. You have reached 10.131.0.9 on w0", false, cmdutil.ExitOK, "a new pod on each of these hosts runs and answers", 2},
		{"it is not reached", "", false, cmdutil.ExitUndecided, "does not reach it over the pod network: HTTP 503", 2},
		{"the network checks are off", "", true, cmdutil.ExitUndecided, "turns it off", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := clitest.NewCluster()
			if err != nil {
				t.Fatal(err)
			}
			if !tt.without {
				c.Put("daemonsets", clitest.Object{"kind": "DaemonSet", "apiVersion": "apps/v1", "metadata": clitest.Object{"name": "network-check-target", "namespace": smoke.Namespace},
					"spec": clitest.Object{"template": clitest.Object{"spec": clitest.Object{"containers": []any{clitest.Object{"image": "quay.io/release@sha256:1"}}}}}})
			}
			c.Answers = func(w http.ResponseWriter, pod string) {
				if !strings.HasSuffix(pod, ":8080") || tt.answer == "" {
					http.Error(w, "error trying to reach service: dial tcp 10.131.0.9:8080: i/o timeout", http.StatusServiceUnavailable)
					return
				}
				_, _ = fmt.Fprint(w, tt.answer)
			}
			srv := httptest.NewServer(runningPods{c})
			t.Cleanup(srv.Close)
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if err := clitest.WriteKubeconfig(path, srv.URL); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			in := cmdutil.IO{Cache: shared,
				In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Clock: func() time.Time { return clitest.Now }}
			code := Main(t.Context(), []string{"rollcall", "watch", "node/w0", "--smoke-pod", "--kubeconfig", path, "--timeout", "60s", "--stable-for", "1s", "--smoke-timeout", "3s"}, in)
			if code != tt.code || !strings.Contains(out.String(), tt.says) {
				t.Errorf("code %d, want %d with %q\n%s%s", code, tt.code, tt.says, out.String(), errs.String())
			}
			if len(c.Written) != tt.written {
				t.Errorf("written: %q", c.Written)
			}
			for key := range c.Objects {
				if strings.Contains(key, "rollcall-smoke") {
					t.Errorf("left: %s", key)
				}
			}
		})
	}
}

// runningPods is the cluster with a kubelet that runs each new pod.
type runningPods struct{ *clitest.Cluster }

func (c runningPods) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	c.Mu.Lock()
	for key, o := range c.Objects {
		if strings.Contains(key, "rollcall-smoke") {
			status := clitest.Object{"phase": "Running", "containerStatuses": []any{clitest.Object{"state": clitest.Object{"running": clitest.Object{}}}}}
			o["status"] = status
		}
	}
	c.Mu.Unlock()
	c.Cluster.ServeHTTP(w, q)
}
