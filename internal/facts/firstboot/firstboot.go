// Package firstboot is what a host does between Ignition and its kubelet: it
// pulls the machine-config-daemon's image and brings its OS to the image that
// its config names.
//
// Invariants:
//   - The pull has no limit and no error exit: waiting long is how it fails.
//   - Only a console or a journal of the host says anything about it. A journal
//     of a master is no evidence about a worker.
package firstboot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/facts/pullerror"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// ownJournal selects the journals of the unit that brings the OS to its image
// (openshift/machine-config-operator:templates/common/_base/units/machine-config-daemon-firstboot.service.yaml).
var ownJournal = evidence.TextQuery{Kind: evidence.Journal, Unit: "machine-config-daemon-firstboot"}

// pullJournal selects those of the unit before it, which pulls the daemon's image.
var pullJournal = evidence.TextQuery{Kind: evidence.Journal, Unit: "machine-config-daemon-pull"}

// FirstBoot is how far the first boot came.
type FirstBoot struct {
	Waiting  facts.Field[string]    `cel:"waiting"`  // the step that systemd waits for at the end: pull, firstboot; "" for none
	Failures facts.Field[int64]     `cel:"failures"` // pulls that failed since the last step that was done
	Class    facts.Field[string]    `cel:"class"`    // of the last failure: a pullerror.Cause
	Registry facts.Field[string]    `cel:"registry"` // the host at which it failed, "" where the error does not say
	Error    facts.Field[string]    `cel:"error"`
	Said     facts.Field[string]    `cel:"said"`     // the part of it that says the cause
	Done     facts.Field[bool]      `cel:"done"`     // the last thing that is seen is its end
	Since    facts.Field[time.Time] `cel:"since"`    // the first of these failures, where its line carries a time
	Nameless facts.Field[bool]      `cel:"nameless"` // it waits for a name that is not localhost, and has not got one

	NamelessSince facts.Field[time.Time] `cel:"namelessSince"` // where the first line of that wait carries a time

	OnDisk facts.Field[bool] `cel:"onDisk"` // the host's own disk shows that it is over
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{fact} }

var fact = facts.Define("host-firstboot", fault.Host, "how far the host came between Ignition and its kubelet",
	append(inventory.Needs(), evidence.Texts(ownJournal), evidence.Texts(pullJournal), evidence.Objects(evidence.HostConfigs, "")), Read)

// The lines that matter. Older systemd prints a unit's description, newer its
// name as well.
const (
	sigJob      = "firstboot.job"
	sigPullDone = "firstboot.pull-done"
	sigUnitDone = "firstboot.unit-done"
	sigReboot   = "firstboot.reboot"
	sigNoReboot = "firstboot.no-reboot"
	sigSource   = "firstboot.source"
	sigImporter = "firstboot.importer"
	sigPolicy   = "firstboot.policy"
	sigCopy     = "firstboot.copy"
	sigRebase   = "firstboot.rebase"
	sigNameless = "firstboot.nameless"
	sigNamed    = "firstboot.named"
)

// messages are the lines that this package reads
// (containers/image docker/docker_image_src.go newImageSource, copy/multiple.go,
// signature/policy_eval.go; openshift/machine-config-operator:pkg/daemon/daemon.go,
// templates/common/_base/files/usr-local-bin-mco-hostname.yaml).
var messages = []string{
	sigJob, sigPullDone, sigUnitDone, sigReboot, sigNoReboot, sigSource,
	sigImporter, sigNameless, sigNamed, sigCopy, sigRebase, sigPolicy,
}

// Read computes the fact.
func Read(ctx context.Context, w *facts.World, s fault.Subject) (FirstBoot, error) {
	w.Concerns(inventory.Shows(s.Name))
	node, joined, nodeErr := inventory.Joined(ctx, w, s.Name)
	if _, ok := evidence.AsUnavailable(nodeErr); nodeErr != nil && !ok {
		return FirstBoot{}, nodeErr
	}
	seen, seenErr := linesOfHost(ctx, w, s.Name)
	if _, ok := evidence.AsUnavailable(seenErr); seenErr != nil && !ok {
		return FirstBoot{}, seenErr
	}
	finished, loc, err := finishedOnDisk(ctx, w, s.Name)
	if err != nil {
		return FirstBoot{}, err
	}
	runs, item, runsErr := kubeletRuns(node, w.Now)
	switch {
	case !finished.IsZero() && !after(seen.lines, finished):
		over := done(evidence.Item{Locator: loc, Excerpt: "the unit of the first boot put its input aside", Time: finished})
		over.OnDisk.Set(true, over.Done.Proof()...)
		return over, nil
	case seen.any && joined && runs: // what its first boot wrote is over
		return done(item), nil
	case seen.any && joined && runsErr != nil:
		return FirstBoot{}, runsErr
	case seen.any && nodeErr != nil && mayExist(nodeErr): // it may have joined since
		return FirstBoot{}, nodeErr
	case seen.any:
		for _, q := range []evidence.TextQuery{pullJournal, ownJournal, inventory.Consoles} { // the last line decides
			if err := inventory.CutOff(ctx, w, q, s.Name); err != nil {
				return FirstBoot{}, err
			}
		}
		return readBoot(seen.lines).fields(), nil
	case joined:
		return FirstBoot{}, facts.NotApplicable("%s has joined, and no console or journal of its first boot was given", s.Name)
	}
	return FirstBoot{}, inventory.NoConsole(ctx, w, s.Name, "no console or journal of "+s.Name)
}

// done is a first boot that is over.
func done(item evidence.Item) FirstBoot {
	var f FirstBoot
	facts.Complete(&f)
	f.Done.Set(true)
	facts.Prove(item, &f.Waiting, &f.Failures, &f.Class, &f.Registry, &f.Error, &f.Said, &f.Done, &f.Since, &f.Nameless, &f.NamelessSince)
	return f
}

// reportsWithin is how long a kubelet that runs leaves between two reports
// (kubernetes/kubernetes:pkg/kubelet/apis/config/v1beta1/defaults.go NodeStatusReportFrequency,
// pkg/kubelet/kubelet_node_status.go calculateDelay).
const reportsWithin = 10 * time.Minute

// kubeletRuns reports whether the kubelet of a Node runs: it is Ready and its daemon Done, or
// it has reported just now. A first boot that has not ended holds the kubelet back, and of a
// host that is installed again under the same name the Node is Unknown
// (openshift/machine-config-operator:templates/common/_base/units/machine-config-daemon-firstboot.service.yaml).
func kubeletRuns(o evidence.Object, now time.Time) (bool, evidence.Item, error) {
	ready := conditions.Find(conditions.Of(o), "Ready")
	state := o.Annotation(openshift.ConfigStateAnnotation)
	beat := ready.Beat
	item := o.Shows("status.conditions[Ready]", fmt.Sprintf("Node %s: Ready is %s, its machine-config-daemon is %s", o.Name, ready.Status,
		cmp.Or(state, "silent")), beat)
	switch {
	case ready.Status == "True" && state == "Done":
		return true, item, nil
	case (ready.Status == "True" || ready.Status == "False") && !beat.IsZero() && now.Sub(beat) < reportsWithin:
		return true, item, nil
	case o.Part() && ready.Status != "Unknown" && (ready.Status == "" || beat.IsZero()):
		return false, item, o.NotShown("the time of its last report")
	}
	return false, item, nil
}

// mayExist reports whether what could not be read may exist.
func mayExist(err error) bool {
	u, ok := evidence.AsUnavailable(err)
	return ok && (u.Why.MayHideObjects() || u.Fields)
}

// texts is what a host's journals and console show.
type texts struct {
	lines []line
	any   bool // a journal's line or a console of the host was given
}

// linesOfHost returns what was found, also where a part could not be read.
func linesOfHost(ctx context.Context, w *facts.World, name string) (texts, error) {
	var t texts
	var failed error
	for _, q := range []evidence.TextQuery{pullJournal, ownJournal, inventory.Consoles} { // in the order in which they run
		lines, err := linesOf(ctx, w, q, name)
		if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
			return t, err
		}
		failed = cmp.Or(failed, err)
		t.lines, t.any = append(t.lines, lines...), t.any || len(lines) > 0
	}
	given, err := inventory.ConsoleSeen(ctx, w, name)
	t.any = t.any || given
	return t, cmp.Or(failed, err)
}

// after reports whether a line was written after a time, or does not say when: a
// machine that was installed again has its first boot before it again.
func after(lines []line, t time.Time) bool {
	return slices.ContainsFunc(lines, func(l line) bool { return l.Line.Time.IsZero() || l.Line.Time.After(t) })
}

// finishedOnDisk returns when the machine's first boot has finished, as its disk
// shows, zero where it does not: the unit put its input aside (openshift/machine-config-operator:
// pkg/daemon/constants/constants.go MachineConfigEncapsulatedBakPath).
func finishedOnDisk(ctx context.Context, w *facts.World, name string) (time.Time, evidence.Locator, error) {
	var never time.Time
	list, err := w.List(ctx, evidence.HostConfigs, "")
	if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
		return never, evidence.Locator{}, err
	}
	for _, o := range list {
		if !inventory.SameName(o.Name, name) {
			continue
		}
		c, err := evidence.Decode[onhost.Config](o)
		if err != nil {
			return never, evidence.Locator{}, err
		}
		if c.EncapsulatedBak.Exists && !c.Encapsulated.Exists && c.Encapsulated.Error == "" {
			loc := o.Loc
			loc.Path = c.EncapsulatedBak.Path
			return c.EncapsulatedBak.Modified, loc, nil
		}
	}
	return never, evidence.Locator{}, nil
}

type line struct {
	evidence.Match
	id string
}

// linesOf returns the host's lines in the order of the texts.
func linesOf(ctx context.Context, w *facts.World, q evidence.TextQuery, name string) ([]line, error) {
	var lines []line
	for _, id := range messages {
		list, err := w.Matches(ctx, q, id)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if inventory.SameName(cmp.Or(m.Text.Host, hostInLine(m.Line.Text)), name) {
				lines = append(lines, line{m, id})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(strings.Compare(a.Text.Path, b.Text.Path), a.Line.Loc.Line-b.Line.Loc.Line)
	})
	return lines, nil
}

// hostInLine is the host of a journal's line.
func hostInLine(text string) string {
	host, _, ok := journal.Head([]byte(text[:min(len(text), longestHead)]))
	if f := strings.Fields(text); !ok && len(f) > 4 {
		return f[3]
	}
	return string(host)
}

// longestHead bounds what is read of a line to find its host: a time and a DNS name.
const longestHead = 400

// boot is a FirstBoot while its lines are followed.
type boot struct {
	waiting, err             string
	pull                     pullerror.Error
	failures                 int64
	nameless                 bool
	since, namelessSince     time.Time
	wait, failure, end, name *line // the lines that show it
}

// readBoot reads the lines in order; the last state counts.
func readBoot(lines []line) boot {
	var b boot
	for i := range lines {
		l := &lines[i]
		switch l.id {
		case sigJob:
			b.waiting, b.end, b.wait = strings.ToLower(l.Groups[1]), nil, l
		case sigNameless, sigNamed:
			if l.id == sigNamed || !b.nameless {
				b.namelessSince = l.Line.Time
			}
			b.nameless, b.name = l.id == sigNameless, l
		case sigPullDone:
			b = boot{nameless: b.nameless, namelessSince: b.namelessSince, name: b.name}
		case sigUnitDone, sigReboot, sigNoReboot:
			b = boot{end: l, nameless: b.nameless, namelessSince: b.namelessSince, name: b.name}
		default:
			if b.failure == nil || b.failure.Text.Path != l.Text.Path || b.failure.Line.Loc.Line != l.Line.Loc.Line {
				b.failures++ // and not again where a line has two signatures
			}
			b.pull, _ = pullerror.Parse(l.Line.Text)
			b.err, b.failure, b.end = excerpt.Around(l.Groups[1], b.pull.Said), l, nil
			if b.since.IsZero() {
				b.since = l.Line.Time
			}
		}
	}
	return b
}

// fields returns what the lines show.
func (b boot) fields() FirstBoot {
	var f FirstBoot
	item := func(l *line) evidence.Item {
		return evidence.Item{Locator: l.Line.Loc, Excerpt: excerpt.Of(l.Line.Text), Time: l.Line.Time}
	}
	if b.failure != nil {
		failure := item(b.failure)
		failure.Excerpt = excerpt.Around(b.failure.Line.Text, b.pull.Said)
		f.Failures.Set(b.failures, failure)
		f.Class.Set(string(b.pull.Cause), failure)
		f.Registry.Set(b.pull.Host, failure)
		f.Error.Set(b.err, failure)
		f.Said.Set(b.pull.Said, failure)
		f.Since.Set(b.since)
	}
	if b.wait != nil {
		f.Waiting.Set(b.waiting, item(b.wait))
	}
	if b.end != nil {
		f.Done.Set(true, item(b.end))
	}
	if b.name != nil {
		f.Nameless.Set(b.nameless, item(b.name))
		f.NamelessSince.Set(b.namelessSince, item(b.name))
	}
	facts.Complete(&f)
	return f
}
