package repair

import (
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// InspectAgain is the remedy that a person may ask for by the name of a host (Ask.Inspect).
const InspectAgain = "inspect-host-again"

// inspectHostAgain has metal3 inspect a host again, or restart the inspection that is under way.
func inspectHostAgain() fieldChange {
	return fieldChange{
		remedy: InspectAgain,
		target: bareMetalHostTarget(),
		reads: append(hostReads(), pointer("metadata", "annotations", metal3.InspectAnnotation),
			pointer("metadata", "annotations", metal3.RebootAnnotationPrefix),
			"/spec/externallyProvisioned", "/spec/customDeploy"),
		set:      inspectAgain,
		taken:    inspectTaken,
		risk:     fault.RiskPower,
		riskText: "the server is powered off and on and boots the ramdisk; it must run nothing",
		proof:    ProvedInLab,
		title:    "have metal3 inspect BareMetalHost %s again",
		oc: "oc -n " + openshift.MachineAPINamespace + " annotate bmh %s " + metal3.InspectAnnotation + "=''   # " +
			`in the state inspecting: reboot.metal3.io='{"mode":"hard","force":true}'`,
		inverse: "take the annotation away, until metal3 has acted on it",
		keeps: func(o Object) string {
			if inspectTaken(o) == "" {
				return "metal3 has begun; an inspection ends by itself"
			}
			return ""
		},
		expect: "metal3 has taken the annotation of %s",
		takes:  15,
	}
}

// inspectAgain asks for a new inspection in available, and restarts the one that is under way in
// inspecting (openshift/baremetal-operator: docs/inspectAnnotation.md;
// internal/controller/metal3.io/host_state_machine.go handleInspecting). Elsewhere metal3
// would ignore it, or reboot a system that runs.
func inspectAgain(o Object, in input) (map[string]any, error) {
	for _, key := range []string{metal3.PausedAnnotation, metal3.DetachedAnnotation, metal3.InspectAnnotation, metal3.RebootAnnotationPrefix} {
		if _, there := fieldAt(o, pointer("metadata", "annotations", key)); there {
			return nil, fmt.Errorf("the host has the annotation %s", key)
		}
	}
	_, image := fieldAt(o, "/spec/image")
	_, custom := fieldAt(o, "/spec/customDeploy")
	switch state := stringAt(o, "status", "provisioning", "state"); {
	case stringAt(o, "metadata", "deletionTimestamp") != "":
		return nil, errors.New("the host is being deleted")
	case boolAt(o, "spec", "externallyProvisioned") || image || custom:
		return nil, errors.New("the host has a system, or is to get one: an inspection would reboot it")
	case state == "available" || state == "ready":
		return map[string]any{pointer("metadata", "annotations", metal3.InspectAnnotation): "", planMark: in.plan}, nil
	case state == "inspecting":
		return map[string]any{pointer("metadata", "annotations", metal3.RebootAnnotationPrefix): `{"mode":"hard","force":true}`, planMark: in.plan}, nil
	default:
		return nil, fmt.Errorf("its state is %s: metal3 inspects again only from available or inspecting", orNone(state))
	}
}

func inspectTaken(o Object) string {
	for _, key := range []string{metal3.InspectAnnotation, metal3.RebootAnnotationPrefix} {
		if _, there := fieldAt(o, pointer("metadata", "annotations", key)); there {
			return key
		}
	}
	return ""
}
