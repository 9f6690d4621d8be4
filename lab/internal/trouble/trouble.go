// Package trouble is the list of what can go wrong in the lab. Each trouble
// breaks one thing for the reason for which it breaks in the field, and leaves
// what follows to the real servers; see "Writing a scenario" in the lab's
// README.
package trouble

import (
	"slices"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// All lists every trouble, by area.
func All() []lab.Trouble {
	return slices.Concat(
		machineConfig,
	)
}
