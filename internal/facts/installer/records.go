package installer

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// service is how far one service of the bootstrap host came, by its records.
type service struct {
	object evidence.Object
	damage string // why the records could not be read
	// ofJournal: the lines of its journal stand for its records (internal/source/archive/layout/logbundle)
	ofJournal bool
	began     bool
	done      bool      // its last run ended in success
	since     time.Time // when it began for the first time without a success since
	last      time.Time // of the newest record
	stages    map[string]*stage
	open      *stage // that has begun and not ended
	passed    string // the stage whose success is the newest record; "" if another record is
	urls      map[string]record
}

// stage is one stage of a service, or a command before or after it, since it last
// ended in success.
type stage struct {
	name     string
	command  bool
	began    time.Time
	failures int64
	failed   time.Time // first
	latest   time.Time // failure
	order    int       // of the latest failure
	message  string
}

// record is one record of a service (internal/source/archive serviceRecord).
type record struct {
	phase, stage, result, command, message string
	at                                     time.Time
}

// The phases and results (openshift/installer:pkg/gather/service/entry.go).
const (
	serviceStart = "service start"
	serviceEnd   = "service end"
	stageStart   = "stage start"
	stageEnd     = "stage end"
	preEnd       = "pre-command end"
	postEnd      = "post-command end"
	success      = "success"
	failure      = "failure"
)

func records(o evidence.Object) []record {
	list, _ := evidence.Field(o.Content, "records").([]any)
	out := make([]record, 0, len(list))
	for _, e := range list {
		m, _ := e.(map[string]any)
		r := record{
			phase: evidence.String(m, "phase"), stage: evidence.String(m, "stage"), result: evidence.String(m, "result"),
			command: evidence.String(m, "preCommand") + evidence.String(m, "postCommand"),
			message: evidence.String(m, "errorMessage"), at: evidence.Time(m, "timestamp"),
		}
		out = append(out, r)
	}
	return out
}

// followRecords goes through the records of a service. Services are started again until they
// succeed, and a run begins with the stages that are not done yet, so each stage is
// counted by itself.
func followRecords(o evidence.Object) *service {
	s := &service{object: o, damage: evidence.String(o.Content, "error"), stages: map[string]*stage{}, urls: map[string]record{}}
	s.ofJournal, _ = evidence.Field(o.Content, "journal").(bool)
	var before record
	for i, r := range records(o) {
		if r.at.After(s.last) {
			s.last = r.at
		}
		if _, url := urlStages[r.stage]; url && r.stage != "" {
			s.urls[r.stage] = r
			continue
		}
		s.add(i, r, before)
		before = r
	}
	return s
}

func (s *service) add(i int, r, before record) {
	s.passed = ""
	switch r.phase {
	case serviceStart:
		if s.done || !s.began {
			s.since = r.at
		}
		s.began, s.done, s.open = true, false, nil
	case stageStart:
		s.open = s.stage(r.stage, false)
		if s.open.began.IsZero() {
			s.open.began = r.at
		}
	case stageEnd:
		s.open = nil
		s.end(i, s.stage(r.stage, false), r)
		if r.result != failure {
			s.passed = r.stage
		}
	case preEnd:
		s.began = true
		s.end(i, s.stage(r.command, true), r)
	case serviceEnd, postEnd:
		s.done, s.open = r.result == success, nil
		switch {
		case s.done:
			clear(s.stages)
		case r.phase == postEnd:
			s.end(i, s.stage(r.command, true), r)
		case before.phase != stageEnd || before.result != failure: // else the stage has it
			s.end(i, s.stage("", false), r)
		}
	}
}

func (s *service) stage(name string, command bool) *stage {
	if s.stages[name] == nil {
		s.stages[name] = &stage{name: name, command: command}
	}
	return s.stages[name]
}

func (s *service) end(i int, at *stage, r record) {
	if r.result != failure {
		delete(s.stages, at.name)
		return
	}
	if at.failures == 0 {
		at.failed = r.at
	}
	if at.began.IsZero() {
		at.began = r.at
	}
	at.failures++
	at.latest, at.order, at.message = r.at, i, r.message
}

// endless reports whether the service runs until the machine is shut down, so that it
// is not expected to end.
func (s *service) endless() bool { return s.object.Name == "kubelet" }

// lastStages are those of bootkube after which nothing is left to wait for that the hosts of the
// cluster have to do: their control plane runs
// (openshift/cluster-bootstrap:pkg/start/start.go Run sends bootstrap-success after waitUntilPodsRunning).
var lastStages = []string{"cb-bootstrap", "wait-for-ceo"}

// atLast reports whether the newest record is the success of one of the last stages. What is left
// takes minutes; later it would be a stage that hangs without a record.
func (s *service) atLast(now time.Time) bool {
	return slices.Contains(lastStages, s.passed) && len(s.stages) == 0 && now.Sub(s.last) <= staleAfter
}

// staleAfter is how long a stage has to be open to count more than one that failed before: a
// service that restarts repeats its stages, and the etcd of the bootstrap host takes minutes to
// return.
const staleAfter = 15 * time.Minute

// failing returns what failed last without a success since, nil where nothing did or
// where the service has been in another stage for long since.
func (s *service) failing(now time.Time) *stage {
	var worst *stage
	for _, at := range s.stages {
		if at.failures > 0 && (worst == nil || at.order > worst.order) {
			worst = at
		}
	}
	if worst != nil && s.open != nil && s.open != worst && now.Sub(s.open.began) > staleAfter && s.open.began.After(worst.latest) {
		return nil
	}
	return worst
}
