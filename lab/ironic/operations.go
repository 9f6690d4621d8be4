package ironic

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// begin takes the node's reservation and runs do while the API answers; do is called
// without the lock and returns what is written under it.
func (i *Ironic) begin(n *node, do func(bmc *redfish) (finish func())) {
	n.reservation, n.updated = "localhost", time.Now().UTC()
	info := map[string]any{}
	for k, v := range n.driverInfo {
		info[k] = v
	}
	i.work.Go(func() {
		bmc, err := connect(info)
		var finish func()
		if err != nil {
			finish = func() { n.lastError = err.Error() + " on node " + n.uuid }
		} else {
			finish = do(bmc)
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		n.reservation, n.updated = "", time.Now().UTC()
		finish()
	})
}

// try repeats what cannot connect, as ironic does, and puts ironic's words
// around what is left (openstack/ironic:ironic/drivers/modules/redfish/utils.py
// _get_connection, ironic/common/exception.py RedfishConnectionError, RedfishError).
func (i *Ironic) try(uuid string, do func() error) error {
	for attempt := 1; ; attempt++ {
		err := do()
		var unreachable connectionError
		var refused *httpError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &unreachable) && attempt < i.cfg.ConnectRetries && i.wait(i.cfg.ConnectWait):
			continue
		case errors.As(err, &unreachable):
			return fmt.Errorf("Redfish connection failed for node %s: %w", uuid, err) //nolint:staticcheck // ironic's words
		case errors.As(err, &refused) && refused.status == http.StatusNotFound:
			return fmt.Errorf("Redfish exception occurred. Error: %w", err) //nolint:staticcheck // ironic's words
		}
		return err
	}
}

// provision is a change of the provision state that a client asks for
// (openstack/ironic:ironic/common/states.py, the machine's transitions).
func (i *Ironic) provision(w http.ResponseWriter, r *http.Request, n *node) {
	var body struct{ Target string }
	if !decode(w, r, &body) {
		return
	}
	if body.Target == "abort" && n.state == inspectWait && n.abort != nil {
		close(n.abort)
		n.abort = nil
		w.WriteHeader(202)
		return
	}
	if locked(w, n) {
		return
	}
	refuse := func() {
		fail(w, 400, "The requested action \"%s\" can not be performed on node \"%s\" while it is in state \"%s\".", body.Target, n.uuid, n.state)
	}
	if n.maintenance && body.Target != "manage" {
		fail(w, 400, "The %s operation can't be performed on node %s because it's in maintenance mode.", body.Target, n.uuid)
		return
	}
	from := n.state
	switch {
	case body.Target == "manage" && from == enroll:
		i.verify(n)
	case body.Target == "manage" && slices.Contains([]string{available, inspectFail, cleanFail, adoptFail}, from):
		n.state, n.target, n.lastError = manageable, "", ""
	case body.Target == "inspect" && (from == manageable || from == inspectFail):
		i.callHome(n, ramdiskTask{
			doing: inspecting, waiting: inspectWait, failed: inspectFail, done: manageable, target: manageable,
			timeout: "Timeout reached while inspecting the node. Please check if the ramdisk responsible for the inspection is running on the node.",
			failure: "Failed to inspect hardware. Reason: unable to start inspection: %s", keep: true,
		})
	case body.Target == "provide" && from == manageable && !n.automatedClean:
		n.state, n.target, n.lastError = available, "", ""
	case body.Target == "provide" && from == manageable, body.Target == "deleted" && slices.Contains([]string{active, deployFail, deployWait}, from):
		if body.Target == "deleted" {
			n.instanceInfo, n.instanceUUID = map[string]any{}, ""
		}
		i.callHome(n, ramdiskTask{
			doing: cleaning, waiting: cleanWait, failed: cleanFail, done: available, target: available, off: true,
			timeout: "Timeout reached while cleaning the node. Please check if the ramdisk responsible for the cleaning is running on the node.",
			failure: "Failed to prepare node " + n.uuid + " for cleaning: %s",
		})
	case body.Target == "active" && (from == available || from == deployFail):
		i.callHome(n, ramdiskTask{
			doing: deploying, waiting: deployWait, failed: deployFail, done: active, target: active, boot: true,
			timeout: "Timeout reached while waiting for callback for node " + n.uuid,
			failure: "Failed to prepare to deploy: %s",
		})
	case body.Target == "adopt" && (from == manageable || from == adoptFail):
		i.adopt(n)
	default:
		refuse()
		return
	}
	w.WriteHeader(202)
}

// verify is openstack/ironic:ironic/conductor/verify.py do_node_verify.
func (i *Ironic) verify(n *node) {
	n.state, n.target, n.lastError = verifying, manageable, ""
	i.begin(n, func(bmc *redfish) func() {
		var power string
		err := i.try(n.uuid, func() (err error) { power, err = bmc.power(i.ctx); return err })
		return func() {
			if err != nil {
				n.state, n.target = enroll, ""
				n.lastError = fmt.Sprintf("Failed to get power state for node %s. Error: %v", n.uuid, err)
				i.logf("ERROR", "ironic.conductor.verify", "%s", n.lastError)
				return
			}
			n.state, n.target, n.power = manageable, "", power
		}
	})
}

// adopt takes a machine over that runs already
// (openstack/ironic:ironic/conductor/manager.py _do_adoption).
func (i *Ironic) adopt(n *node) {
	n.state, n.target, n.lastError = adopting, active, ""
	i.begin(n, func(bmc *redfish) func() {
		err := i.try(n.uuid, func() error { _, err := bmc.power(i.ctx); return err })
		return func() {
			if err != nil {
				n.state, n.target, n.power = adoptFail, "", ""
				n.lastError = fmt.Sprintf("Error while attempting to adopt node %s: %v.", n.uuid, err)
				i.logf("ERROR", "ironic.conductor.manager", "%s", n.lastError)
				return
			}
			n.state, n.target = active, ""
		}
	})
}

// setPower is openstack/ironic:ironic/conductor/utils.py node_power_action.
func (i *Ironic) setPower(w http.ResponseWriter, r *http.Request, n *node) {
	var body struct{ Target string }
	if locked(w, n) || !decode(w, r, &body) {
		return
	}
	reset, ok := map[string]struct{ kind, want string }{
		powerOn: {"On", powerOn}, powerOff: {"ForceOff", powerOff}, "soft power off": {"GracefulShutdown", powerOff},
		"rebooting": {"ForceRestart", powerOn}, "soft rebooting": {"GracefulRestart", powerOn},
	}[body.Target]
	if !ok {
		fail(w, 400, "Invalid power state requested: %s", body.Target)
		return
	}
	n.targetPower, n.lastError = reset.want, ""
	i.begin(n, func(bmc *redfish) func() {
		err := i.switchPower(n.uuid, bmc, reset.kind, reset.want)
		return func() {
			n.targetPower = ""
			if err != nil {
				n.lastError = fmt.Sprintf("Failed to change power state to '%s' by '%s': %v", reset.want, body.Target, err)
				i.logf("ERROR", "ironic.conductor.manager", "Node %s: %s", n.uuid, n.lastError)
				return
			}
			n.power = reset.want
		}
	})
	w.WriteHeader(202)
}

// switchPower resets and waits until the BMC says that it is so.
func (i *Ironic) switchPower(uuid string, bmc *redfish, kind, want string) error {
	if err := i.try(uuid, func() error { return bmc.reset(i.ctx, kind) }); err != nil {
		return err
	}
	deadline := time.Now().Add(i.cfg.PowerTimeout)
	for {
		var power string
		err := i.try(uuid, func() (err error) { power, err = bmc.power(i.ctx); return err })
		if err != nil || power == want {
			return err
		}
		if time.Now().After(deadline) {
			i.logf("ERROR", "ironic.conductor.utils", "Timed out after %d secs waiting for %s on node %s.", int(i.cfg.PowerTimeout.Seconds()), want, uuid)
			return fmt.Errorf("Failed to set node power state to %s.", want) //nolint:staticcheck // ironic's words
		}
		if !i.wait(time.Second) {
			return i.ctx.Err()
		}
	}
}
