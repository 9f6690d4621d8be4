package message

import (
	"regexp"
	"strings"
)

// systems are other distributions of Kubernetes, by the version of their kubelet and by their own names: RKE2 and K3s
// (rancher/rke2 and k3s-io/k3s:scripts/version.sh), k0s (k0sproject/k0s:vars.sh), MicroK8s, minikube with the first address of
// its network (kubernetes/minikube:pkg/drivers/kic/oci/network_create.go firstSubnetAddr, and port 8443), GKE, EKS, MetalK8s
// (scality/metalk8s:salt), Rancher by the namespace of its agents and its images (rancher/rancher:pkg/namespace/namespace.go
// System, rancher/rke), kubeadm by its name. The version of a kubelet of OpenShift has a commit behind a plus.
var systems = []struct {
	name string
	expr *regexp.Regexp
}{
	{"RKE2", regexp.MustCompile(`\+rke2r\d|\brke2\b`)},
	{"K3s", regexp.MustCompile(`\+k3s\d|\bk3s\b`)},
	{"k0s", regexp.MustCompile(`\+k0s\.\d|\bk0s(?:ctl)?\b`)},
	{"MicroK8s", regexp.MustCompile(`\bmicrok8s\b`)},
	{"minikube", regexp.MustCompile(`\bminikube\b|\b192\.168\.49\.2:8443\b`)},
	{"GKE", regexp.MustCompile(`\bv1\.\d+\.\d+-gke\.\d`)},
	{"EKS", regexp.MustCompile(`\bv1\.\d+\.\d+-eks-[0-9a-f]{7}`)},
	{"MetalK8s", regexp.MustCompile(`\bmetalk8s\b`)},
	{"Kubernetes of Rancher", regexp.MustCompile(`(?:\b|_)cattle-(?:system|cluster-agent|node-agent)\b|\brancher/(?:hyperkube|rke-tools|rancher-agent)\b`)},
	{"Kubernetes of kubeadm", regexp.MustCompile(`\bkubeadm\b`)},
	{"plain Kubernetes", regexp.MustCompile(`\bkubeletVersion="v1\.\d+\.\d+"`)},
}

// ofOpenShift are words that only a text of OpenShift has.
var ofOpenShift = regexp.MustCompile(`(?i)openshift|\bokd|\bocp|rhcos|machine-?config|\bhyperkube\[|bin/hyperkube|origin-hyperkube|` +
	`kubenswrapper|:22623|\bcrc\b|microshift|metal3`)

// systemOf is the other distribution that a text is of, "" where nothing shows that it is not OpenShift.
func systemOf(text []byte) string {
	head := text[:min(len(text), maxHinted)]
	for _, s := range systems {
		if s.expr.Match(head) && !ofOpenShift.Match(text) {
			return s.name
		}
	}
	return ""
}

var (
	ownNamespace = regexp.MustCompile(`-n openshift-[a-z-]+`)
	ocCommand    = regexp.MustCompile(`\boc (-?[a-z])`)
	clauseEnd    = regexp.MustCompile(`(?:; |\. )`)
	openShiftOf  = regexp.MustCompile(`(?i)openshift|\brollcall |\bget (?:co|mcp|mc)\b|rpm-ostree|install-config|bootstrap host|bootkube`)
	bootstrapPod = regexp.MustCompile(`crictl ps -a --name ([a-zA-Z0-9-]+), `)
)

// withKubectl is a next command for another distribution: what only OpenShift has is left out.
func withKubectl(next string) string {
	if m := bootstrapPod.FindStringSubmatch(next); m != nil {
		return "on its host, crictl ps -a --name " + m[1] + " or docker ps -a, and the log of the newest ID: its last lines are the reason"
	}
	next = ocCommand.ReplaceAllString(ownNamespace.ReplaceAllString(next, "-n kube-system"), "kubectl $1")
	var kept []string
	for _, clause := range clauseEnd.Split(next, -1) {
		if !openShiftOf.MatchString(clause) {
			kept = append(kept, clause)
		}
	}
	return strings.Join(kept, "; ")
}
