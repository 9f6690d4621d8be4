package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/mcs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// ignition is what is known of a host's fetch of its config before it is a Node.
type ignition struct {
	seen    bool // the host itself was seen: its console, or its requests
	decided diagnosis.StageState
	after   *diagnosis.StageState // what the first boot came to where Ignition failed after the fetch
}

func (i ignition) stage() diagnosis.StageState { return i.decided }

// readIgnition reads the host's console, and where none was given, what the
// machine config servers say of the only host of its pool that is still missing.
func (s *shared) readIgnition(ctx context.Context, w *facts.World, h inventory.Host) (ignition, error) {
	if h.Node != nil {
		return ignition{}, nil
	}
	g, err := mcs.HostIgnition(ctx, w, h.Name)
	_, unavailable := evidence.AsUnavailable(err)
	switch {
	case err == nil:
		return ignition{seen: true, decided: fromConsole(g), after: afterFetch(g)}, nil
	case !unavailable && !errors.Is(err, facts.ErrNotApplicable):
		return ignition{}, err
	}
	return s.fromServers(ctx, w, h)
}

// fromConsole judges the last boot that the console shows.
func fromConsole(g mcs.Ignition) diagnosis.StageState {
	items := top(slices.Concat(g.Looping.Proof(), g.Finished.Proof(), g.CA.Proof()))
	attempts := g.Attempts.Value()
	switch {
	case g.Finished.Value():
		return passed(time.Time{}, items...)
	case g.Terminal.Value():
		return failed(time.Time{}, "Ignition gave up: "+orElse(g.BadConfig.Value(), g.Error.Value(), "emergency shell"), items...)
	case g.Looping.Value() && (attempts > 1 || attempts == 0 && g.Error.Value() != ""):
		return failed(time.Time{}, fmt.Sprintf("%s ended with %s; it keeps retrying", attempt(attempts), result(g)), items...)
	case g.Looping.Value():
		return waiting(time.Time{}, "Ignition is fetching its config", items...)
	}
	return waiting(time.Time{}, "Ignition runs", items...)
}

// afterFetch is the first boot where a stage of Ignition failed that comes after the
// fetch, nil where none did.
func afterFetch(g mcs.Ignition) *diagnosis.StageState {
	if g.Stage.Value() == "" || !g.Terminal.Value() {
		return nil
	}
	s := failed(time.Time{}, fmt.Sprintf("Ignition has its config and failed in stage %s: %s", g.Stage.Value(),
		orElse(g.StageError.Value(), "emergency shell")), top(g.Stage.Proof())...)
	return &s
}

// attempt names an attempt; the console may begin after its line.
func attempt(n int64) string {
	if n == 0 {
		return "Ignition's last attempt"
	}
	return fmt.Sprintf("Ignition's attempt %d", n)
}

func result(g mcs.Ignition) string {
	if status := g.Status.Value(); status != 0 {
		return fmt.Sprintf("HTTP %d", status)
	}
	return orElse(g.Error.Value(), g.ErrorClass.Value(), "no answer yet")
}

func orElse(list ...string) string {
	i := slices.IndexFunc(list, func(s string) bool { return s != "" })
	if i < 0 {
		return ""
	}
	return list[i]
}

// askedAgain is for how long requests that fail may be ones that will be answered: Ignition
// asks again and again (coreos/ignition:internal/resource/http.go maxBackoff), and a pool
// that has just converged is served a moment later.
const askedAgain = 2 * time.Minute

// failedRequests is the stage of a host whose requests have failed since a time.
func failedRequests(now, since time.Time, why string, proof []evidence.Item) diagnosis.StageState {
	if !since.IsZero() && now.Before(since.Add(askedAgain)) {
		return waiting(since, why+"; Ignition asks again", proof...)
	}
	return failed(since, why, proof...)
}

// fromServers: requests carry an address, not a name, and a load balancer hides
// it. Where one single host of a pool is missing, the requests are its.
func (s *shared) fromServers(ctx context.Context, w *facts.World, h inventory.Host) (ignition, error) {
	none := ignition{decided: unknown(notSeen(h, w.Now) + "; give its console with --console " + h.Name + "=FILE")}
	if inventory.ConsoleGiven(h) {
		none.decided = unknown(inventory.NoBoot(h))
	}
	if h.Pool.Name == "" || !s.onlyMissing(h) {
		return none, nil
	}
	r, err := mcs.PoolRequests(ctx, w, h.Pool.Name)
	if _, ok := evidence.AsUnavailable(err); ok {
		return none, nil
	}
	failures := r.Failures.Value()
	if err != nil || failures == 0 {
		return none, err
	}
	why := fmt.Sprintf("%d requests in a row for pool %s were answered with an error, and it is the only host of the pool that is missing",
		failures, h.Pool.Name)
	decided := failedRequests(w.Now, r.Since.Value(), why, top(r.Failures.Proof()))
	decided.OfPool = true
	return ignition{seen: true, decided: decided}, nil
}

// notSeen says of a host that nothing was seen of it. A Machine that is Provisioned has an
// instance and no Node (openshift/api:machine/v1beta1/types_machine.go PhaseProvisioned).
func notSeen(h inventory.Host, now time.Time) string {
	if h.Machine == nil || value(h.Machine.API.Status.Phase) != "Provisioned" {
		return "no sign of it was found"
	}
	says := "its Machine is Provisioned: the instance exists and has not joined"
	if created := h.Machine.API.CreationTimestamp.Time; evidence.Plausible(created) && now.After(created) {
		says += ", for up to " + fault.Span(now.Sub(created))
	}
	return says
}

func (s *shared) onlyMissing(h inventory.Host) bool {
	for _, o := range s.roll.Hosts {
		if o.Name != h.Name && o.Expected && !o.Spare && o.Node == nil && (o.Pool.Name == h.Pool.Name || o.Pool.Name == "") {
			return false
		}
	}
	return h.Expected && !slices.ContainsFunc(s.roll.Gaps, func(g inventory.Gap) bool { return strings.EqualFold(g.Role, h.Role) })
}

// top keeps the roll's proof short; the findings carry the rest.
func top(items []evidence.Item) []evidence.Item { return items[:min(3, len(items))] }
