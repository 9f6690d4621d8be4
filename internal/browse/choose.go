package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// choice is which objects of a list are wanted, and in which order.
type choice struct {
	labels labels.Selector
	fields fields.Selector
	sort   jsonPath // its path is nil: as they lie
}

// choice reads what a query says of it.
func (q Query) choice() (choice, error) {
	var c choice
	var err error
	if c.labels, err = labels.Parse(q.Selector); err != nil {
		return c, fmt.Errorf("-l %s: %w", q.Selector, err)
	}
	if c.fields, err = fields.ParseSelector(q.FieldSelector); err != nil {
		return c, fmt.Errorf("--field-selector %s: %w", q.FieldSelector, err)
	}
	if q.SortBy != "" {
		if c.sort, err = parsePath(withDot(q.SortBy)); err != nil {
			return c, fmt.Errorf("--sort-by: %w", err)
		}
	}
	return c, nil
}

// reads are the fields that a choice needs, as objectfile.FieldsOf takes them.
func (c choice) reads() []string {
	var list []string
	if !c.labels.Empty() {
		list = append(list, "metadata.labels")
	}
	for _, r := range c.fields.Requirements() {
		list = append(list, r.Field)
	}
	if c.sort.path != nil {
		list = append(list, c.sort.fields)
	}
	return list
}

// of are the objects of a list that are wanted.
func (c choice) of(list []evidence.Object) []evidence.Object {
	list = slices.DeleteFunc(slices.Clone(list), func(o evidence.Object) bool {
		return !c.labels.Matches(labelSet(o)) || !c.fields.Matches(fieldSet(o.Content))
	})
	if c.sort.path != nil {
		slices.SortStableFunc(list, func(x, y evidence.Object) int {
			a, hasA := c.sort.first(x.Content)
			b, hasB := c.sort.first(y.Content)
			if hasA != hasB { // what has no value comes first, as in kubectl
				return map[bool]int{true: 1, false: -1}[hasA]
			}
			return compareValues(scalar(a), scalar(b))
		})
	}
	return list
}

// compareValues orders numbers and quantities by their size, and all else as text: times of one zone are in order so.
func compareValues(a, b string) int {
	x, wrongX := resource.ParseQuantity(a)
	y, wrongY := resource.ParseQuantity(b)
	if wrongX == nil && wrongY == nil {
		return x.Cmp(y)
	}
	return cmp.Compare(a, b)
}

func labelSet(o evidence.Object) labels.Set {
	m, _ := evidence.Field(o.Content, "metadata", "labels").(map[string]any)
	set := make(labels.Set, len(m))
	for k, v := range m {
		set[k] = scalar(v)
	}
	return set
}

// fieldSet are the fields of an object by their paths, such as spec.nodeName. An API server knows a few of each kind; here
// each is known.
type fieldSet map[string]any

// Has implements fields.Fields.
func (s fieldSet) Has(field string) bool {
	return evidence.Field(s, strings.Split(field, ".")...) != nil
}

// Get implements fields.Fields.
func (s fieldSet) Get(field string) string {
	return scalar(evidence.Field(s, strings.Split(field, ".")...))
}
