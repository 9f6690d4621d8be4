package serve

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/service"
	"github.com/rollcall-project/rollcall/internal/session/readerrole"
)

var update = flag.Bool("update", false, "write the golden files")

func written(t *testing.T, m Manifests) string {
	t.Helper()
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// forms are the manifests that are written, by --monitoring.
func forms() map[Monitoring]Manifests {
	list := map[Monitoring]Manifests{}
	for _, m := range []Monitoring{UserWorkload, Platform, NoMonitoring} {
		list[m] = Manifests{Namespace: "rollcall", Image: "registry.example.com/rollcall:1", Replicas: 1, Monitoring: m}
	}
	return list
}

// TestManifests: what is written is reviewed. The rights are the same in each form, and only in one file.
func TestManifests(t *testing.T) {
	whole := written(t, forms()[UserWorkload])
	for form, m := range forms() {
		text := written(t, m)
		if form != UserWorkload {
			text = cut(t, text)
		}
		path := filepath.Join("testdata", "manifests-"+string(form)+".yaml")
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%s: %s", form, diff)
		}
		if rights(t, written(t, m)) != rights(t, whole) {
			t.Errorf("%s has other rights", form)
		}
	}
}

// beginOfRights and endOfRights are comments in the file.
const (
	beginOfRights = "# What a diagnosis reads"
	endOfRights   = "# The service CA"
)

func rights(t *testing.T, text string) string {
	t.Helper()
	_, text, begins := strings.Cut(text, beginOfRights)
	text, _, ends := strings.Cut(text, endOfRights)
	if !begins || !ends {
		t.Fatal("the rights are not where they were")
	}
	return text
}

// cut leaves the rights out.
func cut(t *testing.T, text string) string {
	t.Helper()
	return strings.Replace(text, rights(t, text), "\n...\n", 1)
}

// TestRights: no Secret in any form, no command in a pod, no kubelet, no impersonation, nothing that writes but the lease and
// the reviews, and where it is not for reading alone, Events and ConfigMaps of its namespace; no wildcard.
func TestRights(t *testing.T) {
	writes := map[string]string{"create tokenreviews": "", "create subjectaccessreviews": "", "create leases": "rollcall", "update leases": "rollcall"}
	m := Manifests{Namespace: "rollcall", Image: "x", Replicas: 2, Monitoring: Platform, ReadOnly: true}
	checkRights(t, written(t, m), writes)
	writes["create events"] = service.EventsNamespace
	for _, verb := range []string{"create", "update", "delete"} {
		writes[verb+" configmaps"] = "rollcall"
	}
	m.ReadOnly = false
	checkRights(t, written(t, m), writes)
}

// checkRights holds the roles of a file to what may be written in which namespace.
func checkRights(t *testing.T, file string, writes map[string]string) {
	t.Helper()
	roles := 0
	for _, doc := range strings.Split(file, "\n---\n") {
		var o readerrole.Object
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		if o.Kind != "Role" && o.Kind != "ClusterRole" {
			if o.RoleRef != nil && o.RoleRef.Name != o.Metadata.Name {
				t.Errorf("%s binds %s, which is not of this file", o.Metadata.Name, o.RoleRef.Name)
			}
			continue
		}
		roles++
		for _, r := range o.Rules {
			for _, resource := range r.Resources {
				if slices.Contains([]string{"secrets", "nodes/proxy", "pods/exec", "pods/attach", "pods/portforward", "users", "groups", "serviceaccounts"}, resource) ||
					strings.Contains(resource, "*") || strings.HasSuffix(resource, "/token") {
					t.Errorf("%s: %s", o.Metadata.Name, resource)
				}
				for _, verb := range r.Verbs {
					namespace, allowed := writes[verb+" "+resource]
					if !slices.Contains([]string{"get", "list", "watch"}, verb) && (!allowed || namespace != o.Metadata.Namespace) {
						t.Errorf("%s in %q: %s %s", o.Metadata.Name, o.Metadata.Namespace, verb, resource)
					}
				}
			}
			if slices.Contains(r.APIGroups, "*") || len(r.URLs) > 0 && (len(r.Resources) > 0 || !slices.Equal(r.Verbs, []string{"get"})) {
				t.Errorf("%s: %+v", o.Metadata.Name, r)
			}
		}
	}
	if roles < 10 {
		t.Errorf("%d roles were looked at", roles)
	}
}

// TestManifestMistakes: what is no name is refused, and nothing is written.
func TestManifestMistakes(t *testing.T) {
	for _, change := range []func(*Manifests){
		func(m *Manifests) { m.Image = "" }, func(m *Manifests) { m.Image = "x\nhostNetwork: true" },
		func(m *Manifests) { m.Namespace = "a b" }, func(m *Manifests) { m.Namespace = "" },
		func(m *Manifests) { m.Replicas = 0 }, func(m *Manifests) { m.Replicas = 4 },
	} {
		m := forms()[UserWorkload]
		change(&m)
		var out bytes.Buffer
		if err := m.Write(&out); err == nil || out.Len() > 0 {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// TestAlerts: each rule has what OpenShift's conventions for alerts ask for, and only metrics that are exported.
func TestAlerts(t *testing.T) {
	var names []string
	for _, f := range families(t) {
		names = append(names, f.GetName())
	}
	list := alerts("rollcall")
	if len(list) != 4 {
		t.Errorf("%d alerts", len(list))
	}
	for _, a := range list {
		if !strings.HasPrefix(a.name, "Rollcall") || a.summary == "" || a.description == "" || a.wait == "" {
			t.Errorf("%+v", a)
		}
		known := 0
		for _, n := range names {
			known += strings.Count(a.expr, n+"{")
		}
		if known == 0 || known != strings.Count(a.expr, "rollcall_") {
			t.Errorf("%s: %s has a metric that is not exported", a.name, a.expr)
		}
		if page, err := os.ReadFile("../../docs/operate.md"); err != nil || !strings.Contains(string(page), a.name) {
			t.Errorf("%s is not in docs/operate.md: %v", a.name, err)
		}
	}
	for _, id := range strings.Split(csrFaults, "|") {
		if _, err := os.Stat("../../catalog/csr/" + id + ".yaml"); err != nil {
			t.Error(err)
		}
	}
}

// TestRules: the rules do in Prometheus what they are for: promtool plays series of metrics, see testdata/rules.test.yaml.
func TestRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: apt-get install prometheus")
	}
	raw, err := yaml.Marshal(rules("rollcall"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	played, err := os.ReadFile("testdata/rules.test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"rules.yaml": raw, "rules.test.yaml": played} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "rules.test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "SUCCESS") {
			t.Error(fmt.Errorf("promtool %s: %w: %s", strings.Join(args, " "), err, out))
		}
	}
}
