// Package installer reads what openshift-install said: which of its steps an
// installation reached, what it waited for, and how it ended.
//
// Invariants:
//   - One log holds several runs. Only the last one that worked on the cluster, or
//     made its files, counts; a later run that gathers logs does not.
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

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// log selects the logs of openshift-install.
var log = evidence.TextQuery{Kind: evidence.Installer}

// Install is the fact install-log.
type Install struct {
	Ended facts.Field[string] `cel:"ended"` // complete, failed, or running: the log has no end
	// the last one: assets, infrastructure, agent, api, bootstrap, bootstrapped, initialize,
	// stable, console, complete
	Step        facts.Field[string]    `cel:"step"`
	WaitsFor    facts.Field[string]    `cel:"waitsFor"`    // the same in words
	Error       facts.Field[string]    `cel:"error"`       // what it logged when it failed
	Reason      facts.Field[string]    `cel:"reason"`      // what it still waited for, in its words
	Cause       facts.Field[string]    `cel:"cause"`       // that its step could not get past, by its last words: see causes; "" for none of these
	CauseText   facts.Field[string]    `cel:"causeText"`   // the words
	GatherError facts.Field[string]    `cel:"gatherError"` // why it could not log in over SSH to gather logs
	Operators   facts.Field[[]string]  `cel:"operators"`   // that it named as not available or degraded
	Overtaken   facts.Field[bool]      `cel:"overtaken"`   // the cluster's installation was completed afterwards
	Interrupted facts.Field[bool]      `cel:"interrupted"` // somebody ended it
	Version     facts.Field[string]    `cel:"version"`     // of openshift-install
	API         facts.Field[string]    `cel:"api"`         // the address that it asked
	Since       facts.Field[time.Time] `cel:"since"`       // when the step began
}

// install is an Install while its run is followed.
type install struct {
	Install
	ended, step, waitsFor, err, reason, version, api string
	cause, causeText, gather                         string
	operators                                        []string
	interrupted                                      bool
	since, at                                        time.Time
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{fact, bootstrapFact} }

var fact = facts.Define("install-log", fault.Cluster, "how far openshift-install came, and how it ended",
	[]evidence.Need{evidence.Texts(log), evidence.Objects(evidence.ClusterVersions, "")}, read)

// The lines that matter. Since 4.10 the error that ends a run may be of level error,
// with the exit code behind it (cmd/openshift-install/create.go runTargetCmd). Each run begins with its version, at level debug, which the
// log always has (openshift/installer:cmd/openshift-install/log.go). The waits are in
// cmd/openshift-install/create.go and, since 4.16, in command/waitfor.go; those of an
// agent install in pkg/agent/waitfor.go.
const (
	sigRun      = "installer.run"
	sigInfra    = "installer.infrastructure"
	sigOldInfra = "installer.terraform" // the same up to 4.0
	sigWait     = "installer.wait"
	sigStill    = "installer.still"
	sigBoot     = "installer.bootstrapped"
	sigDone     = "installer.done"
	sigFatal    = "installer.fatal"
	sigFailed   = "installer.failed"
	sigOperator = "installer.operator"
	sigMade     = "installer.made"
	sigGenerate = "installer.generate"
	sigGather   = "installer.gather"
	sigAgent    = "installer.agent"
	sigStopped  = "installer.stopped"

	sigAgentStatus = "installer.agentstatus"

	sigPulls    = "installer.pulls"
	sigGathered = "installer.gathered"
	sigLine     = "installer.line"
	sigExpired  = "installer.expired"
	sigAPIUp    = "installer.apiup"
	sigConsoles = "installer.consoles"
)

// messages are the lines that this package reads.
var messages = []string{
	sigRun, sigInfra, sigOldInfra, sigWait, sigStill, sigBoot, sigDone, sigFatal, sigFailed, sigOperator, sigMade, sigGenerate, sigGather, sigAgent,
	sigAgentStatus, sigStopped, sigPulls, sigGathered, sigLine,
	sigExpired, sigAPIUp, sigConsoles,
}

// waitSteps maps what is waited for to the step; the first match counts.
var waitSteps = []struct{ mark, step, words string }{
	{"kubernetes api", "api", "the Kubernetes API"},
	{"bootstrapping", "bootstrap", "bootstrapping to complete"},
	{"to initialize", "initialize", "the cluster to initialize"},
	{"finished progressing", "stable", "the operators to finish progressing"},
	{"console", "console", "the route of the console"},
	{"network infrastructure", "infrastructure", "the network infrastructure"},
	{"machines", "infrastructure", "the machines of the control plane"},
}

func read(ctx context.Context, w *facts.World, _ fault.Subject) (Install, error) {
	list, err := lines(ctx, w)
	if _, missing := evidence.AsUnavailable(err); missing {
		return Install{}, withoutLog(ctx, w, err)
	}
	if err != nil {
		return Install{}, err
	}
	if err := w.Gap(ctx, log, nil); err != nil { // the last run and its last line count
		return Install{}, err
	}
	run := lastRun(list)
	if run == nil {
		return Install{}, facts.NotApplicable("no run of openshift-install in the log works on a cluster")
	}
	if apis := addresses(list); len(apis) > 1 {
		return Install{}, &evidence.Unavailable{Need: evidence.Texts(log), Why: evidence.Damaged,
			Detail: "the logs are of several clusters: " + strings.Join(apis, ", "), Supply: evidence.Supply{Kind: evidence.SupplyOneInstall}}
	}
	in := readRun(run)
	at, loc, err := completed(ctx, w)
	if err != nil {
		return Install{}, err
	}
	f := in.fields()
	if at.After(run[0].Line.Time) {
		f.Overtaken.Set(true, evidence.Item{Locator: loc, Excerpt: "the first version was completed", Time: at})
	}
	facts.Complete(&f)
	return f, nil
}

// fields returns what the run shows.
func (in *install) fields() Install {
	f := in.Install
	f.Ended.Set(in.ended)
	f.Step.Set(in.step)
	f.WaitsFor.Set(in.waitsFor)
	f.Error.Set(in.err)
	f.Reason.Set(in.reason)
	f.Cause.Set(in.cause)
	f.CauseText.Set(in.causeText)
	f.GatherError.Set(in.gather)
	f.Operators.Set(in.operators)
	f.Interrupted.Set(in.interrupted)
	f.Version.Set(in.version)
	f.API.Set(in.api)
	f.Since.Set(in.since)
	return f
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
		Supply: evidence.Supply{Kind: evidence.SupplyInstallerLog}}
}

type line struct {
	evidence.Match
	id string
}

// lines returns what matters, in the order of the logs and their lines.
func lines(ctx context.Context, w *facts.World) ([]line, error) {
	var list []line
	for _, id := range messages {
		found, err := w.Matches(ctx, log, id)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			list = append(list, line{m, id})
		}
	}
	slices.SortStableFunc(list, func(a, b line) int {
		return cmp.Or(strings.Compare(a.Line.Loc.Source, b.Line.Loc.Source), strings.Compare(a.Line.Loc.Path, b.Line.Loc.Path), a.Line.Loc.Line-b.Line.Loc.Line)
	})
	return list, nil
}

// lastRun returns the lines of the newest run that worked on a cluster, or that ended
// before it could; nil where the newest one only made files: an installation begins again
// with these.
func lastRun(list []line) []line {
	if run := newestRun(list, works); slices.ContainsFunc(run, worksOnCluster) {
		return run
	}
	return nil
}

// newestRun returns the lines of the newest run that is of a kind; nil where none is.
func newestRun(list []line, kind func([]line) bool) []line {
	var best, run []line
	var newest time.Time
	keep := func() {
		if len(run) > 0 && kind(run) && !run[len(run)-1].Line.Time.Before(newest) {
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
	return slices.ContainsFunc(run, func(l line) bool { return worksOnCluster(l) || l.id == sigMade || l.id == sigGenerate })
}

func worksOnCluster(l line) bool {
	switch l.id {
	case sigInfra, sigOldInfra, sigWait, sigAgent, sigAgentStatus, sigBoot, sigDone:
		return true
	case sigFatal, sigFailed:
		return assetError.MatchString(message(l)) || gaveUpAt(message(l)) != ""
	}
	return false
}

// gaveUp are how runs end that waited for a step, where the log lacks the lines before
// (openshift/installer:cmd/openshift-install/create.go, command/waitfor.go).
var gaveUp = []struct {
	text *regexp.Regexp
	mark string // as in waitSteps
}{
	{regexp.MustCompile(`(?i)^bootstrap failed to complete|^failed to wait for bootstrapping`), "bootstrapping to complete"},
	{regexp.MustCompile(`(?i)^failed waiting for kubernetes api`), "kubernetes api"},
	{regexp.MustCompile(`(?i)^failed to initialize the cluster|^cluster initialization failed|^cluster installation timed out`), "to initialize"},
}

// gaveUpAt returns the mark of the step at which an error ends a run, "" if it does not show one.
func gaveUpAt(text string) string {
	for _, g := range gaveUp {
		if g.text.MatchString(text) {
			return g.mark
		}
	}
	return ""
}

// assetError is how a run ends that could not make what it was asked for, or had no
// kubeconfig to wait with (openshift/installer:pkg/asset/store/store.go fetch,
// cmd/openshift-install/create.go waitForBootstrapComplete).
var assetError = regexp.MustCompile(`^(?:failed to (?:fetch|generate|load) |loading kubeconfig: )`)

// clusterAsset is the asset whose making is that of the infrastructure, in an error
// (openshift/installer:pkg/asset/cluster/cluster.go Name).
var clusterAsset = regexp.MustCompile(`failed to generate asset "Cluster"`)

// causes tells what a step could not get past by what was logged last; the first that
// fits counts.
var causes = []struct {
	cause string
	text  *regexp.Regexp
}{
	{"no-kubeconfig", regexp.MustCompile(`(?i)loading kubeconfig: .*no such file`)},
	{"vcenter-login", regexp.MustCompile(`(?i)cannot complete login due to an incorrect user name or password`)},
	{"certificate-expired", regexp.MustCompile(`(?i)x509: certificate has expired|certificate .*\bexpired\b`)},
	{"name-not-resolved", regexp.MustCompile(`(?i)lookup \S+(?: on \S+)?: (?:no such host|server misbehaving|.*i/o timeout)|no such host`)},
}

func causeOf(text string) string {
	for _, c := range causes {
		if c.text.MatchString(text) {
			return c.cause
		}
	}
	return ""
}

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

// readRun reads the lines of one run.
func readRun(run []line) *install {
	in := &install{ended: "running", step: "assets", waitsFor: "its assets"}
	first := run[0].Line
	facts.Prove(evidence.Item{Locator: first.Loc, Excerpt: message(run[0]), Time: first.Time}, &in.Version)
	for _, l := range run {
		if l.Line.Time.After(in.at) {
			in.at = l.Line.Time
		}
		in.add(l)
	}
	if in.ended != "failed" && in.step == "bootstrapped" {
		in.ended = "complete" // of `wait-for bootstrap-complete`
	}
	return in
}

func (in *install) add(l line) {
	text := message(l)
	item := evidence.Item{Locator: l.Line.Loc, Excerpt: text, Time: l.Line.Time}
	switch l.id {
	case sigRun:
		in.version = l.Groups[1]
	case sigInfra, sigOldInfra:
		in.begin("infrastructure", "the infrastructure", l.Line.Time)
		facts.Prove(item, &in.Step, &in.WaitsFor, &in.Since)
	case sigWait:
		in.wait(l)
		facts.Prove(item, &in.Step, &in.WaitsFor, &in.API, &in.Since)
	case sigAPIUp: // it waits for the bootstrap host next, and says so in its next line
		if in.step == "api" {
			in.beginWait("bootstrapping", l.Line.Time)
			facts.Prove(item, &in.Step, &in.WaitsFor, &in.Since)
		}
	case sigStill:
		in.reason = afterColon(text)
		in.setCause(text, item)
		in.Reason.Prove(item)
	case sigBoot:
		in.begin("bootstrapped", "nothing", l.Line.Time)
		facts.Prove(item, &in.Ended, &in.Step, &in.WaitsFor, &in.Since)
	case sigDone:
		in.begin("complete", "nothing", l.Line.Time)
		in.ended, in.err, in.gather, in.interrupted = "complete", "", "", false
		facts.Prove(item, &in.Ended, &in.Step, &in.WaitsFor, &in.Since)
	case sigAgent, sigAgentStatus:
		in.agentStep(l, text, item)
	case sigStopped:
		if in.ended == "running" {
			in.ended, in.interrupted = "failed", true
			facts.Prove(item, &in.Ended, &in.Interrupted)
		}
	case sigGather:
		in.gather = text
		in.GatherError.Prove(item)
	case sigFatal, sigFailed:
		if !in.fail(text) {
			return
		}
		if in.step == "assets" && clusterAsset.MatchString(text) { // where the log lacks the lines before
			in.begin("infrastructure", "the infrastructure", l.Line.Time)
			facts.Prove(item, &in.Step, &in.WaitsFor, &in.Since)
		}
		if mark := gaveUpAt(text); in.step == "assets" && mark != "" {
			in.beginWait(mark, l.Line.Time)
			facts.Prove(item, &in.Step, &in.WaitsFor, &in.Since)
		}
		in.setCause(text, item)
		facts.Prove(item, &in.Ended, &in.Error, &in.Interrupted)
	case sigOperator:
		if !slices.Contains(in.operators, l.Groups[1]) {
			in.operators = append(in.operators, l.Groups[1])
		}
		in.Operators.Prove(item)
	}
}

func (in *install) begin(step, words string, at time.Time) {
	in.step, in.waitsFor, in.since, in.reason, in.operators, in.cause, in.causeText = step, words, at, "", nil, "", ""
	for _, f := range []interface{ Clear() }{&in.Step, &in.WaitsFor, &in.Since, &in.Reason, &in.Operators, &in.Cause, &in.CauseText} {
		f.Clear()
	}
}

// setCause sets the cause that a line gives. A line without a cause keeps the previous one: the
// last error of a wait only says that it timed out.
func (in *install) setCause(text string, item evidence.Item) {
	if cause := causeOf(text); cause != "" {
		in.cause, in.causeText = cause, text
		facts.Prove(item, &in.Cause, &in.CauseText)
	}
}

func (in *install) wait(l line) {
	in.beginWait(strings.ToLower(l.Groups[1]), l.Line.Time)
	if m := address.FindStringSubmatch(l.Line.Text); m != nil {
		in.api = m[1]
	}
}

// beginWait begins the step that is waited for, as a line names it.
func (in *install) beginWait(what string, at time.Time) {
	for _, w := range waitSteps {
		if strings.Contains(what, w.mark) {
			in.begin(w.step, w.words, at)
			return
		}
	}
}

// fail keeps the first error of a run: what follows repeats it with advice. After the
// installation was completed there is no failure of it.
func (in *install) fail(text string) bool {
	if in.ended == "complete" {
		return false
	}
	if in.ended != "failed" {
		in.err = text
	}
	in.ended = "failed"
	unasked := strings.Contains(text, "failed UserInput") && strings.HasSuffix(text, ": EOF") // there was nobody to answer its question
	in.interrupted = in.interrupted || strings.HasSuffix(text, "interrupt") || strings.Contains(text, "signal: ") || unasked
	return true
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
