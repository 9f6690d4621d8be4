package cli

import (
	"strings"
	"testing"
)

// TestPlanName: a file is told from an id.
func TestPlanName(t *testing.T) {
	if id, _, err := planName("bootstrap-mc-mismatch-20260501-030000"); err != nil || id != "bootstrap-mc-mismatch-20260501-030000" {
		t.Errorf("an id: %q, %v", id, err)
	}
	for _, file := range []string{"p.yaml", "p.yml", "p.json", "./p", "dir/p"} {
		if _, _, err := planName(file); err == nil || !strings.Contains(err.Error(), "there is no such file") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
