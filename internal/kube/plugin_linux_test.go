package kube

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
)

// pluginScript is a credential plugin that writes the process of its child to a file and waits for it.
const pluginScript = "sleep 1000 & echo $! > \"$1\"; wait"

func clientWith(t *testing.T, script string, timeout time.Duration, handler http.Handler) (*Client, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "pid")
	c, err := New(&rest.Config{Host: server.URL, Timeout: timeout, ExecProvider: &api.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "sh", Args: []string{"-c", script, "sh", file}, InteractiveMode: api.NeverExecInteractiveMode,
	}}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c, file
}

// gone waits until the child of a plugin has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(raw)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a process of the plugin was left behind")
}

var pods = Request{Path: []string{"api", "v1", "pods"}}

// TestPluginWaits: the wait for a credential plugin ends with the request's time, also where many wait, and its processes
// end with it.
func TestPluginWaits(t *testing.T) {
	c, file := clientWith(t, pluginScript, 300*time.Millisecond, http.NotFoundHandler())
	var work errgroup.Group
	began := time.Now()
	for range 20 {
		work.Go(func() error {
			_, _, err := c.Do(t.Context(), pods)
			var waits *PluginError
			if !errors.As(err, &waits) || !strings.Contains(err.Error(), `"sh"`) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			return nil
		})
	}
	_ = work.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	EndPlugins()
	gone(t, file)
}

// TestPluginInterrupted: a request that is interrupted does not wait for a plugin, and the end of the program ends it.
func TestPluginInterrupted(t *testing.T) {
	c, file := clientWith(t, pluginScript+" # interrupted", 0, http.NotFoundHandler())
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, _, err := c.Do(ctx, pods); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	EndPlugins()
	gone(t, file)
}

// credential is a plugin that counts its runs, and waits in the second one.
const credential = `n=$(cat "$1.n" 2>/dev/null || echo 0); echo $((n+1)) > "$1.n"; [ $n = 0 ] || { sleep 1000 & echo $! > "$1"; wait; }
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'`

// TestPluginAnswers: a credential that comes is used, once for all; and where the server refuses it, the wait for the
// next one ends, too.
func TestPluginAnswers(t *testing.T) {
	refuse := false
	c, file := clientWith(t, credential, time.Second, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "Bearer t" {
			t.Errorf("headers %v", q.Header)
		}
		if refuse {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("{}"))
	}))
	for range 3 {
		if body, _, err := c.Do(t.Context(), pods); err != nil || string(body) != "{}" {
			t.Fatalf("%s, %v", body, err)
		}
	}
	refuse = true
	var waits *PluginError
	if _, _, err := c.Do(t.Context(), pods); !errors.As(err, &waits) && !apierrors.IsUnauthorized(err) {
		t.Errorf("%v", err)
	}
	EndPlugins()
	gone(t, file)
}
