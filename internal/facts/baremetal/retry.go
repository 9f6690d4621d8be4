package baremetal

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// backoff is how long the operator waits after a failure: 2^n minutes for the
// n-th in a row, n at most 9, of which up to a half is left out by chance
// (metal3-io/baremetal-operator:internal/controller/metal3.io/action_result.go calculateBackoff).
func backoff(failures int) (least, most time.Duration) {
	failures = min(max(failures, 0), 9)
	most = time.Minute << failures
	return most / 2, most
}

// limit is how long an operation of a state can last in one try. Then ironic
// ends it, or a host has been waiting for the operator
// (openstack/ironic:ironic/conf/conductor.py inspect_wait_timeout 1800 s,
// clean_callback_timeout 1800 s; openshift/ironic-image:ironic-config/ironic.conf.j2
// deploy_callback_timeout 4800 s). Five minutes are added for the power cycle.
// 0: the state is none in which something is being done.
func limit(s metal3.ProvisioningState) time.Duration {
	switch s {
	case metal3.StateNone, metal3.StateRegistering, metal3.StateMatchProfile:
		return 15 * time.Minute
	case metal3.StateInspecting, metal3.StateDeprovisioning, metal3.StateDeleting, metal3.StatePoweringOffBeforeDelete:
		return 35 * time.Minute
	case metal3.StatePreparing: // RAID and firmware settings take up to 40 minutes
		return time.Hour
	case metal3.StateProvisioning:
		return 85 * time.Minute
	}
	return 0
}

// operation returns the last operation of the host that a state belongs to.
func operation(s *metal3.BareMetalHostStatus) metal3.OperationMetric {
	switch s.Provisioning.State {
	case metal3.StateNone, metal3.StateRegistering:
		return s.OperationHistory.Register
	case metal3.StateInspecting:
		return s.OperationHistory.Inspect
	case metal3.StateProvisioning:
		return s.OperationHistory.Provision
	case metal3.StateDeprovisioning:
		return s.OperationHistory.Deprovision
	}
	return metal3.OperationMetric{}
}
