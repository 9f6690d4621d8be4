package repair

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rollcall-project/rollcall/internal/statedir"
)

// RecordKind says what a record of the journal means.
type RecordKind string

// The kinds of record.
const (
	Began      RecordKind = "began"       // the plan was begun; holds its digest
	Intent     RecordKind = "intent"      // a write is about to be made
	Result     RecordKind = "result"      // the write was made, or found made
	Abandoned  RecordKind = "abandoned"   // the write of the intent was not made and will not be
	Done       RecordKind = "done"        // the step's effect was seen
	Stopped    RecordKind = "stopped"     // the plan stopped at the step; holds why
	UndoIntent RecordKind = "undo-intent" // the inverse is about to be written
	UndoResult RecordKind = "undo-result" // the inverse was written, or found written
	Finished   RecordKind = "finished"    // all steps are done, or all that can be are undone
	Checked    RecordKind = "checked"     // the whole diagnosis was run again; holds what it shows
)

// Record is one line of the journal. It holds no secret.
type Record struct {
	Seq   int        `json:"seq"`
	Time  time.Time  `json:"time"`
	Kind  RecordKind `json:"kind"`
	Step  string     `json:"step,omitempty"`
	Plan  string     `json:"plan,omitempty"` // digest of the plan, in Began
	Write *Write     `json:"write,omitempty"`
	Note  string     `json:"note,omitempty"`

	Outcome *Outcome `json:"outcome,omitempty"` // of Checked
}

// Write is one write to one object, as the journal keeps it: enough to find out
// afterwards whether it was made, and to undo it. Bodies are not in it.
type Write struct {
	Target   Ref      `json:"target"`
	Sub      string   `json:"subresource,omitempty"`
	UID      string   `json:"uid,omitempty"`   // of the object; of one that we created it is in the Result
	Fields   []string `json:"fields"`          // JSON pointers that the write changes
	Known    []string `json:"known,omitempty"` // of these, the ones by which it is recognized; empty: all
	Before   string   `json:"before"`          // digest of what it is recognized by, before
	After    string   `json:"after"`           // and after
	PreImage string   `json:"preImage"`        // digest in the store: the fields' values before
	Inverse  string   `json:"inverse"`         // in words
}

// journal is the append-only record of one plan's run on disk. One process at a
// time holds it.
type journal struct {
	path string   // for errors
	dir  *os.Root // the plan's directory
	log  *statedir.Log[Record]
	now  func() time.Time
}

// Names in a plan's directory.
const (
	plansDir    = "plans"
	journalFile = "journal.jsonl"
	planFile    = "plan.yaml"
)

// openJournal opens or makes the journal of a plan below the state directory
// and locks it. A last line that was cut by a crash is dropped: what it would
// have recorded did not happen yet (an intent) or can be seen (a result).
func openJournal(stateDir, plan string, now func() time.Time) (*journal, error) {
	if !planID.MatchString(plan) {
		return nil, fmt.Errorf("open journal: %q is not a plan id", plan)
	}
	dir, err := statedir.Open(stateDir, true, plansDir, plan)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	path := filepath.Join(stateDir, plansDir, plan, journalFile)
	log, err := statedir.OpenLog(dir, journalFile, inOrder)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), dir.Close())
	}
	return &journal{path: path, dir: dir, log: log, now: now}, nil
}

// inOrder refuses a journal of which lines are missing.
func inOrder(i int, r Record) error {
	if r.Seq != i+1 {
		return fmt.Errorf("it has number %d: lines are missing", r.Seq)
	}
	return nil
}

// Append writes a record durably.
func (j *journal) Append(r Record) error {
	r.Seq, r.Time = j.log.Len()+1, j.now().UTC()
	if err := j.log.Append(r); err != nil {
		return fmt.Errorf("write journal %s: %w", j.path, err)
	}
	return nil
}

// Close releases the journal.
func (j *journal) Close() error { return errors.Join(j.log.Close(), j.dir.Close()) }

// records returns what was written so far.
func (j *journal) records() []Record { return j.log.Records() }

// began returns the digest of the plan that the journal belongs to, "" at first.
func (j *journal) began() string {
	for _, r := range j.records() {
		if r.Kind == Began {
			return r.Plan
		}
	}
	return ""
}

// stepState is how far a step came, by the journal alone.
type stepState struct {
	intent     *Record // the last intent, with its write
	result     *Record // its result
	done       bool
	undoIntent *Record // the undo's intent
	undone     bool
}

func (j *journal) step(id string) stepState { return stateOf(j.records(), id) }

func stateOf(records []Record, id string) stepState {
	var s stepState
	for i := range records {
		r := &records[i]
		if r.Step != id {
			continue
		}
		switch r.Kind {
		case Intent:
			s = stepState{intent: r}
		case Result:
			s.result = r
		case Abandoned:
			s = stepState{}
		case Done:
			s.done = true
		case UndoIntent:
			s.undoIntent = r
		case UndoResult:
			s.undone = true
		}
	}
	return s
}

// open reports whether an intent has no result: its write may have been made.
func (j *journal) open() bool {
	for _, r := range j.records() {
		if st := j.step(r.Step); r.Kind == Intent && st.intent != nil && st.result == nil {
			return true
		}
	}
	return false
}

// acted reports whether the step's write was made and not undone.
func (s stepState) acted() bool { return s.intent != nil && s.result != nil && !s.undone }
