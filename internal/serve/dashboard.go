package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Viewer is the program that shows a dashboard.
type Viewer string

// Which program.
const (
	Console Viewer = "console" // Observe > Dashboards of OpenShift's own console
	Grafana Viewer = "grafana" // any Grafana from version 8 on, by import
)

// Where the console looks for dashboards, and by which label (openshift/monitoring-plugin:
// web/src/components/dashboards/legacy/useLegacyDashboards.ts; openshift/cluster-ingress-operator:
// pkg/operator/controller/monitoring-dashboard/monitoring_dashboard.go; 4.6 and later).
const (
	dashboardNamespace = openshift.ConfigManagedNamespace
	dashboardLabel     = "console.openshift.io/dashboard"
	dashboardFile      = "rollcall.json"
)

// panelKind is what a panel draws.
type panelKind int

const (
	number panelKind = iota // the newest value
	lines                   // values over time, a line for each series
	table                   // the labels of the newest series, a row each
)

// panel is one field of a dashboard, without what only one program reads.
type panel struct {
	title   string
	kind    panelKind
	expr    string
	legend  string      // lines: the name of a line
	columns [][2]string // table: label, head of the column
	unit    string      // "s" for seconds; empty: a count
	alarm   bool        // number: more than none is wrong
}

// row is a line of panels side by side, which share the width.
type row struct {
	title  string
	panels []panel
}

// zero is 0 while there is an answer, and no series without one: no panel shows "none" of a cluster that was never read.
const zero = "0 * max(rollcall_last_run_timestamp_seconds)"

// orNone is an expression whose series are missing where it counts none.
func orNone(expr string) string { return expr + " or " + zero }

// hostSum is a sum over hosts; two replicas can export for a moment.
func hostSum(match string) string {
	return "sum(max by (role, stage, state) (rollcall_hosts" + match + "))"
}

// board is the dashboard of one cluster.
func board() []row {
	return []row{
		{"Now", []panel{
			{title: "Hosts that are expected", expr: orNone(hostSum(""))},
			{title: "Failed at a stage", expr: orNone(hostSum(`{state="failed"}`)), alarm: true},
			{title: "Proven causes", alarm: true,
				expr: orNone(`count(max by (fault, kind, subject) (rollcall_root_info{confidence="proven",severity="error"}))`)},
			{title: "Age of the answer", expr: "time() - max(rollcall_last_run_timestamp_seconds)", unit: "s"},
		}},
		{"What is wrong", []panel{
			{title: "Hosts that have not joined (rollcall diagnose HOST)", kind: table, expr: "max by (host, role, stage, state) (rollcall_host_stage_info)",
				columns: [][2]string{{"host", "Host"}, {"role", "Role"}, {"stage", "Stage"}, {"state", "State"}}},
			{title: "Causes (rollcall explain CAUSE)", kind: table, expr: "max by (fault, kind, subject, confidence, severity) (rollcall_root_info)",
				columns: [][2]string{{"fault", "Cause"}, {"kind", "Kind"}, {"subject", "Subject"}, {"confidence", "Proof"}, {"severity", "Severity"}}},
		}},
		{"Over time", []panel{
			{title: "Hosts by state", kind: lines, expr: "sum by (state) (max by (role, stage, state) (rollcall_hosts))", legend: "{{state}}"},
			{title: "Causes by proof", kind: lines, legend: "{{severity}}, {{confidence}}",
				expr: "count by (confidence, severity) (max by (fault, kind, subject, confidence, severity) (rollcall_root_info))"},
		}},
		{"How much of it is known", []panel{
			{title: "Verdict", kind: table, expr: "max by (class) (rollcall_verdict_info)", columns: [][2]string{{"class", "Verdict"}}},
			{title: "Not read, or not whole (rollcall can-i)", kind: table, expr: "max by (need, reason) (rollcall_coverage_gaps)",
				columns: [][2]string{{"need", "What"}, {"reason", "Why"}}},
			{title: "Readings in 5 minutes", kind: lines, expr: "sum by (result) (increase(rollcall_runs_total[5m]))", legend: "{{result}}"},
		}},
	}
}

// WriteDashboard writes the dashboard of one cluster: for the console a ConfigMap to apply, for Grafana its JSON.
func WriteDashboard(w io.Writer, v Viewer) error {
	if v == Grafana {
		return writeJSON(w, grafanaBoard("rollcall", "Rollcall: hosts that join", board()))
	}
	var text bytes.Buffer
	if err := writeJSON(&text, consoleBoard("Rollcall: hosts that join", board())); err != nil {
		return err
	}
	own := labels()
	own[dashboardLabel] = "true"
	raw, err := yaml.Marshal(object{"apiVersion": "v1", "kind": "ConfigMap", "data": object{dashboardFile: text.String()},
		"metadata": object{"name": "grafana-dashboard-" + name, "namespace": dashboardNamespace, "labels": own}})
	if err != nil {
		return fmt.Errorf("encode the ConfigMap of the dashboard: %w", err)
	}
	head := "# Observe > Dashboards of the console shows it. Apply it as an administrator; remove it with: oc delete -f THIS-FILE\n"
	if _, err := io.WriteString(w, head+string(raw)); err != nil {
		return fmt.Errorf("write the dashboard: %w", err)
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the dashboard: %w", err)
	}
	return nil
}

// consoleBoard is a dashboard as the console reads it: rows, and of panels only gauge, graph, grafana-piechart-panel, singlestat
// and table (openshift/monitoring-plugin: web/src/components/dashboards/legacy/legacy-dashboard.tsx, table.tsx, single-stat.tsx).
func consoleBoard(title string, rows []row) object {
	id := 0
	var out []any
	for _, r := range rows {
		var panels []any
		for _, p := range r.panels {
			id++
			panels = append(panels, p.console(id, 12/len(r.panels)))
		}
		out = append(out, object{"title": r.title, "showTitle": true, "collapse": false, "panels": panels})
	}
	return object{"title": title, "uid": name, "tags": []any{name}, "editable": false, "schemaVersion": 16, "timezone": "browser", "refresh": "30s",
		"time": object{"from": "now-6h", "to": "now"}, "templating": object{"list": []any{}}, "rows": out}
}

func (p panel) console(id, span int) object {
	target := object{"expr": p.expr, "refId": "A"}
	out := object{"id": id, "title": p.title, "span": span, "targets": []any{target}}
	switch p.kind {
	case number:
		out["type"], out["decimals"] = "singlestat", 0
		out["valueMaps"] = []any{object{"op": "=", "value": "null", "text": notKnown}}
		if p.unit != "" {
			out["format"] = p.unit
		}
		if p.alarm {
			// The console takes the last step that is below the value, and not one that is equal.
			steps := []any{object{"color": "green", "value": -1}, object{"color": "red", "value": 0.5}}
			out["options"] = object{"fieldOptions": object{"thresholds": steps}}
		}
	case lines:
		out["type"], out["legend"] = "graph", object{"show": true}
		target["legendFormat"] = p.legend
		out["yaxes"] = []any{object{"format": "short"}}
	case table:
		out["type"], out["transform"] = "table", "table"
		target["format"], target["instant"] = "table", true
		var styles []any
		for _, c := range p.columns {
			styles = append(styles, object{"pattern": c[0], "alias": c[1], "type": "string"})
		}
		out["styles"] = append(styles, object{"pattern": "Time", "alias": "", "type": "hidden"})
	}
	return out
}

// notKnown is shown where there is no value: it is not none.
const notKnown = "not known"

// grafanaBoard is a dashboard as Grafana reads it. Who imports it chooses the data source.
func grafanaBoard(uid, title string, rows []row) object {
	id, y := 0, 0
	var panels []any
	for _, r := range rows {
		id++
		panels = append(panels, object{"id": id, "type": "row", "title": r.title, "collapsed": false, "panels": []any{},
			"gridPos": object{"x": 0, "y": y, "w": 24, "h": 1}})
		y++
		width, height := 24/len(r.panels), 8
		if r.panels[0].kind == number {
			height = 4
		}
		for i, p := range r.panels {
			id++
			o := p.grafana(id)
			o["gridPos"] = object{"x": i * width, "y": y, "w": width, "h": height}
			panels = append(panels, o)
		}
		y += height
	}
	source := object{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "hide": 0}
	return object{"uid": uid, "title": title, "tags": []any{name}, "editable": true, "schemaVersion": 39, "timezone": "browser", "refresh": "30s",
		"time": object{"from": "now-6h", "to": "now"}, "templating": object{"list": []any{source}}, "panels": panels}
}

func (p panel) grafana(id int) object {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	target := object{"expr": p.expr, "refId": "A", "datasource": source}
	out := object{"id": id, "title": p.title, "datasource": source, "targets": []any{target}}
	values := object{"noValue": notKnown}
	if p.unit != "" {
		values["unit"] = p.unit
	}
	switch p.kind {
	case number:
		out["type"] = "stat"
		target["instant"] = true
		out["options"] = object{"colorMode": "value", "graphMode": "none", "reduceOptions": object{"calcs": []any{"lastNotNull"}}}
		steps := []any{object{"color": "text", "value": nil}}
		if p.alarm {
			steps = []any{object{"color": "green", "value": nil}, object{"color": "red", "value": 1}}
		}
		values["thresholds"] = object{"mode": "absolute", "steps": steps}
	case lines:
		out["type"] = "timeseries"
		target["legendFormat"] = p.legend
		values["min"] = 0
	case table:
		out["type"] = "table"
		target["instant"], target["format"] = true, "table"
		order, names := object{}, object{}
		for i, c := range p.columns {
			order[c[0]], names[c[0]] = i, c[1]
		}
		out["transformations"] = []any{object{"id": "organize", "options": object{
			"excludeByName": object{"Time": true, "Value": true}, "indexByName": order, "renameByName": names}}}
		values["noValue"] = "none, or not known"
	}
	out["fieldConfig"] = object{"defaults": values, "overrides": []any{}}
	return out
}
