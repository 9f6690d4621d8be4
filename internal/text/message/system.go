package message

import (
	"cmp"
	"regexp"
	"strings"
)

// systems are other distributions of Kubernetes, by the version of their kubelet and by their own names: RKE2 and K3s
// (rancher/rke2 and k3s-io/k3s:scripts/version.sh), k0s (k0sproject/k0s:vars.sh), MicroK8s, minikube with the first address of
// its network (kubernetes/minikube:pkg/drivers/kic/oci/network_create.go firstSubnetAddr, and port 8443), GKE, EKS, MetalK8s
// (scality/metalk8s:salt), Rancher by the namespace of its agents and its images (rancher/rancher:pkg/namespace/namespace.go
// System, rancher/rke), kubeadm by its name and by the checks that it prints (kubernetes/kubernetes:
// cmd/kubeadm/app/util/apiclient/wait.go). The version of a kubelet of OpenShift has a commit behind a plus.
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
	{"Kubernetes of kubeadm", regexp.MustCompile(`\bkubeadm\b|\bkubelet-check\]`)},
	{dockerSystem, regexp.MustCompile(`\bcri-dockerd\b|\bdockershim\b|\bdocker cgroup driver\b`)},
	{"plain Kubernetes", regexp.MustCompile(`\bkubeletVersion="v1\.\d+\.\d+"`)},
	{podmanSystem, regexp.MustCompile(`\bnetavark\b|\baardvark-dns\b|/\.local/share/containers/storage/`)},
}

// dockerSystem runs its containers with Docker, as no host of OpenShift 4 does; podmanSystem has no Kubernetes: only podman uses
// netavark and aardvark-dns (containers/netavark:src/dns/aardvark.rs), pods of Kubernetes have their network from a CNI. Below the home of
// a user is the storage of containers that podman runs without root.
const (
	dockerSystem = "Kubernetes with Docker"
	podmanSystem = "podman"
)

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

// servicesOf are the services that run Kubernetes on a host of other distributions.
var servicesOf = map[string]string{"RKE2": "rke2-server -u rke2-agent", "K3s": "k3s -u k3s-agent", "k0s": "k0scontroller -u k0sworker",
	"MicroK8s": "snap.microk8s.daemon-kubelite", dockerSystem: "kubelet -u docker"}

// insteadOf is what to look at on another distribution.
func insteadOf(system string) string {
	if system == podmanSystem {
		return "on that host, as the same user: podman info, podman ps -a, and the whole output of the command that failed"
	}
	return "on that host: sudo journalctl -b -u " + cmp.Or(servicesOf[system], "kubelet -u containerd") + " --no-pager -n 100"
}

// WithoutKubernetes reports whether a text is of containers without a cluster.
func (s Setting) WithoutKubernetes() bool { return s.System == podmanSystem }

// onlyOpenShift are words of steps that need OpenShift or its hosts: its namespaces, objects, programs and files.
var onlyOpenShift = regexp.MustCompile(`(?i)openshift|\boc (?:adm|debug|whoami|get (?:co|mcp|mc|clusteroperators?)\b)|\brollcall |\bmachine-?config|` +
	`\bkubeletconfig\b|\bcontainerruntimeconfig\b|must-gather|rpm-ostree|install-config|\bbootstrap host\b|bootkube|nodeip-configuration|` +
	`/run/nodeip|\bNODE_IP\b|\bVIP\b|:22623|registry\.redhat\.io|/var/lib/kubelet/config\.json|/etc/kubernetes/kubelet\.conf|` +
	`kubelet\.service\.d|crio\.service\.d|\bovnkube\b`)

// ofKubernetes are words of steps that need a cluster, ofCRIO those that need its container runtime.
var (
	ofKubernetes = regexp.MustCompile(`\b(?:oc|kubectl|crictl|etcdctl)\b|\bkubelet\b`)
	ofCRIO       = regexp.MustCompile(`(?i)\bcri-?o\b|/etc/crio`)
)

// fitsSystem reports whether a step can be done on another distribution.
func fitsSystem(system, step string) bool {
	switch {
	case system == "":
		return true
	case onlyOpenShift.MatchString(step):
		return false
	case system == podmanSystem:
		return !ofKubernetes.MatchString(step)
	case system == dockerSystem:
		return !ofCRIO.MatchString(step)
	}
	return true
}

var (
	ownNamespace = regexp.MustCompile(`-n openshift-[a-z-]+`)
	ocCommand    = regexp.MustCompile(`\boc (-?[a-z])`)
	clauseEnd    = regexp.MustCompile(`(?:; |\. )`)
	openShiftOf  = regexp.MustCompile(`(?i)openshift|\brollcall |\bget (?:co|mcp|mc)\b|rpm-ostree|install-config|bootstrap host|bootkube`)
	bootstrapPod = regexp.MustCompile(`crictl ps -a --name ([a-zA-Z0-9-]+), `)
)

// withKubectl is a next command for another distribution: what only OpenShift has is left out.
func withKubectl(system, next string) string {
	if m := bootstrapPod.FindStringSubmatch(next); m != nil {
		return "on its host, crictl ps -a --name " + m[1] + " or docker ps -a, and the log of the newest ID: its last lines are the reason"
	}
	next = ocCommand.ReplaceAllString(ownNamespace.ReplaceAllString(next, "-n kube-system"), "kubectl $1")
	var kept strings.Builder
	from := 0
	for _, at := range append(clauseEnd.FindAllStringIndex(next, -1), []int{len(next), len(next)}) {
		if clause := next[from:at[0]]; !openShiftOf.MatchString(clause) && fitsSystem(system, clause) {
			kept.WriteString(next[from:at[1]])
		}
		from = at[1]
	}
	return strings.TrimRight(kept.String(), "; ")
}
