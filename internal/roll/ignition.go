package roll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/facts/mcs"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// ignition is what is known of a host's fetch of its config before it is a Node.
type ignition struct {
	seen    bool // the host itself was seen: its console, or its requests
	decided fault.StageState
}

func (i ignition) stage() fault.StageState { return i.decided }

// lookAtIgnition reads the host's console, and where none was given, what the
// machine config servers say of the only host of its pool that is still missing.
func (s *shared) lookAtIgnition(ctx context.Context, w *facts.World, h hosts.Host) (ignition, error) {
	if h.Node != nil {
		return ignition{}, nil
	}
	g, proof, err := mcs.HostIgnition(ctx, w, h.Name)
	_, unavailable := evidence.AsUnavailable(err)
	switch {
	case err == nil:
		return ignition{seen: true, decided: fromConsole(g, top(proof.Items))}, nil
	case !unavailable && !errors.Is(err, facts.ErrNotApplicable):
		return ignition{}, err
	}
	return s.fromServers(ctx, w, h)
}

// fromConsole judges the last boot that the console shows.
func fromConsole(g mcs.Ignition, items []evidence.Item) fault.StageState {
	switch {
	case g.Finished:
		return passed(time.Time{}, items...)
	case g.Terminal:
		return failed(time.Time{}, "Ignition gave up: "+orElse(g.BadConfig, g.Error, "emergency shell"), items...)
	case g.Looping && g.Attempts > 1:
		return failed(time.Time{}, fmt.Sprintf("Ignition's attempt %d ended with %s; it goes on trying", g.Attempts, result(g)), items...)
	case g.Looping:
		return waiting(time.Time{}, "Ignition is fetching its config", items...)
	}
	return waiting(time.Time{}, "Ignition runs", items...)
}

func result(g mcs.Ignition) string {
	if g.Status != 0 {
		return fmt.Sprintf("HTTP %d", g.Status)
	}
	return orElse(g.Error, g.ErrorClass, "no answer yet")
}

func orElse(list ...string) string {
	i := slices.IndexFunc(list, func(s string) bool { return s != "" })
	if i < 0 {
		return ""
	}
	return list[i]
}

// fromServers: requests carry an address, not a name, and a load balancer hides
// it. Where one single host of a pool is missing, the requests are its.
func (s *shared) fromServers(ctx context.Context, w *facts.World, h hosts.Host) (ignition, error) {
	none := ignition{decided: unknown("nothing was heard of it; give its console with --console " + h.Name + "=FILE")}
	if h.Pool.Name == "" || !s.onlyMissing(h) {
		return none, nil
	}
	r, proof, err := mcs.PoolRequests(ctx, w, h.Pool.Name)
	if _, ok := evidence.AsUnavailable(err); ok {
		return none, nil
	}
	if err != nil || r.Failures == 0 {
		return none, err
	}
	why := fmt.Sprintf("%d requests in a row for pool %s were answered with an error, and it is the only host of the pool that is missing", r.Failures, h.Pool.Name)
	decided := failed(r.Since, why, top(proof.Items)...)
	decided.OfPool = true
	return ignition{seen: true, decided: decided}, nil
}

func (s *shared) onlyMissing(h hosts.Host) bool {
	for _, o := range s.roll.Hosts {
		if o.Name != h.Name && o.Expected && !o.Spare && o.Node == nil && (o.Pool.Name == h.Pool.Name || o.Pool.Name == "") {
			return false
		}
	}
	return h.Expected && !slices.ContainsFunc(s.roll.Gaps, func(g hosts.Gap) bool { return strings.EqualFold(g.Role, h.Role) })
}

// top keeps the roll's proof short; the findings carry the rest.
func top(items []evidence.Item) []evidence.Item { return items[:min(3, len(items))] }
