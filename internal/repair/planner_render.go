package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The plan of recreate-render and align-annotations: both give the daemons of a pool a config to
// start from again, and what differs between two configs decides which of the two it is.

// stuck groups the pool's nodes by the render that they name and that is not there.
func (d *draft) stuck(ctx context.Context) (map[string][]string, error) {
	nodes, err := d.API.List(ctx, nodeRef(""))
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	out := map[string][]string{}
	for _, n := range nodes {
		config := stringAt(n, "metadata", "annotations", openshift.CurrentConfigAnnotation)
		if m := renderedName.FindStringSubmatch(config); m == nil || m[1] != d.pool {
			continue
		}
		_, err := d.API.Get(ctx, configRef(config))
		switch {
		case apierrors.IsNotFound(err):
			out[config] = append(out[config], stringAt(n, "metadata", "name"))
		case err != nil:
			return nil, fmt.Errorf("read MachineConfig %s: %w", config, err)
		}
	}
	for _, names := range out {
		slices.Sort(names)
	}
	return out, nil
}

// planRenders plans a step for each config that nodes run and that the cluster does not have.
func planRenders(ctx context.Context, d *draft) error {
	if !d.requires(recreateRender()) && !d.requires(alignAnnotations()) {
		return nil
	}
	stuck, err := d.stuck(ctx)
	if err != nil {
		return err
	}
	for _, config := range slices.Sorted(maps.Keys(stuck)) {
		if err := d.renderOne(ctx, config, stuck[config]); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) renderOne(ctx context.Context, config string, nodes []string) error {
	held, from, digest, err := d.fetch(ctx, config, nodes)
	if err != nil {
		return err
	}
	if held == nil {
		return nil
	}
	pool, err := d.API.Get(ctx, poolRef(d.pool))
	if err != nil {
		return fmt.Errorf("read pool %s: %w", d.pool, err)
	}
	target := stringAt(pool, "spec", "configuration", "name")
	present, err := d.API.Get(ctx, configRef(target))
	if err != nil {
		return fmt.Errorf("read MachineConfig %s: %w", target, err)
	}
	other, err := configOf(present)
	if err != nil {
		return fmt.Errorf("read MachineConfig %s: %w", target, err)
	}
	diff, err := held.diff(other)
	if err != nil {
		return err
	}
	if len(diff) == 0 {
		d.note("%s and %s differ in nothing that a host applies", config, target)
	} else {
		d.note("what differs between %s (on %s) and %s: %s. Find out where that comes from, or the next install repeats it",
			config, strings.Join(nodes, ", "), target, strings.Join(diff, "; "))
	}
	if d.ask.Align && len(diff) == 0 {
		return d.align(ctx, target, nodes, from, digest)
	}
	if d.ask.Align {
		d.note("annotations are not aligned, though asked for: the configs differ in what is applied; the render is re-created instead")
	}
	return d.recreate(ctx, config, nodes, from, digest)
}

// fetch gets and validates the missing config from one of the hosts that name it.
func (d *draft) fetch(ctx context.Context, config string, nodes []string) (*machineConfig, string, string, error) {
	want, err := expected(ctx, d.API, d.pool, config)
	if err != nil {
		return nil, "", "", err
	}
	var tried, unfit []error
	for _, host := range nodes {
		raw, err := fetchHeld(ctx, d.Held, host)
		if err != nil {
			tried = append(tried, err)
			continue
		}
		held, err := parseConfig(raw)
		if err == nil {
			err = held.validate(want)
		}
		if err != nil {
			unfit = append(unfit, fmt.Errorf("use %s of %s: %w", HeldPath, host, err))
			continue
		}
		content, err := held.content()
		if err != nil {
			return nil, "", "", fmt.Errorf("encode held config of %s: %w", host, err)
		}
		digest, err := d.Store.Put(content)
		return held, host + ":" + HeldPath, digest, err
	}
	if len(unfit) > 0 {
		return nil, "", "", errors.Join(unfit...)
	}
	d.leaveOut("%s is not re-created in this plan, because no host's copy could be had (%v): fetch %s from %s and name it with --held HOST=FILE",
		config, firstLine(errors.Join(tried...)), HeldPath, strings.Join(nodes, " or "))
	return nil, "", "", nil
}

func firstLine(err error) string {
	if err == nil || errors.Is(err, fs.ErrNotExist) && err.Error() == "" {
		return "none was asked"
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (d *draft) recreate(ctx context.Context, config string, nodes []string, from, digest string) error {
	absent, err := reading(configRef(config), nil)
	if err != nil {
		return err
	}
	reads := []Reading{absent}
	for _, n := range nodes {
		rd, err := d.nodeReading(ctx, n)
		if err != nil {
			return err
		}
		reads = append(reads, rd)
	}
	d.add(Step{Action: RecreateRender, Reads: reads, While: d.remedies[recreateRemedy], Deadline: minutes(15),
		Args: Args{Pool: d.pool, Config: config, Content: digest, From: from}})
	return nil
}

func (d *draft) nodeReading(ctx context.Context, name string) (Reading, error) {
	node, err := d.API.Get(ctx, nodeRef(name))
	if err != nil {
		return Reading{}, fmt.Errorf("read Node %s: %w", name, err)
	}
	return reading(nodeRef(name), node, nodeFields()...)
}

func (d *draft) align(ctx context.Context, target string, nodes []string, from, digest string) error {
	for _, n := range nodes {
		rd, err := d.nodeReading(ctx, n)
		if err != nil {
			return err
		}
		d.add(Step{Action: AlignAnnotations, Reads: []Reading{rd}, While: d.remedies[alignRemedy], Deadline: minutes(15),
			Args: Args{Host: n, Pool: d.pool, Config: target, Content: digest, From: from}})
	}
	return nil
}
