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
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Journal selects the journals of the unit that brings the OS to its image
// (openshift/machine-config-operator:templates/common/_base/units/machine-config-daemon-firstboot.service.yaml).
var Journal = evidence.TextQuery{Kind: evidence.Journal, Unit: "machine-config-daemon-firstboot"}

// PullJournal selects those of the unit before it, which pulls the daemon's image.
var PullJournal = evidence.TextQuery{Kind: evidence.Journal, Unit: "machine-config-daemon-pull"}

// FirstBoot is how far the first boot came.
type FirstBoot struct {
	Waiting  string    `cel:"waiting"`  // the step that systemd waits for at the end: pull, firstboot; "" for none
	Failures int64     `cel:"failures"` // pulls that failed since the last step that was done
	Class    string    `cel:"class"`    // of the last failure: registry-auth, image-missing, policy, registry-tls, dns, network, other
	Error    string    `cel:"error"`
	Done     bool      `cel:"done"`     // the last thing that is seen is its end
	Since    time.Time `cel:"since"`    // the first of these failures, where its line carries a time
	Nameless bool      `cel:"nameless"` // it waits for a name that is not localhost, and has not got one

	NamelessSince time.Time `cel:"namelessSince"` // where the first line of that wait carries a time
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{fact} }

var fact = facts.DefinePlain("host-firstboot", fault.Host, "how far the host came between Ignition and its kubelet",
	[]evidence.Need{evidence.Texts(hosts.Consoles), evidence.Texts(Journal), evidence.Texts(PullJournal), evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.HostConfigs, "")}, read)

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
	sigNameless = "firstboot.nameless"
	sigNamed    = "firstboot.named"
)

// Signatures lists what this package searches texts for
// (containers/image docker/docker_image_src.go newImageSource,
// signature/policy_eval.go; openshift/machine-config-operator:pkg/daemon/daemon.go,
// templates/common/_base/files/usr-local-bin-mco-hostname.yaml).
func Signatures() []scan.Signature { return signatures }

var signatures = []scan.Signature{
	{ID: sigJob, Literal: "start job is running for", Pattern: regexp.MustCompile(`(?i)start job is running for (?:\S+ - )?machine[ -]config[ -]daemon[ -](pull|firstboot)`)},
	{ID: sigPullDone, Literal: "pull", Pattern: regexp.MustCompile(`(?i)finished (?:\S+ - )?machine[ -]config[ -]daemon[ -]pull`)},
	{ID: sigUnitDone, Literal: "firstboot", Pattern: regexp.MustCompile(`(?i)finished (?:\S+ - )?machine[ -]config[ -]daemon[ -]firstboot`)},
	{ID: sigReboot, Literal: "completing firstboot provisioning to"},
	{ID: sigNoReboot, Literal: "skipping reboot since no changes were detected"},
	{ID: sigSource, Literal: "initializing source docker://", Pattern: regexp.MustCompile(`(?i)initializing source docker://\S+: (.*\S)`)},
	{ID: sigImporter, Literal: "failed to invoke skopeo proxy", Pattern: regexp.MustCompile(`(?i)failed to invoke skopeo proxy (.*\S)`)},
	{ID: sigNameless, Literal: "waiting for non-localhost hostname"},
	{ID: sigNamed, Literal: "node identified as "},
	{ID: sigPolicy, Literal: "source image rejected:", Pattern: regexp.MustCompile(`(?i)source image rejected: (.*\S)`)},
}

var classes = []struct {
	class string
	text  *regexp.Regexp
}{
	{"registry-auth", regexp.MustCompile(`(?i)unauthorized|authentication required|denied: `)},
	{"image-missing", regexp.MustCompile(`(?i)manifest unknown|name unknown|not found: manifest`)},
	{"policy", regexp.MustCompile(`(?i)rejected|signature was required`)},
	{"registry-tls", regexp.MustCompile(`(?i)x509:`)},
	{"dns", regexp.MustCompile(`(?i)\blookup \S+|no such host`)},
	{"network", regexp.MustCompile(`(?i)dial tcp|i/o timeout|connection refused|no route to host|proxyconnect|EOF`)},
}

func classOf(text string) string {
	for _, c := range classes {
		if c.text.MatchString(text) {
			return c.class
		}
	}
	return "other"
}

func read(ctx context.Context, w *facts.World, s fault.Subject) (FirstBoot, facts.Proof, error) {
	var b FirstBoot
	var p facts.Proof
	_, joined, nodeErr := w.Get(ctx, evidence.Nodes, "", s.Name)
	if _, ok := evidence.AsUnavailable(nodeErr); nodeErr != nil && !ok {
		return b, p, nodeErr
	}
	var journal []line
	seen := false
	for _, q := range []evidence.TextQuery{PullJournal, Journal} { // in the order in which they run
		lines, some, err := linesOf(ctx, w, q, s.Name)
		if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
			return b, p, err
		}
		journal, seen = append(journal, lines...), seen || some
	}
	finished, loc, err := finishedOnDisk(ctx, w, s.Name)
	if err != nil {
		return b, p, err
	}
	console, _, consoleErr := linesOf(ctx, w, hosts.Consoles, s.Name)
	if consoleErr == nil {
		var given bool
		given, consoleErr = hosts.ConsoleSeen(ctx, w, s.Name)
		seen = seen || given
	}
	if _, ok := evidence.AsUnavailable(consoleErr); consoleErr != nil && !ok {
		return b, p, consoleErr
	}
	switch {
	case !finished.IsZero() && !after(append(journal, console...), finished):
		p.Add(loc, "the unit of the first boot put its input aside", finished, "done")
		return FirstBoot{Done: true}, p, nil
	case seen:
		b.follow(append(journal, console...), &p)
		for _, q := range []evidence.TextQuery{PullJournal, Journal, hosts.Consoles} {
			if err := w.Unheard(ctx, &p, q, hosts.Shows(s.Name), map[string]bool{
				"waiting": b.Waiting == "", "failures": b.Failures == 0, "class": b.Class == "", "error": b.Error == "", "done": !b.Done, "nameless": !b.Nameless,
			}); err != nil {
				return b, p, err
			}
		}
		return b, p, nil
	case joined:
		return b, p, facts.NotApplicable("%s has joined, and no console or journal of its first boot was given", s.Name)
	}
	return b, p, &evidence.Unavailable{Need: evidence.Texts(hosts.Consoles), Why: evidence.NotCollected,
		Detail: "no console or journal of " + s.Name, Supply: "--console " + s.Name + "=FILE"}
}

// after reports whether a line was written after a time, or does not say when: a
// machine that was installed anew has its first boot before it again.
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
		if !hosts.SameName(o.Name, name) {
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

// linesOf returns the host's lines in the order of the texts, and whether there
// were any.
func linesOf(ctx context.Context, w *facts.World, q evidence.TextQuery, name string) ([]line, bool, error) {
	var lines []line
	for _, s := range Signatures() {
		list, err := w.Matches(ctx, q, s.ID)
		if err != nil {
			return nil, false, err
		}
		for _, m := range list {
			if hosts.SameName(cmp.Or(m.Text.Host, hostInLine(m.Line.Text)), name) {
				lines = append(lines, line{m, s.ID})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(strings.Compare(a.Text.Path, b.Text.Path), a.Line.Loc.Line-b.Line.Loc.Line)
	})
	return lines, len(lines) > 0, nil
}

// hostInLine is the host of a journal's line: "Sep 14 14:43:46 HOST unit[1]: ...".
func hostInLine(text string) string {
	if f := strings.Fields(text); len(f) > 4 {
		return f[3]
	}
	return ""
}

// follow plays the lines; what stands at the end counts.
func (b *FirstBoot) follow(lines []line, p *facts.Proof) {
	var wait, failure, end, name *line
	for i := range lines {
		l := &lines[i]
		switch l.id {
		case sigJob:
			b.Waiting, b.Done, wait = strings.ToLower(l.Groups[1]), false, l
		case sigNameless, sigNamed:
			if l.id == sigNamed || !b.Nameless {
				b.NamelessSince = l.Line.Time
			}
			b.Nameless, name = l.id == sigNameless, l
		case sigPullDone:
			*b, wait, failure = FirstBoot{Nameless: b.Nameless, NamelessSince: b.NamelessSince}, nil, nil
		case sigUnitDone, sigReboot, sigNoReboot:
			*b, wait, failure, end = FirstBoot{Done: true, Nameless: b.Nameless, NamelessSince: b.NamelessSince}, nil, nil, l
		default:
			b.Failures++
			b.Done = false
			b.Class, b.Error, failure = classOf(l.Line.Text), cut(l.Groups[1]), l
			if b.Since.IsZero() {
				b.Since = l.Line.Time
			}
		}
	}
	for _, x := range []struct {
		l      *line
		fields []string
	}{{failure, []string{"failures", "class", "error"}}, {wait, []string{"waiting"}}, {end, []string{"done"}}, {name, []string{"nameless", "namelessSince"}}} {
		if x.l != nil {
			p.Add(x.l.Line.Loc, cut(x.l.Line.Text), x.l.Line.Time, x.fields...)
		}
	}
}

func cut(text string) string {
	text = strings.TrimSpace(text)
	const most = 300
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
