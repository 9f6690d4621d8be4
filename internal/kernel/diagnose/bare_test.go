package diagnose_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/session/engine"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/tools/benchmark"
)

// bareNodes writes a list of Nodes that have a name and nothing else: the least that a file needs to name
// a host, some 90 bytes, of which every fault is asked.
func bareNodes(tb testing.TB, n int) (path string) {
	tb.Helper()
	return writeNodes(tb, n, "")
}

// writeNodes writes Nodes that are alike. more follows the metadata.
func writeNodes(tb testing.TB, n int, more string) (path string) {
	tb.Helper()
	var b strings.Builder
	b.WriteString(`{"kind":"List","apiVersion":"v1","items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-%05d"}%s}`, i, more)
	}
	b.WriteString("]}")
	path = filepath.Join(tb.TempDir(), "nodes.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// diagnoseFile diagnoses a file and returns how many hosts it names.
func diagnoseFile(tb testing.TB, path string, faults *fault.Catalog) int {
	tb.Helper()
	return len(diagnosisOf(tb, path, faults, true).Hosts)
}

// diagnosisOf diagnoses a file.
func diagnosisOf(tb testing.TB, path string, faults *fault.Catalog, deciding bool) *diagnosis.Diagnosis {
	tb.Helper()
	set, err := fixture.Signatures()
	if err != nil {
		tb.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		tb.Fatal(err)
	}
	s, err := archive.Open(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	o := engine.Options(faults, all.All(), reader.New(set, clean, nil, reader.Limits{}, s))
	o.Deciding = deciding // as diagnose has it for a terminal and for JSON
	o.Clock, o.Log, o.Now = time.Now, slog.New(slog.DiscardHandler), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d, err := diagnose.Run(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// TestSuspectsOfManyHosts: where many hosts have the same trouble, each unknown fault that could explain
// it is a suspect at each of them, whether findings that decide nothing are kept or not.
func TestSuspectsOfManyHosts(t *testing.T) {
	faults, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	path := writeNodes(t, 20, `,"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady",`+
		`"message":"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady",`+
		`"lastHeartbeatTime":"2026-03-01T11:59:00Z","lastTransitionTime":"2026-03-01T08:00:00Z"}]}`)
	var texts [2]strings.Builder
	suspects := 0
	for i, deciding := range []bool{false, true} {
		d := diagnosisOf(t, path, faults, deciding)
		d.Stats.Millis = 0
		if err := answer.JSON(&texts[i], d, answer.Options{Catalog: faults}); err != nil {
			t.Fatal(err)
		}
		for _, u := range d.Unexplained {
			suspects += len(u.Suspects)
		}
	}
	if suspects == 0 {
		t.Error("no suspect is shown: this proves nothing")
	}
	if texts[0].String() != texts[1].String() {
		t.Error("the answers differ")
	}
}

// TestBareNodesAreLinear: a host of which nothing but the name is known costs the same among few and
// among many, and not more than so much.
func TestBareNodesAreLinear(t *testing.T) {
	if testing.Short() { // as under the race detector, which has sync.Pool drop what it holds
		t.Skip("counts what is allocated")
	}
	faults, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	allocated := func(n int) (bytes uint64) {
		path := bareNodes(t, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got := diagnoseFile(t, path, faults); got != n {
			t.Fatalf("%d hosts, want %d", got, n)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(10) // what is made once
	few, some, many := allocated(10), allocated(210), allocated(610)
	each, later := (some-few)/200, (many-some)/400
	t.Logf("%d and %d bytes are allocated for a host", each, later)
	const most = 220_000
	if each > most || later > each+each/4 {
		t.Errorf("%d bytes are allocated for each of the first hosts, %d for each further one; at most %d, and not growing", each, later, most)
	}
}

// BenchmarkBareNodes diagnoses 5,000 Nodes without a condition, in a file of 350 kB.
func BenchmarkBareNodes(b *testing.B) {
	faults, err := fault.Load(catalog.FS)
	if err != nil {
		b.Fatal(err)
	}
	path := bareNodes(b, 5000)
	benchmark.ResetPeak(b)
	before := benchmark.CPU(b)
	b.ReportAllocs()
	for b.Loop() {
		if diagnoseFile(b, path, faults) != 5000 {
			b.Fatal("hosts are missing")
		}
	}
	b.ReportMetric((benchmark.CPU(b)-before).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(benchmark.Peak(b), "peak-MB")
}
