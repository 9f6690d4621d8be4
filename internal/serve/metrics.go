package serve

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rollcall-project/rollcall/internal/answer/prom"
)

// Metrics are those of one replica. Those about the cluster are made of the state when they are asked for.
type Metrics struct {
	Registry *prometheus.Registry

	state func() *State
	now   func() time.Time

	runs     *prometheus.CounterVec
	duration prometheus.Histogram
	stages   *prometheus.HistogramVec
	written  *prometheus.CounterVec
}

// The metrics about this replica. Those about the cluster are in package prom.
var (
	descLeader = prom.Desc("leader", "1 while this replica reads the cluster.")
	descBlind  = prom.Desc("blind", "1 while the cluster cannot be read; the last answer stays.")
)

// NewMetrics returns metrics in a registry of their own; version is that of the program.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(), state: func() *State { return &State{} }, now: time.Now,
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rollcall_runs_total", Help: "Readings of the cluster."}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rollcall_run_duration_seconds", Help: "Time of one reading.",
			Buckets: []float64{0.5, 1, 2, 5, 10, 20, 60, 300}}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "rollcall_stage_duration_seconds",
			Help:    "How long hosts were at a stage that they have passed since this replica leads.",
			Buckets: []float64{10, 30, 60, 120, 300, 600, 1200, 2400, 3600, 7200},
		}, []string{"role", "stage"}),
		written: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rollcall_writes_total", Help: "Events and records that were written to the cluster, or not.",
		}, []string{"what", "result"}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "rollcall_build_info", Help: "1, with the version of the program."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	for _, result := range []string{resultOK, resultPartial, resultBlind, resultFailed} {
		m.runs.WithLabelValues(result) // a counter that is there from the start shows its first increase
	}
	m.Registry.MustRegister(build, m.runs, m.duration, m.stages, m.written, m)
	return m
}

func (m *Metrics) ran(result string, took time.Duration) {
	m.runs.WithLabelValues(result).Inc()
	m.duration.Observe(took.Seconds())
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range append(prom.Descs(), descLeader, descBlind) {
		out <- d
	}
}

// Collect implements prometheus.Collector. A replica that does not lead exports nothing about the cluster.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	gauge := prom.To(out)
	s := m.state()
	gauge(descLeader, truth(s.Leading))
	if !s.Leading {
		return
	}
	gauge(descBlind, truth(s.Blind != ""))
	if s.Reading == nil {
		return
	}
	prom.Collect(s.Reading.Diagnosis, s.ReadAt.Unix(), gauge)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
