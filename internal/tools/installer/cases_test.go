package installer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

const fixtures = "../../preflight/testdata/"

// base reads the plan files of a fixture.
func base(t *testing.T, name string) plan {
	t.Helper()
	a, err := txtar.ParseFile(fixtures + "base/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	p := plan{}
	for _, f := range a.Files {
		if f.Name == "install-config.yaml" || f.Name == "agent-config.yaml" || strings.HasPrefix(f.Name, "cluster-manifests/") {
			p[f.Name] = string(f.Data)
		}
	}
	return p
}

// merge is RFC 7396: what is null is removed.
func merge(to, patch map[string]any) {
	for k, v := range patch {
		into, _ := to[k].(map[string]any)
		switch m, ok := v.(map[string]any); {
		case v == nil:
			delete(to, k)
		case ok && into != nil:
			merge(into, m)
		default:
			to[k] = v
		}
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// known is a case of internal/preflight/testdata/installer-cases.yaml.
type known struct {
	Name, Platform, Release, Refused, Why, Stricter string
	Agent, Milder                                   bool
	Change, Host                                    map[string]any
}

func (c known) plan(t *testing.T) plan {
	t.Helper()
	p := base(t, "ipi")
	config := decode(t, p["install-config.yaml"])
	if c.Platform == "none" {
		merge(config, map[string]any{"platform": map[string]any{"baremetal": nil, "none": map[string]any{}}})
	}
	merge(config, c.Change)
	if c.Host != nil {
		hosts := config["platform"].(map[string]any)["baremetal"].(map[string]any)["hosts"].([]any)
		for k, v := range c.Host { // a whole value replaces the old one
			if hosts[0].(map[string]any)[k] = v; v == nil {
				delete(hosts[0].(map[string]any), k)
			}
		}
	}
	p["install-config.yaml"] = encode(t, config)
	if c.Agent {
		p["agent-config.yaml"] = "apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {name: prod}\nrendezvousIP: 192.168.10.20\n"
	}
	return p
}

// other are cases of which this code says something else, with the reason.
var other = map[string]string{
	"policy without a mirror": "sourcePolicy came after 4.19",
	"unknown policy":          "sourcePolicy came after 4.19",
	"multicast MAC address":   "it is asked after the host that provisions, which is not there",
}

// TestKnownCases: the cases that the main module's test holds preflight to are what the
// installer's own code says.
func TestKnownCases(t *testing.T) {
	prepare(t)
	raw, err := os.ReadFile(fixtures + "installer-cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []known
	if err := yaml.UnmarshalStrict(raw, &cases); err != nil {
		t.Fatal(err)
	}
	agree := 0
	for _, c := range cases {
		says, err := installerSays(c.plan(t))
		if err != nil {
			t.Fatal(err)
		}
		if (says != "") == (c.Refused != "") {
			agree++
			if !strings.Contains(says, c.Refused) {
				t.Logf("%s: other words: %s", c.Name, says)
			}
			continue
		}
		if other[c.Name] == "" {
			t.Errorf("%s: the installer says %q, the case %q", c.Name, says, c.Refused)
		}
	}
	t.Logf("%d of %d cases are as the installer's code has them", agree, len(cases))
}

// compare holds preflight against the installer.
func compare(t *testing.T, program, name string, p plan) (refused bool) {
	t.Helper()
	says, err := installerSays(p)
	if err != nil {
		t.Fatal(err)
	}
	a, err := preflightSays(program, p)
	if err != nil {
		t.Fatal(name, err)
	}
	verdict := "accepts"
	if says != "" {
		verdict = "refuses"
	}
	line := fmt.Sprintf("%s: the installer %s, preflight: %d mistakes %v, %d warnings %s", name, verdict, len(a.mistakes), a.mistakes, len(a.warnings), a.failed)
	switch {
	case says != "" && !a.refuses() && a.undecided && p.part():
		t.Logf("a part of a plan, undecided %s\n\t%s", line, says)
	case says != "" && !a.refuses():
		t.Errorf("MILDER %s\n\t%s", line, says)
	case says == "" && a.refuses():
		t.Logf("stricter %s", line)
	default:
		t.Log(line)
	}
	return says != ""
}

// noUser is the credential of the installer's test data, which is no user:password: the
// assisted-service refuses it, which comes later (internal/cluster/validations ParsePullSecret).
const noUser, aUser = "c3VwZXItc2VjcmV0Cg==", "dTpw"

// TestInstallersOwn: the plans of the installer's integration tests for agent-based installations.
func TestInstallersOwn(t *testing.T) {
	prepare(t)
	program := rollcall(t)
	files, err := filepath.Glob(filepath.Join(moduleDir(t), "cmd/openshift-install/testdata/agent/*/*/*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "the module has no test data")
	}
	plans := 0
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := plan{}
		for _, f := range a.Files {
			switch {
			case f.Name == "install-config.yaml" || f.Name == "agent-config.yaml" || strings.HasPrefix(f.Name, "cluster-manifests/") || strings.HasPrefix(f.Name, "openshift/"):
				p[f.Name] = strings.NewReplacer("$RELEASE_IMAGE", releaseImage, noUser, aUser).Replace(string(f.Data))
			}
		}
		if len(p) == 0 || strings.Contains(file, "unconfigured-ignition") && !strings.Contains(string(a.Comment), "create image") {
			continue // a part of the files is enough for that command
		}
		plans++
		compare(t, program, filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), p)
	}
	t.Logf("%d plans", plans)
}

// TestDirectory compares the plans below the directory that PLANS names.
func TestDirectory(t *testing.T) {
	root := os.Getenv("PLANS")
	if root == "" {
		t.Skip("set PLANS to a directory with plans")
	}
	prepare(t)
	program := rollcall(t)
	all, refused := 0, 0
	err := filepath.WalkDir(root, func(dir string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		p := plan{}
		for _, name := range []string{"install-config.yaml", "agent-config.yaml"} {
			if raw, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				p[name] = string(raw)
			}
		}
		more, err := filepath.Glob(filepath.Join(dir, "cluster-manifests", "*.yaml"))
		if err != nil {
			return err
		}
		for _, file := range more {
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			p["cluster-manifests/"+filepath.Base(file)] = string(raw)
		}
		if len(p) == 0 {
			return nil
		}
		all++
		if compare(t, program, strings.TrimPrefix(dir, root), p) {
			refused++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d plans, of which the installer refuses %d", all, refused)
}
