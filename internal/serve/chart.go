package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// A chart for Helm is made of the same objects as the one file of Manifests: each document of each combination of values is in it once, with
// the condition under which it is in the file. So the two cannot differ; the test renders the chart with Helm's own engine and compares.

// Stand-ins for what the values of a chart say. They are names that Manifests takes, and no text of it has.
const (
	anyNamespace = "zz-release-namespace"
	anyImage     = "zz-image"
	anyReplicas  = 3
)

// combination is what decides which documents there are.
type combination struct {
	monitoring Monitoring
	readOnly   bool
}

func combinations() []combination {
	var list []combination
	for _, m := range []Monitoring{UserWorkload, Platform, NoMonitoring} {
		list = append(list, combination{m, false}, combination{m, true})
	}
	return list
}

// template is a document of a chart, with the combinations that have it.
type template struct {
	text string
	in   []combination
}

// Chart returns the files of a Helm chart by their names below its directory; version is that of the program, without a "v".
func Chart(version string) (map[string][]byte, error) {
	list, err := templates()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, t := range list {
		condition, err := t.condition()
		if err != nil {
			return nil, err
		}
		text := "---\n" + t.text
		if condition != "" {
			text = "{{- if " + condition + " }}\n" + text + "{{- end }}\n"
		}
		out.WriteString(text)
	}
	head, err := yaml.Marshal(object{"apiVersion": "v2", "name": name, "type": "application", "version": version, "appVersion": version,
		"description": "Reads an OpenShift cluster all the time: which hosts have not joined, where each stopped, and why."})
	if err != nil {
		return nil, fmt.Errorf("encode Chart.yaml: %w", err)
	}
	schema, err := json.MarshalIndent(valuesSchema(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode values.schema.json: %w", err)
	}
	return map[string][]byte{"Chart.yaml": head, "values.yaml": []byte(values), "values.schema.json": append(schema, '\n'),
		"templates/rollcall.yaml": out.Bytes(), "templates/NOTES.txt": []byte(notes)}, nil
}

// templates are the documents of all combinations in the order of the file.
func templates() ([]template, error) {
	var list []template
	for _, c := range combinations() {
		m := Manifests{Namespace: anyNamespace, Image: anyImage, Replicas: anyReplicas, Monitoring: c.monitoring, ReadOnly: c.readOnly}
		at := 0                               // behind the last document of this combination
		for _, d := range m.documents()[1:] { // the first is the namespace, which is that of the release
			raw, err := yaml.Marshal(d.object)
			if err != nil {
				return nil, fmt.Errorf("encode a template: %w", err)
			}
			text := asTemplate(raw)
			if i := slices.IndexFunc(list, func(t template) bool { return t.text == text }); i >= 0 {
				list[i].in = append(list[i].in, c)
				at = i + 1
				continue
			}
			list = slices.Insert(list, at, template{text: text, in: []combination{c}})
			at++
		}
	}
	return list, nil
}

// asTemplate is an object as Helm reads it: what a rule says to Prometheus in braces stays, and the stand-ins become values.
func asTemplate(raw []byte) string {
	return strings.NewReplacer(
		"{{", `{{ "{{" }}`,
		anyNamespace, "{{ .Release.Namespace }}",
		"image: "+anyImage+"\n", "image: {{ .Values.image | quote }}\n",
		fmt.Sprintf("replicas: %d\n", anyReplicas), "replicas: {{ .Values.replicas }}\n",
	).Replace(string(raw))
}

// condition is when a document is there; empty: always.
func (t template) condition() (string, error) {
	var monitorings []string
	var readOnly []bool
	for _, c := range t.in {
		if !slices.Contains(monitorings, string(c.monitoring)) {
			monitorings = append(monitorings, string(c.monitoring))
		}
		if !slices.Contains(readOnly, c.readOnly) {
			readOnly = append(readOnly, c.readOnly)
		}
	}
	if len(monitorings)*len(readOnly) != len(t.in) {
		return "", fmt.Errorf("a document is in %v: that is no condition on one value and the other", t.in)
	}
	var list []string
	if len(monitorings) < 3 {
		list = append(list, `(has .Values.monitoring (list "`+strings.Join(monitorings, `" "`)+`"))`)
	}
	if len(readOnly) == 1 {
		list = append(list, fmt.Sprintf("(eq .Values.readOnly %t)", readOnly[0]))
	}
	if len(list) == 0 {
		return "", nil
	}
	return "and " + strings.Join(list, " "), nil
}

const values = `# The image with the program rollcall in it, as REGISTRY/NAME@sha256:... or REGISTRY/NAME:TAG.
image: ""

# 1 to 3 pods. One of them reads the cluster, the others wait.
replicas: 1

# The Prometheus that reads the metrics. user-workload: that of users, which an administrator has enabled.
# platform: that of OpenShift itself. none: no ServiceMonitor and no alerts.
monitoring: user-workload

# true: it writes no Events, and keeps no records of incidents.
readOnly: false
`

// valuesSchema is what Helm holds the values to: the same as Manifests.check.
func valuesSchema() object {
	return object{"$schema": "https://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false,
		"required": []any{"image", "replicas", "monitoring", "readOnly"}, "properties": object{
			"image":      object{"type": "string", "pattern": `^[^\s"'\\{}]+$`, "description": "REGISTRY/NAME@sha256:... or REGISTRY/NAME:TAG"},
			"replicas":   object{"type": "integer", "minimum": 1, "maximum": 3},
			"monitoring": object{"type": "string", "enum": []any{string(UserWorkload), string(Platform), string(NoMonitoring)}},
			"readOnly":   object{"type": "boolean"}, "global": object{"type": "object"}}}
}

const notes = `Rollcall reads this cluster. See what it says:

  oc -n {{ .Release.Namespace }} logs deployment/rollcall
  oc -n {{ .Release.Namespace }} port-forward deployment/rollcall 8386
{{ if eq .Values.monitoring "platform" }}
OpenShift's own Prometheus looks only at namespaces with this label:

  oc label namespace {{ .Release.Namespace }} openshift.io/cluster-monitoring=true
{{ else if eq .Values.monitoring "user-workload" }}
It needs the monitoring of user-defined projects. See whether it runs:

  oc -n openshift-user-workload-monitoring get pods
{{ end }}
One release in a cluster: the roles have the same names in every namespace.
`
