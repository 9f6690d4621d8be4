package etcd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/etcd"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func fact(t *testing.T, name string) facts.Fact {
	t.Helper()
	for _, f := range etcd.Facts() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("there is no fact %s", name)
	return facts.Fact{}
}

// TestWrites: the newest lease is the last write; when it was read decides what it says of now.
func TestWrites(t *testing.T) {
	last := time.Date(2026, 3, 1, 11, 59, 52, 0, time.UTC) // of the base, whose control plane's are older
	for name, tt := range map[string]struct {
		now            time.Time
		atLeast        bool
		readBy         time.Time
		fresh, stopped string
	}{
		"just renewed":                     {last.Add(time.Minute), false, time.Time{}, "true", "false"},
		"some minutes old":                 {last.Add(5 * time.Minute), false, time.Time{}, "false", "false"},
		"old":                              {last.Add(time.Hour), false, time.Time{}, "false", "true"},
		"read nobody knows when":           {last, true, time.Time{}, "unknown", "false"},
		"old at least":                     {last.Add(time.Hour), true, time.Time{}, "unknown", "true"},
		"read soon after":                  {last, true, last.Add(time.Minute), "true", "false"},
		"read within the next ten minutes": {last, true, last.Add(10 * time.Minute), "unknown", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			w := factstest.World(t, factstest.Metal, "")
			w.Now, w.AtLeast, w.ReadBy = tt.now, tt.atLeast, tt.readBy
			f := factstest.Fields[etcd.Writes](t, w, fact(t, "etcd-writes"), factstest.Cluster())
			if !f.Last.Value().Equal(last) || !strings.HasPrefix(f.Fresh.String(), tt.fresh) || !strings.HasPrefix(f.Stopped.String(), tt.stopped) {
				t.Errorf("last %s, fresh %s, stopped %s; want %s and %s", f.Last, f.Fresh, f.Stopped, tt.fresh, tt.stopped)
			}
		})
	}
}

func TestWritesNotRead(t *testing.T) {
	none := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Leases, "kube-node-lease"), evidence.Objects(evidence.Leases, "kube-system"))
	if err := factstest.Err(t, none, fact(t, "etcd-writes"), factstest.Cluster()); err == nil {
		t.Error("leases were not read, and the last write is known")
	}
}

// TestTopology: a topology that is not shown is not "highly available", but for releases that
// do not have the field.
func TestTopology(t *testing.T) {
	const infra = "-- patch:cluster-scoped-resources/config.openshift.io/infrastructures/cluster.yaml --\n"
	for name, tt := range map[string]struct{ changes, version, ha string }{
		"highly available":         {"", "4.20.6", "true"},
		"single node":              {infra + "status: {controlPlaneTopology: SingleReplica}\n", "4.20.6", "false"},
		"not filled in":            {infra + "status: {controlPlaneTopology: null}\n", "4.20.6", "unknown"},
		"not filled in before 4.8": {infra + "status: {controlPlaneTopology: null}\n", "4.7.3", "unknown"},
		"release not known":        {infra + "status: {controlPlaneTopology: null}\n", "", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			w := factstest.World(t, factstest.Metal, tt.changes)
			w.Version = tt.version
			f := factstest.Fields[etcd.Etcd](t, w, fact(t, "etcd"), fault.Subject{Kind: fault.Cluster})
			if !strings.HasPrefix(f.HA.String(), tt.ha) {
				t.Errorf("HA is %s, want %s", f.HA, tt.ha)
			}
		})
	}
}
