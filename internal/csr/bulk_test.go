package csr_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

// TestBulk: a cluster whose certificates expired two hours ago.
func TestBulk(t *testing.T) {
	ago := func(d time.Duration) time.Time { return csrtest.Noon.Add(-d) }
	client := func(node, name string, at time.Duration) *csrtest.Request {
		return csrtest.Client(node).Named(name).At(ago(at))
	}
	silent := func(name string, control bool) csr.Node {
		return csr.Node{Name: name, Control: control, Renewed: ago(2 * time.Hour), Created: ago(1000 * time.Hour), Addresses: []string{"192.0.2.40"}}
	}
	p := csr.Snapshot{Now: csrtest.Noon, CIDRs: []netip.Prefix{netip.MustParsePrefix("172.30.0.0/16")}, Nodes: []csr.Node{
		silent("control0", true), silent("worker0", false), silent("worker1", false), silent("worker2", false), silent("worker3", false), silent("worker4", false),
		{Name: "alive", Ready: true, Renewed: csrtest.Noon},
		{Name: "fresh", Renewed: ago(time.Minute)},
		{Name: "serves", Ready: true, Renewed: csrtest.Noon, Created: ago(1000 * time.Hour), Addresses: []string{"192.0.2.41"}},
		{Name: "undeclared", Ready: true, Renewed: csrtest.Noon, Created: ago(1000 * time.Hour), Addresses: []string{"192.0.2.42"}},
	}}
	requests := []*csrtest.Request{
		client("control0", "c0", time.Minute),
		client("worker0", "w0-first", 47*time.Minute), client("worker0", "w0-second", 31*time.Minute), client("worker0", "w0-third", 15*time.Minute),
		client("worker1", "w1-first", 20*time.Minute), client("worker1", "w1-rival", 12*time.Minute), // 8 minutes apart
		client("worker2", "w2-old", 70*time.Minute), // too old: its kubelet gave up
		client("worker4", "w4-first", 40*time.Minute).Issued("KubectlApprove"), client("worker4", "w4-second", 10*time.Minute),
		client("alive", "alive", time.Minute), client("fresh", "fresh", time.Minute),
		csrtest.Serving("serves", "192.0.2.41").At(ago(time.Minute)), csrtest.Serving("undeclared", "192.0.2.42").At(ago(time.Minute)),
	}
	for _, r := range requests {
		api, err := r.Build()
		if err != nil {
			t.Fatal(err)
		}
		p.Requests = append(p.Requests, csrs.FromAPI(api))
	}
	slices.SortFunc(p.Requests, func(a, b csrs.Request) int { return a.Created.Compare(b.Created) })
	declared := []csr.Expectation{{Name: "serves", Role: "worker", IPs: []string{"192.0.2.41"}, Source: "a Machine"}}
	got := map[string]csr.Expired{}
	for _, x := range csr.Bulk(p, declared) {
		if other, twice := got[x.Node.Name]; twice {
			t.Errorf("%s is twice in the list: %s, %s", x.Node.Name, other.Decision.Name, x.Decision.Name)
		}
		got[x.Node.Name] = x
	}
	for node, want := range map[string]struct {
		request string
		approve bool
		why     string
		keys    int
	}{
		"control0":   {"c0", true, "a person confirmed", 1},
		"worker0":    {"w0-third", true, "a person confirmed", 3},
		"worker1":    {"w1-rival", false, "8m0s apart", 2},
		"worker2":    {"w2-old", false, "less than an hour old", 1},
		"worker3":    {"", false, "no client request is pending", 0},
		"worker4":    {"w4-second", false, "w4-first is issued", 1},
		"serves":     {"csr-s-serves", true, "a person confirmed", 1},
		"undeclared": {"csr-s-undeclared", false, "addresses are declared", 1},
	} {
		x := got[node]
		if x.Decision.Name != want.request || x.Decision.Approve != want.approve || !strings.Contains(x.Decision.Why, want.why) || x.Keys != want.keys {
			t.Errorf("%s: request %q, approve %t, %d keys: %s", node, x.Decision.Name, x.Decision.Approve, x.Keys, x.Decision.Why)
		}
	}
	for _, node := range []string{"alive", "fresh"} {
		if x, listed := got[node]; listed {
			t.Errorf("%s lives and is listed: %s", node, x.Decision.Why)
		}
	}
}
