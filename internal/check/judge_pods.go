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

var deletesPods = is("pod", "delete")

// pods judge the deletion of pods.
var pods = []Judgment{{
	ID: "delete-pod", Commands: "oc delete pod", Matches: deletesPods,
	Reads: []evidence.Need{evidence.Objects(evidence.Pods, ""), evidence.Objects(evidence.Nodes, "")},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		unnamed := !c.Open && !slices.ContainsFunc(targets(c.Args[1:]), func(t target) bool { return t.name != "" })
		_, selected := c.Flag("-l", "--selector")
		switch {
		case unnamed && everywhere(c):
			return l.deleteEveryPod(ctx, c)
		case unnamed && !selected && c.Value("-n", "--namespace") == "":
			return nil, undecidedf("it hits the current project, and which one that is is not in its text: give -n NAMESPACE")
		}
		list, err := l.picked(ctx, evidence.Pods, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		worst := &decision{verdict: Reads}
		for _, p := range list {
			d, err := l.deletePod(ctx, c, p, list)
			if err != nil {
				return d, err
			}
			if d.verdict.rank() > worst.verdict.rank() {
				worst = d
			}
		}
		worst.objects = refs(list)
		worst.verify = append(worst.verify, "oc get pods -n "+list[0].Namespace+" -w")
		return worst, nil
	},
	Sources: []fault.Ref{
		{Repo: "kubernetes/kubernetes", Path: "pkg/kubelet/pod/mirror_client.go", Symbol: "CreateMirrorPod"},
		{Repo: "openshift/cluster-etcd-operator", Path: "pkg/operator/machinedeletionhooks", Symbol: "attemptToDeleteQuorumGuard"},
	},
}, {
	ID: "restart-workload", Commands: "oc rollout restart, oc scale deployment", Matches: func(c *shellcommand.Call) bool {
		return c.Is("oc", "rollout", "restart") || c.Is("oc", "rollout", "undo") || is("deployment", "scale")(c) || is("statefulset", "scale")(c)
	},
	Decide: func(_ context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		if n := c.Value("--replicas"); n == "0" {
			return &decision{verdict: Unsafe, why: "0 replicas stop what it does until somebody scales it up; an operator may also set it back",
				undo: "scale it to the number that it has now: note that number first"}, nil
		}
		return nil, undecidedf("whether the new pods can start is not judged: their Secrets, images and volumes")
	},
	Sources: []fault.Ref{{Repo: "kubernetes/kubectl", Path: "pkg/cmd/rollout"}},
}}

// deletePod judges the deletion of one pod, with others that go at the same time.
func (l *look) deletePod(ctx context.Context, c *shellcommand.Call, p *evidence.Object, together []*evidence.Object) (*decision, error) {
	node := evidence.String(p.Content, "spec", "nodeName")
	app, _ := p.Label("k8s-app")
	guard, _ := p.Label("app")
	owner, name := ownerOf(p)
	switch {
	case p.Annotation(openshift.MirrorPodAnnotation) != "":
		return &decision{verdict: Safe, why: p.Name + " is a mirror of a static pod: deleting it restarts nothing, the container runs on, and the kubelet " +
			"writes the mirror again. It also repairs nothing", lost: "nothing", instead: []string{"rollcall explain static-pod-missing"},
			evidence: []evidence.Item{p.Shows("metadata.annotations", openshift.MirrorPodAnnotation+" is set", l.d.Now)}}, nil
	case guard == "guard":
		return l.deleteGuard(ctx, p, node)
	case app == openshift.MachineConfigServer:
		return l.deleteMCS(ctx)
	case owner == "":
		return &decision{verdict: Person, why: p.Name + " has no owner: nothing creates it again", lost: "the pod, with what it has on emptyDir volumes",
			instead: []string{"oc get pod " + p.Name + " -n " + p.Namespace + " -o yaml > pod.yaml keeps its definition"}}, nil
	}
	if _, force := c.Flag("--force"); force {
		return l.forcePod(ctx, p, node, owner, name)
	}
	return l.ownedPod(ctx, p, node, owner, name, together)
}

func ownerOf(p *evidence.Object) (kind, name string) {
	list, _ := evidence.Field(p.Content, "metadata", "ownerReferences").([]any)
	for _, o := range list {
		m, _ := o.(map[string]any)
		kind, _ = m["kind"].(string)
		name, _ = m["name"].(string)
	}
	return kind, name
}

// deleteGuard: it comes back, unless its node is cordoned. It is the brake of a drain where a member is away.
func (l *look) deleteGuard(ctx context.Context, p *evidence.Object, node string) (*decision, error) {
	n, err := l.one(ctx, evidence.Nodes, "", node)
	if err != nil {
		return nil, err
	}
	if cordoned(n) {
		return &decision{verdict: Unsafe, why: node + " is cordoned: the guard does not come back, and a drain then goes on although etcd may lose its quorum",
			instead: []string{"find the member that is not ready: the guard waits for it"}}, nil
	}
	why, bad, proof, err := l.oneAway(ctx, node)
	if err != nil {
		return nil, err
	}
	if bad {
		return &decision{verdict: Unsafe, why: "this guard holds drains back, and that is needed now: " + why, evidence: proof,
			instead: []string{"find the member that is not ready: the guard waits for it", "rollcall explain drain-blocked"}}, nil
	}
	return &decision{verdict: Safe, why: "its operator creates it again: " + node + " is not cordoned, and " + why, evidence: proof, lost: "nothing"}, nil
}

// deleteMCS: the new pods mount two Secrets; without one of them they hang in ContainerCreating.
func (l *look) deleteMCS(ctx context.Context) (*decision, error) {
	for _, name := range []string{openshift.MCSCertificate, "node-bootstrapper-token"} {
		_, err := l.one(ctx, evidence.Secrets, openshift.MachineConfigNamespace, name)
		if gone := (*notThere)(nil); asNotThere(err, &gone) {
			if !l.listed(ctx, evidence.Secrets, openshift.MachineConfigNamespace) {
				return nil, undecidedf("the Secret %s is not in the source, which has no list of them", name)
			}
			return &decision{verdict: Unsafe, why: "the Secret " + name + " is missing: the pods do not come back, and no new host can boot",
				lost: "the servers that still run: they hold their copy of the certificate only in memory",
				instead: []string{"bring the Secret back first: oc adm ocp-certificates regenerate-machine-config-server-serving-cert",
					"rollcall explain delete-mcs-tls"},
				evidence: []evidence.Item{evidence.Listed(evidence.Secrets, openshift.MachineConfigNamespace, "no Secret "+name)}}, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return &decision{verdict: Safe, why: "its DaemonSet creates the pods again: the Secrets machine-config-server-tls and node-bootstrapper-token " +
		"exist. It does " +
		"not help where the server has no config to serve", lost: "nothing; hosts that boot at this moment try again"}, nil
}

// forcePod: the object goes without the kubelet.
func (l *look) forcePod(ctx context.Context, p *evidence.Object, node, owner, name string) (*decision, error) {
	d := &decision{verdict: Unsafe, instead: []string{"oc delete pod " + p.Name + " -n " + p.Namespace + " without --force, where the node reports",
		"where the host is proven to be off: oc adm taint node " + node + " node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"}}
	silent, _, err := l.silence(ctx, node)
	if err != nil {
		return nil, err
	}
	on, item, err := l.poweredOn(ctx, node)
	if err != nil {
		return nil, err
	}
	if silent > 0 && !on && item.Locator.Path != "" {
		return &decision{verdict: Safe, why: node + " has not reported for " + ago(silent) + " and its host is switched off: no container of it runs",
			evidence: []evidence.Item{item},
			instead:  []string{"oc adm taint node " + node + " node.kubernetes.io/out-of-service=nodeshutdown:NoExecute also releases its volumes"}}, nil
	}
	if owner == "StatefulSet" {
		d.why = fmt.Sprintf("%s is of StatefulSet %s: a second one starts on the same data while the containers on %s may still run", p.Name, name, node)
		d.lost = "data, if two write to the same volume; that does not come back"
		return d, nil
	}
	d.why = fmt.Sprintf("with --force nobody waits until the containers on %s have stopped", node)
	return d, nil
}

// ownedPod: its owner creates it again; whether that is an outage depends on the others.
func (l *look) ownedPod(ctx context.Context, p *evidence.Object, node, owner, name string, together []*evidence.Object) (*decision, error) {
	undo := fmt.Sprintf("%s %s creates a new one by itself", owner, name)
	if node != "" {
		silent, item, err := l.silence(ctx, node)
		if err != nil {
			return nil, err
		}
		if silent > 0 {
			return &decision{verdict: Unknown, why: fmt.Sprintf("%s has not reported for %s: whether the containers of %s stop is not known", node,
				ago(silent), p.Name),
				evidence: []evidence.Item{item}, instead: []string{"find why " + node + " does not report"}, undo: undo}, nil
		}
	}
	if owner == "DaemonSet" || owner == "Node" || !ready(p) {
		return &decision{verdict: Safe, why: fmt.Sprintf("%s %s creates it again on the same node; %s", owner, name, readyWords(p)), undo: undo,
			lost: "nothing"}, nil
	}
	all, err := l.read(ctx, evidence.Pods, p.Namespace)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		k, n := ownerOf(o)
		if o.Name != p.Name && k == owner && n == name && ready(o) && !slices.ContainsFunc(together,
			func(t *evidence.Object) bool { return t.Name == o.Name }) {
			return &decision{verdict: Safe, why: fmt.Sprintf("%s %s creates it again, and %s is Ready elsewhere (%s)", owner, name, o.Name,
				evidence.String(o.Content, "spec", "nodeName")), undo: undo, lost: "connections to this pod",
				evidence: []evidence.Item{o.Shows("status.conditions", o.Name+" is Ready", l.d.Now)}}, nil
		}
	}
	if u := l.partial(ctx, evidence.Pods, p.Namespace); u != nil {
		return nil, u
	}
	return &decision{verdict: Unsafe, why: fmt.Sprintf("no other pod of %s is Ready: what it serves is away until the new one is, and a "+
		"PodDisruptionBudget is "+
		"not asked", name), undo: undo, instead: []string{"oc rollout restart of its Deployment starts the new one first, where its strategy allows it"}}, nil
}

func readyWords(p *evidence.Object) string {
	if ready(p) {
		return "the node is without it meanwhile"
	}
	return "it is not Ready now"
}

func asNotThere(err error, gone **notThere) bool {
	e, ok := err.(*notThere)
	*gone = e
	return ok
}

// listed reports whether what is not in the list of a kind is known not to be there.
func (l *look) listed(ctx context.Context, r evidence.Resource, namespace string) bool {
	return l.whole || !l.w.Unlisted(ctx, evidence.Objects(r, namespace))
}

// namesOf joins the names of objects.
func namesOf(list []*evidence.Object) string {
	var names []string
	for _, o := range list {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}
