package after_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session/engine"
)

var known *fault.Catalog

func TestMain(m *testing.M) {
	var err error
	if known, err = fault.LoadChecks(catalog.FS); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// check diagnoses a fixture and looks at its indicators.
func check(t *testing.T, files fstest.MapFS, stable time.Duration, without ...evidence.Need) (map[after.ID]after.Indicator, []after.Indicator, *diagnosis.Diagnosis) {
	t.Helper()
	r, err := fixture.Reader(files, without...)
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options(known, all.All(), r)
	o.Clock, o.Log = func() time.Time { return time.Time{} }, slog.New(slog.DiscardHandler)
	d, err := diagnose.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	list, err := after.Check(context.Background(), after.World(facts.NewWorld(r, d.Now), d), d, after.Options{Goal: after.Stable, StableFor: stable})
	if err != nil {
		t.Fatal(err)
	}
	found := map[after.ID]after.Indicator{}
	for _, i := range list {
		found[i.ID] = i
		if i.Outcome != fault.Present && i.Reason == "" {
			t.Errorf("%s is %s without a reason", i.ID, i.Outcome)
		}
	}
	return found, list, d
}

// TestHealthy: on every healthy base each indicator holds or does not apply.
func TestHealthy(t *testing.T) {
	for _, name := range fixture.Bases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := fixture.Base(name)
			if err != nil {
				t.Fatal(err)
			}
			_, list, d := check(t, files, time.Minute)
			for _, i := range list {
				t.Logf("%s %s %s", i.ID, i.Outcome, i.Reason)
				if !i.Holds() && d.Verdict.Class == diagnosis.Healthy {
					t.Errorf("%s is %s: %s", i.ID, i.Outcome, i.Reason)
				}
			}
		})
	}
}

// TestBroken: overlays of the catalog that break one thing.
func TestBroken(t *testing.T) {
	list, err := fixture.Overlays(os.DirFS("../../catalog"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]after.ID{
		"mcd-degraded-elsewhere": "", "etcd-member-unhealthy": after.EtcdMembers, "ovnkube-node-not-running": after.NetworkOnNodes,
		"node-not-ready": after.NodesReady, "operator-degraded": after.OperatorsStable, "csr-pending": after.NoOpenRequest, "pool-never-converged": after.PoolsUpdated,
	}
	ran := 0
	for _, o := range list {
		want, ok := tests[strings.TrimSuffix(filepath.Base(o.Path), ".txtar")]
		if !ok || want == "" {
			continue
		}
		ran++
		t.Run(filepath.Base(o.Path), func(t *testing.T) {
			t.Parallel()
			files, err := o.FS()
			if err != nil {
				t.Fatal(err)
			}
			found, all, _ := check(t, files, time.Minute)
			if i := found[want]; i.Outcome != fault.Absent {
				t.Errorf("%s is %s %s, want absent", want, i.Outcome, i.Reason)
			}
			if after.AllHold(all) {
				t.Error("all hold")
			}
		})
	}
	if ran < 4 {
		t.Errorf("only %d overlays were found", ran)
	}
}

// TestUnread: what is not read is unknown, and never holds.
func TestUnread(t *testing.T) {
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := check(t, files, time.Minute)
	for need, id := range map[evidence.Resource]after.ID{
		evidence.CSRs: after.NoOpenRequest, evidence.ClusterVersions: after.InstallDone, evidence.MachineConfigPools: after.PoolsUpdated,
		evidence.ClusterOperators: after.OperatorsStable, evidence.Nodes: after.NodesReady,
	} {
		if before[id].Outcome != fault.Present {
			t.Errorf("%s is %s where all was read", id, before[id].Outcome)
		}
		found, _, _ := check(t, files, time.Minute, evidence.Objects(need, ""))
		if i := found[id]; i.Holds() {
			t.Errorf("without %s: %s is %s", need, id, i.Outcome)
		}
	}
}

// TestStableFor: operators that have come to rest a moment ago are not stable.
func TestStableFor(t *testing.T) {
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	found, _, _ := check(t, files, 10000*time.Hour)
	if i := found[after.OperatorsStable]; i.Outcome != fault.Absent || !strings.Contains(i.Reason, "at rest") {
		t.Errorf("%s: %s", i.Outcome, i.Reason)
	}
}
