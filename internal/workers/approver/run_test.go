package approver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/service"
)

// start runs a replica until the returned function is called.
func start(t *testing.T, a *Approver) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
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
	return stop
}

// slow makes rounds come by the watch alone.
func slow(c *Config) { c.Every = time.Hour }

// TestWatch: a request that comes is approved without waiting for the next round, also
// after the watch was too old.
func TestWatch(t *testing.T) {
	s := newServer(t)
	a, log := replica(t, s, slow)
	stop := start(t, a)
	if !eventually(func() bool { return value(t, a.c.Metrics, "rounds_total", "ok") > 0 }) {
		t.Fatalf("no round:\n%s", log)
	}
	s.file(t, csrtest.Client("panda"))
	if !eventually(func() bool { return s.approvedBy("csr-panda") == csr.Reason }) {
		t.Fatalf("panda is not approved:\n%s", log)
	}
	s.gone()
	s.file(t, csrtest.Serving("koala", "192.0.2.22"))
	if !eventually(func() bool { return s.approvedBy("csr-s-koala") == csr.Reason }) {
		t.Fatalf("koala is not approved after the watch was gone:\n%s", log)
	}
	if !strings.Contains(log.String(), "too old resource version") {
		t.Errorf("the log does not say that the watch ended:\n%s", log)
	}
	stop()
	s.Close()
	goleak.VerifyNone(t, goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"), goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// TestWatchRefused: without a watch the approver still works, round by round.
func TestWatchRefused(t *testing.T) {
	for _, code := range []int{403, 429, 500} {
		s := newServer(t)
		s.meddle = func(req *http.Request) int {
			if req.URL.Query().Get("watch") != "" {
				return code
			}
			return 0
		}
		a, log := replica(t, s, func(c *Config) { c.Every = 50 * time.Millisecond })
		stop := start(t, a)
		s.file(t, csrtest.Client("panda"))
		if !eventually(func() bool { return s.approvedBy("csr-panda") == csr.Reason }) {
			t.Fatalf("%d: panda is not approved:\n%s", code, log)
		}
		stop()
	}
}

var quick = service.LeaseTimes{Duration: 400 * time.Millisecond, Deadline: 250 * time.Millisecond, Retry: 40 * time.Millisecond}

func withLease(name string) func(*Config) {
	return func(c *Config) { c.Identity, c.Lease, c.Times, c.Now = name, testLease, quick, since() }
}

// since is the scene's clock, running.
func since() func() time.Time {
	began := time.Now()
	return func() time.Time { return csrtest.Noon.Add(time.Since(began)) }
}

func holder(s *server) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return evidence.String(s.objects[leasePath], "spec", "holderIdentity")
}

// TestTwoReplicas: one approves; when it stops, the other continues.
func TestTwoReplicas(t *testing.T) {
	s := newServer(t)
	a, _ := replica(t, s, withLease("a"))
	stop := start(t, a)
	if !eventually(func() bool { return holder(s) == "a" }) {
		t.Fatal("a has no lease")
	}
	b, log := replica(t, s, withLease("b"))
	start(t, b)
	s.file(t, csrtest.Client("panda"))
	if !eventually(func() bool { return s.approvals() == 1 }) {
		t.Fatal("panda is not approved")
	}
	time.Sleep(2 * quick.Duration)
	if value(t, b.c.Metrics, "leader") != 0 || strings.Contains(log.String(), "decision=") {
		t.Errorf("b works beside a:\n%s", log)
	}
	if err := b.Ready(); err != nil {
		t.Errorf("the replica without the lease is not ready: %v", err)
	}
	stop()
	s.file(t, csrtest.Serving("koala", "192.0.2.22"))
	if !eventually(func() bool { return s.approvedBy("csr-s-koala") != "" }) {
		t.Fatalf("b does not go on:\n%s", log)
	}
	if !strings.Contains(fmt.Sprint(s.under(csrPath)), "csr serve (b)") {
		t.Error("the record does not name b")
	}
}

// TestDeadHolder: a holder that was killed does not release the lease.
func TestDeadHolder(t *testing.T) {
	s := newServer(t)
	s.put(leasePath, map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "csr-approver", "namespace": "rollcall"},
		"spec": map[string]any{"holderIdentity": "dead", "leaseDurationSeconds": 1, "renewTime": "2050-01-01T00:00:00.000000Z"}})
	s.file(t, csrtest.Client("panda"))
	a, log := replica(t, s, withLease("a"))
	start(t, a)
	time.Sleep(quick.Duration)
	if s.approvals() != 0 {
		t.Error("the lease of another was taken before it expired")
	}
	if !eventually(func() bool { return s.approvals() == 1 }) {
		t.Fatalf("the lease was not taken:\n%s", log)
	}
}

// TestHolderCutOff: a holder that cannot renew stops before another may take the lease.
func TestHolderCutOff(t *testing.T) {
	s := newServer(t)
	a, log := replica(t, s, withLease("a"))
	start(t, a)
	if !eventually(func() bool { return holder(s) == "a" }) {
		t.Fatal("a has no lease")
	}
	s.mu.Lock()
	s.meddle = func(req *http.Request) int {
		if strings.HasSuffix(req.URL.Path, "leases/csr-approver") {
			return 503
		}
		return 0
	}
	s.mu.Unlock()
	time.Sleep(quick.Deadline + 200*time.Millisecond)
	s.file(t, csrtest.Client("panda"))
	time.Sleep(300 * time.Millisecond)
	if s.approvals() != 0 {
		t.Errorf("it approves without the lease:\n%s", log)
	}
	s.mu.Lock()
	s.meddle = nil
	s.mu.Unlock()
	if !eventually(func() bool { return s.approvals() == 1 }) {
		t.Errorf("it does not take the lease again:\n%s", log)
	}
}

// TestRace: replicas without a lease, all at once: each request is approved once, and of
// two keys for one host at most the older.
func TestRace(t *testing.T) {
	for range 5 {
		s := newServer(t)
		inventory := fleet(t, s, 20)
		var all sync.WaitGroup
		for i := range 4 {
			a, _ := replica(t, s, func(c *Config) { c.Identity, c.Inventory = fmt.Sprint("r", i), inventory })
			all.Go(func() {
				for range 5 {
					_, _ = a.round(t.Context(), func() bool { return true })
				}
			})
		}
		all.Go(func() {
			for i := range 20 {
				s.file(t, csrtest.Client(fmt.Sprint("w", i)).Named(fmt.Sprint("rival", i)).At(csrtest.Noon.Add(-59*time.Second)))
			}
		})
		all.Wait()
		for path, n := range s.patched {
			if n != 1 {
				t.Errorf("%s was approved %d times", path, n)
			}
		}
		for i := range 20 {
			if s.approvedBy(fmt.Sprint("rival", i)) != "" {
				t.Errorf("the second key of w%d was approved", i)
			}
		}
		s.Close()
	}
}

// TestFourThousand: among 4,000 requests of strangers one expected host. The time is
// measured by BenchmarkFourThousand, not here.
func TestFourThousand(t *testing.T) {
	s := newServer(t)
	crowd(t, s, 3999)
	s.file(t, csrtest.Client("panda"))
	a, log := replica(t, s, nil)
	start(t, a)
	if !eventually(func() bool { return s.approvedBy("csr-panda") == csr.Reason }) {
		t.Fatalf("panda is not approved:\n%.3000s", log)
	}
	if !eventually(func() bool { return value(t, a.c.Metrics, "decisions_total", "refused", "not-expected") == 3999 }) {
		t.Errorf("%v strangers were refused", value(t, a.c.Metrics, "decisions_total", "refused", "not-expected"))
	}
	if s.approvals() != 1 {
		t.Errorf("%d approvals", s.approvals())
	}
	if n := len(s.under(eventPath)); n > service.EventBurst+10 {
		t.Errorf("strangers made %d events", n)
	}
}

// crowd files requests of hosts that no one expects. They share keys: making them takes
// longer than judging.
func crowd(t testing.TB, s *server, n int) {
	t.Helper()
	key := csrtest.Key()
	for i := range n {
		r := csrtest.Client(fmt.Sprint("stranger", i))
		r.Key = key
		o, err := r.Object()
		if err != nil {
			t.Fatal(err)
		}
		s.put(csrPath+r.API.Name, o)
	}
}

// BenchmarkFourThousand is the time from the first look at 4,000 requests to the approval
// of the one that is expected, with a client and a server over HTTP.
func BenchmarkFourThousand(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		t := &testing.T{}
		s := &server{objects: map[string]map[string]any{}, patched: map[string]int{}}
		s.Server = newHTTP(s)
		crowd(b, s, 3999)
		s.file(t, csrtest.Client("panda"))
		api, err := NewKube(s.config())
		if err != nil {
			b.Fatal(err)
		}
		a := New(api, Config{Identity: "a", Now: noon, Metrics: NewMetrics(), Approve: Kinds{true, true, true},
			Inventory: func(context.Context) ([]csr.Expectation, error) { return csrtest.Expected(), nil }, Log: discard()})
		ctx, cancel := context.WithCancel(b.Context())
		b.StartTimer()
		go func() { _ = a.Run(ctx) }()
		for s.approvedBy("csr-panda") == "" {
			time.Sleep(time.Millisecond)
		}
		b.StopTimer()
		cancel()
		if s.approvals() != 1 {
			b.Errorf("%d approvals", s.approvals())
		}
		s.Close()
		b.StartTimer()
	}
}
