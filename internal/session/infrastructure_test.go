package session

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

// TestOneInfrastructure: files of two installations of one cluster's name are not read as one; names that only look alike are.
func TestOneInfrastructure(t *testing.T) {
	for name, c := range map[string]struct {
		kind  string
		more  int
		hosts []string
		says  string
	}{
		"two installations":     {"files", 0, []string{"lab-2rk9g-master-0", "lab-dp296-master-1.example.com"}, "host lab-2rk9g-master-0 is of infrastructure lab-2rk9g"},
		"several texts":         {"text", 1, []string{"lab-2rk9g-master-0", "lab-dp296-master-1"}, "two installations"},
		"one text":              {"text", 0, []string{"lab-2rk9g-master-0", "lab-dp296-master-1"}, ""},
		"one installation":      {"files", 0, []string{"lab-2rk9g-master-0", "lab-2rk9g-master-1", "lab-2rk9g-worker-0"}, ""},
		"other clusters' names": {"files", 0, []string{"lab-2rk9g-master-0", "hub-dp296-master-1"}, ""},
		"no random part":        {"files", 0, []string{"lab-north-master-0", "lab-south-master-0"}, ""},
		"an archive of one":     {"must-gather", 0, []string{"lab-2rk9g-master-0", "lab-dp296-master-1"}, ""},
	} {
		d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: c.kind, More: c.more}}
		for _, h := range c.hosts {
			d.Hosts = append(d.Hosts, diagnosis.HostState{Name: h})
		}
		err := oneInfrastructure(d)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
