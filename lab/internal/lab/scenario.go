package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scenario is a story that a lab plays: a base, which installs a cluster, and
// the troubles that come over it. All bases install three masters with the
// agent-based installer, control0 being the rendezvous host that bootstraps the
// others and joins last.
type Scenario struct {
	Name  string
	About string
	// LateInput creates a MachineConfig that only the in-cluster controller
	// sees (seed/manifests/70-late-input.yaml), so that its first render has
	// another name than the bootstrap controller's.
	LateInput bool
	// InstallerApproves keeps the assisted-installer-controller, which approves
	// all requests until every host joined, alive to the end. Without it the
	// third master's requests wait for somebody.
	InstallerApproves bool
	// Joins says that control0 is expected to join by itself.
	Joins bool
	// Workers says that two workers are added by a MachineSet once the masters
	// stand.
	Workers bool
	// Metal3 says that metal3 runs at the end. Elsewhere it does where a trouble
	// is about it, and is shown only: it costs time, and adds its own retries to
	// whatever is wrong.
	Metal3 bool
	// Halfway stops the story where the bootstrap host still serves.
	Halfway bool
	// Troubles break the cluster once the base stands, one after the other.
	Troubles []Trouble
}

// Trouble is one thing that is wrong with a cluster, for the reason for which
// it goes wrong in the field. See "Writing a scenario" in the lab's README.
type Trouble struct {
	Name  string
	About string // what is broken and why, in one line
	// MCS is the release of the in-cluster machine config server that the
	// trouble is about ("4.14", "4.20"); empty: whichever runs.
	MCS string
	// Break breaks the cluster, and returns once that is done. It waits for
	// nothing that follows from it.
	Break func(context.Context, *Lab) error
	// Keep, where set, is called every few seconds from Break on: the part of a
	// program that the lab does not run.
	Keep func(context.Context, *Lab) error
	// Steady says what is missing from the trouble as the field shows it, and
	// nothing when it stands. Nil: it stands when Break returns.
	Steady func(context.Context, *Lab) (why string, err error)
	// Stands is for how long the trouble stands when the lab is ready: the
	// cluster's records are moved into the past by that much, see Lab.Age. Zero
	// is DefaultStand, negative not at all.
	Stands time.Duration
}

// DefaultStand is how long people wait before they ask for help.
const DefaultStand = 65 * time.Minute

var bases = []Scenario{
	{
		Name:  "bootstrap-desync",
		About: "the bootstrap render is not the cluster's: two masters name a config that is not there, the third loops on HTTP 500",

		LateInput: true,
	},
	{
		Name:  "healthy",
		About: "the same install with the same inputs on both sides: three masters and two workers join and the pools converge",

		InstallerApproves: true, Joins: true, Workers: true, Metal3: true,
	},
	{
		Name:  "cluster",
		About: "the healthy cluster that troubles come over: the pods of metal3 are there and do nothing",

		InstallerApproves: true, Joins: true, Workers: true,
	},
	{
		Name:  "install-in-progress",
		About: "an install that is halfway: the bootstrap host still serves and approves, two masters have joined, nothing is wrong",

		InstallerApproves: true, Halfway: true,
	},
}

// Bases lists the scenarios that install a cluster.
func Bases() []Scenario { return slices.Clone(bases) }

// FindScenario returns the scenario that a user names: a base, troubles of the
// list, or both, joined by "+". Troubles without a base come over the
// cluster that is healthy.
func FindScenario(name string, troubles []Trouble) (Scenario, error) {
	s, based := bases[2], false
	var about []string
	for _, part := range strings.Split(name, "+") {
		if i := slices.IndexFunc(bases, func(b Scenario) bool { return b.Name == part }); i >= 0 {
			if based || len(s.Troubles) > 0 {
				return Scenario{}, fmt.Errorf("find scenario %q: %s installs a cluster and can only be the first", name, part)
			}
			s, based = bases[i], true
			about = append(about, s.About)
			continue
		}
		i := slices.IndexFunc(troubles, func(t Trouble) bool { return t.Name == part })
		if i < 0 {
			return Scenario{}, fmt.Errorf("find scenario %q: there is no %q; `scenarios` lists all", name, part)
		}
		t := troubles[i]
		if slices.ContainsFunc(s.Troubles, func(o Trouble) bool { return o.Name == part || (o.MCS != t.MCS && o.MCS != "" && t.MCS != "") }) {
			return Scenario{}, fmt.Errorf("find scenario %q: %s does not go together with what stands before it", name, part)
		}
		s.Troubles = append(slices.Clone(s.Troubles), t)
		about = append(about, t.About)
	}
	s.Name, s.About = name, strings.Join(about, "; ")
	return s, nil
}

// MCS is the release of the machine config server that the scenario wants, or
// nothing.
func (s Scenario) MCS() string {
	for _, t := range s.Troubles {
		if t.MCS != "" {
			return t.MCS
		}
	}
	return ""
}

// stands is how long all of it stands at the end: the longest of the troubles,
// or override where that is not negative.
func (s Scenario) stands(override time.Duration) time.Duration {
	if override >= 0 {
		return override
	}
	longest := time.Duration(0)
	for _, t := range s.Troubles {
		switch {
		case t.Stands == 0:
			longest = max(longest, DefaultStand)
		default:
			longest = max(longest, t.Stands)
		}
	}
	return longest
}

// age of a healthy cluster when trouble comes.
const baseAge = 48 * time.Hour

// trouble breaks the cluster and waits until it shows.
func (l *Lab) trouble(ctx context.Context) error {
	if l.opts.Scenario.Metal3 {
		l.step("starting metal3")
		if err := l.StartMetal3(ctx); err != nil {
			return err
		}
	}
	if len(l.opts.Scenario.Troubles) == 0 {
		if err := l.Age(ctx, l.opts.Scenario.stands(l.opts.Stand)); err != nil {
			return err
		}
		return l.followUp(ctx)
	}
	if !l.opts.Resume {
		if err := l.Age(ctx, baseAge); err != nil {
			return err
		}
	}
	for _, t := range l.opts.Scenario.Troubles {
		l.step("breaking: " + t.About)
		if err := t.Break(ctx, l); err != nil {
			return fmt.Errorf("%s: break: %w", t.Name, err)
		}
		if t.Keep != nil {
			l.keep(ctx, t.Name, t.Keep)
		}
	}
	if err := l.shows(ctx); err != nil {
		return err
	}
	if d := l.opts.Scenario.stands(l.opts.Stand); d > 0 {
		l.step(fmt.Sprintf("letting it stand for %s", d))
		if err := l.Age(ctx, d); err != nil {
			return err
		}
		if err := l.shows(ctx); err != nil {
			return err
		}
	}
	return l.followUp(ctx)
}

// shows waits until all troubles show as the field shows them.
func (l *Lab) shows(ctx context.Context) error {
	for _, t := range l.opts.Scenario.Troubles {
		if t.Steady == nil {
			continue
		}
		l.step("waiting until it shows: " + t.Name)
		if err := l.awaitWhy(ctx, 5*time.Minute, t.Name+" does not show", t.Steady); err != nil {
			return err
		}
	}
	return nil
}

// keep calls do once a second until ctx ends.
func (l *Lab) keep(ctx context.Context, name string, do func(context.Context, *Lab) error) {
	l.hosts.Go(func() {
		for l.pause(ctx, time.Second) {
			l.timeMu.Lock()
			err := do(ctx, l)
			l.timeMu.Unlock()
			if err != nil && ctx.Err() == nil {
				l.log.Warn("keep the trouble", "trouble", name, "err", err)
			}
		}
	})
}

// pause waits and says whether ctx is still alive.
func (l *Lab) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
