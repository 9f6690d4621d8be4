package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Host is one machine. It is made by New and run by Run.
type Host struct {
	cfg     Config
	pace    Pace
	log     *slog.Logger
	now     func() time.Time
	console *console
	disk    *disk

	mu    sync.Mutex
	state State

	resuming bool // this life of the kernel began before Run
}

// New makes a machine that is switched off. Mistakes in the configuration are
// reported by Run.
func New(cfg Config) *Host {
	if abs, err := filepath.Abs(cfg.Dir); err == nil && cfg.Dir != "" {
		cfg.Dir = abs // the kubelet's files name each other by absolute path
	}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Host{cfg: cfg, pace: cfg.Pace.withDefaults(), log: log.With("host", cfg.Name), now: time.Now}
}

// kernelVersion is what the simulated nodes report; RHCOS of 4.20 is built on
// the RHEL 9.6 kernel.
const kernelVersion = "5.14.0-570.el9.x86_64"

// errReboot ends a boot because the machine restarts.
var errReboot = errors.New("reboot")

// Run powers the machine on and lets it behave until ctx ends, which is power
// off and gives nil. An error means that the simulation itself cannot continue; a
// machine in trouble is not an error.
func (h *Host) Run(ctx context.Context) error {
	if err := h.cfg.validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(h.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("create directory of host %s: %w", h.cfg.Name, err)
	}
	screen, err := os.OpenFile(filepath.Join(h.cfg.Dir, "console.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open console of host %s: %w", h.cfg.Name, err)
	}
	defer screen.Close()
	h.console = newConsole(screen, h.now)
	if h.disk, err = openDisk(filepath.Join(h.cfg.Dir, "root")); err != nil {
		return err
	}
	defer h.disk.root.Close()
	if err := h.loadState(); err != nil {
		return err
	}
	h.resuming = h.cfg.Resume && h.state.Phase == PhaseRunning
	for {
		err := h.boot(ctx)
		h.resuming = false
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errReboot):
			if !h.sleep(ctx, h.pace.Reboot) {
				return nil
			}
		default:
			return fmt.Errorf("host %s: %w", h.cfg.Name, err)
		}
	}
}

func (h *Host) loadState() error {
	s, err := ReadState(h.cfg.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s = State{Phase: PhaseIgnition, Since: h.now().UTC(), OSImage: h.cfg.BootImage, MachineID: newMachineID(), SystemUUID: newUUID()}
	case err != nil:
		return err
	}
	h.state = s
	return nil
}

// newMachineID has the form of /etc/machine-id.
func newMachineID() string {
	id := []byte(newUUID())
	return string(slices.DeleteFunc(id, func(b byte) bool { return b == '-' }))
}

// update changes the state under the lock and keeps it.
func (h *Host) update(change func(*State)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.state
	change(&s)
	if s.Phase != h.state.Phase {
		s.Since = h.now().UTC()
		if s.Reason == h.state.Reason {
			s.Reason = ""
		}
	}
	if err := writeState(h.cfg.Dir, s); err != nil {
		return err
	}
	h.state = s
	return nil
}

// snapshot returns the state of now.
func (h *Host) snapshot() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// boot is one life of a kernel: from power-on or reboot to the next reboot, or
// to the end of ctx.
func (h *Host) boot(ctx context.Context) error {
	if h.resuming {
		return h.runServices(ctx)
	}
	installed := h.snapshot().Phase
	if err := h.update(startKernel); err != nil {
		return err
	}
	h.console.powerOn()
	h.console.status("[    0.000000] Linux version " + kernelVersion)
	h.log.Info("kernel started", "bootID", h.snapshot().BootID, "phase", installed)
	if !h.sleep(ctx, h.pace.Firmware) {
		return ctx.Err()
	}
	if installed == PhaseIgnition || installed == PhaseFailed {
		if err := h.provision(ctx); err != nil {
			return err
		}
	}
	if h.disk.exists(encapsulatedPath) {
		if err := h.firstBoot(ctx); err != nil {
			return err
		}
	}
	if err := h.awaitHostname(ctx); err != nil {
		return err
	}
	if err := h.update(func(s *State) { s.Phase = PhaseRunning }); err != nil {
		return err
	}
	return h.runServices(ctx)
}

// startKernel gives the machine a new boot and lets what rpm-ostree staged
// take effect.
func startKernel(s *State) {
	s.Boots++
	s.BootID = newUUID()
	s.Registered = false
	if s.StagedOSImage != nil {
		s.OSImage, s.KernelArguments = *s.StagedOSImage, s.StagedKernelArguments
		s.StagedOSImage, s.StagedKernelArguments = nil, nil
	}
}

// provision is the first boot's initramfs: fetch the config and put it on the
// disk. When Ignition gives up, the machine sits in the emergency shell.
func (h *Host) provision(ctx context.Context) error {
	if err := h.update(func(s *State) { s.Phase = PhaseIgnition }); err != nil {
		return err
	}
	cfg, err := h.fetchConfig(ctx)
	var gaveUp *errIgnition
	if errors.As(err, &gaveUp) {
		h.emergency()
		if err := h.update(func(s *State) { s.Phase, s.Reason = PhaseFailed, gaveUp.Error() }); err != nil {
			return err
		}
		h.log.Warn("ignition failed", "error", gaveUp)
		<-ctx.Done()
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	if err := h.disk.install(cfg); err != nil {
		return fmt.Errorf("write fetched config to disk: %w", err)
	}
	h.console.status("[  OK  ] Finished Ignition (files).")
	h.log.Info("config written to disk", "files", len(cfg.Storage.Files), "units", len(cfg.Systemd.Units))
	return h.update(func(s *State) { s.Phase = PhaseFirstBoot })
}

// reboot marks the machine as going down; the caller returns errReboot.
func (h *Host) reboot(reason string) error {
	h.console.log("systemd-shutdown[1]", "Rebooting.")
	h.log.Info("reboot", "reason", reason)
	return h.update(func(s *State) { s.Phase, s.Reason = PhaseRebooting, reason })
}

// sleep waits d, and says whether ctx is still alive.
func (h *Host) sleep(ctx context.Context, d time.Duration) bool { return h.sleepOr(ctx.Done(), d) }

// sleepOr waits d, and says whether done is still open.
func (h *Host) sleepOr(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return false
	case <-t.C:
		return true
	}
}
