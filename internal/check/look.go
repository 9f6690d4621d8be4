package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// look is the state in which a command is judged.
type look struct {
	w        *facts.World
	d        *diagnosis.Diagnosis
	whole    bool // a list of the source is that of the whole cluster
	asked    time.Time
	howToGet func(evidence.Supply) string // nil: nothing is known to
}

// notThere is the error of an object that was looked for and not found.
type notThere struct{ what, name, namespace string }

// Error implements error.
func (e *notThere) Error() string {
	if e.namespace != "" {
		return fmt.Sprintf("there is no %s %s in namespace %s of what was read: check both names and the cluster", e.what, e.name, e.namespace)
	}
	return fmt.Sprintf("there is no %s %s in what was read: check the name and the cluster", e.what, e.name)
}

// undecided is the error of a question that no source answers.
type undecided struct{ says, supply string }

// Error implements error.
func (e *undecided) Error() string { return e.says }

func undecidedf(format string, args ...any) error {
	return &undecided{says: fmt.Sprintf(format, args...)}
}

// words are how kinds are written in sentences.
var words = map[evidence.Resource]string{
	evidence.Pods: "pod", evidence.Nodes: "node", evidence.Machines: "machine", evidence.MachineSets: "MachineSet", evidence.BareMetalHosts: "BareMetalHost",
	evidence.CSRs: "certificate request", evidence.Secrets: "Secret", evidence.MachineConfigPools: "pool", evidence.MachineConfigs: "MachineConfig",
	evidence.HostedClusters: "HostedCluster", evidence.NodePools: "NodePool", evidence.DaemonSets: "DaemonSet", evidence.Deployments: "Deployment",
}

// one returns the object of a name; namespace is "" where the command has none.
func (l *look) one(ctx context.Context, r evidence.Resource, namespace, name string) (*evidence.Object, error) {
	list, err := l.some(ctx, r, namespace)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(o *evidence.Object) bool { return o.Name == name })
	if i < 0 {
		if u := l.partial(ctx, r, namespace); u != nil {
			return nil, u
		}
		return nil, &notThere{words[r], name, namespace}
	}
	return list[i], nil
}

// some returns the objects that could be read. A kind that the API does not have has none.
func (l *look) some(ctx context.Context, r evidence.Resource, namespace string) ([]*evidence.Object, error) {
	list, err := l.read(ctx, r, namespace)
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotServed {
		return nil, nil
	}
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotCollected && l.others(ctx) {
		return nil, nil // the cluster was read, and the source has nothing of the kind
	}
	return list, err
}

// read returns the objects of a kind that could be read.
func (l *look) read(ctx context.Context, r evidence.Resource, namespace string) ([]*evidence.Object, error) {
	list, err := l.w.Some(ctx, r, namespace)
	return pointers(list), err
}

// all returns the objects of a kind; where only some could be read it is an error.
func (l *look) all(ctx context.Context, r evidence.Resource, namespace string) ([]*evidence.Object, error) {
	list, err := l.w.List(ctx, r, namespace)
	return pointers(list), err
}

func pointers(list []evidence.Object) []*evidence.Object {
	out := make([]*evidence.Object, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// others reports whether anything of the cluster was read: its Nodes.
func (l *look) others(ctx context.Context) bool {
	list, err := l.read(ctx, evidence.Nodes, "")
	return err == nil && len(list) > 0
}

// partial is why a list is not whole, nil where it is.
func (l *look) partial(ctx context.Context, r evidence.Resource, namespace string) error {
	_, err := l.all(ctx, r, namespace)
	if u, ok := evidence.AsUnavailable(err); ok && u.Why != evidence.NotServed && u.Why != evidence.NotCollected {
		return u
	}
	return nil
}

// target is one name that a command is about.
type target struct{ kind, name string }

// targets are the kinds and names behind a verb: "node w0 w1", "node/w0 pod/x".
func targets(args []string) (list []target) {
	kind := ""
	for _, a := range args {
		k, name, slash := strings.Cut(a, "/")
		switch {
		case slash:
			list = append(list, target{singular(k), name})
		case kind == "":
			kind = singular(a)
		default:
			list = append(list, target{kind, a})
		}
	}
	if len(list) == 0 && kind != "" {
		list = append(list, target{kind: kind})
	}
	return list
}

// kinds are the names of kinds as people type them.
var kinds = map[string]string{
	"no": "node", "nodes": "node", "po": "pod", "pods": "pod", "machines": "machine", "bmhs": "bmh", "baremetalhost": "bmh", "baremetalhosts": "bmh",
	"machinesets": "machineset", "certificatesigningrequest": "csr", "certificatesigningrequests": "csr", "csrs": "csr", "secrets": "secret",
	"machineconfigpool": "mcp", "machineconfigpools": "mcp", "machineconfig": "mc", "machineconfigs": "mc", "mcps": "mcp", "np": "nodepool",
	"nodepools": "nodepool", "hc": "hostedcluster", "hostedclusters": "hostedcluster", "deploy": "deployment", "deployments": "deployment",
	"ds": "daemonset", "daemonsets": "daemonset", "sts": "statefulset", "statefulsets": "statefulset", "rs": "replicaset", "replicasets": "replicaset",
	"ns": "namespace", "namespaces": "namespace", "project": "namespace", "projects": "namespace", "pvcs": "pvc", "persistentvolumeclaim": "pvc",
	"persistentvolumeclaims": "pvc", "cm": "configmap", "configmaps": "configmap", "pdbs": "pdb", "poddisruptionbudget": "pdb",
	"poddisruptionbudgets": "pdb", "mhc": "machinehealthcheck", "machinehealthchecks": "machinehealthcheck",
}

func singular(kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	if one, ok := kinds[kind]; ok {
		return one
	}
	return kind
}

// is makes a matcher of a verb of oc on one of some kinds.
func is(kind string, verbs ...string) func(*shellcommand.Call) bool {
	return func(c *shellcommand.Call) bool {
		if c.Program != "oc" || len(c.Args) < 2 || !slices.Contains(verbs, c.Args[0]) {
			return false
		}
		return slices.ContainsFunc(targets(c.Args[1:]), func(t target) bool { return t.kind == kind })
	}
}

// picked are the objects of a kind that a call is about: by name, selector, --all, or the list that
// its words come from.
func (l *look) picked(ctx context.Context, r evidence.Resource, c *shellcommand.Call, args []string) ([]*evidence.Object, error) {
	if c.Open {
		if c.Of == nil {
			return nil, errOpen
		}
		return l.picked(ctx, r, c.Of, c.Of.Args[1:])
	}
	namespace := c.Value("-n", "--namespace")
	if _, fields := c.Flag("--field-selector"); fields {
		return nil, errFields
	}
	selector, selected := c.Flag("-l", "--selector")
	var list []*evidence.Object
	for _, t := range targets(args) {
		if t.name != "" {
			o, err := l.one(ctx, r, namespace, t.name)
			if err != nil {
				return nil, err
			}
			list = append(list, o)
			continue
		}
		all, err := l.some(ctx, r, namespace)
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			if (!selected || matchesLabels(o, selector)) && (namespace == "" || o.Namespace == namespace) {
				list = append(list, o)
			}
		}
	}
	if len(list) == 0 {
		return nil, &notThere{what: words[r], name: "that fits the command"}
	}
	return list, nil
}

// The errors of a command that does not say itself what it is about.
var (
	errOpen   = undecidedf("which objects it hits is not in its text (a variable, or a list that something filters): give the command with the names")
	errFields = undecidedf("which objects --field-selector picks is not known: give the command with the names")
)

// matchesLabels evaluates the equality terms of a selector; a term of another form picks nothing.
func matchesLabels(o *evidence.Object, selector string) bool {
	for _, term := range strings.Split(selector, ",") {
		key, want, equal := strings.Cut(strings.ReplaceAll(term, "==", "="), "=")
		key, not := strings.CutSuffix(strings.TrimSpace(key), "!")
		have, ok := o.Label(key)
		if not == (ok && (!equal || have == want)) {
			return false
		}
	}
	return true
}

// refOf names an object.
func refOf(o *evidence.Object) string {
	kind := strings.ReplaceAll(words[o.Resource], " ", "-")
	if o.Resource == evidence.CSRs {
		kind = "csr"
	}
	if o.Namespace != "" {
		return fmt.Sprintf("%s/%s -n %s", kind, o.Name, o.Namespace)
	}
	return kind + "/" + o.Name
}

func refs(list []*evidence.Object) (out []string) {
	for _, o := range list {
		out = append(out, refOf(o))
	}
	return out
}

// ready reports whether a Node or a pod says that it is Ready.
func ready(o *evidence.Object) bool {
	list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, c := range list {
		m, _ := c.(map[string]any)
		if m["type"] == "Ready" {
			return m["status"] == "True"
		}
	}
	return false
}

func control(node *evidence.Object) bool {
	_, master := node.Label(openshift.MasterLabel)
	_, plane := node.Label(openshift.ControlPlaneLabel)
	return master || plane
}

func cordoned(node *evidence.Object) bool {
	return evidence.Field(node.Content, "spec", "unschedulable") == true
}

// reports is how a kubelet's lease stands: two minutes are twelve missed renewals.
const reportsWithin = 2 * time.Minute

// silence is for how long a node's kubelet has not renewed its lease; 0 where it reports.
func (l *look) silence(ctx context.Context, node string) (time.Duration, evidence.Item, error) {
	leases, err := l.read(ctx, evidence.Leases, corev1.NamespaceNodeLease)
	if err != nil {
		return 0, evidence.Item{}, err
	}
	for _, o := range leases {
		if o.Name != node {
			continue
		}
		renewed := evidence.Time(o.Content, "spec", "renewTime")
		item := o.Shows("spec.renewTime", "lease of "+node+" renewed at "+renewed.UTC().Format(time.RFC3339), renewed)
		if ago := l.d.Now.Sub(renewed); renewed.IsZero() || ago > reportsWithin {
			return ago, item, nil
		}
		return 0, item, nil
	}
	if u := l.partial(ctx, evidence.Leases, corev1.NamespaceNodeLease); u != nil {
		return 0, evidence.Item{}, u
	}
	return 0, evidence.Item{}, &evidence.Unavailable{Need: evidence.Objects(evidence.Leases, corev1.NamespaceNodeLease), Why: evidence.NotCollected,
		Detail: "the lease of " + node + " is not there"}
}

// busy is why a control-plane node other than one is not at rest, "" where all are.
func (l *look) busy(ctx context.Context, but string) (string, error) {
	list, err := l.all(ctx, evidence.Nodes, "")
	if err != nil {
		return "", err
	}
	for _, n := range list {
		if n.Name == but || !control(n) {
			continue
		}
		state := n.Annotation(openshift.ConfigStateAnnotation)
		switch {
		case !ready(n):
			return n.Name + " is not Ready", nil
		case state == "Working" || state == "Rebooting" || cordoned(n):
			return n.Name + " is being updated, or is cordoned", nil
		}
	}
	return "", nil
}

// present returns a finding of the diagnosis that is present.
func (l *look) present(id string) (diagnosis.Finding, bool) {
	i := slices.IndexFunc(l.d.Findings, func(f diagnosis.Finding) bool { return f.Fault == id && f.Outcome == fault.Present })
	if i < 0 {
		return diagnosis.Finding{}, false
	}
	return l.d.Findings[i], true
}

// pending are the requests that wait.
func (l *look) pending(ctx context.Context) ([]csrs.Request, error) {
	all, err := csrs.All(ctx, l.w)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(r csrs.Request) bool { return r.State != csrs.Pending }), nil
}
