package message

import (
	"strings"
	"testing"
)

// TestAside: warnings, retries and logs that could not be gathered do not lead where a text has an error.
func TestAside(t *testing.T) {
	x := builtIn(t)
	const (
		gather = `level=error msg="Attempted to gather debug logs after installation failure: failed to create SSH client: failed to read directory"`
		fatal  = `level=fatal msg="Bootstrap failed to complete: timed out waiting for the condition"`
		field  = `WARNING failed to parse first occurrence of unknown field: failed to unmarshal install-config.yaml: json: unknown field "nodes"`
		name   = `ERROR Bootstrap failed to complete: Get "https://api.lab.example:6443/version": dial tcp: lookup api.lab.example on 192.0.2.53:53: no such host`
		retry  = "FAILED - RETRYING: [w0.lab.example -> localhost]: Get the name (1 retries left)."
		other  = "FAILED - RETRYING: [w0.lab.example -> localhost]: Approve requests (1 retries left)."
		task   = "TASK [openshift_node : Get the name] *******"
		result = `fatal: [w0.lab.example -> localhost]: FAILED! => {"msg": "non-zero return code", "rc": 1, "stde` + "\n" + `rr": "error: it has no such kind"}`
	)
	for _, c := range []struct {
		lines []string
		lead  string
	}{
		{[]string{gather, fatal}, "the bootstrap is not complete"},
		{[]string{gather}, "the hosts' logs could not be gathered: SSH to the host failed"},
		{[]string{field, name}, "installer-name-not-resolved"},
		{[]string{field}, ""},
		{[]string{task, retry}, "a task of Ansible has not succeeded yet and tries again"},
		{[]string{task, retry, result, ""}, `task "openshift_node : Get the name" of Ansible failed on w0.lab.example -> localhost: error: it has no such kind`},
		{[]string{task, other, result, ""}, `task "openshift_node : Get the name" of Ansible failed on w0.lab.example -> localhost: error: it has no such kind`},
	} {
		if got := leadOf(readText(t, x, strings.Join(c.lines, "\n")+"\n")); got != c.lead {
			t.Errorf("%s:\n%q, want %q", c.lines, got, c.lead)
		}
	}
}

// leadOf is what a report is led by, as `scan` has it.
func leadOf(r *Report) string {
	switch {
	case len(r.Matches) > 0:
		return r.Matches[0].Fault
	case len(r.Symptoms) > 0 && (!r.Symptoms[0].Aside || len(r.Errors) == 0):
		return r.Symptoms[0].Fault + r.Symptoms[0].Failure
	case len(r.Errors) > 0:
		return r.Errors[0].Says
	}
	return ""
}
