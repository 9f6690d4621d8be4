package netcheck

import (
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// maxAge is how old each answer may be: networks change while an installation is prepared. The
// clock of a live ISO may be wrong by a day, so less would refuse what was just made.
const maxAge = 7 * 24 * time.Hour

// Fit refuses answers that were made for other plans, for these plans before they were changed,
// or too long ago: what they show says nothing of an installation with these plans now.
func Fit(plans, answers []evidence.Object, now time.Time) error {
	w := wanted(plans)
	about := map[string]bool{}
	oldest := now
	for _, o := range answers {
		a, err := evidence.Decode[probe.NetAnswer](o)
		if err != nil {
			return fmt.Errorf("read answer %s: %w", o.Name, err)
		}
		if a.Kind == probe.NetName && len(w.names) > 0 && !slices.ContainsFunc(w.names, func(q question) bool { return q.host == a.Host }) {
			return fmt.Errorf("it is of another plan: it asked for %s, and this plan has %s", evidence.Shorten(a.Host, 80), w.names[0].host)
		}
		about[a.Host], about[a.Target] = true, true
		if a.At.Before(oldest) {
			oldest = a.At
		}
	}
	for _, need := range w.needs() {
		if !about[need] {
			return fmt.Errorf("nothing in it is about %s: it was made with another plan, or not with all files of this one", need)
		}
	}
	if now.Sub(oldest) > maxAge {
		return fmt.Errorf("it has answers of %s, which is longer ago than %d days", oldest.UTC().Format(time.DateOnly), maxAge/(24*time.Hour))
	}
	return nil
}

// needs are the names and addresses of which there is an answer from each machine, if only why
// it could not ask.
func (w *want) needs() []string {
	var all []string
	for _, n := range w.names {
		all = append(all, n.host)
	}
	return slices.Concat(all, addresses(w.api), addresses(w.ingress), w.times, w.registries)
}
