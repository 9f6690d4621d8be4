package diagnose_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/attention"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/session/engine"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/tools/benchmark"
)

// BenchmarkLive makes the whole diagnosis of a running cluster, from its first
// request to the last byte of the JSON, as `rollcall diagnose -o json` does. The
// lab's large clusters are what it is meant for:
//
//	rollcall lab up scale-500
//	ROLLCALL_BENCH_KUBECONFIG=$(rollcall lab kubeconfig) go test -run '^$' -bench BenchmarkLive -benchtime 5x ./internal/kernel/diagnose
func BenchmarkLive(b *testing.B) {
	kubeconfig := os.Getenv("ROLLCALL_BENCH_KUBECONFIG")
	if kubeconfig == "" {
		b.Skip("set ROLLCALL_BENCH_KUBECONFIG to measure against a running cluster")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		b.Fatal(err)
	}
	faults, err := fault.Load(catalog.FS)
	if err != nil {
		b.Fatal(err)
	}
	set, err := fixture.Signatures()
	if err != nil {
		b.Fatal(err)
	}
	benchmark.ResetPeak(b)
	before := benchmark.CPU(b)
	var out counter
	for b.Loop() {
		out = 0
		clean, err := sanitize.New()
		if err != nil {
			b.Fatal(err)
		}
		s, err := live.New(config, live.Options{})
		if err != nil {
			b.Fatal(err)
		}
		reader := reader.New(set, clean, nil, reader.Limits{}, s)
		reader.ReadFew(attention.Texts, attention.Logs)
		o := engine.Options(faults, all.All(), reader)
		o.Clock, o.Log = time.Now, slog.New(slog.DiscardHandler)
		d, err := diagnose.Run(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		if len(d.Hosts) == 0 {
			b.Fatal("the cluster has no hosts")
		}
		if err := answer.JSON(&out, d, answer.Options{}); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
	b.ReportMetric((benchmark.CPU(b)-before).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(benchmark.Peak(b), "peak-MB")
	b.ReportMetric(float64(out)/1e6, "json-MB")
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
