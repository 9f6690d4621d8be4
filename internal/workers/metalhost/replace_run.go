package metalhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// NoWayBackError says that a deletion was accepted, which the API cannot take back.
type NoWayBackError struct{ Machine string }

// Error implements error.
func (e *NoWayBackError) Error() string {
	return "Machine " + e.Machine + " is being deleted or gone, and a deletion cannot be taken back"
}

// again is what the run replaces, as the cluster has it now. It must be what was planned.
func (r *Runner) again(seen Seen) (Exchange, error) {
	p := r.Journal.Plan
	old := p.Replaces
	m, err := seen.Find(old.Machine)
	if err != nil {
		return Exchange{}, err
	}
	e := Exchange{Member: m, Drop: old.DropHost, Local: old.LocalGoes, Name: old.Machine}
	if !old.Same(p) {
		e.With = p.Host.Name
	}
	changed := func(what string) error {
		return fmt.Errorf("%s is not the one that was planned: nothing was changed", what)
	}
	switch {
	case evidence.String(m.Machine, "metadata", "uid") != old.MachineUID:
		return e, changed("Machine " + old.Machine)
	case evidence.String(m.Host, "metadata", "uid") != old.HostUID:
		return e, changed("BareMetalHost " + old.Host)
	case evidence.String(object(seen.Hosts, e.takes()), "metadata", "uid") != old.TakesUID:
		return e, changed("BareMetalHost " + p.Host.Name)
	case m.NodeName() != old.Node:
		return e, changed("the Node of Machine " + old.Machine)
	case evidence.String(seen.SetOf(m.Machine), "metadata", "uid") != p.SetUID:
		return e, changed("the MachineSet of Machine " + old.Machine)
	}
	return e, nil
}

// DeleteMachine deletes the Machine of the worker. Guards look again first: nothing takes the deletion back.
func (r *Runner) DeleteMachine(ctx context.Context, now time.Time) error {
	old, s := r.Journal.Plan.Replaces, r.Journal.Status()
	if s.did(DeletedMachine) {
		return nil
	}
	if s.did(DeletingMachine) {
		if done, err := r.wasDeleted(ctx); done || err != nil {
			return err
		}
	}
	var err error
	for range scaleTries {
		var again bool
		if again, err = r.deleteOnce(ctx, now); !again {
			return err
		}
	}
	return fmt.Errorf("delete Machine %s: %w", old.Machine, err)
}

// deleteOnce tries the deletion. again: a controller has written the Machine meanwhile, and nothing was stored.
func (r *Runner) deleteOnce(ctx context.Context, now time.Time) (again bool, err error) {
	old := r.Journal.Plan.Replaces
	seen, err := Look(ctx, r.API)
	if err != nil {
		return false, err
	}
	e, err := r.again(seen)
	if err != nil {
		return false, err
	}
	checks, err := seen.ReplaceChecks(ctx, r.API, e, now)
	if err != nil {
		return false, err
	}
	if stops := slices.DeleteFunc(checks, func(c Check) bool { return !c.Stops }); len(stops) > 0 {
		return false, &RefusedError{stops}
	}
	rec := Record{Kind: DeletingMachine, Name: old.Machine, UID: old.MachineUID}
	for _, m := range inSet(setOf(seen.SetOf(e.Member.Machine)), seen.machines()) {
		rec.Machines = append(rec.Machines, m.name)
	}
	if err := r.Journal.add(rec); err != nil {
		return false, err
	}
	err = r.API.Delete(ctx, machineRef(old.Machine), old.MachineUID, evidence.String(e.Member.Machine, "metadata", "resourceVersion"), false)
	switch {
	case err == nil:
		return false, r.deleted("is deleted: the Machine API drains its Node, and then metal3 cleans the host")
	case apierrors.IsConflict(err):
		return true, err
	case ctx.Err() != nil:
		return false, err
	case definite(err) && !apierrors.IsNotFound(err):
		return false, fmt.Errorf("delete Machine %s: %w; nothing was changed", old.Machine, err)
	}
	done, whyNot := r.wasDeleted(ctx)
	if done {
		return false, nil
	}
	return false, errors.Join(fmt.Errorf("delete Machine %s: %w", old.Machine, err), whyNot)
}

func (r *Runner) deleted(how string) error {
	r.Report("Machine " + r.Journal.Plan.Replaces.Machine + " " + how)
	return r.Journal.add(Record{Kind: DeletedMachine})
}

// wasDeleted says whether a deletion without an answer was stored.
func (r *Runner) wasDeleted(ctx context.Context) (bool, error) {
	old := r.Journal.Plan.Replaces
	o, err := r.API.Get(ctx, machineRef(old.Machine))
	switch {
	case apierrors.IsNotFound(err), err == nil && evidence.String(o, "metadata", "uid") != old.MachineUID:
		return true, r.deleted("is gone")
	case err != nil:
		return false, fmt.Errorf("find out whether Machine %s is being deleted: %w", old.Machine, err)
	case evidence.String(o, "metadata", "deletionTimestamp") != "":
		return true, r.deleted("is being deleted")
	}
	return false, nil
}

// MachineGone waits until the Machine is drained, its host is cleaned and its Node is deleted.
func (r *Runner) MachineGone(ctx context.Context) error {
	old := r.Journal.Plan.Replaces
	if r.Journal.Status().did(MachineGone) {
		return nil
	}
	began, kind, last := time.Time{}, "", "it was not read"
	for {
		o, err := r.API.Get(ctx, machineRef(old.Machine))
		switch {
		case apierrors.IsNotFound(err), err == nil && evidence.String(o, "metadata", "uid") != old.MachineUID:
			r.Report("Machine " + old.Machine + " and its Node are gone")
			return r.Journal.add(Record{Kind: MachineGone})
		case err != nil:
			if ctx.Err() == nil {
				r.say("machine", "Machine %s is not read: %v; trying again", old.Machine, err)
			}
		default:
			var drained bool
			last, drained = leaving(o)
			r.say("machine", "Machine %s: %s", old.Machine, last)
			h := r.oldHost(ctx)
			if drained && h.errorType != "" {
				last = h.text()
			}
			if h.errorType != kind {
				began, kind = time.Now(), h.errorType
			}
			if drained && kind != "" && time.Since(began) >= r.stuck() {
				if !old.DropHost {
					return &StuckError{h.text()}
				}
				if err := r.drop(ctx, true); err != nil {
					return err
				}
			}
		}
		if r.pause(ctx) != nil {
			return &LateError{"Machine " + old.Machine + " is not gone: " + last}
		}
	}
}

// oldHost reads the BareMetalHost of the worker, and reports what metal3 does with it. It is empty where that was not
// possible.
func (r *Runner) oldHost(ctx context.Context) host {
	old := r.Journal.Plan.Replaces
	o, err := r.API.Get(ctx, hostRef(old.Host))
	if err != nil || evidence.String(o, "metadata", "uid") != old.HostUID {
		return host{}
	}
	h := hostOf(o)
	if h.errorType != "" || h.state != "provisioned" && !h.free() {
		r.say("host", "BareMetalHost %s: %s", h.name, h.text())
	}
	return h
}

// leaving says how far the deletion of a Machine is (openshift/api:machine/v1beta1/types_machine.go MachineDrained,
// MachineDrainable, MachineTerminable).
func leaving(o kube.Object) (text string, drained bool) {
	if isTrue(o, "Drained") {
		text = "its Node is drained, metal3 cleans the host (1 to 20 minutes)"
		if c := conditionOf(o, "Terminable"); c["status"] == "False" {
			text = "its Node is drained; a hook holds the rest: " + evidence.String(c, "message")
		}
		return text, true
	}
	if evidence.String(o, "status", "nodeRef", "name") == "" {
		return "it has no Node to drain, metal3 cleans the host (1 to 20 minutes)", true
	}
	if c := conditionOf(o, "Drainable"); c["status"] == "False" {
		return "a hook holds the drain: " + evidence.String(c, "message"), false
	}
	if c := conditionOf(o, "Drained"); c["status"] == "False" {
		return "its Node is not drained yet: " + evidence.Shorten(evidence.String(c, "message"), 200), false
	}
	return "its Node is being drained", false
}

// DropHost deletes the BareMetalHost of the worker, where that was planned: its Machine is gone.
func (r *Runner) DropHost(ctx context.Context) error {
	if !r.Journal.Plan.Replaces.DropHost || r.Journal.Status().did(DroppedHost) {
		return nil
	}
	return r.drop(ctx, false)
}

// drop deletes the BareMetalHost. With held it is still consumed by the Machine that is being deleted: its BMC does not
// answer, and metal3 ends the deletion of a host after more than 3 errors of registration
// (metal3-io/baremetal-operator:internal/controller/metal3.io/host_state_machine.go checkInitiateDelete).
func (r *Runner) drop(ctx context.Context, consumed bool) error {
	old := r.Journal.Plan.Replaces
	if err := r.Journal.add(Record{Kind: DroppingHost, Name: old.Host, UID: old.HostUID}); err != nil {
		return err
	}
	for {
		o, err := r.API.Get(ctx, hostRef(old.Host))
		if apierrors.IsNotFound(err) || err == nil && evidence.String(o, "metadata", "uid") != old.HostUID {
			r.Report("BareMetalHost " + old.Host + " is gone")
			return r.Journal.add(Record{Kind: DroppedHost})
		}
		if err == nil {
			h := hostOf(o)
			r.say("host", "BareMetalHost %s: %s", h.name, h.text())
			switch {
			case h.deleting:
			case h.consumer != "" && (!consumed || h.consumer != old.Machine):
				return fmt.Errorf("the Machine %s has taken BareMetalHost %s: it is not deleted", h.consumer, h.name)
			default:
				err = r.API.Delete(ctx, hostRef(old.Host), old.HostUID, evidence.String(o, "metadata", "resourceVersion"), false)
				if err != nil && definite(err) && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
					return fmt.Errorf("delete BareMetalHost %s: %w", old.Host, err)
				}
			}
		}
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			r.say("delete", "BareMetalHost %s is not deleted yet: %v; trying again", old.Host, err)
		}
		if r.pause(ctx) != nil {
			return &LateError{"BareMetalHost " + old.Host + " is not gone"}
		}
	}
}

// undoReplace ends a run of which nothing was stored; nothing else can be undone.
func (r *Runner) undoReplace(ctx context.Context) error {
	s := r.Journal.Status()
	if s.did(DeletingMachine) && !s.did(DeletedMachine) {
		if _, err := r.wasDeleted(ctx); err != nil {
			return err
		}
	}
	if r.Journal.Status().did(DeletedMachine) {
		return &NoWayBackError{r.Journal.Plan.Replaces.Machine}
	}
	return nil
}
