package repair

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func TestInstallFailed(t *testing.T) {
	node := func(current, target, failed int64) map[string]any {
		return map[string]any{"nodeName": "n", "currentRevision": current, "targetRevision": target, "lastFailedRevision": failed}
	}
	for name, c := range map[string]struct {
		newest int64
		nodes  []any
		want   string // in the refusal; "": allowed
	}{
		"failed, tried again":      {7, []any{node(7, 0, 0), node(6, 7, 7)}, ""},
		"failed, given up":         {7, []any{node(6, 0, 7), node(7, 0, 0)}, ""},
		"failed long ago":          {7, []any{node(7, 0, 5), node(7, 0, 0)}, "no node has failed"},
		"an older one failed":      {7, []any{node(5, 0, 6)}, "no node has failed"},
		"another node is moved":    {7, []any{node(6, 7, 7), node(6, 7, 0)}, "being moved to revision 7"},
		"moved to an older one":    {7, []any{node(6, 0, 7), node(5, 6, 6)}, "being moved to revision 6"},
		"no node is known":         {7, nil, "no node has failed"},
		"no revision is reported":  {0, []any{node(0, 0, 0)}, "no node has failed"},
		"nodes that are no object": {7, []any{"x"}, "no node has failed"},
	} {
		t.Run(name, func(t *testing.T) {
			err := installFailed(Object{"status": map[string]any{"latestAvailableRevision": c.newest, "nodeStatuses": c.nodes}})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("installFailed: %v, want %q", err, c.want)
			}
		})
	}
}

func TestOperands(t *testing.T) {
	c, _ := changeOf("redeploy-operand")
	for name, want := range map[string]bool{"etcd": true, "kube-apiserver": true, "kube-controller-manager": true, "kube-scheduler": true,
		"network": false, "": false} {
		if c.target.has(name) != want {
			t.Errorf("named(%q) is %t", name, !want)
		}
	}
	if g := redeployGuards("etcd"); g[0].Guard != EtcdMembers || g[0].Count != leastMembers {
		t.Errorf("a rollout of etcd needs %v", g)
	}
}

// leafSecret is a Secret whose certificate an operator rotates, or that of a signer.
func leafSecret(signer bool) Object {
	ca, err := oneAuthority()
	if err != nil {
		panic(err)
	}
	c := ca
	if !signer {
		if c, err = ca.issue(testKey, []string{"api-int.c.example.com"}, time.Date(2026, 5, 1, 2, 0, 0, 0, time.UTC)); err != nil {
			panic(err)
		}
	}
	return clone(Object{"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": map[string]any{"annotations": map[string]any{
		"auth.openshift.io/certificate-issuer":     "openshift-kube-apiserver-operator_kube-control-plane-signer",
		"auth.openshift.io/certificate-not-before": "2026-04-01T00:00:00Z",
		"auth.openshift.io/certificate-not-after":  "2026-05-01T00:00:00Z"}},
		"data": map[string]any{"tls.crt": base64.StdEncoding.EncodeToString([]byte(c.cert)), "tls.key": base64.StdEncoding.EncodeToString([]byte(c.key))}})
}

// TestLeafRefused: what the operators do not rotate is not marked, and no plan shows a key.
func TestLeafRefused(t *testing.T) {
	in := input{plan: "p"}
	if _, err := markLeaf(leafSecret(false), in); err != nil {
		t.Errorf("a leaf: %v", err)
	}
	for want, o := range map[string]Object{
		"holds a signer": leafSecret(true),
		"no operator rotates it": func() Object {
			o := leafSecret(false)
			delete(o["metadata"].(map[string]any)["annotations"].(map[string]any), "auth.openshift.io/certificate-issuer")
			return o
		}(),
		"copy of one revision": func() Object {
			o := leafSecret(false)
			o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"kind": "ConfigMap", "name": "revision-status-7"}}
			return o
		}(),
		"no certificate in tls.crt": {"metadata": leafSecret(false)["metadata"], "data": map[string]any{"tls.crt": "bm90aGluZw=="}},
	} {
		if _, err := markLeaf(o, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for _, v := range []string{"openshift-etcd/etcd-peer-a", "kube-system/x", "openshift-config-managed/../x", "x", ""} {
		if regenerateLeaf().valid(v) == nil {
			t.Errorf("%q is taken", v)
		}
	}
}

// TestLeafKey: the key that lies in the Secret of a leaf is in no plan, journal, message or record,
// after an apply and after an undo; what is kept of it is closed to others.
func TestLeafKey(t *testing.T) {
	cases := changeCases()
	c := cases[slices.IndexFunc(cases, func(c changeCase) bool { return c.remedy == leafRemedy })]
	for _, undone := range []bool{false, true} {
		r := newChangeRig(t, c)
		key := stringAt(r.get(c.object), "data", "tls.key")
		p := r.mustPlan(t)
		r.still = undone // an operator that has acted leaves nothing to undo
		if undone {
			r.exec.At = func(at Point) {
				if at.At == "after write" {
					panic(killed{at})
				}
			}
		}
		if _, dead := interrupted(func() error { return failure(r.exec.Apply(t.Context(), p)) }); dead != undone {
			t.Fatalf("ended in between: %t, want %t", dead, undone)
		}
		if undone {
			r.exec.At = nil
			if o, err := r.exec.Undo(t.Context(), p.ID); err != nil || o.State != Undone {
				t.Fatalf("Undo: %v, %+v", err, o)
			}
		}
		if l := r.leaks(t); len(l) > 0 {
			t.Errorf("undone %t: a key is in %v", undone, l)
		}
		if got := stringAt(r.get(c.object), "data", "tls.key"); got != key {
			t.Errorf("undone %t: the key in the cluster is another one", undone)
		}
		looked := 0
		err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			looked++
			raw, err := os.ReadFile(path)
			if strings.Contains(string(raw), key[100:160]) && filepath.Base(filepath.Dir(path)) != storeDir {
				t.Errorf("undone %t: %s has a part of the key", undone, path)
			}
			if info, statErr := d.Info(); statErr != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v (%v)", path, info.Mode(), statErr)
			}
			return err
		})
		if err != nil || looked < 2 {
			t.Errorf("%d files were looked at: %v", looked, err)
		}
	}
}

// TestEffectsOfChangedCause: what no pod leads for is not rolled out again where the cause of
// that is changed by a step before.
func TestEffectsOfChangedCause(t *testing.T) {
	const remedy = "redeploy-controller-manager"
	r := newChangeRig(t, redeployCase(remedy, "kubecontrollermanagers", "KubeControllerManager"))
	effect := r.key()
	cause := fault.Key{Fault: "the-cause", Subject: fault.Subject{Kind: fault.Host, Name: "control0"}}
	before := Step{Action: ChangeFields, While: []fault.Key{cause}}
	for name, c := range map[string]struct {
		root  fault.Key
		steps []Step
		want  int
	}{
		"its cause is changed":      {cause, []Step{before}, 1},
		"nothing is done for it":    {cause, nil, 1},
		"it is the cause itself":    {effect, []Step{before}, 2},
		"another cause was changed": {fault.Key{Fault: "another"}, []Step{before}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := &draft{Planner: &Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock}, plan: &Plan{ID: "a-plan", Steps: c.steps},
				root: diagnosis.Case{Key: c.root}, remedies: map[string][]fault.Key{remedy: {effect}}}
			if err := planChanges(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if got := len(d.plan.Steps); got != c.want {
				t.Errorf("%d steps, want %d; notes %q", got, c.want, d.plan.Notes)
			}
		})
	}
}
