package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// passed reports whether a host has passed a step of the join path.
func passed(h diagnosis.HostState, step fault.Stage) bool {
	return slices.ContainsFunc(h.Stages, func(s diagnosis.StageState) bool {
		return s.Stage == step && (s.State == diagnosis.StagePassed || s.State == diagnosis.StageNotApplicable)
	})
}

// unconfirmed returns the stage at which a fault of the whole cluster stops hosts, if no expected
// host is stopped there and none passed it before the fault began. Such a fault may be something
// else. A host about which nothing is known confirms nothing.
func (g *graph) unconfirmed(f *fault.Fault, since time.Time) (fault.Stage, bool) {
	if f.For != fault.Cluster {
		return "", false
	}
	step := g.stepOf(f)
	if step == "" {
		return "", false
	}
	return step, !slices.ContainsFunc(g.hosts, func(h diagnosis.HostState) bool {
		return h.Expected && (stopped(h, step) || passedBefore(h, step, since))
	})
}

// stopped reports whether a host has failed at a step of the join path, or waits there.
func stopped(h diagnosis.HostState, step fault.Stage) bool {
	return slices.ContainsFunc(h.Stages, func(s diagnosis.StageState) bool {
		return s.Stage == step && (s.State == diagnosis.StageFailed || s.State == diagnosis.StageWaiting)
	})
}

// passedBefore reports whether a host passed a stage before a time: what stops hosts there since
// then does not affect it. The times of later stages bound it.
func passedBefore(h diagnosis.HostState, step fault.Stage, since time.Time) bool {
	if since.IsZero() {
		return false
	}
	at := slices.Index(fault.Stages(), step)
	return slices.ContainsFunc(h.Stages, func(s diagnosis.StageState) bool {
		return slices.Index(fault.Stages(), s.Stage) >= at && s.State == diagnosis.StagePassed && !s.At.IsZero() && s.At.Before(since)
	})
}

// stepOf returns the stage that a fault stops: its own, else the earliest of the faults of hosts
// that it explains for certain; "" if it stops none.
func (g *graph) stepOf(f *fault.Fault) fault.Stage {
	if f.Blocks != "" {
		return f.Blocks
	}
	at := -1
	for _, e := range f.Explains {
		effect, ok := g.engine.catalog.Fault(e.Fault)
		if !ok || e.Strength != fault.Certain || effect.For != fault.Host || effect.Blocks == "" {
			continue
		}
		if n := slices.Index(fault.Stages(), effect.Blocks); n >= 0 && (at < 0 || n < at) {
			at = n
		}
	}
	if at < 0 {
		return ""
	}
	return fault.Stages()[at]
}

// confirmed reports whether something besides its condition shows a fault: a line of its support,
// or a present fault that it explains.
func (g *graph) confirmed(i int, component []int) bool {
	return g.findings[i].Support > 0 || len(component) > 1 ||
		slices.ContainsFunc(g.reach(component), g.present)
}

// reported reports whether something other than a list shows what is missing: a support, of the
// fault or of a member of its ring, that holds without the list. An effect does not show it: it
// may have another cause.
func (g *graph) reported(component []int) bool {
	return slices.ContainsFunc(component, func(i int) bool {
		f := g.findings[i]
		return g.present(i) && (f.Lost == nil || f.Seen)
	})
}

// restsOn reports whether a finding has this piece of evidence, too: it then does not matter that
// the evidence may be wrong.
func restsOn(f diagnosis.Finding, item *evidence.Item) bool {
	return item != nil && slices.ContainsFunc(f.Evidence, func(e evidence.Item) bool { return e.Locator == item.Locator && e.Excerpt == item.Excerpt })
}

// passedAlready reports whether a fault stops a stage that its host has passed: it is then no
// suspect, even if it is unknown.
func (g *graph) passedAlready(f diagnosis.Finding) bool {
	if f.Outcome != fault.Unknown || f.Subject.Kind != fault.Host {
		return false
	}
	def, ok := g.engine.catalog.Fault(f.Fault)
	if !ok || def.Blocks == "" {
		return false
	}
	return slices.ContainsFunc(g.hosts, func(h diagnosis.HostState) bool {
		return h.Name == f.Subject.Name && passed(h, def.Blocks) && h.Done()
	})
}

// markBlocking adds to each finding that is still normal the withheld fault that may block it:
// whether it is still normal is then not known.
func (g *graph) markBlocking() {
	for _, e := range g.edges {
		cause, effect := g.findings[e.from], &g.findings[e.to]
		if !cause.Withheld || cause.Severity.Rank() <= fault.Info.Rank() || e.strength == fault.PossibleEdge || g.passedAlready(cause) {
			continue
		}
		if effect.Waiting() && effect.HeldUp == "" {
			effect.HeldUp = fmt.Sprintf("%s of %s was not checked: %s", cause.Fault, cause.Subject, cause.Reason)
		}
	}
}
