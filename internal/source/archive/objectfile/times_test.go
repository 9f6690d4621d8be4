package objectfile

import (
	"io"
	"strings"
	"testing"
	"time"
)

// TestTimesOverWindows proves that a time is found wherever the text is cut into reads and writes.
func TestTimesOverWindows(t *testing.T) {
	text := strings.Repeat(`{"metadata":{"creationTimestamp":"2026-01-02T10:11:12Z","x":"`+strings.Repeat("y", 997)+`"}},`, 70) +
		`"lastTransitionTime":"2026-01-03T10:11:12Z","deletionTimestamp":"2027-01-01T00:00:00Z"` + strings.Repeat("z", 60<<10)
	want := time.Date(2026, 1, 3, 10, 11, 12, 0, time.UTC)
	for _, step := range []int{1, 7, 1000, timeWindow, 1 << 20} {
		for shift := range 40 {
			var s TimeScan
			shifted := strings.Repeat(" ", shift*3) + text
			if _, err := io.Copy(&s, &steps{strings.NewReader(shifted), step}); err != nil || !s.End().Equal(want) {
				t.Fatalf("in steps of %d, shifted by %d: %s, %v, want %s", step, shift*3, s.newest, err, want)
			}
			var written TimeScan
			for rest := shifted; rest != ""; {
				n, _ := written.Write([]byte(rest[:min(step, len(rest))]))
				rest = rest[n:]
			}
			if got := written.End(); !got.Equal(want) {
				t.Fatalf("written in steps of %d, shifted by %d: %s, want %s", step, shift*3, got, want)
			}
			if step == 1 {
				break
			}
		}
	}
}

// steps reads few bytes at once.
type steps struct {
	r io.Reader
	n int
}

func (s *steps) Read(p []byte) (int, error) { return s.r.Read(p[:min(s.n, len(p))]) }

func FuzzNewestTime(f *testing.F) {
	f.Add([]byte("renewTime: \"2026-01-02T10:06:00.000001Z\"\ncreationTimestamp: 2026"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		limit := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		s := TimeScan{Limit: limit}
		_, _ = s.Write(raw)
		if got := s.End(); got.After(limit) {
			t.Errorf("%q: %v, beyond the limit", raw, got)
		}
	})
}
