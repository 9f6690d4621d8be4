package probe

import (
	"slices"
	"strings"
	"testing"
)

func TestFailedChecks(t *testing.T) {
	body := "[+]ping ok\n[-]etcd failed: reason withheld\r\n  [-]poststarthook/x failed: reason withheld\n[-]\nreadyz check failed\n"
	if got := FailedChecks(body); !slices.Equal(got, []string{"etcd", "poststarthook/x"}) {
		t.Errorf("%q", got)
	}
}

// FuzzFailedChecks: a foreign body gives few short names and nothing else.
func FuzzFailedChecks(f *testing.F) {
	f.Add("[-]etcd failed: reason withheld\n")
	f.Add(strings.Repeat("[-]a failed\n", 100))
	f.Fuzz(func(t *testing.T, body string) {
		list := FailedChecks(body)
		if len(list) > maxChecks {
			t.Errorf("%d names", len(list))
		}
		for _, name := range list {
			if name == "" || len(name) > maxCheckName || strings.ContainsAny(name, " \n") {
				t.Errorf("took %q", name)
			}
		}
	})
}
