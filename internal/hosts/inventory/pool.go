package inventory

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// rendered splits the name of a rendered config: rendered-<pool>-<md5>
// (openshift/machine-config-operator:pkg/controller/render/hash.go).
var rendered = regexp.MustCompile(`^rendered-(.+)-[0-9a-f]{32}$`)

// PoolOfConfig returns the pool in the name of a rendered config, "" where the
// name is not that of a rendered config.
func PoolOfConfig(name string) string {
	if m := rendered.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// settleRole takes the role from the strongest object that tells it.
func (h *Host) settleRole() {
	if h.Node != nil {
		if r := nodeRole(h.Node.API.Labels); r != "" {
			h.Role = r
			return
		}
	}
	if h.Machine != nil {
		if r := h.Machine.API.Labels[openshift.MachineRoleLabel]; r != "" {
			h.Role = r
			return
		}
	}
	if h.Role == "" {
		h.Role = h.Pool.Name
	}
	if h.Role == "" && h.BMH != nil {
		h.Role, _ = userDataRole(h.BMH)
	}
}

// nodeRole is master for any control-plane node, else a custom role, else worker.
func nodeRole(labels map[string]string) string {
	var roles []string
	for k := range labels {
		if r, ok := strings.CutPrefix(k, openshift.NodeRolePrefix); ok && r != "" {
			roles = append(roles, r)
		}
	}
	slices.Sort(roles)
	switch {
	case slices.Contains(roles, "master"), slices.Contains(roles, "control-plane"):
		return "master"
	case len(roles) == 0:
		return ""
	}
	if i := slices.IndexFunc(roles, func(r string) bool { return r != "worker" }); i >= 0 && len(roles) == 2 && slices.Contains(roles, "worker") {
		return roles[i] // one custom role besides worker: the custom pool wins (pkg/helpers GetPoolsForNode)
	}
	return roles[0]
}

// settlePool decides which pool serves the host. What the daemon was told comes
// first: it already carries the controller's choice between several pools.
func (h *Host) settlePool() {
	if h.Node != nil {
		for _, key := range []string{openshift.DesiredConfigAnnotation, openshift.CurrentConfigAnnotation} {
			if p := PoolOfConfig(h.Node.API.Annotations[key]); p != "" {
				h.Pool = Pool{Name: p, Standing: Proven, Loc: h.Node.Loc.At("metadata.annotations." + key),
					Excerpt: key + ": " + h.Node.API.Annotations[key]}
				return
			}
		}
		if r := nodeRole(h.Node.API.Labels); r != "" {
			h.Pool = Pool{Name: r, Standing: Proven, Loc: h.Node.Loc.At("metadata.labels"), Excerpt: openshift.NodeRolePrefix + r}
			return
		}
	}
	if h.Pool.Name != "" { // what the host itself asked for, seen on its console
		return
	}
	if h.Machine != nil {
		if r := h.Machine.API.Labels[openshift.MachineRoleLabel]; r != "" {
			h.Pool = Pool{Name: r, Standing: Likely, Loc: h.Machine.Loc.At("metadata.labels"), Excerpt: openshift.MachineRoleLabel + ": " + r}
			return
		}
	}
	if h.BMH != nil {
		if r, name := userDataRole(h.BMH); r != "" {
			h.Pool = Pool{Name: r, Standing: Likely, Loc: h.BMH.Loc.At("spec.userData.name"), Excerpt: fmt.Sprintf("userData: %s", name)}
			return
		}
	}
	if h.Assisted != nil && h.Assisted.API.Role != "" {
		h.Pool = Pool{Name: h.Assisted.API.Role, Standing: Likely, Loc: h.Assisted.Loc.At("role"), Excerpt: "role: " + h.Assisted.API.Role}
	}
}

// userDataRole reads the pool from the name of the pointer's secret:
// <pool>-user-data, <pool>-user-data-managed
// (openshift/machine-config-operator:manifests/userdata_secret.yaml).
func userDataRole(b *BMH) (role, secret string) {
	if b.API.Spec.UserData == nil {
		return "", ""
	}
	secret = b.API.Spec.UserData.Name
	role, ok := strings.CutSuffix(strings.TrimSuffix(secret, "-managed"), "-user-data")
	if !ok {
		return "", secret
	}
	return role, secret
}

// PoolOfNode returns the pool that serves a Node, by the same rules as Host.Pool;
// "" where nothing tells.
func PoolOfNode(node evidence.Object) string {
	for _, key := range []string{openshift.DesiredConfigAnnotation, openshift.CurrentConfigAnnotation} {
		if p := PoolOfConfig(node.Annotation(key)); p != "" {
			return p
		}
	}
	labels := map[string]string{}
	raw, _ := evidence.Field(node.Content, "metadata", "labels").(map[string]any)
	for k := range raw {
		labels[k] = ""
	}
	return nodeRole(labels)
}

// RolesOf returns the roles in the labels of a Node, sorted.
func RolesOf(node evidence.Object) []string {
	raw, _ := evidence.Field(node.Content, "metadata", "labels").(map[string]any)
	var roles []string
	for k := range raw {
		if r, ok := strings.CutPrefix(k, openshift.NodeRolePrefix); ok && r != "" {
			roles = append(roles, r)
		}
	}
	slices.Sort(roles)
	return roles
}
