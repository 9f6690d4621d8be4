// Package sortby sorts lists by a comparison. It gives what slices.SortFunc and
// slices.SortStableFunc give, and compiles three short methods for each type of element;
// those compile the whole sort again, 20 KB for each type, which made the program 0.8 MB
// larger.
package sortby

import "sort"

// Func sorts the list in place. compare returns a negative number where a comes before b.
// What compares equal may change places: StableFunc keeps them.
func Func[T any](list []T, compare func(a, b T) int) { sort.Sort(by[T]{list, compare}) }

// StableFunc sorts the list in place; what compares equal keeps its order.
func StableFunc[T any](list []T, compare func(a, b T) int) { sort.Stable(by[T]{list, compare}) }

type by[T any] struct {
	list    []T
	compare func(a, b T) int
}

// Len implements sort.Interface.
func (b by[T]) Len() int { return len(b.list) }

// Less implements sort.Interface.
func (b by[T]) Less(i, j int) bool { return b.compare(b.list[i], b.list[j]) < 0 }

// Swap implements sort.Interface.
func (b by[T]) Swap(i, j int) { b.list[i], b.list[j] = b.list[j], b.list[i] }
