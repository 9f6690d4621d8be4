package repair

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// ReplacePod deletes one installer pod that hangs.
const ReplacePod ActionName = "replace-pod"

const replaceInstaller = "replace-installer-pod"

// hangsAfter is how old an installer pod is before it counts as one that hangs: it usually
// runs for less than a minute, and the operator complains after five
// (openshift/library-go: pkg/operator/staticpod/controller/installerstate/installer_state_controller.go
// maxToleratedPodPendingDuration).
const hangsAfter = 10 * time.Minute

// installerName is the name of an installer pod, with the revision and the node
// (openshift/library-go: pkg/operator/staticpod/controller/installer/installer_controller.go getInstallerPodName).
var installerName = regexp.MustCompile(`^installer-(\d+)-(?:retry-\d+-)?(.+)$`)

// replacePod deletes one installer pod that hangs. Its operator treats a pod that is gone before
// it ended as one that never was, and creates a new one; it deletes such a pod itself only where a
// newer revision waits (openshift/library-go:
// pkg/operator/staticpod/controller/installer/installer_controller.go newNodeStateForInstallInProgress).
func replacePod() action {
	return action{
		name:     ReplacePod,
		remedies: []remedy{{id: replaceInstaller, rights: installerRights()}},
		plan:     planReplace,
		check: func(s Step) error {
			if s.Args.Remedy != replaceInstaller || operatorOf(s.Args.Namespace) == "" {
				return fmt.Errorf("args: %s in namespace %q is none that is replaced", s.Args.Remedy, s.Args.Namespace)
			}
			if m := installerName.FindStringSubmatch(s.Args.Object); m == nil || m[2] != s.Args.Host {
				return fmt.Errorf("args.object %q is not an installer pod of node %q", s.Args.Object, s.Args.Host)
			}
			return need(map[string]string{"host": s.Args.Host})
		},
		remedyOf: func(a Args) string { return a.Remedy },
		guards:   func(a Args) []Guard { return redeployGuards(operatorOf(a.Namespace)) },
		reads: func(a Args) []readRule {
			return []readRule{{object: podRef(a.Namespace, a.Object), fields: podFields()}}
		},
		describe: describeReplace,
		prepare:  prepareReplace,
		seen:     replaced,
		dependants: func(context.Context, env, Step, Write) (string, error) {
			return "the operator has made another pod", nil
		},
		mayCostMember: func(a Args) bool { return a.Namespace == openshift.EtcdNamespace },
	}
}

func installerRights() []Access {
	list := append(access(nodeRef(""), "", "get", "list"), access(etcdRef(), "", "get")...)
	for _, name := range operandNames() {
		list = append(list, access(operandRef(name), "", "get")...)
		list = append(list, access(podRef("openshift-"+name, ""), "", "list", "get", "delete")...)
	}
	return list
}

func prepareReplace(ctx context.Context, e env, s Step) (*act, string, error) {
	o, err := e.read(ctx, operandRef(operatorOf(s.Args.Namespace)))
	if err != nil {
		return nil, "", err
	}
	ref := podRef(s.Args.Namespace, s.Args.Object)
	pod, err := e.api.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		return nil, "pod " + s.Args.Object + " is gone", nil
	case err != nil:
		return nil, "", refuse("%s could not be read: %v", ref, err)
	}
	if why := notHanging(o, pod, e.clock.Now()); why != "" {
		return nil, "", refuse("%s: %s", ref, why).instead("look again with `rollcall diagnose`")
	}
	node, err := e.read(ctx, nodeRef(s.Args.Host))
	if err != nil {
		return nil, "", err
	}
	if !isTrue(node, "Ready") {
		return nil, "", refuse("node %s is not Ready: a new pod would hang there, too", s.Args.Host).instead("repair the node first")
	}
	return e.deletion(ref, pod)
}

// notHanging returns why an installer pod is not one that hangs; "" where it is. Only the pod of
// the revision that its node is being moved to is replaced: of older ones the operator keeps
// what ended, for its logs.
func notHanging(operator, pod Object, now time.Time) string {
	m := installerName.FindStringSubmatch(stringAt(pod, "metadata", "name"))
	if m == nil || stringAt(pod, "metadata", "labels", "app") != "installer" {
		return "it is not an installer pod"
	}
	if at := stringAt(pod, "metadata", "deletionTimestamp"); at != "" {
		return "it is being deleted since " + at + "; the kubelet of its node has to confirm that"
	}
	if phase := stringAt(pod, "status", "phase"); phase != "Pending" && phase != "Running" {
		return "its phase is " + orNone(phase) + ": the operator has what it needs"
	}
	made, err := time.Parse(time.RFC3339, stringAt(pod, "metadata", "creationTimestamp"))
	if err != nil || now.Sub(made) < hangsAfter {
		return fmt.Sprintf("it is not known to be older than %v", hangsAfter)
	}
	revision, _ := strconv.ParseInt(m[1], 10, 64)
	newest := intAt(operator, "status", "latestAvailableRevision")
	nodes := nodeStatuses(operator)
	i := slices.IndexFunc(nodes, func(n Object) bool { return n["nodeName"] == m[2] })
	if i < 0 {
		return "the operator has no status of node " + m[2]
	}
	switch current, target := intAt(nodes[i], "currentRevision"), intAt(nodes[i], "targetRevision"); {
	case target != revision || target <= current:
		return fmt.Sprintf("node %s is not being moved to revision %d (current %d, target %d)", m[2], revision, current, target)
	case newest != target:
		return fmt.Sprintf("revision %d waits; the operator then replaces the pod itself", newest)
	}
	return ""
}

// replaced waits until another pod of that name is there, or the node has its revision.
func replaced(ctx context.Context, e env, s Step) (bool, string, error) {
	pod, err := e.api.Get(ctx, podRef(s.Args.Namespace, s.Args.Object))
	switch {
	case err == nil && slices.Contains(uidsOf(s), stringAt(pod, "metadata", "uid")):
		return false, "pod " + s.Args.Object + " has not ended yet", nil
	case err == nil:
		return true, "", nil
	case !apierrors.IsNotFound(err):
		return false, fmt.Sprintf("pod %s could not be read: %v", s.Args.Object, err), nil
	}
	o, err := e.api.Get(ctx, operandRef(operatorOf(s.Args.Namespace)))
	if err != nil {
		return false, fmt.Sprintf("the operator's object could not be read: %v", err), nil
	}
	return behindNewest(o) == "", "the operator has not made another pod yet", nil
}

func describeReplace(s *Step) {
	name, operator := s.Args.Object, operatorOf(s.Args.Namespace)
	s.Subject, s.Risk, s.Proof = "pods/"+name, fault.RiskRestart, Advice
	s.Title = fmt.Sprintf("delete installer pod %s on %s, which hangs; the operator of %s creates a new one", name, s.Args.Host, operator)
	s.RiskText = "the new pod installs the revision, and the pod of " + operator + " on this one node restarts"
	s.OC = fmt.Sprintf("oc -n %s delete pod %s", s.Args.Namespace, name)
	s.PreImage, s.Inverse = "none: the pod is made by its operator", "none: its operator makes another one"
	s.Expect.Text = "another pod of this name is there, or all nodes have the revision"
}

// planReplace plans the replacement of the installer pods that hang.
func planReplace(ctx context.Context, d *draft) error {
	for _, k := range d.remedies[replaceInstaller] {
		if k.Subject.Kind != fault.Operator || operands[k.Subject.Name] == "" {
			return fmt.Errorf("%s runs no static pods", k.Subject)
		}
		namespace := "openshift-" + k.Subject.Name
		o, err := d.API.Get(ctx, operandRef(k.Subject.Name))
		if err != nil {
			return fmt.Errorf("read the operator of %s: %w", k.Subject.Name, err)
		}
		pods, err := d.API.List(ctx, podRef(namespace, ""))
		if err != nil {
			return fmt.Errorf("list pods of %s: %w", namespace, err)
		}
		found := false
		for _, p := range pods {
			if notHanging(o, p, d.Clock.Now()) != "" {
				continue
			}
			name := stringAt(p, "metadata", "name")
			rd, err := reading(podRef(namespace, name), p, podFields()...)
			if err != nil {
				return err
			}
			found = true
			d.add(Step{Action: ReplacePod, Reads: []Reading{rd}, While: []fault.Key{k}, Deadline: minutes(10),
				Args: Args{Remedy: replaceInstaller, Namespace: namespace, Object: name, Host: installerName.FindStringSubmatch(name)[2]}})
		}
		if !found {
			d.leaveOut("%s is not in this plan: no installer pod of %s hangs for more than %v at the revision that its node waits for",
				replaceInstaller, k.Subject.Name, hangsAfter)
		}
	}
	return nil
}
