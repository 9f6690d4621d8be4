package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// configState is what the Node's annotations name, read from the API
// (pkg/daemon/daemon.go stateAndConfigs).
type configState struct {
	bootstrapping    bool
	state            string
	current, desired *machineConfig
}

// readCurrentConfig reads /etc/machine-config-daemon/currentconfig.
func readCurrentConfig(d *disk) (*machineConfig, error) {
	var mc machineConfig
	if err := d.readJSON(currentConfigPath, &mc); err != nil {
		return nil, err
	}
	return &mc, nil
}

// firstRun decides whether the machine is in the state that it should be in
// (pkg/daemon/daemon.go checkStateOnFirstRun).
func (d *daemon) firstRun(ctx context.Context) error {
	if err := d.loadAnnotations(ctx); err != nil {
		return err
	}
	st, err := d.states(ctx)
	if err != nil {
		return err
	}
	if st.bootstrapping {
		if err := d.endBootstrap(ctx, st); err != nil {
			return err
		}
	} else {
		onDisk, err := readCurrentConfig(d.disk)
		switch {
		case err == nil && onDisk.Name != st.current.Name:
			d.log.system("Disk currentConfig %q overrides node's currentConfig annotation %q", onDisk.Name, st.current.Name)
			st.current = onDisk
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	d.log.infof("daemon.go:2229", "Validating against current config %s", st.current.Name)
	if d.disk.exists(forceFilePath) {
		d.log.system("Skipping on-disk validation; %s present", forceFilePath)
		return d.trigger(ctx, st.current, st.desired)
	}
	if err := d.validate(st.current); err != nil {
		d.event(ctx, corev1.EventTypeWarning, "OnDiskStateValidationFailed", "%s", err)
		return err
	}
	d.log.system("Validated on-disk state")
	inDesired, err := d.settle(ctx, st)
	if err != nil || inDesired {
		return err
	}
	d.event(ctx, corev1.EventTypeNormal, "BootResync", "Booting node %s, currentConfig %s, desiredConfig %s", d.name, st.current.Name, st.desired.Name)
	return d.trigger(ctx, st.current, st.desired)
}

// endBootstrap leaves bootstrap mode, or reboots first, without a drain, into
// the OS that the config names.
func (d *daemon) endBootstrap(ctx context.Context, st *configState) error {
	target := st.current.Spec.OSImageURL
	if image, _ := d.machine.booted(); image != target {
		d.log.system("Bootstrap pivot required to: %s", target)
		d.log.infof("update.go:2546", "Updating OS to layered image %q", target)
		if err := d.machine.stageOS(st.current); err != nil {
			return err
		}
		return d.reboot(ctx, "Node will reboot into config "+st.current.Name)
	}
	d.log.system("No bootstrap pivot required; unlinking bootstrap node annotations")
	if err := d.disk.rename(nodeAnnotationsPath, nodeAnnotationsBak); err != nil {
		return fmt.Errorf("renaming initial node annotation file: %w", err)
	}
	return nil
}

// loadAnnotations gives a Node without annotations those that the machine
// config server sent, else the name of currentconfig
// (pkg/daemon/node.go loadNodeAnnotations).
func (d *daemon) loadAnnotations(ctx context.Context) error {
	if d.node.Annotations[annoCurrentConfig] != "" {
		return nil
	}
	d.log.infof("node.go:23", "No %s annotation on node %s: %v, in cluster bootstrap, loading initial node annotation from %s",
		annoCurrentConfig, d.name, d.node.Annotations, nodeAnnotationsPath)
	raw, err := d.disk.read(nodeAnnotationsPath)
	if errors.Is(err, fs.ErrNotExist) {
		mc, cerr := readCurrentConfig(d.disk)
		if cerr != nil {
			return cerr
		}
		d.log.infof("node.go:33", "Setting initial node config based on current configuration on disk: %s", mc.Name)
		return d.takeAnnotations(ctx, map[string]string{annoCurrentConfig: mc.Name})
	}
	if err != nil {
		return fmt.Errorf("failed to read initial annotations from %q: %w", nodeAnnotationsPath, err)
	}
	var initial map[string]string
	if err := json.Unmarshal(raw, &initial); err != nil {
		return fmt.Errorf("failed to unmarshal initial annotations: %w", err)
	}
	d.log.infof("node.go:52", "Setting initial node config: %s", initial[annoCurrentConfig])
	if err := d.takeAnnotations(ctx, initial); err != nil {
		return fmt.Errorf("failed to set initial annotations: %w", err)
	}
	return nil
}

// takeAnnotations sets annotations and continues with the Node that has them.
func (d *daemon) takeAnnotations(ctx context.Context, annos map[string]string) error {
	node, err := d.annotate(ctx, annos)
	if err != nil {
		return err
	}
	d.node = node
	return nil
}

// states reads the configs that the annotations name
// (pkg/daemon/daemon.go getStateAndConfigs).
func (d *daemon) states(ctx context.Context) (*configState, error) {
	st := &configState{bootstrapping: d.disk.exists(nodeAnnotationsPath), state: d.node.Annotations[annoState]}
	if st.bootstrapping {
		d.log.infof("daemon.go:1681", "In bootstrap mode")
	}
	currentName, err := d.annotation(annoCurrentConfig)
	if err != nil {
		return nil, err
	}
	desiredName, err := d.annotation(annoDesiredConfig)
	if err != nil {
		return nil, err
	}
	if st.current, err = d.configs.MachineConfig(ctx, currentName); err != nil {
		if st.bootstrapping && apierrors.IsNotFound(err) {
			return nil, d.bootstrapMismatch(ctx, currentName)
		}
		return nil, withMissingConfig(currentName, err)
	}
	if st.state == "" {
		st.state = stateDone
	}
	if currentName == desiredName {
		st.desired = st.current
		d.log.infof("daemon.go:1754", "Current+desired config: %s", currentName)
	} else {
		if st.desired, err = d.configs.MachineConfig(ctx, desiredName); err != nil {
			return nil, withMissingConfig(desiredName, err)
		}
		d.log.infof("daemon.go:1760", "Current config: %s", currentName)
		d.log.infof("daemon.go:1761", "Desired config: %s", desiredName)
	}
	d.log.infof("daemon.go:1769", "state: %s", st.state)
	return st, nil
}

func (d *daemon) annotation(key string) (string, error) {
	v, ok := d.node.Annotations[key]
	if !ok {
		return "", fmt.Errorf("%s annotation not found on node '%s'", key, d.name)
	}
	return v, nil
}

// withMissingConfig puts the name of a config that does not exist before the
// API's words, on a line of its own (pkg/daemon/daemon.go maybeAddMachineConfigInfo).
func withMissingConfig(name string, err error) error {
	if apierrors.IsNotFound(err) {
		return errors.Join(fmt.Errorf("missing MachineConfig %s", name), err)
	}
	return err
}

// bootstrapMismatch is what a node in bootstrap mode says when its config is
// not in the cluster (pkg/daemon/daemon.go getStateAndConfigs,
// generateBootstrappingMCMismatchError): which of four errors depends on the
// currentconfig file and on what the pool names.
func (d *daemon) bootstrapMismatch(ctx context.Context, name string) error {
	onDisk, err := readCurrentConfig(d.disk)
	if err != nil {
		return fmt.Errorf("error fetching current config on disk during bootstrap: %s, config: <nil>", err)
	}
	if onDisk.Name != name {
		return fmt.Errorf("error current config %s on disk does not match current config on annotation: %s", onDisk.Name, name)
	}
	pool := "master"
	if len(onDisk.OwnerReferences) > 0 {
		pool = onDisk.OwnerReferences[0].Name
	}
	unclear := fmt.Errorf("bootstrap generated MC %s does not match in-cluster MC generated by the controller", name)
	target, err := d.configs.PoolConfig(ctx, pool)
	if err != nil {
		return unclear
	}
	inCluster, err := d.configs.MachineConfig(ctx, target)
	if err != nil {
		return unclear
	}
	d.writeBootstrapDiff(onDisk, inCluster)
	return fmt.Errorf("bootstrap generated MC %s and in-cluster generated MC %s for this node do not match. Please check machine-config-daemon logs "+
		"or the on disk diff file located at %s",
		name, inCluster.Name, bootstrapDiffPath)
}

// writeBootstrapDiff writes and logs how the two configs differ, once. The
// config on disk is the encapsulated one, which has no files, so the diff
// always shows all of the other's.
func (d *daemon) writeBootstrapDiff(onDisk, inCluster *machineConfig) {
	if d.disk.exists(bootstrapDiffPath) {
		return
	}
	diff, err := diffConfigs(onDisk, inCluster, d.disk.exists(forceFilePath))
	if err != nil {
		d.log.errorf("daemon.go:1921", "error generating diff between bootstrap MC %s and in-cluster MC %s", onDisk.Name, inCluster.Name)
		return
	}
	if diff.empty() {
		d.log.errorf("daemon.go:1926", "no diff found between bootstrap MC %s and in-cluster MC %s", onDisk.Name, inCluster.Name)
		return
	}
	text := fmt.Sprintf("Bootstrap generated MC %s vs In-cluster generated MC %s diffs:\nGranular diff:\n %+v \nRaw diff:\n%s\n",
		onDisk.Name, inCluster.Name, diff, cmp.Diff(onDisk.Spec, inCluster.Spec))
	d.log.errorf("daemon.go:1931", "%s", text)
	if err := d.disk.write(bootstrapDiffPath, []byte(text), defaultFileMode); err != nil {
		d.log.errorf("daemon.go:1933", "failed to write bootstrap MachineConfig diff to %s: %v", bootstrapDiffPath, err)
		return
	}
	d.log.infof("daemon.go:1935", "bootstrap MachineConfig diff written to %s", bootstrapDiffPath)
}
