package serve

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// golden holds a text to a file of testdata; `go test -update` writes it.
func golden(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

// dashboardOf is what is written for a program, and the dashboard in it.
func dashboardOf(t *testing.T, v Viewer) (text string, board object) {
	t.Helper()
	var out bytes.Buffer
	if err := WriteDashboard(&out, v); err != nil {
		t.Fatal(err)
	}
	raw := out.Bytes()
	if v == Console {
		var o struct {
			Metadata struct {
				Namespace string            `json:"namespace"`
				Labels    map[string]string `json:"labels"`
			} `json:"metadata"`
			Data map[string]string `json:"data"`
		}
		if err := yaml.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		if o.Metadata.Namespace != "openshift-config-managed" || o.Metadata.Labels["console.openshift.io/dashboard"] != "true" {
			t.Errorf("the console does not look there: %+v", o.Metadata)
		}
		raw = []byte(o.Data["rollcall.json"])
	}
	if err := json.Unmarshal(raw, &board); err != nil {
		t.Fatal(err)
	}
	return out.String(), board
}

func TestDashboards(t *testing.T) {
	for v, file := range map[Viewer]string{Console: "dashboard-console.yaml", Grafana: "dashboard-grafana.json"} {
		text, _ := dashboardOf(t, v)
		golden(t, file, text)
	}
}

// TestDashboardForms: the console draws panels of five kinds and passes over others without a word; Grafana has taken its old kinds out.
func TestDashboardForms(t *testing.T) {
	_, board := dashboardOf(t, Console)
	drawn := 0
	for _, r := range board["rows"].([]any) {
		width := 0
		for _, p := range r.(object)["panels"].([]any) {
			drawn++
			width += int(p.(object)["span"].(float64))
			if kind := p.(object)["type"].(string); !slices.Contains([]string{"gauge", "grafana-piechart-panel", "graph", "singlestat", "table"}, kind) {
				t.Errorf("the console has no panel %q", kind)
			}
		}
		if width != 12 {
			t.Errorf("row %v is %d of 12 wide", r.(object)["title"], width)
		}
	}
	_, board = dashboardOf(t, Grafana)
	seen := map[float64]bool{}
	for _, p := range board["panels"].([]any) {
		kind, id := p.(object)["type"].(string), p.(object)["id"].(float64)
		if seen[id] {
			t.Errorf("two panels have the number %v", id)
		}
		seen[id] = true
		if kind == "row" {
			continue
		}
		drawn--
		if !slices.Contains([]string{"stat", "timeseries", "table"}, kind) {
			t.Errorf("Grafana has no panel %q since version 12", kind)
		}
	}
	if drawn != 0 {
		t.Errorf("the console has %d panels more than Grafana", drawn)
	}
}

var metricName = regexp.MustCompile(`\brollcall[_:][a-z_:]+`)

// columnsOf are the labels that an expression groups by last.
func columnsOf(expr string) []string {
	m := regexp.MustCompile(`by \(([^)]*)\)`).FindStringSubmatch(expr)
	if m == nil {
		return nil
	}
	return strings.Split(m[1], ", ")
}

// TestExpressions: whatever a panel or a rule asks for is exported or recorded, and a table has the labels of its columns.
func TestExpressions(t *testing.T) {
	var exported, recorded []string
	for _, f := range families(t) {
		exported = append(exported, f.GetName())
	}
	for _, r := range recordings("rollcall") {
		recorded = append(recorded, r.record)
		for _, n := range metricName.FindAllString(r.expr, -1) {
			if !slices.Contains(exported, n) {
				t.Errorf("%s: %s is not exported", r.record, n)
			}
		}
		if !slices.Contains(columnsOf(r.expr), "namespace") {
			t.Errorf("%s loses the namespace", r.record)
		}
	}
	for _, c := range []struct {
		rows []row
		have []string
	}{{board(), exported}, {hubBoard(), recorded}} {
		for _, r := range c.rows {
			for _, p := range r.panels {
				asked := metricName.FindAllString(p.expr, -1)
				if len(asked) == 0 {
					t.Errorf("%s asks for nothing of Rollcall", p.title)
				}
				for _, n := range asked {
					if !slices.Contains(c.have, n) {
						t.Errorf("%s: %s is not there", p.title, n)
					}
				}
				for _, column := range p.columns {
					if p.kind != table || !slices.Contains(columnsOf(p.expr), column[0]) {
						t.Errorf("%s: column %s is no label of %s", p.title, column[0], p.expr)
					}
				}
			}
		}
	}
}

// TestPlayed: Prometheus computes what the panels and the recorded series say of a few replicas' metrics: promtool plays them. What is not
// known is no series, and not 0.
func TestPlayed(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: apt-get install prometheus")
	}
	groups := recordingRules("rollcall")["groups"].([]any)
	for file, rows := range map[string][]row{"board": board(), "hub": hubBoard()} {
		var list []any
		for _, r := range rows {
			for _, p := range r.panels {
				list = append(list, object{"record": file + ":" + regexp.MustCompile(`[^a-z]+`).ReplaceAllString(strings.ToLower(p.title), "_"), "expr": p.expr})
			}
		}
		groups = append(groups, object{"name": file, "rules": list})
	}
	raw, err := yaml.Marshal(object{"groups": groups})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	played, err := os.ReadFile("testdata/dashboard.test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{"rules.yaml": raw, "dashboard.test.yaml": played} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "dashboard.test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "SUCCESS") {
			t.Errorf("promtool %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
}
