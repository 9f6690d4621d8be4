package product_test

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/product"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func node(name, metadata, version string) string {
	return "-- cluster-scoped-resources/core/nodes/" + name + ".yaml --\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", " + metadata + "}\n" +
		"status: {nodeInfo: {kubeletVersion: " + version + "}}\n"
}

// TestOf: only Nodes that all show it, without anything of OpenShift, are of another distribution.
func TestOf(t *testing.T) {
	const (
		alone = "-- delete:cluster-scoped-resources --\n-- delete:namespaces --\n"
		bare  = "-- delete:cluster-scoped-resources/core/nodes --\n"
		none  = "labels: {}"
	)
	cri := `annotations: {kubeadm.alpha.kubernetes.io/cri-socket: "unix:///run/containerd/containerd.sock"}`
	for name, tt := range map[string]struct{ changes, want string }{
		"RKE2":                         {alone + node("a", none, "v1.33.5+rke2r1"), "RKE2"},
		"K3s, two Nodes":               {alone + node("a", none, "v1.30.2+k3s1") + node("b", none, "v1.30.1+k3s1"), "K3s"},
		"GKE":                          {alone + node("a", none, "v1.27.3-gke.100"), "GKE"},
		"EKS":                          {alone + node("a", none, "v1.29.3-eks-ae9a62a"), "EKS"},
		"kubeadm":                      {alone + node("a", cri, "v1.30.2"), "Kubernetes of kubeadm"},
		"a plain version":              {alone + node("a", none, "v1.31.6"), ""},
		"a commit":                     {alone + node("a", none, "v1.27.6+f67aeb3"), ""},
		"one Node shows nothing":       {alone + node("a", none, "v1.33.5+rke2r1") + node("b", none, "v1.33.5"), ""},
		"two distributions":            {alone + node("a", none, "v1.33.5+rke2r1") + node("b", none, "v1.30.2+k3s1"), ""},
		"a label of OpenShift":         {alone + node("a", "labels: {node.openshift.io/os_id: rhcos}", "v1.33.5+rke2r1"), ""},
		"its operators were read":      {bare + node("a", none, "v1.33.5+rke2r1"), ""},
		"no Node":                      {alone, ""},
		"the version was not read":     {alone + node("a", none, "null"), ""},
		"OpenShift":                    {"", ""},
		"an annotation of OpenShift's": {alone + node("a", "annotations: {machine.openshift.io/machine: x}", "v1.33.5+rke2r1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := product.Of(t.Context(), factstest.World(t, factstest.Metal, tt.changes))
			if err != nil || got.Name != tt.want || (got.Proof.Excerpt != "") != (tt.want != "") {
				t.Errorf("%+v, %v; want %q", got, err, tt.want)
			}
		})
	}
	w := factstest.World(t, factstest.Metal, alone+node("a", none, "v1.33.5+rke2r1"), evidence.Objects(evidence.Nodes, ""))
	if got, err := product.Of(t.Context(), w); err != nil || got.Name != "" {
		t.Errorf("without Nodes: %+v, %v", got, err)
	}
}
