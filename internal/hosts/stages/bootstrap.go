package stages

import (
	"context"
	"errors"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/installer"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// bootstrap is the state of the bootstrap host, where something of it was read and it is
// not known that the installation was completed: then the host is gone.
func bootstrap(ctx context.Context, w *facts.World) ([]diagnosis.HostState, error) {
	h, ok, err := inventory.Bootstrap(ctx, w)
	if err != nil || !ok {
		return nil, err
	}
	s := unknown("its services are not known")
	s.Evidence = []evidence.Item{item(h.Loc, "", "something of the bootstrap host is there", w.Now)}
	b, err := installer.OnBootstrap(ctx, w)
	_, unavailable := evidence.AsUnavailable(err)
	switch {
	case errors.Is(err, facts.ErrNotApplicable), err == nil && b.Overtaken.Value():
		return nil, nil
	case err != nil && !unavailable:
		return nil, err
	case err != nil:
	case b.NeverRan.Value() != "":
		s = failed(b.Since.Value(), b.NeverRan.Value()+" never ran", top(b.NeverRan.Proof())...)
	case b.Failures.Value() > 0:
		why := b.What.Value()
		if e := b.Error.Value(); !strings.Contains(why, e) {
			why += ": " + e
		}
		s = failed(b.Since.Value(), why, top(b.What.Proof())...)
	case b.What.Value() != "":
		s = waiting(b.Since.Value(), b.What.Value(), top(b.What.Proof())...)
	case b.Passed.Value() != "":
		s = passed(b.Since.Value(), top(b.What.Proof())...)
		s.Why = "bootkube passed stage " + b.Passed.Value() + ": the control plane runs on the hosts"
	default:
		s = passed(b.Since.Value(), top(b.What.Proof())...)
	}
	s.Stage, s.Why = fault.Planned, orElse(s.Why, "its services have ended")+"; it starts the installation and does not join"
	return []diagnosis.HostState{{Name: namedhost.Bootstrap, Role: namedhost.Bootstrap, Stage: s.Stage, State: s.State, Why: s.Why,
		Since: s.At, Stages: []diagnosis.StageState{s}}}, nil
}
