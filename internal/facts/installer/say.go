package installer

import (
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Say tells of an installation whose cluster cannot be asked; nil where no log has a run
// that works on one, makes its files, or gathers logs of one.
func Say(ctx context.Context, w *facts.World) (*diagnosis.Installer, error) {
	list, err := lines(ctx, w)
	if err != nil {
		return nil, err
	}
	if len(addresses(list)) > 1 {
		return nil, nil
	}
	said, run := sayRun(list)
	if said != nil {
		addNotes(said, list, run)
	}
	return said, nil
}

// sayRun says how the run ended that counts, and returns its lines.
func sayRun(list []line) (*diagnosis.Installer, []line) {
	run := newestRun(list, works)
	if run == nil {
		run = newestRun(list, gathers)
		return gathered(run), run
	}
	in := readRun(run)
	if !slices.ContainsFunc(run, worksOnCluster) {
		in.ended, in.waitsFor = "made", ""
	}
	said := &diagnosis.Installer{
		Version:  in.version,
		Ended:    in.ended,
		Step:     in.step,
		WaitsFor: in.waitsFor,
		At:       in.at,
		Locator:  run[len(run)-1].Line.Loc.String(),
	}
	if in.ended == "failed" && in.interrupted {
		said.Ended = "interrupted"
	}
	if in.step == "bootstrapped" {
		said.WaitsFor = ""
	}
	if later := newestRun(list, gathers); in.step == "assets" && in.ended != "running" && len(later) > 0 && later[len(later)-1].Line.Time.After(in.at) {
		return gathered(later), later // whose logs it wants was installed meanwhile
	}
	return said, run
}

// gathers reports whether a run is one of `gather bootstrap`, by itself
// (openshift/installer:cmd/openshift-install/gather.go).
func gathers(run []line) bool {
	return !works(run) && slices.ContainsFunc(run, func(l line) bool { return l.id == sigPulls || l.id == sigGathered })
}

// gathered says what came of a run that gathers logs.
func gathered(run []line) *diagnosis.Installer {
	if len(run) == 0 {
		return nil
	}
	said := &diagnosis.Installer{Ended: "gathering", At: run[len(run)-1].Line.Time, Locator: run[len(run)-1].Line.Loc.String()}
	for _, l := range run {
		switch l.id {
		case sigRun:
			said.Version = l.Groups[1]
		case sigGathered:
			said.Ended, said.WaitsFor = "gathered", l.Groups[1]
		case sigFatal:
			said.Ended, said.WaitsFor = "gather-failed", message(l)
		}
	}
	return said
}
