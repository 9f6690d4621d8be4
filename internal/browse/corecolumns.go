package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The columns of the kinds of Kubernetes (k8s.io/kubernetes:pkg/printers/internalversion/printers.go).

func nodeColumns() []column {
	return []column{
		made("STATUS", nodeStatus, "spec.unschedulable", "status.conditions"),
		made("ROLES", nodeRoles, "metadata.labels"),
		age(),
		field("VERSION", ".status.nodeInfo.kubeletVersion"),
		madeWide("INTERNAL-IP", nodeAddress("InternalIP"), "status.addresses"),
		madeWide("EXTERNAL-IP", nodeAddress("ExternalIP"), "status.addresses"),
		wideField("OS-IMAGE", ".status.nodeInfo.osImage"),
		wideField("KERNEL-VERSION", ".status.nodeInfo.kernelVersion"),
		wideField("CONTAINER-RUNTIME", ".status.nodeInfo.containerRuntimeVersion"),
	}
}

func nodeStatus(o object) string {
	word := "Unknown"
	if ready := conditionOf(o, "Ready"); ready != nil {
		if word = "NotReady"; evidence.String(ready, "status") == "True" {
			word = "Ready"
		}
	}
	if off, _ := evidence.Field(o.content, "spec", "unschedulable").(bool); off {
		word += ",SchedulingDisabled"
	}
	return word
}

func nodeRoles(o object) string {
	const prefix = openshift.NodeRolePrefix
	labels, _ := evidence.Field(o.content, "metadata", "labels").(map[string]any)
	var roles []string
	for key, value := range labels {
		if role, ok := strings.CutPrefix(key, prefix); ok && role != "" {
			roles = append(roles, role)
		} else if role, _ := value.(string); key == "kubernetes.io/role" && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return or(strings.Join(slices.Compact(roles), ","), none)
}

func nodeAddress(kind string) func(object) string {
	return func(o object) string {
		for _, a := range o.items("status", "addresses") {
			if evidence.String(a, "type") == kind {
				return evidence.String(a, "address")
			}
		}
		return none
	}
}

func namespaceColumns() []column {
	return []column{field("STATUS", ".status.phase"), age()}
}

func serviceColumns() []column {
	return []column{
		field("TYPE", ".spec.type"),
		made("CLUSTER-IP", func(o object) string { return or(o.text("spec", "clusterIP"), none) }, "spec.clusterIP"),
		made("EXTERNAL-IP", externalIPs, "spec.type", "spec.externalIPs", "spec.externalName", "status.loadBalancer"),
		made("PORT(S)", servicePorts, "spec.ports"),
		age(),
		madeWide("SELECTOR", func(o object) string { return labelsOf(o, "spec", "selector") }, "spec.selector"),
	}
}

func externalIPs(o object) string {
	var list []string
	if o.text("spec", "type") == "LoadBalancer" {
		for _, in := range o.items("status", "loadBalancer", "ingress") {
			list = append(list, cmp.Or(evidence.String(in, "ip"), evidence.String(in, "hostname")))
		}
	}
	for _, ip := range o.list("spec", "externalIPs") {
		list = append(list, scalar(ip))
	}
	word := none
	switch o.text("spec", "type") {
	case "ExternalName":
		return or(o.text("spec", "externalName"), none)
	case "LoadBalancer":
		word = "<pending>"
	}
	return or(strings.Join(list, ","), word)
}

func (o object) list(path ...string) []any {
	list, _ := evidence.Field(o.content, path...).([]any)
	return list
}

func servicePorts(o object) string {
	var list []string
	for _, p := range o.items("spec", "ports") {
		port := strconv.FormatInt(evidence.Int(p, "port"), 10)
		if node := evidence.Int(p, "nodePort"); node > 0 {
			port += ":" + strconv.FormatInt(node, 10)
		}
		list = append(list, port+"/"+or(evidence.String(p, "protocol"), "TCP"))
	}
	return or(strings.Join(list, ","), none)
}

// labelsOf are the entries of a map as a selector is written.
func labelsOf(o object, path ...string) string {
	m, _ := evidence.Field(o.content, path...).(map[string]any)
	var list []string
	for k, v := range m {
		list = append(list, k+"="+scalar(v))
	}
	slices.Sort(list)
	return or(strings.Join(list, ","), none)
}

func eventColumns() []column {
	return []column{
		made("LAST SEEN", func(o object) string { return o.since(lastSeen(o.content)) },
			"lastTimestamp", "eventTime", "series", "firstTimestamp", "metadata.creationTimestamp"),
		field("TYPE", ".type"),
		field("REASON", ".reason"),
		made("OBJECT", eventObject, "involvedObject.kind", "involvedObject.name"),
		wideField("SUBOBJECT", ".involvedObject.fieldPath"),
		madeWide("SOURCE", eventSource, "source", "reportingComponent", "reportingInstance"),
		made("MESSAGE", func(o object) string { return strings.TrimSpace(o.text("message")) }, "message"),
		madeWide("FIRST SEEN", func(o object) string { return o.since(evidence.Time(o.content, "firstTimestamp")) }, "firstTimestamp"),
		madeWide("COUNT", func(o object) string { return strconv.FormatInt(max(1, o.number("count")), 10) }, "count"),
		wideField("NAME", ".metadata.name"),
	}
}

// lastSeen is when an Event was last seen; one that is counted says it at another place.
func lastSeen(content map[string]any) time.Time {
	for _, path := range [][]string{{"series", "lastObservedTime"}, {"lastTimestamp"}, {"eventTime"}, {"firstTimestamp"}, {"metadata", "creationTimestamp"}} {
		if t := evidence.Time(content, path...); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

func eventObject(o object) string {
	return strings.ToLower(o.text("involvedObject", "kind")) + "/" + o.text("involvedObject", "name")
}

func eventSource(o object) string {
	from := cmp.Or(o.text("source", "component"), o.text("reportingComponent"))
	if host := cmp.Or(o.text("source", "host"), o.text("reportingInstance")); host != "" {
		return from + ", " + host
	}
	return from
}

func configMapColumns() []column {
	return []column{
		made("DATA", func(o object) string { return strconv.Itoa(o.size("data") + o.size("binaryData")) }, "data", "binaryData"),
		age(),
	}
}

func secretColumns() []column {
	return []column{
		field("TYPE", ".type"),
		made("DATA", func(o object) string { return strconv.Itoa(o.size("data")) }, "data"),
		age(),
	}
}

// accessModes are in short, as oc writes them.
var accessModes = map[string]string{"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}

func modesOf(path ...string) func(object) string {
	return func(o object) string {
		var list []string
		for _, m := range o.list(path...) {
			list = append(list, or(accessModes[scalar(m)], scalar(m)))
		}
		return strings.Join(list, ",")
	}
}

func claimColumns() []column {
	return []column{
		made("STATUS", func(o object) string {
			if o.text("metadata", "deletionTimestamp") != "" {
				return "Terminating"
			}
			return o.text("status", "phase")
		}, "metadata.deletionTimestamp", "status.phase"),
		field("VOLUME", ".spec.volumeName"),
		field("CAPACITY", ".status.capacity.storage"),
		made("ACCESS MODES", modesOf("status", "accessModes"), "status.accessModes"),
		field("STORAGECLASS", ".spec.storageClassName"),
		age(),
		wideField("VOLUMEMODE", ".spec.volumeMode"),
	}
}

func volumeColumns() []column {
	return []column{
		field("CAPACITY", ".spec.capacity.storage"),
		made("ACCESS MODES", modesOf("spec", "accessModes"), "spec.accessModes"),
		field("RECLAIM POLICY", ".spec.persistentVolumeReclaimPolicy"),
		field("STATUS", ".status.phase"),
		made("CLAIM", func(o object) string {
			if o.text("spec", "claimRef", "name") == "" {
				return ""
			}
			return o.text("spec", "claimRef", "namespace") + "/" + o.text("spec", "claimRef", "name")
		}, "spec.claimRef"),
		field("STORAGECLASS", ".spec.storageClassName"),
		field("REASON", ".status.reason"),
		age(),
		wideField("VOLUMEMODE", ".spec.volumeMode"),
	}
}

// count is a number of replicas, 0 where none is written.
func count(path ...string) func(object) string {
	return func(o object) string { return strconv.FormatInt(o.number(path...), 10) }
}

// readyOf is how many of the wanted replicas are ready. One is wanted where none is written.
func readyOf(o object) string {
	want := int64(1)
	if evidence.Field(o.content, "spec", "replicas") != nil {
		want = o.number("spec", "replicas")
	}
	return fmt.Sprintf("%d/%d", o.number("status", "readyReplicas"), want)
}

// templateColumns are what a workload runs.
func templateColumns() []column {
	each := func(field string) func(object) string {
		return func(o object) string {
			var list []string
			for _, c := range o.items("spec", "template", "spec", "containers") {
				list = append(list, evidence.String(c, field))
			}
			return strings.Join(list, ",")
		}
	}
	return []column{
		madeWide("CONTAINERS", each("name"), "spec.template.spec.containers.name"),
		madeWide("IMAGES", each("image"), "spec.template.spec.containers.image"),
		madeWide("SELECTOR", func(o object) string { return labelsOf(o, "spec", "selector", "matchLabels") }, "spec.selector"),
	}
}

func deploymentColumns() []column {
	return append([]column{
		made("READY", readyOf, "spec.replicas", "status.readyReplicas"),
		made("UP-TO-DATE", count("status", "updatedReplicas"), "status.updatedReplicas"),
		made("AVAILABLE", count("status", "availableReplicas"), "status.availableReplicas"),
		age(),
	}, templateColumns()...)
}

func daemonSetColumns() []column {
	return append([]column{
		made("DESIRED", count("status", "desiredNumberScheduled"), "status.desiredNumberScheduled"),
		made("CURRENT", count("status", "currentNumberScheduled"), "status.currentNumberScheduled"),
		made("READY", count("status", "numberReady"), "status.numberReady"),
		made("UP-TO-DATE", count("status", "updatedNumberScheduled"), "status.updatedNumberScheduled"),
		made("AVAILABLE", count("status", "numberAvailable"), "status.numberAvailable"),
		made("NODE SELECTOR", func(o object) string { return labelsOf(o, "spec", "template", "spec", "nodeSelector") }, "spec.template.spec.nodeSelector"),
		age(),
	}, templateColumns()...)
}

func statefulSetColumns() []column {
	return append([]column{made("READY", readyOf, "spec.replicas", "status.readyReplicas"), age()}, templateColumns()[:2]...)
}

func replicaSetColumns() []column {
	return append([]column{
		made("DESIRED", count("spec", "replicas"), "spec.replicas"),
		made("CURRENT", count("status", "replicas"), "status.replicas"),
		made("READY", count("status", "readyReplicas"), "status.readyReplicas"),
		age(),
	}, templateColumns()...)
}

func budgetColumns() []column {
	limit := func(name, field string) column {
		return made(name, func(o object) string {
			if v := evidence.Field(o.content, "spec", field); v != nil {
				return scalar(v)
			}
			return "N/A"
		}, "spec."+field)
	}
	return []column{
		limit("MIN AVAILABLE", "minAvailable"),
		limit("MAX UNAVAILABLE", "maxUnavailable"),
		made("ALLOWED DISRUPTIONS", count("status", "disruptionsAllowed"), "status.disruptionsAllowed"),
		age(),
	}
}

func leaseColumns() []column {
	return []column{field("HOLDER", ".spec.holderIdentity"), age()}
}

func requestColumns() []column {
	return []column{
		age(),
		field("SIGNERNAME", ".spec.signerName"),
		field("REQUESTOR", ".spec.username"),
		made("REQUESTEDDURATION", func(o object) string {
			seconds := o.number("spec", "expirationSeconds")
			if seconds == 0 {
				return none
			}
			return object{now: time.Unix(seconds, 0)}.since(time.Unix(0, 0))
		}, "spec.expirationSeconds"),
		made("CONDITION", requestCondition, "status.conditions", "status.certificate"),
	}
}

func requestCondition(o object) string {
	var words []string
	for _, kind := range []string{"Approved", "Denied", "Failed"} {
		if conditionOf(o, kind) != nil {
			words = append(words, kind)
		}
	}
	if len(words) == 0 {
		words = append(words, "Pending")
	}
	if o.text("status", "certificate") != "" {
		words = append(words, "Issued")
	}
	return strings.Join(words, ",")
}

func createdAtColumns() []column {
	return []column{field("CREATED AT", ".metadata.creationTimestamp")}
}
