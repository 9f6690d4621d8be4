package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// runsIn are the namespaces in which the pods of a ClusterOperator run. The first three are in every
// cluster with a control plane of its own (openshift/machine-config-operator, cluster-etcd-operator,
// cluster-kube-apiserver-operator: manifests); the others can be left out of an installation.
var runsIn = []struct {
	operator, namespace string
	always              bool
}{
	{"machine-config", openshift.MachineConfigNamespace, true},
	{"etcd", openshift.EtcdNamespace, true},
	{openshift.APIServer, openshift.APIServerNamespace, true},
	{"machine-api", openshift.MachineAPINamespace, false},
	{"machine-approver", openshift.MachineApproverNamespace, false},
}

// alwaysThere are the kinds of which each such cluster has an object without a namespace, and to
// which a ClusterOperator refers.
var alwaysThere = []evidence.Resource{
	evidence.MachineConfigPools, evidence.MachineConfigs, evidence.ControllerConfigs, evidence.Infrastructures, evidence.NetworkConfigs,
	evidence.EtcdOperators, evidence.APIServerOperators, evidence.ManagerOperators, evidence.SchedulerOperators,
}

// alwaysPools and alwaysOperators are objects that each such cluster has
// (openshift/machine-config-operator:manifests/master.machineconfigpool.yaml,
// worker.machineconfigpool.yaml; the ClusterOperators in the manifests of their operators).
var (
	alwaysPools     = []string{"master", "worker"}
	alwaysOperators = []string{"etcd", openshift.APIServer, openshift.ControllerManager, openshift.Scheduler, "machine-config", "network"}
)

// csrLife is how long a request that was issued is kept at least
// (kubernetes/kubernetes:pkg/controller/certificates/cleaner/cleaner.go approvedExpiration).
const csrLife = time.Hour

// mostNamespaces is the percentage of the namespaces of operators that a whole archive has at
// least. Of one with fewer a person has kept a part.
const mostNamespaces = 80

// lostParts finds parts of the cluster that were lost from an archive as a whole: something that
// is there refers to them, or each cluster has them.
type lostParts struct {
	reader    *reader.Reader
	d         *diagnosis.Diagnosis
	nodes     []evidence.Object
	operators []evidence.Object
	whole     bool // the collector keeps all that the operators refer to
}

// noteLostParts marks in the coverage what was lost.
func noteLostParts(ctx context.Context, r *reader.Reader, d *diagnosis.Diagnosis) {
	d.Coverage = r.Coverage()
	l := lostParts{reader: r, d: d, whole: d.Source.Whole}
	if !l.whole && cmp.Or(d.Source.Origin, d.Source.Kind) != tree || !ownControlPlane(d.Cluster) {
		return
	}
	l.nodes, _ = r.List(ctx, evidence.Nodes, "")
	l.operators, _ = r.List(ctx, evidence.ClusterOperators, "")
	if len(l.nodes) == 0 || len(l.operators) == 0 { // both are premises: the answer shows it
		return
	}
	if l.whole {
		_, _ = r.List(ctx, evidence.Namespaces, "") // before the coverage is taken
	}
	d.Coverage = r.Coverage()
	l.namespaces(ctx)
	l.pools(ctx)
	if l.whole {
		l.kinds()
		l.clusterOperators(ctx)
		l.referred(ctx)
		l.requests()
	}
}

// mark notes that what is needed was lost; by is what shows that it exists. Nothing is noted of
// what was read or is not served.
func (l *lostParts) mark(need evidence.Need, name, by string) {
	i := slices.IndexFunc(l.d.Coverage, func(c evidence.Coverage) bool { return c.Need == need.String() })
	if i < 0 {
		return
	}
	if c := &l.d.Coverage[i]; c.State == evidence.Missing && c.Why == evidence.NotCollected {
		c.Lost, c.Reason = name, string(evidence.NotCollected)+": "+by
	}
}

// add notes one object that was lost.
func (l *lostParts) add(r evidence.Resource, kind, name, by string) {
	lost := kind + " " + name
	l.d.Coverage = append(l.d.Coverage, evidence.Coverage{Need: r.String() + " " + name, State: evidence.Missing, Why: evidence.NotCollected,
		Lost: lost, Reason: string(evidence.NotCollected) + ": " + by, Supply: evidence.Supply{Kind: evidence.SupplyGet, Resource: r.Name, Name: name}})
}

// missing reports whether nothing of a need was collected.
func (l *lostParts) missing(n evidence.Need) bool {
	return slices.ContainsFunc(l.d.Coverage, func(c evidence.Coverage) bool {
		return c.Need == n.String() && c.State == evidence.Missing && c.Why == evidence.NotCollected
	})
}

// namespaces marks the namespaces in which pods run and of which there are none.
func (l *lostParts) namespaces(ctx context.Context) {
	if !l.whole && !l.anyPods() {
		return
	}
	pods := func(namespace, by string) {
		l.mark(evidence.Objects(evidence.Pods, namespace), "namespace "+namespace, "no pod of it is in the archive, and "+by)
	}
	for _, in := range runsIn {
		o := l.operator(in.operator)
		if l.d.Cluster.Installing && (!in.always || o == nil || !available(*o)) {
			continue // its pods may not have been created yet: the bootstrap host does their work
		}
		switch {
		case l.whole && in.always:
			pods(in.namespace, "they run in every cluster")
		case l.whole && o != nil, o != nil && available(*o):
			pods(in.namespace, "ClusterOperator "+in.operator+" runs there")
		case in.namespace == openshift.MachineConfigNamespace && l.configured() != "":
			pods(in.namespace, "node "+l.configured()+" has an annotation of the machine-config-daemon")
		}
	}
	if !l.whole {
		return
	}
	there := map[string]bool{}
	list, _ := l.reader.List(ctx, evidence.Namespaces, "")
	for _, o := range list {
		there[o.Name] = true
	}
	referred, found := map[string]string{}, 0
	for _, r := range l.related() {
		if r.resource == evidence.Namespaces && referred[r.name] == "" {
			referred[r.name] = r.operator
			if there[r.name] {
				found++
			}
		}
	}
	if found*100 < len(referred)*mostNamespaces {
		return
	}
	for i := range l.d.Coverage {
		_, namespace, ok := strings.Cut(l.d.Coverage[i].Need, " -n ")
		if operator := referred[namespace]; ok && operator != "" && !there[namespace] {
			pods(namespace, "ClusterOperator "+operator+" refers to it")
		}
	}
}

func (l *lostParts) operator(name string) *evidence.Object {
	i := slices.IndexFunc(l.operators, func(o evidence.Object) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &l.operators[i]
}

// configured is a node on which the machine-config-daemon has run, "" if there is none.
func (l *lostParts) configured() string {
	for _, n := range l.nodes {
		if n.Annotation(openshift.ConfigStateAnnotation) != "" {
			return n.Name
		}
	}
	return ""
}

// available reports whether an operator is Available: what it runs is there.
func available(operator evidence.Object) bool {
	list, _ := evidence.Field(operator.Content, "status", "conditions").([]any)
	return slices.ContainsFunc(list, func(raw any) bool {
		c, _ := raw.(map[string]any)
		return evidence.String(c, "type") == "Available" && evidence.String(c, "status") == "True"
	})
}

// anyPods reports whether pods were collected at all.
func (l *lostParts) anyPods() bool {
	return slices.ContainsFunc(l.d.Coverage, func(c evidence.Coverage) bool {
		return strings.HasPrefix(c.Need, evidence.Pods.Name+" -n ") && c.State == evidence.Read
	})
}

// related is what a ClusterOperator refers to (openshift/api:config/v1/types_cluster_operator.go
// ObjectReference).
type related struct {
	resource evidence.Resource
	name     string // "" is any
	operator string
}

func (l *lostParts) related() []related {
	var list []related
	for _, o := range l.operators {
		refs, _ := evidence.Field(o.Content, "status", "relatedObjects").([]any)
		for _, raw := range refs {
			ref, _ := raw.(map[string]any)
			r := evidence.Resource{Group: evidence.String(ref, "group"), Name: evidence.String(ref, "resource")}
			list = append(list, related{r, evidence.String(ref, "name"), o.Name})
		}
	}
	return list
}

// kinds marks kinds of objects that each cluster has and of which there is none.
func (l *lostParts) kinds() {
	for _, r := range l.related() {
		if slices.Contains(alwaysThere, r.resource) {
			l.mark(evidence.Objects(r.resource, ""), r.resource.Name, "each cluster has some, and ClusterOperator "+r.operator+" refers to them")
		}
	}
}

// ofPool splits the name of a rendered config, as internal/hosts/inventory does.
var ofPool = regexp.MustCompile(`^rendered-(.+)-[0-9a-f]{32}$`)

// pools adds the MachineConfigPools that must be there, where each is in a file of its own and
// some are there.
func (l *lostParts) pools(ctx context.Context) {
	if !l.reader.Unlisted(ctx, evidence.Objects(evidence.MachineConfigPools, "")) {
		return
	}
	wanted := map[string]string{}
	for _, n := range l.nodes {
		for _, key := range []string{openshift.CurrentConfigAnnotation, openshift.DesiredConfigAnnotation} {
			if m := ofPool.FindStringSubmatch(n.Annotation(key)); m != nil && wanted[m[1]] == "" {
				wanted[m[1]] = "node " + n.Name + " has its config " + m[0]
			}
		}
	}
	for _, name := range alwaysPools {
		wanted[name] = cmp.Or(wanted[name], "each cluster has this pool")
	}
	list, _ := l.reader.List(ctx, evidence.MachineConfigPools, "")
	l.addMissing(evidence.MachineConfigPools, "MachineConfigPool", wanted, list)
}

// clusterOperators adds the ClusterOperators of the control plane that are not there, where each is
// in a file of its own. During an installation they are created one after the other.
func (l *lostParts) clusterOperators(ctx context.Context) {
	if l.d.Cluster.Installing || !l.reader.Unlisted(ctx, evidence.Objects(evidence.ClusterOperators, "")) {
		return
	}
	wanted := map[string]string{}
	for _, name := range alwaysOperators {
		wanted[name] = "each cluster has this operator"
	}
	l.addMissing(evidence.ClusterOperators, "ClusterOperator", wanted, l.operators)
}

func (l *lostParts) addMissing(r evidence.Resource, kind string, wanted map[string]string, there []evidence.Object) {
	for _, o := range there {
		delete(wanted, o.Name)
	}
	names := make([]string, 0, len(wanted))
	for name := range wanted {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		l.add(r, kind, name, wanted[name])
	}
}

// referred marks kinds of which there is no object, and to one of which an object refers.
func (l *lostParts) referred(ctx context.Context) {
	machines, sets := evidence.Objects(evidence.Machines, openshift.MachineAPINamespace), evidence.Objects(evidence.MachineSets, openshift.MachineAPINamespace)
	hosts := evidence.Objects(evidence.BareMetalHosts, openshift.MachineAPINamespace)
	for _, n := range l.nodes {
		if m := n.Annotation(openshift.MachineOnNodeAnnotation); m != "" {
			l.mark(machines, machines.Resource.Name, fmt.Sprintf("node %s refers to %s", n.Name, m))
		}
	}
	if l.missing(machines) {
		list, _ := l.reader.List(ctx, hosts.Resource, hosts.Namespace)
		for _, h := range list {
			if evidence.String(h.Content, "spec", "consumerRef", "kind") == "Machine" {
				l.mark(machines, machines.Resource.Name, fmt.Sprintf("BareMetalHost %s refers to %s", h.Name,
					evidence.String(h.Content, "spec", "consumerRef", "name")))
			}
		}
	}
	pools, _ := l.reader.List(ctx, evidence.MachineConfigPools, "")
	for _, p := range pools {
		if config := evidence.String(p.Content, "spec", "configuration", "name"); config != "" {
			l.mark(evidence.Objects(evidence.MachineConfigs, ""), evidence.MachineConfigs.Name,
				fmt.Sprintf("MachineConfigPool %s refers to %s", p.Name, config))
		}
	}
	list, _ := l.reader.List(ctx, machines.Resource, machines.Namespace)
	for _, m := range list {
		if host := m.Annotation(openshift.HostOnMachineAnnotation); host != "" {
			l.mark(hosts, hosts.Resource.Name, fmt.Sprintf("Machine %s refers to %s", m.Name, host))
		}
		owners, _ := evidence.Field(m.Content, "metadata", "ownerReferences").([]any)
		for _, raw := range owners {
			owner, _ := raw.(map[string]any)
			if evidence.String(owner, "kind") == "MachineSet" {
				l.mark(sets, sets.Resource.Name, fmt.Sprintf("Machine %s belongs to %s", m.Name, evidence.String(owner, "name")))
			}
		}
	}
}

// requests marks the requests for certificates where a node is so young that its own cannot have
// been removed. Of an older cluster there may be none: requests are removed after csrLife, and
// collectors write no empty list.
func (l *lostParts) requests() {
	for _, n := range l.nodes {
		if at := n.Created(); !at.IsZero() && l.d.Now.Sub(at) < csrLife {
			l.mark(evidence.Objects(evidence.CSRs, ""), evidence.CSRs.Name,
				"node "+n.Name+" has registered less than an hour ago, and requests are kept for an hour")
			return
		}
	}
}

// lostOpen lists the parts that were lost, as open questions.
func lostOpen(d *diagnosis.Diagnosis) []string {
	var list []string
	for _, c := range d.Coverage {
		if c.Lost != "" {
			list = append(list, c.Lost+": "+c.Reason)
		}
	}
	return list
}

// lostNames are the names of the parts that were lost.
func lostNames(d *diagnosis.Diagnosis) []string {
	var list []string
	for _, c := range d.Coverage {
		if c.Lost != "" {
			list = append(list, c.Lost)
		}
	}
	return list
}
