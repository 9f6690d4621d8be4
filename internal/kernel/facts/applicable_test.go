package facts

import (
	"errors"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestSettle: that a fact does not apply is a claim from silence, unless something shows it.
func TestSettle(t *testing.T) {
	gap := &evidence.Unavailable{Need: evidence.Objects(evidence.Nodes, ""), Why: evidence.Forbidden}
	silent := NotApplicable("host %s is not a Node yet", "w1")
	shown := Excluded(evidence.Item{Excerpt: "platform None"}, "platform None has none")
	defect := errors.New("a defect")
	for name, c := range map[string]struct{ err, gap, want error }{
		"silent, all was read":     {silent, nil, ErrNotApplicable},
		"silent, not all was read": {silent, gap, gap},
		"shown, not all was read":  {shown, gap, ErrNotApplicable},
		"a defect":                 {defect, gap, defect},
	} {
		if got := asUnknown(c.err, c.gap); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
