package sosreport

import (
	"testing"
	"time"
)

// What commands print, for the tests of both packages.
const (
	CrictlPS = `time="2026-01-03T09:59:59Z" level=warning msg="runtime connect using default endpoints"
CONTAINER           IMAGE                                                              CREATED             STATE               NAME                ATTEMPT             POD ID
0123456789abc       quay.io/example/etcd@sha256:0123                                   About an hour ago   Running             etcd                3                   aaaaaaaaaaaaa
1123456789abc       1123456789abc1123456789abc1123456789abc1123456789abc                2 days ago          Exited              kube-apiserver      12                  bbbbbbbbbbbbb
`
	CrictlPods = `POD ID              CREATED             STATE               NAME                NAMESPACE                  ATTEMPT             RUNTIME
aaaaaaaaaaaaa       3 days ago          Ready               etcd-m0             openshift-etcd             0                   (default)
bbbbbbbbbbbbb       3 days ago          Ready               kube-apiserver-m0   openshift-kube-apiserver   0                   (default)
`
	DFSpace = `Filesystem     1K-blocks     Used Available Use% Mounted on
proc                   0        0         0    - /proc
/dev/sda4      125000000 120000000   5000000  96% /
/dev/sda4      125000000 120000000   5000000  96% /var
/dev/sda3         372607   150000    198908  44% /boot
`
	DFInodes = `Filesystem     Type      Inodes  IUsed    IFree IUse% Mounted on
/dev/sda4      xfs     62000000 300000 61700000    1% /var
`
)

func TestParseDate(t *testing.T) {
	want := time.Date(2026, 11, 5, 13, 49, 14, 0, time.UTC)
	for _, text := range []string{"Thu Nov  5 13:49:14 UTC 2026\n", "Thu Nov  5 01:49:14 PM UTC 2026", "Thu 05 Nov 2026 01:49:14 PM UTC", "Thu  5 Nov " +
		"13:49:14 UTC 2026"} {
		if got, ok := parseDate(text); !ok || !got.Equal(want) {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"", "Thu Nov  5 13:49:14 CET 2026", "2026"} {
		if got, ok := parseDate(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzSOS(f *testing.F) {
	f.Add(CrictlPS, DFSpace)
	f.Add(CrictlPods, DFInodes)
	f.Fuzz(func(t *testing.T, list, disks string) {
		rows, err := table(list, wantedContainers...)
		if err != nil && rows != nil {
			t.Error("rows and an error")
		}
		for _, r := range rows {
			ago(r["CREATED"], time.Unix(0, 0))
		}
		for point, u := range df(disks, 1024) {
			if point == "" || u.all > 1<<60 {
				t.Errorf("%q: %+v", point, u)
			}
		}
		parseDate(list)
	})
}
