package message

import (
	"strings"
	"testing"
)

// TestConditionsOverTime: the last line of a condition is what it is; those before it are past.
func TestConditionsOverTime(t *testing.T) {
	x := builtIn(t)
	const (
		head  = "| time | type | status | reason | message |\n| --- | --- | --- | --- | --- |\n"
		lost  = "| 2025-02-03T10:00:00Z | EtcdAvailable | False | EtcdWaitingForQuorum | Waiting for etcd to reach quorum |\n"
		back  = "| 2025-02-03T10:00:09Z | EtcdAvailable | True | QuorumAvailable | |\n"
		again = "| 2025-02-03T11:00:00Z | EtcdAvailable | False | EtcdWaitingForQuorum | Waiting for etcd to reach quorum |\n"
		kas   = "| 2025-02-03T10:00:01Z | KubeAPIServerAvailable | False | NotFound | Kube APIServer deployment not found |\n"
		odd   = "2025-02-03T10:00:00Z   FluxDegraded   True   Low   the flux is lost\n"
		even  = "2025-02-03T10:09:00Z   FluxDegraded   False   AsExpected\n"
	)
	for name, c := range map[string]struct{ text, want, not string }{
		"lost and back":          {head + lost + back, "", "hosted-etcd"},
		"newest first":           {head + back + lost, "", "hosted-etcd"},
		"lost again":             {head + lost + back + again, "hosted-etcd-unavailable", ""},
		"what stays is said":     {head + lost + kas + back, "KubeAPIServerAvailable is False (NotFound): Kube APIServer deployment not found", "hosted-etcd"},
		"of two objects":         {strings.ReplaceAll(lost, "| 2025", "| a1 | 2025") + strings.ReplaceAll(back, "| 2025", "| b2 | 2025"), "hosted-etcd-unavailable", ""},
		"two lists":              {lost + "\n" + back, "hosted-etcd-unavailable", ""},
		"without upright lines":  {odd, "FluxDegraded is True (Low): the flux is lost", ""},
		"which ends":             {odd + even, "", "Flux"},
		"and of the same moment": {odd + strings.ReplaceAll(even, "10:09", "10:00"), "FluxDegraded is True", ""},
	} {
		r, got := readText(t, x, c.text), ""
		for _, m := range append(r.Matches, r.Symptoms...) {
			got += m.Fault + m.Failure + "\n"
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestIronicNodes: a row of baremetal node list is read by its cells, with its heading or without.
func TestIronicNodes(t *testing.T) {
	x := builtIn(t)
	const id = "0b1c2d3e-1111-2222-3333-444455556666"
	row := func(name, power, state, maintenance string) string {
		return "| " + id + " | " + name + " | None | " + power + " | " + state + " | " + maintenance + " |\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"a failed step":  {row("m4", "power off", "inspect failed", "False"), "baremetal node m4: its provisioning state in Ironic is inspect failed"},
		"with a heading": {"| UUID | Name | Instance UUID | Power State | Provisioning State | Maintenance |\n" + row("m4", "power on", "error", "False"), "baremetal node m4: its provisioning state in Ironic is error"},
		"maintenance":    {row("m5", "None", "clean wait", "True"), "baremetal node m5: it is in maintenance in Ironic"},
		"both":           {row("None", "power on", "deploy failed", "True"), "baremetal node " + id + ": its provisioning state in Ironic is deploy failed, and it is in maintenance"},
		"well":           {row("m6", "power on", "active", "False"), ""},
		"on its way":     {row("m6", "power on", "wait call-back", "False"), ""},
	} {
		r, got, next := readText(t, x, c.text), "", ""
		for _, m := range append(r.Matches, r.Symptoms...) {
			got, next = got+m.Failure, next+m.Next
		}
		if got != c.want || c.want != "" && !strings.Contains(next, "baremetal node show "+id) {
			t.Errorf("%s: %q, want %q; %q", name, got, c.want, next)
		}
	}
}
