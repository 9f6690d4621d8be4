package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pendingUpdate is a pair of configs to go from and to.
type pendingUpdate struct{ current, desired *machineConfig }

// prepare says whether an update is due (pkg/daemon/daemon.go
// prepUpdateFromCluster); nil is none. currentconfig on disk wins over the
// annotation, but the annotation's config must exist first.
func (d *daemon) prepare(ctx context.Context) (*pendingUpdate, error) {
	desiredName := d.node.Annotations[annoDesiredConfig]
	desired, err := d.configs.MachineConfig(ctx, desiredName)
	if err != nil {
		return nil, withMissingConfig(desiredName, err)
	}
	currentName, err := d.annotation(annoCurrentConfig)
	if err != nil {
		return nil, err
	}
	current, err := d.configs.MachineConfig(ctx, currentName)
	if err != nil {
		return nil, withMissingConfig(currentName, err)
	}
	state, err := d.annotation(annoState)
	if err != nil {
		return nil, err
	}
	onDisk, err := readCurrentConfig(d.disk)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		onDisk = current
	case err != nil:
		return nil, err
	case onDisk.Name != current.Name:
		return &pendingUpdate{onDisk, desired}, nil
	}
	if desiredName == currentName {
		if state == stateDone {
			return nil, nil
		}
		d.log.warnf("daemon.go:2511", "current+desiredConfig is %s but state is %s", currentName, state)
	}
	return &pendingUpdate{onDisk, desired}, nil
}

// trigger goes from one config to another: Working, drain if a reboot follows,
// files and units, the OS, currentconfig, then the reboot or, without one, the
// end of the update (pkg/daemon/update.go update).
func (d *daemon) trigger(ctx context.Context, from, to *machineConfig) error {
	d.log.infof("daemon.go:2588", "Triggering layered OS update")
	if s := d.node.Annotations[annoState]; s != stateDegraded && s != stateUnreconciled {
		if _, err := d.annotate(ctx, map[string]string{annoState: stateWorking}); err != nil {
			return fmt.Errorf("error setting node's state to Working: %w", err)
		}
	}
	force := d.disk.exists(forceFilePath)
	diff, err := diffConfigs(from, to, force)
	if err != nil {
		return fmt.Errorf("could not calculate config diff: %w", err)
	}
	d.log.infof("update.go:979", "Checking Reconcilable for config %v to %v", from.Name, to.Name)
	if diff.fips {
		err := fmt.Errorf("can't reconcile config %s with %s: %w", from.Name, to.Name,
			errors.New("detected change to FIPS flag; refusing to modify FIPS on a running cluster"))
		d.event(ctx, corev1.EventTypeWarning, "FailedToReconcile", "%s", err)
		return &errUnreconcilable{err}
	}
	d.log.system("Starting update from %s to %s: %+v", from.Name, to.Name, diff)
	oldIgn, err := from.ignition()
	if err != nil {
		return fmt.Errorf("parsing old Ignition config failed: %w", err)
	}
	newIgn, err := to.ignition()
	if err != nil {
		return fmt.Errorf("parsing new Ignition config failed: %w", err)
	}
	reboot := force || diff.needsReboot() || filesNeedReboot(oldIgn, newIgn)
	d.log.infof("update.go:1045", "Drain calculated for node disruption: %v for config %s", reboot, to.Name)
	if !reboot {
		d.log.infof("update.go:1076", "Changes do not require drain, skipping.")
	} else if err := d.drain(ctx); err != nil {
		return err
	}
	if err := d.apply(oldIgn, newIgn, to, diff); err != nil {
		return err
	}
	if force {
		if err := d.disk.remove(forceFilePath); err != nil {
			return fmt.Errorf("failed to remove force validation file: %w", err)
		}
	}
	return d.finish(ctx, to, reboot)
}

// finish reboots into the new config, or ends an update that needs no reboot
// (pkg/daemon/update.go performPostConfigChangeAction, finishRebootlessUpdate).
func (d *daemon) finish(ctx context.Context, to *machineConfig, reboot bool) error {
	if reboot {
		d.log.system("Rebooting node")
		return d.reboot(ctx, "Node will reboot into config "+to.Name)
	}
	d.log.system("Node has Desired Config %s, skipping reboot", to.Name)
	st, err := d.states(ctx)
	if err != nil {
		return fmt.Errorf("could not apply update: error processing state and configs. Error: %w", err)
	}
	inDesired, err := d.settle(ctx, st)
	if err != nil {
		return fmt.Errorf("could not apply update: setting node's state to Done failed. Error: %w", err)
	}
	if !inDesired {
		return d.trigger(ctx, st.current, st.desired)
	}
	return nil
}

// apply writes the new config's files and units, removes those that only the
// old one had, stages the OS and stores currentconfig.
func (d *daemon) apply(oldIgn, newIgn ignConfig, to *machineConfig, diff *configDiff) error {
	for _, f := range newIgn.Storage.Files {
		if f.Path == kubeletCAPath {
			continue // the certificate writer's
		}
		if len(f.Append) > 0 {
			return fmt.Errorf("found an append section when writing files. Append is not supported")
		}
		d.log.infof("file_writers.go:234", "Writing file %q", f.Path)
		if err := d.disk.writeFile(f); err != nil {
			return err
		}
	}
	for _, u := range newIgn.Systemd.Units {
		if u.Contents != nil && *u.Contents != "" {
			d.log.infof("file_writers.go:294", "Writing systemd unit %q", u.Name)
		}
		if err := d.disk.writeUnit(u); err != nil {
			return fmt.Errorf("daemon could not write systemd unit: %w", err)
		}
	}
	if err := d.removeStale(oldIgn, newIgn); err != nil {
		return err
	}
	if diff.osUpdate || diff.kargs || diff.extensions || diff.kernelType {
		if diff.osUpdate {
			d.log.infof("update.go:2546", "Updating OS to layered image %q", to.Spec.OSImageURL)
		}
		if err := d.machine.stageOS(to); err != nil {
			return err
		}
	}
	return storeCurrentConfig(d.disk, d.log, to)
}

// removeStale deletes files, units and drop-ins that only the old config has
// (pkg/daemon/update.go deleteStaleData). What was there before the first
// config wrote over it is not brought back: the lab's disk starts empty.
func (d *daemon) removeStale(oldIgn, newIgn ignConfig) error {
	d.log.infof("update.go:1838", "Deleting stale data")
	keep := managedPaths(newIgn)
	for p := range managedPaths(oldIgn) {
		if keep[p] || slices.Contains(unvalidated, p) {
			continue
		}
		if err := d.disk.remove(p); err != nil {
			return fmt.Errorf("unable to delete %s: %w", p, err)
		}
		d.log.infof("update.go:1912", "Removed stale file %q", p)
	}
	return nil
}

func managedPaths(c ignConfig) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Storage.Files {
		out[f.Path] = true
	}
	for _, u := range c.Systemd.Units {
		if u.Contents != nil && *u.Contents != "" || u.Mask != nil && *u.Mask {
			out[path.Join(systemdPath, u.Name)] = true
		}
		for _, dr := range u.Dropins {
			out[path.Join(systemdPath, u.Name+".d", dr.Name)] = true
		}
	}
	return out
}

// noReboot are the files whose change needs no reboot
// (pkg/daemon/update.go calculatePostConfigChangeActionFromMCDiffs).
var noReboot = []string{
	kubeletCAPath, "/var/lib/kubelet/config.json",
	"/etc/containers/registries.conf", "/etc/containers/policy.json",
	"/etc/machine-config-daemon/no-reboot/containers-gpg.pub",
	"/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt",
}

var noRebootDirs = []string{"/etc/nmstate/openshift", "/etc/containers/registries.d"}

// filesNeedReboot says whether any file that was added, removed or changed
// needs one.
func filesNeedReboot(oldIgn, newIgn ignConfig) bool {
	content := func(c ignConfig) map[string]string {
		out := map[string]string{}
		for _, f := range c.Storage.Files {
			data, err := f.content()
			out[f.Path] = fmt.Sprintf("%v %o %x", err, modeOr(f.Mode, defaultFileMode), data)
		}
		return out
	}
	was, is := content(oldIgn), content(newIgn)
	changed := func(a, b map[string]string) bool {
		for p, v := range a {
			if w, ok := b[p]; ok && v == w || slices.Contains(noReboot, p) || slices.Contains(noRebootDirs, path.Dir(p)) {
				continue
			}
			return true
		}
		return false
	}
	return changed(was, is) || changed(is, was)
}

// drain asks the machine-config-controller to cordon and drain the node and
// waits up to an hour (pkg/daemon/drain.go performDrain).
func (d *daemon) drain(ctx context.Context) error {
	if d.node.Annotations[annoTopology] == "SingleReplica" {
		d.log.system("Drain not required, skipping")
		return nil
	}
	desired, err := d.annotation(annoDesiredConfig)
	if err != nil {
		return err
	}
	request := "drain-" + desired
	if d.node.Annotations[annoAppliedDrain] == request {
		d.log.system("drain is already completed on this node")
		return nil
	}
	d.log.system("Update prepared; requesting cordon and drain via annotation to controller")
	start := d.now()
	d.event(ctx, corev1.EventTypeNormal, "Cordon", "Cordoned node to apply update")
	d.event(ctx, corev1.EventTypeNormal, "Drain", "Draining node to update config.")
	if _, err := d.annotate(ctx, map[string]string{annoDesiredDrain: request}); err != nil {
		return fmt.Errorf("Could not set drain annotation: %w", err) //nolint:staticcheck // the daemon's own words
	}
	if !d.waitApplied(ctx, time.Hour) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		msg := fmt.Sprintf("failed to drain node: %s after 1 hour. Please see machine-config-controller logs for more information", d.name)
		d.event(ctx, corev1.EventTypeWarning, "FailedToDrain", "%s", msg)
		return errors.New(msg)
	}
	d.log.system("drain complete")
	d.log.infof("drain.go:125", "Successful drain took %v seconds", d.now().Sub(start).Seconds())
	return nil
}

// waitApplied waits until the controller says that it did what was asked.
func (d *daemon) waitApplied(ctx context.Context, limit time.Duration) bool {
	for end := d.now().Add(limit); d.now().Before(end); {
		node, err := d.client.CoreV1().Nodes().Get(ctx, d.name, metav1.GetOptions{})
		if err != nil {
			d.log.warnf("drain.go:104", "Failed to get node: %v", err)
		} else if node.Annotations[annoDesiredDrain] == node.Annotations[annoAppliedDrain] {
			return true
		}
		if !d.sleep(ctx, d.pace.DaemonPoll) {
			return false
		}
	}
	return false
}

// settle ends an update if the machine is in the desired config: uncordon,
// then Done (pkg/daemon/daemon.go updateConfigAndState). In bootstrap mode the
// config that was just validated becomes currentconfig.
func (d *daemon) settle(ctx context.Context, st *configState) (inDesired bool, err error) {
	if st.bootstrapping {
		if err := storeCurrentConfig(d.disk, d.log, st.current); err != nil {
			return false, err
		}
	}
	onDisk, err := readCurrentConfig(d.disk)
	switch {
	case err == nil:
		st.current = onDisk
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("error reading config from disk: %w", err)
	}
	if st.current.Name != st.desired.Name {
		return false, nil
	}
	d.log.infof("daemon.go:2340", "System state unchanged: MachineConfig: %s", st.current.Name)
	if err := d.complete(ctx, st.current.Name); err != nil {
		return true, err
	}
	d.event(ctx, corev1.EventTypeNormal, "NodeDone", "Setting node %s, currentConfig %s to Done", d.name, st.current.Name)
	if _, err := d.annotate(ctx, map[string]string{annoState: stateDone, annoCurrentConfig: st.current.Name, annoReason: ""}); err != nil {
		return true, fmt.Errorf("error setting node's state to Done: %w", err)
	}
	d.log.infof("daemon.go:2368", "In desired state MachineConfig: %s", st.current.Name)
	return true, nil
}

// complete asks for the uncordon and waits up to ten minutes
// (pkg/daemon/daemon.go completeUpdate).
func (d *daemon) complete(ctx context.Context, config string) error {
	if _, err := d.annotate(ctx, map[string]string{annoDesiredDrain: "uncordon-" + config}); err != nil {
		return fmt.Errorf("could not set drain annotation: %w", err)
	}
	if !d.waitApplied(ctx, 10*time.Minute) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		msg := fmt.Sprintf("failed to uncordon node: %s after 10 minutes. Please see machine-config-controller logs for more information", d.name)
		d.event(ctx, corev1.EventTypeWarning, "FailedToUncordon", "%s", msg)
		return errors.New(msg)
	}
	d.log.system("Update completed for config %s and node has been successfully uncordoned", config)
	d.event(ctx, corev1.EventTypeNormal, "Uncordon", "Update completed for config %s and node has been uncordoned", config)
	return nil
}

// reboot says so everywhere and ends this boot (pkg/daemon/update.go reboot).
func (d *daemon) reboot(ctx context.Context, rationale string) error {
	d.event(ctx, corev1.EventTypeNormal, "Reboot", "%s", rationale)
	d.log.system("initiating reboot: %s", rationale)
	if _, err := d.annotate(ctx, map[string]string{annoPostAction: stateRebooting}); err != nil {
		d.log.errorf("update.go:2692", "Error setting post config action annotation %v", err)
	}
	if err := d.machine.reboot(rationale); err != nil {
		return fmt.Errorf("reboot command failed, something is seriously wrong: %w", err)
	}
	d.log.system("reboot successful")
	return errReboot
}
