package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/rollcall-project/rollcall/internal/answer/prom"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/service"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that a test turns.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// healthyAnswer has one host that has joined.
func healthyAnswer(at time.Time) *diagnosis.Diagnosis {
	return &diagnosis.Diagnosis{
		Now:     at,
		Source:  diagnosis.Source{Kind: "live", Name: "prod"},
		Verdict: diagnosis.Verdict{Class: diagnosis.Healthy, Cause: diagnosis.CauseNone},
		Hosts: []diagnosis.HostState{{Name: "control0", Role: "master", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed},
			{Name: "claimed", Role: "worker", Stage: fault.Registered, State: diagnosis.StageFailed}},
		Coverage: []evidence.Coverage{{Need: evidence.Nodes.String(), State: evidence.Read, Count: 1}},
	}
}

// brokenAnswer has many hosts that failed, for one proven cause.
func brokenAnswer(at time.Time, hosts int) *diagnosis.Diagnosis {
	d := healthyAnswer(at)
	d.Verdict = diagnosis.Verdict{Class: diagnosis.RecoverableInPlace, Cause: diagnosis.CauseKnown, Reason: "the pool is paused"}
	root := diagnosis.Root{Fault: "pool-source-missing", Severity: fault.Error}
	for i := range hosts {
		name := fmt.Sprintf("worker%04d", i)
		d.Hosts = append(d.Hosts, diagnosis.HostState{Name: name, Role: fmt.Sprintf("pool%d", i%40), Expected: true, Stage: fault.Registered, State: diagnosis.StageFailed})
		key := fault.Key{Fault: root.Fault, Subject: fault.Subject{Kind: fault.Host, Name: name + "\xff\n" + strings.Repeat("é", 300)}}
		root.Cases = append(root.Cases, diagnosis.Case{Key: key, Title: "broken", Confidence: diagnosis.Proven})
		d.Findings = append(d.Findings, diagnosis.Finding{Fault: root.Fault, Subject: key.Subject, Outcome: fault.Present, Severity: fault.Error})
		d.Coverage = append(d.Coverage, evidence.Coverage{Need: fmt.Sprintf("need %d", i), State: evidence.Missing, Why: evidence.Forbidden})
	}
	d.Roots = []diagnosis.Root{root}
	return d
}

// unread takes from an answer that a list was read.
func unread(d *diagnosis.Diagnosis, need string, why evidence.Why) *diagnosis.Diagnosis {
	d.Coverage = append([]evidence.Coverage{{Need: need, State: evidence.Missing, Reason: "no answer in time", Why: why}}, d.Coverage...)
	return d
}

// exported is what /metrics has, by name and labels.
func exported(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, one := range f.Metric {
			var labels []string
			for _, l := range one.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			v := one.GetGauge().GetValue() + one.GetCounter().GetValue()
			if one.Histogram != nil {
				v = float64(one.Histogram.GetSampleCount())
			}
			values[strings.Join(append([]string{f.GetName()}, labels...), " ")] = v
		}
	}
	return values
}

// leading is a server in its term, without its loop: a test hands it readings.
func leading(c *clock) *term {
	s := New(Config{Clock: c.now, Log: slog.New(slog.DiscardHandler), Metrics: NewMetrics("v1"), Clean: func(s string) string { return s }})
	s.state.Store(&State{Leading: true})
	return newTerm(s)
}

// TestReadings: a healthy cluster exports no failed host and no root; a fault is there with the reading that found it; while the
// cluster cannot be read the last answer stays with its age; and an answer that lacks a list does not take a cause back at once.
func TestReadings(t *testing.T) {
	c := &clock{at: noon}
	s := leading(c)
	m := s.c.Metrics
	const blind, last, result = "rollcall_blind", "rollcall_last_run_timestamp_seconds", "rollcall_runs_total result="
	read := func(d *diagnosis.Diagnosis, err error) map[string]float64 {
		c.forward(time.Minute)
		s.took(looked{reading: Reading{Diagnosis: d}, took: time.Second, err: err})
		return exported(t, m)
	}
	has := func(got map[string]float64, want map[string]float64, not ...string) {
		t.Helper()
		for name, v := range want {
			if have, ok := got[name]; !ok || have != v {
				t.Errorf("%s is %v (%t), want %v", name, have, ok, v)
			}
		}
		for name := range got {
			for _, part := range not {
				if strings.Contains(name, part) {
					t.Errorf("there is %s", name)
				}
			}
		}
	}
	has(exported(t, m), map[string]float64{"rollcall_leader": 1, blind: 0, result + "ok": 0}, "rollcall_hosts ", last)
	got := read(nil, errors.New("connection refused"))
	has(got, map[string]float64{blind: 1, result + "failed": 1}, "rollcall_hosts", last)
	got = read(healthyAnswer(c.now()), nil)
	has(got, map[string]float64{blind: 0, last: float64(c.now().Unix()), "rollcall_hosts role=master stage=config-done state=passed": 1,
		"rollcall_verdict_info class=healthy": 1}, "state=failed", "root_info", "claimed", "host_stage_info")
	got = read(brokenAnswer(c.now(), 1), nil)
	at := float64(c.now().Unix())
	broken := map[string]float64{last: at, "rollcall_hosts role=pool0 stage=registered state=failed": 1,
		"rollcall_host_stage_info host=worker0000 role=pool0 stage=registered state=failed": 1, "rollcall_findings fault=pool-source-missing outcome=present": 1}
	has(got, broken)
	got = read(unread(healthyAnswer(c.now()), evidence.Nodes.String(), evidence.Unreachable), nil)
	has(got, broken)
	has(got, map[string]float64{blind: 1, result + "blind": 1})
	got = read(nil, errors.New("timeout"))
	has(got, broken)
	partly := func() *diagnosis.Diagnosis {
		return unread(healthyAnswer(c.now()), "machineconfigpools", evidence.Unreachable)
	}
	got = read(partly(), nil)
	has(got, broken)
	has(got, map[string]float64{blind: 0, result + "partial": 1})
	c.forward(holdFor)
	got = read(partly(), nil)
	has(got, map[string]float64{last: float64(c.now().Unix()), blind: 0, result + "partial": 2}, "state=failed", "root_info")
	if changes := s.State().Changes; len(changes) == 0 || len(changes) > mostChanges {
		t.Errorf("%d changes", len(changes))
	}
}

// TestStageTimes: how long a host was at a stage is measured once, for hosts that were seen to come there.
func TestStageTimes(t *testing.T) {
	m := NewMetrics("v1")
	s := newStageTimes(m)
	at := func(name string, stage fault.Stage, state diagnosis.StageOutcome) diagnosis.HostState {
		return diagnosis.HostState{Name: name, Role: "worker", Expected: true, Stage: stage, State: state}
	}
	for i, hosts := range [][]diagnosis.HostState{
		{at("old", fault.Registered, diagnosis.StageWaiting)},
		{at("old", fault.Ready, diagnosis.StageWaiting), at("new", fault.Registered, diagnosis.StageWaiting)},
		{at("old", fault.Ready, diagnosis.StageWaiting), at("new", fault.Ready, diagnosis.StageFailed)},
		{at("old", fault.ConfigDone, diagnosis.StagePassed), at("new", fault.Registered, diagnosis.StageUnknown)},
	} {
		s.step(&diagnosis.Diagnosis{Hosts: hosts}, noon.Add(time.Duration(i)*time.Minute))
	}
	got := exported(t, m)
	for name, want := range map[string]float64{"rollcall_stage_duration_seconds role=worker stage=registered": 1, "rollcall_stage_duration_seconds role=worker stage=ready": 1} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	s.step(&diagnosis.Diagnosis{}, noon)
	if len(s.hosts) != 0 {
		t.Error("hosts that are gone are kept")
	}
}

// allWrong are the metrics of a replica that reads a cluster in which everything is wrong.
func allWrong() *Metrics {
	s := leading(&clock{at: noon})
	s.took(looked{reading: Reading{Diagnosis: brokenAnswer(noon, 500)}, took: time.Second})
	s.c.Metrics.stages.WithLabelValues("worker", "ready").Observe(60)
	return s.c.Metrics
}

func families(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	list, err := allWrong().Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestNames: the names follow the conventions of Prometheus, none has a colon, and the list in docs/operate.md is the whole list.
func TestNames(t *testing.T) {
	name := regexp.MustCompile(`^rollcall_[a-z_]+$`)
	var names []string
	for _, f := range families(t) {
		names = append(names, f.GetName())
		if !name.MatchString(f.GetName()) || f.GetHelp() == "" || strings.HasSuffix(f.GetName(), "_total") != (f.GetType() == dto.MetricType_COUNTER) {
			t.Errorf("%s %s %q", f.GetName(), f.GetType(), f.GetHelp())
		}
	}
	want := []string{"rollcall_blind", "rollcall_build_info", "rollcall_coverage_gaps", "rollcall_findings", "rollcall_host_stage_info", "rollcall_hosts",
		"rollcall_hosts_dropped", "rollcall_last_run_timestamp_seconds", "rollcall_leader", "rollcall_root_info", "rollcall_roots_dropped",
		"rollcall_run_duration_seconds", "rollcall_runs_total", "rollcall_stage_duration_seconds", "rollcall_verdict_info"}
	if !slices.Equal(names, want) {
		t.Errorf("%q\nwant %q", names, want)
	}
}

// TestCardinality: 500 broken hosts in 40 pools with long names are a bounded number of series, and the others are counted.
func TestCardinality(t *testing.T) {
	list := families(t)
	series, values := 0, map[string]map[string]bool{}
	for _, f := range list {
		series += len(f.Metric)
		for _, one := range f.Metric {
			for _, l := range one.Label {
				if len(l.GetValue()) > prom.MostLabel || strings.ContainsAny(l.GetValue(), "\n") {
					t.Errorf("%s: %s is %q", f.GetName(), l.GetName(), l.GetValue())
				}
				key := f.GetName() + " " + l.GetName()
				if values[key] == nil {
					values[key] = map[string]bool{}
				}
				values[key][l.GetValue()] = true
			}
		}
	}
	if series > 400 {
		t.Errorf("%d series", series)
	}
	for key, most := range map[string]int{"rollcall_hosts role": prom.MostRoles + 1, "rollcall_host_stage_info host": prom.MostNamed, "rollcall_root_info subject": prom.MostNamed,
		"rollcall_coverage_gaps need": prom.MostGaps} {
		if n := len(values[key]); n == 0 || n > most {
			t.Errorf("%s has %d values, want at most %d", key, n, most)
		}
	}
	for _, f := range list {
		if v := f.Metric[0].GetGauge().GetValue(); strings.HasSuffix(f.GetName(), "_dropped") && v != 450 {
			t.Errorf("%s is %v", f.GetName(), v)
		}
	}
}

// TestPromtool: promtool of Prometheus finds nothing to complain about in the metrics.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: apt-get install prometheus")
	}
	text := httptest.NewRecorder()
	promhttp.HandlerFor(allWrong().Registry, promhttp.HandlerOpts{}).ServeHTTP(text, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = text.Body
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// leases is a server of one Lease.
type leases struct {
	mu      sync.Mutex
	version int
	object  kube.Object
	away    map[string]bool // replicas that do not reach it
}

// replicaAPI is how one replica sees it.
type replicaAPI struct {
	*leases
	name string
}

var errAway = errors.New("connection refused")

func (l replicaAPI) Get(context.Context, kube.Ref) (kube.Object, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.away[l.name]:
		return nil, errAway
	case l.object == nil:
		return nil, notFound()
	}
	return deepCopy(l.object), nil
}

func (l replicaAPI) Create(_ context.Context, _ kube.Ref, o kube.Object) error { return l.put(o) }

func (l replicaAPI) Update(_ context.Context, _ kube.Ref, o kube.Object) error { return l.put(o) }

func (l replicaAPI) put(o kube.Object) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away[l.name] {
		return errAway
	}
	if l.object != nil && evidence.String(l.object, "metadata", "resourceVersion") != evidence.String(o, "metadata", "resourceVersion") {
		return conflict()
	}
	l.version++
	o = deepCopy(o)
	o["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(l.version)
	l.object = o
	return nil
}

func deepCopy(o kube.Object) kube.Object {
	c := maps.Clone(o)
	for k, v := range c {
		if m, ok := v.(map[string]any); ok {
			c[k] = map[string]any(deepCopy(m))
		}
	}
	return c
}

// replica starts a replica; stop ends it as a signal does.
func replica(t *testing.T, l *leases, name string, read func(context.Context) (Reading, error)) (s *Server, stop func()) {
	t.Helper()
	const tick = 20 * time.Millisecond
	lease := &service.Lease{API: replicaAPI{l, name}, Ref: kube.Ref{Resource: "leases", Name: "x", Namespace: "y"}, Identity: name, Now: time.Now,
		Log: slog.New(slog.DiscardHandler), Times: service.LeaseTimes{Duration: 20 * tick, Deadline: 10 * tick, Retry: tick}}
	s = New(Config{Look: read, Lease: lease, Interval: time.Minute, Clock: time.Now, Log: slog.New(slog.DiscardHandler), Metrics: NewMetrics("v1"),
		Clean: func(s string) string { return s }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return s, stop
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it did not happen: %s", what)
}

// TestReplicas: one of two reads and exports; when it ends the other takes over; a leader that alone cannot reach the API goes on
// until it sees that another leads; and no goroutine is left.
func TestReplicas(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	read := func(context.Context) (Reading, error) { return Reading{Diagnosis: healthyAnswer(time.Now())}, nil }
	l := &leases{away: map[string]bool{}}
	a, stopA := replica(t, l, "a", read)
	eventually(t, "a reads", func() bool { return a.State().Reading != nil })
	b, stopB := replica(t, l, "b", read)
	eventually(t, "b sees the leader", func() bool { return b.State().Holder == "a" })
	if got := exported(t, b.c.Metrics); got["rollcall_leader"] != 0 || slices.ContainsFunc(slices.Collect(maps.Keys(got)), func(k string) bool {
		return strings.HasPrefix(k, "rollcall_hosts") || strings.HasPrefix(k, "rollcall_last")
	}) {
		t.Errorf("a replica that does not lead exports %v", got)
	}
	stopA()
	eventually(t, "b takes over", func() bool { return b.State().Reading != nil })

	l.mu.Lock()
	l.away["b"] = true
	l.mu.Unlock()
	time.Sleep(time.Second) // longer than any time of the lease
	if s := b.State(); !s.Leading || s.Reading == nil {
		t.Error("a leader that does not reach the API forgot its answer")
	}
	c, stopC := replica(t, l, "c", read)
	eventually(t, "c takes over", func() bool { return c.State().Reading != nil })
	l.mu.Lock()
	l.away["b"] = false
	l.mu.Unlock()
	eventually(t, "b steps back", func() bool { return !b.State().Leading })
	stopB()
	stopC()
}

// TestReady: that the cluster cannot be read is no reason to be taken from behind the Service; a loop that stands still is.
func TestReady(t *testing.T) {
	c := &clock{at: noon}
	s := leading(c)
	s.took(looked{err: errors.New("no route to host")})
	s.ticked.Store(noon.Unix())
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	c.forward(stuckFor + time.Second)
	if err := s.Ready(); err == nil {
		t.Error("a loop that stands still is ready")
	}
}
