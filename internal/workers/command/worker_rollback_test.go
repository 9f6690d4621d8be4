package command

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

func (made) Delete(context.Context, provider.Order) error { return nil }

// TestRolledBack: a rollback says what it removed, what may still run, and what is left for a person.
func TestRolledBack(t *testing.T) {
	for _, c := range []struct {
		provider            string
		event, answer, next string
	}{
		{workers.ManualName, "its user-data file is removed; a machine that was booted with it still runs", "removed are only the user-data files (guest6, guest7)",
			"Next: switch off the machines of guest6, guest7. Do not approve their requests (rollcall csr list)."},
		{"lab", "its machine is deleted", "the machines of guest6, guest7 are deleted", ""},
	} {
		var out bytes.Buffer
		var events []string
		now := func() time.Time { return clitest.Now }
		a := &app{App: cmdutil.New("rollcall", cmdutil.IO{Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: now}), source: cmdutil.Options()}
		plan := workers.Plan{Run: "w-0123456789", Hosted: "clusters/guest", Provider: c.provider, Made: clitest.Now, Until: clitest.Now.AddDate(0, 0, 1),
			Workers: []provider.Worker{{Name: "guest6"}, {Name: "guest7"}}}
		journal, err := workers.Begin(t.TempDir(), plan, now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { journal.Close() })
		r := &workers.Runner{
			Journal: journal, Provider: made{}, Now: now, Parallel: 1, Report: func(e workers.Event) { events = append(events, e.Text) },
			UserData: func(context.Context) (workers.UserData, error) { return workers.UserData{Raw: []byte("x")}, nil },
			Nodes:    func(context.Context, string) (workers.Node, bool, error) { return workers.Node{}, false, nil },
		}
		if err := r.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second one is of who asks again
			removed := r.Unjoined()
			if _, err := r.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			out.Reset()
			a.printRolledBack(plan, removed)
			if text := out.String(); !strings.Contains(text, c.answer) || !strings.Contains(text, c.next) || strings.Contains(text, "taken away") {
				t.Errorf("%s: %s", c.provider, text)
			}
		}
		if last := events[len(events)-1]; last != c.event {
			t.Errorf("%s: %s", c.provider, last)
		}
	}
}

// TestNothingToRollBack: where all have joined, nothing is called removed.
func TestNothingToRollBack(t *testing.T) {
	var out bytes.Buffer
	a := &app{App: cmdutil.New("rollcall", cmdutil.IO{Out: &out, Err: &out, Getenv: func(string) string { return "" }}), source: cmdutil.Options()}
	a.printRolledBack(workers.Plan{Run: "w-0123456789", Provider: workers.ManualName}, nil)
	if !strings.Contains(out.String(), "nothing that it made is left without a Node") {
		t.Error(out.String())
	}
}

// TestHostedKubeconfigOfARun: a run remembers the kubeconfig of its hosted cluster, and another one can be
// named.
func TestHostedKubeconfigOfARun(t *testing.T) {
	a := &app{App: cmdutil.New("rollcall", cmdutil.IO{Getenv: func(string) string { return "" }, Clock: func() time.Time { return clitest.Now }}), source: cmdutil.Options()}
	a.source.Hosted, a.source.HostedKubeconfig = "clusters/guest", "guest.kubeconfig"
	p, err := a.workerPlan(workerFlags{window: time.Hour, parallel: 1, provider: "lab", count: 1})
	if err != nil || !filepath.IsAbs(p.Kubeconfig) || filepath.Base(p.Kubeconfig) != "guest.kubeconfig" {
		t.Fatalf("%q, %v", p.Kubeconfig, err)
	}
	for named, want := range map[string]string{"": p.Kubeconfig, "other": "other"} {
		b := &app{App: a.App, source: cmdutil.Options()}
		b.source.HostedKubeconfig = named
		if b, err := b.forWorkerRun(p); err != nil || b.source.HostedKubeconfig != want || b.source.Hosted != "clusters/guest" {
			t.Errorf("%q: %+v, %v", named, b.source, err)
		}
	}
}
