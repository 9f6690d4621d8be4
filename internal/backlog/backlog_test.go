package backlog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func drained(t *testing.T, l *Lines) (out []string) {
	t.Helper()
	if err := l.Drain(func(line []byte) error { out = append(out, string(line)); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLines: lines come out as they went in, whatever their length, and again after that.
func TestLines(t *testing.T) {
	l := new(Pool).Lines()
	for round := range 3 {
		var want []string
		for i := range 500 {
			line := strings.Repeat(fmt.Sprint(round, " "), i*i%997)
			if i%100 == 7 {
				line = strings.Repeat("long ", part/3)
			}
			want = append(want, line)
			if !l.Add([]byte(line)) {
				t.Fatalf("line %d does not fit", i)
			}
		}
		if got := drained(t, &l); !slices.Equal(got, want) {
			t.Fatalf("round %d: %d lines went in, %d others came out", round, len(want), len(got))
		}
		if got := drained(t, &l); got != nil {
			t.Fatalf("drained, it still has %d lines", len(got))
		}
	}
	l.Add([]byte("dropped"))
	l.Drop()
	if l.Add([]byte("kept")); !slices.Equal(drained(t, &l), []string{"kept"}) {
		t.Error("lines that were dropped came out")
	}
}

// TestMax: what is too much is refused and nothing of it is lost; one line always fits.
func TestMax(t *testing.T) {
	l := new(Pool).Lines()
	line := make([]byte, 100_000)
	n := 0
	for l.Add(line) {
		n++
	}
	if l.bytes > Max+len(line) || n < Max/len(line)-1 {
		t.Errorf("%d lines with %d bytes wait", n, l.bytes)
	}
	if got := len(drained(t, &l)); got != n {
		t.Errorf("%d lines came out, want %d", got, n)
	}
	if !l.Add(make([]byte, 2*Max)) || l.Add(nil) {
		t.Error("a line that is longer than all may wait alone, and nothing behind it")
	}
}

// TestDrainEnds: an error of who looks ends it, and is returned.
func TestDrainEnds(t *testing.T) {
	l := new(Pool).Lines()
	for range 9 {
		l.Add([]byte("line"))
	}
	full, seen := errors.New("full"), 0
	err := l.Drain(func([]byte) error {
		if seen++; seen == 4 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || seen != 4 {
		t.Errorf("%v after %d lines, want %v after 4", err, seen, full)
	}
}
