package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Cluster is what taking a worker out of the hosted cluster needs of it.
type Cluster interface {
	// Pods are the pods that are bound to a Node.
	Pods(ctx context.Context, node string) ([]map[string]any, error)
	// Evict asks for one eviction. ErrBudget where a PodDisruptionBudget does not allow it
	// now; a pod that is gone, or another one of that name, is no error.
	Evict(ctx context.Context, namespace, name, uid string) error
	// Cordon sets or takes away spec.unschedulable of the Node with that UID.
	Cordon(ctx context.Context, node, uid string, on bool) error
	// DeleteNode deletes the Node with that UID; one that is gone is no error.
	DeleteNode(ctx context.Context, node, uid string) error
	// ReadyNodes are the names of the Nodes that are Ready and may be scheduled to.
	ReadyNodes(ctx context.Context) ([]string, error)
}

// ErrBudget says that a PodDisruptionBudget does not allow an eviction now.
var ErrBudget = errors.New("a PodDisruptionBudget does not allow it now")

// Drain says how a worker is emptied.
type Drain struct {
	Timeout     time.Duration // for all pods; 0 is 10 min
	Every       time.Duration // between tries; 0 is 5 s
	Unmanaged   bool          // also evict pods that no controller re-creates elsewhere
	EmptyDir    bool          // also evict pods with an emptyDir, whose data is lost
	KeepAtLeast int           // Ready Nodes that must be left
}

// Remove takes one worker of the run out of the cluster and deletes its machine: it cordons
// the Node, evicts its pods, deletes the machine and then the Node. Where pods cannot be
// evicted, the Node is uncordoned again and all stays.
func (r *Runner) Remove(ctx context.Context, c Cluster, name string, d Drain) error {
	all := r.Journal.Statuses()
	i := slices.IndexFunc(all, func(s Status) bool { return s.Worker.Name == name })
	if i < 0 {
		return fmt.Errorf("run %s has no worker %s", r.Journal.Plan.Run, name)
	}
	s := all[i]
	if s.Step != In && s.Step != MayBeOut {
		return fmt.Errorf("%s has not joined in run %s (%s): see worker rollback", name, r.Journal.Plan.Run, s.Step)
	}
	n, there, err := r.Nodes(ctx, name)
	switch {
	case err != nil:
		return fmt.Errorf("read Node %s: %w", name, err)
	case there && n.UID != s.NodeUID:
		return fmt.Errorf("Node %s has uid %s, the worker of run %s had %s: it is another machine", name, n.UID, r.Journal.Plan.Run, s.NodeUID)
	}
	if there && s.Step == In {
		if err := r.empty(ctx, c, s, n, d); err != nil {
			return err
		}
	}
	if err := r.Journal.add(Record{Kind: Deleting, Worker: name}); err != nil {
		return err
	}
	if err := r.Provider.Delete(ctx, r.Order(s)); err != nil {
		return err
	}
	if there {
		if err := c.DeleteNode(ctx, name, s.NodeUID); err != nil {
			return fmt.Errorf("delete Node %s: %w", name, err)
		}
	}
	if err := r.Journal.add(Record{Kind: Deleted, Worker: name}); err != nil {
		return err
	}
	r.report(name, "%s", r.removed(s, there))
	return nil
}

// empty cordons and drains a Node. One that somebody else has cordoned stays so.
func (r *Runner) empty(ctx context.Context, c Cluster, s Status, n Node, d Drain) error {
	name := s.Worker.Name
	ready, err := c.ReadyNodes(ctx)
	if err != nil {
		return fmt.Errorf("count the Nodes that are Ready: %w", err)
	}
	if left := len(slices.DeleteFunc(ready, func(n string) bool { return n == name })); left < d.KeepAtLeast {
		return fmt.Errorf("without %s only %d Nodes are Ready, at least %d must be left", name, left, d.KeepAtLeast)
	}
	pods, err := c.Pods(ctx, name)
	if err != nil {
		return fmt.Errorf("list the pods of %s: %w", name, err)
	}
	if _, err := d.choose(pods); err != nil { // before anything is changed
		return err
	}
	if !n.Cordoned {
		if err := r.Journal.add(Record{Kind: Cordoning, Worker: name}); err != nil {
			return err
		}
		s.Cordoned = true
		if err := c.Cordon(ctx, name, s.NodeUID, true); err != nil {
			return fmt.Errorf("cordon %s: %w", name, err)
		}
		r.report(name, "cordoned")
	}
	// A kubelet that does not run stops no pod: those that are being deleted stay until the Node is
	// gone. They are not waited for where the machine, which goes first, is switched off for certain.
	silent := n.Silent && r.Journal.Plan.Provider != ManualName
	if err := r.evict(ctx, c, name, silent, d); err != nil {
		back, end := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer end()
		return errors.Join(err, r.uncordon(back, c, s))
	}
	return nil
}

// uncordon undoes what the run did to a Node that stays.
func (r *Runner) uncordon(ctx context.Context, c Cluster, s Status) error {
	if !s.Cordoned {
		return nil
	}
	if err := c.Cordon(ctx, s.Worker.Name, s.NodeUID, false); err != nil {
		return fmt.Errorf("uncordon %s: %w", s.Worker.Name, err)
	}
	return r.Journal.add(Record{Kind: Uncordoned, Worker: s.Worker.Name})
}

// Uncordon uncordons the workers of the run that an interrupted replacement or deletion has
// cordoned, and that stay. It returns their names.
func (r *Runner) Uncordon(ctx context.Context, c Cluster) (done []string, err error) {
	for _, s := range r.Journal.Statuses() {
		if s.Step != In || !s.Cordoned {
			continue
		}
		n, there, nodeErr := r.Nodes(ctx, s.Worker.Name)
		if nodeErr == nil && there && n.UID == s.NodeUID {
			nodeErr = r.uncordon(ctx, c, s)
		}
		if nodeErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.Worker.Name, nodeErr))
			continue
		}
		if there {
			done = append(done, s.Worker.Name)
		}
	}
	return done, err
}

// evict evicts the pods of a Node and waits until they are gone. With silent those that are being
// deleted are not waited for.
func (r *Runner) evict(ctx context.Context, c Cluster, node string, silent bool, d Drain) error {
	timeout, every := d.Timeout, d.Every
	if timeout == 0 {
		timeout = 10 * time.Minute
	}
	if every == 0 {
		every = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	said := ""
	for {
		pods, err := c.Pods(ctx, node)
		if err != nil {
			return fmt.Errorf("list the pods of %s: %w", node, err)
		}
		left, err := d.choose(pods)
		if err != nil {
			return err
		}
		if silent {
			left = slices.DeleteFunc(left, func(p pod) bool { return p.leaving })
		}
		if len(left) == 0 {
			return nil
		}
		var held []string
		for _, p := range left {
			switch err := c.Evict(ctx, p.namespace, p.name, p.uid); {
			case errors.Is(err, ErrBudget):
				held = append(held, p.namespace+"/"+p.name)
			case err != nil && ctx.Err() == nil:
				return fmt.Errorf("evict pod %s/%s: %w", p.namespace, p.name, err)
			}
		}
		if now := join(held); now != said && now != "" {
			said = now
			r.report(node, "a PodDisruptionBudget holds %s; trying again", now)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d pods of %s are not evicted after %s: %s", len(left), node, timeout, join(names(left)))
		case <-time.After(every):
		}
	}
}

// pod is a pod that has to go.
type pod struct {
	namespace, name, uid string
	leaving              bool // it is being deleted
}

func names(pods []pod) []string {
	var list []string
	for _, p := range pods {
		list = append(list, p.namespace+"/"+p.name)
	}
	return list
}

// choose returns the pods that have to be evicted: not those of DaemonSets, which come back
// on the same Node, not mirror pods, which are the kubelet's, and not finished ones. Pods
// that would be lost are an error, as for `oc adm drain`
// (kubernetes/kubectl:pkg/drain/filters.go).
func (d Drain) choose(pods []map[string]any) ([]pod, error) {
	var list []pod
	var unmanaged, data []string
	for _, o := range pods {
		p := pod{
			evidence.String(o, "metadata", "namespace"), evidence.String(o, "metadata", "name"), evidence.String(o, "metadata", "uid"),
			evidence.String(o, "metadata", "deletionTimestamp") != "",
		}
		owner := controller(o)
		switch phase := evidence.String(o, "status", "phase"); {
		case phase == "Succeeded" || phase == "Failed", owner == "DaemonSet",
			evidence.String(o, "metadata", "annotations", openshift.MirrorPodAnnotation) != "":
			continue
		case owner == "" && !d.Unmanaged:
			unmanaged = append(unmanaged, p.namespace+"/"+p.name)
		case emptyDir(o) && !d.EmptyDir:
			data = append(data, p.namespace+"/"+p.name)
		}
		list = append(list, p)
	}
	var wrong []string
	if len(unmanaged) > 0 {
		wrong = append(wrong, "no controller makes "+join(unmanaged)+" again: --force evicts them all the same")
	}
	if len(data) > 0 {
		wrong = append(wrong, "the data in emptyDir volumes of "+join(data)+" would be lost: --delete-emptydir-data evicts them all the same")
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return list, nil
}

// controller is the kind of the object that makes a pod, "" if there is none.
func controller(o map[string]any) string {
	owners, _ := evidence.Field(o, "metadata", "ownerReferences").([]any)
	for _, owner := range owners {
		if owner, is := owner.(map[string]any); is && owner["controller"] == true {
			kind, _ := owner["kind"].(string)
			return kind
		}
	}
	return ""
}

func emptyDir(o map[string]any) bool {
	volumes, _ := evidence.Field(o, "spec", "volumes").([]any)
	return slices.ContainsFunc(volumes, func(v any) bool {
		volume, _ := v.(map[string]any)
		_, is := volume["emptyDir"]
		return is
	})
}
