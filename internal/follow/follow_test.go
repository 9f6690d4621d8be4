package follow

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// at is a run some seconds after noon.
func at(seconds int, change ...func(*Run)) Run {
	d := &diagnosis.Diagnosis{
		Now: noon.Add(time.Duration(seconds) * time.Second), Source: diagnosis.Source{Kind: "live", Name: "prod"},
		Verdict:  diagnosis.Verdict{Class: diagnosis.Healthy},
		Coverage: []evidence.Coverage{{Need: "nodes", State: evidence.Read, Count: 2}},
	}
	r := Run{Diagnosis: d, Indicators: []after.Indicator{{ID: after.HostsJoined, Title: "every expected host has joined", Outcome: fault.Present}}}
	for _, f := range change {
		f(&r)
	}
	diagnose.Group(d)
	return r
}

// host adds a host to a run.
func host(name string, stage fault.Stage, state diagnosis.StageOutcome) func(*Run) {
	return func(r *Run) {
		r.Diagnosis.Hosts = append(r.Diagnosis.Hosts, diagnosis.HostState{Name: name, Role: "worker", Expected: true, Stage: stage, State: state, Since: noon})
		if state != diagnosis.StagePassed {
			r.Indicators[0].Outcome = fault.Absent
		}
	}
}

func joined(name string) func(*Run) { return host(name, fault.ConfigDone, diagnosis.StagePassed) }

// root adds a cause to a run.
func root(id, layer string, c diagnosis.Confidence, severity fault.Severity, blocks string) func(*Run) {
	return func(r *Run) {
		d := r.Diagnosis
		k := fault.Key{Fault: id, Subject: fault.Subject{Kind: fault.Pool, Name: "worker"}}
		d.Roots = append(d.Roots, diagnosis.Root{Fault: id, Layer: layer, Severity: severity, Cases: []diagnosis.Case{{Key: k, Title: "the pool is broken", Confidence: c}}})
		d.Verdict.Class = diagnosis.RecoverableInPlace
		for i := range d.Hosts {
			if d.Hosts[i].Name == blocks {
				d.Hosts[i].BlockedBy = []fault.Key{k}
			}
		}
	}
}

// away makes a run in which the API did not answer.
func away(r *Run) {
	d := r.Diagnosis
	d.Hosts, d.Coverage = nil, []evidence.Coverage{{Need: "nodes", State: evidence.Missing, Why: evidence.Unreachable}}
	d.Verdict.Class = diagnosis.CannotCheck
	r.Indicators = nil
}

// settling says that what is seen is normal.
func settling(r *Run) {
	r.Diagnosis.Verdict = diagnosis.Verdict{Class: diagnosis.Settling, Until: r.Diagnosis.Now.Add(time.Hour)}
}

func absent(r *Run) { r.Indicators[0].Outcome = fault.Absent }

// texts are what a series of runs reports, without the first event.
func texts(f *Follower, runs ...Run) []string {
	var list []string
	for _, r := range runs {
		for _, e := range f.Step(r) {
			if e.Type != Started {
				list = append(list, string(e.Type)+" "+e.Text)
			}
		}
	}
	return list
}

func TestStep(t *testing.T) {
	w := diagnosis.StageWaiting
	tests := []struct {
		name string
		runs []Run
		want []string
	}{
		{"a step ahead is reported at once, of several hosts together", []Run{
			at(0, host("w0.example.com", fault.ClientCert, w), host("w1.example.com", fault.ClientCert, w)),
			at(5, host("w0.example.com", fault.Ready, w), host("w1.example.com", fault.Ready, w)),
		}, []string{"stage w0, w1: client-cert -> ready"}},
		{"one host says how long it took", []Run{
			at(0, host("w0", fault.Ready, w)), at(90, joined("w0")),
		}, []string{"stage w0: ready -> joined (ready took 90s)"}},
		{"a flap of a second is nothing", []Run{
			at(0, joined("w0"), joined("w1")),
			at(60, host("w0", fault.Ready, diagnosis.StageFailed), host("w1", fault.Ready, diagnosis.StageUnknown)),
			at(61, joined("w0"), joined("w1")), at(120, joined("w0"), joined("w1")),
		}, nil},
		{"a flap that comes again and again is nothing", []Run{
			at(0, joined("w0")), at(10, host("w0", fault.Ready, w)), at(15, joined("w0")), at(25, host("w0", fault.Ready, w)), at(35, joined("w0")),
		}, nil},
		{"what lasts is reported", []Run{
			at(0, joined("w0")), at(10, host("w0", fault.Ready, w)), at(20, host("w0", fault.NetworkReady, w)), at(31, host("w0", fault.Ready, diagnosis.StageFailed)),
		}, []string{"stage w0: joined -> ready failed", "indicator-open no longer holds: every expected host has joined"}},
		{"a failure that the diagnosis calls normal is none", []Run{
			at(0, host("w0", fault.StaticPods, w)), at(10, host("w0", fault.ConfigDone, diagnosis.StageFailed), settling), at(60, host("w0", fault.ConfigDone, diagnosis.StageFailed), settling),
		}, nil},
		{"hosts that are added, and one that is gone", []Run{
			at(0, joined("w0")), at(10, joined("w0"), host("w1", fault.Planned, w)), at(20, host("w1", fault.Planned, w)), at(45, host("w1", fault.Planned, w)),
		}, []string{"host-added expected as well: w1; now 2 expected hosts", "host-removed no longer expected: w0; now 1 expected host", "indicator-open no longer holds: every expected host has joined"}},
		{"a cause that lasts, and that passes", []Run{
			at(0, host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Proven, fault.Error, "w0")),
			at(31, host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Proven, fault.Error, "w0")),
			at(60, host("w0", fault.Ready, w)), at(91, host("w0", fault.Ready, w)),
		}, []string{"cause cause: the pool is broken (pool-broken)", "cause-cleared no longer present: the pool is broken (pool-broken)"}},
		{"a cause of a moment is none", []Run{
			at(0, joined("w0")), at(10, joined("w0"), root("pool-broken", "pools", diagnosis.Proven, fault.Error, "")), at(20, joined("w0")), at(60, joined("w0")),
		}, nil},
		{"the API is unreachable and the hosts stay", []Run{
			at(0, joined("w0")), at(10, away), at(70, away), at(80, joined("w0")),
		}, []string{"api-unreachable the API is unreachable; the last known state stays", "api-reachable the API answers again after 70s"}},
		{"before the API answers for the first time", []Run{at(0, away), at(100, joined("w0"))},
			[]string{"api-unreachable the API does not answer yet", "api-reachable the API answers for the first time, after 100s", "host-added expected as well: w0; now 1 expected host"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := texts(New(Rules{Goal: after.Joined}), tt.runs...); !slices.Equal(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}

func TestEnd(t *testing.T) {
	w := diagnosis.StageWaiting
	broken := func(s int, more ...func(*Run)) Run {
		return at(s, append([]func(*Run){host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Proven, fault.Error, "w0")}, more...)...)
	}
	stop := Rules{Goal: after.Joined, StopOnRoot: true}
	tests := []struct {
		name  string
		rules Rules
		runs  []Run
		want  int // -1: continues
	}{
		{"joined, seen twice", stop, []Run{at(0, joined("w0")), at(10, joined("w0"))}, 0},
		{"joined, seen once", stop, []Run{at(0, joined("w0"))}, -1},
		{"stable, seen once", Rules{Goal: after.Stable}, []Run{at(0, joined("w0"))}, 0},
		{"joined for a moment", stop, []Run{at(0, joined("w0")), at(5, host("w0", fault.Ready, w)), at(12, joined("w0"))}, -1},
		{"joined, and the API was away between", stop, []Run{at(0, joined("w0")), at(5, away), at(12, joined("w0"))}, -1},
		{"an indicator is not known", stop, []Run{at(0, joined("w0"), func(r *Run) { r.Indicators[0].Outcome = fault.Unknown }), at(60, joined("w0"), func(r *Run) { r.Indicators[0].Outcome = fault.Unknown })}, -1},
		{"no indicator at all", stop, []Run{at(0, func(r *Run) { r.Indicators = nil }), at(60, func(r *Run) { r.Indicators = nil })}, -1},
		{"a proven cause lasts", stop, []Run{broken(0), broken(30)}, 2},
		{"a proven cause, not long", stop, []Run{broken(0), broken(29)}, -1},
		{"a proven cause with a pause", stop, []Run{broken(0), at(20, host("w0", fault.Ready, w)), broken(35)}, -1},
		{"a proven cause before and after the API was away", stop, []Run{broken(0), at(5, away), broken(35)}, -1},
		{"never stop", Rules{Goal: after.Joined}, []Run{broken(0), broken(300)}, -1},
		{"a likely cause", stop, []Run{
			at(0, host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Likely, fault.Error, "w0")),
			at(300, host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Likely, fault.Error, "w0"))}, -1},
		{"a warning", stop, []Run{
			at(0, host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Proven, fault.Warning, "w0")),
			at(300, host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Proven, fault.Warning, "w0"))}, -1},
		{"a cause that blocks no host, where only hosts count", stop, []Run{
			at(0, host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Proven, fault.Error, "")),
			at(300, host("w0", fault.Ready, w), root("pool-broken", "pools", diagnosis.Proven, fault.Error, ""))}, -1},
		{"the same where all counts", Rules{Goal: after.Stable, StopOnRoot: true}, []Run{
			at(0, absent, joined("w0"), root("pool-broken", "pools", diagnosis.Proven, fault.Error, "")),
			at(300, absent, joined("w0"), root("pool-broken", "pools", diagnosis.Proven, fault.Error, ""))}, 2},
		{"the API has been unreachable for 10 minutes", stop, []Run{
			at(0, away, root("api-vip-unreachable", apiLayer, diagnosis.Proven, fault.Error, ""), away), at(600, away, root("api-vip-unreachable", apiLayer, diagnosis.Proven, fault.Error, ""), away)}, -1},
		{"the API has been unreachable for 21 minutes", stop, []Run{
			at(0, away, root("api-vip-unreachable", apiLayer, diagnosis.Proven, fault.Error, ""), away), at(1260, away, root("api-vip-unreachable", apiLayer, diagnosis.Proven, fault.Error, ""), away)}, 2},
		{"before the first answer of an installation", Rules{Goal: after.Joined, StopOnRoot: true, Installing: true}, []Run{
			at(0, away, root("api-vip-unreachable", apiLayer, diagnosis.Proven, fault.Error, ""), away), at(1260, away, root("api-vip-unreachable", apiLayer, diagnosis.Proven, fault.Error, ""), away)}, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, got := New(tt.rules), -1
			for _, r := range tt.runs {
				f.Step(r)
				if e, over := f.End(); over {
					got = e.ExitCode
				}
			}
			if got != tt.want {
				t.Errorf("ended with %d, want %d", got, tt.want)
			}
		})
	}
}

// TestTimedOut: what is not decided is never 0.
func TestTimedOut(t *testing.T) {
	f := New(Rules{Goal: after.Joined})
	f.Step(at(0, joined("w0")))
	if e := f.TimedOut(time.Minute); e.ExitCode != exitUndecided {
		t.Errorf("all hold and were seen once: %d", e.ExitCode)
	}
	for _, s := range []int{10, 50} {
		f.Step(at(s, host("w0", fault.Ready, diagnosis.StageWaiting), root("pool-broken", "pools", diagnosis.Proven, fault.Error, "w0")))
	}
	if e := f.TimedOut(time.Minute); e.ExitCode != exitCause || len(e.Causes) != 1 {
		t.Errorf("a cause lasts: %+v", e)
	}
}

// TestEndsBeforeFirstRun: an end can come before anything was read.
func TestEndsBeforeFirstRun(t *testing.T) {
	for name, e := range map[string]End{
		"timed out":   New(Rules{Goal: after.Joined}).TimedOut(time.Minute),
		"interrupted": New(Rules{Goal: after.Joined}).Interrupted(130),
	} {
		f := New(Rules{Goal: after.Joined})
		if e.ExitCode == exitAllHold || e.ExitCode == exitCause || e.Reason == "" || f.Finish(e).Text == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestRecheck: what has to be seen twice asks for the second look.
func TestRecheck(t *testing.T) {
	f := New(Rules{Goal: after.Joined})
	f.Step(at(0, joined("w0")))
	if got := f.Recheck().Sub(noon); got != endLasts {
		t.Errorf("all hold: again after %v, want %v", got, endLasts)
	}
	f.Step(at(5, host("w0", fault.Ready, diagnosis.StageFailed)))
	if got := f.Recheck().Sub(noon); got != 5*time.Second+hostLasts {
		t.Errorf("a host failed: again after %v, want %v", got, 5*time.Second+hostLasts)
	}
}

func TestUsual(t *testing.T) {
	took := func(name string, seconds ...int) diagnosis.HostState {
		h := diagnosis.HostState{Name: name, Role: "worker", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed}
		for i, s := range seconds {
			h.Stages = append(h.Stages, diagnosis.StageState{Stage: []fault.Stage{fault.Registered, fault.Ready}[i], State: diagnosis.StagePassed, At: noon.Add(time.Duration(s) * time.Second)})
		}
		return h
	}
	waiting := diagnosis.HostState{Name: "w9", Role: "worker", Stage: fault.Ready, State: diagnosis.StageWaiting}
	h := history{}
	if u := h.of(waiting); u == nil || u.Source == "" {
		t.Errorf("no host has joined: %+v, want what is documented, with its source", u)
	}
	h.add(took("w0", 0, 50))
	h.add(took("w1", 0, 90))
	h.add(took("w2", 0, 90*24*3600)) // its condition is of a restart months later
	h.add(took("w0", 0, 700))        // a restart of the same host
	u := h.of(waiting)
	if u == nil || u.Min != 50*time.Second || u.Max != 90*time.Second || u.Hosts != 2 || u.Source != "" {
		t.Errorf("got %+v, want 50s to 90s of 2 hosts", u)
	}
	waiting.Role = "master"
	if u := h.of(waiting); u == nil || u.Hosts != 0 {
		t.Errorf("of another role: %+v, want what is documented", u)
	}
	waiting.Stage = fault.IgnitionFetched
	if u := h.of(waiting); u != nil {
		t.Errorf("of a stage that nothing is known of: %+v", u)
	}
}

// TestNarrowed: only the hosts that were asked for count, and only what keeps them.
func TestNarrowed(t *testing.T) {
	f := New(Rules{Goal: after.Joined, StopOnRoot: true, Narrowed: true, Hosts: func(h diagnosis.HostState) bool { return h.Name == "w1" }})
	for _, s := range []int{0, 40, 80} {
		for _, e := range f.Step(at(s, host("w0", fault.Ready, diagnosis.StageFailed), host("w1", fault.Ready, diagnosis.StageWaiting), root("pool-broken", "pools", diagnosis.Proven, fault.Error, "w0"))) {
			if e.Type == CauseFound || e.Expected != 1 {
				t.Errorf("%+v", e)
			}
		}
		if e, over := f.End(); over {
			t.Errorf("ended: %+v", e)
		}
	}
}
