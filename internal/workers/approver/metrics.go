package approver

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the figures of one replica. Labels have values of closed lists only.
type Metrics struct {
	Registry *prometheus.Registry

	decisions                          *prometheus.CounterVec
	pending, oldest                    *prometheus.GaugeVec
	duration                           prometheus.Histogram
	budget, rounds                     *prometheus.CounterVec
	overtaken, suppressed, eventErrors prometheus.Counter
	leader, paused, hosts              prometheus.Gauge
}

// NewMetrics returns metrics in a registry of their own.
func NewMetrics() *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "rollcall_csr_" + name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rollcall_csr_" + name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "rollcall_csr_" + name, Help: help})
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "rollcall_csr_" + name, Help: help}, labels)
	}
	m := &Metrics{
		Registry:  prometheus.NewRegistry(),
		decisions: counters("decisions_total", "Decisions on certificate requests of kubelets.", "signer", "decision", "reason"),
		pending:   gauges("pending", "Requests of kubelets that wait, by whether their host is in the inventory.", "signer", "expected"),
		oldest:    gauges("oldest_pending_seconds", "Age of the oldest request that waits.", "signer"),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rollcall_csr_approval_duration_seconds",
			Help: "Time from the creation of a request to its approval.", Buckets: []float64{0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600}}),
		budget:      counters("budget_exhausted_total", "Approvals that a limit put off.", "scope"),
		rounds:      counters("rounds_total", "Rounds of the approver.", "result"),
		overtaken:   counter("overtaken_total", "Requests that somebody else answered between the decision and the write."),
		suppressed:  counter("events_suppressed_total", "Events on requests of unknown hosts that were not written."),
		eventErrors: counter("event_errors_total", "Events that could not be written."),
		leader:      gauge("leader", "1 while this replica approves."),
		paused:      gauge("paused", "1 while the switch or --pause-above stops approvals."),
		hosts:       gauge("inventory_hosts", "Hosts in the inventory."),
	}
	m.Registry.MustRegister(m.decisions, m.pending, m.oldest, m.duration, m.budget, m.rounds, m.overtaken,
		m.suppressed, m.eventErrors, m.leader, m.paused, m.hosts)
	return m
}
