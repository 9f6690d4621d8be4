package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/archive/archivetest"
)

// sample is the processor time of a piece of work and of what it is compared with.
type sample struct{ work, against time.Duration }

func (s sample) ratio() float64 { return s.work.Seconds() / s.against.Seconds() }

// work is what is measured.
type work struct {
	name    string
	command []string
	exit    int    // the exit code that is expected
	against string // "calibration", or another program
	other   []string
	each    int    // how many times the command does it
	skip    string // why it cannot be measured here
}

// measure runs the work, and right before and right behind it what it is compared with.
func (w work) measure(ctx context.Context) (sample, error) {
	before, err := cpuOf(ctx, w.other, 0)
	if err != nil {
		return sample{}, err
	}
	took, err := cpuOf(ctx, w.command, w.exit)
	if err != nil {
		return sample{}, err
	}
	behind, err := cpuOf(ctx, w.other, 0)
	return sample{took / time.Duration(max(1, w.each)), (before + behind) / 2}, err
}

// cpuOf runs a command to its end and returns its processor time.
func cpuOf(ctx context.Context, command []string, exit int) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	// As a user runs it: what the caller set for the compiler's garbage is not for this.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GOGC=") || strings.HasPrefix(v, "GOMEMLIMIT=")
	})
	var failed bytes.Buffer
	cmd.Stderr = &failed
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) || cmd.ProcessState.ExitCode() != exit {
		return 0, fmt.Errorf("run %s: %v, want exit code %d: %s", filepath.Base(command[0]), err, exit, failed.Bytes())
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// works prepares what is measured in a directory.
func works(ctx context.Context, dir string) ([]work, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	rollcall, err := built(ctx, dir)
	if err != nil {
		return nil, err
	}
	mustGather := filepath.Join(dir, "must-gather.tar.gz")
	base, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		return nil, err
	}
	if _, err := archivetest.File(mustGather, base, 24_000_000); err != nil {
		return nil, err
	}
	list := []work{{name: "diagnose a must-gather of 24 MB", command: []string{rollcall, "diagnose", "--from", mustGather, "-o", "json"}}}
	for _, b := range []struct{ name, folder, bench, times string }{
		{"load the catalog", "internal/kernel/fault", "BenchmarkLoad", "50"},
		{"400 faults over 30 hosts", "internal/kernel/diagnose", "BenchmarkCatalogue", "20"},
		{"sanitize 10,000 pods", "internal/sanitize", "BenchmarkObject", "10000"},
	} {
		test := filepath.Join(dir, filepath.Base(b.folder)+".test")
		if err := goTool(ctx, "test", "-c", "-o", test, "./"+b.folder); err != nil {
			return nil, err
		}
		times, err := strconv.Atoi(b.times)
		if err != nil {
			return nil, err
		}
		w := work{name: b.name, each: times, command: []string{test, "-test.run", "^$", "-test.bench", "^" + b.bench + "$", "-test.benchtime", b.times + "x"}}
		if times == 10000 {
			w.each = 1
		}
		list = append(list, w)
	}
	for i := range list {
		list[i].against, list[i].other = "calibration", []string{self, "calibrate"}
	}
	scan, err := scanWork(dir, rollcall)
	return append(list, scan), err
}

// built compiles rollcall.
func built(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "rollcall")
	return path, goTool(ctx, "build", "-o", path, "./cmd/rollcall")
}

func goTool(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w: %s", args[0], err, out)
	}
	return nil
}

// scanWork compares `rollcall scan` with ripgrep, which counts the lines with the literals of
// the same messages.
func scanWork(dir, rollcall string) (work, error) {
	w := work{name: "scan 128 MB of logs", against: "rg -c -F", exit: 2}
	rg, err := exec.LookPath("rg")
	if err != nil {
		w.skip = "rg is not installed"
		return w, nil
	}
	faults, err := fault.Load(catalog.FS)
	if err != nil {
		return w, err
	}
	texts := sought(faults)
	literals, log := filepath.Join(dir, "literals"), filepath.Join(dir, "log")
	if err := os.WriteFile(literals, []byte(strings.Join(texts, "\n")+"\n"), 0o600); err != nil {
		return w, fmt.Errorf("write the literals: %w", err)
	}
	if err := os.WriteFile(log, logs(128<<20, texts), 0o600); err != nil {
		return w, fmt.Errorf("write the logs: %w", err)
	}
	w.command, w.other = []string{rollcall, "scan", "-o", "json", log}, []string{rg, "-c", "-F", "-f", literals, log}
	return w, nil
}

// sought are the literals of the messages that scan looks for.
func sought(faults *fault.Catalog) []string {
	var texts []string
	for _, file := range faults.Messages {
		for _, m := range file.Messages {
			if !m.Neutral() && !strings.Contains(m.Text, "\n") {
				texts = append(texts, m.Text)
			}
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
