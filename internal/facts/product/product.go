// Package product tells whether the Nodes of a cluster are of another distribution of Kubernetes than OpenShift. No part of
// OpenShift is expected in such a cluster: that one is missing is no fault.
//
// It claims that of a cluster only whose Nodes all show it, and of which nothing of OpenShift was read. A plain version of the
// kubelet shows nothing: newer releases of OpenShift have one, too.
package product

import (
	"context"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Product is another distribution of Kubernetes. The zero value: nothing shows that it is one.
type Product struct {
	Name  string        // as its makers spell it
	Nodes int           // how many Nodes show it
	Proof evidence.Item // of one of them
}

// byKubelet are distributions by the version of their kubelet (rancher/rke2 and k3s-io/k3s:scripts/version.sh,
// k0sproject/k0s:vars.sh; those of GKE and EKS as their Nodes show them).
var byKubelet = []struct {
	name string
	expr *regexp.Regexp
}{
	{"RKE2", regexp.MustCompile(`\+rke2r\d`)},
	{"K3s", regexp.MustCompile(`\+k3s\d`)},
	{"k0s", regexp.MustCompile(`\+k0s\.\d`)},
	{"GKE", regexp.MustCompile(`-gke\.\d`)},
	{"EKS", regexp.MustCompile(`-eks-[0-9a-f]{7}`)},
}

// byKey are distributions by a label or an annotation that each of their Nodes has. kubeadm is last, as others are made with it
// (kubernetes/kubernetes:cmd/kubeadm/app/constants/constants.go AnnotationKubeadmCRISocket).
var byKey = []struct{ name, field, key string }{
	{"MetalK8s", "labels", "metalk8s.scality.com/version"},
	{"minikube", "labels", "minikube.k8s.io/name"},
	{"MicroK8s", "labels", "microk8s.io/cluster"},
	{"AKS", "labels", "kubernetes.azure.com/cluster"},
	{"RKE", "annotations", "rke.cattle.io/internal-ip"},
	{"Kubernetes of kubeadm", "annotations", "kubeadm.alpha.kubernetes.io/cri-socket"},
}

// ofOpenShift are kinds of which only a cluster has objects that runs OpenShift, or that manages such clusters.
var ofOpenShift = []evidence.Resource{
	evidence.ClusterVersions, evidence.ClusterOperators, evidence.Infrastructures, evidence.MachineConfigPools,
}

// Of is the other distribution that a cluster is of, computed once per run.
func Of(ctx context.Context, w *facts.World) (Product, error) {
	return facts.Memo(ctx, w, "product", read)
}

func read(ctx context.Context, w *facts.World) (Product, error) {
	var p Product
	if h, err := w.Hosted(ctx); err != nil || h != nil {
		return p, err
	}
	nodes, err := w.Some(ctx, evidence.Nodes, "")
	if err := unlessUnread(err); err != nil || len(nodes) == 0 {
		return p, err
	}
	for _, n := range nodes {
		name, proof := of(n)
		if name == "" || p.Name != "" && p.Name != name {
			return Product{}, nil
		}
		if p.Name == "" {
			p.Name, p.Proof = name, proof
		}
		p.Nodes++
	}
	for _, r := range ofOpenShift {
		list, err := w.Some(ctx, r, "")
		if err := unlessUnread(err); err != nil || len(list) > 0 {
			return Product{}, err
		}
	}
	return p, nil
}

// of is the distribution that a Node shows, and what shows it.
func of(node evidence.Object) (string, evidence.Item) {
	none := evidence.Item{}
	for _, field := range []string{"labels", "annotations"} {
		keys, _ := evidence.Field(node.Content, "metadata", field).(map[string]any)
		for key := range keys {
			if strings.Contains(key, "openshift.io/") {
				return "", none
			}
		}
	}
	version := evidence.String(node.Content, "status", "nodeInfo", "kubeletVersion")
	for _, k := range byKubelet {
		if k.expr.MatchString(version) {
			return k.name, evidence.Item{Locator: node.Loc.At("status.nodeInfo.kubeletVersion"), Excerpt: version}
		}
	}
	for _, k := range byKey {
		if keys, _ := evidence.Field(node.Content, "metadata", k.field).(map[string]any); keys[k.key] != nil {
			return k.name, evidence.Item{Locator: node.Loc.At("metadata." + k.field + "[" + k.key + "]"), Excerpt: k.key}
		}
	}
	return "", none
}

func unlessUnread(err error) error {
	if _, ok := evidence.AsUnavailable(err); ok {
		return nil
	}
	return err
}
