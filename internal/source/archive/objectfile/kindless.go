package objectfile

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// A typed List that a Go program writes as JSON has no kind, nor have its items: clients drop
// what their type shows (k8s.io/apimachinery:pkg/runtime/serializer/versioning/versioning.go
// codec.Decode). Its path on the server, where one is there, or fields that no other kind has show the kind.

// nameKinds are the kinds that are read, and that programs write without their kind.
var nameKinds = []struct{ apiVersion, kind string }{
	{"v1", "Node"}, {"v1", "Pod"}, {"v1", "Event"}, {"v1", "Namespace"}, {"v1", "ConfigMap"}, {"v1", "Secret"}, {"v1", "Service"},
	{"coordination.k8s.io/v1", "Lease"}, {"certificates.k8s.io/v1", "CertificateSigningRequest"}, {"policy/v1", "PodDisruptionBudget"},
	{"apps/v1", "DaemonSet"}, {"apps/v1", "Deployment"}, {"apps/v1", "ReplicaSet"},
	{"machineconfiguration.openshift.io/v1", "MachineConfig"}, {"machineconfiguration.openshift.io/v1", "MachineConfigPool"},
	{"machineconfiguration.openshift.io/v1", "ControllerConfig"}, {"machine.openshift.io/v1beta1", "Machine"},
	{"machine.openshift.io/v1beta1", "MachineSet"}, {"machine.openshift.io/v1beta1", "MachineHealthCheck"}, {"metal3.io/v1alpha1", "BareMetalHost"},
	{"config.openshift.io/v1", "ClusterOperator"}, {"config.openshift.io/v1", "ClusterVersion"}, {"config.openshift.io/v1", "Infrastructure"},
	{"config.openshift.io/v1", "Network"}, {"hypershift.openshift.io/v1beta1", "HostedCluster"}, {"hypershift.openshift.io/v1beta1", "NodePool"},
}

// shapes are fields that only objects of one kind have together.
var shapes = []struct {
	kind string
	all  [][]string
}{
	{"Node", [][]string{{"status", "nodeInfo", "kubeletVersion"}}},
	{"Pod", [][]string{{"spec", "containers"}, {"status", "phase"}}},
	{"Event", [][]string{{"involvedObject", "kind"}, {"reason"}}},
	{"CertificateSigningRequest", [][]string{{"spec", "signerName"}, {"spec", "request"}}},
	{"ClusterOperator", [][]string{{"status", "conditions"}, {"status", "relatedObjects"}}},
	{"MachineConfigPool", [][]string{{"spec", "machineConfigSelector"}, {"status", "machineCount"}}},
	{"BareMetalHost", [][]string{{"spec", "online"}, {"status", "provisioning", "state"}}},
	{"ClusterVersion", [][]string{{"spec", "clusterID"}, {"status", "history"}}},
}

// ofPath is the kind of what lies at a path of the API server: that of a list, or of one object.
func ofPath(path string) (apiVersion, kind string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		apiVersion, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		apiVersion, parts = parts[1]+"/"+parts[2], parts[3:]
	default:
		return "", ""
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	r, _ := ResourceOf(apiVersion, "x")
	for _, k := range nameKinds {
		if of, ok := ResourceOf(k.apiVersion, k.kind); ok && of.Group == r.Group && of.Name == parts[0] {
			return apiVersion, k.kind
		}
	}
	return "", ""
}

// ofShape is the kind of an object by its fields, "" where they fit none, or more than one.
func ofShape(content map[string]any) (apiVersion, kind string) {
	for _, s := range shapes {
		all := true
		for _, path := range s.all {
			all = all && evidence.Field(content, path...) != nil
		}
		if all && kind != "" {
			return "", ""
		}
		if all {
			kind = s.kind
		}
	}
	for _, k := range nameKinds {
		if k.kind == kind {
			return k.apiVersion, kind
		}
	}
	return "", ""
}

// infer gives a JSON List without a kind that of its items, where all show the same, or that of its path. A document in which
// none shows one is no List of an API.
func (m *typeMeta) infer() {
	if m.Kind != "" || m.APIVersion != "" || m.Items.list == nil || m.Items.more {
		return
	}
	var meta struct {
		SelfLink string `json:"selfLink"`
	}
	if json.Unmarshal(m.Metadata, &meta) == nil {
		m.APIVersion, m.Kind = ofPath(meta.SelfLink)
	}
	byPath := m.Kind != ""
	for _, raw := range m.Items.list {
		content, err := decodeJSON(raw)
		if err != nil {
			m.APIVersion, m.Kind = "", ""
			return
		}
		apiVersion, kind := evidence.String(content, "apiVersion"), evidence.String(content, "kind")
		if kind == "" {
			apiVersion, kind = ofPath(evidence.String(content, "metadata", "selfLink"))
		}
		if kind == "" && !byPath {
			apiVersion, kind = ofShape(content)
		}
		switch {
		case kind == "" && byPath:
		case kind == "", m.Kind != "" && kind != m.Kind:
			m.APIVersion, m.Kind = "", ""
			return
		case m.Kind == "":
			m.APIVersion, m.Kind = apiVersion, kind
		}
	}
	if m.Kind != "" {
		m.Kind += "List"
	}
}

// Typed returns a JSON document with the kind of its List, where it has none and it can be known.
func Typed(raw []byte) []byte {
	text := bytes.TrimSpace(raw)
	if !bytes.HasPrefix(text, []byte("{")) || !bytes.Contains(text, []byte(`"items"`)) {
		return raw
	}
	var m typeMeta
	if json.Unmarshal(text, &m) != nil || m.Kind != "" {
		return raw
	}
	if m.infer(); m.Kind == "" {
		return raw
	}
	type doc struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	typed, err := json.Marshal(doc{m.APIVersion, m.Kind, m.Items.list})
	if err != nil {
		return raw
	}
	return typed
}
