// Package installer reads what openshift-install said: which of its steps an
// installation reached, what it waited for, and how it ended.
//
// Invariants:
//   - Several runs stand behind each other in one log. Only the last one that
//     worked on the cluster counts; a later run that gathers logs does not.
//   - A log that ends without an end is an installer that still runs, or was
//     killed. It is no failure.
//   - What the installer waited for is a symptom. It never knows the cause.
package installer

import (
	"cmp"
	"context"

	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Log selects the logs of openshift-install.
var Log = evidence.TextQuery{Kind: evidence.Installer}

// Install is the fact install-log.
type Install struct {
	Ended       string    `cel:"ended"`       // complete, failed, or running: the log has no end
	Step        string    `cel:"step"`        // the last one: assets, infrastructure, api, bootstrap, initialize, stable, console
	WaitsFor    string    `cel:"waitsFor"`    // the same in words
	Error       string    `cel:"error"`       // what it said when it failed
	Reason      string    `cel:"reason"`      // what it still waited for, in its words
	Operators   []string  `cel:"operators"`   // that it named as not available or degraded
	Overtaken   bool      `cel:"overtaken"`   // the cluster's installation was completed afterwards
	Interrupted bool      `cel:"interrupted"` // somebody ended it
	Version     string    `cel:"version"`     // of openshift-install
	API         string    `cel:"api"`         // the address that it asked
	Since       time.Time `cel:"since"`       // when the step began
	At          time.Time `cel:"at"`          // when it ended, else when it last said what counts
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{fact, bootstrapFact} }

var fact = facts.DefinePlain("install-log", fault.Cluster, "how far openshift-install came, and how it ended",
	[]evidence.Need{evidence.Texts(Log), evidence.Objects(evidence.ClusterVersions, "")}, read)

// The lines that matter. Since 4.10 the error that ends a run may be of level error,
// with the exit code behind it (cmd/openshift-install/create.go runTargetCmd). Each run begins with its version, at level debug, which the
// log always has (openshift/installer:cmd/openshift-install/log.go). The waits are in
// cmd/openshift-install/create.go and, since 4.16, in command/waitfor.go; those of an
// agent install in pkg/agent/waitfor.go.
const (
	sigRun      = "installer.run"
	sigInfra    = "installer.infrastructure"
	sigWait     = "installer.wait"
	sigStill    = "installer.still"
	sigBoot     = "installer.bootstrapped"
	sigDone     = "installer.done"
	sigFatal    = "installer.fatal"
	sigFailed   = "installer.failed"
	sigOperator = "installer.operator"
)

// Signatures lists what this package searches texts for.
func Signatures() []scan.Signature { return signatures }

var signatures = []scan.Signature{
	{ID: sigRun, Literal: "openshift installer ", Pattern: regexp.MustCompile(`(?i)msg="openshift installer (\S+?)"`)},
	{ID: sigInfra, Literal: "creating infrastructure resources"},
	{ID: sigWait, Literal: "waiting up to ", Pattern: regexp.MustCompile(`(?i)waiting up to \S+ (?:\(until [^)]*\) )?(?:for|to) (.*)`)},
	{ID: sigStill, Literal: "still waiting for "},
	{ID: sigBoot, Literal: "bootstrap", Pattern: regexp.MustCompile(`(?i)safe to remove the bootstrap resources|cluster bootstrap is complete`)},
	{ID: sigDone, Literal: "install", Pattern: regexp.MustCompile(`(?i)msg="(?:install complete!|cluster is installed)"`)},
	{ID: sigFatal, Literal: "level=fatal"},
	{ID: sigFailed, Literal: "level=error", Pattern: regexp.MustCompile(`(?i)msg="failed to (?:fetch|generate|load) |bootstrap failed to complete|failed waiting for kubernetes api|failed to wait for bootstrapping|failed to initialize the cluster|cluster initialization failed|cluster installation timed out|operators were not stable|infrastructure provisioning failed|failed to provision`)},
	{ID: sigOperator, Literal: "cluster operator ", Pattern: regexp.MustCompile(`(?i)cluster operator (\S+) (?:degraded is true|available is false)`)},
}

// waits tells the steps apart by what is waited for; the first that fits counts.
var waits = []struct{ mark, step, words string }{
	{"kubernetes api", "api", "the Kubernetes API"},
	{"bootstrapping", "bootstrap", "bootstrapping to complete"},
	{"to initialize", "initialize", "the cluster to initialize"},
	{"finished progressing", "stable", "the operators to finish progressing"},
	{"console", "console", "the route of the console"},
	{"network infrastructure", "infrastructure", "the network infrastructure"},
	{"machines", "infrastructure", "the machines of the control plane"},
}

func read(ctx context.Context, w *facts.World, _ fault.Subject) (Install, facts.Proof, error) {
	var p facts.Proof
	list, err := lines(ctx, w)
	if _, missing := evidence.AsUnavailable(err); missing {
		return Install{}, p, withoutLog(ctx, w, err)
	}
	if err != nil {
		return Install{}, p, err
	}
	cut := w.Cut(ctx, Log, nil)
	if _, ok := evidence.AsUnavailable(cut); cut != nil && !ok {
		return Install{}, p, cut
	}
	run := lastRun(list)
	if run == nil && cut != nil {
		return Install{}, p, cut
	}
	if run == nil {
		return Install{}, p, facts.NotApplicable("no run of openshift-install in the log works on a cluster")
	}
	if apis := addresses(list); len(apis) > 1 {
		return Install{}, p, &evidence.Unavailable{Need: evidence.Texts(Log), Why: evidence.Damaged,
			Detail: "the logs are of several clusters: " + strings.Join(apis, ", "), Supply: "--from with the log of one of them"}
	}
	in := follow(run, &p)
	if cut != nil && in.Ended != "failed" { // what ended it may stand in the rest
		p.Miss("ended", cut)
	}
	err = in.overtake(ctx, w, run, &p)
	return in, p, err
}

// completed returns when the cluster's first version was completed. Where that
// cannot be read the log stands for itself.
func completed(ctx context.Context, w *facts.World) (at time.Time, loc evidence.Locator, err error) {
	o, _, err := w.Get(ctx, evidence.ClusterVersions, "", "version")
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return at, loc, err
	}
	history, _ := evidence.Field(o.Content, "status", "history").([]any)
	for _, h := range history { // newest first
		if m, _ := h.(map[string]any); evidence.String(m, "state") == "Completed" {
			at, loc = evidence.Time(m, "completionTime"), o.Loc.At("status.history")
		}
	}
	return at, loc, nil
}

func (in *Install) overtake(ctx context.Context, w *facts.World, run []line, p *facts.Proof) error {
	at, loc, err := completed(ctx, w)
	if err != nil {
		return err
	}
	if in.Overtaken = at.After(run[0].Line.Time); in.Overtaken {
		p.Add(loc, "the first version was completed", at, "overtaken")
	}
	return nil
}

// withoutLog says that nothing is missing where the installation has long finished.
func withoutLog(ctx context.Context, w *facts.World, missing error) error {
	at, _, err := completed(ctx, w)
	if err != nil {
		return err
	}
	if !at.IsZero() {
		return facts.NotApplicable("the installation has finished, and no log of openshift-install was given")
	}
	u, _ := evidence.AsUnavailable(missing)
	return &evidence.Unavailable{Need: u.Need, Why: u.Why, Detail: "no log of openshift-install was given",
		Supply: "--from DIR/.openshift_install.log, of the directory that openshift-install ran in"}
}

// Say tells of an installation whose cluster cannot be asked; nil where no log works
// on one.
func Say(ctx context.Context, w *facts.World) (*fault.Installer, error) {
	list, err := lines(ctx, w)
	if err != nil {
		return nil, err
	}
	run := lastRun(list)
	if run == nil || len(addresses(list)) > 1 {
		return nil, nil
	}
	in := follow(run, new(facts.Proof))
	said := &fault.Installer{Ended: in.Ended, WaitsFor: in.WaitsFor, At: in.At, Locator: run[len(run)-1].Line.Loc.String()}
	if in.Ended == "failed" && in.Interrupted {
		said.Ended = "interrupted"
	}
	if in.Step == "bootstrapped" && !slices.ContainsFunc(run, func(l line) bool { return l.id == sigDone }) {
		said.WaitsFor = ""
	}
	return said, nil
}

type line struct {
	evidence.Match
	id string
}

// lines returns what matters, in the order of the logs and their lines.
func lines(ctx context.Context, w *facts.World) ([]line, error) {
	var list []line
	for _, s := range signatures {
		found, err := w.Matches(ctx, Log, s.ID)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			list = append(list, line{m, s.ID})
		}
	}
	slices.SortStableFunc(list, func(a, b line) int {
		return cmp.Or(strings.Compare(a.Line.Loc.Source, b.Line.Loc.Source), strings.Compare(a.Line.Loc.Path, b.Line.Loc.Path), a.Line.Loc.Line-b.Line.Loc.Line)
	})
	return list, nil
}

// lastRun returns the lines of the newest run that worked on a cluster, or that ended
// before it could.
func lastRun(list []line) []line {
	var best, run []line
	var newest time.Time
	keep := func() {
		if len(run) > 0 && works(run) && !run[len(run)-1].Line.Time.Before(newest) {
			best, newest = run, run[len(run)-1].Line.Time
		}
	}
	for i, l := range list {
		if i > 0 && (l.id == sigRun || l.Line.Loc.Path != list[i-1].Line.Loc.Path) {
			keep()
			run = nil
		}
		run = append(run, l)
	}
	keep()
	return best
}

// works reports whether a run is one of creating or waiting for a cluster, or of
// making what that needs; gathering and destroying are not.
func works(run []line) bool {
	return slices.ContainsFunc(run, func(l line) bool {
		switch l.id {
		case sigInfra, sigWait, sigBoot, sigDone:
			return true
		case sigFatal, sigFailed:
			return assetError.MatchString(message(l))
		}
		return false
	})
}

// assetError is how a run ends that could not make what it was asked for
// (openshift/installer:pkg/asset/store/store.go fetch).
var assetError = regexp.MustCompile(`^failed to (?:fetch|generate|load) `)

var address = regexp.MustCompile(`https://(\S+?:\d+)`)

// addresses returns the APIs that the logs name.
func addresses(list []line) []string {
	var found []string
	for _, l := range list {
		if l.id != sigWait {
			continue
		}
		if m := address.FindStringSubmatch(l.Line.Text); m != nil && !slices.Contains(found, m[1]) {
			found = append(found, m[1])
		}
	}
	slices.Sort(found)
	return found
}

// follow goes through one run.
func follow(run []line, p *facts.Proof) Install {
	in := Install{Ended: "running", Step: "assets", WaitsFor: "its assets"}
	for _, l := range run {
		if l.Line.Time.After(in.At) {
			in.At = l.Line.Time
		}
		text := message(l)
		show := func(fields ...string) { p.Add(l.Line.Loc, text, l.Line.Time, fields...) }
		switch l.id {
		case sigRun:
			in.Version = l.Groups[1]
		case sigInfra:
			in.begin("infrastructure", "the infrastructure", l.Line.Time)
		case sigWait:
			in.wait(l)
			show("step", "waitsFor", "api", "since")
		case sigStill:
			in.Reason = afterColon(text)
		case sigBoot:
			in.begin("bootstrapped", "nothing", l.Line.Time)
		case sigDone:
			in.Ended, in.Error, in.Reason = "complete", "", ""
			show("ended")
		case sigFatal, sigFailed:
			in.fail(text)
			show("ended", "error", "interrupted")
		case sigOperator:
			if !slices.Contains(in.Operators, l.Groups[1]) {
				in.Operators = append(in.Operators, l.Groups[1])
			}
			show("operators")
		}
	}
	if in.Ended != "failed" && in.Step == "bootstrapped" {
		in.Ended = "complete" // of `wait-for bootstrap-complete`
	}
	return in
}

func (in *Install) begin(step, words string, at time.Time) {
	in.Step, in.WaitsFor, in.Since, in.Reason, in.Operators = step, words, at, "", nil
}

func (in *Install) wait(l line) {
	what := strings.ToLower(l.Groups[1])
	for _, w := range waits {
		if strings.Contains(what, w.mark) {
			in.begin(w.step, w.words, l.Line.Time)
			break
		}
	}
	if m := address.FindStringSubmatch(l.Line.Text); m != nil {
		in.API = m[1]
	}
}

// fail keeps the first error of a run: what follows repeats it with advice.
func (in *Install) fail(text string) {
	if in.Ended != "failed" {
		in.Error = text
	}
	in.Ended = "failed"
	in.Interrupted = in.Interrupted || strings.HasSuffix(text, "interrupt") || strings.Contains(text, "signal: ")
}

var msg = regexp.MustCompile(`msg=("(?:[^"\\]|\\.)*"$|.*)`)

// message returns what a line says, without time and level. Where a secret was at its
// end the closing quote went with it.
func message(l line) string {
	m := msg.FindStringSubmatch(l.Line.Text)
	if m == nil {
		return l.Line.Text
	}
	if text, err := strconv.Unquote(m[1]); err == nil {
		return strings.TrimSpace(text)
	}
	return strings.Trim(m[1], `"`)
}

func afterColon(text string) string {
	_, reason, _ := strings.Cut(text, ": ")
	return reason
}
