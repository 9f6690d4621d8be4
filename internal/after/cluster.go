package after

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/controlplane"
	"github.com/rollcall-project/rollcall/internal/facts/etcd"
	"github.com/rollcall-project/rollcall/internal/facts/pools"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// reasonOf says why a fact does not apply, without the frame's own words.
func reasonOf(err error) string {
	return strings.TrimPrefix(err.Error(), facts.ErrNotApplicable.Error()+": ")
}

// unread is the indicator of a fact that could not be computed. Other errors are defects.
func unread(err error) (Indicator, error) {
	if errors.Is(err, facts.ErrNotApplicable) {
		return notApplicable("%s", reasonOf(err)), nil
	}
	u, ok := evidence.AsUnavailable(err)
	switch {
	case !ok:
		return Indicator{}, err
	case u.Why == evidence.NotServed:
		return notApplicable("%s", u), nil
	}
	return unknown("%s", u), nil
}

// versionCompleted asks whether an installation or an update is under way.
func (c *check) versionCompleted() (Indicator, error) {
	v := c.w.Compute(c.ctx, controlplane.VersionFact(), fault.Subject{Kind: fault.Cluster})
	f, ok := facts.As[controlplane.Version](v)
	if v.Err != nil || !ok {
		return unread(v.Err)
	}
	installing, err := f.Installing.Get()
	updating, updatingErr := f.Updating.Get()
	message, _ := f.Message.Get() // only words in addition to what decides
	switch {
	case err != nil || updatingErr != nil:
		return unread(errors.Join(err, updatingErr))
	case installing:
		return absent(f.Installing.Proof(), "installing: %s", orNone(message)), nil
	case updating:
		return absent(f.Updating.Proof(), "updating: %s", orNone(message)), nil
	}
	return present(f.Completed.Proof()...), nil
}

func orNone(message string) string {
	if message == "" {
		return "ClusterVersion gives no reason"
	}
	return message
}

// etcdMembers goes by what the etcd operator reports of its members.
func (c *check) etcdMembers() (Indicator, error) {
	if c.d.Cluster.Topology == "External" {
		return notApplicable("etcd of a hosted cluster is not run by this cluster"), nil
	}
	v := c.w.Compute(c.ctx, etcd.Fact(), fault.Subject{Kind: fault.Cluster})
	f, ok := facts.As[etcd.Etcd](v)
	if v.Err != nil || !ok {
		return unread(v.Err)
	}
	available, err := f.Available.Get()
	members, membersErr := f.Members.Get()
	bootstrap, bootstrapErr := f.Bootstrap.Get()
	switch {
	case err != nil || membersErr != nil:
		return unread(errors.Join(err, membersErr))
	case available < members:
		return absent(f.Available.Proof(), "%d of %d members are available", available, members), nil
	case bootstrapErr == nil && bootstrap:
		return absent(f.Bootstrap.Proof(), "the member of the bootstrap host has not been removed"), nil
	}
	return present(f.Available.Proof()...), nil
}

// poolsUpdated goes by the counts of each pool.
func (c *check) poolsUpdated() (Indicator, error) {
	list, err := relation.Relater{}.Subjects(c.ctx, c.w, fault.Pool)
	if err != nil {
		return unread(err)
	}
	served := pools.Facts()[slices.IndexFunc(pools.Facts(), func(f facts.Fact) bool { return f.Name == "pool-served-config" })]
	var t tally
	for _, s := range list {
		v := c.w.Compute(c.ctx, served, s)
		f, ok := facts.As[pools.Served](v)
		if v.Err != nil || !ok {
			t.miss(s.Name, v.Err)
			continue
		}
		machines, err := f.Machines.Get()
		updated, updatedErr := f.Updated.Get()
		degraded, degradedErr := f.Degraded.Get()
		current, currentErr := f.ObservedCurrent.Get()
		ready, readyErr := f.Ready.Get()
		if err := errors.Join(err, updatedErr, degradedErr, currentErr, readyErr); err != nil {
			t.miss(s.Name, err)
			continue
		}
		if updated == machines && ready == machines && degraded == 0 && current {
			t.held = append(t.held, s.Name)
			continue
		}
		t.open = append(t.open, fmt.Sprintf("%s (%d of %d updated, %d ready, %d degraded)", s.Name, updated, machines, ready, degraded))
		t.proof = append(t.proof, f.Updated.Proof()...)
	}
	return t.outcome(notApplicable("the cluster has no MachineConfigPool")), nil
}

// operatorsStable asks each operator since when it is available, not progressing and not
// degraded. The times are those of the conditions: what was not watched counts as well.
func (c *check) operatorsStable() (Indicator, error) {
	list, err := relation.Relater{}.Subjects(c.ctx, c.w, fault.Operator)
	if err != nil {
		return unread(err)
	}
	var t tally
	youngest := time.Time{}
	for _, s := range list {
		v := c.w.Compute(c.ctx, controlplane.OperatorFact(), s)
		f, ok := facts.As[controlplane.Operator](v)
		if v.Err != nil || !ok {
			t.miss(s.Name, v.Err)
			continue
		}
		since, state, err := rest(f)
		switch {
		case err != nil:
			t.miss(s.Name, err)
		case state != "":
			t.open = append(t.open, s.Name+" ("+state+")")
			t.proof = append(t.proof, slices.Concat(f.Available.Proof(), f.Degraded.Proof(), f.Progressing.Proof())...)
		default:
			t.held = append(t.held, s.Name)
			if since.After(youngest) {
				youngest = since
			}
		}
	}
	i := t.outcome(unknown("no ClusterOperator was found"))
	if at := c.w.Now.Sub(youngest); i.Outcome == fault.Present && at < c.o.StableFor {
		return absent(nil, "all %d are at rest, the youngest for %s of %s", len(t.held), fault.Span(max(at, 0)), fault.Span(c.o.StableFor)), nil
	}
	return i, nil
}

// rest says since when an operator is at rest, or what it is instead.
func rest(f controlplane.Operator) (since time.Time, state string, err error) {
	for _, is := range []struct {
		value facts.Field[bool]
		since facts.Field[time.Time]
		want  bool
		word  string
	}{
		{f.Available, f.AvailableSince, true, "not available"},
		{f.Degraded, f.DegradedSince, false, "degraded"},
		{f.Progressing, f.ProgressingSince, false, "progressing"},
	} {
		value, valueErr := is.value.Get()
		at, atErr := is.since.Get()
		switch {
		case valueErr != nil || atErr != nil:
			err = errors.Join(err, valueErr, atErr)
		case value != is.want:
			state = is.word
		case at.After(since):
			since = at
		}
		if state != "" {
			return since, state, nil // known to be at work, whatever else is not known
		}
	}
	return since, "", err
}
