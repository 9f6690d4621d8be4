package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// configReader reads what the daemon reads besides its Node.
type configReader interface {
	// MachineConfig returns a rendered config. That it does not exist is an
	// error of apierrors.IsNotFound with the text of a lister.
	MachineConfig(ctx context.Context, name string) (*machineConfig, error)
	// PoolConfig returns spec.configuration.name of a pool.
	PoolConfig(ctx context.Context, pool string) (string, error)
	// KubeletCA returns spec.kubeAPIServerServingCAData of the ControllerConfig, and its
	// resourceVersion. Where that is known already, only it is read.
	KubeletCA(ctx context.Context, known string) (ca []byte, resourceVersion string, err error)
}

// machine is what the daemon does to the machine itself.
type machine interface {
	// booted returns the booted osImageURL and the kernel arguments.
	booted() (osImage string, kargs []string)
	// stageOS prepares what the next boot runs.
	stageOS(mc *machineConfig) error
	// reboot starts a reboot.
	reboot(reason string) error
}

func (h *Host) booted() (string, []string) {
	s := h.snapshot()
	return s.OSImage, s.KernelArguments
}

// daemon is the machine-config-daemon of one boot, by the rules of
// openshift/machine-config-operator:pkg/daemon at the 4.20 fork point. Not
// followed: on-cluster layering, MachineConfigNode status, other certificates
// than the CA of the kubelet's clients, SSH keys, node disruption policies (the fixed list of files that
// need no reboot is used instead) and roll back of a half-applied update.
type daemon struct {
	name    string
	disk    *disk
	machine machine
	configs configReader
	client  kubernetes.Interface // the node's own credential
	log     *klogger
	pace    Pace
	now     func() time.Time
	sleep   func(context.Context, time.Duration) bool

	node    *corev1.Node // as last seen
	booting bool         // the first sync of this process has not succeeded yet
	matched time.Time    // when the disk was last seen to be as it should
}

// runDaemon is the machine-config-daemon's pod: it starts some time after the
// Node registered and runs until the boot ends.
func (h *Host) runDaemon(ctx context.Context, k *kubelet) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-k.registered:
	}
	if h.cfg.DaemonKubeconfig == "" {
		h.log.Warn("no kubeconfig for the machine-config-daemon; it does not start")
		return nil
	}
	if !h.sleep(ctx, h.pace.DaemonStart) {
		return ctx.Err()
	}
	configs, err := newConfigReader(h.cfg.DaemonKubeconfig)
	for err != nil {
		// As a pod whose token cannot be mounted: it waits until it can.
		h.log.Warn("the machine-config-daemon cannot start yet", "error", err)
		if !h.sleep(ctx, h.pace.DaemonRetryMax) {
			return ctx.Err()
		}
		configs, err = newConfigReader(h.cfg.DaemonKubeconfig)
	}
	f, err := os.OpenFile(h.daemonLogPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log of the machine-config-daemon: %w", err)
	}
	defer f.Close()
	d := &daemon{
		name: h.cfg.Name, disk: h.disk, machine: h, configs: configs, client: k.client,
		log: &klogger{w: f, now: h.now, pid: os.Getpid()}, pace: h.pace, now: h.now, sleep: h.sleep, booting: true,
	}
	return d.run(ctx)
}

// run syncs until ctx ends or the machine reboots. An error makes the node
// Degraded and is tried again with back-off, forever.
func (d *daemon) run(ctx context.Context) error {
	d.log.infof("writer.go:87", "NodeWriter initialized with credentials from %s", kubeconfigPath)
	d.log.system("Starting to manage node: %s", d.name)
	d.log.infof("daemon.go:1379", "Starting MachineConfigDaemon")
	backOff := d.pace.DaemonRetryMin
	for {
		err := d.sync(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, errReboot):
			return err
		case err == nil:
			backOff = d.pace.DaemonRetryMin
			if !d.sleep(ctx, d.pace.DaemonSync) {
				return ctx.Err()
			}
		default:
			d.fail(ctx, err)
			if !d.sleep(ctx, backOff) {
				return ctx.Err()
			}
			backOff = min(backOff*2, d.pace.DaemonRetryMax)
		}
	}
}

// errUnreconcilable marks an update that cannot be done in place.
type errUnreconcilable struct{ error }

// fail reports an error as the daemon's writer does
// (pkg/daemon/writer.go SetDegraded, SetUnreconcilable): logged whole, cut to
// 2000 characters in the annotation.
func (d *daemon) fail(ctx context.Context, err error) {
	state := stateDegraded
	var u *errUnreconcilable
	if errors.As(err, &u) {
		state = stateUnreconciled
		d.log.errorf("writer.go:207", "Marking Unreconcilable due to: %v", err)
	} else {
		d.log.errorf("writer.go:231", "Marking Degraded due to: %q", err)
	}
	reason := fmt.Sprintf("%.2000s", err.Error())
	if _, werr := d.annotate(ctx, map[string]string{annoState: state, annoReason: reason}); werr != nil {
		d.log.errorf("writer.go:249", "Error setting %s annotation for node %s: %v", state, d.name, werr)
	}
}

// annotate merges annotations into the Node; nothing else of it is touched. The
// daemon's own copy stays as it was seen until the next sync.
func (d *daemon) annotate(ctx context.Context, annos map[string]string) (*corev1.Node, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annos}})
	if err != nil {
		return nil, err
	}
	return d.client.CoreV1().Nodes().Patch(ctx, d.name, types.MergePatchType, patch, metav1.PatchOptions{})
}

func (d *daemon) event(ctx context.Context, kind, reason, format string, a ...any) {
	if d.node == nil {
		return
	}
	err := recordEvent(ctx, d.client, "machineconfigdaemon", d.name, string(d.node.UID), kind, reason, fmt.Sprintf(format, a...), metav1.NewTime(d.now()))
	if err != nil && ctx.Err() == nil {
		d.log.errorf("event.go:359", "Server rejected event: %v", err)
	}
}

// sync is one pass of pkg/daemon/daemon.go syncNode.
func (d *daemon) sync(ctx context.Context) error {
	// As the lister of the product: what the API server keeps in memory.
	node, err := d.client.CoreV1().Nodes().Get(ctx, d.name, metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	if node.Annotations[annoPostAction] == stateRebooting {
		d.log.infof("daemon.go:721", "Detected Rebooting Annotation, applying MCN.")
		if _, err := d.annotate(ctx, map[string]string{annoPostAction: ""}); err != nil {
			d.log.errorf("daemon.go:739", "Could not unset rebooting Anno: %v", err)
		}
	}
	d.see(node)
	if d.booting {
		if err := d.cleanUp(); err != nil {
			return err
		}
		if err := d.firstRun(ctx); err != nil {
			return err
		}
		d.booting = false
		return nil
	}
	if err := d.writeKubeletCA(ctx); err != nil && ctx.Err() == nil {
		d.log.errorf("certificate_writer.go:78", "Error syncing ControllerConfig: %v", err)
	}
	if want := node.Annotations[annoDesiredDrain]; want != "" && want != node.Annotations[annoAppliedDrain] {
		d.log.infof("daemon.go:825", "A previously requested drain has not yet completed. Waiting for machine-config-controller to finish draining node.")
		return nil
	}
	u, err := d.prepare(ctx)
	if err != nil {
		return err
	}
	if u == nil {
		return d.checkDrift(ctx)
	}
	if err := d.preflight(ctx); err != nil {
		return err
	}
	return d.trigger(ctx, u.current, u.desired)
}

// see keeps the Node and logs what changed in it.
func (d *daemon) see(node *corev1.Node) {
	if d.node == nil {
		if _, ok := node.Labels[labelMaster]; ok {
			d.log.infof("daemon.go:663", "Node %s is part of the control plane", node.Name)
		} else {
			d.log.infof("daemon.go:669", "Node %s is not labeled %s", node.Name, labelMaster)
		}
	} else {
		was, is := d.node.Annotations, node.Annotations
		if was[annoState] != is[annoState] {
			d.log.infof("daemon.go:758", "Transitioned from state: %v -> %v", was[annoState], is[annoState])
		}
		if was[annoReason] != is[annoReason] {
			d.log.infof("daemon.go:761", "Transitioned from degraded/unreconcilable reason %v -> %v", was[annoReason], is[annoReason])
		}
	}
	d.node = node
}

// cleanUp removes what the first boot may have left
// (pkg/daemon/daemon.go upgradeHackFor44AndBelow, removeIgnitionArtifacts).
func (d *daemon) cleanUp() error {
	if d.disk.exists(encapsulatedPath) {
		d.log.warnf("daemon.go:1964", "Failed to complete machine-config-daemon-firstboot before joining cluster!")
		if err := d.disk.rename(encapsulatedPath, encapsulatedBakPath); err != nil {
			return fmt.Errorf("failed to rename encapsulated MachineConfig after processing on firstboot: %w", err)
		}
	}
	return d.disk.remove(presetPath)
}

// checkDrift is the config drift monitor
// (pkg/daemon/config_drift_monitor.go, daemon.go onConfigDrift): a managed file
// that somebody changed makes the node Degraded. The product is told of changes, here
// everything is read, which is not for every sync.
func (d *daemon) checkDrift(ctx context.Context) error {
	if d.now().Sub(d.matched) < d.pace.DaemonDrift {
		return nil
	}
	mc, err := readCurrentConfig(d.disk)
	if err != nil {
		return nil // not written yet, so nothing to compare with
	}
	if err := d.validate(mc); err != nil {
		d.event(ctx, corev1.EventTypeWarning, "ConfigDriftDetected", "%s", err)
		return err
	}
	d.matched = d.now()
	return nil
}

// preflight refuses to update a disk that is not in the state that it claims
// (pkg/daemon/daemon.go runPreflightConfigDriftCheck).
func (d *daemon) preflight(ctx context.Context) error {
	if d.disk.exists(forceFilePath) {
		d.log.infof("daemon.go:933", "Skipping preflight config drift check; %s present", forceFilePath)
		return nil
	}
	mc, err := readCurrentConfig(d.disk)
	if errors.Is(err, os.ErrNotExist) {
		st, err := d.states(ctx)
		if err != nil {
			return fmt.Errorf("could not get the state: %w", err)
		}
		mc = st.current
	} else if err != nil {
		return err
	}
	start := d.now()
	if err := d.validate(mc); err != nil {
		d.event(ctx, corev1.EventTypeWarning, "PreflightConfigDriftCheckFailed", "%s", err)
		d.log.errorf("daemon.go:952", "Preflight config drift check failed: %v", err)
		return err
	}
	d.log.infof("daemon.go:956", "Preflight config drift check successful (took %s)", d.now().Sub(start))
	return nil
}
