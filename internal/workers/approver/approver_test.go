package approver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// buffer is a log that may be written and read at once.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

var (
	testSwitch = kube.Ref{Version: "v1", Resource: "configmaps", Namespace: "rollcall", Name: "csr-approver"}
	testLease  = kube.Ref{Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Namespace: "rollcall", Name: "csr-approver"}
)

const (
	switchPath = "/api/v1/namespaces/rollcall/configmaps/csr-approver"
	leasePath  = "/apis/coordination.k8s.io/v1/namespaces/rollcall/leases/csr-approver"
	eventPath  = "/apis/events.k8s.io/v1/namespaces/default/events/"
)

func noon() time.Time { return csrtest.Noon }

// replica returns an approver of the scene's inventory; edit changes how it runs.
func replica(t *testing.T, s *server, edit func(*Config)) (*Approver, *buffer) {
	t.Helper()
	api, err := NewKube(s.config())
	if err != nil {
		t.Fatal(err)
	}
	log := &buffer{}
	c := Config{Identity: "a", Now: noon, Metrics: NewMetrics(), Approve: Kinds{true, true, true}, Gap: 5 * time.Millisecond, Every: time.Second,
		Inventory: func(context.Context) ([]csr.Expectation, error) { return csrtest.Expected(), nil },
		Log:       slog.New(slog.NewTextHandler(log, nil))}
	if edit != nil {
		edit(&c)
	}
	return New(api, c), log
}

// once runs one round as the holder of the lease.
func once(t *testing.T, a *Approver) (time.Duration, error) {
	t.Helper()
	return a.round(t.Context(), func() bool { return true })
}

func must(t *testing.T, a *Approver) time.Duration {
	t.Helper()
	again, err := once(t, a)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// value is that of a metric with these label values, 0 if there is none.
func value(t *testing.T, m *Metrics, name string, labels ...string) float64 {
	t.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != "rollcall_csr_"+name {
			continue
		}
		for _, one := range f.GetMetric() {
			has := func(want string) bool {
				return slices.ContainsFunc(one.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == want })
			}
			if !slices.ContainsFunc(labels, func(l string) bool { return !has(l) }) {
				sum += one.GetCounter().GetValue() + one.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func TestApproves(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("otter").Named("csr-first").Issued("NodeCSRApprove").At(csrtest.Noon.Add(-6*time.Minute)),
		csrtest.Client("panda"), csrtest.Serving("otter", "192.0.2.23"), csrtest.Serving("koala", "192.0.2.22"), csrtest.Client("badger"),
		csrtest.Client("master0"))
	a, log := replica(t, s, nil)
	must(t, a)
	for name, want := range map[string]string{"csr-panda": csr.Reason, "csr-s-otter": csr.Reason, "csr-s-koala": csr.Reason, "csr-badger": "", "csr-master0": ""} {
		if got := s.approvedBy(name); got != want {
			t.Errorf("%s is approved by %q, want %q\n%s", name, got, want, log)
		}
	}
	for _, want := range []struct {
		labels []string
		n      float64
	}{{[]string{"client", "approved", "client"}, 1}, {[]string{"serving", "approved"}, 2},
		{[]string{"client", "refused", "not-expected"}, 1}, {[]string{"client", "refused", "role"}, 1}} {
		if got := value(t, a.c.Metrics, "decisions_total", want.labels...); got != want.n {
			t.Errorf("decisions_total %v: %v, want %v", want.labels, got, want.n)
		}
	}
	if got := value(t, a.c.Metrics, "pending", "client", "false"); got != 1 {
		t.Errorf("%v strangers wait, want 1", got)
	}
	events := s.under(eventPath)
	if len(events) != 5 {
		t.Errorf("%d events, want one for each decision", len(events))
	}
	must(t, a) // what was decided is not recorded again
	if n := len(s.under(eventPath)); n != 5 || s.approvals() != 3 {
		t.Errorf("a second round: %d events, %d approvals", n, s.approvals())
	}
}

// TestNoSecret: neither the log nor an event has what a request contains.
func TestNoSecret(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"), csrtest.Client("badger"))
	a, log := replica(t, s, nil)
	must(t, a)
	all := log.String() + fmt.Sprint(s.under(eventPath))
	for _, o := range s.under(csrPath) {
		if raw := fmt.Sprint(o["spec"].(map[string]any)["request"]); strings.Contains(all, raw[:60]) {
			t.Error("the content of a request is in the log or an event")
		}
	}
	for _, want := range []string{"decision=approved", "key=sha256:", "host=panda", "inventory=hosts.yaml"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

// TestForgedAtServer plays every forged request against the whole approver, in addition to the
// honest one of another host.
func TestForgedAtServer(t *testing.T) {
	for _, f := range csrtest.Forged() {
		s := newServer(t)
		requests := f.Make()
		s.file(t, csrtest.Client("otter").Named("csr-first").Issued("NodeCSRApprove").At(csrtest.Noon.Add(-6*time.Minute)))
		s.file(t, requests...)
		forged := requests[len(requests)-1].API.Name
		last := requests[len(requests)-1].API.Spec
		honest := last.Username != "system:node:koala" || last.SignerName != certificatesv1.KubeletServingSignerName
		if honest {
			s.file(t, csrtest.Serving("koala", "192.0.2.22").Named("honest"))
		}
		a, log := replica(t, s, nil)
		must(t, a)
		if s.patched[csrPath+forged] > 0 {
			t.Errorf("%s: approved\n%.2000s", f.Name, log)
		}
		if honest && s.approvedBy("honest") != csr.Reason {
			t.Errorf("%s: it stops the approval of another host\n%.2000s", f.Name, log)
		}
		if s.approvedBy("forged") == "" && s.approvals() > 1 {
			t.Errorf("%s: %d approvals", f.Name, s.approvals())
		}
		s.Close()
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"), csrtest.Client("badger"))
	a, log := replica(t, s, func(c *Config) { c.DryRun, c.Lease = true, testLease })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
	for _, asked := range s.asked {
		if !strings.HasPrefix(asked, "GET ") {
			t.Errorf("%s was asked", asked)
		}
	}
	if !strings.Contains(log.String(), "decision=would-approve") {
		t.Errorf("the log does not say what would be approved:\n%s", log)
	}
}

func TestSwitch(t *testing.T) {
	s := newServer(t)
	set := func(value string) {
		s.put(switchPath, map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": "csr-approver", "namespace": "rollcall"}, "data": map[string]any{switchKey: value}})
	}
	a, log := replica(t, s, func(c *Config) { c.Switch = testSwitch })
	s.file(t, csrtest.Client("panda"))
	must(t, a) // no ConfigMap
	for _, off := range []string{"false", "", "True", "yes"} {
		set(off)
		must(t, a)
	}
	if s.approvals() != 0 || !strings.Contains(log.String(), "approval is paused") || value(t, a.c.Metrics, "paused") != 1 {
		t.Fatalf("%d approvals while the switch is off:\n%s", s.approvals(), log)
	}
	s.meddle = func(req *http.Request) int {
		if req.URL.Path == switchPath {
			return 500
		}
		return 0
	}
	if _, err := once(t, a); err == nil || s.approvals() != 0 {
		t.Errorf("a switch that cannot be read: %v, %d approvals", err, s.approvals())
	}
	s.meddle = nil
	set("true")
	must(t, a)
	if s.approvals() != 1 || value(t, a.c.Metrics, "paused") != 0 {
		t.Errorf("%d approvals after the switch is on:\n%s", s.approvals(), log)
	}
}

// TestSwitchPulledInARound: between two approvals of one round.
func TestSwitchPulledInARound(t *testing.T) {
	s := newServer(t)
	cm := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "csr-approver", "namespace": "rollcall"}, "data": map[string]any{switchKey: "true"}}
	s.put(switchPath, cm)
	s.file(t, csrtest.Client("panda"), csrtest.Serving("koala", "192.0.2.22"))
	s.before = func(s *server, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/approval") {
			cm["data"] = map[string]any{switchKey: "false"}
		}
	}
	a, _ := replica(t, s, func(c *Config) { c.Switch = testSwitch })
	must(t, a)
	if s.approvals() != 1 {
		t.Errorf("%d approvals, want the one before the switch was pulled", s.approvals())
	}
}

func TestPauseAbove(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"), csrtest.Client("badger"), csrtest.Client("stoat"))
	a, log := replica(t, s, func(c *Config) { c.Limits.Pending = 2 })
	must(t, a)
	if s.approvals() != 0 || !strings.Contains(log.String(), "--pause-above 2") {
		t.Fatalf("%d approvals:\n%s", s.approvals(), log)
	}
	s.remove(csrPath + "csr-stoat")
	must(t, a)
	if s.approvals() != 1 {
		t.Errorf("%d approvals after the others are gone", s.approvals())
	}
}

// fleet is an inventory of workers that all ask.
func fleet(t *testing.T, s *server, n int) Inventory {
	t.Helper()
	var hosts []csr.Expectation
	for i := range n {
		name := fmt.Sprintf("w%d", i)
		hosts = append(hosts, csr.Expectation{Name: name, Role: "worker", Explicit: true, Source: "hosts.yaml", NotBefore: csrtest.Noon.Add(-time.Hour), Boot: "it is expected"})
		s.file(t, csrtest.Client(name))
	}
	return func(context.Context) ([]csr.Expectation, error) { return hosts, nil }
}

// TestLimits: what was approved counts also for another process, because the requests
// are the record.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits Limits
		want   int
		scope  string
	}{
		{"in a minute", Limits{PerMinute: 3}, 3, "minute"},
		{"in an hour", Limits{PerHour: 4}, 4, "hour"},
		{"none", Limits{PerMinute: -1, PerHour: -1}, 8, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			inventory := fleet(t, s, 8)
			for range 2 { // the second process begins with nothing
				a, log := replica(t, s, func(c *Config) { c.Limits, c.Inventory = tt.limits, inventory })
				again := must(t, a)
				if s.approvals() != tt.want {
					t.Fatalf("%d approvals, want %d\n%s", s.approvals(), tt.want, log)
				}
				if tt.scope != "" && (again <= 0 || value(t, a.c.Metrics, "budget_exhausted_total", tt.scope) == 0) {
					t.Errorf("again in %s, metrics %v", again, value(t, a.c.Metrics, "budget_exhausted_total", tt.scope))
				}
			}
			if tt.scope == "minute" { // a minute later the others
				a, _ := replica(t, s, func(c *Config) {
					c.Limits, c.Inventory, c.Now = tt.limits, inventory, func() time.Time { return csrtest.Noon.Add(61 * time.Second) }
				})
				if must(t, a); s.approvals() != 2*tt.want {
					t.Errorf("%d approvals a minute later", s.approvals())
				}
			}
		})
	}
}

// TestPerHost: one host that asks too often does not stop another.
func TestPerHost(t *testing.T) {
	s := newServer(t)
	for i := range 3 {
		s.file(t, csrtest.Serving("koala", "192.0.2.22").Named(fmt.Sprint("old", i)).Issued(csr.Reason).At(csrtest.Noon.Add(-time.Duration(50-i)*time.Minute)))
	}
	inventory := csrtest.Expected()
	for i := range inventory { // as if the host booted since: its older requests are another boot's
		if inventory[i].Name == "koala" {
			inventory[i].NotBefore, inventory[i].Boot = csrtest.Noon.Add(-5*time.Minute), "it booted"
		}
	}
	s.file(t, csrtest.Serving("koala", "192.0.2.22"), csrtest.Client("panda"))
	a, log := replica(t, s, func(c *Config) {
		c.Limits.PerHost = 3
		c.Inventory = func(context.Context) ([]csr.Expectation, error) { return inventory, nil }
	})
	must(t, a)
	if s.approvedBy("csr-s-koala") != "" || s.approvedBy("csr-panda") == "" {
		t.Errorf("koala %q, panda %q\n%s", s.approvedBy("csr-s-koala"), s.approvedBy("csr-panda"), log)
	}
}

// TestOtherApprover: what the machine approver answers meanwhile stays as it is, and is
// no error.
func TestOtherApprover(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"))
	s.before = func(s *server, req *http.Request) {
		if !strings.HasSuffix(req.URL.Path, "/approval") {
			return
		}
		o, err := csrtest.Client("panda").Answered(certificatesv1.CertificateApproved, "NodeCSRApprove").Object()
		if err != nil {
			t.Error(err)
		}
		o["spec"] = s.objects[csrPath+"csr-panda"]["spec"]
		s.store(csrPath+"csr-panda", o)
		s.before = nil
	}
	a, log := replica(t, s, nil)
	must(t, a)
	must(t, a)
	if s.approvals() != 0 || s.approvedBy("csr-panda") != "NodeCSRApprove" || value(t, a.c.Metrics, "overtaken_total") != 1 {
		t.Errorf("%d approvals, approved by %q\n%s", s.approvals(), s.approvedBy("csr-panda"), log)
	}
	if strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("an error is logged:\n%s", log)
	}
}

func TestAfterLeavesTimeToOthers(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"))
	a, _ := replica(t, s, func(c *Config) { c.After = 2 * time.Minute })
	if again := must(t, a); again != time.Minute || s.approvals() != 0 {
		t.Errorf("again in %s, %d approvals", again, s.approvals())
	}
}

// TestKilledBeforeTheWrite: nothing is half done; the next process decides the same.
func TestKilledBeforeTheWrite(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"))
	ctx, kill := context.WithCancel(t.Context())
	s.meddle = func(req *http.Request) int {
		if req.Method == http.MethodPatch {
			kill()
			return 500
		}
		return 0
	}
	a, _ := replica(t, s, nil)
	if _, err := a.round(ctx, func() bool { return true }); err == nil || s.approvals() != 0 || len(s.under(eventPath)) != 0 {
		t.Fatalf("killed: %v, %d approvals, %d events", err, s.approvals(), len(s.under(eventPath)))
	}
	s.meddle = nil
	b, _ := replica(t, s, nil)
	must(t, b)
	if s.approvals() != 1 || len(s.under(eventPath)) != 1 {
		t.Errorf("the next process: %d approvals, %d events", s.approvals(), len(s.under(eventPath)))
	}
}

// TestKilledAfterTheWrite: the answer is lost. The next process does not approve twice.
func TestKilledAfterTheWrite(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"))
	ctx, kill := context.WithCancel(t.Context())
	s.before = func(_ *server, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/approval") {
			kill()
		}
	}
	a, _ := replica(t, s, nil)
	_, _ = a.round(ctx, func() bool { return true })
	s.before = nil
	if !eventually(func() bool { return s.approvedBy("csr-panda") == csr.Reason }) {
		t.Fatal("the write did not reach the server")
	}
	b, _ := replica(t, s, nil)
	must(t, b)
	if s.approvals() != 1 {
		t.Errorf("%d approvals", s.approvals())
	}
}

func eventually(ok func() bool) bool {
	// Long, as it is only there so that a failure ends: a busy machine is none.
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}

// TestLostLease: a replica that lost the lease after its decision does not write.
func TestLostLease(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"))
	a, _ := replica(t, s, nil)
	if _, err := a.round(t.Context(), func() bool { return false }); !errors.Is(err, errStopped) || s.approvals() != 0 {
		t.Errorf("%v, %d approvals", err, s.approvals())
	}
}

// TestAPIFails: what the API refuses approves nothing, and the approver continues when it
// answers again.
func TestAPIFails(t *testing.T) {
	lists := []string{csrPath[:len(csrPath)-1], "/api/v1/nodes", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"}
	for _, code := range []int{403, 429, 500, 503} {
		for _, path := range append(lists, csrPath+"csr-panda", csrPath+"csr-panda/approval") {
			s := newServer(t)
			s.file(t, csrtest.Client("panda"))
			s.meddle = func(req *http.Request) int {
				if req.URL.Path == path && req.URL.Query().Get("watch") == "" {
					return code
				}
				return 0
			}
			a, log := replica(t, s, nil)
			if _, err := once(t, a); err == nil || s.approvals() != 0 {
				t.Errorf("%d of %s: %v, %d approvals", code, path, err, s.approvals())
			}
			s.meddle = nil
			must(t, a)
			if s.approvals() != 1 {
				t.Errorf("%d of %s: %d approvals when it answers again\n%s", code, path, s.approvals(), log)
			}
			s.Close()
		}
	}
}

// TestEventsRefused: that an event cannot be written changes no decision, and is counted.
func TestEventsRefused(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"))
	s.meddle = func(req *http.Request) int {
		if strings.Contains(req.URL.Path, "events") {
			return 403
		}
		return 0
	}
	a, _ := replica(t, s, nil)
	must(t, a)
	if s.approvals() != 1 || value(t, a.c.Metrics, "event_errors_total") != 1 {
		t.Errorf("%d approvals, %v errors", s.approvals(), value(t, a.c.Metrics, "event_errors_total"))
	}
}

func TestInventoryFails(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"))
	a, _ := replica(t, s, func(c *Config) {
		c.Inventory = func(context.Context) ([]csr.Expectation, error) { return csrtest.Expected(), errors.New("forbidden") }
	})
	if _, err := once(t, a); err == nil || s.approvals() != 0 {
		t.Errorf("%v, %d approvals", err, s.approvals())
	}
}
