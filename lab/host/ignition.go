package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// errIgnition is Ignition's own failure: a non-zero exit while no one asked it
// to stop.
type errIgnition struct {
	exit int
	last string // the last line that it printed
}

func (e *errIgnition) Error() string {
	return fmt.Sprintf("ignition exited with status %d: %s", e.exit, e.last)
}

const ignitionUnit = "Ignition (fetch)"

// outputDelay is how long the last output of a program may take to be copied after it has
// exited. Exceeding it is an error, which ends the machine for good: on a machine that stands
// still for some seconds a shorter one does.
const outputDelay = time.Minute

// fetchConfig runs Ignition's fetch stage on the pointer until it has the
// whole config, which on a config server's 500 is forever, and returns the
// config. Every line that Ignition prints goes to the console unchanged.
func (h *Host) fetchConfig(ctx context.Context) (ignConfig, error) {
	run := filepath.Join(h.cfg.Dir, "run")
	if err := os.RemoveAll(run); err != nil {
		return ignConfig{}, fmt.Errorf("clear %s: %w", run, err)
	}
	if err := os.MkdirAll(run, 0o700); err != nil {
		return ignConfig{}, fmt.Errorf("create %s: %w", run, err)
	}
	// /run is memory on a machine: the config must not outlive the boot.
	defer os.RemoveAll(run)
	pointer, cache := filepath.Join(run, "pointer.ign"), filepath.Join(run, "ignition.json")
	if err := os.WriteFile(pointer, h.cfg.Pointer, 0o600); err != nil {
		return ignConfig{}, fmt.Errorf("write pointer config: %w", err)
	}
	cmd := exec.CommandContext(ctx, h.cfg.IgnitionBin,
		"--platform=file", "--stage=fetch", "--log-to-stdout",
		"--config-cache="+cache,
		"--root="+h.disk.base,
		"--state-file="+filepath.Join(run, "state"),
		"--neednet="+filepath.Join(run, "neednet"))
	cmd.Env = append(os.Environ(), "IGNITION_CONFIG_FILE="+pointer)
	cmd.WaitDelay = outputDelay
	if err := h.watchIgnition(ctx, cmd); err != nil {
		return ignConfig{}, err
	}
	raw, err := os.ReadFile(cache)
	if err != nil {
		return ignConfig{}, fmt.Errorf("read config that ignition fetched: %w", err)
	}
	return parseIgnition(raw)
}

// watchIgnition runs cmd with its output on the console and systemd's line
// about the waiting job between.
func (h *Host) watchIgnition(ctx context.Context, cmd *exec.Cmd) error {
	pr, pw := io.Pipe()
	cmd.Stdout, cmd.Stderr = pw, pw
	h.console.status("         Starting " + ignitionUnit + "...")
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start ignition: %w", err)
	}
	done := make(chan struct{})
	var last string
	var wg sync.WaitGroup
	wg.Go(func() {
		last = h.copyLines(pr, fmt.Sprintf("ignition[%d]", cmd.Process.Pid))
	})
	wg.Go(func() { h.startJobLines(done) })
	err := cmd.Wait()
	pw.Close()
	close(done)
	wg.Wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return &errIgnition{exit: exit.ExitCode(), last: last}
	case err != nil:
		return fmt.Errorf("run ignition: %w", err)
	}
	h.console.status("[  OK  ] Finished " + ignitionUnit + ".")
	return nil
}

// startJobLines prints now and then that the job still runs, until done.
func (h *Host) startJobLines(done <-chan struct{}) {
	began := h.now()
	for h.sleepOr(done, h.pace.StartJob) {
		h.console.status(startJob(ignitionUnit, h.now().Sub(began)))
	}
}

// copyLines copies r to the console line by line and returns the last one. A
// line is never cut: whoever reads the console must see all of it.
func (h *Host) copyLines(r io.Reader, source string) (last string) {
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			h.console.log(source, line)
			last = line
		}
		if err != nil {
			return last
		}
	}
}

// emergency prints what dracut shows after Ignition failed
// (coreos/ignition:dracut/30ignition/ignition-fetch.service OnFailure=emergency.target,
// systemd's and dracut's emergency shell).
func (h *Host) emergency() {
	for _, line := range []string{
		"[FAILED] Failed to start " + ignitionUnit + ".",
		"See 'systemctl status ignition-fetch.service' for details.",
		"[DEPEND] Dependency failed for Ignition Complete.",
		"[  OK  ] Reached target Emergency Mode.",
		"         Starting Emergency Shell...",
	} {
		h.console.status(line)
	}
	h.console.log("systemd[1]", "ignition-fetch.service: Triggering OnFailure= dependencies.")
	h.console.log("systemd[1]", "Reached target emergency.target - Emergency Mode.")
	h.console.status("Press Enter for emergency shell or wait 5 minutes for reboot.")
}
