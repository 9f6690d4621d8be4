package command

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/baseline"
	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// made is a provider whose machines are there at once.
type made struct{ provider.Provider }

func (made) Create(context.Context, provider.Order, []byte) (provider.Machine, error) {
	return provider.Machine{ID: "m"}, nil
}

func (made) Clean(context.Context, provider.Order) error { return nil }

// TestSettleForgetsFormerLooks: what held for the first workers says nothing of all of them
// where the cluster cannot be read after the last one has joined.
func TestSettleForgetsFormerLooks(t *testing.T) {
	var out bytes.Buffer
	later := func() time.Time { return clitest.Now.Add(time.Minute) }
	a := &app{App: cmdutil.New("rollcall", cmdutil.IO{Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: later}), source: cmdutil.Options()}
	a.source.Kube.KubeConfig = filepath.Join(t.TempDir(), "none")
	a.source.Hosted = "clusters/guest"
	plan := workers.Plan{Run: "w-0123456789", Hosted: "clusters/guest", ControlPlane: "clusters-guest", NodePool: "guest", Provider: "manual",
		Made: clitest.Now, Until: clitest.Now.Add(time.Hour), Workers: []provider.Worker{{Name: "guest1"}}}
	journal, err := workers.Begin(t.TempDir(), plan, later)
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	r := &workers.Runner{
		Journal: journal, Provider: made{}, Now: later, Report: func(workers.Event) {},
		UserData: func(context.Context) (workers.UserData, error) { return workers.UserData{Raw: []byte("x")}, nil },
		Nodes: func(context.Context, string) (workers.Node, bool, error) {
			return workers.Node{UID: "u", Created: later(), Ready: true}, true, nil
		},
	}
	if err := r.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := &workerFollow{app: a.quiet(plan), run: &workerRun{runner: r}, base: &baseline.Baseline{},
		indicators: []after.Indicator{{ID: after.HostsJoined, Title: "every expected host has joined", Outcome: fault.Present}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.settle(ctx)
	if err := a.printAfterJoin(f); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "passed") || !strings.Contains(text, "not checked") || after.AllHold(f.indicators) {
		t.Errorf("a look before the last one joined counts:\n%s", text)
	}
	if f.base != nil {
		t.Error("a baseline without the last one would be kept")
	}
}
