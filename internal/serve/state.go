package serve

import (
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Reading is one answer about the cluster.
type Reading struct {
	Diagnosis *diagnosis.Diagnosis
	Report    answer.Options // how it is written
}

// State is what there is to show. It is never changed once it is published.
type State struct {
	Leading bool   // this replica reads the cluster
	Holder  string // of the lease, where that is another replica; "": not known

	Reading   *Reading  // the newest that was read; nil: none yet
	ReadAt    time.Time // when
	Blind     string    // why the cluster cannot be read now; "": it can
	BlindFrom time.Time
	Changes   []follow.Event // the newest last
}

// mostChanges bounds the changes that the page shows.
const mostChanges = 20

// holdFor is how long a whole answer stays where the next ones lack something because the API did not answer: a
// rollout of the control plane takes each API server away for a while, and an answer from half of the lists would
// take back a cause that is still there.
const holdFor = 5 * time.Minute

// blindness says why a diagnosis knows nothing of the cluster, "" where it does: its Nodes were not read.
func blindness(d *diagnosis.Diagnosis) string {
	for _, c := range d.Coverage {
		if c.Need == evidence.Nodes.String() && c.State == evidence.Missing {
			return "nodes are not read: " + c.Reason
		}
	}
	if d.Verdict.Class == diagnosis.CannotCheck {
		return d.Verdict.Reason
	}
	return ""
}

// incomplete reports whether something was not read that can be read a moment later: the API did not answer, asked to
// wait, or did not accept the credentials, which are renewed.
func incomplete(d *diagnosis.Diagnosis) bool {
	return slices.ContainsFunc(d.Coverage, func(c evidence.Coverage) bool {
		read := c.State != evidence.Missing && c.State != evidence.Partial
		return !read && (c.Why == evidence.Unreachable || c.Supply.Kind == evidence.SupplyLogin || c.Supply.Kind == evidence.SupplyAgain)
	})
}

// newest are the last of the changes, in a list of their own.
func newest(list []follow.Event) []follow.Event {
	var kept []follow.Event
	for _, e := range list {
		if e.Type != follow.StillWatching {
			e.Text = strings.TrimSpace(e.Text)
			kept = append(kept, e)
		}
	}
	return slices.Clone(kept[max(0, len(kept)-mostChanges):])
}
