package fault_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestRemedyWithoutValues: each sentence of each remedy can be read where no value is known. A
// placeholder is in commands, and in what is a part of one.
func TestRemedyWithoutValues(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	placeholder := regexp.MustCompile(`(?:^|[ (])<[A-Z_]+>(?:[ ,;:)']|\.?$)`)
	odd := regexp.MustCompile(`(?i)\bthe the\b|\b(?:failed|missing) the\b|\bwas$|\x01|\x02|  |\(\)`)
	for _, r := range c.Remedies() {
		a := r.Fill(&fault.Fault{}, fault.Subject{}, func(string) []string { return nil })
		texts := []string{a.Title, a.RiskText, a.Verify.Expect, a.Undo, a.IfWrong}
		for _, s := range a.Steps {
			texts = append(texts, s.Do, s.Expect)
		}
		for _, text := range texts {
			if odd.MatchString(text) || placeholder.MatchString(strings.ReplaceAll(text, "oc patch mcp <POOL> --", "")) {
				t.Errorf("%s: without values it says %q: see spokenNames", r.ID, text)
			}
		}
		if strings.ContainsAny(a.Title, "<>{}") {
			t.Errorf("%s: the title is %q", r.ID, a.Title)
		}
	}
}

// TestFillSentences: what a sentence says where a value is not known.
func TestFillSentences(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"bring {host} back", "bring the host back"},
		{"the installer of operator {x.operator} failed", "the installer of the operator failed"},
		{"delete the failed Machine {x.name}, so that another one is made", "delete the failed Machine, so that another one is made"},
		{"stop what asks ({x.loudest}), then wait", "stop what asks, then wait"},
		{"repair what it names: {x.message}", "repair what it names"},
		{"read token-{x.nodePool}-HASH", "read token-<NODE_POOL>-HASH"},
		{"take {x.pool}.ign of it", "take <POOL>.ign of it"},
		{"run oc patch mcp {x.pool} --type=merge", "run oc patch mcp <POOL> --type=merge"},
		{"{x.nodeName} is Ready.", "the node name is Ready."},
	} {
		r := fault.Remedy{Title: c.text}
		if got := r.Fill(&fault.Fault{}, fault.Subject{}, func(string) []string { return nil }).Title; got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
