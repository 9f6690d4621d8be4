package diagnosis

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// A note is neither a mistake nor a warning, and each case counts.
func TestMistakes(t *testing.T) {
	root := func(s fault.Severity, cases int) Root { return Root{Severity: s, Cases: make([]Case, cases)} }
	for want, roots := range map[string][]Root{
		"":                               nil,
		"1 mistake":                      {root(fault.Error, 1)},
		"2 warnings":                     {root(fault.Warning, 1), root(fault.Warning, 1)},
		"3 mistakes, 1 warning, 2 notes": {root(fault.Info, 2), root(fault.Warning, 1), root(fault.Error, 3)},
	} {
		if got := (&Diagnosis{Roots: roots}).Mistakes(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
