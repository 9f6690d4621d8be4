package paste

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// schema makes an object of a row. What a table prints for nothing is "".
type schema struct {
	need  []string // columns by which the table is known
	make  func(row map[string]string, now time.Time) (map[string]any, evidence.Resource)
	space string // namespace where neither the table nor the command says one
}

// unnamedSpace is the namespace of objects where only the table or the command can say it.
const unnamedSpace = "?"

// schemas are the tables that are known, the narrower ones first
// (k8s.io/kubernetes:pkg/printers/internalversion/printers.go; the additionalPrinterColumns
// of openshift/api and metal3-io/baremetal-operator).
var schemas = []schema{
	{need: []string{"NAME", "STATUS", "ROLES", "VERSION"}, make: nodeRow},
	{need: []string{"NAME", "REQUESTOR", "CONDITION"}, make: csrRow}, // SIGNERNAME is printed since Kubernetes 1.18
	{need: []string{"NAME", "CONFIG", "UPDATED", "UPDATING", "DEGRADED"}, make: poolRow},
	{need: []string{"NAME", "VERSION", "AVAILABLE", "PROGRESSING", "DEGRADED"}, make: operatorRow},
	{need: []string{"NAME", "STATE", "CONSUMER", "ONLINE"}, make: hostRow, space: openshift.MachineAPINamespace},
	{need: []string{"NAME", "PROVISIONING STATUS", "CONSUMER", "ONLINE"}, make: olderHostRow, space: openshift.MachineAPINamespace},
	{need: []string{"NAME", "PHASE", "TYPE", "REGION"}, make: machineRow, space: openshift.MachineAPINamespace},
	{need: []string{"NAME", "CLUSTER", "DESIRED NODES", "CURRENT NODES"}, make: nodePoolRow, space: "clusters"},
	{need: []string{"NAME", "READY", "STATUS", "RESTARTS"}, make: podRow, space: unnamedSpace},
}

var heading = regexp.MustCompile(`^\s{0,8}(?:NAMESPACE\s+)?NAME\s+[A-Z][A-Z -]*[A-Z]`)

// table takes a table of oc with its rows.
func (sp *splitter) table() bool {
	head := string(sp.lines[sp.at])
	if !heading.MatchString(head) {
		if head = octable.Unmarked(head); !heading.MatchString(head) {
			return false
		}
	}
	columns := octable.Columns(head)
	known := schemaOf(columns)
	sp.at++
	sp.s.mixed = true
	if known == nil {
		return true
	}
	for ; sp.at < len(sp.lines); sp.at++ {
		line := string(sp.lines[sp.at])
		if strings.TrimSpace(line) == "" || heading.MatchString(line) || sp.isCommand(sp.at) {
			break
		}
		row, ok := rowOf(line, columns)
		if !ok {
			if row, ok = rowOf(octable.Unmarked(line), columns); !ok {
				break
			}
		}
		sp.row(known, row)
	}
	return true
}

func schemaOf(columns []octable.Column) *schema {
	names := map[string]bool{}
	for _, c := range columns {
		names[c.Name] = true
	}
	for i := range schemas {
		if !slices.ContainsFunc(schemas[i].need, func(n string) bool { return !names[n] }) {
			return &schemas[i]
		}
	}
	return nil
}

func (sp *splitter) row(known *schema, row map[string]string) {
	content, r := known.make(row, sp.clock)
	if content == nil {
		return
	}
	meta := map[string]any{"name": row["NAME"], "annotations": map[string]any{evidence.PartMark: "row"}}
	if known.space != "" {
		if meta["namespace"] = firstOf(row["NAMESPACE"], sp.namespace, known.space); meta["namespace"] == unnamedSpace {
			return // a pod without its namespace is any pod
		}
	}
	if age, ok := octable.Age(row["AGE"]); ok && !sp.clock.IsZero() {
		meta["creationTimestamp"] = sp.clock.Add(-age).UTC().Format(time.RFC3339)
	}
	if extra, ok := content["metadata"].(map[string]any); ok {
		maps.Copy(meta, extra)
	}
	content["metadata"] = meta
	sp.put(content, r, sp.at+1)
}

// tableOnly reports whether an object is a row of a table: whatever else the objects have,
// a table does not print.
func tableOnly(o evidence.Object) bool { return o.Annotation(evidence.PartMark) == "row" }

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// rowOf is the cells of a row by the names of their columns. False for a line that has no
// name of an object.
func rowOf(line string, columns []octable.Column) (map[string]string, bool) {
	cells, ok := octable.Row(line, columns)
	if !ok {
		return nil, false
	}
	row := map[string]string{}
	for i, c := range columns {
		row[c.Name] = cells[i]
	}
	return row, dnsName.MatchString(row["NAME"])
}

var dnsName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// condition is a condition without what a table does not print.
func condition(kind, status string) map[string]any {
	return map[string]any{"type": kind, "status": status}
}

// conditions takes the conditions out of the columns that name them.
func conditions(row map[string]string, kinds ...string) []any {
	var list []any
	for _, k := range kinds {
		if v := row[strings.ToUpper(k)]; v == "True" || v == "False" || v == "Unknown" {
			list = append(list, condition(k, v))
		}
	}
	return list
}

func nodeRow(row map[string]string, _ time.Time) (map[string]any, evidence.Resource) {
	status, spec := map[string]any{}, map[string]any{}
	for _, word := range strings.Split(row["STATUS"], ",") {
		switch word {
		case "Ready":
			status["conditions"] = []any{condition("Ready", "True")}
		case "NotReady": // False and Unknown look alike in the table
			status["conditions"] = []any{condition("Ready", "False")}
		case "SchedulingDisabled":
			spec["unschedulable"] = true
		}
	}
	if v := row["VERSION"]; v != "" {
		status["nodeInfo"] = map[string]any{"kubeletVersion": v}
	}
	labels := map[string]any{}
	for _, role := range strings.Split(row["ROLES"], ",") {
		if dnsName.MatchString(role) {
			labels[openshift.NodeRolePrefix+role] = ""
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"labels": labels}, "spec": spec, "status": status}, evidence.Nodes
}

func csrRow(row map[string]string, _ time.Time) (map[string]any, evidence.Resource) {
	status := map[string]any{}
	var list []any
	for _, word := range strings.Split(row["CONDITION"], ",") {
		switch word {
		case "Approved", "Denied", "Failed":
			list = append(list, condition(word, "True"))
		}
	}
	if list != nil {
		status["conditions"] = list
	}
	spec := map[string]any{"username": row["REQUESTOR"]}
	if signer := firstOf(row["SIGNERNAME"], signerOf(row["REQUESTOR"])); signer != "" {
		spec["signerName"] = signer
	}
	return map[string]any{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "spec": spec, "status": status}, evidence.CSRs
}

// signerOf returns the signer that a table does not print: a host that joins asks for its
// client certificate. A node asks for both of its certificates under its own name, which
// leaves the signer open.
func signerOf(requester string) string {
	if strings.HasSuffix(requester, ":node-bootstrapper") {
		return certificatesv1.KubeAPIServerClientKubeletSignerName
	}
	return ""
}

func poolRow(row map[string]string, _ time.Time) (map[string]any, evidence.Resource) {
	status := map[string]any{"conditions": conditions(row, "Updated", "Updating", "Degraded")}
	for column, field := range map[string]string{"MACHINECOUNT": "machineCount", "READYMACHINECOUNT": "readyMachineCount",
		"UPDATEDMACHINECOUNT": "updatedMachineCount", "DEGRADEDMACHINECOUNT": "degradedMachineCount"} {
		if n, err := strconv.ParseInt(row[column], 10, 32); err == nil {
			status[field] = n
		}
	}
	if v := row["CONFIG"]; v != "" {
		status["configuration"] = map[string]any{"name": v}
	}
	return map[string]any{"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "status": status}, evidence.MachineConfigPools
}

func operatorRow(row map[string]string, now time.Time) (map[string]any, evidence.Resource) {
	list := conditions(row, "Available", "Progressing", "Degraded")
	for _, c := range list {
		c := c.(map[string]any)
		if age, ok := octable.Age(row["SINCE"]); ok && c["type"] == "Available" && !now.IsZero() {
			c["lastTransitionTime"] = now.Add(-age).UTC().Format(time.RFC3339)
		}
		worst := c["type"] == "Degraded" && c["status"] == "True" || c["type"] == "Available" && c["status"] == "False"
		if worst && row["MESSAGE"] != "" {
			c["message"] = row["MESSAGE"]
		}
	}
	return map[string]any{"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "status": map[string]any{"conditions": list}},
		evidence.ClusterOperators
}

func hostRow(row map[string]string, _ time.Time) (map[string]any, evidence.Resource) {
	status := map[string]any{"provisioning": map[string]any{"state": row["STATE"]}}
	if e := row["ERROR"]; e != "" {
		status["errorType"], status["operationalStatus"] = e, "error"
	}
	spec := map[string]any{}
	if v, err := strconv.ParseBool(row["ONLINE"]); err == nil {
		spec["online"] = v
	}
	if c := row["CONSUMER"]; c != "" {
		spec["consumerRef"] = map[string]any{"kind": "Machine", "name": c}
	}
	return map[string]any{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "spec": spec, "status": status}, evidence.BareMetalHosts
}

// olderHostRow reads the table of the first releases: it names the state otherwise, and
// under ERROR it prints the message and not the type of the error
// (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1/baremetalhost_types.go printcolumn).
func olderHostRow(row map[string]string, now time.Time) (map[string]any, evidence.Resource) {
	problem := row["ERROR"]
	row["STATE"], row["ERROR"] = row["PROVISIONING STATUS"], ""
	o, r := hostRow(row, now)
	if status, ok := o["status"].(map[string]any); ok {
		if v := row["STATUS"]; v != "" {
			status["operationalStatus"] = v
		}
		if problem != "" {
			status["errorMessage"] = problem
		}
	}
	return o, r
}

func machineRow(row map[string]string, _ time.Time) (map[string]any, evidence.Resource) {
	status := map[string]any{}
	if p := row["PHASE"]; p != "" {
		status["phase"] = p
	}
	if n := row["NODE"]; n != "" {
		status["nodeRef"] = map[string]any{"kind": "Node", "name": n}
	}
	return map[string]any{"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "status": status}, evidence.Machines
}
