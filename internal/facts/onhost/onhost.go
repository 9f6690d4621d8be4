// Package onhost computes facts about one machine from what it tells of itself:
// the kubelet's identity files, units, the machine-config-daemon's files, the clock,
// names, containers and disks (internal/source/onhost).
//
// Invariants:
//   - Where rollcall-host was not run on a machine whose Node is Ready, the facts are not
//     applicable: a machine that works is not checked by hand. Where the Node is not
//     Ready, or there is none, they are unknown, and say what would supply them.
//   - A file that could not be read makes its fields unknown; it is not a file that
//     is not there.
//   - What the machine says of time is by its own clock: host-clock tells what that
//     is worth.
package onhost

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Facts lists the facts of this area.
func Facts() []facts.Fact {
	return []facts.Fact{identityFact, unitsFact, configFact, clockFact, namesFact, containersFact, disksFact}
}

// Faults are the ids of the faults that one machine alone can show: those about hosts that use what the machine reports of
// itself, or its journals. known are the facts of the program.
func Faults(c *fault.Catalog, known []facts.Fact) []string {
	own := map[string]bool{}
	for _, f := range Facts() {
		own[f.Name] = true
	}
	for _, f := range known {
		if slices.ContainsFunc(f.Needs, func(n evidence.Need) bool { return n.Text.Kind == evidence.Journal }) {
			own[f.Name] = true
		}
	}
	var ids []string
	for _, f := range c.Faults {
		for _, g := range f.Given {
			if f.For == fault.Host && own[g.Fact] {
				ids = append(ids, f.ID)
				break
			}
		}
	}
	return ids
}

func needs(r evidence.Resource) []evidence.Need {
	list := inventory.Needs()
	if n := evidence.Objects(r, ""); !slices.Contains(list, n) {
		list = append(list, n)
	}
	return list
}

// readPart returns one part of what rollcall-host collected on a machine.
func readPart[T any](ctx context.Context, w *facts.World, r evidence.Resource, s fault.Subject) (T, evidence.Locator, error) {
	var none T
	h, ok, err := inventory.Find(ctx, w, s.Name)
	if err != nil {
		return none, evidence.Locator{}, err
	}
	if !ok {
		return none, evidence.Locator{}, facts.NotApplicable("there is no host %s", s.Name)
	}
	list, err := w.Some(ctx, r, "")
	if _, missing := evidence.AsUnavailable(err); err != nil && !missing {
		return none, evidence.Locator{}, err
	}
	for _, o := range list {
		if o.Name == h.OnHost {
			v, err := evidence.Decode[T](o)
			return v, o.Loc, err
		}
	}
	switch {
	case h.OnHost != "" && err != nil:
		return none, evidence.Locator{}, err // somebody looked, and this could not be read
	case h.Named != nil && h.Named.By == namedhost.SSH: // it was asked, whatever the API says of its Node
		return none, evidence.Locator{}, &evidence.Unavailable{Need: evidence.Objects(r, ""), Why: evidence.Unreachable,
			Detail: s.Name + " gave no answer over ssh", Supply: evidence.Supply{Kind: evidence.SupplyOnHost, Host: s.Name}}
	case ready(h):
		return none, evidence.Locator{}, facts.NotApplicable("rollcall-host was not run on %s, and its Node is Ready", s.Name)
	}
	return none, evidence.Locator{}, &evidence.Unavailable{Need: evidence.Objects(r, ""), Why: evidence.NotAsked,
		Detail: "rollcall-host was not run on " + s.Name, Supply: evidence.Supply{Kind: evidence.SupplyOnHost, Host: s.Name}}
}

func ready(h inventory.Host) bool {
	if h.Node == nil {
		return false
	}
	return slices.ContainsFunc(h.Node.API.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// unread makes fields unknown because a file could not be read.
func unread(r evidence.Resource, path, why string, fields ...facts.Setter) {
	_ = facts.Miss(&evidence.Unavailable{
		Need:   evidence.Objects(r, ""),
		Why:    evidence.Forbidden,
		Detail: path + ": " + why,
		Supply: evidence.Supply{Kind: evidence.SupplyHostRoot},
	}, fields...)
}

// notCopied leaves fields unknown: a copy of a machine's files does not have the file that tells them.
func notCopied(id *onhost.Identity, file *onhost.File, fields ...facts.Setter) {
	_ = facts.Miss(&evidence.Unavailable{
		Need: evidence.Objects(evidence.HostIdentities, ""), Why: evidence.NotCollected, Detail: file.Path + ": " + file.NotCopied,
		Supply: evidence.Supply{Kind: evidence.SupplyHostCopy, Host: id.Hostname, Path: path.Dir(file.Path)},
	}, fields...)
}

// shows is what the machine says in one of its files or commands.
func shows(loc evidence.Locator, path, said string, when time.Time) evidence.Item {
	return evidence.Item{Locator: at(loc, path), Excerpt: said, Time: when}
}

// at is the place of a file on the machine, of which rollcall-host makes an object with others. Who
// made an archive of another kind put each answer into a file of its own: it is that file.
func at(loc evidence.Locator, path string) evidence.Locator {
	if strings.HasPrefix(loc.Source, evidence.HostSource) || strings.Contains(loc.Path, "/"+evidence.ProbeGroup+"/") {
		loc.Path = path
	}
	return loc
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
