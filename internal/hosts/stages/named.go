package stages

import (
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// nothingFound is the stage of a host that somebody named and that nothing else shows;
// false for every other host.
func (v *view) nothingFound() (diagnosis.StageState, bool) {
	h := v.host
	if !h.OnlyNamed() || len(v.requests) > 0 || v.ignition.seen || v.kubelet != nil {
		return diagnosis.StageState{}, false
	}
	if inventory.ConsoleGiven(h) {
		return unknown(inventory.NoBoot(h)), true
	}
	if h.Named.By == namedhost.Journal {
		return unknown("a journal of " + h.Name + " was read, and none of its lines shows a step of joining: read the messages found in it, or give " +
			"more: the journal from the boot on, or its console with --console " + h.Name + "=FILE"), true
	}
	if h.Named.By == namedhost.SSH {
		return unknown("it was asked over ssh and gave no answer, and no object, no request and no text names it: the lines above the answer " +
			"show why"), true
	}
	return unknown("nothing found about it: no object, no request and no text names it; look at its screen, and give what it shows with --console " +
		h.Name + "=FILE"), true
}
