package metalhost

import (
	"fmt"
	"strings"
)

// stateMeanings says what metal3 does in a state, and how long that normally takes
// (metal3-io/baremetal-operator:internal/controller/metal3.io/host_state_machine.go; limits: openshift/ironic-image
// inspect_wait_timeout 1800 s, deploy_callback_timeout 4800 s).
var stateMeanings = map[string]string{
	"":              "metal3 has not looked at it yet (seconds)",
	"unmanaged":     "metal3 has no BMC address of it and does nothing",
	"registering":   "metal3 logs in at the BMC and reads the power state (seconds to a minute)",
	"match profile": "metal3 looks for its profile (seconds)",
	"inspecting":    "the host boots a ramdisk that reports its hardware (2 to 20 minutes; metal3 gives up after 30)",
	"preparing":     "metal3 sets firmware and RAID, where the BareMetalHost asks for it (seconds to 40 minutes)",
	"ready":         "the host can be taken by a Machine",
	"available":     "the host can be taken by a Machine",
	"provisioning":  "RHCOS is written to its disk (5 to 30 minutes)",
	"provisioned": "RHCOS is on its disk and boots: it fetches its config, restarts once, and asks for its certificate (5 " +
		"to 20 minutes)",
	"externally provisioned":     "metal3 only manages its power",
	"deprovisioning":             "metal3 cleans its disk (1 to 20 minutes)",
	"powering off before delete": "metal3 switches it off before it is deleted (minutes)",
	"deleting":                   "metal3 forgets it (seconds)",
	"delayed":                    "metal3 provisions as many others as it does at once",
}

// errorMeanings says what is behind an errorType, and where to look
// (apis/metal3.io/v1alpha1/baremetalhost_types.go ErrorType).
var errorMeanings = map[string]string{
	"registration error":             "metal3 cannot log in at the BMC: credentials, address, certificate or network",
	"provisioned registration error": "metal3 cannot log in at the BMC of a host that works",
	"inspection error":               "the ramdisk did not report: boot order, boot MAC address, network, virtual media",
	"preparation error":              "firmware or RAID settings were not accepted",
	"provisioning error":             "RHCOS could not be written: image, disk, root device hint",
	"power management error":         "the BMC does not switch the host",
	"servicing error":                "firmware settings were not accepted",
}

// text is a host in one line.
func (h host) text() string {
	t := fmt.Sprintf("%s: %s", orText(h.state, "not set"), orText(stateMeanings[h.state], "a state that this program does not know"))
	if h.operational == "delayed" {
		t += "; delayed: " + stateMeanings["delayed"]
	}
	if h.errorType != "" {
		t += fmt.Sprintf("; %s (%d times): %s. metal3 says: %s", h.errorType, h.errorCount,
			orText(errorMeanings[h.errorType], "a kind of error that this program does not know"), orText(h.errorText, "nothing"))
	}
	var held []string
	if h.paused {
		held = append(held, "annotation baremetalhost.metal3.io/paused stops metal3")
	}
	if h.detached {
		held = append(held, "annotation baremetalhost.metal3.io/detached stops metal3")
	}
	if !h.online && h.consumer == "" {
		held = append(held, "spec.online is false")
	}
	if len(held) > 0 {
		t += "; " + strings.Join(held, ", ")
	}
	return t
}
