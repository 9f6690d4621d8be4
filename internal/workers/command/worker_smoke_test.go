package command

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// TestTrySmoke: a pod is tried on the workers that are Ready, where all else holds. A try that could not
// be made is not taken for a success.
func TestTrySmoke(t *testing.T) {
	holds := after.Indicator{ID: after.HostsJoined, Outcome: fault.Present}
	const ds = "/apis/apps/v1/namespaces/openshift-network-diagnostics/daemonsets/network-check-target"
	without := clitest.Object{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": clitest.Object{"name": "network-check-target", "namespace": "openshift-network-diagnostics"}}
	for name, c := range map[string]struct {
		joined     bool
		indicators []after.Indicator
		api        *kube.Client
		want       string // the reason; "-": not tried, and no indicator
	}{
		"no worker is Ready":       {false, []after.Indicator{holds}, nil, "-"},
		"something does not hold":  {true, []after.Indicator{{ID: after.HostsJoined, Outcome: fault.Absent}}, nil, "not tried, as something else does not hold"},
		"nothing was looked at":    {true, nil, nil, "not tried, as something else does not hold"},
		"no right":                 {true, []after.Indicator{holds}, answers(t, nil), "no permission"},
		"no container in its spec": {true, []after.Indicator{holds}, answers(t, map[string]clitest.Object{ds: without}), "guest1: "},
	} {
		t.Run(name, func(t *testing.T) {
			now := func() time.Time { return clitest.Now }
			plan := workers.Plan{Run: "w-0123456789", Provider: "lab", Made: clitest.Now, Until: clitest.Now.Add(time.Hour), Workers: []provider.Worker{{Name: "guest1"}}}
			journal, err := workers.Begin(t.TempDir(), plan, now)
			if err != nil {
				t.Fatal(err)
			}
			defer journal.Close()
			r := &workers.Runner{Journal: journal, Provider: made{}, Now: now, Report: func(workers.Event) {}, Every: time.Millisecond,
				UserData: func(context.Context) (workers.UserData, error) { return workers.UserData{Raw: []byte("x")}, nil },
				Nodes: func(context.Context, string) (workers.Node, bool, error) {
					return workers.Node{UID: "u", Created: clitest.Now, Ready: c.joined}, true, nil
				}}
			if err := r.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer end()
			_ = r.Join(ctx) // a worker that is not Ready is one of the cases
			f := &workerFollow{run: &workerRun{runner: r, api: c.api}, indicators: c.indicators}
			f.trySmoke(t.Context())
			if c.want == "-" {
				if len(f.indicators) != len(c.indicators) {
					t.Errorf("%+v", f.indicators)
				}
				return
			}
			last := f.indicators[len(f.indicators)-1]
			if last.ID != after.SmokePod || last.Outcome != fault.Unknown || !strings.Contains(last.Reason, c.want) || after.AllHold(f.indicators) {
				t.Errorf("%+v", last)
			}
		})
	}
	with, none := rightNames(rightsFor(workers.Plan{SmokePod: true})), rightNames(rightsFor(workers.Plan{}))
	if !strings.Contains(with, "create pods in openshift-network-diagnostics") || strings.Contains(none, "create pods") || !strings.Contains(none, "list Nodes") {
		t.Errorf("with: %s\nwithout: %s", with, none)
	}
}
