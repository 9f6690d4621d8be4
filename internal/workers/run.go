package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// Node is what a run looks at of a Node of the hosted cluster.
type Node struct {
	UID     string
	Created time.Time
	Ready   bool
	// Silent says that the condition Ready is Unknown: its kubelet reports nothing.
	Silent bool
	// Cordoned is spec.unschedulable.
	Cordoned bool
	Kubelet  string // status.nodeInfo.kubeletVersion
}

// Nodes reads one Node; ok is false if there is none.
type Nodes func(ctx context.Context, name string) (n Node, ok bool, err error)

// Event is something that a person wants to see while a run works.
type Event struct {
	Time   time.Time
	Worker string
	Text   string
}

// Runner works on one run.
type Runner struct {
	Journal  *Journal
	Provider provider.Provider
	UserData func(ctx context.Context) (UserData, error) // read again at each call
	Nodes    Nodes
	Parallel int           // machines that are made at once; 0 is 5
	Every    time.Duration // between looks at the Nodes; 0 is 3 s
	Now      func() time.Time
	Report   func(Event) // called from several goroutines
}

func (r *Runner) report(worker, format string, args ...any) {
	r.Report(Event{r.Now(), worker, fmt.Sprintf(format, args...)})
}

// Order is what the provider is asked about a worker.
func (r *Runner) Order(s Status) provider.Order {
	o := r.Journal.Plan.Order()
	o.Worker, o.Index, o.Attempt, o.ID, o.Digest = s.Worker, s.Index, s.Attempt, s.Machine.ID, s.Digest
	return o
}

// Create makes the machines that are not made yet. That one fails does not block the
// others.
func (r *Runner) Create(ctx context.Context) error {
	return r.each(r.Journal.Statuses(), func(s Status) error {
		if s.Step != Planned && s.Step != MayBe {
			return nil
		}
		return r.create(ctx, s)
	})
}

// each works on several workers at once and joins their errors.
func (r *Runner) each(list []Status, do func(Status) error) error {
	wrong := make([]error, len(list))
	var group crash.Group
	group.SetLimit(max(r.Parallel, 0))
	if r.Parallel == 0 {
		group.SetLimit(5)
	}
	for i, s := range list {
		group.Go(func() error {
			if err := do(s); err != nil {
				wrong[i] = fmt.Errorf("%s: %w", s.Worker.Name, err)
			}
			return nil
		})
	}
	_ = group.Wait() // it has no errors of its own
	return errors.Join(wrong...)
}

func (r *Runner) create(ctx context.Context, s Status) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := s.Worker.Name
	if s.Step == MayBe {
		switch m, err := r.Provider.Find(ctx, r.Order(s)); {
		case err == nil:
			r.report(name, "was made by this run before it was interrupted")
			return r.made(s, m)
		case !errors.Is(err, provider.ErrNone):
			return fmt.Errorf("find out whether it was made: %w", err)
		}
	}
	u, err := r.UserData(ctx)
	if err != nil {
		return err
	}
	s.Config, s.Digest = u.Config, u.Digest
	if err := r.Journal.add(Record{Kind: Creating, Worker: name, Config: u.Config, Digest: u.Digest}); err != nil {
		return err
	}
	s.Attempt++
	m, err := r.Provider.Create(ctx, r.Order(s), u.Raw)
	if err != nil {
		return err
	}
	return r.made(s, m)
}

func (r *Runner) made(s Status, m provider.Machine) error {
	if err := r.Journal.add(Record{Kind: Created, Worker: s.Worker.Name, Machine: m}); err != nil {
		return err
	}
	if m.Next != "" {
		r.report(s.Worker.Name, "%s", m.Next)
		return nil
	}
	r.report(s.Worker.Name, "machine made (%s)", m.ID)
	return nil
}

// Expected are the machines of the run whose requests may be approved: those that were
// made and have not gone. It is the inventory of the approver.
func (r *Runner) Expected() []csr.Expectation {
	var list []csr.Expectation
	for _, s := range r.Journal.Statuses() {
		if s.Step != Made && s.Step != In && s.Step != MayBe {
			continue
		}
		w := s.Worker
		w.IPs, w.DNS = union(w.IPs, s.Machine.IPs), union(w.DNS, s.Machine.DNS)
		list = append(list, r.Journal.Plan.expectation(w, s.Begun))
	}
	return list
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// NotJoinedError names the workers that have not joined in time.
type NotJoinedError struct{ Names []string }

// Error implements error.
func (e *NotJoinedError) Error() string {
	return fmt.Sprintf("%d workers have not joined: %s", len(e.Names), join(e.Names))
}

// Join waits until the Node of each machine that was made is Ready, and removes the user-data
// of each that is. It ends with a *NotJoinedError when ctx ends before that.
func (r *Runner) Join(ctx context.Context) error {
	every := r.Every
	if every == 0 {
		every = 3 * time.Second
	}
	said := map[string]string{}
	for {
		left, err := r.checkNodes(ctx, said)
		if err != nil {
			return err
		}
		// Each as soon as it is in: that others do not come is no reason to leave a secret.
		if err := r.Clean(context.WithoutCancel(ctx)); err != nil {
			if len(left) == 0 || ctx.Err() != nil {
				return errors.Join(err, lateError(left))
			}
			if now := err.Error(); now != said[""] {
				said[""] = now
				r.report("user-data", "not removed yet: %s; trying again", now)
			}
		} else if len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return lateError(left)
		case <-time.After(every):
		}
	}
}

func lateError(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return &NotJoinedError{names}
}

// checkNodes lists the Nodes once and returns the workers that are still waited for. A change of a
// worker is reported. Its error is the journal's.
func (r *Runner) checkNodes(ctx context.Context, said map[string]string) (left []string, err error) {
	for _, s := range r.Journal.Statuses() {
		if s.Step != Made {
			continue
		}
		name := s.Worker.Name
		n, ok, err := r.Nodes(ctx, name)
		now := ""
		switch {
		case ctx.Err() != nil:
		case err != nil:
			now = fmt.Sprintf("its Node cannot be read: %v; trying again", err)
		case ok && n.Created.Before(r.Journal.Plan.Made.Truncate(time.Second)):
			now = "there is a Node of that name that is older than this run: it is another machine"
		case ok && !n.Ready:
			now = "registered its Node"
		case ok:
			if err := r.Journal.add(Record{Kind: Joined, Worker: name, NodeUID: n.UID}); err != nil {
				return left, err
			}
			r.report(name, "Node is Ready")
			continue
		}
		if now != "" && now != said[name] {
			said[name] = now
			r.report(name, "%s", now)
		}
		left = append(left, name)
	}
	return left, nil
}

// Clean removes the user-data of the workers that have joined from where the provider put
// it: it is a secret, and has done its work.
func (r *Runner) Clean(ctx context.Context) error {
	return r.each(r.Journal.Statuses(), func(s Status) error {
		if s.Step != In || s.Cleaned {
			return nil
		}
		return r.clean(ctx, s)
	})
}

func (r *Runner) clean(ctx context.Context, s Status) error {
	if err := r.Journal.add(Record{Kind: Cleaning, Worker: s.Worker.Name}); err != nil {
		return err
	}
	if err := r.Provider.Clean(ctx, r.Order(s)); err != nil {
		return err
	}
	return r.Journal.add(Record{Kind: Cleaned, Worker: s.Worker.Name})
}

// Rollback takes away the machines of the run that have not joined. Those that have are
// part of the cluster: kept names them.
func (r *Runner) Rollback(ctx context.Context) (kept []string, err error) {
	list := r.Journal.Statuses()
	joined := func(s Status) bool { return s.Step == In || s.Step == MayBeOut && s.NodeUID != "" } // the latter: see Remove
	for _, s := range list {
		if joined(s) {
			kept = append(kept, s.Worker.Name)
		}
	}
	return kept, r.each(list, func(s Status) error {
		switch {
		case s.Step == In && !s.Cleaned:
			return r.clean(ctx, s) // it stays, its user-data does not
		case joined(s):
			return nil
		case s.Step == MayBe, s.Step == Made, s.Step == MayBeOut:
			return r.remove(ctx, s)
		}
		return nil
	})
}

// Recreate takes away the machines that were made and have not joined, and creates others
// with user-data that is read again: the token of the first may have been rotated.
func (r *Runner) Recreate(ctx context.Context) error {
	return r.each(r.Journal.Statuses(), func(s Status) error {
		switch s.Step {
		case MayBe, Made, MayBeOut:
		default:
			return nil
		}
		if err := r.remove(ctx, s); err != nil {
			return err
		}
		s.Step, s.Machine = Planned, provider.Machine{}
		return r.create(ctx, s)
	})
}

func (r *Runner) remove(ctx context.Context, s Status) error {
	name := s.Worker.Name
	n, ok, err := r.Nodes(ctx, name)
	switch {
	case err != nil:
		return fmt.Errorf("find out whether it has joined: %w", err)
	case ok && s.NodeUID == "":
		return fmt.Errorf("it has a Node (uid %s): it has joined; drain and delete it first", n.UID)
	}
	if err := r.Journal.add(Record{Kind: Deleting, Worker: name}); err != nil {
		return err
	}
	if err := r.Provider.Delete(ctx, r.Order(s)); err != nil {
		return err
	}
	if err := r.Journal.add(Record{Kind: Deleted, Worker: name}); err != nil {
		return err
	}
	r.report(name, "%s", r.removed(s, false))
	return nil
}

// removed says what was removed of a worker, and what of it may still run. The machine of provider
// manual is a person's: nothing here switches it off, and nothing here sees whether it was booted.
func (r *Runner) removed(s Status, node bool) string {
	switch manual := r.Journal.Plan.Provider == ManualName; {
	case manual && s.NodeUID != "" && node:
		return "drained, and its Node is deleted; its machine still runs"
	case manual && s.NodeUID != "":
		return "its Node is gone; its machine may still run"
	case manual:
		return "its user-data file is removed; a machine that was booted with it still runs"
	case node:
		return "drained, and its machine and its Node are deleted"
	}
	return "its machine is deleted"
}

// Unjoined are the workers of the run that a rollback removes, or has removed: their machines have no Node.
func (r *Runner) Unjoined() (names []string) {
	for _, s := range r.Journal.Statuses() {
		switch s.Step {
		case MayBe, Made, MayBeOut, Out:
			if s.NodeUID == "" {
				names = append(names, s.Worker.Name)
			}
		}
	}
	return names
}

func join(names []string) string {
	const few = 8
	text := ""
	for i, n := range names {
		switch {
		case i == few:
			return fmt.Sprintf("%s and %d more", text, len(names)-few)
		case i > 0:
			text += ", "
		}
		text += n
	}
	return text
}
