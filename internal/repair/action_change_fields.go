package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// ChangeFields sets or removes fields of one object. The remedy decides which ones.
const ChangeFields ActionName = "change-fields"

// fieldChange is a remedy that sets or removes fields of one object and leaves the rest to the
// controller of that object. What it writes is derived from the object, never from a plan.
// Each is one value in a file of its own; fieldChanges lists them.
type fieldChange struct {
	remedy string       // its id in the catalog
	target changeTarget // the object that is changed
	hosted bool         // it is for a hosted cluster: see hosted.go

	// reads are the fields that the plan shows and that must be as they were.
	reads []string
	// set returns the fields to be written, nil to remove one; an error says why not.
	set func(o Object, in input) (map[string]any, error)
	// valid judges the value that only a person knows; nil: none is needed. flag is its flag of
	// `fix plan`, usage the help of the flag with the placeholder in backquotes.
	valid func(value string) error
	flag  string
	usage string
	// since is the first version that allows the change; "" for all.
	since string
	// guards are those of the object of the name; nil: none but those of every write.
	guards func(name string) []Guard
	// taken returns an annotation that the controller removes when it acts; "" for none. The
	// write then has a mark of the plan by which it is recognized. nil: there is none.
	taken func(o Object) string
	// effect reports whether the controller has followed, and what has to; nil: the fields alone are
	// the effect.
	effect func(o Object, s Step) (bool, string)
	// keeps returns why the change is no longer undone, "" where it can be; nil: it always can be.
	keeps func(o Object) string
	// rights are what is asked for in addition to reading and patching the object.
	rights []Access
	// mayCostMember reports whether etcd may lose a member by a change of the object; nil: no.
	mayCostMember func(name string) bool
	// follows: what it is for ends by itself where the cause of that is changed.
	follows bool
	// rollsOut: the machines of the pool get another config for it.
	rollsOut bool

	risk     fault.Risk
	riskText string
	proof    Grade
	title    string // with %s for the name, as all that follow
	oc       string // VALUE, NAMESPACE and RESOURCE are filled in
	inverse  string
	expect   string
	takes    int // minutes until the effect is seen, at most
	settles  int // minutes until the faults are absent, at most; 0: as for all repairs
}

// input is what a change may need besides the object that it changes.
type input struct {
	plan  string // the plan's id
	value string // what a person gave
}

// planMark is the annotation by which a write is recognized whose other fields do not stay.
var planMark = pointer("metadata", "annotations", planAnnotation)

func changeFields() action {
	var list []remedy
	for _, c := range fieldChanges() {
		list = append(list, c.asRemedy())
	}
	return action{
		name:     ChangeFields,
		remedies: list,
		plan:     planChanges,
		check:    checkChange,
		fits:     fitsHosted,
		remedyOf: func(a Args) string { return a.Remedy },
		guards: func(a Args) []Guard {
			c, ok := changeOf(a.Remedy)
			if !ok || c.guards == nil {
				return nil
			}
			return c.guards(a.Object)
		},
		reads: func(a Args) []readRule {
			c, ok := changeOf(a.Remedy)
			if !ok {
				return nil
			}
			return []readRule{{object: c.place(a), fields: c.reads}}
		},
		describe:   describeChange,
		prepare:    prepareChange,
		seen:       changeSeen,
		dependants: changeDependants,
		hosted:     func(a Args) bool { c, _ := changeOf(a.Remedy); return c.hosted },
		mayCostMember: func(a Args) bool {
			c, ok := changeOf(a.Remedy)
			return ok && c.mayCostMember != nil && c.mayCostMember(a.Object)
		},
	}
}

func changeOf(remedy string) (fieldChange, bool) {
	list := fieldChanges()
	i := slices.IndexFunc(list, func(c fieldChange) bool { return c.remedy == remedy })
	if i < 0 {
		return fieldChange{}, false
	}
	return list[i], true
}

func (c fieldChange) asRemedy() remedy {
	r := remedy{id: c.remedy, asks: c.asks(), hosted: c.hosted, rollsOut: c.rollsOut}
	for _, name := range c.target.objects() {
		r.rights = append(r.rights, access(c.target.ref(name), "", "get", "patch")...)
	}
	if c.guards != nil {
		for _, g := range c.guards("master") { // of a pool those of the control plane, which has most
			r.rights = append(r.rights, guardRights(g.Guard)...)
		}
	}
	r.rights = slices.Concat(r.rights, c.target.rights, c.rights)
	return r
}

// asks is the flag with its placeholder, "" where nothing is asked for.
func (c fieldChange) asks() string {
	if c.valid == nil {
		return ""
	}
	return "--" + c.flag + " " + strings.Split(c.usage, "`")[1]
}

// ValueFlag is a flag of `fix plan` for a value that only a person knows.
type ValueFlag struct {
	Remedy string // the key of the value in Ask.Values
	Name   string // without dashes
	Usage  string // with the placeholder in backquotes
}

// ValueFlags are the flags of all changes of fields.
func ValueFlags() []ValueFlag {
	var list []ValueFlag
	for _, c := range fieldChanges() {
		if c.valid != nil {
			list = append(list, ValueFlag{Remedy: c.remedy, Name: c.flag, Usage: c.usage})
		}
	}
	return list
}

// place is the object that a step changes.
func (c fieldChange) place(a Args) Ref {
	ref := c.target.ref(a.Object)
	if c.hosted && ref.Namespace == "" {
		ref.Namespace = a.Namespace
	}
	if c.target.named {
		ref.Namespace, _, _ = strings.Cut(a.Value, "/")
	}
	return ref
}

func checkChange(s Step) error {
	c, ok := changeOf(s.Args.Remedy)
	if !ok {
		return fmt.Errorf("args.remedy %q is none that changes fields", s.Args.Remedy)
	}
	if !c.target.has(s.Args.Object) {
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
	if c.target.named && !strings.HasSuffix(s.Args.Value, "/"+s.Args.Object) {
		return fmt.Errorf("args.object %q is not that of args.value", s.Args.Object)
	}
	return need(map[string]string{"object": s.Args.Object})
}

func prepareChange(ctx context.Context, e env, s Step) (*act, string, error) {
	c, ref, o, err := e.changed(ctx, s)
	if err != nil {
		return nil, "", err
	}
	if err := e.unchangedSince(ctx, s, c, ref, o); err != nil {
		return nil, "", err
	}
	if err := c.allowed(ctx, e.api); err != nil {
		return nil, "", refuse("%s: %v", ref, err)
	}
	set, err := c.set(o, input{plan: e.plan.ID, value: s.Args.Value})
	if err != nil {
		return nil, "", refuse("%s: %v", ref, err).instead("look again with `rollcall diagnose`")
	}
	w, err := e.patch(ref, "", o, set, c.inverse)
	if err == nil && w.Before == w.After {
		return nil, "it is so already", nil
	}
	if err == nil && c.taken != nil {
		err = w.recognizedBy(o, set, planMark)
	}
	return w, "", err
}

// unchangedSince refuses an object that is not that of the step's faults, or that is not as it
// was when the plan was made: this is the version that is patched.
func (e env) unchangedSince(ctx context.Context, s Step, c fieldChange, ref Ref, o Object) error {
	for _, k := range s.While {
		if c.target.named { // by a person
			break
		}
		name, err := c.objectOf(ctx, e.api, k, e.plan.Cluster)
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
			return refuse("%s is not as it was when the plan was made: %s; last written by %s", ref, changed(rd, o), lastManager(o, rd.Fields)).
				instead("make a new plan")
		}
	}
	return nil
}

// changed reads the object of a step that changes fields.
func (e env) changed(ctx context.Context, s Step) (fieldChange, Ref, Object, error) {
	c, ok := changeOf(s.Args.Remedy)
	if !ok {
		return c, Ref{}, nil, fmt.Errorf("step %s: no change %q", s.ID, s.Args.Remedy)
	}
	ref := c.place(s.Args)
	o, err := e.read(ctx, ref)
	return c, ref, o, err
}

func changeSeen(ctx context.Context, e env, s Step) (bool, string, error) {
	c, ref, o, err := e.changed(ctx, s)
	if err != nil {
		return false, fmt.Sprintf("it could not be read: %v", err), nil
	}
	if why := e.notSet(c, ref, o, s); why != "" {
		return false, why, nil
	}
	if c.effect != nil {
		if ok, what := c.effect(o, s); !ok {
			return false, what + " has not followed yet", nil
		}
	}
	return true, "", nil
}

// notSet returns which field does not have the value of the change, "" where all have it. An
// annotation that the controller has taken counts by the mark that was written with it.
func (e env) notSet(c fieldChange, ref Ref, o Object, s Step) string {
	if c.taken != nil {
		if mark, _ := fieldAt(o, planMark); mark != e.plan.ID {
			return fmt.Sprintf("%s has not the mark of this plan", ref)
		}
		if key := c.taken(o); key != "" {
			return fmt.Sprintf("its controller has not taken the annotation %s of %s yet", key, ref)
		}
		return ""
	}
	set, err := c.set(o, input{plan: e.plan.ID, value: s.Args.Value})
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

func changeDependants(ctx context.Context, e env, s Step, _ Write) (string, error) {
	c, _, o, err := e.changed(ctx, s)
	if err != nil || c.keeps == nil {
		return "", err
	}
	return c.keeps(o), nil
}

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
