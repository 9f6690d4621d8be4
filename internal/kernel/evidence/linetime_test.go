package evidence

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestLineTime(t *testing.T) {
	utc := func(v string) time.Time {
		if v == "" {
			return time.Time{}
		}
		d, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct{ line, now, want string }{
		{"2026-01-02T10:09:59.000000001Z I0102 10:00:00.1 x", "", "2026-01-02T10:09:59.000000001Z"},
		{"2026-01-02T12:09:59+02:00 x", "", "2026-01-02T10:09:59Z"},
		{"2026-01-02T10:09:59.5+0000 x", "", "2026-01-02T10:09:59.5Z"},
		{"time=\"2026-01-02T10:09:59Z\" level=info", "", "2026-01-02T10:09:59Z"},
		{"E0914 14:43:46.123456       1 a.go:1] x", "2021-09-14T15:00:00Z", "2021-09-14T14:43:46.123456Z"},
		{"Sep 14 14:43:46 host unit[1]: x", "2021-09-14T15:00:00Z", "2021-09-14T14:43:46Z"},
		{"Sep  4 14:43:46 host unit[1]: x", "2021-09-14T15:00:00Z", "2021-09-04T14:43:46Z"},
		{"Sep 14 14:43:46 host kubelet[1]: E0914 14:43:45.000000 x", "2021-09-14T15:00:00Z", "2021-09-14T14:43:45Z"},
		{"Dec 31 23:59:59 host x", "2026-01-01T00:10:00Z", "2025-12-31T23:59:59Z"},
		{"Jan 01 00:00:01 host x", "2025-12-31T23:59:00Z", "2026-01-01T00:00:01Z"}, // a clock that is ahead
		{"Sep 16 15:00:01 host x", "2021-09-14T15:00:00Z", "2020-09-16T15:00:01Z"},
		{"Feb 29 10:00:00 host x", "2026-03-01T00:00:00Z", "2024-02-29T10:00:00Z"},
		{"Sep 14 14:43:46 host x", "", ""}, // no year and no clock to take it from
		{"no time here", "2021-09-14T15:00:00Z", ""},
		{"Foo 14 14:43:46 host x", "2021-09-14T15:00:00Z", ""},
		{"E1399 99:43:46.1 x", "2021-09-14T15:00:00Z", ""},
		{"", "2021-09-14T15:00:00Z", ""},
	} {
		got, ok := LineTime(c.line, utc(c.now))
		if !got.Equal(utc(c.want)) || ok != (c.want != "") {
			t.Errorf("LineTime(%q, %s) = %v, %v, want %s", c.line, c.now, got, ok, c.want)
		}
	}
}

// The same as expressions.
var (
	isoForm     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)`)
	klogForm    = regexp.MustCompile(`(?:^|[\s:])[IWEF](\d\d\d\d \d\d:\d\d:\d\d\.\d+)`)
	journalForm = regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d`)
)

// TestTimesAsExpressions holds what is found by hand against the expressions, on lines made
// of pieces of times.
func TestTimesAsExpressions(t *testing.T) {
	pieces := []string{"2026-01-02T10:09:59", "2026-01-02", "T", "10:09:59", ".123", ".", "Z", "+02:00", "-0700", "+02:0", "E0102 10:09:59.1", "I0102 10:09:59", "W",
		"Jan  2 10:09:59", "Sep 14 14:43:46", " ", ":", "\n", "x", "é", "TT", "9"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		var line strings.Builder
		for range 1 + random.IntN(6) {
			line.WriteString(pieces[random.IntN(len(pieces))])
		}
		asExpressions(t, line.String())
	}
}

func asExpressions(t *testing.T, line string) {
	t.Helper()
	if got, want := isoTime(line), isoForm.FindString(line); got != want {
		t.Fatalf("isoTime(%q) = %q, want %q", line, got, want)
	}
	want := ""
	if m := klogForm.FindStringSubmatch(line); m != nil {
		want = m[1]
	}
	if got := klogTime(line); got != want {
		t.Fatalf("klogTime(%q) = %q, want %q", line, got, want)
	}
	if got, want := journalTime(line), journalForm.FindString(line); got != want {
		t.Fatalf("journalTime(%q) = %q, want %q", line, got, want)
	}
}

func BenchmarkLineTime(b *testing.B) {
	line := "2026-11-20T12:00:03.123456789Z W1120 12:00:03.123456       1 authentication.go:73] Unable to authenticate the request"
	for b.Loop() {
		LineTime(line, time.Time{})
	}
}

func FuzzLineTime(f *testing.F) {
	f.Add("Feb 29 10:00:00 x", int64(0))
	f.Fuzz(func(t *testing.T, line string, unix int64) {
		asExpressions(t, line)
		now := time.Unix(unix%(1<<33), 0)
		if _, iso := LineTime(line, time.Time{}); iso {
			return
		}
		if got, ok := LineTime(line, now); ok && got.After(now.Add(24*time.Hour)) {
			t.Errorf("LineTime(%q, %v) = %v", line, now, got)
		}
	})
}
