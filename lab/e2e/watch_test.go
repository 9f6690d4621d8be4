package e2e

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
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
	r := w.live("watch", "-o", "json", "--timeout", "5m")
	_, end := watched(t, r)
	if r.code != 2 || end.End.ExitCode != 2 || len(end.End.Causes) != 1 || end.End.Causes[0].Fault != "bootstrap-mc-mismatch" || end.End.Causes[0].Confidence != "proven" {
		t.Errorf("want 2 and the cause: %s", r)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %s", took)
	}
	r = w.live("watch", "-o", "json", "--stop-on", "never", "--timeout", "50s")
	if _, end := watched(t, r); r.code != 2 || !strings.Contains(end.Text, "the time of 50s is over") {
		t.Errorf("want 2 when the time is over: %s", r)
	}
}

// TestWatchHealthy: on a cluster that is well each goal is reached at once. An API server
// that does not answer for some seconds ends nothing, and is reported once.
func TestWatchHealthy(t *testing.T) {
	w := up(t, "cluster", false, "--stand", "2h")
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
	pid := w.pid("kube-apiserver")
	signal := func(name string) {
		t.Helper()
		if out, err := exec.Command("kill", "-"+name, pid).CombinedOutput(); err != nil {
			t.Fatalf("kill -%s: %v %s", name, err, out)
		}
	}
	time.AfterFunc(3*time.Second, func() { signal("STOP") })
	time.AfterFunc(33*time.Second, func() { signal("CONT") })
	r := w.live("watch", "-o", "json", "--stable-for", "1000h", "--timeout", "80s")
	list, _ := watched(t, r)
	count := map[string]int{}
	for _, e := range list {
		count[e.Type]++
	}
	if r.code != 3 || count["api-unreachable"] != 1 || count["api-reachable"] != 1 || count["stage"] != 0 {
		t.Errorf("want 3, and that the API was unreachable once: %s", r)
	}
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
