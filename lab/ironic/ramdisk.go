package ironic

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ramdiskTask is an operation that boots the agent on the machine and waits for
// its call.
type ramdiskTask struct {
	doing, waiting, failed, done, target string
	timeout, failure                     string
	keep                                 bool // the inventory that the call brings
	off                                  bool // switch the machine off at the end
	boot                                 bool // boot the machine from its disk at the end
}

// callHome mounts the image, starts the machine from it and waits for the call.
// The caller holds the lock and has checked that the state allows it.
func (i *Ironic) callHome(n *node, task ramdiskTask) {
	n.state, n.target, n.lastError = task.doing, task.target, ""
	image := fmt.Sprintf("%s/redfish/boot-%s.iso", strings.TrimSuffix(i.cfg.ImageURL, "/"), n.uuid)
	called, abort := make(chan call, 1), make(chan struct{})
	i.begin(n, func(bmc *redfish) func() {
		err := i.bootRamdisk(n.uuid, bmc, image)
		return func() {
			if err != nil {
				n.state, n.target = task.failed, task.target
				n.lastError = fmt.Sprintf(task.failure, err)
				i.logf("ERROR", "ironic.conductor.utils", "Node %s: %s", n.uuid, n.lastError)
				return
			}
			n.state, n.power, n.called, n.abort = task.waiting, powerOn, called, abort
			i.work.Go(func() { i.awaitCall(n, task, called, abort) })
		}
	})
}

// bootRamdisk is the order in which openstack/ironic:ironic/drivers/modules/redfish/boot.py
// prepare_ramdisk and ironic/drivers/modules/inspector/interface.py do it.
func (i *Ironic) bootRamdisk(uuid string, bmc *redfish, image string) error {
	if err := i.switchPower(uuid, bmc, "ForceOff", powerOff); err != nil {
		return err
	}
	if err := i.try(uuid, func() error { return bmc.insert(i.ctx, image) }); err != nil {
		return fmt.Errorf("Virtual media mount failed for node %s with image %s. Error: %w", uuid, image, err) //nolint:staticcheck // ironic's words
	}
	if err := i.try(uuid, func() error { return bmc.bootFrom(i.ctx, "Cd", "Once") }); err != nil {
		return fmt.Errorf("Redfish set boot device failed for node %s. Error: %w", uuid, err) //nolint:staticcheck // ironic's words
	}
	return i.switchPower(uuid, bmc, "On", powerOn)
}

func (i *Ironic) awaitCall(n *node, task ramdiskTask, called chan call, abort chan struct{}) {
	timer := time.NewTimer(i.cfg.CallTimeout)
	defer timer.Stop()
	failed := func(words string) {
		i.mu.Lock()
		defer i.mu.Unlock()
		n.state, n.lastError, n.called, n.updated = task.failed, words, nil, time.Now().UTC()
		i.logf("ERROR", "ironic.conductor.utils", "Node %s: %s", n.uuid, words)
	}
	select {
	case <-i.ctx.Done():
	case <-timer.C:
		failed(task.timeout)
	case <-abort:
		failed("Inspection was aborted by request.")
	case c := <-called:
		i.mu.Lock()
		defer i.mu.Unlock()
		n.called = nil
		if task.keep {
			n.inventory = c.inventory
		}
		i.begin(n, func(bmc *redfish) func() { return i.afterCall(n, task, bmc) })
	}
}

// afterCall takes the image out and leaves the machine as the task wants it.
func (i *Ironic) afterCall(n *node, task ramdiskTask, bmc *redfish) func() {
	power := powerOn
	err := i.try(n.uuid, func() error { return bmc.eject(i.ctx) })
	if err == nil && (task.off || task.boot) {
		power, err = powerOff, i.switchPower(n.uuid, bmc, "ForceOff", powerOff)
	}
	if err == nil && task.boot {
		power, err = powerOn, i.switchPower(n.uuid, bmc, "On", powerOn)
	}
	return func() {
		if err != nil {
			n.state, n.lastError = task.failed, err.Error()
			return
		}
		n.state, n.target, n.power = task.done, "", power
	}
}

// lookup tells a ramdisk which node it runs on
// (openstack/ironic:ironic/api/controllers/v1/ramdisk.py LookupController).
func (i *Ironic) lookup(w http.ResponseWriter, r *http.Request) {
	addresses := strings.Split(strings.ToLower(r.FormValue("addresses")), ",")
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, p := range i.ports {
		if n := i.nodes[p.NodeUUID]; n != nil && n.called != nil && slices.Contains(addresses, p.Address) {
			answer(w, 200, map[string]any{"node": map[string]any{"uuid": n.uuid}, "config": map[string]any{}})
			return
		}
	}
	fail(w, 404, "Not Found")
}

func (i *Ironic) continueInspection(w http.ResponseWriter, r *http.Request) {
	var body struct{ Inventory map[string]any }
	if !decode(w, r, &body) {
		return
	}
	i.deliver(w, r.FormValue("node_uuid"), inspectWait, call{inventory: body.Inventory})
}

func (i *Ironic) heartbeat(w http.ResponseWriter, r *http.Request) {
	i.deliver(w, r.PathValue("id"), "", call{})
}

// deliver hands what the ramdisk brought to who waits for it. A heartbeat ends
// no inspection, and an inventory nothing else.
func (i *Ironic) deliver(w http.ResponseWriter, uuid, state string, c call) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := i.nodes[uuid]
	if n == nil || n.called == nil || (n.state == inspectWait) != (state == inspectWait) {
		fail(w, 404, "Not Found")
		return
	}
	select {
	case n.called <- c:
	default: // it has called already
	}
	w.WriteHeader(202)
}

// syncExcluded are the states in which the power is not looked at
// (openstack/ironic:ironic/conductor/manager.py SYNC_EXCLUDED_STATES).
var syncExcluded = []string{enroll, verifying, inspecting, inspectWait, cleaning, cleanWait, deploying, deployWait, deleting, adopting}

// syncPower keeps the recorded power state equal to what the BMCs say, and gives
// up on a BMC that cannot be asked three times in a row
// (openstack/ironic:ironic/conductor/manager.py do_sync_power_state).
func (i *Ironic) syncPower() {
	for i.wait(i.cfg.SyncInterval) {
		i.mu.Lock()
		for _, n := range i.nodes {
			if n.reservation != "" || slices.Contains(syncExcluded, n.state) || n.maintenance && n.fault == "" {
				continue
			}
			i.begin(n, func(bmc *redfish) func() {
				var power string
				err := i.try(n.uuid, func() (err error) { power, err = bmc.power(i.ctx); return err })
				return func() { i.synced(n, power, err) }
			})
		}
		i.mu.Unlock()
	}
}

const maxSyncRetries = 3 // [conductor]power_state_sync_max_retries

func (i *Ironic) synced(n *node, power string, err error) {
	if err == nil {
		n.badSyncs = 0
		if n.fault == "power failure" { // _power_failure_recovery
			n.maintenance, n.maintenanceReason, n.fault, n.lastError = false, "", "", ""
		}
		if n.power != power {
			i.logf("WARNING", "ironic.conductor.manager", "During sync_power_state, node %s state does not match expected state '%s'. Updating "+
				"recorded state to '%s'.", n.uuid, n.power, power)
			n.power = power
		}
		return
	}
	n.badSyncs++
	if n.badSyncs <= maxSyncRetries {
		i.logf("WARNING", "ironic.conductor.manager", "During sync_power_state, could not get power state for node %s, attempt %d of "+
			"%d. Error: %v.", n.uuid, n.badSyncs, maxSyncRetries, err)
		return
	}
	if n.fault != "" {
		return
	}
	words := fmt.Sprintf("During sync_power_state, max retries exceeded for node %s, node state None does not match expected state '%s'. Updating DB "+
		"state to 'None' Switching node to maintenance mode. Error: %v", n.uuid, n.power, err)
	n.power, n.lastError, n.maintenance, n.maintenanceReason, n.fault = "", words, true, words, "power failure"
	i.logf("ERROR", "ironic.conductor.manager", "%s", words)
}
