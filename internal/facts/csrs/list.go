package csrs

import "github.com/rollcall-project/rollcall/internal/kernel/facts"

// Facts lists the facts of this package.
func Facts() []facts.Fact {
	return []facts.Fact{RequestFact(), HostFact(), ApproverFact(), FloodFact(), unknownNamesFact()}
}
