package serve

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"sigs.k8s.io/yaml"
)

// A hub of Advanced Cluster Management collects chosen series of each cluster into one Thanos, and shows them in its Grafana: no server
// of Rollcall is on it. The names are those of stolostron/multicluster-observability-operator (main, 2.5 to 2.14):
// operators/pkg/config/config.go AllowlistCustomConfigMapName, MetricsConfigMapKey, UwlMetricsConfigMapKey, and
// operators/multiclusterobservability/pkg/config/config.go GrafanaCustomDashboardLabel.
const (
	hubNamespace   = "open-cluster-management-observability"
	allowListName  = "observability-metrics-custom-allowlist"
	platformList   = "metrics_list.yaml"
	userList       = "uwl_metrics_list.yaml"
	hubDashboard   = "grafana-custom-dashboard"
	hubBoardFile   = "rollcall-fleet.json"
	namesOfMetrics = "names"
)

// leafLabel makes the Prometheus of users evaluate rules itself. Without it the Thanos Ruler does, and the collector of a hub reads
// that Prometheus only (openshift/cluster-monitoring-operator: test/e2e/user_workload_monitoring_test.go prometheus-example-rule-leaf;
// stolostron/multicluster-observability-operator: collectors/metrics/pkg/forwarder/forwarder.go uwlPromURL).
const leafLabel = "openshift.io/prometheus-rule-evaluation-scope"

// recording is a series that a cluster computes for a hub: few, whatever the size of the cluster.
type recording struct{ record, expr string }

// recordings are the series for a hub, of the metrics in a namespace. The namespace stays: with it, Prometheus enforces whose they are.
func recordings(namespace string) []recording {
	in := `namespace="` + namespace + `"`
	return []recording{
		{"rollcall:hosts:sum", "sum by (namespace, state) (max by (namespace, role, stage, state) (rollcall_hosts{" + in + "}))"},
		{"rollcall:roots:count", "count by (namespace, confidence, severity) (max by (namespace, fault, kind, subject, confidence, severity) " +
			"(rollcall_root_info{" + in + "}))"},
		{"rollcall:verdict:info", "max by (namespace, class) (rollcall_verdict_info{" + in + "})"},
		{"rollcall:last_run:timestamp_seconds", "max by (namespace) (rollcall_last_run_timestamp_seconds{" + in + "})"},
		{"rollcall:csr_findings:sum", "sum by (namespace, fault) (max by (namespace, fault) (rollcall_findings{" + in + `,fault=~"` + csrFaults +
			`",outcome="present"}))`},
	}
}

// recordingRules are they as the group of a rule file.
func recordingRules(namespace string) object {
	var list []any
	for _, r := range recordings(namespace) {
		list = append(list, object{"record": r.record, "expr": r.expr})
	}
	return object{"groups": []any{object{"name": "rollcall-hub", "rules": list}}}
}

// hubRules is the object with them.
func (m Manifests) hubRules() object {
	o := m.object("monitoring.coreos.com/v1", "PrometheusRule", name+"-hub", object{"spec": recordingRules(m.Namespace)})
	if m.Monitoring == UserWorkload {
		o["metadata"].(object)["labels"].(object)[leafLabel] = "leaf-prometheus"
	}
	return o
}

// hubBoard is the dashboard of many clusters; the collector gives each series the label cluster.
func hubBoard() []row {
	return []row{
		{"Clusters", []panel{
			{title: "Clusters that Rollcall reads", expr: "count(count by (cluster) (rollcall:last_run:timestamp_seconds))"},
			{title: "With hosts that failed", alarm: true,
				expr: `count(sum by (cluster) (rollcall:hosts:sum{state="failed"}) > 0) or ` + hubAnswered},
			{title: "With a proven cause", alarm: true,
				expr: `count(sum by (cluster) (rollcall:roots:count{confidence="proven",severity="error"}) > 0) or ` + hubAnswered},
			{title: "With an answer older than 15 minutes", alarm: true,
				expr: "count(time() - max by (cluster) (rollcall:last_run:timestamp_seconds) > " + staleAfter + ") or " + hubAnswered},
		}},
		{"Which", []panel{
			{title: "Hosts that failed", kind: table, expr: `sum by (cluster) (rollcall:hosts:sum{state="failed"}) > 0`, columns: clusterColumn},
			{title: "Proven causes", kind: table, expr: `sum by (cluster) (rollcall:roots:count{confidence="proven",severity="error"}) > 0`,
				columns: clusterColumn},
			{title: "Old answers", kind: table, columns: clusterColumn,
				expr: "time() - max by (cluster) (rollcall:last_run:timestamp_seconds) > " + staleAfter},
			{title: "Verdicts", kind: table, expr: "max by (cluster, class) (rollcall:verdict:info)",
				columns: [][2]string{{"cluster", "Cluster"}, {"class", "Verdict"}}},
		}},
		{"Over time", []panel{
			{title: "Hosts that failed, in each cluster", kind: lines, legend: "{{cluster}}",
				expr: `sum by (cluster) (rollcall:hosts:sum{state="failed"})`},
			{title: "Faults of requests for certificates, in each cluster", kind: lines, legend: "{{cluster}}",
				expr: "sum by (cluster) (rollcall:csr_findings:sum)"},
		}},
	}
}

// hubAnswered is 0 while a cluster has an answer.
const hubAnswered = "0 * max(rollcall:last_run:timestamp_seconds)"

var clusterColumn = [][2]string{{"cluster", "Cluster"}}

// Hub is what a hub gets.
type Hub struct {
	Monitoring Monitoring // of the clusters: which list their series belong to
	AllowList  []byte     // the ConfigMap with the list as it is on the hub, YAML or JSON; nil: there is none
}

// Write writes the list of series, with what the hub already has in it, and the dashboard, as one file.
func (h Hub) Write(w io.Writer) error {
	list, err := h.allowList()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := writeJSON(&text, grafanaBoard(name+"-fleet", "Rollcall: clusters", hubBoard())); err != nil {
		return err
	}
	own := labels()
	own[hubDashboard] = "true"
	dashboard := object{"apiVersion": "v1", "kind": "ConfigMap", "data": object{hubBoardFile: text.String()},
		"metadata": object{"name": "grafana-dashboard-" + name, "namespace": hubNamespace, "labels": own}}
	var out bytes.Buffer
	for i, o := range []object{list, dashboard} {
		if i == 0 {
			out.WriteString(h.about())
		} else {
			out.WriteString("---\n")
		}
		raw, err := yaml.Marshal(o)
		if err != nil {
			return fmt.Errorf("encode a ConfigMap for the hub: %w", err)
		}
		out.Write(raw)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write the ConfigMaps for the hub: %w", err)
	}
	return nil
}

func (h Hub) about() string {
	if h.AllowList != nil {
		return "# The list as it was, with the series of Rollcall. Apply it on the hub.\n"
	}
	return "# For a hub without the ConfigMap " + allowListName + ". Where there is one, this would replace it: save it with\n" +
		"#   oc -n " + hubNamespace + " get configmap " + allowListName + " -o yaml > list.yaml\n" +
		"# and write this file again with --allowlist list.yaml.\n"
}

// allowList is the ConfigMap with the names of the series added.
func (h Hub) allowList() (object, error) {
	key := userList
	if h.Monitoring == Platform {
		key = platformList
	}
	o := object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": allowListName, "namespace": hubNamespace}, "data": object{}}
	if h.AllowList != nil {
		var have struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
				Labels    object `json:"labels"`
			} `json:"metadata"`
			Data object `json:"data"`
		}
		if err := yaml.Unmarshal(h.AllowList, &have); err != nil {
			return nil, fmt.Errorf("read --allowlist: %w", err)
		}
		if have.Kind != "ConfigMap" || have.Metadata.Name != allowListName || have.Metadata.Namespace != hubNamespace {
			return nil, fmt.Errorf("--allowlist is %s %s/%s: it must be ConfigMap %s/%s, as oc get -o yaml prints it",
				have.Kind, have.Metadata.Namespace, have.Metadata.Name, hubNamespace, allowListName)
		}
		if len(have.Metadata.Labels) > 0 {
			o["metadata"].(object)["labels"] = have.Metadata.Labels
		}
		if have.Data != nil {
			o["data"] = have.Data
		}
	}
	data := o["data"].(object)
	lists := object{}
	if text, ok := data[key].(string); ok {
		if err := yaml.Unmarshal([]byte(text), &lists); err != nil {
			return nil, fmt.Errorf("read %s in --allowlist: %w", key, err)
		}
	}
	names, ok := lists[namesOfMetrics].([]any)
	if lists[namesOfMetrics] != nil && !ok {
		return nil, fmt.Errorf("%s in --allowlist: names is not a list", key)
	}
	for _, r := range recordings("") {
		if !slices.Contains(names, any(r.record)) {
			names = append(names, r.record)
		}
	}
	if lists == nil {
		lists = object{}
	}
	lists[namesOfMetrics] = names
	raw, err := yaml.Marshal(lists)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", key, err)
	}
	data[key] = string(raw)
	return o, nil
}
