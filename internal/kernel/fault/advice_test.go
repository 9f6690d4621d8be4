package fault

import "testing"

func TestUntilProven(t *testing.T) {
	look, change, word := Step{Do: "Look.", Run: "oc get nodes"}, Step{Do: "Change.", Run: "oc patch x", Changes: true}, Step{Do: "Replace it."}
	for name, c := range map[string]struct {
		advice Advice
		steps  int
		needs  bool
	}{
		"nothing changes":           {Advice{Risk: RiskNone, Steps: []Step{look, word}}, 2, false},
		"a look before the change":  {Advice{Risk: RiskReversible, Fix: true, Steps: []Step{look, change, look}}, 1, true},
		"the change first":          {Advice{Risk: RiskReversible, Steps: []Step{change}}, 0, true},
		"a decision in words alone": {Advice{Risk: RiskDataLoss, By: ByDecision, Steps: []Step{look, word, look}}, 1, true},
	} {
		c.advice.Undo = "undo it"
		got := c.advice.UntilProven()
		if len(got.Steps) != c.steps || got.NeedsProof != c.needs || got.NeedsProof && (got.Fix || got.Undo != "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
