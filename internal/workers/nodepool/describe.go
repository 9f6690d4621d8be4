package nodepool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Describe says what a NodePool is and whose.
func Describe(pool map[string]any) string {
	text := fmt.Sprintf("of hosted cluster %s, platform %s, %s, release %s", cmp.Or(evidence.String(pool, "spec", "clusterName"), "not named"),
		cmp.Or(evidence.String(pool, "spec", "platform", "type"), "not named"), Size(pool),
		cmp.Or(evidence.String(pool, "spec", "release", "image"), "not named"))
	if made := evidence.String(pool, "metadata", "creationTimestamp"); made != "" {
		text += ", created " + made
	}
	if who := Creator(pool); who != "" {
		text += " by " + who
	}
	if at := evidence.String(pool, "metadata", "deletionTimestamp"); at != "" {
		text += ", being deleted since " + at
	}
	return text
}

// Size says how many workers a NodePool wants.
func Size(pool map[string]any) string {
	if evidence.Field(pool, "spec", "autoScaling") != nil {
		return "autoscaling"
	}
	n, known := Replicas(pool)
	if !known {
		return "no replicas"
	}
	return page.Count(n, "replica", "replicas")
}

// Replicas is spec.replicas; known is false where there is none.
func Replicas(pool map[string]any) (n int, known bool) {
	switch v := evidence.Field(pool, "spec", "replicas").(type) {
	case int64:
		return int(v), true
	case float64:
		return int(v), true
	case json.Number:
		i, err := v.Int64()
		return int(i), err == nil
	}
	return 0, false
}

// manager is an entry of managedFields.
type manager struct {
	name, operation, time string
	fields                map[string]any
}

func managers(pool map[string]any) []manager {
	entries, _ := evidence.Field(pool, "metadata", "managedFields").([]any)
	var list []manager
	for _, e := range entries {
		m, _ := e.(map[string]any)
		if evidence.String(m, "subresource") != "" { // the status is the controller's
			continue
		}
		fields, _ := m["fieldsV1"].(map[string]any)
		list = append(list, manager{evidence.String(m, "manager"), evidence.String(m, "operation"), evidence.String(m, "time"), fields})
	}
	slices.SortStableFunc(list, func(a, b manager) int { return strings.Compare(a.time, b.time) })
	return list
}

// Creator is the manager that has written spec.clusterName, which cannot be changed. "": not known.
func Creator(pool map[string]any) string {
	for _, m := range managers(pool) {
		if m.owns("f:spec", "f:clusterName") {
			return m.name
		}
	}
	return ""
}

func (m manager) owns(path ...string) bool {
	at := m.fields
	for _, step := range path {
		next, is := at[step].(map[string]any)
		if !is {
			return false
		}
		at = next
	}
	return true
}

// gitOps are signs of a tool that writes a NodePool again from elsewhere: what is changed here does not
// stay. Each is the key of a label or an annotation: of Argo CD, Flux, a subscription of
// open-cluster-management, and Helm.
var gitOps = []string{
	"argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id", "kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name",
	"apps.open-cluster-management.io/hosting-subscription", "meta.helm.sh/release-name",
}

// KeptBy says which other tool writes a NodePool, or its field replicas, again. "": none is seen. own is
// the name of our own manager.
func KeptBy(pool map[string]any, own string) string {
	for _, m := range managers(pool) {
		// Server-side apply owns a field until another one takes it; who applies it, applies it again.
		if m.operation == "Apply" && m.name != own && m.owns("f:spec", "f:replicas") {
			return "field manager " + m.name + ", which applies spec.replicas"
		}
	}
	for _, where := range []string{"labels", "annotations"} {
		keys, _ := evidence.Field(pool, "metadata", where).(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if slices.Contains(gitOps, key) {
				return strings.TrimSuffix(where, "s") + " " + key
			}
		}
	}
	return ""
}

// Flat lists the fields of a spec as the server has them, "management.replace.strategy: RollingUpdate",
// in the order of their names.
func Flat(spec any) []string {
	var list []string
	var walk func(at string, v any)
	walk = func(at string, v any) {
		m, is := v.(map[string]any)
		if !is || len(m) == 0 {
			raw, err := json.Marshal(v)
			if err != nil {
				raw = fmt.Append(nil, v)
			}
			list = append(list, at+": "+strings.Trim(string(raw), `"`))
			return
		}
		for _, key := range slices.Sorted(maps.Keys(m)) {
			walk(strings.TrimPrefix(at+"."+key, "."), m[key])
		}
	}
	walk("", spec)
	return list
}

// Differences are the fields that the server does not have as they were sent. What it adds is none. The
// schema of 4.12 and 4.13 has no arch, and drops it.
func Differences(sent, stored any) []string {
	var list []string
	var walk func(at string, sent, stored any)
	walk = func(at string, sent, stored any) {
		m, is := sent.(map[string]any)
		if !is {
			switch {
			case stored == nil:
				list = append(list, fmt.Sprintf("%s: %v is not stored", at, sent))
			case fmt.Sprint(sent) != fmt.Sprint(stored):
				list = append(list, fmt.Sprintf("%s: %v instead of %v", at, stored, sent))
			}
			return
		}
		have, _ := stored.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(m)) {
			walk(strings.TrimPrefix(at+"."+key, "."), m[key], have[key])
		}
	}
	walk("", sent, stored)
	return list
}

// writtenByController are annotations that the controller writes of its own state
// (hypershift-operator/controllers/nodepool/nodepool_controller.go nodePoolAnnotationCurrentConfig,
// nodePoolAnnotationCurrentConfigVersion).
var writtenByController = []string{openshift.HyperShiftGroup + "/nodePoolCurrentConfig", openshift.NodePoolConfigAnnotation}

// Backup is a NodePool as it can be created again: without what the server and the controller write. The
// controller sets its finalizer and the owner again (reconcile).
func Backup(pool map[string]any) map[string]any {
	meta := map[string]any{}
	have, _ := pool["metadata"].(map[string]any)
	for _, key := range []string{"name", "namespace", "labels"} {
		if v, there := have[key]; there {
			meta[key] = v
		}
	}
	if notes, _ := have["annotations"].(map[string]any); len(notes) > 0 {
		kept := maps.Clone(notes)
		maps.DeleteFunc(kept, func(key string, _ any) bool { return slices.Contains(writtenByController, key) })
		if len(kept) > 0 {
			meta["annotations"] = kept
		}
	}
	return map[string]any{"apiVersion": pool["apiVersion"], "kind": pool["kind"], "metadata": meta, "spec": pool["spec"]}
}
