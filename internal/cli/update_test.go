package cli

import (
	"bytes"
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/fixture"
)

// TestUpdateLive: a live cluster shows all its PodDisruptionBudgets, so that it can be ready; one that holds a
// drain is named with its node; without the right to read them nothing is decided.
func TestUpdateLive(t *testing.T) {
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := clitest.ClusterOf(files)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cluster)
	defer server.Close()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clitest.WriteKubeconfig(config, server.URL); err != nil {
		t.Fatal(err)
	}
	ask := func(want cmdutil.ExitCode, first string, parts ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		a := newApp("rollcall", cmdutil.IO{Cache: shared, In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" },
			Clock: func() time.Time { return clitest.Now }})
		code := a.run(context.Background(), []string{"rollcall", "preflight", "--update", "--kubeconfig", config})
		if code != want || !strings.HasPrefix(out.String(), first) {
			t.Errorf("exit code %d, want %d:\n%s%s", code, want, &out, &errs)
		}
		for _, part := range parts {
			if !strings.Contains(out.String(), part) {
				t.Errorf("no %q in\n%s", part, &out)
			}
		}
	}
	ask(cmdutil.ExitOK, "✓ READY: nothing is known that keeps a host from coming back", "--read-secrets")
	cluster.Mu.Lock()
	labels := clitest.Object{"app": "db"}
	cluster.Put("poddisruptionbudgets", clitest.Object{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
		"metadata": clitest.Object{"name": "db", "namespace": "shop", "generation": 1},
		"spec":     clitest.Object{"minAvailable": 1, "selector": clitest.Object{"matchLabels": labels}},
		"status":   clitest.Object{"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0, "expectedPods": 1}})
	cluster.Put("pods", clitest.Object{"apiVersion": "v1", "kind": "Pod",
		"metadata": clitest.Object{"name": "db-0", "namespace": "shop", "labels": labels, "creationTimestamp": "2026-03-01T09:00:00Z"},
		"spec":     clitest.Object{"nodeName": "w1"},
		"status":   clitest.Object{"phase": "Running", "conditions": []clitest.Object{{"type": "Ready", "status": "True"}}}})
	cluster.Mu.Unlock()
	ask(cmdutil.ExitFault, "✗ NOT READY: 1 thing holds a reboot", "PodDisruptionBudget shop/db allows no eviction", "w1: PodDisruptionBudget shop/db")
	cluster.Mu.Lock()
	err = cluster.Happen([]clitest.Change{{Deny: "poddisruptionbudgets"}})
	cluster.Mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	ask(cmdutil.ExitUndecided, "? UNDECIDED: ", "poddisruptionbudgets.policy: forbidden")
	if len(cluster.Written) > 0 {
		t.Errorf("written: %v", cluster.Written)
	}
}
