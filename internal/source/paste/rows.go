package paste

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// headless is a table whose heading somebody has cut off. Its rows are known by what only
// such a row has in these places; cells that may be empty are optional in the expression.
type headless struct {
	row     *regexp.Regexp
	columns []string // of the groups
	need    []string // the schema's, which makes the object
}

const (
	aName  = `([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)`
	anAge  = `((?:\d+y)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?)`
	aTruth = `(True|False|Unknown)`
)

// headlessTables: the narrower ones first.
var headlessTables = []headless{
	{regexp.MustCompile(`^` + aName + ` +((?:Not)?Ready(?:,SchedulingDisabled)?) +(<none>|[a-z0-9,.-]+) +` + anAge + ` +(v1\.\d+\.\S+)(?: .*)?$`),
		[]string{"NAME", "STATUS", "ROLES", "AGE", "VERSION"}, []string{"NAME", "STATUS", "ROLES", "VERSION"}},
	{regexp.MustCompile(`^(csr-[a-z0-9]+) +` + anAge +
		` +([a-z0-9.-]+/[a-z0-9-]+) +(system:\S+) +(?:\S+ +)?(Pending|(?:Approved|Denied)(?:,(?:Issued|Failed))*)$`),
		[]string{"NAME", "AGE", "SIGNERNAME", "REQUESTOR", "CONDITION"}, []string{"NAME", "SIGNERNAME", "REQUESTOR", "CONDITION"}},
	{regexp.MustCompile(`^` + aName + ` +(rendered-[a-z0-9.-]+) +` + aTruth + ` +` + aTruth + ` +` + aTruth + ` +(\d+) +(\d+) +(\d+) +(\d+) +` + anAge + `$`),
		[]string{"NAME", "CONFIG", "UPDATED", "UPDATING", "DEGRADED", "MACHINECOUNT", "READYMACHINECOUNT", "UPDATEDMACHINECOUNT",
			"DEGRADEDMACHINECOUNT", "AGE"},
		[]string{"NAME", "CONFIG", "UPDATED", "UPDATING", "DEGRADED"}},
	{regexp.MustCompile(`^` + aName + ` +(4\.\d+\.\d+\S*) +` + aTruth + ` +` + aTruth + ` +` + aTruth + ` +` + anAge + `(?: +(.*))?$`),
		[]string{"NAME", "VERSION", "AVAILABLE", "PROGRESSING", "DEGRADED", "SINCE", "MESSAGE"},
		[]string{"NAME", "VERSION", "AVAILABLE", "PROGRESSING", "DEGRADED"}},
	{regexp.MustCompile(`^(?:(openshift-machine-api) +)?` + aName +
		` +(unmanaged|registering|inspecting|preparing|available|provisioning|provisioned|externally provisioned|deprovisioning|match profile)` +
		` +(?:([a-z0-9.-]+) +)?(true|false) +(?:([a-z]+(?: [a-z]+)* error|detach error) +)?` + anAge + `$`),
		[]string{"NAMESPACE", "NAME", "STATE", "CONSUMER", "ONLINE", "ERROR", "AGE"}, []string{"NAME", "STATE", "CONSUMER", "ONLINE"}},
	{regexp.MustCompile(`^(?:(openshift-machine-api) +)?` + aName + ` +(Provisioning|Provisioned|Running|Failed|Deleting) +(?:\S+ +){0,3}` + anAge + `$`),
		[]string{"NAMESPACE", "NAME", "PHASE", "AGE"}, []string{"NAME", "PHASE", "TYPE", "REGION"}},
	{regexp.MustCompile(`^(?:([a-z0-9-]+) +)?` + aName + ` +(\d+/\d+) +([A-Z][A-Za-z]+|Init:\S+) +(\d+)(?: \([^)]*\))? +` + anAge + `(?: +\S+ +` +
		aName + `(?: .*)?)?$`),
		[]string{"NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE"}, []string{"NAME", "READY", "STATUS", "RESTARTS"}},
}

// headlessRow takes a row of a table without its heading.
func (sp *splitter) headlessRow() bool {
	line := strings.TrimSpace(octable.Unmarked(string(sp.lines[sp.at])))
	for _, h := range headlessTables {
		m := h.row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		row := map[string]string{}
		for i, c := range h.columns {
			row[c] = octable.Value(m[i+1])
		}
		if _, ok := octable.Age(firstOf(row["AGE"], row["SINCE"])); !ok {
			continue
		}
		known := schemaOf(octable.Unaligned(h.need...))
		if known == nil {
			continue
		}
		sp.s.mixed = true
		sp.row(known, row)
		sp.at++
		return true
	}
	return false
}

// podRow makes a pod of a row. The column STATUS has the phase, or the reason of one of its
// containers, which is not said: then only that it is not ready is kept.
func podRow(row map[string]string, _ time.Time) (map[string]any, evidence.Resource) {
	status, spec := map[string]any{}, map[string]any{}
	switch s := row["STATUS"]; s {
	case "Running", "Pending", "Failed":
		status["phase"] = s
	case "Completed":
		status["phase"] = "Succeeded"
	}
	ready, of, ok := strings.Cut(row["READY"], "/")
	if n, err := strconv.Atoi(of); ok && err == nil && n > 0 && row["STATUS"] != "Completed" {
		status["conditions"] = []any{condition("Ready", map[bool]string{true: "True", false: "False"}[ready == of && row["STATUS"] == "Running"])}
	}
	set(spec, "nodeName", row["NODE"])
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": status}, evidence.Pods
}

// nodePoolRow makes a NodePool of a row
// (openshift/hypershift:api/hypershift/v1beta1/nodepool_types.go, printcolumn).
func nodePoolRow(row map[string]string, _ time.Time) (map[string]any, evidence.Resource) {
	status, spec := map[string]any{}, map[string]any{}
	set(spec, "clusterName", row["CLUSTER"])
	if n, err := strconv.ParseInt(row["DESIRED NODES"], 10, 32); err == nil {
		spec["replicas"] = n
	}
	if n, err := strconv.ParseInt(row["CURRENT NODES"], 10, 32); err == nil {
		status["replicas"] = n
	}
	set(status, "version", row["VERSION"])
	var list []any
	for column, kind := range map[string]string{"UPDATINGVERSION": "UpdatingVersion", "UPDATINGCONFIG": "UpdatingConfig"} {
		if v := row[column]; v == "True" || v == "False" || v == "Unknown" {
			list = append(list, condition(kind, v))
		}
	}
	if m := row["MESSAGE"]; m != "" { // that of the condition Ready, whose status is not shown
		list = append(list, map[string]any{"type": "Ready", "message": m})
	}
	set(status, "conditions", list)
	return map[string]any{"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool", "spec": spec, "status": status}, evidence.NodePools
}

// ownLog is how a line names the program whose log it is: without the command that printed
// it, a log is known by the file of the source that wrote the line, or by its words.
type ownLog struct {
	line      *regexp.Regexp
	namespace string
	container string
}

const klog = `^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ `

// ownLogs: openshift/machine-config-operator:pkg/server/api.go,
// openshift/cluster-machine-approver:pkg/controller/csr_check.go,
// openshift/machine-config-operator:pkg/daemon/daemon.go and update.go,
// pkg/controller/drain/drain_controller.go; go.etcd.io/etcd/server/v3.
var ownLogs = []ownLog{
	{regexp.MustCompile(klog + `api\.go:\d+\] (?:Pool \S+ requested by|couldn't get config for req)`), openshift.MachineConfigNamespace,
		openshift.MachineConfigServer},
	{regexp.MustCompile(klog + `(?:csr_check|csr_approver)\.go:\d+\] `), openshift.MachineApproverNamespace, openshift.MachineApproverContainer},
	{regexp.MustCompile(klog + `drain_controller\.go:\d+\] `), openshift.MachineConfigNamespace, openshift.MachineConfigController},
	{regexp.MustCompile(`^\{"level":"[a-z]+","ts":"[^"]+","(?:logger":"[^"]+",")?caller":"(?:etcdserver|rafthttp|wal|mvcc|embed|etcdmain|membership|` +
		`raft|snap)/`), openshift.EtcdNamespace, "etcd"},
}

// ownLog takes a line of a container log that no command names. Which pod wrote it is not
// said.
func (sp *splitter) ownLog() bool {
	line := sp.lines[sp.at]
	if sp.pod != "" || len(line) == 0 {
		return false
	}
	for _, l := range ownLogs {
		if l.line.Match(line) {
			sp.addLine(evidence.Text{Kind: evidence.ContainerLog, Namespace: l.namespace, Pod: unnamedPod, Container: l.container}, line)
			return true
		}
	}
	return false
}

// unnamedPod is the pod of a log that no command names.
const unnamedPod = "unknown"
