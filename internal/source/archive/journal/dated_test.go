package journal_test

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
)

func TestStamp(t *testing.T) {
	for line, want := range map[string]string{
		"May 08 00:49:10 s1 kernel: rtc_cmos 00:02: setting system clock to 2021-05-07T22:48:49 UTC (1620427729)":                                                    "2021-05-08T00:49:10Z",
		"May 08 00:49:10 s1 kernel: rtc_cmos 00:02: setting system clock to 2019-05-07 22:48:49 UTC (1557269329)":                                                    "2019-05-08T00:49:10Z",
		"May  9 01:39:01 s1 cloud-init[1232]: Cloud-init v. 21.1-19 running 'init-local' at Sat, 08 May 2021 23:38:55 +0000. Up 27.33 seconds.":                      "2021-05-09T01:39:01Z",
		"Oct 20 10:21:38 b1 podman[104631]: 2020-10-20 10:21:38.06458143 +0000 UTC m=+0.287191049 container init 66c2122":                                            "2020-10-20T10:21:38Z",
		"Oct 20 12:06:40 h1 microshift[138928]: E1020 12:06:40.010012  138928 certchains.go:122] [admin-kubeconfig-signer] rotate at: 2032-10-21 12:05:27 +0000 UTC": "",
		"May 08 00:49:10 s1 kernel: Linux version 5.11.0-16-generic #17-Ubuntu SMP Wed Apr 14 20:12:43 UTC 2021":                                                     "",
	} {
		at, ok := journal.Stamp(line)
		if ok {
			at = journal.OwnTime(line, at)
		}
		if got := at.UTC().Format(time.RFC3339); at.IsZero() != (want == "") || want != "" && got != want {
			t.Errorf("%s\nis of %s, want %q", line, got, want)
		}
	}
}

func TestYearOf(t *testing.T) {
	for line, want := range map[string]string{
		"-- Journal begins at Sat 2021-05-08 00:49:10 CEST, ends at Sun 2021-05-09 02:17:15 CEST. --": "2021-05-09T02:17:15Z",
		"-- Logs begin at Thu 2020-01-02 03:04:05 UTC, end at Fri 2020-01-03 03:04:05 UTC. --":        "2020-01-03T03:04:05Z",
		"-- Logs begin at Mon 2022-08-08 12:04:20 UTC. --":                                            "2023-08-06T12:04:20Z",
		"-- Reboot --": "0001-01-01T00:00:00Z",
		"May 08 00:49:10 s1 x[1]: -- Logs begin at Mon 2022-08-08 12:04:20 UTC. --": "0001-01-01T00:00:00Z",
	} {
		if got := journal.YearOf([]byte(line)).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestEnded(t *testing.T) {
	for line, want := range map[string]string{
		"-- Logs begin at Thu 2020-01-02 03:04:05 UTC, end at Fri 2020-01-03 03:04:05 UTC. --":        "2020-01-03T03:04:05Z",
		"-- Journal begins at Thu 2020-01-02 03:04:05 UTC, ends at Fri 2020-01-03 03:04:05 UTC. --":   "2020-01-03T03:04:05Z",
		"-- Journal begins at Sat 2021-05-08 00:49:10 CEST, ends at Sun 2021-05-09 02:17:15 CEST. --": "0001-01-01T00:00:00Z",
		"-- Logs begin at Mon 2022-08-08 12:04:20 UTC. --":                                            "0001-01-01T00:00:00Z",
		"-- Reboot --": "0001-01-01T00:00:00Z",
	} {
		if got := journal.Ended([]byte(line)).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
