package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// change is a remedy that sets or removes fields of one object and leaves the rest to the
// controller of that object. What it writes is derived from the object, never from a plan.
type change struct {
	remedy string // its id in the catalog
	// object is what is changed, by its name; of operands by the name of their operator.
	object   func(name string) Ref
	operands bool // the names are those of the operators of static pods
	hosted   bool // it is for a hosted cluster: see hosted.go
	// fromValue: what a person gives is the object, as NAMESPACE/NAME.
	fromValue bool
	// follows: what it is for ends by itself where the cause of that is changed.
	follows bool
	// reads are the fields that the plan shows and that must be as they were.
	reads []string
	// set are the fields to be written, nil to remove one; an error says why not.
	set func(o Object) (map[string]any, error)
	// with is set for a change that needs more than the object; one of the two is nil.
	with func(o Object, in input) (map[string]any, error)
	// valid judges the value that a person gives; nil: none is needed. flag asks for it.
	valid func(value string) error
	flag  string
	// since is the first version that allows the change; "" for all.
	since string
	// taken is an annotation that the controller removes when it acts; "" for none. The
	// write then has a mark of the plan by which it is recognized.
	taken func(o Object) string
	// effect says whether the controller has followed; nil: the fields alone are the effect.
	effect func(o Object, s Step) (bool, string)
	// keeps says why the change is no longer undone; nil: it always can be.
	keeps    func(o Object) string
	guards   func(name string) []Guard
	risk     fault.Risk
	riskText string
	proof    Grade
	title    string // with %s for the name, as all that follow
	oc       string
	inverse  string
	expect   string
	takes    int // minutes until the effect is seen, at most
	settles  int // minutes until the faults are absent, at most; 0: as for all repairs
}

const (
	pausedKey   = "baremetalhost.metal3.io/paused"
	detachedKey = "baremetalhost.metal3.io/detached"
	poolPaused  = "/spec/paused"
	hostOnline  = "/spec/online"
	// assistedService is the value with which assisted-service detaches an installed host
	// (openshift/assisted-service: internal/controller/controllers/bmh_agent_controller.go).
	assistedService = "assisted-service-controller"
	unsafeEtcd      = "/spec/unsupportedConfigOverrides/useUnsupportedUnsafeNonHANonProductionUnstableEtcd"
)

// bareMetalNamespace is where OpenShift keeps its BareMetalHosts
// (openshift/cluster-baremetal-operator: controllers/provisioning_controller.go, ComponentNamespace).
const bareMetalNamespace = "openshift-machine-api"

func bareMetalHostRef(name string) Ref {
	return Ref{Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts", Namespace: bareMetalNamespace, Name: name}
}

func machineRef(name string) Ref {
	return Ref{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines", Namespace: bareMetalNamespace, Name: name}
}

// changes is the visible list of the remedies that change fields, in the order in which a plan
// has them: a certificate comes before the rollout of what starts with it.
func changes() []change {
	return slices.Concat([]change{regenerateLeaf()}, plainChanges(), valueChanges(), hostedChanges())
}

// plainChanges need nothing but the object.
func plainChanges() []change {
	return []change{
		{
			remedy: "switch-host-on", object: bareMetalHostRef,
			reads: hostReads(),
			set:   switchOn,
			effect: func(o Object, _ Step) (bool, string) {
				return boolAt(o, "status", "poweredOn"), "status.poweredOn of the host"
			},
			keeps:    runs,
			risk:     fault.RiskPower,
			riskText: "the server is switched on, whatever somebody does at it",
			proof:    ProvedInLab,
			title:    "set spec.online of BareMetalHost %s to true",
			oc:       "oc -n " + bareMetalNamespace + ` patch bmh %s --type=merge -p '{"spec":{"online":true}}'`,
			inverse:  "set spec.online back to false, as long as the host has not been switched on",
			expect:   "status.poweredOn of %s is true",
			takes:    15,
		},
		{
			remedy: "unpause-host", object: bareMetalHostRef,
			reads:    hostReads(),
			guards:   quorum,
			set:      func(o Object) (map[string]any, error) { return withoutAnnotation(o, pausedKey) },
			risk:     fault.RiskPower,
			riskText: "metal3 continues where it was stopped: it may inspect, provision or power the host",
			proof:    ProvedInLab,
			title:    "remove the annotation " + pausedKey + " of BareMetalHost %s",
			oc:       "oc -n " + bareMetalNamespace + " annotate bmh %s " + pausedKey + "-",
			inverse:  "write the annotation back with its value; what metal3 has begun is not undone by that",
			expect:   "BareMetalHost %s is not paused",
			takes:    2,
		},
		{
			remedy: "attach-host", object: bareMetalHostRef,
			reads:  hostReads(),
			guards: quorum,
			set:    func(o Object) (map[string]any, error) { return withoutAnnotation(o, detachedKey) },
			effect: func(o Object, _ Step) (bool, string) {
				state := stringAt(o, "status", "operationalStatus")
				return state != "" && state != "detached", "status.operationalStatus of the host"
			},
			risk:     fault.RiskPower,
			riskText: "metal3 registers the host in Ironic again and follows spec.online",
			proof:    ProvedInLab,
			title:    "remove the annotation " + detachedKey + " of BareMetalHost %s",
			oc:       "oc -n " + bareMetalNamespace + " annotate bmh %s " + detachedKey + "-",
			inverse:  "write the annotation back with its value",
			expect:   "status.operationalStatus of %s is no longer detached",
			takes:    10,
		},
		{
			remedy: "unpause-pool", object: poolRef,
			reads:    []string{poolPaused, specName, statusName, "/status/updatedMachineCount"},
			set:      unpausePool,
			guards:   rollOutGuards,
			risk:     fault.RiskReboot,
			riskText: "the controller drains and reboots the nodes of the pool that are not updated, maxUnavailable at a time",
			proof:    ProvedInLab,
			title:    "set spec.paused of pool %s to false",
			oc:       `oc patch mcp %s --type=merge -p '{"spec":{"paused":false}}'`,
			inverse:  "set spec.paused back to true; nodes that were updated stay updated",
			expect:   "pool %s is not paused",
			takes:    2,
		},
		{
			remedy: "remove-etcd-override", object: func(string) Ref { return etcdRef() },
			reads:    []string{unsafeEtcd},
			set:      removeOverride,
			guards:   func(string) []Guard { return []Guard{{Guard: EtcdMembers, Count: leastMembers}} },
			risk:     fault.RiskReversible,
			riskText: "the etcd operator holds back rollouts that could cost the quorum again",
			proof:    Simulated,
			title:    "remove useUnsupportedUnsafeNonHANonProductionUnstableEtcd from etcd %s",
			oc:       `oc patch etcd %s --type=json -p '[{"op":"remove","path":"` + unsafeEtcd + `"}]'`,
			inverse:  "write the override back with its value",
			expect:   "etcd %s has no such override",
			takes:    2,
		},
	}
}

// named reports whether the change is for the object, or the operator, of the name.
func (c change) named(name string) bool {
	if c.operands {
		return slices.Contains(operandNames(), name)
	}
	return c.object(name).Name == name
}

func changeOf(remedy string) (change, bool) {
	list := changes()
	i := slices.IndexFunc(list, func(c change) bool { return c.remedy == remedy })
	if i < 0 {
		return change{}, false
	}
	return list[i], true
}

// hostReads are the fields that decide what metal3 does with a host that it may work on again.
func hostReads() []string {
	return []string{"/metadata/uid", "/metadata/deletionTimestamp", pointer("metadata", "annotations", pausedKey), pointer("metadata", "annotations", detachedKey),
		hostOnline, "/spec/image", "/spec/consumerRef", "/status/poweredOn", "/status/provisioning/state"}
}

// quorum is for what may power a host off that is a control-plane host.
func quorum(string) []Guard { return []Guard{{Guard: EtcdQuorum}} }

// switchOn refuses where metal3 would not follow.
func switchOn(o Object) (map[string]any, error) {
	for _, key := range []string{pausedKey, detachedKey} {
		if _, there := fieldAt(o, pointer("metadata", "annotations", key)); there {
			return nil, fmt.Errorf("the host has the annotation %s, so metal3 does not switch it", key)
		}
	}
	if stringAt(o, "metadata", "deletionTimestamp") != "" {
		return nil, fmt.Errorf("the host is being deleted")
	}
	return map[string]any{hostOnline: true}, nil
}

// runs keeps a host that is on, or of which that is not known, from being switched off.
func runs(o Object) string {
	if on, there := fieldAt(o, "/status/poweredOn"); there && on == false {
		return ""
	}
	return "the host is on; drain its node and set spec.online to false yourself if it should be off"
}

// withoutAnnotation refuses an annotation that a controller keeps: it would write it again
// (metal3-io/cluster-api-provider-metal3: baremetal/metal3machine_manager.go, with its own
// value; the installer's bootstrap writes an empty one).
func withoutAnnotation(o Object, key string) (map[string]any, error) {
	path := pointer("metadata", "annotations", key)
	value, _ := fieldAt(o, path)
	if text, _ := value.(string); strings.HasPrefix(text, "metal3.io/") || text == assistedService {
		return nil, fmt.Errorf("the annotation has the value %q: the controller of that name wrote it and removes it by itself", text)
	}
	switch state := stringAt(o, "status", "provisioning", "state"); {
	case stringAt(o, "metadata", "deletionTimestamp") != "" || state == "deprovisioning" || state == "deleting":
		// metal3 looks at the annotation before it looks at the deletion.
		return nil, fmt.Errorf("the host is being deleted: without the annotation metal3 would continue with that and wipe it")
	case !boolAt(o, "spec", "online") && runs(o) != "":
		return nil, fmt.Errorf("spec.online is false and the host is on, or its power is not known: without the annotation metal3 would switch it off")
	}
	return map[string]any{path: nil}, nil
}

func unpausePool(o Object) (map[string]any, error) {
	if degraded := conditionOf(o, "Degraded"); degraded["status"] == "True" {
		return nil, fmt.Errorf("the pool is degraded (%v); repair that first", degraded["message"])
	}
	return map[string]any{poolPaused: false}, nil
}

func removeOverride(Object) (map[string]any, error) {
	return map[string]any{unsafeEtcd: nil}, nil
}

// rollOutGuards protect etcd from a rollout that begins.
func rollOutGuards(pool string) []Guard {
	if !controlPlanePool(pool) {
		return []Guard{{Guard: EtcdQuorum}}
	}
	return []Guard{{Guard: OneAtATime, Subject: pool}, {Guard: EtcdMembers, Count: leastMembers}, {Guard: OthersAtRest}}
}

func boolAt(o Object, path ...string) bool {
	v, _ := fieldAt(o, pointer(path...))
	b, _ := v.(bool)
	return b
}
