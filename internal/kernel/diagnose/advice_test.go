package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// remedy returns an entry of the catalog: head are its own lines.
func remedy(id, head string) string {
	return "id: " + id + "\ntitle: repair {host}\nverify: {expect: it is dark}\nrefs: [{repo: wall}]\n" + head
}

const byHand = "by: cluster\nrisk: none\nsteps: [{do: 'Look at {host}.', run: 'oc get node {host} -o jsonpath={.status}'}]\n"

func TestAdvice(t *testing.T) {
	const stands = "standsAlone: true\n"
	decide := func(recovery, that string) string {
		return "by: decision\nrecovery: " + recovery + "\nrisk: data-loss\nundo: none\nifWrong: all of it\n" +
			"requires: [{that: " + that + ", says: the lamp is lit}]\nsteps: [{do: Replace it.}]\n"
	}
	tests := []struct {
		name     string
		lamp     string
		remedies map[string]string
		order    string
		want     []string // id, applies
		class    diagnosis.VerdictClass
		fix      fault.Actor
	}{
		{name: "none", lamp: "lit", class: diagnosis.Undetermined},
		{name: "by hand", lamp: "lit", remedies: map[string]string{"a": byHand}, order: "a",
			want: []string{"a present"}, class: diagnosis.RecoverableInPlace, fix: fault.ByCluster},
		{name: "what fix does is Rollcall's", lamp: "lit", remedies: map[string]string{"a": byHand + "fix: true\ntried: simulation\n"}, order: "a",
			want: []string{"a present"}, class: diagnosis.RecoverableInPlace, fix: fault.ByRollcall},
		{name: "outside", lamp: "lit", remedies: map[string]string{"a": strings.Replace(byHand, "by: cluster", "by: outside\nwhere: DNS", 1)}, order: "a",
			want: []string{"a present"}, class: diagnosis.RecoverableInPlace, fix: fault.ByOutside},
		{name: "a requirement that does not hold comes last", lamp: "lit",
			remedies: map[string]string{"a": byHand + "requires: [{that: '!it.lit', says: it is dark}]\n", "b": byHand}, order: "a, b",
			want: []string{"b present", "a absent"}, class: diagnosis.RecoverableInPlace, fix: fault.ByCluster},
		{name: "nothing but what must not be used", lamp: "lit",
			remedies: map[string]string{"a": byHand + "requires: [{that: '!it.lit', says: it is dark}]\n"}, order: "a",
			want: []string{"a absent"}, class: diagnosis.Undetermined},
		{name: "a requirement that is not known", lamp: "half",
			remedies: map[string]string{"a": byHand + "requires: [{that: it.seen, says: somebody saw it}]\n"}, order: "a",
			want: []string{"a unknown"}, class: diagnosis.RecoverableInPlace, fix: fault.ByCluster},
		{name: "a decision with its proof", lamp: "lit", remedies: map[string]string{"a": decide("backup-restore", "it.lit")}, order: "a",
			want: []string{"a present"}, class: diagnosis.RecoverableBackup, fix: fault.ByDecision},
		{name: "a decision without its proof gives nothing up", lamp: "half", remedies: map[string]string{"a": decide("reinstall", "it.seen")}, order: "a",
			want: []string{"a unknown"}, class: diagnosis.RecoverableInPlace, fix: fault.ByDecision},
		{name: "a remedy with a fact that this program does not compute", lamp: "lit",
			remedies: map[string]string{"a": byHand + "given: {asked: {fact: elsewhere}}\n", "b": byHand}, order: "a, b",
			want: []string{"b present"}, class: diagnosis.RecoverableInPlace, fix: fault.ByCluster},
		{name: "another version", lamp: "lit", remedies: map[string]string{"a": byHand + "versions: \"<4.19\"\n"}, order: "a", class: diagnosis.Undetermined},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries := map[string]string{"x": stands + "remedies: [" + tt.order + "]\n"}
			for id, head := range tt.remedies {
				entries["remedies/"+id] = remedy(id, head)
			}
			d := run(t, wall{"h": {"x": tt.lamp}}, entries)
			if len(d.Roots) != 1 {
				t.Fatalf("roots: %v", d.Roots)
			}
			var got []string
			for _, a := range d.Roots[0].Cases[0].Remedies {
				got = append(got, a.ID+" "+string(a.Applies))
				if a.Title != "repair h" {
					t.Errorf("title %q", a.Title)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if d.Verdict.Class != tt.class || d.Verdict.Fix != tt.fix || d.Verdict.Cause != diagnosis.CauseKnown {
				t.Errorf("verdict %+v", d.Verdict)
			}
		})
	}
}

// TestAdviceIsSafeToPaste: evidence is hostile, and a command of the advice is pasted
// into a shell of an administrator.
func TestAdviceIsSafeToPaste(t *testing.T) {
	for _, host := range []string{"h; rm -rf /", "$(reboot)", "a b", "--all", "x\ny", "`id`", "h'", `h"`, "a|b", "*", ""} {
		d := run(t, wall{host: {"x": "lit"}}, map[string]string{"x": "standsAlone: true\nremedies: [a]\n",
			"remedies/a": remedy("a", strings.Replace(byHand, "", "", 1))})
		for _, r := range d.Roots {
			if got, want := r.Cases[0].Remedies[0].Steps[0].Run, "oc get node <HOST> -o jsonpath={.status}"; got != want {
				t.Errorf("host %q: %q, want %q", host, got, want)
			}
		}
	}
}
