package csrtest

import (
	"net/netip"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

// Expected is the inventory of the Scene. Of its hosts, panda asks for its first
// certificate, otter has joined five minutes ago and koala two days ago.
func Expected() []csr.Expectation {
	window := func(e csr.Expectation, from, until time.Duration) csr.Expectation {
		e.NotBefore, e.NotAfter, e.Boot = Noon.Add(from), Noon.Add(until), "it is expected"
		return e
	}
	line := func(name, role string, ips ...string) csr.Expectation {
		return csr.Expectation{Name: name, Role: role, IPs: ips, Source: "hosts.yaml", Explicit: true}
	}
	panda := window(line("panda", "worker", "192.0.2.21"), -10*time.Minute, 50*time.Minute)
	panda.DNS = []string{"panda.example.com"}
	master := window(line("master0", "master", "192.0.2.10"), -10*time.Minute, 50*time.Minute)
	master.Explicit = false
	heron := window(line("heron", "worker", "192.0.2.25"), -10*time.Minute, 50*time.Minute)
	heron.Explicit, heron.Joined = false, "egret"
	keyed := window(line("keyed", "worker", "192.0.2.26"), -10*time.Minute, 50*time.Minute)
	keyed.Key = "aa"
	return []csr.Expectation{panda, line("koala", "worker", "192.0.2.22"),
		window(line("otter", "worker", "192.0.2.23", "198.51.100.7"), -10*time.Minute, 50*time.Minute), master, heron, keyed,
		window(line("newt", "worker", "192.0.2.27"), -3*time.Hour, -2*time.Minute),
		window(line("lynx", "worker", "192.0.2.28"), 24*time.Hour, 25*time.Hour), line("mole", "worker")}
}

// Nodes are those of the Scene. What they have as addresses their kubelets write.
func Nodes() []csr.Node {
	return []csr.Node{
		{Name: "koala", Ready: true, Renewed: Noon, Created: Noon.Add(-48 * time.Hour), Addresses: []string{"192.0.2.22"}},
		{Name: "otter", Renewed: Noon, Created: Noon.Add(-5 * time.Minute),
			Addresses: []string{"192.0.2.23", "198.51.100.66", "192.0.2.5", "172.30.0.1", "10.128.0.9", "127.0.0.1", "::1", "0.0.0.0",
				"169.254.169.254", "224.0.0.1"}},
		{Name: "mole", Renewed: Noon, Created: Noon.Add(-48 * time.Hour), Addresses: []string{"192.0.2.24"}},
	}
}

// Scene is what is known of the cluster in which requests are judged.
func Scene(requests ...*Request) (csr.Snapshot, error) {
	p := csr.Snapshot{Now: Noon, Nodes: Nodes(), VIPs: []string{"192.0.2.5"},
		CIDRs: []netip.Prefix{netip.MustParsePrefix("172.30.0.0/16"), netip.MustParsePrefix("10.128.0.0/14")}}
	joined := Client("otter").Issued("NodeCSRApprove").At(Noon.Add(-6 * time.Minute))
	for _, r := range append([]*Request{joined}, requests...) {
		api, err := r.Build()
		if err != nil {
			return p, err
		}
		p.Requests = append(p.Requests, csrs.FromAPI(api))
	}
	slices.SortStableFunc(p.Requests, func(a, b csrs.Request) int { return a.Created.Compare(b.Created) })
	return p, nil
}
