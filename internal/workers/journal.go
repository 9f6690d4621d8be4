package workers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// Kind says what a record of the journal means.
type Kind string

// The kinds of record. Each act has one before and one after it.
const (
	Creating Kind = "creating" // the machine is about to be made
	Created  Kind = "created"  // it was made, or found made
	Joined   Kind = "joined"   // its Node was Ready; holds the Node's UID
	Cleaning Kind = "cleaning" // its user-data is about to be removed from where the provider put it
	Cleaned  Kind = "cleaned"
	Deleting Kind = "deleting" // the machine is about to be taken away
	Deleted  Kind = "deleted"  // it was taken away, or was not there

	Cordoning  Kind = "cordoning"  // its Node, which was schedulable, is about to be cordoned
	Uncordoned Kind = "uncordoned" // it is schedulable again

	Certified Kind = "certified" // its serving certificate was seen; holds its end
)

// Record is one line of a journal.
type Record struct {
	Time    time.Time        `json:"time"`
	Kind    Kind             `json:"kind"`
	Worker  string           `json:"worker"`
	Machine provider.Machine `json:"machine,omitzero"`  // in Created
	Config  string           `json:"config,omitempty"`  // in Creating: hash of the NodePool's config
	Digest  string           `json:"digest,omitempty"`  // in Creating: of the user-data
	NodeUID string           `json:"nodeUID,omitempty"` // in Joined
	Until   time.Time        `json:"until,omitzero"`    // in Certified
}

// Step is how far a worker came.
type Step string

// The steps of a worker.
const (
	Planned  Step = "planned"
	MayBe    Step = "may be made" // the run ended while it was being made
	Made     Step = "made"
	In       Step = "joined"
	MayBeOut Step = "may be deleted" // the run ended while it was being taken away
	Out      Step = "deleted"
)

// Status is a worker by the journal alone.
type Status struct {
	Worker  provider.Worker
	Index   int       // in the plan
	Attempt int       // how often it was begun to be made
	Begun   time.Time // when it was begun to be made for the last time
	Step    Step
	Machine provider.Machine
	Config  string
	Digest  string // of the user-data that it was made with
	NodeUID string
	Since   time.Time
	Cleaned bool
	// Cordoned says that the run has cordoned its Node, or was about to.
	Cordoned bool
	// ServingUntil is the end of its serving certificate when the run saw it; zero: it was not seen.
	ServingUntil time.Time
}

// Statuses are the workers of a plan as its records have them.
func Statuses(p Plan, records []Record) []Status {
	list := make([]Status, 0, len(p.Workers))
	for i, w := range p.Workers {
		s := Status{Worker: w, Index: i, Step: Planned, Since: p.Made}
		for _, r := range records {
			if r.Worker == w.Name {
				s.add(r)
			}
		}
		list = append(list, s)
	}
	return list
}

func (s *Status) add(r Record) {
	switch r.Kind {
	case Creating:
		s.Step, s.Config, s.Digest, s.Cleaned, s.ServingUntil = MayBe, r.Config, r.Digest, false, time.Time{}
		s.Attempt++
		s.Begun = r.Time
	case Created:
		s.Step, s.Machine = Made, r.Machine
	case Joined:
		s.Step, s.NodeUID = In, r.NodeUID
	case Cleaned:
		s.Cleaned = true
		return
	case Certified:
		s.ServingUntil = r.Until
		return
	case Cordoning, Uncordoned:
		s.Cordoned = r.Kind == Cordoning
		return
	case Cleaning:
		return
	case Deleting:
		s.Step = MayBeOut
	case Deleted:
		s.Step = Out
	}
	s.Since = r.Time
}

const (
	runsDir     = "workers"
	planFile    = "plan.json"
	journalFile = "journal.jsonl"
	maxPlan     = 4 << 20
)

// Journal is the record of one run on disk. It is safe for concurrent use; one process at a
// time holds it.
type Journal struct {
	Plan Plan

	mu  sync.Mutex
	dir *os.Root
	log *statedir.Log[Record]
	now func() time.Time
}

// Begin makes the journal of a new run below the state directory.
func Begin(stateDir string, p Plan, now func() time.Time) (*Journal, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("begin run: %w", err)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("begin run: %w", err)
	}
	dir, err := statedir.Open(stateDir, true, runsDir, p.Run)
	if err != nil {
		return nil, fmt.Errorf("begin run: %w", err)
	}
	if err := statedir.Replace(dir, planFile, raw); err != nil {
		return nil, errors.Join(fmt.Errorf("begin run: keep the plan: %w", err), dir.Close())
	}
	return openJournal(dir, p, now)
}

// Open opens the journal of a run that was begun.
func Open(stateDir, run string, now func() time.Time) (*Journal, error) {
	if !runForm.MatchString(run) {
		return nil, fmt.Errorf("open run: %.40q is not the id of a run", run)
	}
	dir, err := statedir.Open(stateDir, false, runsDir, run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open run: there is no run %s below %s", run, filepath.Join(stateDir, runsDir))
	}
	if err != nil {
		return nil, fmt.Errorf("open run: %w", err)
	}
	p, err := readPlan(dir, run)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open run %s: %w", run, err), dir.Close())
	}
	return openJournal(dir, p, now)
}

func readPlan(dir *os.Root, run string) (Plan, error) {
	var p Plan
	raw, err := statedir.Read(dir, planFile, maxPlan)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, fmt.Errorf("read its plan: %w", err)
	}
	if p.Run != run {
		return p, fmt.Errorf("its plan is of the run %.40q", p.Run)
	}
	return p, p.Check()
}

func openJournal(dir *os.Root, p Plan, now func() time.Time) (*Journal, error) {
	known := func(_ int, r Record) error {
		if _, ok := p.worker(r.Worker); !ok {
			return fmt.Errorf("the plan has no worker %.80q", r.Worker)
		}
		return nil
	}
	log, err := statedir.OpenLog(dir, journalFile, known)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the journal of run %s: %w", p.Run, err), dir.Close())
	}
	return &Journal{Plan: p, dir: dir, log: log, now: now}, nil
}

// add writes a record durably.
func (j *Journal) add(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Time = j.now().UTC()
	if err := j.log.Append(r); err != nil {
		return fmt.Errorf("journal of run %s: %w", j.Plan.Run, err)
	}
	return nil
}

// Certify records the end of a worker's serving certificate. What is recorded already is not
// recorded again.
func (j *Journal) Certify(name string, until time.Time) error {
	for _, s := range j.Statuses() {
		if s.Worker.Name == name && !s.ServingUntil.Equal(until) {
			return j.add(Record{Kind: Certified, Worker: name, Until: until.UTC()})
		}
	}
	return nil
}

const baselineFile = "baseline.json"

// KeepBaseline keeps in the run's directory what the hosted cluster was like when all workers
// were in, and returns the file.
func (j *Journal) KeepBaseline(raw []byte) (string, error) {
	if err := statedir.Replace(j.dir, baselineFile, raw); err != nil {
		return "", fmt.Errorf("keep the baseline of run %s: %w", j.Plan.Run, err)
	}
	return filepath.Join(j.dir.Name(), baselineFile), nil
}

// Statuses are the run's workers.
func (j *Journal) Statuses() []Status {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Statuses(j.Plan, j.log.Records())
}

// Close releases the journal.
func (j *Journal) Close() error { return errors.Join(j.log.Close(), j.dir.Close()) }

// Run is a run as its files have it.
type Run struct {
	Plan     Plan
	Statuses []Status
}

// Runs returns the runs below a state directory, the newest first. It takes no lock. A run
// that cannot be read is an error, returned with those that can.
func Runs(stateDir string) ([]Run, error) {
	all, err := statedir.Open(stateDir, false, runsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	entries, err := fs.ReadDir(all.FS(), ".")
	wrong := []error{err, all.Close()}
	var list []Run
	for _, e := range entries {
		if !runForm.MatchString(e.Name()) {
			continue
		}
		r, err := readRun(stateDir, e.Name())
		if err != nil {
			wrong = append(wrong, fmt.Errorf("read run %s: %w", e.Name(), err))
			continue
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Run) int { return b.Plan.Made.Compare(a.Plan.Made) })
	return list, errors.Join(wrong...)
}

func readRun(stateDir, run string) (Run, error) {
	dir, err := statedir.Open(stateDir, false, runsDir, run)
	if err != nil {
		return Run{}, err
	}
	defer dir.Close()
	p, err := readPlan(dir, run)
	if err != nil {
		return Run{}, err
	}
	raw, err := statedir.Read(dir, journalFile, statedir.MaxLog)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Run{}, err
	}
	records, _, err := statedir.ParseLog[Record](raw, nil)
	if err != nil {
		return Run{}, err
	}
	return Run{p, Statuses(p, records)}, nil
}
