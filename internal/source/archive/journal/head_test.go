package journal

import "testing"

func TestHead(t *testing.T) {
	for line, want := range map[string][2]string{
		"Nov 12 03:04:05 w1.example.com kubenswrapper[123]: I1112 x":              {"w1.example.com", "kubenswrapper"},
		"Nov  2 03:04:05.123456 w1 kernel: Linux version":                         {"w1", "kernel"},
		"2026-11-12T03:04:05.123456+0000 w1 kubenswrapper[1]: E1112":              {"w1", "kubenswrapper"},
		"2026-11-12T03:04:05+00:00 w1 systemd[1]: Started":                        {"w1", "systemd"},
		"2026-11-12T03:04:05-0500 w1 bootkube.sh[2568]: Rendering":                {"w1", "bootkube.sh"},
		"2026-11-12T03:04:05.123456Z I1112 03:04:05.123456 1 main.go:32] started": {},
		"2026-11-12T03:04:05.123456-05:00 I1112 03:04:05.123456 1 main.go:32] a":  {},
		"2026-11-12T03:04:05.123456Z stdout F text: more":                         {},
		"Nov 12 03:04:05 w1 some text without a name":                             {},
		"-- Boot 0123456789abcdef --":                                             {},
		"Nov 12 03:04:05":                                                         {}, "Nov 12 03:04:05 ": {}, "Nov 12 03:04:05 w1": {}, "": {},
		"2026-11-12T03:04:05+0000": {}, "2026-11-12T03:04:05.": {}, "2026-11-12T03:04:05.123456+0000 w1 ": {},
	} {
		host, id, ok := Head([]byte(line))
		if string(host) != want[0] || string(id) != want[1] || ok != (want[0] != "") {
			t.Errorf("Head(%q) = %q, %q, %v, want %q", line, host, id, ok, want)
		}
	}
}

func FuzzHead(f *testing.F) {
	f.Add([]byte("2026-11-12T03:04:05.123456+0000 w1 kubenswrapper[1]: E1112"))
	f.Add([]byte("Nov 12 03:04:05 w1.example.com kubenswrapper[123]: I1112 x"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if host, id, ok := Head(line); ok && (len(host) == 0 || len(id) == 0) {
			t.Errorf("%q: %q, %q", line, host, id)
		}
	})
}
