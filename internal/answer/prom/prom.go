// Package prom writes a diagnosis as metrics for Prometheus: those that `rollcall serve` exports, and `-o prom` for the textfile collector
// of a node exporter. One list: both have the same names.
//
// Invariant: what is exported is bounded, however large or hostile the cluster is: labels have values of closed lists, or of the
// first few by name, and the others are counted.
package prom

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Bounds of what is exported.
const (
	MostNamed = 50  // hosts, and roots with their subjects, by name
	MostRoles = 20  // pools; the others are one
	MostGaps  = 100 // needs that were not read
	MostLabel = 200 // bytes of the value of a label
)

// other is the label of what is not exported by name.
const other = "other"

// The metrics about a cluster.
var (
	descHosts = Desc("hosts", "Expected hosts, by where they are on the join path.", "role", "stage", "state")
	descHost  = Desc("host_stage_info", "1 for each expected host that has not joined, up to 50.", "host", "role", "stage", "state")
	descLeft  = Desc("hosts_dropped", "Hosts that have not joined and are not in rollcall_host_stage_info.")
	descRoot  = Desc("root_info", "1 for each root cause at each of its subjects, up to 50.", "fault", "kind", "subject", "confidence", "severity")
	descRoots = Desc("roots_dropped", "Root causes at subjects that are not in rollcall_root_info.")
	descFound = Desc("findings", "Faults of the catalog that are present, or unknown, by the number of their subjects.", "fault", "outcome")
	descGaps  = Desc("coverage_gaps", "1 for each thing that was not read, or not whole.", "need", "reason")
	descClass = Desc("verdict_info", "1 for the verdict about the cluster.", "class")
	descLast  = Desc("last_run_timestamp_seconds", "When the answer that is exported was read, in seconds since 1970.")
)

// Descs are those that Collect sends.
func Descs() []*prometheus.Desc {
	return []*prometheus.Desc{descLast, descHosts, descHost, descLeft, descRoot, descRoots, descFound, descGaps, descClass}
}

// Desc describes a metric; name is without the prefix that all have.
func Desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("rollcall_"+name, help, labels, nil)
}

// Gauge takes one value.
type Gauge func(d *prometheus.Desc, v float64, labels ...string)

// To returns a Gauge that sends to a collector's channel. Labels are made harmless: names come from the cluster.
func To(out chan<- prometheus.Metric) Gauge {
	return func(d *prometheus.Desc, v float64, labels ...string) {
		for i := range labels {
			labels[i] = Label(labels[i])
		}
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
}

// Collect sends what a diagnosis has; read is when it was read, in seconds since 1970.
func Collect(d *diagnosis.Diagnosis, read int64, gauge Gauge) {
	gauge(descLast, float64(read))
	gauge(descClass, 1, string(d.Verdict.Class))
	collectHosts(d, gauge)
	collectRoots(d, gauge)
	collectFindings(d, gauge)
	collectGaps(d, gauge)
}

// collector is one diagnosis.
type collector struct{ d *diagnosis.Diagnosis }

// Describe implements prometheus.Collector.
func (collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range Descs() {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) { Collect(c.d, c.d.Now.Unix(), To(out)) }

// Write writes a diagnosis in the text format of Prometheus.
func Write(w io.Writer, d *diagnosis.Diagnosis) error {
	r := prometheus.NewRegistry()
	if err := r.Register(collector{d}); err != nil {
		return fmt.Errorf("register the metrics: %w", err)
	}
	families, err := r.Gather()
	if err != nil {
		return fmt.Errorf("gather the metrics: %w", err)
	}
	out := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := out.Encode(f); err != nil {
			return fmt.Errorf("write the metrics: %w", err)
		}
	}
	return nil
}

func collectHosts(d *diagnosis.Diagnosis, gauge Gauge) {
	roles := RolesOf(d)
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
		if named++; named <= MostNamed {
			gauge(descHost, 1, h.Name, at.role, at.stage, at.state)
		}
	}
	for at, n := range count {
		gauge(descHosts, float64(n), at.role, at.stage, at.state)
	}
	gauge(descLeft, float64(max(0, named-MostNamed)))
}

// RolesOf returns what bounds the roles: the first by name are themselves.
func RolesOf(d *diagnosis.Diagnosis) func(string) string {
	var all []string
	for _, h := range d.Hosts {
		if h.Expected && !slices.Contains(all, h.Role) {
			all = append(all, h.Role)
		}
	}
	slices.Sort(all)
	all = all[:min(len(all), MostRoles)]
	return func(role string) string {
		if !slices.Contains(all, role) {
			return other
		}
		return role
	}
}

func collectRoots(d *diagnosis.Diagnosis, gauge Gauge) {
	n := 0
	for _, r := range d.Roots {
		for _, c := range r.Cases {
			if n++; n <= MostNamed {
				gauge(descRoot, 1, c.Fault, string(c.Subject.Kind), c.Subject.Name, string(c.Confidence), string(r.Severity))
			}
		}
	}
	gauge(descRoots, float64(max(0, n-MostNamed)))
}

func collectFindings(d *diagnosis.Diagnosis, gauge Gauge) {
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

func collectGaps(d *diagnosis.Diagnosis, gauge Gauge) {
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
	for _, g := range list[:min(len(list), MostGaps)] {
		gauge(descGaps, 1, g.need, g.reason)
	}
}

// Label makes a text that a label may have: names come from the cluster.
func Label(text string) string {
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
	if len(text) <= MostLabel {
		return text
	}
	cut := MostLabel
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
