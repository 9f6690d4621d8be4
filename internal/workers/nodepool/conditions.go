package nodepool

import (
	"cmp"
	"slices"
	"strings"

	hostedfacts "github.com/rollcall-project/rollcall/internal/facts/hosted"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Outlook says what becomes of a condition.
type Outlook string

// The outlooks.
const (
	Good    Outlook = "good"
	Waiting Outlook = "waiting" // it becomes good when what it waits for is there
	Refused Outlook = "refused" // somebody has to change something first
	Normal  Outlook = "normal"  // it is bad by its status, and always so on platform None
)

// Reading is a condition of a NodePool of platform None and what it means there.
type Reading struct {
	Type    string
	Status  string
	Message string // the controller's
	Outlook Outlook
	Means   string
	Next    string // Wake, or "" where nothing but waiting is left
}

// Wake is to change the NodePool in a way that means nothing, so that its controller looks again.
const Wake = "wake"

// Text is the condition in one line.
func (r Reading) Text() string {
	text := r.Type + " is " + cmp.Or(r.Status, "not set")
	if r.Outlook == Good {
		return text
	}
	if r.Message != "" {
		text += " (" + r.Message + ")"
	}
	if r.Means != "" {
		text += ": " + r.Means
	}
	return text
}

// condition is a condition as the object has it.
type condition struct{ kind, status, reason, message string }

// rule is what is known of a condition. bad decides; nil is everything but True.
type rule struct {
	kind string
	read func(c condition) Reading
}

// rules are the conditions that decide whether a machine can be made, in the order in which the
// controller sets them (hypershift-operator/controllers/nodepool/conditions.go and reconcile's
// signalConditions from 4.18, nodepool_controller.go reconcile before). The types are in every release
// from 4.12 on, but ValidArchPlatform (from 4.14) and SupportedVersionSkew (from 4.21)
// (api/hypershift/v1beta1/nodepool_conditions.go).
var rules = []rule{
	{"UpdateManagementEnabled", refused("spec.management is not accepted. The controller stops here, and the upgrade type cannot be changed: delete the " +
		"NodePool and declare it again")}, // validateManagement: the pass ends
	{"ValidReleaseImage", refused("the release image cannot be read with the HostedCluster's pull secret from the management cluster, or its version " +
		"does not fit. The controller stops here and tries again")}, // releaseImageCondition: the pass ends
	// It is set only while it is bad.
	{"IgnitionEndpointAvailable", waiting("the hosted control plane has not published its ignition endpoint, or not made its CA yet")},
	{"ValidArchPlatform", arch},
	{"ReconciliationActive", refused("the NodePool is paused: remove spec.pausedUntil")},
	// supportedVersionSkewCondition returns no result: the pass goes on.
	{"SupportedVersionSkew", normal("the release is newer than the hosted control plane or more than three minor versions older, which is not supported; " +
		"it stops nothing")},
	{"ValidMachineConfig", machineConfig},
	{"ValidGeneratedPayload", payload},
	// createReachedIgnitionEndpointCondition: False until a machine has fetched the payload of this config.
	{"ReachedIgnitionEndpoint", normal("no machine has fetched its config yet")},
	// setAllMachinesReadyCondition, setAllNodesHealthyCondition: NotFound where there are no Machines.
	{"AllMachinesReady", normal("HyperShift makes no Machines on platform None")},
	{"AllNodesHealthy", normal("HyperShift makes no Machines on platform None")},
}

func always(o Outlook, means string) func(condition) Reading {
	return func(c condition) Reading {
		r := Reading{Type: c.kind, Status: c.status, Message: c.message, Outlook: Good}
		if c.status != "True" {
			r.Outlook, r.Means = o, means
		}
		return r
	}
}

func refused(means string) func(condition) Reading { return always(Refused, means) }
func waiting(means string) func(condition) Reading { return always(Waiting, means) }
func normal(means string) func(condition) Reading  { return always(Normal, means) }

// arch: the table of architectures stops nothing in any release; a payload of another architecture does
// (validateHCPayloadSupportsNodePoolCPUArch, from 4.17).
func arch(c condition) Reading {
	switch {
	case hostedfacts.ArchFalseAlarm(c.kind, c.message):
		return normal("a false alarm of 4.16: it asks for the architecture that there is, and user-data is written all the same")(c)
	case strings.Contains(c.message, "is not supported for platform"):
		return normal("this release knows the architecture on other platforms only; user-data is written all the same")(c)
	}
	return refused("the payload of the hosted control plane has not this architecture. Declare the NodePool with the one that it has, or give the " +
		"HostedCluster a multi-arch release image")(c)
}

// machineConfig: a NodePool without config of its own waits for the core ConfigMaps of the control plane
// operator. When these come late they do not wake it: the controller looks for NodePools in the
// ConfigMap's namespace, which is the control plane's (enqueueNodePoolsForConfig, 4.16 to 4.22). The
// messages: nodepool_controller.go reconcile up to 4.17, config.go MissingCoreConfigError from 4.18.
func machineConfig(c condition) Reading {
	r := refused("the config of the NodePool is not accepted")(c)
	if r.Outlook == Refused && (strings.Contains(c.message, "Core ignition config has not been created yet") ||
		strings.Contains(c.message, "core ignition configs, found")) {
		r.Outlook, r.Means = Waiting, "the control plane operator has not made its core configs (ConfigMaps with the label "+
			openshift.HyperShiftGroup+"/core-ignition-config). Where they are there, nothing wakes the NodePool but a change of it"
		r.Next = Wake
	}
	return r
}

// payload: the condition is made from the token Secret, before the pass that makes the Secret
// (createValidGeneratedPayloadCondition): NotFound first, then Unknown until the ignition server has
// answered, and the empty status where it failed.
func payload(c condition) Reading {
	r := Reading{Type: c.kind, Status: c.status, Message: c.message, Outlook: Waiting}
	switch {
	case c.status == "True":
		r.Outlook = Good
	case c.reason == "NotFound":
		r.Message, r.Means = "", "the token Secret is not made yet"
	case c.status == "Unknown":
		r.Message, r.Means = "", "the ignition server has not built the payload yet"
	default:
		r.Status = cmp.Or(c.status, "failed")
		r.Means = "the ignition server could not build the payload and tries again; the message has what is missing"
	}
	return r
}

// Read reads the conditions of a NodePool, those that matter for a machine first and in the order of the
// controller. Conditions that are not known here and are not True follow as they are.
func Read(pool map[string]any) []Reading {
	have := conditionsOf(pool)
	var list []Reading
	known := []string{ // their False is normal, or they mean nothing on platform None (conditions.go)
		"AutoscalingEnabled", "UpdatingConfig", "UpdatingVersion", "UpdatingPlatformMachineTemplate", "AutorepairEnabled", "Ready",
		"ClusterNetworkCIDRConflict", "AWSResourceTagConflict",
	}
	for _, r := range rules {
		known = append(known, r.kind)
		for _, c := range have {
			if c.kind == r.kind {
				list = append(list, r.read(c))
			}
		}
	}
	for _, c := range have {
		if !slices.Contains(known, c.kind) && c.status == "False" {
			list = append(list, Reading{Type: c.kind, Status: c.status, Message: c.message, Outlook: Waiting})
		}
	}
	return list
}

func conditionsOf(pool map[string]any) []condition {
	entries, _ := evidence.Field(pool, "status", "conditions").([]any)
	var list []condition
	for _, e := range entries {
		m, _ := e.(map[string]any)
		list = append(list, condition{evidence.String(m, "type"), evidence.String(m, "status"), evidence.String(m, "reason"), evidence.String(m, "message")})
	}
	return list
}

// State is how far a NodePool is on its way to its first machine.
type State struct {
	Readings []Reading
	Config   string // that new machines get; "" where there is none yet
	Built    bool   // its payload is
}

// StateOf reads a NodePool.
func StateOf(pool map[string]any) State {
	s := State{Readings: Read(pool), Config: evidence.String(pool, "metadata", "annotations", openshift.NodePoolConfigAnnotation)}
	s.Built = slices.ContainsFunc(s.Readings, func(r Reading) bool { return r.Type == "ValidGeneratedPayload" && r.Outlook == Good })
	return s
}

// Blocking are the readings of one outlook.
func (s State) Blocking(o Outlook) []Reading {
	return slices.DeleteFunc(slices.Clone(s.Readings), func(r Reading) bool { return r.Outlook != o })
}

// Untouched reports whether no controller has looked at the NodePool yet.
func (s State) Untouched() bool { return len(s.Readings) == 0 && s.Config == "" }
