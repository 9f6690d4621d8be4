package repair

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// A diff shows what changes and nothing else, and of a secret no value.
func TestDiffText(t *testing.T) {
	host := Object{"spec": map[string]any{"online": false, "bmc": map[string]any{"address": "redfish://admin:hunter2@192.0.2.1/x"}},
		"metadata": map[string]any{"annotations": map[string]any{metal3.PausedAnnotation: "maintenance"}}}
	list := Object{"spec": map[string]any{"l": []any{"192.0.2.0/24", "198.51.100.0/24"}}}
	for name, tt := range map[string]struct {
		ref  Ref
		o    Object
		set  map[string]any
		want string
	}{
		"set": {bareMetalHostRef("w"), host, map[string]any{"/spec/online": true}, "@@ spec @@\n-online: false\n+online: true\n"},
		"remove": {bareMetalHostRef("w"), host, map[string]any{pointer("metadata", "annotations", metal3.PausedAnnotation): nil},
			"@@ metadata.annotations @@\n-" + metal3.PausedAnnotation + ": maintenance\n"},
		"add": {bareMetalHostRef("w"), host, map[string]any{"/spec/x": "y"}, "@@ spec @@\n+x: \"y\"\n"},
		"append": {bareMetalHostRef("w"), list, map[string]any{"/spec/l": []any{"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"}},
			"@@ spec @@\n l:\n - 192.0.2.0/24\n - 198.51.100.0/24\n+- 203.0.113.0/24\n"},
		"a URL with a password": {bareMetalHostRef("w"), host, map[string]any{"/spec/bmc/address": "redfish://admin:hunter3@192.0.2.1/x"},
			"@@ spec.bmc @@\n-address: redfish://(not shown)@192.0.2.1/x\n+address: redfish://(not shown)@192.0.2.1/x\n"},
		"a secret": {Ref{Version: "v1", Resource: "secrets", Namespace: "n", Name: "s"}, Object{"data": map[string]any{"password": "aHVudGVyMg=="}},
			map[string]any{"/data/password": "aHVudGVyMw=="}, "@@ data @@\n-password: (not shown)\n+password: (not shown)\n"},
		"nothing": {bareMetalHostRef("w"), host, map[string]any{"/spec/online": false}, ""},
	} {
		var fields []string
		for f := range tt.set {
			fields = append(fields, f)
		}
		got, err := diffText(tt.ref, tt.o, fields, tt.set)
		if err != nil {
			t.Fatal(err)
		}
		if tt.want != "" {
			tt.want = "--- " + tt.ref.String() + " (now)\n+++ " + tt.ref.String() + " (after)\n" + tt.want
		}
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

// The plan shows the write and what the guards see; another write than the one shown is
// refused, with the digest named, too; a plan from an archive is.
func TestShownIsWritten(t *testing.T) {
	for _, c := range changeCases() {
		r := newChangeRig(t, c)
		p := r.mustPlan(t)
		s := p.Steps[0]
		if !strings.HasPrefix(s.Diff, "--- "+c.object.String()+" (now)") || len(s.Now) != len(s.Preconditions) || strings.Contains(strings.Join(s.Now, " "),
			"not now") {
			t.Fatalf("%s: diff %q, now %q", c.remedy, s.Diff, s.Now)
		}
		p.Steps[0].Diff = strings.Replace(s.Diff, "@@ ", "@@ x", 1)
		r.reviewed(t, p)
		if _, err := r.exec.Apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), "shows another change") || r.patched() > 0 {
			t.Errorf("%s: another diff: %v", c.remedy, err)
		}
		for name, edit := range map[string]func(*Plan){
			"it was made from":     func(p *Plan) { p.From = "mg.tar.gz" },
			"not made from a clus": func(p *Plan) { p.Cluster.CA = "" },
		} {
			r := newChangeRig(t, c)
			p := r.mustPlan(t)
			edit(p)
			r.reviewed(t, p)
			if _, err := r.exec.Apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), name) || r.patched() > 0 {
				t.Errorf("%s: %s: %v", c.remedy, name, err)
			}
		}
	}
}
