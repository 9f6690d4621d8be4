package cluster

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func TestCounted(t *testing.T) {
	object := func(name, state string) evidence.Object {
		return evidence.Object{Name: name, Content: map[string]any{"state": state}}
	}
	wrong := func(o evidence.Object) string { return evidence.String(o.Content, "state") }
	for want, list := range map[string][]evidence.Object{
		"":                               nil,
		"1 Pool, Updated":                {object("a", "")},
		"2 Pools, all Updated":           {object("a", ""), object("b", "")},
		"2 Pools, b Degraded":            {object("a", ""), object("b", "Degraded")},
		"4 Pools, a X, b X, c X, 1 more": {object("d", "X"), object("c", "X"), object("b", "X"), object("a", "X")},
	} {
		if got := counted(list, "Pool", "Updated", wrong); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if !slices.Equal([]string{orUnknown(""), orUnknown("True")}, []string{"unknown", "True"}) {
		t.Error("a status that is not there is not unknown")
	}
}
