package metalhost

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/facts/eviction"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Load is what a Node carries, and what a drain of it meets. What could not be read is in Unread.
type Load struct {
	Pods     []*evidence.Object // of the whole cluster
	Budgets  []*evidence.Object
	Volumes  []kube.Object // PersistentVolumes
	Pool     kube.Object   // MachineConfigPool of its role
	UserData kube.Object   // Secret with the Ignition config of new Machines; only whether it is there
	Lease    kube.Object   // of a controller that remediates the Node
	Unread   map[string]error
}

// leases is the namespace in which medik8s keeps who works on a Node (medik8s/common:pkg/lease/manager.go
// defaultLeaseNs, generateLeaseName).
const (
	leases      = "medik8s-leases"
	leasePrefix = "node-"
)

// LookLoad reads what a Node carries.
func LookLoad(ctx context.Context, api API, node, pool, userData string) (Load, error) {
	l := Load{Unread: map[string]error{}}
	list := func(what string, r kube.Ref) []kube.Object {
		all, err := api.List(ctx, r)
		if err != nil {
			l.Unread[what] = err
		}
		return all
	}
	one := func(what string, r kube.Ref) kube.Object {
		if r.Name == "" {
			return nil
		}
		o, err := api.Get(ctx, r)
		if err != nil {
			l.Unread[what] = err
			return nil
		}
		return o
	}
	l.Pods = evidenceOf(list("pods", kube.Ref{Version: "v1", Resource: "pods"}))
	l.Budgets = evidenceOf(list("budgets", kube.Ref{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}))
	l.Volumes = list("volumes", kube.Ref{Version: "v1", Resource: "persistentvolumes"})
	l.Pool = one("pool", kube.Ref{Group: openshift.MachineConfigGroup, Version: "v1", Resource: "machineconfigpools", Name: pool})
	l.UserData = one("user data", secretRef(userData))
	if node != "" {
		l.Lease = one("lease", kube.Ref{Group: openshift.CoordinationGroup, Version: "v1", Resource: "leases", Namespace: leases, Name: leasePrefix + node})
	}
	return l, ctx.Err()
}

func evidenceOf(list []kube.Object) []*evidence.Object {
	var all []*evidence.Object
	for _, o := range list {
		all = append(all, &evidence.Object{Namespace: evidence.String(o, "metadata", "namespace"), Name: evidence.String(o, "metadata", "name"), Content: o})
	}
	return all
}

// unknown says why something is not known; "" it is, or it is not there.
func (l Load) unknown(what string) string {
	if err := l.Unread[what]; err != nil && !apierrors.IsNotFound(err) {
		return err.Error()
	}
	return ""
}

func (l Load) on(node string) []*evidence.Object {
	return slices.DeleteFunc(slices.Clone(l.Pods), func(p *evidence.Object) bool { return evidence.String(p.Content, "spec", "nodeName") != node })
}

// budgetCheck: the Machine API drains for ever where an eviction is refused, and a Machine that is being deleted cannot be
// kept (openshift/machine-api-operator:pkg/controller/machine/drain_controller.go drainNode).
func (l Load) budgetCheck(node string) Check {
	for _, what := range []string{"budgets", "pods"} {
		if why := l.unknown(what); why != "" {
			return unknownStop("whether a PodDisruptionBudget holds the drain: " + why)
		}
	}
	var held, open []string
	of := map[*evidence.Object][]string{}
	mine := slices.DeleteFunc(l.on(node), func(p *evidence.Object) bool { return !eviction.Asks(p) })
	for _, o := range l.Budgets {
		b := eviction.Read(o)
		var kept []string
		covered := 0
		for _, p := range mine {
			covers, known := b.Covers(p)
			if !known {
				open = append(open, fmt.Sprintf("which pods PodDisruptionBudget %s/%s selects", b.Namespace, b.Name))
				break
			}
			if !covers {
				continue
			}
			covered++
			of[p] = append(of[p], b.Name)
			if !b.Frees(p) {
				kept = append(kept, p.Name)
			}
		}
		switch {
		case covered == 0:
		case !b.Known && (len(kept) > 0 || !b.Always):
			open = append(open, fmt.Sprintf("what PodDisruptionBudget %s/%s allows now", b.Namespace, b.Name))
		case b.Allowed <= 0 && len(kept) > 0:
			held = append(held, fmt.Sprintf("PodDisruptionBudget %s/%s allows no eviction (%d of %d pods are healthy, %d are needed; here: %s)", b.Namespace,
				b.Name, b.Healthy, b.Expected, b.Desired, few(kept)))
		}
	}
	for _, p := range mine {
		if names := of[p]; len(names) > 1 {
			held = append(held, fmt.Sprintf("pod %s/%s has more than one PodDisruptionBudget (%s): its eviction is refused", p.Namespace, p.Name, few(names)))
		}
	}
	switch {
	case len(held) > 0:
		return stop("the drain would not end: " + few(held))
	case len(open) > 0:
		return unknownStop("whether the drain ends: " + few(open))
	}
	return passed("every PodDisruptionBudget lets what is evicted go now: " + page.Count(len(mine), "pod", "pods"))
}

// lostChecks are about what a drain of the Machine API loses: it evicts with force, and pods with emptyDir volumes.
func (l Load) lostChecks(node string) []Check {
	if why := l.unknown("pods"); why != "" {
		return []Check{unknown("which pods are lost with the drain: " + why)}
	}
	var bare, data []string
	for _, p := range l.on(node) {
		name := p.Namespace + "/" + p.Name
		kind, _ := eviction.Controller(p)
		switch phase := evidence.String(p.Content, "status", "phase"); {
		case eviction.Bare(p):
			bare = append(bare, name)
		case kind == "DaemonSet" || phase == "Succeeded" || phase == "Failed" || p.Annotation(openshift.MirrorPodAnnotation) != "":
		case hasEmptyDir(p):
			data = append(data, name)
		}
	}
	var checks []Check
	if len(bare) > 0 {
		checks = append(checks, warning("the drain deletes pods that nothing creates again: "+few(bare)))
	}
	if len(data) > 0 {
		checks = append(checks, warning(page.Count(len(data), "pod has", "pods have")+" emptyDir volumes, whose data goes with the drain: "+few(data)))
	}
	if len(checks) == 0 {
		return []Check{passed("the drain loses no pod and no emptyDir volume")}
	}
	return checks
}

func hasEmptyDir(p *evidence.Object) bool {
	volumes, _ := evidence.Field(p.Content, "spec", "volumes").([]any)
	return slices.ContainsFunc(volumes, func(v any) bool {
		m, _ := v.(map[string]any)
		_, is := m["emptyDir"]
		return is
	})
}

// storageLabel is on Nodes whose disks are a part of OpenShift Data Foundation (red-hat-storage/ocs-operator:
// controllers/defaults/defaults.go NodeAffinityKey).
const storageLabel = "cluster.ocs.openshift.io/openshift-storage"

// storageChecks look for data that is on the disks of one Node and nowhere else.
func (l Load) storageChecks(nodes []kube.Object, node kube.Object, allowed bool) []Check {
	name := evidence.String(node, "metadata", "name")
	found := func(text string) Check {
		if allowed {
			return warning(text + ". It goes, as allowed with --local-data-goes")
		}
		return stop(text + ". Move it first; --local-data-goes replaces the host all the same")
	}
	var checks []Check
	if _, storage := texts(evidence.Field(node, "metadata", "labels"))[storageLabel]; storage {
		checks = append(checks, found("Node "+name+" is a storage node of OpenShift Data Foundation (label "+storageLabel+"): its OSDs are replaced by "+
			"the procedure of that product, one Node at a time"))
	}
	switch why := l.unknown("volumes"); {
	case why != "" && allowed:
		return append(checks, unknown("whether PersistentVolumes are on its disks: "+why))
	case why != "":
		return append(checks, unknownStop("whether PersistentVolumes are on its disks: "+why))
	}
	var local []string
	for _, v := range l.Volumes {
		if only, claim := onlyOn(v, nodes, name); only {
			local = append(local, evidence.String(v, "metadata", "name")+claim)
		}
	}
	if len(local) > 0 {
		return append(checks, found(page.Count(len(local), "PersistentVolume", "PersistentVolumes")+" can be used on Node "+name+" alone: "+few(local)))
	}
	if len(checks) == 0 {
		checks = append(checks, passed("no PersistentVolume is bound to this Node alone, and it is no storage node"))
	}
	return checks
}

// routerCheck: whether routes are served without the Node.
func (l Load) routerCheck(node string) Check {
	if why := l.unknown("pods"); why != "" {
		return unknown("whether another router is Ready: " + why)
	}
	here, elsewhere := map[string]bool{}, map[string]bool{}
	for _, p := range l.Pods {
		of, is := p.Label("ingresscontroller.operator.openshift.io/deployment-ingresscontroller")
		if !is || p.Namespace != "openshift-ingress" || !isTrue(p.Content, "Ready") {
			continue
		}
		if evidence.String(p.Content, "spec", "nodeName") == node {
			here[of] = true
		} else {
			elsewhere[of] = true
		}
	}
	var last []string
	for of := range here {
		if !elsewhere[of] {
			last = append(last, of)
		}
	}
	slices.Sort(last)
	switch {
	case len(last) > 0:
		return stop("the only Ready router of IngressController " + strings.Join(last, ", ") + " runs here: its routes answer nothing until another " +
			"one is Ready. Scale it to 2 first: oc -n openshift-ingress get pods -o wide")
	case len(here) > 0:
		return passed("another router is Ready on another Node")
	}
	return passed("no router runs here")
}

func isTrue(o kube.Object, kind string) bool { return conditionOf(o, kind)["status"] == "True" }

func conditionOf(o kube.Object, kind string) map[string]any {
	list, _ := evidence.Field(o, "status", "conditions").([]any)
	for _, c := range list {
		if m, is := c.(map[string]any); is && m["type"] == kind {
			return m
		}
	}
	return nil
}

// few are names of which not more than three are written out.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
