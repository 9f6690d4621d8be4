package evidence

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// Decode converts an object's content into a typed API struct. Unknown fields
// are ignored; a field of the wrong type is an error that names the object.
func Decode[T any](o Object) (T, error) {
	var v T
	if err := apitypes.Decode(o.Content, &v); err != nil {
		return v, &Unavailable{Need: Objects(o.Resource, o.Namespace), Why: Damaged,
			Detail: fmt.Sprintf("%s does not fit its schema: %v", o.Loc.Path, err)}
	}
	return v, nil
}

// Field returns what lies at a path of an object's content, nil where nothing does.
func Field(content map[string]any, path ...string) any {
	var at any = content
	for _, p := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[p]
	}
	return at
}

// String returns the string at a path, "" if there is none.
func String(content map[string]any, path ...string) string {
	s, _ := Field(content, path...).(string)
	return s
}

// Time returns the RFC 3339 time at a path, zero where there is no plausible one.
func Time(content map[string]any, path ...string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, String(content, path...))
	if err != nil || !Plausible(t) {
		return time.Time{}
	}
	return t
}

// Plausible reports whether a time can be one of a cluster. What is read is foreign:
// a year of five digits has no JSON, and 300 years no Duration.
func Plausible(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1970 && year <= 2200
}

// Int returns the whole number at a path, 0 if there is none. YAML and JSON
// decoders disagree on the type of numbers; all are accepted.
func Int(content map[string]any, path ...string) int64 {
	switch n := Field(content, path...).(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	case json.Number:
		v, _ := n.Int64()
		return v
	}
	return 0
}

// Label returns a label of the object.
func (o Object) Label(key string) (string, bool) {
	labels, _ := Field(o.Content, "metadata", "labels").(map[string]any)
	v, ok := labels[key].(string)
	return v, ok
}

// Annotation returns an annotation of the object, "" if there is none.
func (o Object) Annotation(key string) string {
	notes, _ := Field(o.Content, "metadata", "annotations").(map[string]any)
	v, _ := notes[key].(string)
	return v
}

// Created returns the object's creation time, zero where it carries none.
func (o Object) Created() time.Time { return Time(o.Content, "metadata", "creationTimestamp") }

// SpecWritten is when something besides the object's status was written last; zero
// where it does not tell, see ManagedFields. A generation has no time: only the API
// server's own notes do (k8s.io/apimachinery:pkg/apis/meta/v1/types.go ManagedFieldsEntry).
// Before Kubernetes 1.22 they do not tell a status from the rest, and the time may be
// that of a status.
func (o Object) SpecWritten() time.Time {
	list, _ := Field(o.Content, "metadata", "managedFields").([]any)
	var last time.Time
	for _, raw := range list {
		entry, _ := raw.(map[string]any)
		if at := Time(entry, "time"); String(entry, "subresource") == "" && at.After(last) {
			last = at
		}
	}
	return last
}
