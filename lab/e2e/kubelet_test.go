package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// kubeletRows are the troubles of kubelets' certificates and requests.
var kubeletRows = []scenario{
	{name: "kubelet-certificate-lost", roots: []string{"csr-node-exists csr/?"}, hosts: []string{"control2:ready:failed"}},
	{name: "kubelet-as-admin", roots: []string{"kubelet-admin-kubeconfig host/control1"}, hosts: []string{"control1:serving-cert:waiting"}},
	{
		name: "cluster-off-40-days", long: true, roots: []string{"certificates-ended-while-silent cluster/"},
		hosts: []string{"control0:ready:waiting", "control1:ready:waiting", "control2:ready:waiting", "worker0:ready:waiting", "worker1:ready:waiting"},
	},
	{name: "node-deleted", roots: []string{"node-deleted host/worker1"}, hosts: []string{"worker1:registered:failed"}, finds: deletedNode},
	{name: "csr-machine-too-old", roots: []string{"csr-outside-window csr/?"}, hosts: []string{"worker8:client-cert:waiting"}},
	{name: "csr-machine-no-addresses", roots: []string{"csr-machine-no-addresses csr/?"}, hosts: []string{"worker9:client-cert:waiting"}},
	// Whose request it is cannot be told: the names differ.
	{name: "csr-machine-other-name", roots: []string{"csr-name-mismatch csr/?"}, hosts: []string{"worker10:ignition-fetched:unknown"}},
	{name: "csr-no-machine", roots: []string{"csr-no-machine-for-node csr/?"}, hosts: []string{"worker11:client-cert:waiting"}},
	// One kubelet floods. That no Machine is its host's is an effect, as are its requests.
	{
		name:  "csr-flood",
		roots: []string{"csr-flood-guard cluster/"},
		hosts: []string{"retired3:client-cert:waiting", "worker12:client-cert:waiting"}, // retired3 is expected by no one
	},
	{name: "rogue-csr-master", roots: []string{"csr-name-claimed-by-stranger csr/csr-x7w2f-control0"}},
	{name: "node-past-its-certificates", long: true, roots: []string{"csr-node-exists csr/?"}, hosts: []string{"worker1:ready:failed"}},
	{name: "rogue-csr-worker", roots: []string{"csr-name-claimed-by-stranger csr/csr-x7w2f-worker0"}},
}

// deletedNode: the Machine of worker1 names a Node that is gone. That the
// host has been a member is known, and it is what is wrong. With a list withheld that is
// no better.
func deletedNode(t *testing.T, w *world) []violation {
	s := (&sampler{state: w.state}).ask(strings.TrimSpace(w.lab("kubeconfig").out))
	var found []violation
	if !slices.ContainsFunc(s.d.Roots, func(r root) bool { return strings.HasSuffix(r.Subject.Name, "worker1") }) {
		found = append(found, violation{id: "no root is about worker1", of: s})
	}
	return append(found, w.withheld(t, "", premises, []int{http.StatusForbidden, http.StatusTooManyRequests})...)
}
