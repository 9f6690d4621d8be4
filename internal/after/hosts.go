package after

import (
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/facts/network"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// tally counts subjects by what was found of them. What is known not to hold outweighs
// what is not known.
type tally struct {
	held, open, unknown []string
	proof               []evidence.Item
	why                 string // of the first that is unknown
}

func (t *tally) miss(name string, err error) {
	if t.why == "" {
		t.why = err.Error()
	}
	t.unknown = append(t.unknown, name)
}

// outcome is the tally as an indicator; none says what it means that nothing was counted.
func (t *tally) outcome(none Indicator) Indicator {
	switch total := len(t.held) + len(t.open) + len(t.unknown); {
	case len(t.open) > 0:
		return absent(t.proof, "%d of %d not: %s", len(t.open), total, few(t.open))
	case len(t.unknown) > 0:
		return unknown("%s: %s", few(t.unknown), t.why)
	case total == 0:
		return none
	}
	return present(t.proof...)
}

// whole makes an indicator that holds unknown where what the list of hosts rests on was
// not read whole: one more host may be missing.
func (c *check) whole(i Indicator) Indicator {
	if unread := diagnose.Unread(c.d); i.Outcome == fault.Present && len(unread) > 0 {
		return unknown("%s", few(unread))
	}
	return i
}

func (c *check) hostsJoined() (Indicator, error) {
	var t tally
	for _, h := range c.hosts {
		at := fmt.Sprintf("%s (%s)", h.Name, h.Stage)
		switch {
		case h.Done():
			t.held = append(t.held, h.Name)
		case h.State == diagnosis.StageUnknown:
			t.miss(at, errors.New("its stage is not known"))
		default:
			t.open = append(t.open, at)
		}
	}
	return c.whole(t.outcome(unknown("no expected host is known"))), nil
}

func (c *check) nodesReady() (Indicator, error) {
	var t tally
	for _, h := range c.hosts {
		for _, s := range h.Stages {
			if s.Stage != fault.Ready {
				continue
			}
			switch s.State {
			case diagnosis.StagePassed, diagnosis.StageNotApplicable:
				t.held = append(t.held, h.Name)
			case diagnosis.StageUnknown:
				t.miss(h.Name, errors.New("not known"))
			default:
				t.open, t.proof = append(t.open, h.Name), append(t.proof, s.Evidence...)
			}
		}
		if len(h.Stages) == 1 { // a host that is only counted
			t.open = append(t.open, h.Name)
		}
	}
	return c.whole(t.outcome(unknown("no expected host is known"))), nil
}

// noOpenRequest looks for requests of expected hosts that no one has answered. Requests
// under other names are no business of a host.
func (c *check) noOpenRequest() (Indicator, error) {
	all, err := csrs.All(c.ctx, c.w)
	if u, ok := evidence.AsUnavailable(err); ok {
		return unknown("%s", u), nil
	}
	if err != nil {
		return Indicator{}, err
	}
	var t tally
	for _, r := range all {
		mine := false
		for _, h := range c.hosts {
			mine = mine || r.NodeName != "" && inventory.SameName(r.NodeName, h.Name)
		}
		if !mine {
			continue
		}
		if r.State == csrs.Pending && csrs.Newest(all, r) {
			t.open = append(t.open, r.Name+" of "+r.NodeName)
			t.proof = append(t.proof, evidence.Item{
				Locator: r.Loc,
				Excerpt: fmt.Sprintf("%s certificate for %s: pending", r.Kind, r.NodeName),
				Time:    r.Created,
			})
		}
	}
	if len(t.open) > 0 {
		return absent(t.proof, "%s", few(t.open)), nil
	}
	return present(), nil
}

// networkOnNodes asks of each host with a Node whether the pods of the network run there.
func (c *check) networkOnNodes() (Indicator, error) {
	var t tally
	var excluded error
	for _, h := range c.hosts {
		v := c.w.Compute(c.ctx, network.HostFact(), fault.Subject{Kind: fault.Host, Name: h.Name})
		if errors.Is(v.Err, facts.ErrNotApplicable) {
			excluded = v.Err
			continue
		}
		f, ok := facts.As[network.Host](v)
		if v.Err != nil || !ok {
			t.miss(h.Name, v.Err)
			continue
		}
		ovn, err := f.OVNReady.Get()
		multus, multusErr := f.MultusReady.Get()
		switch {
		case err == nil && !ovn:
			t.open, t.proof = append(t.open, h.Name+" (ovnkube-node)"), append(t.proof, f.OVNReady.Proof()...)
		case multusErr == nil && !multus:
			t.open, t.proof = append(t.open, h.Name+" (multus)"), append(t.proof, f.MultusReady.Proof()...)
		case err != nil || multusErr != nil:
			t.miss(h.Name, errors.Join(err, multusErr))
		default:
			t.held = append(t.held, h.Name)
		}
	}
	none := unknown("no expected host is known")
	if excluded != nil {
		none = notApplicable("%s", reasonOf(excluded))
	}
	return c.whole(t.outcome(none)), nil
}
