package kubelet_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestReached: the kubelet's own lines prove stages, and what a later line undoes is not proven.
func TestReached(t *testing.T) {
	const (
		issued     = "Mar 01 11:00:00 m7 kubenswrapper[9]: I0301 11:00:00.000001 9 csr.go:300] certificate signing request csr-9zx2k is issued\n"
		registered = "Mar 01 11:00:01 m7 kubenswrapper[9]: I0301 11:00:01.000001 9 kubelet_node_status.go:80] \"Successfully registered node\" node=\"m7\"\n"
		ready      = "Mar 01 11:00:40 m7 kubenswrapper[9]: I0301 11:00:40.000001 9 kubelet_node_status.go:700] \"Recording event message for node\" node=\"m7\" event=\"NodeReady\"\n"
		notReady   = "Mar 01 11:30:00 m7 kubenswrapper[9]: I0301 11:30:00.000001 9 kubelet_node_status.go:700] \"Recording event message for node\" node=\"m7\" event=\"NodeNotReady\"\n"
	)
	for name, tt := range map[string]struct {
		lines string
		want  []fault.Stage
	}{
		"it asked only":   {"Mar 01 11:00:00 m7 kubenswrapper[9]: waiting\n", nil},
		"the certificate": {issued, []fault.Stage{fault.ClientCert}},
		"all":             {issued + registered + ready, []fault.Stage{fault.ClientCert, fault.NetworkReady, fault.Ready, fault.Registered}},
		"no longer ready": {issued + registered + ready + notReady, []fault.Stage{fault.ClientCert, fault.Registered}},
		"of another host": {"Mar 01 11:00:00 m8 kubenswrapper[9]: certificate signing request csr-9zx2k is issued\n", nil},
	} {
		got, err := kubelet.Reached(t.Context(), factstest.World(t, factstest.Metal, journal+tt.lines), inventory.Host{Name: "m7"})
		if stages := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(stages, tt.want) {
			t.Errorf("%s: %v, %v; want %v", name, stages, err, tt.want)
		}
	}
}
