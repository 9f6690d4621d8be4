package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// PutContent creates a Secret or ConfigMap, or writes some keys of its data. The values come from
// the store and are in no plan, journal or message. Nothing is ever deleted for it.
const PutContent ActionName = "put-content"

// contentRemedy is a remedy that writes the content of Secrets or ConfigMaps. Each is one value in
// a file of its own; contentRemedies lists them.
type contentRemedy struct {
	remedy string // its id in the catalog
	// plan adds the steps.
	plan func(ctx context.Context, d *draft) error
	// mayWrite reports whether the remedy writes the object of the step: no other is written.
	mayWrite func(a Args) bool
	// reads are what the content was made from.
	reads func(a Args) []readRule
	// belongs refuses an object that is not that of the step's faults; nil: mayWrite is enough.
	belongs func(ctx context.Context, e env, s Step) error
	// describe fills what is not the same for all contents.
	describe func(s *Step, ref Ref)
	// effect reports whether the controller has followed, and else what is waited for; nil: the
	// content alone is the effect.
	effect func(ctx context.Context, e env, s Step, o Object) (bool, string, error)
	// keepsCreated returns why an object that did not exist before is not deleted by an undo, "" where it is.
	keepsCreated func(a Args) string
	rights       []Access
	asks         string // flags with which a plan takes what only a person knows
	asksBefore   string // only clusters before this version need them; "" for all
}

func putContent() action {
	var list []remedy
	for _, c := range contentRemedies() {
		list = append(list, remedy{id: c.remedy, asks: c.asks, asksBefore: c.asksBefore, rights: c.rights})
	}
	return action{
		name:     PutContent,
		remedies: list,
		plan: func(ctx context.Context, d *draft) error {
			for _, c := range contentRemedies() {
				if len(d.remedies[c.remedy]) == 0 {
					continue
				}
				if err := c.plan(ctx, d); err != nil {
					return err
				}
			}
			return nil
		},
		check: func(s Step) error {
			var place error
			if c, ok := contentOf(s.Args.Remedy); !ok || !c.mayWrite(s.Args) {
				place = fmt.Errorf("args: %s does not write %s", s.Args.Remedy, putRef(s.Args))
			}
			return errors.Join(place, need(map[string]string{"content": s.Args.Content, "object": s.Args.Object}))
		},
		remedyOf: func(a Args) string { return a.Remedy },
		reads: func(a Args) []readRule {
			c, ok := contentOf(a.Remedy)
			if !ok {
				return nil
			}
			return c.reads(a)
		},
		describe: func(s *Step) {
			ref := putRef(s.Args)
			s.Subject, s.Proof, s.Risk = ref.String(), ProvedInLab, fault.RiskReversible
			s.PreImage, s.Inverse = "the values as they were, or that there is none",
				"write the old values back, or delete what was created, unless somebody changed it since"
			s.Expect.Text = ref.String() + " has the new content"
			if c, ok := contentOf(s.Args.Remedy); ok {
				c.describe(s, ref)
			}
		},
		prepare:    preparePut,
		seen:       putSeen,
		dependants: putDependants,
	}
}

func contentOf(remedy string) (contentRemedy, bool) {
	list := contentRemedies()
	i := slices.IndexFunc(list, func(c contentRemedy) bool { return c.remedy == remedy })
	if i < 0 {
		return contentRemedy{}, false
	}
	return list[i], true
}

func putRef(a Args) Ref {
	return Ref{Version: "v1", Resource: a.Resource, Namespace: a.Namespace, Name: a.Object}
}

func preparePut(ctx context.Context, e env, s Step) (*act, string, error) {
	if c, _ := contentOf(s.Args.Remedy); c.belongs != nil {
		if err := c.belongs(ctx, e, s); err != nil {
			return nil, "", err
		}
	}
	c, err := e.content(s)
	if err != nil {
		return nil, "", err
	}
	ref := putRef(s.Args)
	set := c.fields(ref.Resource)
	set[planMark] = e.plan.ID
	o, err := e.api.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		return e.createPut(ref, c, set)
	case err != nil:
		return nil, "", refuse("%s could not be read: %v", ref, err)
	case len(c.differs(ref, o)) == 0:
		return nil, "it has this content already", nil
	}
	w, err := e.patch(ref, "", o, set, "the values as they were (kept pre-image)")
	if err != nil {
		return nil, "", err
	}
	if w.preImage, err = salted(w.preImage); err != nil {
		return nil, "", err
	}
	return w, "", w.recognizedBy(o, set, planMark)
}

func (e env) createPut(ref Ref, c content, set map[string]any) (*act, string, error) {
	fields := slices.Sorted(maps.Keys(set))
	diff, err := diffText(ref, nil, fields, set)
	if err != nil {
		return nil, "", err
	}
	object := c.object(ref, e.plan.ID)
	w := &act{
		Write:    Write{Target: ref, Fields: fields, Inverse: "delete it, if it is still the one that was created"},
		preImage: []byte("absent"), diff: diff,
		do: func(ctx context.Context, dryRun bool) (Object, error) { return e.api.Create(ctx, ref, object, dryRun) },
	}
	return w, "", w.recognizedBy(nil, set, planMark)
}

// salted adds a random value to a pre-image that is secret, so that its digest, which is in
// the journal, does not reveal a short value. The inverse reads named fields only.
func salted(pre []byte) ([]byte, error) {
	var values map[string]any
	if err := json.Unmarshal(pre, &values); err != nil {
		return nil, errors.New("encode pre-image")
	}
	salt, err := newSalt()
	if err != nil {
		return nil, err
	}
	values["salt"] = salt
	return json.Marshal(values)
}

func putSeen(ctx context.Context, e env, s Step) (bool, string, error) {
	c, err := e.content(s)
	if err != nil {
		return false, "", err
	}
	ref := putRef(s.Args)
	o, err := e.api.Get(ctx, ref)
	if err != nil {
		return false, fmt.Sprintf("%s could not be read: %v", ref, err), nil
	}
	if keys := c.differs(ref, o); len(keys) > 0 {
		return false, fmt.Sprintf("%s of %s is another value", strings.Join(keys, ", "), ref), nil
	}
	if r, _ := contentOf(s.Args.Remedy); r.effect != nil {
		return r.effect(ctx, e, s, o)
	}
	return true, "", nil
}

func putDependants(ctx context.Context, e env, s Step, w Write) (string, error) {
	absent, err := digestFields(nil, nil)
	if err != nil {
		return "", err
	}
	if r, _ := contentOf(s.Args.Remedy); r.keepsCreated != nil && w.Before == absent {
		return r.keepsCreated(s.Args), nil
	}
	c, err := e.content(s)
	if err != nil {
		return "", err
	}
	ref := putRef(s.Args)
	o, err := e.api.Get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	if keys := c.differs(ref, o); len(keys) > 0 {
		return fmt.Sprintf("%s of %s was changed since", strings.Join(keys, ", "), ref), nil
	}
	return "", nil
}
