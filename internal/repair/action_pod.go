package repair

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

const replaceInstaller = "replace-installer-pod"

// hangsAfter is how old an installer pod is before it counts as one that hangs: it usually
// runs for less than a minute, and the operator complains after five
// (openshift/library-go: pkg/operator/staticpod/controller/installerstate/installer_state_controller.go
// maxToleratedPodPendingDuration).
const hangsAfter = 10 * time.Minute

// installerName is the name of an installer pod, with the revision and the node
// (openshift/library-go: pkg/operator/staticpod/controller/installer/installer_controller.go getInstallerPodName).
var installerName = regexp.MustCompile(`^installer-(\d+)-(?:retry-\d+-)?(.+)$`)

// replacePod deletes one installer pod that hangs. Its operator takes a pod that is gone before
// it ended as one that never was, and creates a new one; it deletes such a pod itself only where a
// newer revision waits (openshift/library-go:
// pkg/operator/staticpod/controller/installer/installer_controller.go newNodeStateForInstallInProgress).
func replacePod() action {
	return action{
		check: func(s Step) error {
			if s.Args.Remedy != replaceInstaller || operatorOf(s.Args.Namespace) == "" {
				return fmt.Errorf("args: %s in namespace %q is none that is replaced", s.Args.Remedy, s.Args.Namespace)
			}
			if m := installerName.FindStringSubmatch(s.Args.Object); m == nil || m[2] != s.Args.Host {
				return fmt.Errorf("args.object %q is not an installer pod of node %q", s.Args.Object, s.Args.Host)
			}
			return need(map[string]string{"host": s.Args.Host})
		},
		prepare: prepareReplace,
		seen:    replaced,
		dependants: func(context.Context, *run, Step, Write) (string, error) {
			return "the operator has made another pod", nil
		},
	}
}

// operatorOf is the operator whose pods are in the namespace; "" for others.
func operatorOf(namespace string) string {
	name, _ := strings.CutPrefix(namespace, "openshift-")
	if operands[name] == "" || name == namespace {
		return ""
	}
	return name
}

func prepareReplace(ctx context.Context, r *run, s Step) (*act, string, error) {
	o, err := r.read(ctx, operandRef(operatorOf(s.Args.Namespace)))
	if err != nil {
		return nil, "", err
	}
	ref := podRef(s.Args.Namespace, s.Args.Object)
	pod, err := r.API.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		return nil, "pod " + s.Args.Object + " is gone", nil
	case err != nil:
		return nil, "", refuse("%s could not be read: %v", ref, err)
	}
	if why := notHanging(o, pod, r.Clock.Now()); why != "" {
		return nil, "", refuse("%s: %s", ref, why).instead("look again with `rollcall diagnose`")
	}
	node, err := r.read(ctx, nodeRef(s.Args.Host))
	if err != nil {
		return nil, "", err
	}
	if c := conditionOf(node, "Ready"); c == nil || c["status"] != "True" {
		return nil, "", refuse("node %s is not Ready: a new pod would hang there, too", s.Args.Host).instead("repair the node first")
	}
	return r.deleteAct(ref, pod)
}

// notHanging says why an installer pod is not one that hangs; "" where it is. Only the pod of
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
	v, _ := fieldAt(operator, "/status/nodeStatuses")
	nodes, _ := v.([]any)
	i := slices.IndexFunc(nodes, func(n any) bool { o, _ := n.(map[string]any); return o["nodeName"] == m[2] })
	if i < 0 {
		return "the operator has no status of node " + m[2]
	}
	n, _ := nodes[i].(map[string]any)
	switch current, target := intAt(n, "currentRevision"), intAt(n, "targetRevision"); {
	case target != revision || target <= current:
		return fmt.Sprintf("node %s is not being moved to revision %d (current %d, target %d)", m[2], revision, current, target)
	case newest != target:
		return fmt.Sprintf("revision %d waits; the operator then replaces the pod itself", newest)
	}
	return ""
}

// replaced waits until another pod of that name is there, or the node has its revision.
func replaced(ctx context.Context, r *run, s Step) (bool, string, error) {
	pod, err := r.API.Get(ctx, podRef(s.Args.Namespace, s.Args.Object))
	switch {
	case err == nil && slices.Contains(uidsOf(s), stringAt(pod, "metadata", "uid")):
		return false, "pod " + s.Args.Object + " has not ended yet", nil
	case err == nil:
		return true, "", nil
	case !apierrors.IsNotFound(err):
		return false, fmt.Sprintf("pod %s could not be read: %v", s.Args.Object, err), nil
	}
	o, err := r.API.Get(ctx, operandRef(operatorOf(s.Args.Namespace)))
	if err != nil {
		return false, fmt.Sprintf("the operator's object could not be read: %v", err), nil
	}
	return rollsOut(o) == "", "the operator has not made another pod yet", nil
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

// installers plans the replacement of the installer pods that hang.
func (b *building) installers(ctx context.Context) error {
	for _, k := range b.remedies[replaceInstaller] {
		if k.Subject.Kind != fault.Operator || operands[k.Subject.Name] == "" {
			return fmt.Errorf("%s runs no static pods", k.Subject)
		}
		namespace := "openshift-" + k.Subject.Name
		o, err := b.API.Get(ctx, operandRef(k.Subject.Name))
		if err != nil {
			return fmt.Errorf("read the operator of %s: %w", k.Subject.Name, err)
		}
		pods, err := b.API.List(ctx, podRef(namespace, ""))
		if err != nil {
			return fmt.Errorf("list pods of %s: %w", namespace, err)
		}
		found := false
		for _, p := range pods {
			if notHanging(o, p, b.Clock.Now()) != "" {
				continue
			}
			name := stringAt(p, "metadata", "name")
			rd, err := reading(podRef(namespace, name), p, podFields()...)
			if err != nil {
				return err
			}
			found = true
			b.add(Step{Action: ReplacePod, Reads: []Reading{rd}, While: []fault.Key{k}, Deadline: minutes(10),
				Args: Args{Remedy: replaceInstaller, Namespace: namespace, Object: name, Host: installerName.FindStringSubmatch(name)[2]}})
		}
		if !found {
			b.open("%s is not in this plan: no installer pod of %s hangs for more than %v at the revision that its node waits for", replaceInstaller, k.Subject.Name, hangsAfter)
		}
	}
	return nil
}
