package metalhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// JoinedError says that a host has a Node: it is a part of the cluster, and stays.
type JoinedError struct{ Node, Machine, Set string }

// Error implements error.
func (e *JoinedError) Error() string {
	return "the host has joined as Node " + e.Node + " and stays: it carries pods"
}

// Rollback takes away what the run has made: the place in the MachineSet with the Machine that came of it, the
// BareMetalHost, the Secret. What joined stays.
func (r *Runner) Rollback(ctx context.Context) error {
	if r.Journal.Plan.Replaces != nil {
		return r.undoReplace(ctx)
	}
	if err := r.adopt(ctx); err != nil {
		return err
	}
	s := r.Journal.Status()
	h, there, err := r.mine(ctx)
	if err != nil {
		return err
	}
	if err := r.freeHost(ctx, h, there); err != nil {
		return err
	}
	if there && !s.did(DeletedHost) {
		if err := r.deleteHost(ctx); err != nil {
			return err
		}
	}
	return r.deleteSecret(ctx)
}

// adopt completes the journal with what a killed run has made.
func (r *Runner) adopt(ctx context.Context) error {
	p, s := r.Journal.Plan, r.Journal.Status()
	if !p.Host.HaveSecret && s.did(MakingSecret) && s.Secret == "" {
		if _, err := r.find(ctx, made{secretRef(p.Host.Secret), "Secret " + p.Host.Secret, MakingSecret, MadeSecret}); err != nil {
			return err
		}
	}
	if s.did(MakingHost) && s.Host == "" {
		if _, err := r.find(ctx, made{hostRef(p.Host.Name), "BareMetalHost " + p.Host.Name, MakingHost, MadeHost}); err != nil {
			return err
		}
	}
	if s.did(Scaling) && !s.did(Scaled) {
		if _, err := r.wasScaled(ctx, s.Scale, +1, Scaled); err != nil {
			return err
		}
	}
	if s.did(ScalingDown) && !s.did(ScaledDown) {
		if _, err := r.wasScaled(ctx, s.Down, -1, ScaledDown); err != nil {
			return err
		}
	}
	return nil
}

// mine is the host of the run, where it is there.
func (r *Runner) mine(ctx context.Context) (h host, there bool, err error) {
	if r.Journal.Status().Host == "" {
		return h, false, nil
	}
	h, err = r.look(ctx)
	if errors.Is(err, errGone) {
		return h, false, nil
	}
	return h, err == nil, err
}

// freeHost takes the Machine away that the run has caused, and its place in the MachineSet.
func (r *Runner) freeHost(ctx context.Context, h host, there bool) error {
	s := r.Journal.Status()
	victim, known, err := r.victim(ctx, h, there)
	if err != nil {
		return err
	}
	if known {
		if err := r.notJoined(ctx, victim, h); err != nil {
			return err
		}
	}
	if there {
		if err := r.loses(ctx, h); err != nil {
			return err
		}
	}
	switch {
	case !s.did(Scaled) && known && there && h.consumer == victim.name:
		return fmt.Errorf("the Machine %s has taken the host, and this run has not made it: delete it first, its MachineSet makes another "+
			"one that waits for a host: "+
			"oc -n %s delete machine %s", victim.name, Namespace, victim.name)
	case !s.did(Scaled):
		return nil
	case !s.did(ScaledDown):
		if err := r.scaleDown(ctx, victim, known); err != nil {
			return err
		}
	}
	if !known {
		return nil
	}
	return r.goneMachine(ctx, victim)
}

// victim is the Machine that came of the run: the one that has taken the host, or the only new one of the
// MachineSet that has no host.
func (r *Runner) victim(ctx context.Context, h host, there bool) (m machine, known bool, err error) {
	s := r.Journal.Status()
	name, uid := s.Taken.Name, s.Taken.UID
	if s.Marked.Name != "" {
		name, uid = s.Marked.Name, s.Marked.UID
	}
	if there && h.consumer != "" && name == "" {
		if h.foreign {
			return m, false, fmt.Errorf("BareMetalHost %s was taken by %s, which is no Machine of %s: it is not taken "+
				"away", h.name, h.consumer, Namespace)
		}
		name = h.consumer
	}
	if name != "" {
		o, err := r.API.Get(ctx, machineRef(name))
		switch {
		case apierrors.IsNotFound(err):
			return m, false, nil
		case err != nil:
			return m, false, fmt.Errorf("read Machine %s: %w", name, err)
		}
		m = machineOf(o)
		return m, uid == "" || uid == m.uid, nil
	}
	if !s.did(Scaled) || s.did(ScaledDown) {
		return m, false, nil
	}
	list, err := r.fresh(ctx)
	switch {
	case err != nil:
		return m, false, fmt.Errorf("find the Machine that came of scaling: %w", err)
	case len(list) == 0:
		return m, false, nil
	case len(list) > 1:
		return m, false, fmt.Errorf("MachineSet %s has several Machines that are there since this run scaled it (%s), and none has taken "+
			"the host: which one is "+
			"of this run is not known. Scale it down by hand", r.Journal.Plan.Set, machineNames(list))
	}
	return list[0], true, nil
}

func machineNames(list []machine) string {
	var names []string
	for _, m := range list {
		names = append(names, m.name)
	}
	return strings.Join(names, ", ")
}

// notJoined refuses a host with a Node.
func (r *Runner) notJoined(ctx context.Context, m machine, h host) error {
	if m.node != "" {
		return &JoinedError{m.node, m.name, r.Journal.Plan.Set}
	}
	if h.hostname == "" {
		return nil
	}
	n, err := r.API.Get(ctx, kube.Ref{Version: "v1", Resource: "nodes", Name: strings.ToLower(h.hostname)})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("find out whether the host has joined: %w", err)
	case timeOf(n, "metadata", "creationTimestamp").Before(r.Journal.Plan.Made.Truncate(time.Second)):
		return nil // another machine
	}
	return &JoinedError{h.hostname, m.name, r.Journal.Plan.Set}
}

// scaleDown marks the Machine and scales its MachineSet by one. Which Machine goes is decided by the mark, and
// by nothing else: where another one could go first, nothing is done.
func (r *Runner) scaleDown(ctx context.Context, m machine, known bool) error {
	seen, err := Look(ctx, r.API)
	if err != nil {
		return err
	}
	p := r.Journal.Plan
	if err := errors.Join(seen.Unread["machinesets"], seen.Unread["machines"]); err != nil {
		return fmt.Errorf("read MachineSet %s and its Machines: %w", p.Set, err)
	}
	o := object(seen.Sets, p.Set)
	one := setOf(o)
	if o == nil || one.uid != p.SetUID {
		return fmt.Errorf("MachineSet %s is not the one that this run has scaled", p.Set)
	}
	left := 0
	for _, other := range inSet(one, seen.machines()) {
		if known && other.name == m.name {
			continue
		}
		left++
		if known && !m.deleting && (other.deleting || other.marked || other.failed != "") {
			// pkg/controller/machineset/delete_policy.go: these have the priority of a mark, or more.
			return fmt.Errorf("the Machine %s of MachineSet %s is failed, marked or being deleted: scaling down could take it and not "+
				"Machine %s. Settle that first",
				other.name, p.Set, m.name)
		}
	}
	switch {
	case !known && left > one.replicas-1:
		return fmt.Errorf("MachineSet %s has %d replicas and %d Machines, none of which is known to be of this run: scaling down would "+
			"take one of others. Scale "+
			"it by hand", p.Set, one.replicas, left)
	case one.replicas == 0:
		return nil
	case known:
		if err := r.mark(ctx, m); err != nil {
			return err
		}
	}
	return r.scaleTo(ctx, seen, o, ScalingDown, ScaledDown, -1)
}

// mark puts the annotation on the Machine that chooses it.
func (r *Runner) mark(ctx context.Context, m machine) error {
	if err := r.Journal.add(Record{Kind: Marking, Name: m.name, UID: m.uid}); err != nil {
		return err
	}
	var err error
	for range scaleTries {
		var o kube.Object
		if o, err = r.API.Get(ctx, machineRef(m.name)); err != nil {
			break
		}
		now := machineOf(o)
		switch {
		case now.uid != m.uid:
			return fmt.Errorf("the Machine %s was deleted and made again by somebody else", m.name)
		case now.node != "":
			return &JoinedError{now.node, m.name, r.Journal.Plan.Set}
		case now.marked:
			return nil
		}
		ops := []map[string]any{
			{"op": "test", "path": "/metadata/uid", "value": m.uid},
			{"op": "test", "path": "/metadata/resourceVersion", "value": evidence.String(o, "metadata", "resourceVersion")},
		}
		if _, has := evidence.Field(o, "metadata", "annotations").(map[string]any); !has {
			ops = append(ops, map[string]any{"op": "add", "path": "/metadata/annotations", "value": map[string]any{}})
		}
		ops = append(ops, map[string]any{"op": "add", "path": "/metadata/annotations/" + strings.ReplaceAll(deleteAnnotation, "/", "~1"), "value": "true"})
		patch, encode := json.Marshal(ops)
		if encode != nil {
			return encode
		}
		if _, err = r.API.Patch(ctx, machineRef(m.name), "", patch, false); err == nil {
			r.Report("Machine " + m.name + " is the one that its MachineSet deletes first")
			return nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
			break
		}
	}
	return fmt.Errorf("choose Machine %s for deletion: %w", m.name, err)
}

func (r *Runner) goneMachine(ctx context.Context, m machine) error {
	return r.gone(ctx, machineRef(m.name), m.uid, "Machine "+m.name+" is not gone: metal3 cleans the host first")
}

// gone waits until an object is not there any more.
func (r *Runner) gone(ctx context.Context, ref kube.Ref, uid, what string) error {
	for {
		o, err := r.API.Get(ctx, ref)
		switch {
		case apierrors.IsNotFound(err), err == nil && evidence.String(o, "metadata", "uid") != uid:
			return nil
		case err == nil && ref.Resource == "baremetalhosts":
			r.say("host", "%s", hostOf(o).text())
		case err != nil && ctx.Err() == nil:
			r.say("gone", "%s is not read: %v; trying again", ref, err)
		}
		if r.pause(ctx) != nil {
			return &LateError{what}
		}
	}
}

// deleteHost deletes the BareMetalHost once nothing consumes it. metal3 switches the machine off.
func (r *Runner) deleteHost(ctx context.Context) error {
	if err := r.Journal.add(Record{Kind: DeletingHost}); err != nil {
		return err
	}
	name := r.Journal.Plan.Host.Name
	for {
		o, err := r.API.Get(ctx, hostRef(name))
		if apierrors.IsNotFound(err) || err == nil && evidence.String(o, "metadata", "uid") != r.Journal.Status().Host {
			return r.Journal.add(Record{Kind: DeletedHost})
		}
		if err == nil {
			h := hostOf(o)
			switch {
			case h.deleting:
				if err := r.gone(ctx, hostRef(name), h.uid, "BareMetalHost "+name+" is being deleted and not gone: metal3 switches it "+
					"off first"); err != nil {
					return err
				}
				r.Report("BareMetalHost " + name + " is deleted")
				return r.Journal.add(Record{Kind: DeletedHost})
			case h.consumer != "" && h.consumer != r.Journal.Status().Taken.Name:
				return fmt.Errorf("the Machine %s has taken the host meanwhile: BareMetalHost %s is not deleted", h.consumer, name)
			case h.consumer == "":
				err = r.API.Delete(ctx, hostRef(name), h.uid, evidence.String(o, "metadata", "resourceVersion"), false)
				if err != nil && definite(err) && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
					return fmt.Errorf("delete BareMetalHost %s: %w", name, err)
				}
			default:
				r.say("host", "%s", h.text())
			}
		}
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			r.say("delete", "BareMetalHost %s is not deleted yet: %v; trying again", name, err)
		}
		if r.pause(ctx) != nil {
			return &LateError{"BareMetalHost " + name + " is not deleted"}
		}
	}
}
