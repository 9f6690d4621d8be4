package evidence

import (
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

func FuzzLineTime(f *testing.F) {
	f.Add("Feb 29 10:00:00 x", int64(0))
	f.Fuzz(func(t *testing.T, line string, unix int64) {
		now := time.Unix(unix%(1<<33), 0)
		if _, iso := LineTime(line, time.Time{}); iso {
			return
		}
		if got, ok := LineTime(line, now); ok && got.After(now.Add(24*time.Hour)) {
			t.Errorf("LineTime(%q, %v) = %v", line, now, got)
		}
	})
}
