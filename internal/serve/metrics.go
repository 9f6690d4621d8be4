package serve

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Bounds of what is exported.
const (
	mostNamed = 50  // hosts, and roots with their subjects, by name
	mostRoles = 20  // pools; the others are one
	mostGaps  = 100 // needs that were not read
	mostLabel = 200 // bytes of the value of a label
)

// other is the label of what is not exported by name.
const other = "other"

// Metrics are those of one replica. Those about the cluster are made of the state when they are asked for.
type Metrics struct {
	Registry *prometheus.Registry

	state func() *State
	now   func() time.Time

	runs     *prometheus.CounterVec
	duration prometheus.Histogram
	stages   *prometheus.HistogramVec
}

// The metrics about the cluster and about this replica. One list: the collector and the documentation have no other.
var (
	descLeader = desc("leader", "1 while this replica reads the cluster.")
	descBlind  = desc("blind", "1 while the cluster cannot be read; the last answer stays.")
	descLast   = desc("last_run_timestamp_seconds", "When the answer that is exported was read, in seconds since 1970.")
	descHosts  = desc("hosts", "Expected hosts, by where they are on the join path.", "role", "stage", "state")
	descHost   = desc("host_stage_info", "1 for each expected host that has not joined, up to 50.", "host", "role", "stage", "state")
	descLeft   = desc("hosts_dropped", "Hosts that have not joined and are not in rollcall_host_stage_info.")
	descRoot   = desc("root_info", "1 for each root cause at each of its subjects, up to 50.", "fault", "kind", "subject", "confidence", "severity")
	descRoots  = desc("roots_dropped", "Root causes at subjects that are not in rollcall_root_info.")
	descFound  = desc("findings", "Faults of the catalog that are present, or unknown, by the number of their subjects.", "fault", "outcome")
	descGaps   = desc("coverage_gaps", "1 for each thing that was not read, or not whole.", "need", "reason")
	descClass  = desc("verdict_info", "1 for the verdict about the cluster.", "class")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("rollcall_"+name, help, labels, nil)
}

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
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "rollcall_build_info", Help: "1, with the version of the program."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	for _, result := range []string{resultOK, resultPartial, resultBlind, resultFailed} {
		m.runs.WithLabelValues(result) // a counter that is there from the start shows its first increase
	}
	m.Registry.MustRegister(build, m.runs, m.duration, m.stages, m)
	return m
}

func (m *Metrics) ran(result string, took time.Duration) {
	m.runs.WithLabelValues(result).Inc()
	m.duration.Observe(took.Seconds())
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descLeader, descBlind, descLast, descHosts, descHost, descLeft, descRoot, descRoots, descFound, descGaps, descClass} {
		out <- d
	}
}

// Collect implements prometheus.Collector. A replica that does not lead exports nothing about the cluster.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		for i := range labels {
			labels[i] = label(labels[i])
		}
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s := m.state()
	gauge(descLeader, truth(s.Leading))
	if !s.Leading {
		return
	}
	gauge(descBlind, truth(s.Blind != ""))
	if s.Reading == nil {
		return
	}
	d := s.Reading.Diagnosis
	gauge(descLast, float64(s.ReadAt.Unix()))
	gauge(descClass, 1, string(d.Verdict.Class))
	collectHosts(d, gauge)
	collectRoots(d, gauge)
	collectFindings(d, gauge)
	collectGaps(d, gauge)
}

type gaugeFunc func(d *prometheus.Desc, v float64, labels ...string)

func collectHosts(d *diagnosis.Diagnosis, gauge gaugeFunc) {
	roles := rolesOf(d)
	type place struct{ role, stage, state string }
	count := map[place]int{}
	named := 0
	for _, h := range d.Hosts {
		if !h.Expected {
			continue // only a request names it: whoever asks chooses the name
		}
		at := place{roles(h.Role), string(h.Stage), string(h.State)}
		count[at]++
		if h.Done() {
			continue
		}
		if named++; named <= mostNamed {
			gauge(descHost, 1, h.Name, at.role, at.stage, at.state)
		}
	}
	for at, n := range count {
		gauge(descHosts, float64(n), at.role, at.stage, at.state)
	}
	gauge(descLeft, float64(max(0, named-mostNamed)))
}

// rolesOf returns what bounds the roles: the first by name are themselves.
func rolesOf(d *diagnosis.Diagnosis) func(string) string {
	var all []string
	for _, h := range d.Hosts {
		if h.Expected && !slices.Contains(all, h.Role) {
			all = append(all, h.Role)
		}
	}
	slices.Sort(all)
	all = all[:min(len(all), mostRoles)]
	return func(role string) string {
		if !slices.Contains(all, role) {
			return other
		}
		return role
	}
}

func collectRoots(d *diagnosis.Diagnosis, gauge gaugeFunc) {
	n := 0
	for _, r := range d.Roots {
		for _, c := range r.Cases {
			if n++; n <= mostNamed {
				gauge(descRoot, 1, c.Fault, string(c.Subject.Kind), c.Subject.Name, string(c.Confidence), string(r.Severity))
			}
		}
	}
	gauge(descRoots, float64(max(0, n-mostNamed)))
}

func collectFindings(d *diagnosis.Diagnosis, gauge gaugeFunc) {
	type key struct {
		fault   string
		outcome fault.Outcome
	}
	count := map[key]int{}
	for _, f := range d.Findings {
		if f.Outcome == fault.Present || f.Outcome == fault.Unknown {
			count[key{f.Fault, f.Outcome}] += 1 + len(f.Others)
		}
	}
	for k, n := range count {
		gauge(descFound, float64(n), k.fault, string(k.outcome))
	}
}

func collectGaps(d *diagnosis.Diagnosis, gauge gaugeFunc) {
	type gap struct{ need, reason string }
	var list []gap
	for _, c := range d.Coverage {
		if c.State != evidence.Missing && c.State != evidence.Partial || c.Why == evidence.NotServed || c.Why == evidence.NotAsked {
			continue // what the cluster does not have, and what nobody asked for, is no gap
		}
		list = append(list, gap{c.Need, cmp.Or(string(c.Why), string(c.State))})
	}
	slices.SortFunc(list, func(a, b gap) int {
		return cmp.Or(strings.Compare(a.need, b.need), strings.Compare(a.reason, b.reason))
	})
	list = slices.Compact(list)
	for _, g := range list[:min(len(list), mostGaps)] {
		gauge(descGaps, 1, g.need, g.reason)
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// label makes a text that a label may have: names come from the cluster.
func label(text string) string {
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
	if len(text) <= mostLabel {
		return text
	}
	cut := mostLabel
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
