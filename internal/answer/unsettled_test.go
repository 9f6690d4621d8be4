package answer

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestUnsettled: what is not decided is shown with the words of the object, and with the command that shows the rest.
func TestUnsettled(t *testing.T) {
	finding := func(id string, s fault.Subject, title string, excerpts ...string) diagnosis.Finding {
		f := diagnosis.Finding{Fault: id, Subject: s, Title: title, Severity: fault.Error, Outcome: fault.Unknown, Unsettled: true, Since: answertest.Noon}
		for _, e := range excerpts {
			f.Evidence = append(f.Evidence, evidence.Item{Excerpt: e})
		}
		return f
	}
	operator := func(name string) fault.Subject { return fault.Subject{Kind: fault.Operator, Name: name} }
	const invalid = "Available=False MachineConfigControllerFailed: ControllerConfig is invalid: status.controllerCertificates[0].notAfter: Required value"
	for name, tt := range map[string]struct {
		class   diagnosis.VerdictClass
		finding diagnosis.Finding
		shown   string // "" where nothing is
		absent  string
		command string
	}{
		"an operator": {diagnosis.Undetermined, finding("machine-config-operator-degraded", operator("machine-config"),
			"operator machine-config is degraded or not available", "4 conditions", "Degraded=False AsExpected", invalid),
			"- " + invalid[:60], "4 conditions", "oc describe clusteroperator machine-config"},
		"the title has it": {diagnosis.Undetermined, finding("operator-degraded", operator("dns"), "operator dns: no pod of the resolver is running on any node",
			"Degraded=True DNSDegraded: no pod of the resolver is running on any node"), "? operator dns: no pod", "- Degraded=True",
			"oc describe clusteroperator dns"},
		"named by the version": {diagnosis.Undetermined, finding(versionFailing, fault.Subject{Kind: fault.Cluster},
			"the cluster version operator cannot keep 4.16.27 in place: Cluster operators console, monitoring are not available"),
			"? the cluster version operator", "", "oc describe clusteroperator console monitoring"},
		"the version names none": {diagnosis.Undetermined, finding(versionFailing, fault.Subject{Kind: fault.Cluster},
			"the cluster version operator cannot keep 4.16.27 in place"), "? the cluster version operator", "", "oc get clusteroperators"},
		"a node": {diagnosis.Undetermined, finding("node-not-ready", answertest.Host("w0"), "node w0 is not Ready"), "? node w0", "", "oc describe node w0"},
		"beside a cause": {diagnosis.RecoverableInPlace, finding("node-not-ready", answertest.Host("w0"), "node w0 is not Ready"),
			"? node w0 is not Ready; since", "", "oc describe node w0"},
	} {
		t.Run(name, func(t *testing.T) {
			d := answertest.Base(answertest.Answered("control0", "master"))
			d.Findings, d.Verdict.Class = []diagnosis.Finding{tt.finding}, tt.class
			var out bytes.Buffer
			r := newText(d, Options{})
			r.unsettled()
			if err := r.Flush(&out); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(out.String()), " ")
			if tt.shown != "" && !strings.Contains(got, tt.shown) || tt.shown == "" && got != "" || tt.absent != "" && strings.Contains(got, tt.absent) {
				t.Errorf("shown: %q; want %q and not %q", got, tt.shown, tt.absent)
			}
			if list := r.describing(); tt.command == "" && len(list) > 0 || tt.command != "" && !slices.Equal(list, []string{tt.command}) {
				t.Errorf("commands %q, want %q", list, tt.command)
			}
		})
	}
}
