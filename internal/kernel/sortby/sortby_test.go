package sortby

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type row struct{ key, place int }

func byKey(a, b row) int { return cmp.Compare(a.key, b.key) }

func rows(n int) []row {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	list := make([]row, n)
	for i := range list {
		list[i] = row{r.IntN(n/3 + 1), i}
	}
	return list
}

// TestSort: the answers are those of the standard library's own sorts.
func TestSort(t *testing.T) {
	for _, n := range []int{0, 1, 2, 12, 13, 100, 5_000} {
		want, got := rows(n), rows(n)
		slices.SortStableFunc(want, byKey)
		StableFunc(got, byKey)
		if !slices.Equal(got, want) {
			t.Errorf("StableFunc sorts %d rows in another way than slices.SortStableFunc", n)
		}
		got = rows(n)
		Func(got, byKey)
		if !slices.IsSortedFunc(got, byKey) {
			t.Errorf("Func leaves %d rows unsorted", n)
		}
		StableFunc(got, func(a, b row) int { return cmp.Compare(a.place, b.place) })
		if !slices.Equal(got, rows(n)) {
			t.Errorf("Func lost some of %d rows", n)
		}
	}
}

func BenchmarkStableBy(b *testing.B) {
	for b.Loop() {
		StableFunc(rows(1_000), byKey)
	}
}
