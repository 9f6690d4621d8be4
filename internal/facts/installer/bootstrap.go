package installer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Bootstrap is the fact bootstrap-services: what the bootstrap host got done. Its
// services build on each other; what counts is the first that has not ended well.
type Bootstrap struct {
	Service    string    `cel:"service"`    // that one; "" where bootkube has ended well, or none is known to be begun
	Stage      string    `cel:"stage"`      // the one that it does not get past; "" outside of stages
	What       string    `cel:"what"`       // both in words, with the error
	Waits      bool      `cel:"waits"`      // the stage waits for something else: etcd, the control plane
	Failures   int64     `cel:"failures"`   // how often it failed there without a success since
	Error      string    `cel:"error"`      // what the unit's journal said when it failed last
	Since      time.Time `cel:"since"`      // of failures the first, else when the stage or the service began
	NeverRan   string    `cel:"neverRan"`   // a service that has to run and has no record, though what it builds on has ended well
	Ran        []string  `cel:"ran"`        // services that began
	Unresolved []string  `cel:"unresolved"` // of api and api-int: names that were not resolved when they were last looked up
	Overtaken  bool      `cel:"overtaken"`  // the cluster's installation was completed afterwards
}

var bootstrapNeed = evidence.Objects(evidence.BootstrapServices, "")

var bootstrapFact = facts.DefinePlain("bootstrap-services", fault.Cluster, "how far the services of the bootstrap host came",
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

func readBootstrap(ctx context.Context, w *facts.World, _ fault.Subject) (Bootstrap, facts.Proof, error) {
	var p facts.Proof
	list, err := w.List(ctx, evidence.BootstrapServices, "")
	if _, missing := evidence.AsUnavailable(err); missing && len(list) == 0 {
		return Bootstrap{}, p, withoutBundle(ctx, w, err)
	}
	if err != nil {
		return Bootstrap{}, p, err
	}
	if len(list) == 0 { // a collection of a run that met none
		return Bootstrap{}, p, withoutBundle(ctx, w, evidence.NotOnBootstrap(bootstrapNeed))
	}
	runs := map[string]*service{}
	b := Bootstrap{Ran: []string{}, Unresolved: []string{}}
	var last time.Time
	for _, o := range list {
		s := followRecords(o)
		runs[o.Name] = s
		if s.began {
			b.Ran = append(b.Ran, o.Name)
		}
		if s.last.After(last) {
			last = s.last
		}
	}
	if err := b.held(runs, w.Now, &p); err != nil {
		return Bootstrap{}, p, err
	}
	at, loc, err := completed(ctx, w)
	if err != nil {
		return Bootstrap{}, p, err
	}
	if b.Overtaken = !at.IsZero() && !at.Before(last); b.Overtaken {
		p.Add(loc, "the first version was completed", at, "overtaken")
	}
	return b, p, nil
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
func (b *Bootstrap) held(runs map[string]*service, now time.Time, p *facts.Proof) error {
	if s := runs[bootkube]; s != nil && s.done {
		b.unresolved(s, p)
		p.Add(s.object.Loc, "bootkube ended in success", s.last)
		return nil
	}
	var before *service
	for i, name := range chain {
		s := runs[name]
		switch {
		case s != nil && s.damage != "":
			return &evidence.Unavailable{Need: bootstrapNeed, Why: evidence.Damaged,
				Detail: s.object.Loc.Path + ": " + s.damage, Supply: "openshift-install gather bootstrap --dir DIR"}
		case s == nil || !s.began:
			if slices.Contains(required, name) && !slices.ContainsFunc(chain[i:], func(n string) bool { return runs[n] != nil && runs[n].began }) {
				b.neverRan(name, before, runs, p)
				return nil
			}
			continue
		case s.done, s.endless() && s.failing(now) == nil:
			before = s
			continue
		}
		b.unresolved(runs[bootkube], p)
		b.at(s, s.failing(now), p)
		return nil
	}
	return nil
}

// neverRan notes a service that has no record. Where that is the first of all, the
// others that have one show since when the host is up.
func (b *Bootstrap) neverRan(name string, before *service, runs map[string]*service, p *facts.Proof) {
	b.NeverRan = name
	if before != nil {
		b.Since = before.last
		p.Add(before.object.Loc, before.object.Name+" ended in success, and there is no record of "+name+".service", b.Since, "neverRan", "since")
		return
	}
	var first *service
	for _, s := range runs {
		if first == nil || s.since.Before(first.since) || s.since.Equal(first.since) && s.object.Name < first.object.Name {
			first = s
		}
	}
	b.Since = first.since
	p.Add(first.object.Loc, "there is no record of "+name+".service beside this", b.Since, "neverRan", "since")
}

// at fills in where a service stands. failing is nil where it has not failed.
func (b *Bootstrap) at(s *service, failing *stage, p *facts.Proof) {
	b.Service, b.Since = s.object.Name, s.since
	fields := []string{"service", "stage", "what", "waits", "failures", "since", "error"}
	if failing == nil {
		if s.open != nil {
			b.Stage, b.Since = s.open.name, s.open.began
		}
		b.notPast()
		p.Add(s.object.Loc, fmt.Sprintf("%s began and has not ended", cmp.Or(b.Stage, b.Service)), b.Since, fields...)
		return
	}
	b.Stage, b.Failures, b.Since = failing.name, failing.failures, failing.failed
	b.Error = cmp.Or(errorLine(failing.message), "no message was recorded")
	switch {
	case waiting(b.Stage):
		b.Since = failing.began
		b.notPast()
	case failing.command:
		b.What = b.Service + " in its command " + b.Stage + ": " + b.Error
	case b.Stage != "":
		b.What = b.Service + " in stage " + b.Stage + ": " + b.Error
	default:
		b.What = b.Service + " outside of its stages: " + b.Error
	}
	p.Add(s.object.Loc, fmt.Sprintf("%s failed, %s without a success since: %s", cmp.Or(b.Stage, b.Service), times(b.Failures), b.Error),
		failing.latest, fields...)
}

func (b *Bootstrap) notPast() {
	b.Waits = waiting(b.Stage)
	b.What = b.Service + " does not get to its end"
	if b.Stage != "" {
		b.What = b.Service + " does not get past stage " + b.Stage
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
	if r := []rune(line); len(r) > longestError {
		line = string(r[:longestError]) + "…"
	}
	return line
}

const longestError = 400

// urlStages look up and ask the names of the API. They stop nothing, and the API comes
// and goes while the bootstrap runs, so only that a name does not resolve says something
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootstrap-verify-api-server-urls.sh).
var urlStages = map[string]string{
	"resolve-api-url": "api", "resolve-api-int-url": "api-int", "check-api-url": "", "check-api-int-url": "",
}

func (b *Bootstrap) unresolved(s *service, p *facts.Proof) {
	if s == nil {
		return
	}
	for _, stage := range []string{"resolve-api-url", "resolve-api-int-url"} {
		if r := s.urls[stage]; r.result == "failure" {
			b.Unresolved = append(b.Unresolved, urlStages[stage])
			p.Add(s.object.Loc, stage+": "+cmp.Or(errorLine(r.message), "failure"), r.at, "unresolved")
		}
	}
}
