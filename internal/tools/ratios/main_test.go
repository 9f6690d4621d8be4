package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSettle holds what makes a run red: what is slow each time, and nothing else.
func TestSettle(t *testing.T) {
	ms := func(n int) sample { return sample{time.Duration(n) * time.Millisecond, 100 * time.Millisecond} }
	for i, c := range []struct {
		took  []int // of each sample; the last one repeats
		limit float64
		best  int
		taken int
	}{
		{took: []int{90, 80, 95}, limit: 1, best: 80, taken: rounds},
		{took: []int{400, 400, 400, 390, 120}, limit: 1, best: 120, taken: 5}, // noise
		{took: []int{129}, limit: 1, best: 129, taken: rounds},
		{took: []int{131}, limit: 1, best: 131, taken: rounds * patience}, // a regression
	} {
		taken := 0
		best, err := settle(c.limit, func() (sample, error) {
			n := c.took[min(taken, len(c.took)-1)]
			taken++
			return ms(n), nil
		})
		if err != nil || best != ms(c.best) || taken != c.taken {
			t.Errorf("%d: %v after %d samples, %v; want %v after %d", i, best, taken, err, ms(c.best), c.taken)
		}
	}
	failed := errors.New("no such program")
	if _, err := settle(1, func() (sample, error) { return sample{}, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want %v", err, failed)
	}
}

// TestMeasure takes the time of a process, and sees one that fails.
func TestMeasure(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	quick := []string{exe, "-test.run", "^$"}
	s, err := work{command: quick, other: quick, each: 1}.measure(t.Context())
	if err != nil || s.work <= 0 || s.against <= 0 {
		t.Errorf("got %v, %v", s, err)
	}
	if _, err := (work{command: []string{exe, "-no-such-flag"}, other: quick}).measure(t.Context()); err == nil {
		t.Error("a process that failed was measured")
	}
}

// TestScanWithoutRipgrep says why a row is skipped.
func TestScanWithoutRipgrep(t *testing.T) {
	t.Setenv("PATH", filepath.Join(t.TempDir(), "empty"))
	w, err := scanWork(t.TempDir(), "rollcall")
	if err != nil || w.skip == "" {
		t.Errorf("got %+v, %v; want it skipped", w, err)
	}
}
