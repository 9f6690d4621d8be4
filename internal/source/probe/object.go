package probe

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// object is an answer as an object: its fields, and apiVersion, kind and metadata.
func object(answer any, r evidence.Resource, kind, name, asked string, at time.Time) (evidence.Object, error) {
	raw, err := json.Marshal(answer)
	if err != nil {
		return evidence.Object{}, fmt.Errorf("encode the answer to %s: %w", asked, err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return evidence.Object{}, fmt.Errorf("decode the answer to %s: %w", asked, err)
	}
	content["apiVersion"] = evidence.ProbeGroup + "/v1alpha1"
	content["kind"] = kind
	content["metadata"] = map[string]any{"name": name}
	return evidence.Object{
		Resource: r, Name: name, Content: content, ReadAt: at,
		Loc: evidence.Locator{Source: "probe", Path: asked},
	}, nil
}

// ControlPlaneIPs are the internal addresses of a Node of the control plane: where its
// machine config server and API server answer. None for another Node.
func ControlPlaneIPs(n evidence.Object) []string {
	_, master := n.Label(openshift.MasterLabel)
	_, controlPlane := n.Label(openshift.ControlPlaneLabel)
	if !master && !controlPlane {
		return nil
	}
	var ips []string
	addresses, _ := evidence.Field(n.Content, "status", "addresses").([]any)
	for _, a := range addresses {
		m, _ := a.(map[string]any)
		ip := evidence.String(m, "address")
		if evidence.String(m, "type") == "InternalIP" && net.ParseIP(ip) != nil && !slices.Contains(ips, ip) {
			ips = append(ips, ip)
		}
	}
	return ips
}
