package metalhost

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/statedir"
)

// Plan is what a run makes. It holds no secret.
type Plan struct {
	Run     string    `json:"run"`
	Made    time.Time `json:"made"`
	Cluster string    `json:"cluster"` // clusterID of the ClusterVersion: a run is continued in the cluster that it began in
	Host    Want      `json:"host"`
	Set     string    `json:"machineSet"`
	SetUID  string    `json:"machineSetUID"`
	Scale   bool      `json:"scale,omitempty"` // this run scales the MachineSet by one
	// Replaces is a worker that the run replaces. Host is then the BareMetalHost that is there and takes its place.
	Replaces *Replaced `json:"replaces,omitempty"`
}

var runForm = regexp.MustCompile(`^h-[0-9a-f]{10}$`)

// NewRun returns an id for a run.
func NewRun() (string, error) {
	raw := make([]byte, 5)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("name the run: %w", err)
	}
	return "h-" + hex.EncodeToString(raw), nil
}

// Check refuses a plan that no run of this program wrote.
func (p Plan) Check() error {
	if !runForm.MatchString(p.Run) {
		return fmt.Errorf("%.40q is not the id of a run", p.Run)
	}
	if p.Replaces != nil && p.Cluster != "" {
		return p.Replaces.check(p)
	}
	if p.Cluster == "" || p.Host.Secret == "" {
		return errors.New("the plan is not complete")
	}
	w := p.Host
	return w.Check()
}

// Kind says what a record of the journal means.
type Kind string

// The kinds of record. Each act has one before it and one after it.
const (
	MakingSecret   Kind = "making secret"
	MadeSecret     Kind = "made secret" // holds its uid
	MakingHost     Kind = "making host"
	MadeHost       Kind = "made host" // holds its uid
	Scaling        Kind = "scaling"   // holds the replicas, the generation and the Machines before it
	Scaled         Kind = "scaled"
	Consumed       Kind = "consumed"        // a Machine has taken the host; holds both
	Joined         Kind = "joined"          // its Node was Ready; holds the Node's uid
	Marking        Kind = "marking machine" // the Machine is about to get the annotation that chooses it; holds it
	ScalingDown    Kind = "scaling down"    // as Scaling
	ScaledDown     Kind = "scaled down"
	DeletingHost   Kind = "deleting host"
	DeletedHost    Kind = "deleted host"
	DeletingSecret Kind = "deleting secret"
	DeletedSecret  Kind = "deleted secret"

	DeletingMachine Kind = "deleting machine" // of the worker that is replaced; holds it and the Machines before it
	DeletedMachine  Kind = "deleted machine"  // the API has accepted it; the Machine API drains and metal3 cleans
	MachineGone     Kind = "machine gone"
	DroppingHost    Kind = "deleting old host" // the BareMetalHost of the worker that was replaced; holds it
	DroppedHost     Kind = "deleted old host"
)

// Record is one line of a journal.
type Record struct {
	Time       time.Time `json:"time"`
	Kind       Kind      `json:"kind"`
	UID        string    `json:"uid,omitempty"`
	Name       string    `json:"name,omitempty"`       // of a Machine, a Node
	Replicas   int       `json:"replicas,omitempty"`   // before scaling
	Generation int64     `json:"generation,omitempty"` // of the MachineSet before scaling
	Machines   []string  `json:"machines,omitempty"`   // of the MachineSet before scaling, or before the Machine was deleted
}

const (
	runsDir     = "hosts"
	planFile    = "plan.json"
	journalFile = "journal.jsonl"
	maxPlan     = 1 << 20
)

// Journal is the record of one run on disk. It is safe for concurrent use; one process at a time holds it.
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
	log, err := statedir.OpenLog[Record](dir, journalFile, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the journal of run %s: %w", p.Run, err), dir.Close())
	}
	return &Journal{Plan: p, dir: dir, log: log, now: now}, nil
}

func (j *Journal) add(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Time = j.now().UTC()
	if err := j.log.Append(r); err != nil {
		return fmt.Errorf("journal of run %s: %w", j.Plan.Run, err)
	}
	return nil
}

// Keep writes a copy of an object next to the journal, and returns its path.
func (j *Journal) Keep(name string, content []byte) (string, error) {
	if err := statedir.Replace(j.dir, name, content); err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	return filepath.Join(j.dir.Name(), name), nil
}

// Close releases the journal.
func (j *Journal) Close() error { return errors.Join(j.log.Close(), j.dir.Close()) }

// Status is a run by its journal alone.
type Status struct {
	Last   Kind
	Since  time.Time
	Secret string // uid of the Secret that the run has made
	Host   string // uid of the BareMetalHost that it has made
	Scale  Record // Scaling, zero where the run has not scaled
	Down   Record // ScalingDown
	Taken  Record // Consumed
	Marked Record // Marking
	Node   Record // Joined
	Old    Record // DeletingMachine
	kinds  []Kind
}

// Status is how far the run came.
func (j *Journal) Status() Status {
	j.mu.Lock()
	defer j.mu.Unlock()
	return statusOf(j.Plan, j.log.Records())
}

func statusOf(p Plan, records []Record) Status {
	s := Status{Since: p.Made}
	for _, r := range records {
		s.Last, s.Since = r.Kind, r.Time
		s.kinds = append(s.kinds, r.Kind)
		switch r.Kind {
		case MadeSecret:
			s.Secret = r.UID
		case MadeHost:
			s.Host = r.UID
		case Scaling:
			s.Scale = r
		case ScalingDown:
			s.Down = r
		case Consumed:
			s.Taken = r
		case Marking:
			s.Marked = r
		case Joined:
			s.Node = r
		case DeletingMachine:
			s.Old = r
		}
	}
	return s
}

// did says that something of a kind was recorded.
func (s Status) did(k Kind) bool { return slices.Contains(s.kinds, k) }

// Step is the run in a few words.
func (s Status) Step() string {
	switch {
	case s.did(DeletedHost):
		return "rolled back"
	case s.Undoing():
		return "being rolled back"
	case s.Node.Name != "":
		return "joined as Node " + s.Node.Name
	case s.Taken.Name != "":
		return "taken by Machine " + s.Taken.Name
	case s.did(MachineGone):
		return "Machine " + s.Old.Name + " is gone"
	case s.did(DeletedMachine):
		return "Machine " + s.Old.Name + " is being deleted"
	case s.did(Scaled):
		return "MachineSet scaled"
	case s.Host != "":
		return "BareMetalHost made"
	case s.Last == "":
		return "planned"
	}
	return string(s.Last)
}

// Run is a run as its files have it.
type Run struct {
	Plan   Plan
	Status Status
}

// Runs returns the runs below a state directory, the newest first. It takes no lock.
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
	return Run{p, statusOf(p, records)}, nil
}

// Undoing says that a rollback was begun.
func (s Status) Undoing() bool {
	return s.did(Marking) || s.did(ScalingDown) || s.did(DeletingHost) || s.did(DeletingSecret)
}
