package pools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

func TestDegraded(t *testing.T) {
	const log = "-- append:namespaces/openshift-machine-config-operator/pods/machine-config-daemon-fdw0k/machine-config-daemon/machine-config-daemon/logs/current.log --\n" +
		`E0301 11:00:00.000001    2101 writer.go:231] Marking Degraded due to: "error enabling \"a\": exit status 1\nsecond line"` + "\n"
	node := func(state, reason string) string {
		return "-- patch:cluster-scoped-resources/core/nodes/w0.yaml --\nmetadata:\n  annotations:\n    " +
			openshift.ConfigStateAnnotation + ": " + state + "\n    " + openshift.ConfigReasonAnnotation + ": '" + reason + "'\n"
	}
	is := func(degraded bool, class class, text string) Degraded {
		return Degraded{facts.Known(degraded), facts.Known(string(class)), facts.Known(text)}
	}
	tests := []struct {
		name, changes string
		want          Degraded
	}{
		{"healthy", "", is(false, noComplaint, "")},
		{"any words", node("Degraded", "something new"), is(true, otherComplaint, "something new")},
		{"a known class", node("Degraded", "failed to drain node: w0 after 1 hour"), is(true, drain, "failed to drain node: w0 after 1 hour")},
		{"over", node("Done", "something new"), is(false, otherComplaint, "something new")},
		{"only the log has it", node("Degraded", "") + log, is(true, otherComplaint, `error enabling "a": exit status 1`)},
		{"nothing has it", node("Degraded", ""), is(true, otherComplaint, "it reports no error")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := factstest.World(t, factstest.Metal, tt.changes)
			if diff := cmp.Diff(tt.want, factstest.Fields[Degraded](t, w, degradedFact, factstest.Host("w0"))); diff != "" {
				t.Errorf("degraded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShortError(t *testing.T) {
	tests := map[string]string{
		"a":                      "a",
		"  a\n b":                "a",
		`"a \"b\"\nc"`:           `a "b"`,
		strings.Repeat("ä", 200): strings.Repeat("ä", 160) + "…",
	}
	for text, want := range tests {
		if got := shortError(text); got != want {
			t.Errorf("shortError(%q) = %q, want %q", text, got, want)
		}
	}
}
