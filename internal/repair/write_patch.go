package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// patch makes the act that sets fields of an object that was just read. Only
// the named fields change; every one that has a value is tested against it.
func (e env) patch(ref Ref, subresource string, content Object, set map[string]any, inverse string) (*act, error) {
	fields := slices.Sorted(maps.Keys(set))
	before, err := digestFields(content, fields)
	if err != nil {
		return nil, err
	}
	after, err := digestSet(fields, set)
	if err != nil {
		return nil, err
	}
	pre, err := preImage(content, fields)
	if err != nil {
		return nil, err
	}
	patch, err := setPatch(content, fields, set)
	if err != nil {
		return nil, err
	}
	diff, err := diffText(ref, content, fields, set)
	if err != nil {
		return nil, err
	}
	return &act{
		diff: diff,
		Write: Write{Target: ref, Sub: subresource, UID: stringAt(content, "metadata", "uid"), Fields: fields,
			Before: before, After: after, Inverse: inverse},
		preImage: pre,
		do: func(ctx context.Context, dryRun bool) (Object, error) {
			return e.api.Patch(ctx, ref, subresource, patch, dryRun)
		},
	}, nil
}

// recognized are the fields by which it is found out whether a write was made.
func (w Write) recognized() []string {
	if len(w.Known) > 0 {
		return w.Known
	}
	return w.Fields
}

// recognizedBy makes a write known by some of its fields only: a controller removes the others,
// or they may not be digested because they are secret.
func (a *act) recognizedBy(content Object, set map[string]any, fields ...string) (err error) {
	a.Known = fields
	if a.Before, err = digestFields(content, fields); err != nil {
		return err
	}
	a.After, err = digestSet(fields, set)
	return err
}

func digestSet(fields []string, set map[string]any) (string, error) {
	values := make([]any, 0, 2*len(fields))
	for _, f := range fields {
		values = append(values, f, digestible(f, set[f], set[f] != nil))
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("digest fields: %w", err)
	}
	return digestBytes(raw), nil
}

// preImage keeps the values of fields; a field that is not there is left out.
func preImage(content Object, fields []string) ([]byte, error) {
	values := map[string]any{}
	for _, f := range fields {
		if v, ok := fieldAt(content, f); ok {
			values[f] = v
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encode pre-image: %w", err)
	}
	return raw, nil
}

// setPatch tests what is there and sets what is wanted; nil removes a field.
func setPatch(content Object, fields []string, set map[string]any) ([]byte, error) {
	var tests, ops []op
	made := map[string]bool{}
	for _, f := range fields {
		have, there := fieldAt(content, f)
		if there && stringAt(content, "kind") != "Secret" { // the resourceVersion is tested, and no secret is sent for it
			tests = append(tests, op{Op: "test", Path: f, Value: have})
		}
		want := set[f]
		switch {
		case want == nil && there:
			ops = append(ops, op{Op: "remove", Path: f})
		case want == nil:
		default:
			parent := f[:strings.LastIndexByte(f, '/')]
			if v, _ := fieldAt(content, parent); v == nil && !made[parent] {
				ops, made[parent] = append(ops, op{Op: "add", Path: parent, Value: map[string]any{}}), true
			}
			ops = append(ops, op{Op: "add", Path: f, Value: want})
		}
	}
	return guarded(content, append(tests, ops...)...)
}
