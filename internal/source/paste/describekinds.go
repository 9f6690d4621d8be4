package paste

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// describedObject makes an object of a description, with the fields that matter and that
// it prints; nil where it is of no kind that is known.
func describedObject(b block) map[string]any {
	_, roles := b.field("Roles")
	_, conditions := b.field("Conditions")
	switch {
	case b.get("API Version") != "" && b.get("Kind") != "":
		return describedCustom(b)
	case roles && conditions:
		return describedNode(b)
	case b.get("Signer") != "" || b.get("Requesting User") != "":
		return describedRequest(b)
	case b.get("Node") != "" || b.get("Priority") != "" && conditions:
		return describedPod(b)
	}
	return nil
}

// describedTime reads a time as describe prints it, "" if it is not one.
func describedTime(text string) string {
	for _, layout := range []string{time.RFC1123Z, time.RFC3339} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// set keeps a value that is there.
func set(to map[string]any, key string, v any) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return
		}
	case []any:
		if len(v) == 0 {
			return
		}
	case map[string]any:
		if len(v) == 0 {
			return
		}
	}
	to[key] = v
}

// pairs reads labels (k=v) and annotations (k: v).
func pairs(f block, sign string) map[string]any {
	list := map[string]any{}
	for _, line := range f.lines() {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), sign); ok && k != "" && !strings.ContainsAny(k, " \t") {
			list[k] = strings.TrimSpace(v)
		}
	}
	return list
}

func describedMeta(b block) map[string]any {
	meta := map[string]any{}
	labels, _ := b.field("Labels")
	set(meta, "labels", pairs(labels, "="))
	notes, _ := b.field("Annotations")
	set(meta, "annotations", pairs(notes, ":"))
	set(meta, "creationTimestamp", firstOf(describedTime(b.get("CreationTimestamp")), describedTime(b.get("Metadata", "Creation Timestamp"))))
	set(meta, "deletionTimestamp", describedTime(b.get("Metadata", "Deletion Timestamp")))
	return meta
}

const aTime = `[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`

var conditionRow = regexp.MustCompile(`^(\S+)\s+(True|False|Unknown)\s+(` + aTime + `)\s+(` + aTime + `)\s+(\S+)\s*(.*)$`)

// describedNode reads describeNode (k8s.io/kubectl:pkg/describe/describe.go).
func describedNode(b block) map[string]any {
	status, spec := map[string]any{}, map[string]any{}
	table, _ := b.field("Conditions")
	var list []any
	for _, line := range table.lines() {
		if m := conditionRow.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			list = append(list, map[string]any{"type": m[1], "status": m[2], "lastHeartbeatTime": describedTime(m[3]),
				"lastTransitionTime": describedTime(m[4]),
				"reason":             m[5], "message": m[6]})
		}
	}
	set(status, "conditions", list)
	addresses, _ := b.field("Addresses")
	var where []any
	for _, a := range addresses.below {
		where = append(where, map[string]any{"type": a.label, "address": a.value})
	}
	set(status, "addresses", where)
	info := map[string]any{}
	for label, field := range map[string]string{"Kubelet Version": "kubeletVersion", "OS Image": "osImage", "Boot ID": "bootID",
		"Container Runtime Version": "containerRuntimeVersion", "Machine ID": "machineID", "System UUID": "systemUUID", "Kernel Version": "kernelVersion"} {
		set(info, field, b.get("System Info", label))
	}
	set(status, "nodeInfo", info)
	if b.get("Unschedulable") == "true" {
		spec["unschedulable"] = true
	}
	meta := describedMeta(b)
	roles := map[string]any{}
	for _, role := range strings.Split(b.get("Roles"), ",") {
		if dnsName.MatchString(role) {
			roles[openshift.NodeRolePrefix+role] = ""
		}
	}
	if labels, ok := meta["labels"].(map[string]any); ok {
		maps.Copy(roles, labels)
	}
	set(meta, "labels", roles)
	return map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}
}

// describedLease is the lease that describe prints with a node, nil without one.
func describedLease(b block, node string) map[string]any {
	renewed := describedTime(b.get("Lease", "RenewTime"))
	if renewed == "" || b.get("Roles") == "" {
		return nil
	}
	micro := strings.TrimSuffix(renewed, "Z") + ".000000Z"
	return map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": node, "namespace": corev1.NamespaceNodeLease},
		"spec":     map[string]any{"holderIdentity": firstOf(b.get("Lease", "HolderIdentity"), node), "renewTime": micro}}
}

// describedRequest reads describeCertificateSigningRequest.
func describedRequest(b block) map[string]any {
	status := map[string]any{}
	var list []any
	for _, word := range strings.Split(b.get("Status"), ",") {
		switch word = strings.TrimSpace(word); word {
		case "Approved", "Denied", "Failed":
			list = append(list, condition(word, "True"))
		}
	}
	set(status, "conditions", list)
	spec := map[string]any{}
	set(spec, "username", b.get("Requesting User"))
	set(spec, "signerName", b.get("Signer"))
	return map[string]any{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": describedMeta(b),
		"spec": spec, "status": status}
}

// describedPod reads describePod.
func describedPod(b block) map[string]any {
	status, spec := map[string]any{}, map[string]any{}
	node, _, _ := strings.Cut(b.get("Node"), "/")
	set(spec, "nodeName", node)
	switch phase := b.get("Status"); phase {
	case "Pending", "Running", "Succeeded", "Failed", "Unknown":
		status["phase"] = phase
	}
	set(status, "reason", b.get("Reason"))
	set(status, "message", b.get("Message"))
	set(status, "startTime", describedTime(b.get("Start Time")))
	table, _ := b.field("Conditions")
	var list []any
	for _, line := range table.lines() {
		words := strings.Fields(line)
		if len(words) == 2 && (words[1] == "True" || words[1] == "False" || words[1] == "Unknown") {
			list = append(list, condition(words[0], words[1]))
		}
	}
	set(status, "conditions", list)
	for label, field := range map[string]string{"Containers": "containerStatuses", "Init Containers": "initContainerStatuses"} {
		containers, _ := b.field(label)
		var states []any
		for _, c := range containers.below {
			if s := describedContainer(c); s != nil {
				states = append(states, s)
			}
		}
		set(status, field, states)
	}
	meta := describedMeta(b)
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
}

// describedContainer reads describeContainerState; nil where a container has none.
func describedContainer(c block) map[string]any {
	if _, ok := c.field("State"); !ok {
		return nil
	}
	s := map[string]any{"name": c.label, "image": c.get("Image"), "imageID": c.get("Image ID")}
	s["ready"] = c.get("Ready") == "True"
	if n, err := strconv.ParseInt(c.get("Restart Count"), 10, 32); err == nil {
		s["restartCount"] = n
	}
	for label, field := range map[string]string{"State": "state", "Last State": "lastState"} {
		f, _ := c.field(label)
		detail := map[string]any{}
		set(detail, "reason", f.get("Reason"))
		set(detail, "message", f.get("Message"))
		switch octable.Value(f.value) {
		case "Running":
			s[field] = map[string]any{"running": onlyTimes(f, map[string]any{})}
		case "Waiting":
			s[field] = map[string]any{"waiting": detail}
		case "Terminated":
			if n, err := strconv.ParseInt(f.get("Exit Code"), 10, 32); err == nil {
				detail["exitCode"] = n
			}
			s[field] = map[string]any{"terminated": onlyTimes(f, detail)}
		}
	}
	return s
}

func onlyTimes(f block, to map[string]any) map[string]any {
	set(to, "startedAt", describedTime(f.get("Started")))
	set(to, "finishedAt", describedTime(f.get("Finished")))
	return to
}

// scalar is a field of a custom resource that is taken: its path as describe prints it and
// in the object. The type is that of the API; anything else is text.
type scalar struct {
	from []string
	to   []string
	kind string // "", "int", "bool"
}

func path(words ...string) []string { return words }

// scalars are the fields by kind. A description prints all fields, and no types: those
// that nothing reads are left out.
var scalars = map[string][]scalar{
	"MachineConfigPool": {
		{path("Spec", "Configuration", "Name"), path("spec", "configuration", "name"), ""},
		{path("Spec", "Paused"), path("spec", "paused"), "bool"},
		{path("Metadata", "Generation"), path("metadata", "generation"), "int"},
		{path("Status", "Configuration", "Name"), path("status", "configuration", "name"), ""},
		{path("Status", "Machine Count"), path("status", "machineCount"), "int"},
		{path("Status", "Ready Machine Count"), path("status", "readyMachineCount"), "int"},
		{path("Status", "Updated Machine Count"), path("status", "updatedMachineCount"), "int"},
		{path("Status", "Degraded Machine Count"), path("status", "degradedMachineCount"), "int"},
		{path("Status", "Unavailable Machine Count"), path("status", "unavailableMachineCount"), "int"},
		{path("Status", "Observed Generation"), path("status", "observedGeneration"), "int"},
	},
	"BareMetalHost": {
		{path("Spec", "Online"), path("spec", "online"), "bool"},
		{path("Spec", "Externally Provisioned"), path("spec", "externallyProvisioned"), "bool"},
		{path("Spec", "Boot MAC Address"), path("spec", "bootMACAddress"), ""},
		{path("Spec", "Bmc", "Address"), path("spec", "bmc", "address"), ""},
		{path("Spec", "Bmc", "Credentials Name"), path("spec", "bmc", "credentialsName"), ""},
		{path("Spec", "Consumer Ref", "Name"), path("spec", "consumerRef", "name"), ""},
		{path("Spec", "Consumer Ref", "Kind"), path("spec", "consumerRef", "kind"), ""},
		{path("Spec", "Consumer Ref", "API Version"), path("spec", "consumerRef", "apiVersion"), ""},
		{path("Spec", "Consumer Ref", "Namespace"), path("spec", "consumerRef", "namespace"), ""},
		{path("Status", "Error Count"), path("status", "errorCount"), "int"},
		{path("Status", "Error Message"), path("status", "errorMessage"), ""},
		{path("Status", "Error Type"), path("status", "errorType"), ""},
		{path("Status", "Last Updated"), path("status", "lastUpdated"), ""},
		{path("Status", "Operational Status"), path("status", "operationalStatus"), ""},
		{path("Status", "Powered On"), path("status", "poweredOn"), "bool"},
		{path("Status", "Provisioning", "State"), path("status", "provisioning", "state"), ""},
	},
	"Machine": {
		{path("Status", "Phase"), path("status", "phase"), ""},
		{path("Status", "Error Reason"), path("status", "errorReason"), ""},
		{path("Status", "Error Message"), path("status", "errorMessage"), ""},
		{path("Status", "Node Ref", "Name"), path("status", "nodeRef", "name"), ""},
		{path("Status", "Node Ref", "Kind"), path("status", "nodeRef", "kind"), ""},
		{path("Spec", "Provider ID"), path("spec", "providerID"), ""},
	},
	"NodePool": {
		{path("Spec", "Cluster Name"), path("spec", "clusterName"), ""},
		{path("Spec", "Replicas"), path("spec", "replicas"), "int"},
		{path("Status", "Replicas"), path("status", "replicas"), "int"},
		{path("Status", "Version"), path("status", "version"), ""},
	},
	"ClusterOperator": {},
	"HostedCluster":   {},
}

// describedCustom reads genericDescriber: the fields of a custom resource, sorted.
func describedCustom(b block) map[string]any {
	known, ok := scalars[b.get("Kind")]
	if !ok {
		return nil
	}
	content := map[string]any{"apiVersion": b.get("API Version"), "kind": b.get("Kind"), "metadata": describedMeta(b)}
	for _, s := range known {
		put(content, s.to, typed(b.get(s.from...), s.kind))
	}
	table, _ := b.field("Status", "Conditions")
	var list []any
	for _, c := range table.items() {
		kind, status := c.get("Type"), c.get("Status")
		if kind == "" || status != "True" && status != "False" && status != "Unknown" {
			continue
		}
		entry := condition(kind, status)
		set(entry, "reason", c.get("Reason"))
		set(entry, "message", c.get("Message"))
		set(entry, "lastTransitionTime", describedTime(c.get("Last Transition Time")))
		list = append(list, entry)
	}
	if list != nil {
		put(content, path("status", "conditions"), list)
	}
	addresses, _ := b.field("Status", "Addresses")
	var where []any
	for _, a := range addresses.items() {
		if a.get("Type") != "" && a.get("Address") != "" {
			where = append(where, map[string]any{"type": a.get("Type"), "address": a.get("Address")})
		}
	}
	if where != nil {
		put(content, path("status", "addresses"), where)
	}
	return content
}

// typed is a value as the API has it, nil if it is not of its type.
func typed(text, kind string) any {
	switch kind {
	case "int":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		return nil
	case "bool":
		if v, err := strconv.ParseBool(text); err == nil {
			return v
		}
		return nil
	}
	if text == "" {
		return nil
	}
	return text
}

// put keeps a value in an object, and makes the objects on the path to it.
func put(content map[string]any, to []string, v any) {
	if v == nil {
		return
	}
	for _, key := range to[:len(to)-1] {
		next, ok := content[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			content[key] = next
		}
		content = next
	}
	content[to[len(to)-1]] = v
}
