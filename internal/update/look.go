package update

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// look is the state that checks look at.
type look struct {
	*Question

	d       *diagnosis.Diagnosis
	w       *facts.World
	current Version              // of the cluster; zero: not known
	of      map[string][]Finding // causes of the diagnosis, by the id of the check that shows them
	seen    map[fault.Subject]bool
	pool    map[string][]string // the hosts of a pool
	poolOf  map[string]string   // the pool of a host
	held    map[string]bool     // hosts that an error of an earlier check is about
	holds   bool                // an earlier check found an error
}

// explained reports whether a cause of the diagnosis, or what it explains, is about a subject.
func (l *look) explained(kind fault.Kind, name string) bool {
	return l.seen[fault.Subject{Kind: kind, Name: name}]
}

// condition is a condition of an object.
type condition struct{ status, reason, message string }

// conditionOf returns a condition of an object; its status is "" where there is none.
func conditionOf(o *evidence.Object, kind string) (c condition) {
	list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, raw := range list {
		m, _ := raw.(map[string]any)
		if m["type"] == kind {
			c.status, _ = m["status"].(string)
			c.reason, _ = m["reason"].(string)
			c.message, _ = m["message"].(string)
		}
	}
	return c
}

// shows is a condition as evidence.
func (c condition) shows(o *evidence.Object, kind string) evidence.Item {
	text := fmt.Sprintf("%s=%s %s %s", kind, c.status, c.reason, evidence.Shorten(oneLine(c.message), 200))
	return o.Shows("status.conditions", strings.TrimSpace(text), o.ReadAt)
}

// oneLine is a text without its line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// field is the value of a field of a fact about a subject.
func field[T any](ctx context.Context, l *look, f facts.Fact, s fault.Subject, name string) (out T, proof []evidence.Item, err error) {
	v := l.w.Compute(ctx, f, s)
	if v.Err != nil {
		return out, nil, v.Err
	}
	i := slices.IndexFunc(f.Fields, func(t fault.FieldType) bool { return t.Name == name })
	if i < 0 {
		return out, nil, fmt.Errorf("fact %s has no field %s", f.Name, name)
	}
	value, err := v.Field(i)
	if err != nil {
		return out, nil, err
	}
	out, _ = value.(T)
	return out, v.Proof([]int{i}), nil
}

// factOf returns a fact of a list by its name.
func factOf(list []facts.Fact, name string) (facts.Fact, error) {
	i := slices.IndexFunc(list, func(f facts.Fact) bool { return f.Name == name })
	if i < 0 {
		return facts.Fact{}, fmt.Errorf("there is no fact %s", name)
	}
	return list[i], nil
}

// few are names in a sentence: the first ones, and how many more.
func few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
