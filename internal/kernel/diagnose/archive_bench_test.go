package diagnose_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/session/engine"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/archive/archivetest"
	"github.com/rollcall-project/rollcall/internal/tools/benchmark"
)

// BenchmarkArchive makes the whole diagnosis of a gzipped must-gather, from its first
// byte to the verdict, as `rollcall diagnose --from` does. Bytes are those after
// decompression; peak-MB is the most memory that the process had. The archive of
// 1 GiB takes a while to write and is only measured on request:
//
//	ROLLCALL_BENCH_GIB=1 go test -run '^$' -bench BenchmarkArchive -benchtime 3x ./internal/kernel/diagnose
func BenchmarkArchive(b *testing.B) {
	b.Run("100MB", func(b *testing.B) { benchmarkArchive(b, 100_000_000) })
	b.Run("1GiB", func(b *testing.B) {
		if os.Getenv("ROLLCALL_BENCH_GIB") == "" {
			b.Skip("set ROLLCALL_BENCH_GIB=1 to measure it")
		}
		benchmarkArchive(b, 1<<30)
	})
}

func benchmarkArchive(b *testing.B, size int64) {
	base, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "must-gather.tar.gz")
	if size, err = archivetest.File(path, base, size); err != nil {
		b.Fatal(err)
	}
	faults, err := fault.Load(catalog.FS)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	benchmark.ResetPeak(b)
	before := benchmark.CPU(b)
	for b.Loop() {
		if d := diagnoseArchive(b, faults, path); d.Verdict.Class != "healthy" || len(d.Hosts) == 0 {
			b.Fatalf("the verdict on a healthy cluster with %d hosts is %s: %s", len(d.Hosts), d.Verdict.Class, d.Verdict.Reason)
		}
	}
	b.ReportMetric((benchmark.CPU(b)-before).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(benchmark.Peak(b), "peak-MB")
}

func diagnoseArchive(b *testing.B, faults *fault.Catalog, path string) *diagnosis.Diagnosis {
	set, err := fixture.Signatures()
	if err != nil {
		b.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		b.Fatal(err)
	}
	s, err := archive.Open(b.Context(), path, archive.For(facts.Needs(all.All())),
		archive.Skim(reader.NewSkimmer(set, clean, reader.Limits{})))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	o := engine.Options(faults, all.All(), reader.New(set, clean, nil, reader.Limits{}, s))
	o.Clock, o.Log = time.Now, slog.New(slog.DiscardHandler)
	d, err := diagnose.Run(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	return d
}
