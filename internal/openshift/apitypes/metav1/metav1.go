// Package metav1 has of k8s.io/apimachinery's package of that name what the facts read,
// with the names and tags of the originals. The original also links codecs, schemas and
// three formats, which are a third of a program that only reads objects.
package metav1

import (
	"fmt"
	"slices"
	"time"
)

// TypeMeta is the kind of an object and the version of its API.
type TypeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// ObjectMeta is what every object has.
type ObjectMeta struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	Generation        int64             `json:"generation,omitempty"`
	CreationTimestamp Time              `json:"creationTimestamp,omitempty,omitzero"`
	DeletionTimestamp *Time             `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	OwnerReferences   []OwnerReference  `json:"ownerReferences,omitempty"`
}

// OwnerReference is an object that another one belongs to.
type OwnerReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller *bool  `json:"controller,omitempty"`
}

// ControllerOf returns the owner that controls an object, nil where it has none.
func (m *ObjectMeta) ControllerOf() *OwnerReference {
	i := slices.IndexFunc(m.OwnerReferences, func(o OwnerReference) bool { return o.Controller != nil && *o.Controller })
	if i < 0 {
		return nil
	}
	return &m.OwnerReferences[i]
}

// Time is a time as objects have it: RFC 3339, in whole seconds, or null.
type Time struct{ time.Time }

// NewTime returns t as objects have it.
func NewTime(t time.Time) Time { return Time{t} }

// IsZero reports whether there is no time; t may be nil.
func (t *Time) IsZero() bool { return t == nil || t.Time.IsZero() }

// Equal reports whether both are the same instant, or both are none.
func (t *Time) Equal(u *Time) bool {
	if t == nil || u == nil {
		return t == u
	}
	return t.Time.Equal(u.Time)
}

// FromContent implements apitypes.fromContent.
func (t *Time) FromContent(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a time is %T", v)
	}
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	t.Time = parsed.UTC()
	return nil
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(nil, `"`+time.RFC3339+`"`), nil
}

// LabelSelector chooses objects by their labels. One without requirements chooses all.
type LabelSelector struct {
	MatchLabels      map[string]string          `json:"matchLabels,omitempty"`
	MatchExpressions []LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// LabelSelectorRequirement is what one label has to be.
type LabelSelectorRequirement struct {
	Key      string                `json:"key"`
	Operator LabelSelectorOperator `json:"operator"`
	Values   []string              `json:"values,omitempty"`
}

// LabelSelectorOperator compares a label with values.
type LabelSelectorOperator string

// The operators of selectors.
const (
	LabelSelectorOpIn           LabelSelectorOperator = "In"
	LabelSelectorOpNotIn        LabelSelectorOperator = "NotIn"
	LabelSelectorOpExists       LabelSelectorOperator = "Exists"
	LabelSelectorOpDoesNotExist LabelSelectorOperator = "DoesNotExist"
)

// Empty reports whether s has no requirement.
func (s *LabelSelector) Empty() bool { return len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 }

// Matches reports whether labels are those that s chooses. An operator that it does not
// know, and values that the operator cannot have, are an error.
func (s *LabelSelector) Matches(labels map[string]string) (bool, error) {
	matches := true
	for k, want := range s.MatchLabels {
		have, ok := labels[k]
		matches = matches && ok && have == want
	}
	for _, r := range s.MatchExpressions {
		have, ok := labels[r.Key]
		byValue := r.Operator == LabelSelectorOpIn || r.Operator == LabelSelectorOpNotIn
		if byValue == (len(r.Values) == 0) {
			return false, fmt.Errorf("selector: label %s: operator %s with %d values", r.Key, r.Operator, len(r.Values))
		}
		switch r.Operator {
		case LabelSelectorOpIn:
			ok = ok && slices.Contains(r.Values, have)
		case LabelSelectorOpNotIn:
			ok = !ok || !slices.Contains(r.Values, have)
		case LabelSelectorOpExists:
		case LabelSelectorOpDoesNotExist:
			ok = !ok
		default:
			return false, fmt.Errorf("selector: label %s: unknown operator %q", r.Key, r.Operator)
		}
		matches = matches && ok
	}
	return matches, nil
}
