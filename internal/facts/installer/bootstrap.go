package installer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/pullerror"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Bootstrap is the fact bootstrap-services: what the bootstrap host got done. Its
// services build on each other; what counts is the first that has not ended well.
type Bootstrap struct {
	Service    facts.Field[string]    `cel:"service"`    // that one; "" where bootkube has ended well, or none is known to be begun
	Stage      facts.Field[string]    `cel:"stage"`      // the one that it does not get past; "" outside of stages
	What       facts.Field[string]    `cel:"what"`       // both in words, with the error
	Waits      facts.Field[bool]      `cel:"waits"`      // the stage waits for something else: etcd, the control plane
	Failures   facts.Field[int64]     `cel:"failures"`   // how often it failed there without a success since
	Error      facts.Field[string]    `cel:"error"`      // what the unit's journal said when it failed last
	Since      facts.Field[time.Time] `cel:"since"`      // of failures the first, else when the stage or the service began
	NeverRan   facts.Field[string]    `cel:"neverRan"`   // a service that has to run and has no record, though what it builds on has ended well
	Passed     facts.Field[string]    `cel:"passed"`     // the stage with whose success the records of bootkube end, if little is left after it; "" otherwise
	Ran        facts.Field[[]string]  `cel:"ran"`        // services that began
	Unresolved facts.Field[[]string]  `cel:"unresolved"` // of api and api-int: names that were not resolved when they were last looked up
	Overtaken  facts.Field[bool]      `cel:"overtaken"`  // the cluster's installation was completed afterwards
}

// progress is a Bootstrap while the records are followed.
type progress struct {
	service, stage, what, err, neverRan string
	passed                              string
	waits                               bool
	failures                            int64
	since                               time.Time
	ran, unresolved                     []string
	proof, lookups                      []evidence.Item // of the service; of the names
}

var bootstrapNeed = evidence.Objects(evidence.BootstrapServices, "")

var bootstrapFact = facts.Define("bootstrap-services", fault.Cluster, "how far the services of the bootstrap host came",
	[]evidence.Need{bootstrapNeed, evidence.Objects(evidence.ClusterVersions, "")}, readBootstrap)

// chain is the order in which the services build on each other
// (openshift/installer:data/data/bootstrap/systemd, Requires= and After=); required are
// those without which the installer itself calls the bootstrap failed
// (openshift/installer:pkg/gather/service/analyze.go analyzeGatherBundle). Of the
// others one that has no record says nothing: not every release has it, or lets it
// write records.
var (
	chain    = []string{"node-image-pull", "release-image", "release-image-pivot", "crio-configure", "kubelet", bootkube}
	required = []string{"release-image", bootkube}
)

const bootkube = "bootkube"

func readBootstrap(ctx context.Context, w *facts.World, _ fault.Subject) (Bootstrap, error) {
	list, err := w.List(ctx, evidence.BootstrapServices, "")
	if _, missing := evidence.AsUnavailable(err); missing && len(list) == 0 {
		return Bootstrap{}, withoutBundle(ctx, w, err)
	}
	if err != nil {
		return Bootstrap{}, err
	}
	if len(list) == 0 { // a collection of a run that met none
		return Bootstrap{}, withoutBundle(ctx, w, evidence.NotOnBootstrap(bootstrapNeed))
	}
	runs := map[string]*service{}
	b := progress{ran: []string{}, unresolved: []string{}}
	var last time.Time
	for _, o := range list {
		s := followRecords(o)
		runs[o.Name] = s
		if s.began {
			b.ran = append(b.ran, o.Name)
		}
		if s.last.After(last) {
			last = s.last
		}
	}
	if err := b.held(runs, w.Now); err != nil {
		return Bootstrap{}, err
	}
	at, loc, err := completed(ctx, w)
	if err != nil {
		return Bootstrap{}, err
	}
	f := b.fields(list[0].Loc)
	if overtaken := !at.IsZero() && !at.Before(last); overtaken {
		f.Overtaken.Set(true, evidence.Item{Locator: loc, Excerpt: "the first version was completed", Time: at})
	} else {
		f.Overtaken.Set(false)
	}
	return f, nil
}

// OnBootstrap reads what the bootstrap host got done, as the fact bootstrap-services does.
func OnBootstrap(ctx context.Context, w *facts.World) (Bootstrap, error) {
	return readBootstrap(ctx, w, fault.Subject{Kind: fault.Cluster})
}

// fields returns what the records show.
func (b *progress) fields(services evidence.Locator) Bootstrap {
	var f Bootstrap
	ran := evidence.Item{Locator: services, Excerpt: "services that began: " + strings.Join(b.ran, ", ")}
	if len(b.proof) == 0 {
		b.proof = []evidence.Item{ran}
	}
	f.Service.Set(b.service, b.proof...)
	f.Stage.Set(b.stage, b.proof...)
	f.What.Set(b.what, b.proof...)
	f.Waits.Set(b.waits, b.proof...)
	f.Failures.Set(b.failures, b.proof...)
	f.Error.Set(b.err, b.proof...)
	f.Since.Set(b.since, b.proof...)
	f.NeverRan.Set(b.neverRan, b.proof...)
	f.Passed.Set(b.passed, b.proof...)
	f.Ran.Set(b.ran, ran)
	f.Unresolved.Set(b.unresolved, b.lookups...)
	return f
}

// withoutBundle says that nothing is missing where the installation has long finished.
func withoutBundle(ctx context.Context, w *facts.World, missing error) error {
	at, _, err := completed(ctx, w)
	if err != nil {
		return err
	}
	if !at.IsZero() {
		return facts.NotApplicable("the installation has finished, and no log bundle of the bootstrap host was given")
	}
	return missing
}

// held finds the first service that has not ended well.
func (b *progress) held(runs map[string]*service, now time.Time) error {
	if s := runs[bootkube]; s != nil && s.done {
		b.lookUps(s)
		b.show(s, "bootkube ended in success", s.last)
		return nil
	}
	var before *service
	for i, name := range chain {
		s := runs[name]
		switch {
		case s != nil && s.damage != "":
			return &evidence.Unavailable{Need: bootstrapNeed, Why: evidence.Damaged,
				Detail: s.object.Loc.Path + ": " + s.damage, Supply: evidence.Supply{Kind: evidence.SupplyGatherBootstrap}}
		case s == nil || !s.began:
			if slices.Contains(required, name) && !slices.ContainsFunc(chain[i:], func(n string) bool { return runs[n] != nil && runs[n].began }) {
				return b.noRecord(name, before, runs)
			}
			continue
		case s.done, s.endless() && s.failing(now) == nil:
			before = s
			continue
		}
		b.lookUps(runs[bootkube])
		if name == bootkube && s.atLast(now) {
			b.since, b.passed = s.last, s.passed
			b.show(s, "bootkube passed stage "+s.passed, s.last)
			return nil
		}
		b.at(s, s.failing(now))
		return nil
	}
	return nil
}

// noRecord notes a service that has no record. Where that is the first of all, the
// others that have one show since when the host is up. Where journals stand for the records, its own may only be missing.
func (b *progress) noRecord(name string, before *service, runs map[string]*service) error {
	for _, s := range runs {
		if s.ofJournal {
			return &evidence.Unavailable{Need: bootstrapNeed, Why: evidence.NotCollected,
				Detail: "no journal and no record shows whether " + name + ".service began", Supply: evidence.Supply{Kind: evidence.SupplyBootstrapJournal}}
		}
	}
	b.neverRan = name
	if before != nil {
		b.since = before.last
		b.show(before, before.object.Name+" ended in success, and there is no record of "+name+".service", b.since)
		return nil
	}
	var first *service
	for _, s := range runs {
		if first == nil || s.since.Before(first.since) || s.since.Equal(first.since) && s.object.Name < first.object.Name {
			first = s
		}
	}
	b.since = first.since
	b.show(first, "there is no record of "+name+".service beside this", b.since)
	return nil
}

// at fills in the state of a service. failing is nil where it has not failed.
func (b *progress) at(s *service, failing *stage) {
	b.service, b.since = s.object.Name, s.since
	if failing == nil {
		if s.open != nil {
			b.stage, b.since = s.open.name, s.open.began
		}
		b.notPast()
		b.show(s, fmt.Sprintf("%s began and has not ended", cmp.Or(b.stage, b.service)), b.since)
		return
	}
	b.stage, b.failures, b.since = failing.name, failing.failures, failing.failed
	b.err = cmp.Or(errorLine(failing.message), "no message was recorded")
	switch {
	case waiting(b.stage):
		b.since = failing.began
		b.notPast()
	case failing.command:
		b.what = b.service + " in its command " + b.stage + ": " + b.err
	case b.stage != "":
		b.what = b.service + " in stage " + b.stage + ": " + b.err
	default:
		b.what = b.service + " outside of its stages: " + b.err
	}
	b.show(s, fmt.Sprintf("%s failed, %s without a success since: %s", cmp.Or(b.stage, b.service), times(b.failures), b.err), failing.latest)
}

func (b *progress) show(s *service, excerpt string, at time.Time) {
	b.proof = append(b.proof, evidence.Item{Locator: s.object.Loc, Excerpt: excerpt, Time: at})
}

func (b *progress) notPast() {
	b.waits = waiting(b.stage)
	b.what = b.service + " does not get to its end"
	if b.stage != "" {
		b.what = b.service + " does not get past stage " + b.stage
	}
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprint(n, " times")
}

// waiting reports whether a stage waits for what others have to do: etcd on this host,
// the pods of the control plane and its etcd
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootkube.sh.template).
func waiting(stage string) bool {
	return stage == "cb-bootstrap" || strings.HasPrefix(stage, "wait-for-")
}

// errorLine returns the line of a message that says what went wrong: the last that
// names an error, else the last.
func errorLine(message string) string {
	var line string
	names := func(l string) bool { return strings.Contains(strings.ToLower(l), "error") }
	for l := range strings.Lines(message) {
		if l = strings.TrimSpace(l); l != "" && (names(l) || !names(line)) {
			line = l
		}
	}
	line = strings.TrimPrefix(line, "Error: ")
	if e, ok := pullerror.Parse(line); ok && len(line) > titleError && e.Said != "" && e.Host != "" {
		return e.Host + ": " + e.Said // it repeats the image for each layer of the call; the cause is its end
	}
	line = evidence.Shorten(line, longestError)
	return line
}

// An error that is longer than titleError is cut in a title.
const (
	longestError = 400
	titleError   = 240
)

// urlStages look up and ask the names of the API. They stop nothing, and the API comes
// and goes while the bootstrap runs, so only that a name does not resolve says something
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootstrap-verify-api-server-urls.sh).
var urlStages = map[string]string{
	"resolve-api-url": "api", "resolve-api-int-url": "api-int", "check-api-url": "", "check-api-int-url": "",
}

func (b *progress) lookUps(s *service) {
	if s == nil {
		return
	}
	for _, stage := range []string{"resolve-api-url", "resolve-api-int-url"} {
		if r := s.urls[stage]; r.result == "failure" {
			b.unresolved = append(b.unresolved, urlStages[stage])
			b.lookups = append(b.lookups, evidence.Item{Locator: s.object.Loc, Excerpt: stage + ": " + cmp.Or(errorLine(r.message), "failure"), Time: r.at})
		}
	}
}
