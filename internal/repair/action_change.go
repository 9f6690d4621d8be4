package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// changeFields does what one of the changes says.
func changeFields() action {
	return action{
		check: func(s Step) error {
			c, ok := changeOf(s.Args.Remedy)
			if !ok {
				return fmt.Errorf("args.remedy %q is none that changes fields", s.Args.Remedy)
			}
			if !c.named(s.Args.Object) {
				return fmt.Errorf("args.object %q is not the object that %s changes", s.Args.Object, s.Args.Remedy)
			}
			if c.valid == nil && s.Args.Value != "" {
				return fmt.Errorf("args.value: %s takes none", s.Args.Remedy)
			}
			if c.valid != nil {
				if err := c.valid(s.Args.Value); err != nil {
					return fmt.Errorf("args.value: %w", err)
				}
			}
			if c.fromValue && !strings.HasSuffix(s.Args.Value, "/"+s.Args.Object) {
				return fmt.Errorf("args.object %q is not that of args.value", s.Args.Object)
			}
			return need(map[string]string{"object": s.Args.Object})
		},
		prepare: func(ctx context.Context, r *run, s Step) (*act, string, error) {
			c, ref, o, err := r.changed(ctx, s)
			if err != nil {
				return nil, "", err
			}
			if err := r.still(ctx, s, c, ref, o); err != nil {
				return nil, "", err
			}
			if err := allowed(ctx, r.API, c); err != nil {
				return nil, "", refuse("%s: %v", ref, err)
			}
			set, err := c.sets(o, input{plan: r.plan.ID, value: s.Args.Value})
			if err != nil {
				return nil, "", refuse("%s: %v", ref, err).instead("look again with `rollcall diagnose`")
			}
			w, err := r.patchAct(ref, "", o, set, c.inverse)
			if err == nil && w.Before == w.After {
				return nil, "it is so already", nil
			}
			if err == nil && c.taken != nil {
				err = w.recognizedBy(o, set, planMark)
			}
			return w, "", err
		},
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			c, ref, o, err := r.changed(ctx, s)
			if err != nil {
				return false, fmt.Sprintf("it could not be read: %v", err), nil
			}
			if why := r.notSet(c, ref, o, s); why != "" {
				return false, why, nil
			}
			if c.effect != nil {
				if ok, what := c.effect(o, s); !ok {
					return false, what + " has not followed yet", nil
				}
			}
			return true, "", nil
		},
		dependants: func(ctx context.Context, r *run, s Step, _ Write) (string, error) {
			c, _, o, err := r.changed(ctx, s)
			if err != nil || c.keeps == nil {
				return "", err
			}
			return c.keeps(o), nil
		},
	}
}

// still refuses an object that is not that of the step's faults, or that is not as it was
// when the plan was made: this is the version that is patched.
func (r *run) still(ctx context.Context, s Step, c change, ref Ref, o Object) error {
	for _, k := range s.While {
		if c.fromValue { // a person has named it
			break
		}
		name, err := objectOf(ctx, r.API, c, k, r.plan.Cluster)
		if err != nil {
			return refuse("%s: it is not known whether it belongs to %s: %v", ref, k.Subject, err)
		}
		if name != s.Args.Object {
			return refuse("%s is not the object of %s, which is %s", ref, k.Subject, name).instead("make a new plan")
		}
	}
	for _, rd := range s.Reads {
		have, err := digestFields(o, rd.Fields)
		if err != nil {
			return err
		}
		if rd.Object == ref && have != rd.Digest {
			return refuse("%s is not as it was when the plan was made: %s; last written by %s", ref, changed(rd, o), lastManager(o, rd.Fields)).instead("make a new plan")
		}
	}
	return nil
}

// changed reads the object of a step that changes fields.
func (r *run) changed(ctx context.Context, s Step) (change, Ref, Object, error) {
	c, ok := changeOf(s.Args.Remedy)
	if !ok {
		return c, Ref{}, nil, fmt.Errorf("step %s: no change %q", s.ID, s.Args.Remedy)
	}
	ref := c.place(s.Args)
	o, err := r.read(ctx, ref)
	return c, ref, o, err
}

// describeChange fills what people read of a step that changes fields.
func describeChange(s *Step) {
	c, ok := changeOf(s.Args.Remedy)
	if !ok {
		return
	}
	name := s.Args.Object
	ref := c.place(s.Args)
	s.Subject, s.Risk, s.RiskText, s.Proof = ref.Resource+"/"+ref.Name, c.risk, c.riskText, c.proof
	s.Title, s.OC, s.Inverse = fmt.Sprintf(c.title, name), fmt.Sprintf(c.oc, name), c.inverse
	s.OC = strings.NewReplacer("RESOURCE", ref.Resource, "NAMESPACE", ref.Namespace).Replace(s.OC)
	if c.valid != nil {
		s.Title, s.OC = s.Title+": "+s.Args.Value, strings.ReplaceAll(s.OC, "VALUE", s.Args.Value)
	}
	s.Expect.Text, s.PreImage = fmt.Sprintf(c.expect, name), "the fields as they were"
}

// Asks returns the flags with which a plan takes what only a person knows for a remedy, ""
// where it needs nothing.
func Asks(remedy string) string {
	if remedy == bmcCredentials {
		return credentialFlags
	}
	if c, ok := changeOf(remedy); ok && c.valid != nil {
		return c.flag
	}
	return ""
}

// changesFields reports whether a change of fields is called for.
func (b *building) changesFields() bool {
	return slices.ContainsFunc(changes(), func(c change) bool { return len(b.remedies[c.remedy]) > 0 })
}

// change plans the changes of fields that the root and its effects call for.
func (b *building) change(ctx context.Context) error {
	for _, c := range changes() {
		if keys := b.remedies[c.remedy]; c.follows && len(keys) > 0 && !slices.Contains(keys, b.root.Key) && b.changesRoot() {
			b.plan.Notes = append(b.plan.Notes, fmt.Sprintf("%s is not in this plan: %s is an effect and ends with its cause", c.remedy, keys[0].Fault))
			continue
		}
		var names []string // each object is changed once, whatever faults call for it
		why := map[string][]fault.Key{}
		for _, k := range b.remedies[c.remedy] {
			if c.hosted != (b.plan.Cluster.Hosted != "") {
				return fmt.Errorf("%s is for a hosted cluster: name it with --hosted NS/NAME", c.remedy)
			}
			name, err := "", error(nil)
			if _, name, _ = strings.Cut(b.ask.Values[c.remedy], "/"); !c.fromValue {
				name, err = objectOf(ctx, b.API, c, k, b.plan.Cluster)
			}
			if err != nil {
				return err
			}
			if why[name] == nil {
				names = append(names, name)
			}
			why[name] = append(why[name], k)
		}
		for _, name := range names {
			if err := b.changeOne(ctx, c, name, why[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// changesRoot reports whether a step so far is for the root itself.
func (b *building) changesRoot() bool {
	return slices.ContainsFunc(b.plan.Steps, func(s Step) bool { return slices.Contains(s.While, b.root.Key) })
}

func (b *building) changeOne(ctx context.Context, c change, name string, while []fault.Key) error {
	args := Args{Remedy: c.remedy, Object: name}
	if c.hosted {
		args.Namespace, _ = b.plan.Cluster.hosted()
	}
	value := b.ask.Values[c.remedy]
	if c.valid != nil && value == "" {
		b.open("%s is not in this plan: name the value with %s (`rollcall explain %s` shows how to find it)", c.remedy, c.flag, c.remedy)
		return nil
	}
	if c.fromValue {
		if err := c.valid(value); err != nil {
			return fmt.Errorf("%s %q: %w; `rollcall explain %s` shows how to find it", c.flag, value, err, c.remedy)
		}
	}
	args.Value = value
	ref := c.place(args)
	o, err := b.API.Get(ctx, ref)
	if err != nil {
		return fmt.Errorf("read %s: %w", ref, err)
	}
	err = allowed(ctx, b.API, c)
	if err == nil {
		_, err = c.sets(o, input{plan: b.plan.ID, value: value})
	}
	if err != nil {
		b.open("%s is not in this plan: %v", c.remedy, err)
		return nil
	}
	rd, err := reading(ref, o, c.reads...)
	if err != nil {
		return err
	}
	b.settles = max(b.settles, c.settles)
	b.add(Step{Action: ChangeFields, Args: args, Reads: []Reading{rd}, While: while, Deadline: minutes(c.takes)})
	return nil
}

// objectOf names the object that is changed for a fault.
func objectOf(ctx context.Context, api Reader, c change, k fault.Key, cluster ClusterID) (string, error) {
	switch ref := c.object(k.Subject.Name); {
	case ref.Resource == "hostedclusters":
		_, name := cluster.hosted()
		return name, nil
	case c.operands && k.Subject.Kind == fault.Operator && c.named(k.Subject.Name):
		return k.Subject.Name, nil
	case c.operands:
		return "", fmt.Errorf("%s runs no static pods", k.Subject)
	case k.Subject.Kind == fault.Pool || k.Subject.Kind == fault.NodePool && ref.Resource == "nodepools":
		return k.Subject.Name, nil
	case k.Subject.Kind == fault.Host && ref.Resource == "baremetalhosts":
		return bareMetalHostOf(ctx, api, k.Subject.Name)
	case ref.Name != "":
		return ref.Name, nil
	}
	return "", fmt.Errorf("no object is known that %s changes for %s", c.remedy, k.Subject)
}

// bareMetalHostOf finds the BareMetalHost of a host: by its name, or over the Machine that
// the Node belongs to. It never guesses among several.
func bareMetalHostOf(ctx context.Context, api Reader, host string) (string, error) {
	machines, err := api.List(ctx, machineRef(""))
	if err != nil {
		return "", fmt.Errorf("list machines: %w", err)
	}
	var mine, others []string
	for _, m := range machines {
		if inventory.SameName(stringAt(m, "status", "nodeRef", "name"), host) {
			mine = append(mine, stringAt(m, "metadata", "name"))
		} else if stringAt(m, "status", "nodeRef", "name") != "" {
			others = append(others, stringAt(m, "metadata", "name"))
		}
	}
	list, err := api.List(ctx, bareMetalHostRef(""))
	if err != nil {
		return "", fmt.Errorf("list BareMetalHosts: %w", err)
	}
	var found []string
	for _, o := range list {
		name, consumer := stringAt(o, "metadata", "name"), stringAt(o, "spec", "consumerRef", "name")
		if inventory.SameName(name, host) && !slices.Contains(others, consumer) || consumer != "" && slices.Contains(mine, consumer) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", errors.New("no BareMetalHost of " + host + " was found")
	}
	return "", fmt.Errorf("%s may be one of the BareMetalHosts %q", host, found)
}

// notSet says which field does not have the value of the change, "" where all have it. An
// annotation that the controller has taken counts by the mark that was written with it.
func (r *run) notSet(c change, ref Ref, o Object, s Step) string {
	if c.taken != nil {
		if mark, _ := fieldAt(o, planMark); mark != r.plan.ID {
			return fmt.Sprintf("%s has not the mark of this plan", ref)
		}
		if key := c.taken(o); key != "" {
			return fmt.Sprintf("its controller has not taken the annotation %s of %s yet", key, ref)
		}
		return ""
	}
	set, err := c.sets(o, input{plan: r.plan.ID, value: s.Args.Value})
	if err != nil {
		return fmt.Sprintf("%s: %v", ref, err)
	}
	for path, want := range set {
		if have, there := fieldAt(o, path); there != (want != nil) || there && !sameValue(have, want) {
			return fmt.Sprintf("%s of %s is %v", path, ref, have)
		}
	}
	return ""
}
