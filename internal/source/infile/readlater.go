package infile

import (
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// ReadLater is the note on a source that does not say when it was read. Written is when its file
// was written, zero if that is not known. It is only offered as --now: a copy has the time of the
// copying.
func ReadLater(name string, now, written time.Time) evidence.Coverage {
	c := evidence.Coverage{Need: "time of " + name, State: evidence.Partial, Supply: evidence.Supply{Kind: evidence.SupplyNow},
		Reason: "it carries no time of its reading; its newest time is taken, so everything lasts at least as long as is shown"}
	if written.Sub(now) > time.Minute {
		c.Reason += fmt.Sprintf(". The file was written at %s: if it was read then, give --now %[1]s", written.UTC().Format(time.RFC3339))
	}
	return c
}
