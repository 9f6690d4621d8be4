package repair

import (
	"strings"
	"testing"
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
	for name, want := range map[string]bool{"etcd": true, "kube-apiserver": true, "kube-controller-manager": true, "kube-scheduler": true, "network": false, "": false} {
		if c.named(name) != want {
			t.Errorf("named(%q) is %t", name, !want)
		}
	}
	if g := redeployGuards("etcd"); g[0].Guard != EtcdMembers || g[0].Count != leastMembers {
		t.Errorf("a rollout of etcd needs %v", g)
	}
}
