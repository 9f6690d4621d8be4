package archive

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestNamedByJournals: a journal by itself names its hosts; the bootstrap host is one.
func TestNamedByJournals(t *testing.T) {
	kubelet := func(host string) string {
		return "Nov 12 03:04:05 " + host + " kubenswrapper[123]: I1112 03:04:05.1 123 x.go:1] y\n"
	}
	const (
		start            = "May 12 04:54:38 localhost.localdomain systemd[1]: Started Bootstrap a Kubernetes cluster.\n"
		clusterBootstrap = "May 12 04:58:00 api.x.example.com bootkube.sh[4356]: Starting cluster-bootstrap...\n"
	)
	for name, c := range map[string]struct{ tree, want string }{
		"one":                 {"-- kubelet.log --\n" + kubelet("localhost") + kubelet("w1.example.com"), "w1.example.com/"},
		"several":             {"-- kubelet.log --\n" + kubelet("W1") + kubelet("m0") + kubelet("w1"), "w1/ m0/"},
		"in ISO":              {"-- kubelet.log --\n2026-11-12T03:04:05.123456+0000 w1 kubenswrapper[1]: x\n", "w1/"},
		"no name yet":         {"-- kubelet.log --\n" + kubelet("localhost"), ""},
		"of the bootstrap":    {"-- bootkube.log --\n" + start + clusterBootstrap, "bootstrap/bootstrap"},
		"a bundle's":          {"-- log-bundle-1/bootstrap/journals/kubelet.log --\n" + kubelet("x"), "bootstrap/bootstrap"},
		"of a must-gather":    {"-- mg/host_service_logs/masters/kubelet_service.log --\n" + kubelet("m0"), ""},
		"an object, no lines": {clusterA, ""},
	} {
		list, err := open(t, c.tree).List(t.Context(), evidence.NamedHosts, "")
		var got []string
		for _, o := range list {
			got = append(got, o.Name+"/"+evidence.String(o.Content, "role"))
		}
		if strings.Join(got, " ") != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}
