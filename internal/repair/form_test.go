package repair

import (
	"strings"
	"testing"
)

// TestUnknownWordsRefused: a risk or a grade that this program does not know is
// refused when the plan is loaded, also by resume and undo, which do not compare words.
func TestUnknownWordsRefused(t *testing.T) {
	for name, edit := range map[string]func(*Step){
		`there is no risk "harmless"`:      func(s *Step) { s.Risk = "harmless" },
		`there is no risk ""`:              func(s *Step) { s.Risk = "" },
		`there is no proof grade "tested"`: func(s *Step) { s.Proof = "tested" },
		`there is no proof grade ""`:       func(s *Step) { s.Proof = "" },
	} {
		r := newRig(t, desync(t))
		p := r.plan(t)
		edit(stepOf(t, p, RecreateRender))
		if err := p.checkForm(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("checkForm: %v, want %s", err, name)
		}
	}
}
