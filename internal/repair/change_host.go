package repair

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// What the changes of a BareMetalHost have in common.

const (
	hostOnline = "/spec/online"
	bmcAddress = "/spec/bmc/address"
	// assistedService is the value with which assisted-service detaches an installed host
	// (openshift/assisted-service: internal/controller/controllers/bmh_agent_controller.go).
	assistedService = "assisted-service-controller"
)

// hostReads are the fields that decide what metal3 does with a host that it may work on again.
func hostReads() []string {
	return []string{
		"/metadata/uid", "/metadata/deletionTimestamp",
		pointer("metadata", "annotations", metal3.PausedAnnotation), pointer("metadata", "annotations", metal3.DetachedAnnotation),
		hostOnline, "/spec/image", "/spec/consumerRef", "/status/poweredOn", "/status/provisioning/state",
	}
}

// quorumGuard is for what may power off a host that is a control-plane host.
func quorumGuard(string) []Guard { return []Guard{{Guard: EtcdQuorum}} }

// keepsRunning keeps a host that is on, or of which that is not known, from being switched off.
func keepsRunning(o Object) string {
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
		// metal3 checks the annotation before the deletion.
		return nil, errors.New("the host is being deleted: without the annotation metal3 would continue with that and wipe it")
	case !boolAt(o, "spec", "online") && keepsRunning(o) != "":
		return nil, errors.New("spec.online is false and the host is on, or its power is not known: without the annotation metal3 would switch it off")
	}
	return map[string]any{path: nil}, nil
}
