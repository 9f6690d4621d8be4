package repair

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// How changes of fields get into a plan, and which versions allow them.

// planChanges plans the changes of fields that the root and its effects require.
func planChanges(ctx context.Context, d *draft) error {
	for _, c := range fieldChanges() {
		keys := d.remedies[c.remedy]
		if c.follows && len(keys) > 0 && !slices.Contains(keys, d.root.Key) && d.changesRoot() {
			d.note("%s is not in this plan: %s is an effect and ends with its cause", c.remedy, keys[0].Fault)
			continue
		}
		var names []string // each object is changed once, however many faults need it
		while := map[string][]fault.Key{}
		for _, k := range keys {
			name, err := d.objectOf(ctx, c, k)
			if err != nil {
				return err
			}
			if while[name] == nil {
				names = append(names, name)
			}
			while[name] = append(while[name], k)
		}
		for _, name := range names {
			if err := d.planChange(ctx, c, name, while[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// objectOf names the object that is changed for a fault.
func (d *draft) objectOf(ctx context.Context, c fieldChange, k fault.Key) (string, error) {
	if c.hosted != (d.plan.Cluster.Hosted != "") {
		return "", fmt.Errorf("%s is for a hosted cluster: name it with --hosted NS/NAME", c.remedy)
	}
	if c.target.named {
		_, name, _ := strings.Cut(d.ask.Values[c.remedy], "/")
		return name, nil
	}
	return c.objectOf(ctx, d.API, k, d.plan.Cluster)
}

// changesRoot reports whether a step so far is for the root itself.
func (d *draft) changesRoot() bool {
	return slices.ContainsFunc(d.plan.Steps, func(s Step) bool { return slices.Contains(s.While, d.root.Key) })
}

func (d *draft) planChange(ctx context.Context, c fieldChange, name string, while []fault.Key) error {
	args := Args{Remedy: c.remedy, Object: name}
	if c.hosted {
		args.Namespace, _ = d.plan.Cluster.hosted()
	}
	value := d.ask.Values[c.remedy]
	if c.valid != nil && value == "" {
		d.leaveOut("%s is not in this plan: name the value with %s (`rollcall explain %s` shows how to find it)", c.remedy, c.asks(), c.remedy)
		return nil
	}
	if c.target.named {
		if err := c.valid(value); err != nil {
			return fmt.Errorf("%s %q: %w; `rollcall explain %s` shows how to find it", c.asks(), value, err, c.remedy)
		}
	}
	args.Value = value
	ref := c.place(args)
	o, err := d.API.Get(ctx, ref)
	if err != nil {
		return fmt.Errorf("read %s: %w", ref, err)
	}
	err = c.allowed(ctx, d.API)
	if err == nil {
		_, err = c.set(o, input{plan: d.plan.ID, value: value})
	}
	if err != nil {
		d.leaveOut("%s is not in this plan: %v", c.remedy, err)
		return nil
	}
	rd, err := reading(ref, o, c.reads...)
	if err != nil {
		return err
	}
	d.settles = max(d.settles, c.settles)
	d.add(Step{Action: ChangeFields, Args: args, Reads: []Reading{rd}, While: while, Deadline: minutes(c.takes)})
	return nil
}

// allowed refuses a change that the cluster's version does not allow, or whose version is not
// known.
func (c fieldChange) allowed(ctx context.Context, api Reader) error {
	if c.since == "" {
		return nil
	}
	cv, err := api.Get(ctx, clusterVersionRef())
	if err != nil {
		return fmt.Errorf("the version of the cluster could not be read: %w", err)
	}
	version := stringAt(cv, "status", "history", "0", "version")
	have, known := minorOf(version)
	want, _ := minorOf(c.since)
	if !known || have < want {
		return fmt.Errorf("version %s does not allow it; it needs %s", orNone(version), c.since)
	}
	return nil
}

// minorOf returns 16 of 4.16.3; a later major version counts as later than all minor ones.
func minorOf(version string) (int, bool) {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return 0, false
	}
	major, err := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return (major-4)*1000 + minor, err == nil && err2 == nil
}
