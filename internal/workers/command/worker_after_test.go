package command

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// TestWorkerNow: what `worker list --hosted` shows of a worker's Node and certificate, and never
// better than it is known.
func TestWorkerNow(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	plan := workers.Plan{NodePool: "np-a"}
	pool := readPool(map[string]any{"status": map[string]any{
		"version":    "4.20.4",
		"conditions": []any{map[string]any{"type": "AllMachinesReady", "status": "False"}, map[string]any{"type": "AllNodesHealthy", "status": "True"}},
	}})
	if pool.minor != "1.33" || strings.Join(pool.never, " ") != "AllMachinesReady" {
		t.Errorf("the NodePool: %+v", pool)
	}
	if other := readPool(map[string]any{}); other.minor != "" || other.never != nil {
		t.Errorf("a NodePool without a status: %+v", other)
	}
	now := clusterNow{pools: map[string]poolNow{"np-a": pool}, ends: map[string]time.Time{"renewed": noon.AddDate(2, 0, 0)}, nodes: map[string]workers.Node{
		"good":     {UID: "u", Ready: true, Kubelet: "v1.33.6"},
		"old":      {UID: "u", Ready: true, Kubelet: "v1.3.6"},
		"cordoned": {UID: "u", Ready: true, Cordoned: true, Kubelet: "v1.33.6"},
		"dead":     {UID: "u", Kubelet: "v1.33.6"},
		"other":    {UID: "another", Ready: true, Kubelet: "v1.33.6"},
	}}
	for _, c := range []struct {
		name          string
		step          workers.Step
		until         time.Time
		node, serving string
	}{
		{"good", workers.In, noon.AddDate(1, 0, 0), "Ready, kubelet v1.33.6", "until 2027-03-01"},
		{"old", workers.In, time.Time{}, "Ready, kubelet v1.3.6 (outdated, release has v1.33)", "not seen"},
		{"cordoned", workers.In, noon.AddDate(0, 0, -1), "Ready, cordoned, kubelet v1.33.6", "expired 2026-02-28, or renewed since"},
		{"dead", workers.In, time.Time{}, "not Ready, kubelet v1.33.6", "not seen"},
		{"other", workers.In, time.Time{}, "of another machine", "not seen"},
		{"gone", workers.In, time.Time{}, "gone", "not seen"},
		{"renewed", workers.In, noon.AddDate(1, 0, 0), "gone", "until 2028-03-01"},
		{"planned", workers.Planned, time.Time{}, "-", "-"},
	} {
		s := workers.Status{Worker: provider.Worker{Name: c.name}, Step: c.step, NodeUID: "u", ServingUntil: c.until}
		if got := now.node(plan, s); got != c.node {
			t.Errorf("%s: Node %q, want %q", c.name, got, c.node)
		}
		if got := now.serving(s, noon); got != c.serving {
			t.Errorf("%s: certificate %q, want %q", c.name, got, c.serving)
		}
	}
	unread := clusterNow{pools: map[string]poolNow{}}
	if got := unread.node(plan, workers.Status{Step: workers.In}); got != "not read" {
		t.Errorf("Nodes that were not read: %q", got)
	}
}

// TestCertify: the end of a certificate is in the journal once, and belongs to the machine.
func TestCertify(t *testing.T) {
	plan := workers.Plan{Run: "w-0123456789", Workers: []provider.Worker{{Name: "guest0"}}}
	at := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	records := []workers.Record{{Kind: workers.Creating, Worker: "guest0"}, {Kind: workers.Created, Worker: "guest0"}, {Kind: workers.Joined, Worker: "guest0"}, {Kind: workers.Certified, Worker: "guest0", Until: at}}
	if s := workers.Statuses(plan, records)[0]; !s.ServingUntil.Equal(at) || s.Step != workers.In {
		t.Errorf("%+v", s)
	}
	if s := workers.Statuses(plan, append(records, workers.Record{Kind: workers.Creating, Worker: "guest0"}))[0]; !s.ServingUntil.IsZero() {
		t.Errorf("made again: %+v", s)
	}
}
