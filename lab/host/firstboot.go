package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// firstBoot is machine-config-daemon-pull.service and
// machine-config-daemon-firstboot.service
// (openshift/machine-config-operator:templates/common/_base/units,
// pkg/daemon/daemon.go RunFirstbootCompleteMachineconfig). The encapsulated
// config has no Ignition part, so only the OS image, kernel arguments,
// extensions and kernel type can differ from what was booted. If nothing
// differs, the encapsulated file is removed and the boot continues, leaving no
// currentconfig; else the OS is rebased, the encapsulated config becomes
// currentconfig, the file becomes .bak, and the machine reboots. An error is
// retried forever and keeps the kubelet from starting, as there
// (cmd/machine-config-daemon/firstboot_complete_machineconfig.go).
func (h *Host) firstBoot(ctx context.Context) error {
	h.console.status("         Starting Machine Config Daemon Pull...")
	if err := h.pull(ctx); err != nil {
		return err
	}
	h.console.status("[  OK  ] Finished Machine Config Daemon Pull.")
	h.console.status("         Starting Machine Config Daemon Firstboot...")
	unit := &journal{path: h.journalPath("machine-config-daemon-firstboot"), host: h.cfg.Name, ident: "podman", pid: os.Getpid(), now: h.now}
	log := &klogger{w: io.Discard, now: h.now, pid: os.Getpid(), also: func(line string) {
		h.console.log(fmt.Sprintf("machine-config-daemon[%d]", os.Getpid()), line)
		unit.log(line)
	}}
	for {
		err := h.tryFirstBoot(log)
		if err == nil || errors.Is(err, errReboot) {
			return err
		}
		log.warnf("firstboot_complete_machineconfig.go:70", "error: %v", err)
		log.infof("firstboot_complete_machineconfig.go:71", "Sleeping 1 minute for retry")
		h.log.Warn("first boot failed, will retry", "error", err)
		if !h.sleep(ctx, h.pace.FirstBootRetry) {
			return ctx.Err()
		}
	}
}

// pull loops over podman once a second, without a limit and without an error
// exit, until it has the machine-config-daemon's image
// (openshift/machine-config-operator:templates/common/_base/units/machine-config-daemon-pull.service.yaml).
func (h *Host) pull(ctx context.Context) error {
	if !h.sleep(ctx, h.pace.FirstBoot) {
		return ctx.Err()
	}
	if h.cfg.Pull == nil {
		return nil
	}
	began, said := h.now(), h.now()
	for {
		err := h.cfg.Pull(h.cfg.DaemonImage)
		if err == nil {
			return nil
		}
		h.console.log(fmt.Sprintf("podman[%d]", os.Getpid()), "Trying to pull "+h.cfg.DaemonImage+"...")
		h.console.log(fmt.Sprintf("podman[%d]", os.Getpid()), "Error: "+err.Error())
		if h.now().Sub(said) >= h.pace.StartJob {
			said = h.now()
			h.console.status(startJob("Machine Config Daemon Pull", said.Sub(began)))
		}
		if !h.sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

func (h *Host) tryFirstBoot(log *klogger) error {
	raw, err := h.disk.read(encapsulatedPath)
	if err != nil {
		return err
	}
	var mc machineConfig
	if err := json.Unmarshal(raw, &mc); err != nil {
		return fmt.Errorf("failed to parse MachineConfig: %w", err)
	}
	booted := h.snapshot()
	old := emptyMachineConfig()
	old.Spec.OSImageURL, old.Spec.KernelArguments = booted.OSImage, booted.KernelArguments
	old.Spec.FIPS = mc.Spec.FIPS // the boot image is installed with the FIPS mode that was asked for
	log.infof("daemon.go:1267", "rpm-ostree has container feature")
	diff, err := diffConfigs(old, &mc, false)
	if err != nil {
		return fmt.Errorf("failed to compare MachineConfig: %w", err)
	}
	if !diff.empty() {
		return h.firstBootUpdate(log, old, &mc, diff)
	}
	log.system("No changes from %s to %s", old.Name, mc.Name)
	if err := h.disk.remove(encapsulatedPath); err != nil {
		return fmt.Errorf("failed to remove %s: %w", encapsulatedPath, err)
	}
	log.system("skipping reboot since no changes were detected from %s to %s", old.Name, mc.Name)
	h.console.status("[  OK  ] Finished Machine Config Daemon Firstboot.")
	return nil
}

func (h *Host) firstBootUpdate(log *klogger, old, mc *machineConfig, diff *configDiff) error {
	log.system("Changes detected from %s to %s: %+v", old.Name, mc.Name, diff)
	log.infof("update.go:979", "Checking Reconcilable for config %v to %v", old.Name, mc.Name)
	log.system("Starting update from %s to %s: %+v", old.Name, mc.Name, diff)
	log.infof("update.go:1017", "Skipping node disruption polciies as node is executing first boot.")
	if diff.osUpdate {
		log.infof("update.go:2546", "Updating OS to layered image %q", mc.Spec.OSImageURL)
	}
	if err := h.stageOS(mc); err != nil {
		return err
	}
	if err := storeCurrentConfig(h.disk, log, mc); err != nil {
		return err
	}
	if err := h.disk.rename(encapsulatedPath, encapsulatedBakPath); err != nil {
		return fmt.Errorf("rename encapsulated MachineConfig: %w", err)
	}
	reason := "Completing firstboot provisioning to " + mc.Name
	log.system("initiating reboot: %s", reason)
	if err := h.reboot(reason); err != nil {
		return err
	}
	return errReboot
}

// stageOS is rpm-ostree's part: what takes effect at the next kernel.
func (h *Host) stageOS(mc *machineConfig) error {
	return h.update(func(s *State) {
		image := mc.Spec.OSImageURL
		s.StagedOSImage, s.StagedKernelArguments = &image, splitKernelArguments(mc.Spec.KernelArguments)
	})
}

// storeCurrentConfig writes currentconfig and an empty currentimage
// (pkg/daemon/daemon.go storeCurrentConfigOnDisk).
func storeCurrentConfig(d *disk, log *klogger, mc *machineConfig) error {
	log.infof("update.go:1208", "update: about to store CURRENT on-disk config: MC=%q, Spec.OSImageURL=%q, extracted-image=%q", mc.Name, mc.Spec.OSImageURL, "")
	raw, err := json.Marshal(mc)
	if err != nil {
		return fmt.Errorf("encode currentconfig: %w", err)
	}
	if err := d.write(currentConfigPath, raw, defaultFileMode); err != nil {
		return err
	}
	return d.write(currentImagePath, nil, defaultFileMode)
}
