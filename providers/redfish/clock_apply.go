package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/statedir"
)

// clockRecord is a line of the journal of a plan. It holds no secret.
type clockRecord struct {
	At   time.Time  `json:"at"`
	What string     `json:"what"` // begin, set, undo, undone, stopped
	Plan *clockPlan `json:"plan,omitempty"`
	Why  string     `json:"why,omitempty"`
}

const clockDir = "bmc-clocks"

// clockJournal is the journal of one plan; one process holds it.
type clockJournal struct {
	log *statedir.Log[clockRecord]
	c   *clocks
}

func (c *clocks) journal(id string) (*clockJournal, error) {
	dir, err := statedir.Open(c.state, true, clockDir)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	defer dir.Close()
	log, err := statedir.OpenLog[clockRecord](dir, id+".jsonl", nil)
	if err != nil {
		return nil, fmt.Errorf("open the journal of %s: %w", id, err)
	}
	return &clockJournal{log, c}, nil
}

func (j *clockJournal) add(r clockRecord) error {
	r.At = j.c.now().UTC()
	if j.c.full != nil {
		if err := j.c.full(); err != nil {
			return fmt.Errorf("write the journal: %w", err)
		}
	}
	if err := j.log.Append(r); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// begun is the plan that was begun, nil before that; last is the newest record.
func (j *clockJournal) begun() (p *clockPlan, last string) {
	for _, r := range j.log.Records() {
		if r.Plan != nil {
			p = r.Plan
		}
		last = r.What
	}
	return p, last
}

func (c *clocks) point(name string) {
	if c.at != nil {
		c.at(name)
	}
}

// apply sets the clock; after it was killed it continues.
func (c *clocks) apply(ctx context.Context, path string) (err error) {
	p, err := readPlan(path)
	if err != nil {
		return err
	}
	j, err := c.journal(p.ID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.log.Close()) }()
	old, last := j.begun()
	switch {
	case old != nil && (old.BMC != p.BMC || old.UUID != p.UUID || old.Before != p.Before):
		return fmt.Errorf("the plan %s that was begun is another one", p.ID)
	case last == "undo" || last == "undone":
		return fmt.Errorf("plan %s was undone; make a new one", p.ID)
	case c.now().Sub(p.Made) > planValid || p.Made.Sub(c.now()) > drift:
		return fmt.Errorf("the plan was made at %s and is valid for %s: make a new one", p.Made.Format(time.RFC3339), planValid)
	}
	m, r, err := c.meet(ctx, p)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := c.allowed(r); err != nil {
		return err
	}
	switch {
	case old != nil && near(r.offBy, 0, r.doubt): // killed after the write, or applied again
	case (r.offBy - p.Before.offBy()).Abs() > drift+r.doubt:
		return fmt.Errorf("the clock is %s now, and was %s when the plan was made: somebody has set it; nothing "+
			"was written", words(r.offBy), words(p.Before.offBy()))
	default:
		if old == nil {
			if err := j.add(clockRecord{What: "begin", Plan: &p}); err != nil {
				return err
			}
		}
		c.point("before write")
		if err := m.set(c.now(), 0, r); err != nil {
			return err
		}
		c.point("after write")
	}
	after, err := m.until(ctx, c.now, 0)
	if err != nil {
		return c.putBack(ctx, j, m, p, err)
	}
	if last != "set" {
		if err := j.add(clockRecord{What: "set"}); err != nil {
			return fmt.Errorf("the clock is set; %w", err)
		}
	}
	fmt.Fprintf(c.out, "done: the clock of the BMC of %s shows %s, which is %s\nundo it: rollcall-provider-redfish "+
		"clock undo %s\n", p.Host, after.text, words(after.offBy), p.ID)
	return nil
}

// meet connects to the BMC of a plan, and looks whether all is as the plan has it.
func (c *clocks) meet(ctx context.Context, p clockPlan) (*clockManager, clockReading, error) {
	s, err := serverOf(p.Hosts, p.Host)
	if err != nil {
		return nil, clockReading{}, err
	}
	if s.BMC != p.BMC || s.UUID != p.UUID {
		return nil, clockReading{}, fmt.Errorf("%s has another BMC for %s than the plan (%s)", p.Hosts, p.Host, p.BMC)
	}
	m, err := openClock(ctx, s)
	if err != nil {
		return nil, clockReading{}, err
	}
	if m.path != p.Manager {
		return nil, clockReading{}, errors.Join(fmt.Errorf("the system has the manager %s now, the plan is for %s", m.path, p.Manager), m.Close())
	}
	r, err := m.look(c.now)
	if err != nil {
		return nil, r, errors.Join(err, m.Close())
	}
	return m, r, nil
}

// putBack writes the old difference again, after a time that the BMC did not take.
func (c *clocks) putBack(ctx context.Context, j *clockJournal, m *clockManager, p clockPlan, why error) error {
	r, err := m.look(c.now)
	if err != nil {
		return errors.Join(why, fmt.Errorf("whether the old difference is back is not known: %w; try rollcall-provider-redfish clock undo %s", err, p.ID))
	}
	if !near(r.offBy, p.Before.offBy(), r.doubt) {
		if err := m.set(c.now(), p.Before.offBy(), r); err != nil {
			return errors.Join(why, fmt.Errorf("the old difference is not back: %w", err))
		}
		if _, err := m.until(ctx, c.now, p.Before.offBy()); err != nil {
			return errors.Join(why, fmt.Errorf("the old difference is not back: %w", err))
		}
	}
	return errors.Join(fmt.Errorf("%w; rolled back: the clock has its old difference", why), j.add(clockRecord{What: "undone", Why: why.Error()}))
}

// undo gives the clock of a plan the difference that it had.
func (c *clocks) undo(ctx context.Context, id string) (err error) {
	if !clockID.MatchString(id) {
		return fmt.Errorf("%.60q is no ID of a plan for a BMC's clock", id)
	}
	j, err := c.journal(id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.log.Close()) }()
	p, last := j.begun()
	if p == nil {
		return fmt.Errorf("plan %s was not begun with this state directory: there is nothing to undo", id)
	}
	m, r, err := c.meet(ctx, *p)
	if err != nil {
		return err
	}
	defer m.Close()
	old := p.Before.offBy()
	switch {
	case near(r.offBy, old, drift):
	case !near(r.offBy, 0, r.doubt):
		return fmt.Errorf("the clock is %s, which is neither what the plan set nor what was there before: somebody has set it; nothing "+
			"was written", words(r.offBy))
	case r.ntp == "on":
		return errors.New("NTP is on at the BMC: it would not keep the old difference; nothing was written")
	default:
		if last != "undo" {
			if err := j.add(clockRecord{What: "undo"}); err != nil {
				return err
			}
		}
		c.point("before undo")
		if err := m.set(c.now(), old, r); err != nil {
			return err
		}
		c.point("after undo")
		if r, err = m.until(ctx, c.now, old); err != nil {
			return err
		}
	}
	if last != "undone" {
		if err := j.add(clockRecord{What: "undone"}); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.out, "undone: the clock of the BMC of %s is %s again\n", p.Host, words(r.offBy))
	return nil
}
