package logbundle_test

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/layouttest"
)

const serviceTree = `
-- log-bundle-20260102101112/bootstrap/journals/bootkube.log --
Jan 02 10:00:01 boot bootkube.sh[7]: Waiting for etcd
-- log-bundle-20260102101112/log-bundle-bootstrap/bootstrap/journals/bootkube.log --
-- log-bundle-20260102101112/log-bundle-bootstrap/bootstrap/services/bootkube.json --
[{"timestamp": "2026-01-02T09:00:00Z", "phase": "service start"}, {"timestamp": "2026-01-02T10:00:00Z", "phase": "stage start", "stage": "wait-for-etcd", "unknown": [1]}]
-- log-bundle-20260102091112/bootstrap/journals/bootkube.log --
-- log-bundle-20260102091112/bootstrap/services/bootkube.json --
[{"timestamp": "2026-01-02T09:00:00Z", "phase": "service start"}]
-- log-bundle-20260102091112/bootstrap/services/release-image.json --
-- log-bundle-20260102091112/bootstrap/services/approve-csr.json --
[]
-- log-bundle-20260102091112/bootstrap/services/not.a-unit.json --
[]
-- elsewhere/bootstrap/services/kubelet.json --
[]
`

// TestServices: the newest copy counts, also below log-bundle-bootstrap; what cannot be
// read is there and says why; a directory of that name in no bundle is none.
func TestServices(t *testing.T) {
	s := layouttest.Open(t, serviceTree)
	list, err := s.List(t.Context(), evidence.BootstrapServices, "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]evidence.Object{}
	for _, o := range list {
		got[o.Name] = o
	}
	if len(got) != 3 {
		t.Errorf("services %v", got)
	}
	records, _ := evidence.Field(got["bootkube"].Content, "records").([]any)
	if len(records) != 2 || evidence.String(records[1].(map[string]any), "stage") != "wait-for-etcd" {
		t.Errorf("bootkube has %v of %s", records, got["bootkube"].Loc.Path)
	}
	if e := evidence.String(got["release-image"].Content, "error"); e != "the file is empty" {
		t.Errorf("an empty file: %q", e)
	}
	if records, ok := evidence.Field(got["approve-csr"].Content, "records").([]any); !ok || len(records) != 0 {
		t.Errorf("a list without records: %v", got["approve-csr"].Content)
	}
}

// TestNoServices: not collected, with what would supply it, in a bundle and elsewhere.
func TestNoServices(t *testing.T) {
	for name, c := range map[string]struct {
		tree, detail string
		supply       evidence.SupplyKind
	}{
		"an older bundle": {bundleTree, "older release", evidence.SupplyBootstrapJournal},
		"a must-gather": {"-- must-gather/cluster-scoped-resources/core/nodes/a.yaml --\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n", "no log bundle",
			evidence.SupplyGatherBootstrap},
	} {
		_, err := layouttest.Open(t, c.tree).List(t.Context(), evidence.BootstrapServices, "")
		u, ok := evidence.AsUnavailable(err)
		if !ok || u.Why != evidence.NotCollected || !strings.Contains(u.Detail, c.detail) || u.Supply.Kind != c.supply {
			t.Errorf("%s: %v, supplied by %s", name, err, u.Supply)
		}
	}
}
