package browse

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// column is one column of a table, behind NAMESPACE and NAME.
type column struct {
	name   string
	wide   bool     // only with -o wide
	fields []string // that it reads, as objectfile.FieldsOf takes them
	cell   func(o object) string
}

// object is what a cell is made of.
type object struct {
	content map[string]any
	now     time.Time // of the archive; zero: it has none
}

func (o object) text(path ...string) string { return evidence.String(o.content, path...) }

func (o object) number(path ...string) int64 { return evidence.Int(o.content, path...) }

// items are the objects of a list.
func items(content map[string]any, path ...string) []map[string]any {
	raw, _ := evidence.Field(content, path...).([]any)
	list := make([]map[string]any, 0, len(raw))
	for _, e := range raw {
		m, _ := e.(map[string]any)
		list = append(list, m)
	}
	return list
}

func (o object) items(path ...string) []map[string]any { return items(o.content, path...) }

// size is how many entries a map or a list has.
func (o object) size(path ...string) int {
	switch v := evidence.Field(o.content, path...).(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	}
	return 0
}

// The words of oc for what is not there.
const (
	none    = "<none>"
	unknown = "<unknown>"
)

// or is a text, or the word for none.
func or(text, word string) string {
	if text == "" {
		return word
	}
	return text
}

// since is how long ago a time was, as oc prints it.
func (o object) since(t time.Time) string {
	if t.IsZero() || o.now.IsZero() {
		return unknown
	}
	return duration.HumanDuration(o.now.Sub(t))
}

// at is the column of a path; kinds with dates have them as ages.
func at(name, text string, wide bool, date bool) column {
	p, err := parsePath(text)
	return column{name: strings.ToUpper(name), wide: wide, fields: []string{p.fields}, cell: func(o object) string {
		v, ok := p.first(o.content)
		switch {
		case err != nil:
			return "?"
		case !ok:
			return ""
		case date:
			t, err := time.Parse(time.RFC3339, scalar(v))
			if err != nil {
				return "<invalid>"
			}
			return o.since(t)
		}
		return scalar(v)
	}}
}

func field(name, path string) column     { return at(name, path, false, false) }
func wideField(name, path string) column { return at(name, path, true, false) }

// condition is the column of a field of a condition.
func condition(name, kind, of string) column {
	return at(name, `.status.conditions[?(@.type=="`+kind+`")].`+of, false, of == "lastTransitionTime")
}

func age() column {
	return column{name: "AGE", fields: []string{"metadata.creationTimestamp"}, cell: func(o object) string {
		return o.since(evidence.Time(o.content, "metadata", "creationTimestamp"))
	}}
}

// made is a column of a function.
func made(name string, cell func(object) string, fields ...string) column {
	return column{name: name, cell: cell, fields: fields}
}

func madeWide(name string, cell func(object) string, fields ...string) column {
	return column{name: name, wide: true, cell: cell, fields: fields}
}

// operatorColumns are those of the definition of ClusterOperators and, behind them, the message that
// `oc get co` prints: that of the condition that is not as it should be.
func operatorColumns() []column {
	return []column{
		field("VERSION", `.status.versions[?(@.name=="operator")].version`),
		condition("AVAILABLE", "Available", "status"),
		condition("PROGRESSING", "Progressing", "status"),
		condition("DEGRADED", "Degraded", "status"),
		condition("SINCE", "Available", "lastTransitionTime"),
		made("MESSAGE", operatorMessage, "status.conditions"),
	}
}

func operatorMessage(o object) string {
	for _, bad := range []struct{ kind, status string }{{"Available", "False"}, {"Degraded", "True"}, {"Progressing", "True"}} {
		for _, c := range o.items("status", "conditions") {
			if evidence.String(c, "type") == bad.kind && evidence.String(c, "status") == bad.status {
				return evidence.String(c, "message")
			}
		}
	}
	return ""
}

func versionColumns() []column {
	return []column{
		field("VERSION", `.status.history[?(@.state=="Completed")].version`),
		condition("AVAILABLE", "Available", "status"),
		condition("PROGRESSING", "Progressing", "status"),
		condition("SINCE", "Progressing", "lastTransitionTime"),
		condition("STATUS", "Progressing", "message"),
	}
}

func poolColumns() []column {
	return []column{
		field("CONFIG", ".status.configuration.name"),
		condition("UPDATED", "Updated", "status"),
		condition("UPDATING", "Updating", "status"),
		condition("DEGRADED", "Degraded", "status"),
		field("MACHINECOUNT", ".status.machineCount"),
		field("READYMACHINECOUNT", ".status.readyMachineCount"),
		field("UPDATEDMACHINECOUNT", ".status.updatedMachineCount"),
		field("DEGRADEDMACHINECOUNT", ".status.degradedMachineCount"),
		age(),
	}
}

func machineConfigColumns() []column {
	return []column{
		field("GENERATEDBYCONTROLLER", `.metadata.annotations.machineconfiguration\.openshift\.io/generated-by-controller-version`),
		field("IGNITIONVERSION", ".spec.config.ignition.version"),
		age(),
	}
}

func machineColumns() []column {
	return []column{
		field("PHASE", ".status.phase"),
		field("TYPE", `.metadata.labels['machine\.openshift\.io/instance-type']`),
		field("REGION", `.metadata.labels['machine\.openshift\.io/region']`),
		field("ZONE", `.metadata.labels['machine\.openshift\.io/zone']`),
		age(),
		wideField("NODE", ".status.nodeRef.name"),
		wideField("PROVIDERID", ".spec.providerID"),
		wideField("STATE", `.metadata.annotations['machine\.openshift\.io/instance-state']`),
	}
}

func machineSetColumns() []column {
	return []column{
		field("DESIRED", ".spec.replicas"),
		field("CURRENT", ".status.replicas"),
		field("READY", ".status.readyReplicas"),
		field("AVAILABLE", ".status.availableReplicas"),
		age(),
	}
}

func hostColumns() []column {
	return []column{
		wideField("STATUS", ".status.operationalStatus"),
		field("STATE", ".status.provisioning.state"),
		field("CONSUMER", ".spec.consumerRef.name"),
		wideField("BMC", ".spec.bmc.address"),
		field("ONLINE", ".spec.online"),
		field("ERROR", ".status.errorType"),
		age(),
	}
}

func hostedClusterColumns() []column {
	return []column{
		field("VERSION", `.status.version.history[?(@.state=="Completed")].version`),
		field("KUBECONFIG", ".status.kubeconfig.name"),
		field("PROGRESS", `.status.version.history[?(@.state!="")].state`),
		condition("AVAILABLE", "Available", "status"),
		condition("PROGRESSING", "Progressing", "status"),
		condition("MESSAGE", "Available", "message"),
	}
}

func nodePoolColumns() []column {
	return []column{
		field("CLUSTER", ".spec.clusterName"),
		field("DESIRED NODES", ".spec.replicas"),
		field("CURRENT NODES", ".status.replicas"),
		condition("AUTOSCALING", "AutoscalingEnabled", "status"),
		condition("AUTOREPAIR", "AutorepairEnabled", "status"),
		field("VERSION", ".status.version"),
		condition("UPDATINGVERSION", "UpdatingVersion", "status"),
		condition("UPDATINGCONFIG", "UpdatingConfig", "status"),
		condition("MESSAGE", "Ready", "message"),
	}
}
