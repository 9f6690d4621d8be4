package badconditions

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

var poolFact = facts.Define("pool-conditions", fault.Pool, "the conditions of a MachineConfigPool that speak against it",
	[]evidence.Need{evidence.Objects(evidence.MachineConfigPools, "")}, readPool)

// poolNormal is for how long a pool may be Degraded: a node that is not Ready during its restart,
// or a config that is written in two steps, makes it so for minutes.
const poolNormal = 20 * time.Minute

func readPool(ctx context.Context, w *facts.World, s fault.Subject) (Bad, error) {
	o, ok, err := w.Get(ctx, evidence.MachineConfigPools, "", s.Name)
	if err != nil {
		return Bad{}, err
	}
	if !ok {
		return Bad{}, facts.NotApplicable("there is no MachineConfigPool %s", s.Name)
	}
	var list []condition
	whole := condition{}
	for _, c := range conditions.Of(o) {
		if !against(c.Type, c.Status) {
			continue
		}
		says := with(fmt.Sprintf("pool %s is %s=%s", s.Name, c.Type, c.Status), words(c.Reason, c.Message))
		is := condition{says, c.Since, poolNormal, evidence.Item{Locator: c.Loc, Excerpt: says, Time: c.Since}}
		if c.Type == "Degraded" { // it repeats that there is another one
			whole = is
			continue
		}
		list = append(list, is)
	}
	if len(list) == 0 && whole.says != "" {
		list = append(list, whole)
	}
	return bad(list, o.Shows("status.conditions", "no condition of pool "+s.Name+" speaks against it", time.Time{})), nil
}
