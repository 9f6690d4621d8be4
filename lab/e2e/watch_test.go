package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// watchEvent is what a test reads of a line of `watch -o json`.
type watchEvent struct {
	Type, Text       string
	Joined, Expected int
	End              *struct {
		ExitCode   int
		Indicators []struct{ ID, Outcome, Reason string }
		Causes     []struct{ Fault, Confidence string }
	}
}

// watched reads the lines of a watch that has ended.
func watched(t *testing.T, r result) (list []watchEvent, end watchEvent) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(r.out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e watchEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v in %s", err, r)
		}
		list = append(list, e)
	}
	if len(list) == 0 || list[len(list)-1].End == nil {
		t.Fatalf("no end in %s", r)
	}
	return list, list[len(list)-1]
}

// endsAtCause: a watch of the desync ends with its cause, in less than two minutes.
func endsAtCause(t *testing.T, w *world) {
	t.Helper()
	began := time.Now()
	r := w.live("watch", "-o", "json", "--timeout", "15m")
	_, end := watched(t, r)
	if r.code != 2 || end.End.ExitCode != 2 || len(end.End.Causes) != 1 || end.End.Causes[0].Fault != "bootstrap-mc-mismatch" || end.End.Causes[0].Confidence != "proven" {
		t.Errorf("want 2 and the cause: %s", r)
	}
	// A cause is sure after some readings, which take as long as they took before.
	limit := max(50*time.Second, 2*time.Since(began)).Round(time.Second).String()
	r = w.live("watch", "-o", "json", "--stop-on", "never", "--timeout", limit)
	if _, end := watched(t, r); r.code != 2 || !strings.HasPrefix(end.Text, "ended with 2: the time of ") {
		t.Errorf("want 2 when the time is over: %s", r)
	}
}

// TestWatchHealthy: on a cluster that is well each goal is reached at once. An API server
// that does not answer for some seconds ends nothing, and is reported once.
func TestWatchHealthy(t *testing.T) {
	w := up(t, "cluster", true, "--stand", "2h")
	for _, goal := range []string{"joined", "stable"} {
		r := w.live("watch", "--until", goal, "-o", "json", "--timeout", "3m")
		list, end := watched(t, r)
		if r.code != 0 || end.Joined != end.Expected || end.Expected == 0 {
			t.Errorf("%s: want 0 and every host: %s", goal, r)
		}
		for _, i := range end.End.Indicators {
			if i.Outcome != "present" && i.Outcome != "not-applicable" {
				t.Errorf("%s: %+v", goal, i)
			}
		}
		if len(list) > 10 {
			t.Errorf("%s: %d lines where nothing happens", goal, len(list))
		}
	}
	killed(t, w)
	stopped(t, w)
}

// stopped: while a watch runs the API server stops to answer, and continues once that was
// noticed: how soon the watch reads again depends on how long reading takes.
func stopped(t *testing.T, w *world) {
	t.Helper()
	f := w.follow(t, "watch", "-o", "json", "--stable-for", "1000h", "--kubeconfig", w.kube)
	f.await(t, 2*time.Minute, "every host", func(e watchEvent) bool { return e.Expected > 0 && e.Joined == e.Expected })
	pid := w.pid("kube-apiserver")
	if out, err := exec.Command("kill", "-STOP", pid).CombinedOutput(); err != nil {
		t.Fatalf("kill -STOP: %v %s", err, out)
	}
	proceed := sync.OnceFunc(func() {
		if out, err := exec.Command("kill", "-CONT", pid).CombinedOutput(); err != nil {
			t.Errorf("kill -CONT: %v %s", err, out)
		}
	})
	defer proceed()
	f.await(t, 4*time.Minute, "the API is unreachable", ofType("api-unreachable"))
	proceed()
	f.await(t, 4*time.Minute, "the API is reachable again", ofType("api-reachable"))
	if err := f.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	r := f.result(t, time.Minute)
	list, end := watched(t, r)
	count := map[string]int{}
	for _, e := range list {
		count[e.Type]++
	}
	if r.code != 130 || end.Joined != end.Expected || count["api-unreachable"] != 1 || count["api-reachable"] != 1 || count["stage"] != 0 {
		t.Errorf("want 130, each host, and that the API was unreachable once: %s", r)
	}
}

// killed: while a watch runs the API server is killed, and started again after a while. Then
// the watch continues with the same hosts. The path leads to the API server directly: what a
// killed one does to a connection is refuse it.
func killed(t *testing.T, w *world) {
	t.Helper()
	direct := strings.TrimSpace(w.lab("kubeconfig").out)
	f := w.follow(t, "watch", "-o", "json", "--stable-for", "1000h", "--timeout", "3m", "--kubeconfig", direct)
	f.await(t, time.Minute, "every host", func(e watchEvent) bool { return e.Expected > 0 && e.Joined == e.Expected })
	if out, err := exec.Command("kill", "-KILL", w.pid("kube-apiserver")).CombinedOutput(); err != nil {
		t.Fatalf("kill: %v %s", err, out)
	}
	f.await(t, time.Minute, "the API is unreachable", ofType("api-unreachable"))
	time.Sleep(20 * time.Second)
	if r := w.lab("outside", "api-server"); r.code != 0 {
		t.Fatal(r)
	}
	f.await(t, time.Minute, "the API is reachable again", ofType("api-reachable"))
	r := f.result(t, 4*time.Minute)
	list, end := watched(t, r)
	count := map[string]int{}
	for _, e := range list {
		count[e.Type]++
	}
	if r.code != 3 || end.Joined != end.Expected || count["api-unreachable"] != 1 || count["api-reachable"] != 1 || count["stage"] != 0 {
		t.Errorf("want 3, each host, and that the API was unreachable once: %s", r)
	}
	if r := w.live("watch", "--until", "stable", "--stable-for", "10s", "--timeout", "5m"); r.code != 0 {
		t.Errorf("want 0 once the API is back: %s", r)
	}
}

// continuesThroughRepair: a watch of the desync continues while the cluster is repaired, and ends with 0.
func continuesThroughRepair(t *testing.T, w *world) {
	t.Helper()
	f := w.follow(t, "watch", "-o", "json", "--stop-on", "never", "--stable-for", "30s", "--timeout", "14m", "--kubeconfig", w.kube)
	f.await(t, 2*time.Minute, "the cause", func(e watchEvent) bool { return strings.Contains(e.Text, "bootstrap-mc-mismatch") })
	if r := w.live("fix", "apply", w.plan("beside.yaml"), "--yes"); r.code != 0 {
		t.Fatal(r)
	}
	r := f.result(t, 15*time.Minute)
	if _, end := watched(t, r); r.code != 0 || end.Joined != end.Expected || end.Expected != 3 {
		t.Errorf("want 0 and three hosts after the repair: %s", r)
	}
	t.Logf("the watch during the repair:\n%s", texts(r))
}

// texts are the lines of a watch as a person reads them.
func texts(r result) string {
	var b strings.Builder
	for line := range strings.Lines(r.out) {
		var e struct{ Time, Text string }
		if json.Unmarshal([]byte(line), &e) == nil {
			fmt.Fprintf(&b, "%s  %s\n", e.Time, e.Text)
		}
	}
	return b.String()
}

func ofType(name string) func(watchEvent) bool {
	return func(e watchEvent) bool { return e.Type == name }
}

// follower is a watch that runs while the test does something else.
type follower struct {
	cmd  *exec.Cmd
	done chan error

	mu   sync.Mutex
	out  []byte
	errs bytes.Buffer
}

// Write takes what the watch prints.
func (f *follower) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out = append(f.out, b...)
	return len(b), nil
}

// follow starts a watch.
func (w *world) follow(t *testing.T, args ...string) *follower {
	t.Helper()
	f := &follower{cmd: w.command(args...), done: make(chan error, 1)}
	f.cmd.Stdout, f.cmd.Stderr = f, &f.errs
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { f.done <- f.cmd.Wait() }()
	t.Cleanup(func() { _ = f.cmd.Process.Kill() }) // where the test ended before the watch did
	return f
}

// await waits for an event among those that were printed so far, or will be.
func (f *follower) await(t *testing.T, within time.Duration, what string, is func(watchEvent) bool) {
	t.Helper()
	eventually(t, within, func() string {
		f.mu.Lock()
		defer f.mu.Unlock()
		for line := range bytes.Lines(f.out) {
			var e watchEvent
			if json.Unmarshal(line, &e) == nil && is(e) {
				return ""
			}
		}
		return fmt.Sprintf("the watch does not say: %s\n%s", what, f.out)
	})
}

// result waits for the end of the watch.
func (f *follower) result(t *testing.T, within time.Duration) result {
	t.Helper()
	select {
	case err := <-f.done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(within):
		f.mu.Lock()
		defer f.mu.Unlock()
		t.Fatalf("the watch has not ended after %s:\n%s", within, f.out)
	}
	return result{args: f.cmd.Args, out: string(f.out), err: f.errs.String(), code: f.cmd.ProcessState.ExitCode()}
}

// pid is the process of a program of the lab.
func (w *world) pid(name string) string {
	w.t.Helper()
	for line := range strings.Lines(w.lab("status").out) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			return fields[1]
		}
	}
	w.t.Fatalf("no process %s", name)
	return ""
}
