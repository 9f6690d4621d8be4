package stages

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/facts/pools"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

type bmh = inventory.BMH

// Short names of what the stages compare with.
const (
	clientRequest   = csrs.Client
	servingRequest  = csrs.Serving
	pendingRequest  = csrs.Pending
	approvedRequest = csrs.Approved
	issuedRequest   = csrs.Issued
)

// afterNode is what every stage of a registered node says first: whether there is
// a Node that still reports.
func (v *view) afterNode() (diagnosis.StageState, bool) {
	n := v.host.Node
	switch {
	case n == nil && v.nodesUnread() != nil:
		return unknown(v.nodesUnread().Error()), false
	case n == nil:
		return waiting(time.Time{}, "comes after the Node"), false
	case v.stale:
		return unknown("the Node has not reported since " + v.lastSeen.UTC().Format(time.RFC3339)), false
	}
	return diagnosis.StageState{}, true
}

// networkReady: the container runtime has a network. The kubelet reports its
// absence in the Ready condition (kubernetes/kubernetes:pkg/kubelet/runtime.go).
func (v *view) networkReady() diagnosis.StageState {
	if s, ok := v.afterNode(); !ok {
		return s
	}
	c := condition(v.host.Node.API.Status.Conditions, corev1.NodeReady)
	if c == nil {
		return v.withoutReady()
	}
	proof := v.conditionItem(c)
	switch {
	case c.Status == corev1.ConditionTrue:
		return passed(time.Time{}, proof)
	case strings.Contains(c.Message, "NetworkPluginNotReady") || strings.Contains(c.Message, "NetworkReady=false"):
		return waiting(c.LastTransitionTime.Time, "the network plugin is not ready", proof)
	}
	if c.Reason == "" {
		return unknown("the Node is not Ready, and its reason was not read")
	}
	return unknown("the Node is not Ready for another reason: " + c.Reason)
}

// withoutReady is the state of a Node without the condition Ready. A kubelet registers its Node with all its conditions
// at once (kubernetes/kubernetes:pkg/kubelet/kubelet_node_status.go initialNode), so a Node without any was cut, or no
// kubelet made it: nothing shows that it waits.
func (v *view) withoutReady() diagnosis.StageState {
	if len(v.host.Node.API.Status.Conditions) == 0 {
		return unknown("the Node has no conditions: its status was left out, or no kubelet has reported")
	}
	return waiting(time.Time{}, "the Node has no Ready condition yet")
}

func (v *view) conditionItem(c *corev1.NodeCondition) evidence.Item {
	text := fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason)
	if c.Status != corev1.ConditionTrue && c.Message != "" {
		text += ": " + c.Message
	}
	return item(v.host.Node.Loc, "status.conditions["+string(c.Type)+"]", text, c.LastTransitionTime.Time)
}

// ready: the kubelet reports Ready, and still reports.
func (v *view) ready() diagnosis.StageState {
	if v.host.Node != nil && v.stale {
		c := condition(v.host.Node.API.Status.Conditions, corev1.NodeReady)
		why := "it has not reported since " + v.lastSeen.UTC().Format(time.RFC3339)
		if c == nil {
			return failed(v.lastSeen, why)
		}
		return failed(v.lastSeen, why, v.conditionItem(c))
	}
	if s, ok := v.agentDone(); ok {
		return s
	}
	if s, ok := v.afterNode(); !ok {
		return s
	}
	c := condition(v.host.Node.API.Status.Conditions, corev1.NodeReady)
	switch {
	case c == nil:
		return v.withoutReady()
	case c.Status == corev1.ConditionTrue:
		return passed(c.LastTransitionTime.Time, v.conditionItem(c))
	}
	return waiting(c.LastTransitionTime.Time, "NotReady: "+c.Reason, v.conditionItem(c))
}

// requestTimeout is how long a kubelet waits for one request before it files the next
// (kubernetes/client-go:util/certificate/certificate_manager.go).
const requestTimeout = 15 * time.Minute

// servingCert: the kubelet's own endpoint has a certificate. Requests that were
// answered are deleted after an hour, those that wait are kept for a day, and a
// kubelet without a certificate asks again and again: so where no request is kept
// for a node that is old enough to have asked twice, none is wanted.
func (v *view) servingCert() diagnosis.StageState {
	if s, ok := v.afterNode(); !ok {
		return s
	}
	r := v.last(servingRequest)
	if r == nil {
		if v.noCSRs != nil {
			return unknown(v.noCSRs.Error())
		}
		if created := v.host.Node.API.CreationTimestamp.Time; v.now.Sub(created) < 2*requestTimeout {
			return waiting(created, "no request for a serving certificate yet")
		}
		return passed(time.Time{}, item(v.host.Node.Loc, "",
			"no request for a serving certificate waits, and a kubelet without one would ask every 15 minutes", time.Time{}))
	}
	proof := item(r.Loc, "status.conditions", "serving request "+string(r.State), r.Created)
	switch r.State {
	case issuedRequest:
		return passed(r.Approval.At, proof)
	case pendingRequest:
		return waiting(r.Created, "request "+r.Name+" waits for approval", proof)
	case approvedRequest:
		return waiting(r.Approval.At, "request "+r.Name+" is approved and not signed", proof)
	}
	return failed(r.Created, "request "+r.Name+" was "+string(r.State), proof)
}

// controlPlane reports whether the host runs the control plane.
func (v *view) controlPlane() bool {
	return slices.Contains(controlPlaneRoles, v.host.Role)
}

var controlPlaneRoles = []string{"master", "control-plane", "arbiter"}

// etcdMember: the mirror pod of etcd is there and ready. It proves that the
// container runs, not that the member has joined; that is a fact of its own. Where the
// operator counts a member for every host of the control plane, and all of them answer
// it, this one does, whatever is known of its pod.
func (v *view) etcdMember() diagnosis.StageState {
	s := v.staticPod(openshift.EtcdNamespace, "etcd-")
	if open := s.State == diagnosis.StageWaiting || s.State == diagnosis.StageUnknown; open && v.members > 0 && v.members >= v.masters() {
		if _, reports := v.afterNode(); reports {
			return impliedBy(v.said)
		}
	}
	return s
}

// impliedBy is a stage that passed by what an operator counts: the pod itself was not read.
func impliedBy(counted evidence.Item) diagnosis.StageState {
	s := passed(time.Time{}, counted)
	s.Why = "implied by " + counted.Excerpt
	return s
}

// staticPods: the mirror pod of the API server is there and ready; where pods were not
// collected, its operator counts as many nodes as there are.
func (v *view) staticPods() diagnosis.StageState {
	if v.host.Role == "arbiter" {
		return notApplicable("an arbiter runs etcd only")
	}
	s := v.staticPod(openshift.APIServerNamespace, "kube-apiserver-")
	if s.State == diagnosis.StageUnknown && v.servers > 0 && v.servers >= v.masters() {
		if _, reports := v.afterNode(); reports {
			return impliedBy(v.counts)
		}
	}
	return s
}

func (v *view) staticPod(namespace, prefix string) diagnosis.StageState {
	if !v.controlPlane() {
		return notApplicable("not of the control plane")
	}
	if s, ok := v.afterNode(); !ok {
		return s
	}
	if err := v.noPods[namespace]; err != nil {
		return unknown(err.Error())
	}
	name := prefix + v.host.Node.API.Name
	pod, ok := v.pods[namespace][name]
	if !ok {
		return waiting(time.Time{}, "no mirror pod "+name)
	}
	loc := v.podLocs[namespace+"/"+name]
	since := pod.CreationTimestamp.Time
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return passed(c.LastTransitionTime.Time, item(loc, "status.conditions[Ready]", "pod "+name+" is Ready", c.LastTransitionTime.Time))
		}
		if c.Type == corev1.PodReady && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime.Time
		}
	}
	return waiting(since, "pod "+name+" is not Ready", item(loc, "status.phase", string(pod.Status.Phase), time.Time{}))
}

// configDone: the machine-config-daemon applied the config that the pool wants.
func (v *view) configDone() diagnosis.StageState {
	if s, ok := v.afterNode(); !ok {
		return s
	}
	if s, ok := v.hostedConfig(); ok {
		return s
	}
	notes := v.host.Node.API.Annotations
	current, desired, state := notes[openshift.CurrentConfigAnnotation], notes[openshift.DesiredConfigAnnotation], notes[openshift.ConfigStateAnnotation]
	proof := item(v.host.Node.Loc, "metadata.annotations["+openshift.ConfigStateAnnotation+"]", state, time.Time{})
	switch {
	case state == "" && notes[evidence.PartMark] != "":
		return unknown("only some fields of the Node were pasted")
	case state == "" && current == "" && !pools.OfOpenShift(v.version, maps.Keys(notes)) && !pools.OfOpenShift("", maps.Keys(v.host.Node.API.Labels)):
		return unknown("nothing shows that the Node is of an OpenShift cluster")
	case state == "" || current == "":
		return waiting(v.host.Node.API.CreationTimestamp.Time, "the machine-config-daemon has not reported yet")
	case state == "Degraded" || state == "Unreconcilable":
		// The daemon writes no time. A node can have been done for long before.
		return failed(v.degraded[v.host.Pool.Name], state+": "+firstLine(notes[openshift.ConfigReasonAnnotation]), proof)
	case state != "Done" || current != desired:
		return waiting(v.waitsFor(desired, pools.StepSince(&v.host.Node.API)), "state "+state+", going to "+desired, proof)
	}
	if target := v.targets[v.host.Pool.Name]; target != "" && target != current {
		return waiting(v.waitsFor(target, v.updating[v.host.Pool.Name]), "on "+current+", the pool wants "+target, proof)
	}
	return passed(time.Time{}, proof, item(v.host.Node.Loc, "metadata.annotations["+openshift.CurrentConfigAnnotation+"]", current, time.Time{}))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
