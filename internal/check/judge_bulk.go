package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// bulk judge deletions of many objects at once: of a kind with its definition, and of what oc calls "all".
var bulk = []Judgment{{
	ID: "delete-crd", Commands: "oc delete crd", Matches: func(c *shellcommand.Call) bool {
		return is("crd", "delete")(c) || is("customresourcedefinition", "delete")(c) || is("customresourcedefinitions", "delete")(c) || is("crds", "delete")(c)
	},
	Final:   "every object of a kind is deleted with its CustomResourceDefinition",
	Decide:  decideDeleteCRD,
	Sources: []fault.Ref{{Repo: "kubernetes/apiextensions-apiserver", Path: "pkg/controller/finalizer/crd_finalizer.go", Symbol: "deleteInstances"}},
}, {
	ID: "delete-all", Commands: "oc delete all", Matches: is("all", "delete"), Reads: []evidence.Need{evidence.Objects(evidence.Pods, "")},
	Decide:  decideDeleteAll,
	Sources: []fault.Ref{{Repo: "kubernetes/kubernetes", Path: "pkg/registry/core/pod/storage/storage.go", Symbol: "Categories"}},
}}

func decideDeleteCRD(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	if c.Open {
		return nil, errOpen
	}
	d := &decision{verdict: Person, undo: "none without a copy of every object", lost: "every object of the kind, with its status",
		why: "every object of the kind is deleted with it; how many there are was not read"}
	var whys []string
	for _, a := range c.Args[2:] {
		name := strings.TrimPrefix(a[strings.LastIndexByte(a, '/')+1:], "crd/")
		d.objects = append(d.objects, "crd/"+name)
		plural, group, _ := strings.Cut(name, ".")
		platform := strings.HasSuffix(group, "openshift.io") || strings.HasSuffix(group, openshift.Metal3Group) || strings.HasSuffix(group, "k8s.io")
		if platform {
			d.verdict = Unsafe
		}
		for r, word := range words {
			if r.Name != plural || r.Group != group || group == "" {
				continue
			}
			list, err := l.read(ctx, r, "")
			if err != nil {
				continue
			}
			why := fmt.Sprintf("it deletes all %s", counted(len(list), word, word+"s"))
			if r == evidence.MachineConfigs {
				why += fmt.Sprintf(": %d of them nobody renders again (%s), and nodes want configs that are gone, so they become Degraded", len(owned(list)),
					"yours, and those of the installation")
			}
			whys = append(whys, why)
			d.evidence = append(d.evidence, evidence.Listed(r, "", counted(len(list), word, word+"s")))
		}
		if len(whys) == 0 && platform {
			whys = append(whys, "every object of "+name+" is deleted with it")
		}
	}
	if len(d.objects) == 0 {
		return nil, undecidedf("which kinds it deletes is not in its text: give the command with their names")
	}
	if len(whys) > 0 {
		d.why = strings.Join(whys, "; ")
	}
	if d.verdict == Unsafe {
		d.why += ". The cluster-version-operator creates the definition of a kind of the platform again, and none of the objects"
	}
	d.instead = []string{"oc get " + strings.TrimPrefix(d.objects[0], "crd/") + " -A -o yaml > copy.yaml keeps the objects"}
	return d, nil
}

// owned are MachineConfigs that no controller renders: neither generated nor rendered ones.
func owned(list []*evidence.Object) (out []*evidence.Object) {
	for _, o := range list {
		if !strings.HasPrefix(o.Name, "rendered-") && o.Annotation(openshift.GeneratedByControllerAnnotation) == "" {
			out = append(out, o)
		}
	}
	return out
}

// whatAllIs is what the category "all" has: each kind says in its own code whether it belongs to it.
const whatAllIs = "pods, Services, Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs, autoscalers, Routes, builds and image streams. " +
	"Secrets, ConfigMaps and volume claims stay"

func decideDeleteAll(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	namespace := c.Value("-n", "--namespace")
	d := &decision{verdict: Unsafe, changes: "deletes " + whatAllIs, lost: "the definitions of these objects; no PodDisruptionBudget is asked",
		undo:    "none without a copy; an operator only creates its own objects again",
		instead: []string{"oc delete the one object that is wrong", "oc rollout restart deployment/NAME restarts pods, one after the other"}}
	switch {
	case everywhere(c):
		list, many := l.podsOfCluster(ctx)
		d.why = "it deletes the workloads of every namespace, those of the platform with its network and its control plane (" +
			counted(len(list), "pod", "pods") + " " + many + ")"
		if len(list) == 0 {
			d.why = "it deletes the workloads of every namespace, those of the platform with its network and its control plane"
		}
		return d, nil
	case namespace == "":
		return nil, undecidedf("it hits the current project, and which one that is is not in its text: give -n NAMESPACE")
	}
	list, err := l.read(ctx, evidence.Pods, namespace)
	pods := "its pods"
	if err == nil && len(list) > 0 {
		pods = counted(len(list), "pod", "pods")
		d.objects = refs(list)
	}
	if !platformNamespace(namespace) {
		d.verdict, d.why = Person, fmt.Sprintf("%s and what would create them again are deleted together: nothing brings them back", pods)
		return d, nil
	}
	d.why = fmt.Sprintf("%s of %s are deleted together with the Deployments and DaemonSets that would create them again: what they serve is away until its "+
		"operator has created all of it", pods, namespace)
	for _, p := range list {
		if p.Annotation(openshift.MirrorPodAnnotation) != "" {
			d.why += ". Its static pods run on, but their guards go, which hold a drain back, and so do the Services"
			break
		}
	}
	return d, nil
}

func platformNamespace(name string) bool {
	return strings.HasPrefix(name, "openshift-") || strings.HasPrefix(name, "kube-") || name == "default" || name == "openshift"
}

// everywhere reports whether a call is about all namespaces.
func everywhere(c *shellcommand.Call) bool {
	_, all := c.Flag("-A", "--all-namespaces")
	return all
}

// podNamespaces are where pods are looked for in a source that has no list over all namespaces.
var podNamespaces = []string{openshift.EtcdNamespace, openshift.APIServerNamespace, openshift.ControllerManagerNamespace, openshift.SchedulerNamespace,
	openshift.MachineConfigNamespace, openshift.MachineAPINamespace, openshift.MachineApproverNamespace, openshift.OVNNamespace, openshift.SDNNamespace,
	openshift.MultusNamespace, openshift.NodeIdentityNamespace, openshift.OnPremNamespace, "openshift-ingress", "openshift-dns"}

// podsOfCluster are the pods of all namespaces that were read, and where they are.
func (l *look) podsOfCluster(ctx context.Context) (list []*evidence.Object, where string) {
	part := ""
	if list, _ = l.read(ctx, evidence.Pods, ""); len(list) == 0 {
		for _, n := range podNamespaces {
			more, _ := l.read(ctx, evidence.Pods, n)
			list = append(list, more...)
		}
		part = " were read, the others are not known"
	} else if l.partial(ctx, evidence.Pods, "") != nil || !l.whole {
		part = " were read, the others are not known"
	}
	seen := map[string]bool{}
	for _, p := range list {
		seen[p.Namespace] = true
	}
	return list, "in " + counted(len(seen), "namespace", "namespaces") + part
}

// worstPod is the pod of a list whose deletion does most, those of etcd and of the machine config server first.
func (l *look) worstPod(ctx context.Context, c *shellcommand.Call, list []*evidence.Object) (worst *decision, name string) {
	first := []string{openshift.MachineConfigNamespace, openshift.EtcdNamespace}
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b *evidence.Object) int {
		return slices.Index(first, b.Namespace) - slices.Index(first, a.Namespace)
	})
	worst = &decision{verdict: Reads}
	for _, p := range sorted {
		one, err := l.deletePod(ctx, c, p, list)
		if err == nil && one.verdict.rank() > worst.verdict.rank() {
			worst, name = one, p.Namespace+"/"+p.Name
		}
	}
	return worst, name
}

// deleteEveryPod judges the deletion of pods in all namespaces: what is lost of the worst of them, and how many.
func (l *look) deleteEveryPod(ctx context.Context, c *shellcommand.Call) (*decision, error) {
	all, where := l.podsOfCluster(ctx)
	selector, selected := c.Flag("-l", "--selector")
	var list []*evidence.Object
	for _, p := range all {
		if !selected || matchesLabels(p, selector) {
			list = append(list, p)
		}
	}
	if _, fields := c.Flag("--field-selector"); fields {
		return nil, errFields
	}
	if selected && len(list) == 0 {
		return nil, &notThere{what: "pod", name: "that fits the selector"}
	}
	d := &decision{verdict: Unsafe, objects: refs(list), undo: "none: the owners create new pods, where there are any; a pod without an owner is gone",
		lost: "what pods have on emptyDir volumes, and pods without an owner; no PodDisruptionBudget is asked",
		why:  "it deletes the pods of every namespace at once, those of the network and of all operators too",
		instead: []string{"oc delete pod NAME -n NAMESPACE, for the one that is wrong",
			"oc adm drain NODE --ignore-daemonsets asks the PodDisruptionBudgets, a node at a time"}}
	worst, name := l.worstPod(ctx, c, list)
	if selected {
		d.verdict = worst.verdict
		d.why = "the worst of " + counted(len(list), "pod", "pods") + " " + where + ": " + name + ": " + worst.why
		d.evidence = worst.evidence
		return d, nil
	}
	if len(list) > 0 {
		d.why = fmt.Sprintf("it deletes the pods of every namespace at once, those of the network and of all operators too (%s %s)",
			counted(len(list), "pod", "pods"), where)
	}
	if worst.verdict.rank() >= Unknown.rank() {
		d.why += ". The worst of them: " + name + ": " + worst.why
		d.evidence = worst.evidence
	}
	return d, nil
}
