package repair

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A plan that may cost etcd a member says which backup there is.
func TestBackupNote(t *testing.T) {
	cases := changeCases()
	i := slices.IndexFunc(cases, func(c changeCase) bool { return c.remedy == "remove-etcd-override" })
	override := cases[i]
	backup := func(kind, status, at string) Object {
		return Object{"apiVersion": "operator.openshift.io/v1alpha1", "kind": "EtcdBackup",
			"status": map[string]any{"conditions": []any{map[string]any{"type": kind, "status": status, "lastTransitionTime": at}}}}
	}
	named := func(name string) Ref { r := backupRef(); r.Name = name; return r }
	for name, tt := range map[string]struct {
		change func(*changeRig)
		want   string
	}{
		"none":    {func(*changeRig) {}, "no completed backup of etcd"},
		"refused": {func(r *changeRig) { r.deny = denied("GET", "etcdbackups", 403) }, "could not be listed"},
		"newest": {func(r *changeRig) {
			r.put(named("old"), backup("BackupCompleted", "True", "2026-04-01T03:00:00Z"))
			r.put(named("nightly"), backup("Completed", "True", "2026-04-30T03:00:00Z"))
			r.put(named("failed"), backup("Completed", "False", "2026-05-01T02:00:00Z"))
		}, "is nightly, completed 24h0m0s ago"},
		"a new cluster": {func(r *changeRig) {
			r.edit(clusterVersionRef(), "x", func(o Object) {
				o["metadata"].(map[string]any)["creationTimestamp"] = r.now.Add(-time.Hour).Format(time.RFC3339)
			})
		}, "less than a day old"},
	} {
		r := newChangeRig(t, override)
		r.edit(clusterVersionRef(), "x", func(o Object) { o["metadata"].(map[string]any)["creationTimestamp"] = "2026-01-01T00:00:00Z" })
		tt.change(r)
		if p := r.mustPlan(t); !strings.Contains(strings.Join(p.Notes, "\n"), tt.want) {
			t.Errorf("%s: notes %q, want %q", name, p.Notes, tt.want)
		}
	}
	for _, c := range slices.Delete(cases, i, i+1) {
		risky := c.remedy == "redeploy-operand" && c.subject.Name == "etcd"
		if p := newChangeRig(t, c).mustPlan(t); strings.Contains(strings.Join(p.Notes, "\n"), "etcd") != risky {
			t.Errorf("%s: notes %q", c.remedy, p.Notes)
		}
	}
}

func denied(verb, resource string, code int) func(string, string) int {
	return func(v, key string) int {
		if v == verb && strings.Contains(key, "/"+resource+"/") {
			return code
		}
		return 0
	}
}
