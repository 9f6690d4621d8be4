package lab

import (
	"fmt"
	"slices"
	"strings"
)

// Scenario is a story that a lab plays. All of them install a cluster of three
// masters with the agent-based installer, control0 being the rendezvous host
// that bootstraps the others and joins last.
type Scenario struct {
	Name  string
	About string
	// LateInput creates a MachineConfig that only the in-cluster controller
	// sees (seed/manifests/70-late-input.yaml), so that its first render has
	// another name than the bootstrap controller's.
	LateInput bool
	// InstallerApproves keeps the assisted-installer-controller, which approves
	// all requests until every host joined, alive to the end. Without it the
	// third master's requests wait for somebody.
	InstallerApproves bool
	// Joins says that control0 is expected to join by itself.
	Joins bool
}

var scenarios = []Scenario{
	{
		Name:  "bootstrap-desync",
		About: "the bootstrap render is not the cluster's: two masters name a config that is not there, the third loops on HTTP 500",

		LateInput: true,
	},
	{
		Name:  "healthy",
		About: "the same install with the same inputs on both sides: three masters join and the pool converges",

		InstallerApproves: true, Joins: true,
	},
}

// Scenarios lists all scenarios.
func Scenarios() []Scenario { return slices.Clone(scenarios) }

// FindScenario returns the scenario of that name.
func FindScenario(name string) (Scenario, error) {
	i := slices.IndexFunc(scenarios, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range scenarios {
			names = append(names, s.Name)
		}
		return Scenario{}, fmt.Errorf("find scenario %q: there are %s", name, strings.Join(names, ", "))
	}
	return scenarios[i], nil
}
