package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/build"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// up builds what is missing, starts a supervisor that outlives this command and
// waits for it.
func up(ctx context.Context, e env, args []string) error {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	flags.SetOutput(e.stderr)
	mcs := flags.String("mcs", "4.20", "release of the in-cluster machine config server: 4.20 or 4.14")
	rest, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return errors.New("up wants the name of one scenario")
	}
	scenario, err := lab.FindScenario(rest[0])
	if err != nil {
		return err
	}
	if *mcs != "4.20" && *mcs != "4.14" {
		return fmt.Errorf("there is no machine config server %q: 4.20 or 4.14", *mcs)
	}
	release, err := commandLock(e)
	if err != nil {
		return err
	}
	defer release()
	builder, err := newBuilder(e)
	if err != nil {
		return err
	}
	if _, err := builder.All(ctx); err != nil {
		return err
	}
	if old, err := e.dir.ReadState(); err == nil {
		fmt.Fprintf(e.stderr, "replacing the lab %s that was started %s\n", old.Scenario, old.Started.Format(time.RFC3339))
	}
	if err := stop(ctx, e); err != nil {
		return err
	}
	if err := e.dir.Remove(); err != nil {
		return fmt.Errorf("remove the old lab: %w", err)
	}
	if err := e.dir.Create(scenario.Name); err != nil {
		return err
	}
	gone, err := startSupervisor(e, scenario.Name, *mcs)
	if err != nil {
		return err
	}
	return follow(ctx, e, gone)
}

// startSupervisor starts this program again as the supervisor, in a session of
// its own. The channel closes when it ends.
func startSupervisor(e env, scenario, mcs string) (<-chan struct{}, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(string(e.dir))
	if err != nil {
		return nil, err
	}
	log, err := os.Create(e.dir.SupervisorLog())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"--dir", dir}
	if e.source != "" {
		args = append(args, "--source", e.source)
	}
	cmd := exec.Command(self, append(args, "supervise", "--mcs", mcs, scenario)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in its state and log
		close(gone)
	}()
	return gone, nil
}

// follow says what the supervisor does until the lab is ready. Who gives up
// waiting takes the half-made lab down.
func follow(ctx context.Context, e env, gone <-chan struct{}) error {
	said, began := "", time.Now()
	for {
		s, err := e.dir.ReadState()
		if err != nil {
			return err
		}
		if s.Step != said && s.Step != "" {
			said = s.Step
			fmt.Fprintf(e.stderr, "%4.0fs  %s\n", time.Since(began).Seconds(), said)
		}
		switch s.Stage {
		case lab.Ready:
			fmt.Fprintf(e.stderr, "ready: export KUBECONFIG=%s\n", e.dir.Kubeconfig())
			return nil
		case lab.Failed:
			return fmt.Errorf("the lab did not come up: %s\nlogs are below %s; `down` removes them", s.Error, e.dir)
		}
		select {
		case <-ctx.Done():
			fmt.Fprintln(e.stderr, "interrupted, taking the lab down")
			clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			return errors.Join(ctx.Err(), stop(clean, e), e.dir.Remove())
		case <-gone:
			if s, err := e.dir.ReadState(); err == nil && s.Stage == lab.Failed {
				continue
			}
			return fmt.Errorf("the supervisor ended while starting; see %s", e.dir.SupervisorLog())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// supervise is the process that owns a lab.
func supervise(ctx context.Context, e env, args []string) error {
	flags := flag.NewFlagSet("supervise", flag.ContinueOnError)
	mcs := flags.String("mcs", "4.20", "")
	rest, err := parse(flags, args)
	if err != nil || len(rest) != 1 {
		return errUsage
	}
	scenario, err := lab.FindScenario(rest[0])
	if err != nil {
		return err
	}
	release, ok, err := e.dir.Lock()
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("another supervisor runs")
	}
	defer release()
	builder, err := newBuilder(e)
	if err != nil {
		return err
	}
	art, err := builder.All(ctx)
	if err != nil {
		return err
	}
	err = lab.Run(ctx, lab.Options{
		Dir: e.dir, Scenario: scenario, MCS: *mcs, Artifacts: art,
		Logger: slog.New(slog.NewTextHandler(e.stderr, nil)),
	})
	return err
}

// down stops the lab and removes its directory.
func down(ctx context.Context, e env, _ []string) error {
	release, err := commandLock(e)
	if err != nil {
		return err
	}
	defer release()
	if err := stop(ctx, e); err != nil {
		return err
	}
	if err := e.dir.Remove(); err != nil {
		return fmt.Errorf("remove %s: %w", e.dir, err)
	}
	return e.dir.RemoveLocks()
}

// stop ends the supervisor of a lab, if one lives, and with it all that it
// started.
func stop(ctx context.Context, e env) error {
	release, free, err := e.dir.Lock()
	if err != nil {
		return err
	}
	if free {
		release()
		return nil
	}
	s, err := e.dir.ReadState()
	if errors.Is(err, fs.ErrNotExist) || s.PID == 0 {
		return fmt.Errorf("stop the lab: somebody holds %s.lock but does not say who it is", e.dir)
	}
	if err != nil {
		return err
	}
	if err := isSupervisor(s.PID); err != nil {
		return err
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(s.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the supervisor %d: %w", s.PID, err)
		}
		for range 300 {
			release, free, err := e.dir.Lock()
			if err != nil {
				return err
			}
			if free {
				release()
				return nil
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return fmt.Errorf("the supervisor %d does not end", s.PID)
}

// isSupervisor makes sure that a number read from a file still is one of ours.
func isSupervisor(pid int) error {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return fmt.Errorf("look at the supervisor %d: %w", pid, err)
	}
	if !strings.Contains(string(line), "\x00supervise\x00") {
		return fmt.Errorf("stop the lab: process %d is no supervisor", pid)
	}
	return nil
}

func commandLock(e env) (func(), error) {
	release, ok, err := e.dir.LockCommands()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("another up or down runs")
	}
	return release, nil
}

func newBuilder(e env) (build.Builder, error) {
	source := e.source
	if source == "" {
		wd, err := os.Getwd()
		if err != nil {
			return build.Builder{}, err
		}
		if source, err = build.FindSource(wd); err != nil {
			return build.Builder{}, err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return build.Builder{}, err
	}
	return build.Builder{Source: source, Cache: filepath.Join(cache, "rollcall", "lab"), Progress: e.stderr}, nil
}

// buildAll is for a CI job that wants the building apart from the running.
func buildAll(ctx context.Context, e env, _ []string) error {
	builder, err := newBuilder(e)
	if err != nil {
		return err
	}
	_, err = builder.All(ctx)
	return err
}
