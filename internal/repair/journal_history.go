package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/statedir"
)

// History is one plan's journal, for reading.
type History struct {
	Plan    *Plan // nil where the plan's copy could not be read
	ID      string
	Records []Record
	Broken  error // why the journal or the plan's copy could not be read; nil: they were read
}

// Histories returns all journals below a state directory, oldest first. One that
// cannot be read does not hide the others: its Broken says why.
func Histories(stateDir string) ([]History, error) {
	plans, err := statedir.Open(stateDir, false, plansDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	entries, err := fs.ReadDir(plans.FS(), ".")
	var list []History
	for _, e := range entries {
		list = append(list, historyOf(plans, e.Name()))
	}
	if err := errors.Join(err, plans.Close()); err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	slices.SortStableFunc(list, func(a, b History) int { return a.started().Compare(b.started()) })
	return list, nil
}

func historyOf(plans *os.Root, id string) History {
	h := History{ID: id}
	dir, err := statedir.Descend(plans, false, id)
	if err != nil {
		h.Broken = fmt.Errorf("read history of %q: %w", id, err)
		return h
	}
	raw, err := statedir.Read(dir, journalFile, statedir.MaxLog)
	if err == nil {
		h.Records, _, err = statedir.ParseLog(raw, inOrder)
	}
	plan, planErr := storedPlan(dir)
	if errors.Is(planErr, fs.ErrNotExist) {
		planErr = nil // killed before it was stored
	}
	h.Plan = plan
	if err := errors.Join(err, planErr, dir.Close()); err != nil {
		h.Broken = fmt.Errorf("read history of %q: %w", id, err)
	}
	return h
}

// storedPlan reads the copy of a plan that lies next to its journal.
func storedPlan(dir *os.Root) (*Plan, error) {
	raw, err := statedir.Read(dir, planFile, maxPlan)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	p, err := parsePlan(raw)
	if err != nil {
		return nil, err
	}
	return p, p.checkForm()
}

func (h History) started() time.Time {
	if len(h.Records) == 0 {
		return time.Time{}
	}
	return h.Records[0].Time
}

// HistoryOf returns the journal of one plan, fs.ErrNotExist where none was begun.
func HistoryOf(stateDir, id string) (History, error) {
	list, err := Histories(stateDir)
	if err != nil {
		return History{}, err
	}
	for _, h := range list {
		if h.ID == id {
			return h, nil
		}
	}
	return History{}, fmt.Errorf("no plan %s was begun here (%s): %w", id, stateDir, fs.ErrNotExist)
}

// Left returns the steps that are not done.
func (h History) Left() []Step {
	return slices.DeleteFunc(slices.Clone(h.Plan.Steps), func(s Step) bool { return stateOf(h.Records, s.ID).done })
}

// Acted returns the steps whose write was made, or may have been made, and was not
// undone, the last one first.
func (h History) Acted() []Step {
	var list []Step
	for _, s := range slices.Backward(h.Plan.Steps) {
		if st := stateOf(h.Records, s.ID); st.intent != nil && !st.undone {
			list = append(list, s)
		}
	}
	return list
}

// Outcome returns what the last diagnosis after a run showed; nil where nothing was
// checked since the last run.
func (h History) Outcome() *Outcome {
	if len(h.Records) == 0 {
		return nil
	}
	return h.Records[len(h.Records)-1].Outcome
}
