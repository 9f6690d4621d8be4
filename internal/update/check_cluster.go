package update

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// versionCheck reads ClusterVersion.
//
// Sources: openshift/cluster-version-operator pkg/payload/precondition/clusterversion/upgradeable.go (Upgradeable=False
// stops an update to the next minor version, and lets patches pass), gianthop.go (no minor version is left
// out), pkg/cvo/upgradeable.go (admin acks), 4.6 to 4.20.
var versionCheck = Check{
	ID: "cluster-version", Title: "ClusterVersion that does not take an update", Holds: true, Look: lookVersion,
	Faults: []string{"cluster-version-failing", "install-not-complete", "update-not-complete"},
	Hold:   []string{"install-not-complete", "update-not-complete"},
	Sources: []fault.Ref{
		{Repo: "openshift/cluster-version-operator", Path: "pkg/payload/precondition/clusterversion/upgradeable.go", Symbol: "Run"},
		{Repo: "openshift/cluster-version-operator", Path: "pkg/payload/precondition/clusterversion/gianthop.go"},
	},
}

func lookVersion(ctx context.Context, l *look, r *Result) error {
	object, ok, err := l.w.Get(ctx, evidence.ClusterVersions, "", "version")
	if err != nil {
		return err
	}
	if !ok {
		return evidence.Object{Resource: evidence.ClusterVersions, Name: "version"}.NotShown("status")
	}
	cv := &object
	if conditionOf(cv, "Progressing").status == "" || conditionOf(cv, "Failing").status == "" {
		r.miss("", cv.NotShown("status.conditions"))
	}
	for _, c := range []struct{ kind, bad, do string }{
		{"Failing", "True", "oc adm upgrade"},
		{"Progressing", "True", "wait until it is done: oc adm upgrade status"},
		{"ReleaseAccepted", "False", "oc adm upgrade (it prints why the release is not accepted)"},
	} {
		if have := conditionOf(cv, c.kind); have.status == c.bad && len(r.Findings) == 0 {
			r.Findings = append(r.Findings, Finding{Severity: fault.Error, Says: "ClusterVersion is " + said(c.kind, have), Do: []string{c.do},
				See: "oc get clusterversion version", Evidence: []evidence.Item{have.shows(cv, c.kind)}})
		}
	}
	if have := conditionOf(cv, "Upgradeable"); have.status == "False" {
		r.Findings = append(r.Findings, l.notUpgradeable("ClusterVersion", cv, have))
	}
	l.target(r, cv)
	return nil
}

// target judges the release that was asked for.
func (l *look) target(r *Result, cv *evidence.Object) {
	if !l.Target.Known() {
		return
	}
	item := cv.Shows("status.desired.version", "version "+l.current.Text, cv.ReadAt)
	recommend := "oc adm upgrade recommend"
	switch {
	case !l.current.Known():
		r.miss("", cv.NotShown("status.desired.version"))
	case l.Target.Before(l.current):
		r.Findings = append(r.Findings, Finding{Severity: fault.Error, Says: fmt.Sprintf("%s is older than %s, which runs: a cluster does not go back",
			l.Target.Text, l.current.Text), Do: []string{recommend}, See: recommend, Evidence: []evidence.Item{item}})
	case l.Target.Minor > l.current.Minor+1:
		r.Findings = append(r.Findings, Finding{Severity: fault.Error, Says: fmt.Sprintf("%s is %d minor versions after %s: an update takes one at a time",
			l.Target.Text, l.Target.Minor-l.current.Minor, l.current.Text), Do: []string{fmt.Sprintf("update to 4.%d first: %s", l.current.Minor+1, recommend)},
			See: "oc get clusterversion version", Evidence: []evidence.Item{item}})
	case l.Target.Patch >= 0 && l.Target.Text != l.current.Text && !offered(cv, l.Target.Text):
		r.Findings = append(r.Findings, Finding{Severity: fault.Warning, Says: l.Target.Text + " is not among the updates that ClusterVersion offers",
			Do: []string{recommend}, See: recommend, Evidence: []evidence.Item{cv.Shows("status.availableUpdates", l.Target.Text+" is not listed", cv.ReadAt)}})
	}
}

// offered reports whether ClusterVersion lists a release as an update, also one with known risks.
func offered(cv *evidence.Object, version string) bool {
	available, _ := evidence.Field(cv.Content, "status", "availableUpdates").([]any)
	conditional, _ := evidence.Field(cv.Content, "status", "conditionalUpdates").([]any)
	return slices.ContainsFunc(available, func(raw any) bool {
		m, _ := raw.(map[string]any)
		return m["version"] == version
	}) || slices.ContainsFunc(conditional, func(raw any) bool {
		m, _ := raw.(map[string]any)
		return evidence.String(m, "release", "version") == version
	})
}

// said is a condition in a sentence.
func said(kind string, c condition) string {
	text := kind + "=" + c.status
	if c.reason != "" {
		text += " (" + c.reason + ")"
	}
	if c.message != "" {
		text += ": " + evidence.Shorten(oneLine(c.message), 160)
	}
	return text
}

// notUpgradeable is Upgradeable=False of ClusterVersion or an operator. It stops an update to the next
// minor version; patches pass.
func (l *look) notUpgradeable(of string, o *evidence.Object, c condition) Finding {
	f := Finding{Severity: fault.Warning, Says: of + " is " + said("Upgradeable", c), Do: []string{"oc adm upgrade"}, See: "oc adm upgrade",
		Evidence: []evidence.Item{c.shows(o, "Upgradeable")}}
	switch {
	case strings.Contains(c.reason, "AdminAck"):
		f.Do = []string{"oc adm upgrade (it prints what is to be checked and acknowledged)", "oc get apirequestcounts (who uses APIs that are removed)"}
	case o.Resource == evidence.ClusterOperators:
		f.Do = []string{"oc get clusteroperator " + o.Name + " -o yaml"}
	}
	switch {
	case l.Target.Known() && l.current.Known() && l.Target.Minor > l.current.Minor:
		f.Severity = fault.Error
	case l.Target.Known() && l.current.Known():
		f.Says += ". It does not stop an update within 4." + strconv.Itoa(l.current.Minor)
	default:
		f.Says += ". It stops an update to the next minor version"
	}
	return f
}

// operatorsCheck: an operator that is degraded or unavailable stops an update; one that is not upgradeable
// stops the next minor version.
//
// Sources: openshift/cluster-version-operator pkg/cvo/upgradeable.go, pkg/cvo/internal/operatorstatus.go
// checkOperatorHealth (4.6 to 4.20).
var operatorsCheck = Check{
	ID: "operators", Title: "operators that are not healthy, or not upgradeable", Holds: true, Look: lookOperators,
	Faults: []string{"authentication-needs-three-apiservers", "machine-config-operator-degraded", "network-operator-degraded", "operator-condition-degraded",
		"operator-degraded", "operator-not-reconciling", "operator-pods-failing", "operator-unmanaged", "static-pod-installer-blocked",
		"static-pod-installer-failed", "static-pod-lost", "static-pod-missing", "static-pod-rollout-stuck"},
	Sources: []fault.Ref{
		{Repo: "openshift/cluster-version-operator", Path: "pkg/cvo/upgradeable.go"},
		{Repo: "openshift/cluster-version-operator", Path: "pkg/cvo/internal/operatorstatus.go", Symbol: "checkOperatorHealth"},
	},
}

func lookOperators(ctx context.Context, l *look, r *Result) error {
	list, err := l.some(ctx, r, evidence.ClusterOperators, "")
	if err != nil {
		return err
	}
	for i := range list {
		o := &list[i]
		if c := conditionOf(o, "Upgradeable"); c.status == "False" {
			r.Findings = append(r.Findings, l.notUpgradeable("operator "+o.Name, o, c))
		}
		for _, c := range []struct{ kind, bad string }{{"Available", "False"}, {"Degraded", "True"}} {
			if have := conditionOf(o, c.kind); have.status == c.bad && !l.explained(fault.Operator, o.Name) {
				r.Findings = append(r.Findings, Finding{Severity: fault.Error, Says: "operator " + o.Name + " is " + said(c.kind, have),
					Do:  []string{l.diagnose(fault.Subject{Kind: fault.Cluster}), "oc get clusteroperator " + o.Name + " -o yaml"},
					See: "oc get clusteroperator " + o.Name, Evidence: []evidence.Item{have.shows(o, c.kind)}})
				break
			}
		}
	}
	return nil
}

// skewCheck compares the kubelets with the API server of the target.
//
// Source: openshift/cluster-kube-apiserver-operator pkg/operator/kubeletversionskewcontroller
// (minSupportedKubeletSkewForOpenShiftVersion: 2 minor versions for even releases, 1 for odd ones), 4.7 on.
var skewCheck = Check{
	ID: "kubelet-skew", Title: "kubelets too old for the target", Holds: true, Look: lookSkew,
	Sources: []fault.Ref{{Repo: "openshift/cluster-kube-apiserver-operator",
		Path:   "pkg/operator/kubeletversionskewcontroller/kubelet_version_skew_controller.go",
		Symbol: "minSupportedKubeletSkewForOpenShiftVersion", Branch: "release-4.20"}},
}

func lookSkew(ctx context.Context, l *look, r *Result) error {
	list, err := l.some(ctx, r, evidence.Nodes, "")
	if err != nil {
		return err
	}
	target := l.Target
	if !target.Known() {
		target = l.current
	}
	if !target.Known() {
		return evidence.Object{Resource: evidence.ClusterVersions, Name: "version"}.NotShown("status.desired.version")
	}
	if l.current.Known() && target.Minor > l.current.Minor+1 {
		return nil // the check of ClusterVersion refuses it
	}
	var unknown []string
	for i := range list {
		n := &list[i]
		kubelet, ok := kubeletMinor(n)
		if !ok {
			unknown = append(unknown, n.Name)
			continue
		}
		if behind := target.kubernetes() - kubelet; behind > target.behind() {
			r.Findings = append(r.Findings, l.tooOld(n, kubelet, behind, target))
		}
	}
	if len(unknown) > 0 {
		r.miss("", notOfNodes("status.nodeInfo.kubeletVersion", unknown))
	}
	return nil
}

func (l *look) tooOld(n *evidence.Object, kubelet, behind int, target Version) Finding {
	pool := l.poolOf[n.Name]
	f := Finding{Severity: fault.Error, Hosts: []string{n.Name}, See: "oc get nodes",
		Says: fmt.Sprintf("the kubelet of %s is 1.%d, %d minor versions behind 4.%d (1.%d), which supports %d", n.Name, kubelet, behind, target.Minor,
			target.kubernetes(), target.behind()),
		Evidence: []evidence.Item{n.Shows("status.nodeInfo.kubeletVersion", evidence.String(n.Content, "status", "nodeInfo", "kubeletVersion"), n.ReadAt)}}
	if pool != "" {
		f.Do = []string{"let pool " + pool + " finish its update first: oc get mcp " + pool}
	} else {
		f.Do = []string{"update the node first"}
	}
	return f
}

// notOfNodes says that a field of some Nodes is not shown.
func notOfNodes(field string, names []string) *evidence.Unavailable {
	u := evidence.Object{Resource: evidence.Nodes, Name: few(names)}.NotShown(field)
	u.Supply.Name = ""
	return u
}

// kubeletMinor is the minor version of a Node's kubelet.
func kubeletMinor(n *evidence.Object) (int, bool) {
	parts := strings.SplitN(strings.TrimPrefix(evidence.String(n.Content, "status", "nodeInfo", "kubeletVersion"), "v"), ".", 3)
	if len(parts) < 2 || parts[0] != "1" {
		return 0, false
	}
	minor, err := strconv.Atoi(parts[1])
	return minor, err == nil
}

// singleReplica is Infrastructure's controlPlaneTopology of a cluster with one node
// (openshift/api:config/v1/types_infrastructure.go SingleReplicaTopologyMode).
const singleReplica = "SingleReplica"

// single reports whether the cluster is one node: its daemon does not drain it.
func (l *look) single() bool { return l.d.Cluster.Topology == singleReplica }

// external reports whether the control plane runs elsewhere: a hosted cluster. It has no MachineConfigPool, no etcd
// and no signer of its own (openshift/api:config/v1/types_infrastructure.go ExternalTopologyMode).
func (l *look) external() bool { return l.d.Cluster.Topology == "External" }
