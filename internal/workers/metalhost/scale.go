package metalhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// scaleTries bounds how often a MachineSet is read again whose status was written meanwhile.
const scaleTries = 5

// setReplicas writes spec.replicas of the MachineSet that was read. Controllers write its status all the
// time: as long as its spec is the one that was judged, that is no reason to stop.
func setReplicas(ctx context.Context, api API, shown kube.Object, n int, dryRun bool) error {
	ref, now := setRef(evidence.String(shown, "metadata", "name")), shown
	generation := number(evidence.Field(shown, "metadata", "generation"))
	var err error
	for range scaleTries {
		patch, encode := json.Marshal([]map[string]any{
			{"op": "test", "path": "/metadata/uid", "value": evidence.String(now, "metadata", "uid")},
			{"op": "test", "path": "/metadata/resourceVersion", "value": evidence.String(now, "metadata", "resourceVersion")},
			{"op": "add", "path": "/spec/replicas", "value": n},
		})
		if encode != nil {
			return encode
		}
		var stored kube.Object
		if stored, err = api.Patch(ctx, ref, "", patch, dryRun); err == nil {
			if have := setOf(stored).replicas; have != n {
				return fmt.Errorf("the API server stored %d replicas of MachineSet %s, not %d: a webhook changes it", have, ref.Name, n)
			}
			return nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
			return err
		}
		next, readErr := api.Get(ctx, ref)
		if readErr != nil || evidence.String(next, "metadata", "resourceVersion") == evidence.String(now, "metadata", "resourceVersion") {
			return err // it was not the version
		}
		if evidence.String(next, "metadata", "uid") != evidence.String(shown, "metadata", "uid") ||
			number(evidence.Field(next, "metadata", "generation")) != generation || setOf(next).replicas != setOf(shown).replicas {
			return fmt.Errorf("MachineSet %s was changed by somebody else meanwhile: nothing was written", ref.Name)
		}
		now = next
	}
	return err
}

// Scale scales the MachineSet by one, where this run does that. Guards look again first: other hosts may have
// become available, and a Machine may wait by now.
func (r *Runner) Scale(ctx context.Context) error {
	p, s := r.Journal.Plan, r.Journal.Status()
	if !p.Scale || s.did(Scaled) || s.Taken.Name != "" {
		return nil
	}
	if s.did(Scaling) {
		done, err := r.wasScaled(ctx, s.Scale, +1, Scaled)
		if done || err != nil {
			return err
		}
	}
	seen, err := Look(ctx, r.API)
	if err != nil {
		return err
	}
	w := p.Host
	w.MachineSet = p.Set
	place, checks, ok := seen.Place(w)
	stops := slices.DeleteFunc(checks, func(c Check) bool { return !c.Stops })
	switch {
	case len(stops) > 0 || !ok:
		return &RefusedError{stops}
	case place.UID != p.SetUID:
		return &RefusedError{[]Check{stop("MachineSet " + p.Set + " was deleted and made again by somebody else")}}
	case !place.Scale:
		r.Report("MachineSet " + p.Set + " is not scaled: " + place.By)
		return nil
	}
	if h, err := r.look(ctx); err != nil || h.consumer != "" {
		return err
	}
	object := object(seen.Sets, p.Set)
	return r.scaleTo(ctx, seen, object, Scaling, Scaled, +1)
}

func (r *Runner) scaleTo(ctx context.Context, seen Seen, o kube.Object, before, after Kind, by int) error {
	one := setOf(o)
	rec := Record{Kind: before, Replicas: one.replicas, Generation: one.generation}
	for _, m := range inSet(one, seen.machines()) {
		rec.Machines = append(rec.Machines, m.name)
	}
	if err := r.Journal.add(rec); err != nil {
		return err
	}
	err := setReplicas(ctx, r.API, o, one.replicas+by, false)
	if err != nil {
		err = fmt.Errorf("scale MachineSet %s from %d to %d: %w", one.name, one.replicas, one.replicas+by, err)
		if definite(err) || ctx.Err() != nil {
			return err
		}
		done, whyNot := r.wasScaled(ctx, rec, by, after)
		switch {
		case done:
			return nil
		case whyNot != nil:
			return errors.Join(err, whyNot)
		}
		return err
	}
	r.Report(fmt.Sprintf("MachineSet %s is scaled from %d to %d", one.name, one.replicas, one.replicas+by))
	return r.Journal.add(Record{Kind: after})
}

// wasScaled says whether the write of a record was stored: the generation of a MachineSet counts the changes
// of its spec.
func (r *Runner) wasScaled(ctx context.Context, rec Record, by int, after Kind) (bool, error) {
	p := r.Journal.Plan
	o, err := r.API.Get(ctx, setRef(p.Set))
	if err != nil {
		return false, fmt.Errorf("find out whether MachineSet %s was scaled: %w", p.Set, err)
	}
	now := setOf(o)
	switch {
	case now.uid != p.SetUID:
		return false, fmt.Errorf("MachineSet %s was deleted and made again by somebody else", p.Set)
	case now.replicas == rec.Replicas+by && now.generation == rec.Generation+1:
		r.Report(fmt.Sprintf("MachineSet %s was scaled from %d to %d by this run before", p.Set, rec.Replicas, rec.Replicas+by))
		return true, r.Journal.add(Record{Kind: after})
	case now.replicas == rec.Replicas && now.generation == rec.Generation:
		return false, nil
	}
	return false, fmt.Errorf("MachineSet %s was changed by somebody else while this run scaled it (replicas %d, generation %d; before: "+
		"%d, %d). Whether "+
		"this run's change is in it is not known: look at it, and finish by hand", p.Set, now.replicas, now.generation, rec.Replicas, rec.Generation)
}

// fresh are the Machines of the MachineSet that were not there before this run scaled it, or deleted one.
func (r *Runner) fresh(ctx context.Context) ([]machine, error) {
	p, before := r.Journal.Plan, r.Journal.Status().Scale
	if p.Replaces != nil {
		before = r.Journal.Status().Old
	}
	o, err := r.API.Get(ctx, setRef(p.Set))
	if err != nil {
		return nil, err
	}
	list, err := r.API.List(ctx, machineRef(""))
	if err != nil {
		return nil, err
	}
	seen := Seen{Machines: list}
	return slices.DeleteFunc(inSet(setOf(o), seen.machines()), func(m machine) bool { return slices.Contains(before.Machines, m.name) }), nil
}
