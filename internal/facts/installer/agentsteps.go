package installer

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// agentSteps are the lines of `agent wait-for` that show how far an agent-based installation came
// (openshift/installer:pkg/agent/cluster.go IsBootstrapComplete, humanFriendlyClusterInstallStatus).
// A line shows what is waited for from then on; the first match counts.
var agentSteps = []struct{ mark, step, words string }{
	{"never initialized", "agent", "the agent service on the rendezvous host"},
	{"waiting for cluster install to initialize", "agent", "the agent service on the rendezvous host"},
	{"agent rest api initialized", "agent", "the hosts to be ready for the installation"},
	{"cluster is not ready for install", "agent", "the hosts to be ready for the installation"},
	{"cluster is ready for install", "agent", "the hosts to be ready for the installation"},
	{"user input is required", "agent", "input of the user, which the installation needs"},
	{"cluster has hosts requiring user input", "agent", "a user to act on hosts"},
	{"preparing cluster for installation", "agent", "the hosts to prepare for the installation"},
	{"cluster installation in progress", "agent", "the hosts to be installed"},
	{"finalizing cluster installation", "agent", "the installation to be finalized"},
	{"cluster kube api initialized", "bootstrap", "bootstrapping to complete"},
}

// agentStep moves an agent-based installation on. The service still reports its state while the
// API of the cluster runs: that is no step back.
func (in *install) agentStep(l line, text string, item evidence.Item) {
	if !slices.Contains([]string{"assets", "infrastructure", "agent"}, in.step) {
		return
	}
	text = strings.ToLower(text)
	for _, s := range agentSteps {
		if !strings.Contains(text, s.mark) {
			continue
		}
		if in.step != s.step || in.waitsFor != s.words {
			in.begin(s.step, s.words, l.Line.Time)
			facts.Prove(item, &in.Step, &in.WaitsFor, &in.Since)
		}
		return
	}
}
