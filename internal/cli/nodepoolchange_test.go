package cli

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// TestNodePoolScale: the number is written in the version that was shown, and what can be meant in two
// ways is refused. The base has one Ready Node, vm-7.
func TestNodePoolScale(t *testing.T) {
	argo := []any{clitest.Object{"manager": "argocd-controller", "operation": "Apply", "time": "2026-03-01T08:01:00Z", "fieldsV1": clitest.Object{"f:spec": clitest.Object{"f:replicas": clitest.Object{}}}}}
	for _, tt := range []struct {
		name   string
		args   []string
		change func(*poolStore)
		code   cmdutil.ExitCode
		want   []string
		writes []string
	}{
		{"up", []string{"np-a", "--replicas", "3"}, nil, cmdutil.ExitOK, []string{"from 1 replica to 3", "no machine is made, and none is taken away", "1: vm-7 (Ready)", "wants 3 replicas now",
			"make 2 workers: rollcall worker create --hosted guests/edge.one --nodepool np-a", "To undo: rollcall nodepool scale np-a --hosted guests/edge.one --replicas 1"}, []string{"patch"}},
		{"the same", []string{"np-a", "--replicas", "1"}, nil, cmdutil.ExitOK, []string{"wants 1 replica already"}, nil},
		{"fewer than there are", []string{"np-a", "--replicas", "0"}, nil, cmdutil.ExitFault, []string{"1 Node is there, and 0 wanted", "--nodes-stay"}, nil},
		{"fewer, and the Nodes stay", []string{"np-a", "--replicas", "0", "--nodes-stay"}, nil, cmdutil.ExitOK, []string{"wants 0 replicas now", "more Nodes than that are there: 1"}, []string{"patch"}},
		{"the status was written meanwhile", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.conflict = 2 }, cmdutil.ExitOK, []string{"wants 3 replicas now"}, []string{"patch"}},
		{"always another version", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.conflict = 99 }, cmdutil.ExitFault, []string{"has been modified"}, nil},
		{"no right", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.refuse["patch dry"] = statusOf(403, "Forbidden", "cannot patch") }, cmdutil.ExitFault, []string{"refuses to change it: cannot patch"}, nil},
		{"refused by a webhook", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.refuse["patch dry"] = statusOf(422, "Invalid", "denied") }, cmdutil.ExitFault, []string{"refuses to change it: denied"}, nil},
		{"the API does not answer", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.refuse["patch dry"] = statusOf(500, "InternalError", "away") }, cmdutil.ExitFailed, []string{"nothing was changed", "away"}, nil},
		{"written by GitOps", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.change("metadata.managedFields", argo) }, cmdutil.ExitFault, []string{"field manager argocd-controller"}, nil},
		{"a label of Flux", []string{"np-a", "--replicas", "3"}, func(s *poolStore) {
			s.change("metadata.labels", clitest.Object{"kustomize.toolkit.fluxcd.io/name": "apps"})
		}, cmdutil.ExitFault, []string{"label kustomize.toolkit.fluxcd.io/name"}, nil},
		{"autoscaling", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.change("spec.autoScaling", clitest.Object{"min": 1, "max": 2}) }, cmdutil.ExitFault, []string{"spec.autoScaling is set"}, nil},
		{"being deleted", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.change("metadata.deletionTimestamp", "2026-03-01T11:00:00Z") }, cmdutil.ExitFault, []string{"is being deleted since"}, nil},
		{"another platform", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.change("spec.platform", clitest.Object{"type": "Agent"}) }, cmdutil.ExitFailed, []string{"is of platform Agent"}, nil},
		{"of another cluster", []string{"np-a", "--replicas", "3"}, func(s *poolStore) { s.change("spec.clusterName", "other") }, cmdutil.ExitFailed, []string{"is of hosted cluster other"}, nil},
		{"none of that name", []string{"np-x", "--replicas", "3"}, nil, cmdutil.ExitFailed, []string{"there is no NodePool np-x in namespace guests"}, nil},
		{"no number", []string{"np-a"}, nil, cmdutil.ExitFailed, []string{"--replicas N is missing"}, nil},
		{"Nodes that cannot be read", []string{"np-a", "--replicas", "0"}, func(s *poolStore) { s.pair.handler = http.NotFoundHandler() }, cmdutil.ExitFault, []string{"it is not known how many Nodes are there"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newPoolStore(t)
			if tt.change != nil {
				tt.change(s)
			}
			s.expect(t, append([]string{"nodepool", "scale", "--hosted", "guests/edge.one", "--yes", "--state-dir", t.TempDir()}, tt.args...), tt.code, tt.want, tt.writes)
		})
	}
}

// TestNodePoolDelete: what goes and what stays, the copy that is kept, and that nothing is deleted under
// Nodes that work or are not known.
func TestNodePoolDelete(t *testing.T) {
	idle := func(s *poolStore) { // the hosted cluster has no Node
		whole := s.pair.handler
		s.pair.handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if !strings.HasSuffix(q.URL.Path, "/nodes") {
				whole.ServeHTTP(w, q)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "NodeList", "apiVersion": "v1", "metadata": clitest.Object{}, "items": []any{}})
		})
	}
	machine := func(s *poolStore) {
		idle(s)
		s.other = func(w http.ResponseWriter, q *http.Request) bool {
			if !strings.HasSuffix(q.URL.Path, "/machines") {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "MachineList", "apiVersion": "cluster.x-k8s.io/v1beta1", "metadata": clitest.Object{}, "items": []any{
				clitest.Object{"kind": "Machine", "apiVersion": "cluster.x-k8s.io/v1beta1", "metadata": clitest.Object{"name": "fake", "namespace": "guests-edge-one",
					"annotations": clitest.Object{"hypershift.openshift.io/nodePool": "guests/np-a"}}},
			}})
			return true
		}
	}
	for _, tt := range []struct {
		name   string
		args   []string
		change func(*poolStore)
		code   cmdutil.ExitCode
		want   []string
		writes []string
	}{
		{"without Nodes", []string{"np-a"}, idle, cmdutil.ExitOK, []string{"Secrets token-np-a-... and user-data-np-a-... in namespace guests-edge-one", "passed none of its Nodes is Ready",
			"Kept: ", "NodePool guests/np-a is gone", "To undo: oc create -f "}, []string{"delete"}},
		{"a Node that works", []string{"np-a"}, nil, cmdutil.ExitFault, []string{"1 Node is Ready and would work on without a NodePool: vm-7 (Ready)", "--nodes-stay", "/var/lib/kubelet/pki"}, nil},
		{"a Node that works and stays", []string{"np-a", "--nodes-stay"}, nil, cmdutil.ExitOK, []string{"warning its Nodes stay and work on", "is gone"}, []string{"delete"}},
		{"Nodes that cannot be read", []string{"np-a"}, func(s *poolStore) { s.pair.handler = http.NotFoundHandler() }, cmdutil.ExitFault, []string{"it is not known whether its Nodes are Ready"}, nil},
		{"a Node of which NodePool", []string{"np-a"}, func(s *poolStore) {
			other := maps.Clone(s.pools["np-a"])
			other["metadata"] = clitest.Object{"name": "np-z", "namespace": "guests"}
			s.pools["np-z"] = other
		}, cmdutil.ExitFault, []string{"perhaps of another NodePool"}, nil},
		{"a Machine that somebody made", []string{"np-a"}, machine, cmdutil.ExitFault, []string{"Machines in guests-edge-one name it (fake)"}, nil},
		{"another version", []string{"np-a"}, func(s *poolStore) { idle(s); s.conflict = 3 }, cmdutil.ExitOK, []string{"is gone"}, []string{"delete"}},
		{"no right", []string{"np-a"}, func(s *poolStore) { idle(s); s.refuse["delete dry"] = statusOf(403, "Forbidden", "cannot delete") }, cmdutil.ExitFault, []string{"refuses to delete it: cannot delete"}, nil},
		{"it fails after the dry run", []string{"np-a"}, func(s *poolStore) { idle(s); s.refuse["delete"] = statusOf(500, "InternalError", "away") }, cmdutil.ExitFailed, []string{"Kept: ", "away"}, nil},
		{"its finalizer stays", []string{"np-a", "--timeout", "1s"}, func(s *poolStore) { idle(s); s.stuck = true }, cmdutil.ExitUndecided, []string{"not gone after 1s", "finalizer", "To undo: oc create"}, []string{"delete"}},
		{"written by GitOps", []string{"np-a"}, func(s *poolStore) {
			idle(s)
			s.change("metadata.annotations", clitest.Object{"argocd.argoproj.io/tracking-id": "x"})
		}, cmdutil.ExitOK, []string{"warning another tool writes this NodePool again (annotation argocd.argoproj.io/tracking-id)"}, []string{"delete"}},
		{"another platform", []string{"np-a"}, func(s *poolStore) { s.change("spec.platform", clitest.Object{"type": "Agent"}) }, cmdutil.ExitFailed, []string{"is of platform Agent"}, nil},
		{"none of that name", []string{"np"}, nil, cmdutil.ExitFailed, []string{"there is no NodePool np in namespace guests"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newPoolStore(t)
			if tt.change != nil {
				tt.change(s)
			}
			state := filepath.Join(t.TempDir(), "state")
			s.expect(t, append([]string{"nodepool", "delete", "--hosted", "guests/edge.one", "--yes", "--state-dir", state}, tt.args...), tt.code, tt.want, tt.writes)
			if len(tt.writes) > 0 {
				wantCopy(t, state)
			}
		})
	}
}

// wantCopy reads the copy of a deleted NodePool: it can be created again.
func wantCopy(t *testing.T, state string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "nodepools", "guests_np-a_*.yaml"))
	if err != nil || len(files) != 1 {
		t.Fatalf("copies: %v, %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"uid", "resourceVersion", "creationTimestamp", "status", "nodePoolCurrentConfig", "generation"} {
		if strings.Contains(string(raw), gone+":") {
			t.Errorf("the copy has %s:\n%s", gone, raw)
		}
	}
	for _, kept := range []string{"kind: NodePool", "name: np-a", "replicas: 1", "upgradeType: Replace"} {
		if !strings.Contains(string(raw), kept) {
			t.Errorf("the copy lacks %s:\n%s", kept, raw)
		}
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestNodePoolWait: it changes nothing.
func TestNodePoolWait(t *testing.T) {
	s := newPoolStore(t)
	s.expect(t, []string{"nodepool", "wait", "np-a", "--hosted", "guests/edge.one"}, cmdutil.ExitOK, []string{"its machines can be made now", "worker create"}, nil)
	s = newPoolStore(t)
	s.expect(t, []string{"nodepool", "wait", "np-x", "--hosted", "guests/edge.one"}, cmdutil.ExitFailed, []string{"there is no NodePool np-x"}, nil)
}

// TestNoNodePool: a hosted cluster without a NodePool is told apart from one whose name is wrong.
func TestNoNodePool(t *testing.T) {
	for _, args := range [][]string{
		{"worker", "create", "--hosted", "guests/edge.one", "--host", "vm-8=192.0.2.8", "--plan"},
		{"worker", "user-data", "--hosted", "guests/edge.one", "--to", filepath.Join(t.TempDir(), "w.ign")},
	} {
		s := newPoolStore(t)
		s.pools = map[string]clitest.Object{}
		s.expect(t, args, cmdutil.ExitFailed, []string{"no NodePool of hosted cluster guests/edge.one was found; `rollcall nodepool create NAME --hosted guests/edge.one --replicas N` declares one"}, nil)
	}
}
