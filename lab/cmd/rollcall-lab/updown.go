package main

import (
	"cmp"
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
	"text/tabwriter"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/build"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/trouble"
)

// story is what `up` hands to the supervisor that it starts.
type story struct {
	scenario lab.Scenario
	mcs      string
	from     lab.Dir // a snapshot of a healthy cluster; empty: a new install
	stand    time.Duration
	install  string // directory of an installation with extra manifests
}

// storyFlags reads the flags and the argument that up and supervise share.
func storyFlags(e env, name string, args []string) (story, error) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(e.stderr)
	mcs := flags.String("mcs", "", "release of the in-cluster machine config server: 4.20 (default) or 4.14")
	from := flags.String("from", "", "directory of a snapshot of a healthy lab to begin with, instead of an install")
	install := flags.String("install-dir", "", "directory of an installation, whose extra manifests (manifests, openshift) the bootstrap host and the "+
		"cluster get")
	stand := flags.Duration("stand", -1, "let the cluster have stood like this for so long (default: as long as the scenario says)")
	rest, err := parse(flags, args)
	if err != nil {
		return story{}, err
	}
	if len(rest) != 1 {
		return story{}, fmt.Errorf("%s wants the name of one scenario; `scenarios` lists them, + combines them", name)
	}
	s := story{mcs: *mcs, from: lab.Dir(*from), stand: *stand}
	if *install != "" {
		if s.install, err = filepath.Abs(*install); err != nil {
			return story{}, err
		}
	}
	if s.scenario, err = lab.FindScenario(rest[0], trouble.All()); err != nil {
		return story{}, err
	}
	switch wanted := s.scenario.MCS(); {
	case s.mcs != "" && wanted != "" && s.mcs != wanted:
		return story{}, fmt.Errorf("%s is about the machine config server of %s", rest[0], wanted)
	case s.mcs == "":
		s.mcs = cmp.Or(wanted, "4.20")
	case s.mcs != "4.20" && s.mcs != "4.14":
		return story{}, fmt.Errorf("there is no machine config server %q: 4.20 or 4.14", s.mcs)
	}
	if s.from != "" && !s.scenario.Workers {
		return story{}, fmt.Errorf("%s begins with an install and cannot go on with a snapshot", rest[0])
	}
	if s.from != "" && s.install != "" {
		return story{}, errors.New("a snapshot is installed already: give --install-dir without --from")
	}
	return s, nil
}

// up builds what is missing, starts a supervisor that outlives this command and
// waits for it.
func up(ctx context.Context, e env, args []string) error {
	s, err := storyFlags(e, "up", args)
	if err != nil {
		return err
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
	if err := e.dir.Create(s.scenario.Name); err != nil {
		return err
	}
	if s.from != "" {
		if err := e.dir.Restore(s.from); err != nil {
			return errors.Join(err, e.dir.Remove())
		}
	}
	gone, err := startSupervisor(e, s)
	if err != nil {
		return err
	}
	return follow(ctx, e, gone)
}

// snapshot stops the lab and copies it, to be continued with by `up --from`.
func snapshot(ctx context.Context, e env, args []string) error {
	if len(args) != 1 {
		return errors.New("snapshot wants one directory to write to")
	}
	to := lab.Dir(args[0])
	release, err := commandLock(e)
	if err != nil {
		return err
	}
	defer release()
	s, err := e.dir.ReadState()
	if err != nil {
		return fmt.Errorf("there is no lab in %s", e.dir)
	}
	if s.Scenario != "cluster" || s.Stage != lab.Ready {
		return fmt.Errorf("make a snapshot: only the scenario cluster, when it is ready, can be gone on with, this is %s, %s", s.Scenario, s.Stage)
	}
	if err := to.Create(s.Scenario); err != nil {
		return err
	}
	if err := stop(ctx, e); err != nil {
		return err
	}
	if err := e.dir.CopyTo(to); err != nil {
		return err
	}
	dir, err := filepath.Abs(string(e.dir))
	if err != nil {
		return err
	}
	if err := to.MarkSnapshot(dir); err != nil {
		return err
	}
	return e.dir.Remove()
}

// scenarios lists what `up` knows.
func scenarios(_ context.Context, e env, args []string) error {
	flags := flag.NewFlagSet("scenarios", flag.ContinueOnError)
	flags.SetOutput(e.stderr)
	format := flags.String("o", "text", "text or name")
	if _, err := parse(flags, args); err != nil {
		return err
	}
	type row struct{ name, about string }
	var rows []row
	for _, s := range lab.Bases() {
		rows = append(rows, row{s.Name, s.About})
	}
	for _, t := range trouble.All() {
		rows = append(rows, row{t.Name, t.About})
	}
	if *format == "name" {
		for _, r := range rows {
			fmt.Fprintln(e.stdout, r.name)
		}
		return nil
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\n", r.name, r.about)
	}
	return w.Flush()
}

// startSupervisor starts this program again as the supervisor, in a session of
// its own. The channel closes when it ends.
func startSupervisor(e env, s story) (<-chan struct{}, error) {
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
	args = append(args, "supervise", "--mcs", s.mcs, "--from", string(s.from), "--stand", s.stand.String(), "--install-dir", s.install, s.scenario.Name)
	cmd := exec.Command(self, args...)
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
			if err := stop(context.WithoutCancel(ctx), e); err != nil {
				return errors.Join(ctx.Err(), err) // the directory says whom the next one has to stop
			}
			return errors.Join(ctx.Err(), e.dir.Remove())
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
	s, err := storyFlags(e, "supervise", args)
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
	if err := e.dir.Claim(); err != nil { // from here on somebody may want to end it
		return err
	}
	builder, err := newBuilder(e)
	if err != nil {
		return err
	}
	art, err := builder.All(ctx)
	if err != nil {
		return err
	}
	err = lab.Run(ctx, lab.Options{
		Dir: e.dir, Scenario: s.scenario, MCS: s.mcs, Resume: s.from != "", InstallDir: s.install, Stand: s.stand, Artifacts: art,
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
// started. It takes 90 seconds at most.
func stop(ctx context.Context, e env) error {
	var s lab.State
	// One that has just begun says in a moment who it is, and one that ends is gone in a moment.
	ended, err := e.polled(ctx, func() (bool, error) {
		var err error
		s, err = e.dir.ReadState()
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return s.PID != 0, err
	})
	if err != nil || ended {
		return err
	}
	if s.PID == 0 {
		return fmt.Errorf("stop the lab: somebody holds %s.lock but does not say who it is", e.dir)
	}
	if err := isSupervisor(s.PID); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have just ended
		return err
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(s.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the supervisor %d: %w", s.PID, err)
		}
		if ended, err := e.polled(ctx, func() (bool, error) { return false, nil }); err != nil || ended {
			return err
		}
	}
	return fmt.Errorf("the supervisor %d does not end", s.PID)
}

// polled looks for 30 seconds whether the lab's supervisor has ended, or until enough says that this is long enough.
func (e env) polled(ctx context.Context, enough func() (bool, error)) (ended bool, err error) {
	for range 300 {
		release, free, err := e.dir.Lock()
		if err != nil {
			return false, err
		}
		if free {
			release()
			return true, nil
		}
		if stop, err := enough(); stop || err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return false, nil
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
