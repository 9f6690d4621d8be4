package preflight

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// installerCase is a plan of which is known what openshift-install says of it.
type installerCase struct {
	Name     string         `json:"name"`
	On       string         `json:"platform"` // another platform: none
	Agent    bool           `json:"agent"`    // with an agent-config
	Release  string         `json:"release"`  // that is installed
	Change   map[string]any `json:"change"`   // of install-config
	Host     map[string]any `json:"host"`     // of its first host
	Refused  string         `json:"refused"`  // a part of the installer's message; "" where it accepts the plan
	Stricter string         `json:"stricter"`
	Milder   bool           `json:"milder"` // it is a warning or unknown here
	Why      string         `json:"why"`
}

// of is the change of the plan without mistakes.
func (c installerCase) of(t *testing.T, hosts []any) testCase {
	t.Helper()
	change := map[string]any{}
	if c.On == "none" {
		change["platform"] = map[string]any{"baremetal": nil, "none": map[string]any{}}
	}
	for k, v := range c.Change {
		change[k] = v
	}
	if c.Host != nil {
		first := map[string]any{}
		for k, v := range hosts[0].(map[string]any) {
			first[k] = v
		}
		for k, v := range c.Host {
			if first[k] = v; v == nil {
				delete(first, k)
			}
		}
		platform, _ := change["platform"].(map[string]any)
		metal, _ := platform["baremetal"].(map[string]any)
		if metal == nil {
			metal = map[string]any{}
		}
		metal["hosts"] = append([]any{first}, hosts[1:]...)
		change["platform"] = map[string]any{"baremetal": metal}
	}
	raw, err := yaml.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	list := []txtar.File{{Name: "patch:install-config.yaml", Data: raw}}
	if c.Agent {
		list = append(list, txtar.File{Name: "agent-config.yaml", Data: []byte("apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {name: prod}\nrendezvousIP: 192.168.10.20\n")})
	}
	if c.Release != "" {
		list = append(list, txtar.File{Name: "release", Data: []byte(c.Release)})
	}
	return testCase{name: c.Name, base: "ipi", changes: list}
}

// TestInstallerCases: what openshift-install refuses is an error here. What it accepts is
// none, but where the file says why this is stricter.
func TestInstallerCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/installer-cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []installerCase
	if err := yaml.UnmarshalStrict(raw, &cases); err != nil {
		t.Fatal(err)
	}
	var plan struct {
		Platform struct {
			Baremetal struct {
				Hosts []any `json:"hosts"`
			} `json:"baremetal"`
		} `json:"platform"`
	}
	if err := yaml.Unmarshal(testCase{name: "ipi", base: "ipi"}.files(t)["install-config.yaml"].Data, &plan); err != nil {
		t.Fatal(err)
	}
	known := pages(t)
	refused, accepted := 0, 0
	for _, c := range cases {
		if c.Refused != "" {
			refused++
		} else {
			accepted++
		}
		t.Run(c.Name, func(t *testing.T) {
			var errors []string
			w := world(t, openPlan(t, c.of(t, plan.Platform.Baremetal.Hosts).files(t)))
			for _, one := range Checks() {
				if page, _ := known.Fault(one.ID); page.Layer != "plan" || page.Severity != fault.Error || strings.HasPrefix(one.ID, "plan-dns") {
					continue
				}
				r, err := one.Run(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				if r.Outcome == fault.Present {
					errors = append(errors, one.ID)
				}
			}
			slices.Sort(errors)
			switch {
			case c.Milder && len(errors) > 0:
				t.Errorf("it is an error here: %v", errors)
			case c.Refused != "" && len(errors) == 0 && !c.Milder:
				t.Errorf("milder than the installer, which says %q", c.Refused)
			case c.Refused == "" && c.Stricter != strings.Join(errors, " "):
				t.Errorf("stricter than the installer: %v, want %q", errors, c.Stricter)
			case (c.Stricter != "" || c.Milder) && c.Why == "":
				t.Error("say why this is stricter or milder")
			}
		})
	}
	t.Logf("%d cases that the installer refuses, %d that it accepts", refused, accepted)
}
