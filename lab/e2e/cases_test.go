package e2e

import (
	"encoding/json"
	"testing"
)

// TestCasesAreRoots: each case of a root is compared, also where only a sample is read.
func TestCasesAreRoots(t *testing.T) {
	var s sample
	raw := `{"verdict": {"class": "broken"}, "roots": [{"fault": "f", "deadlock": 1, "cases": [
		{"fault": "f", "subject": {"kind": "host", "name": "a"}, "confidence": "proven"},
		{"fault": "f", "subject": {"kind": "host", "name": "b"}, "confidence": "likely"}]}]}`
	if err := json.Unmarshal([]byte(raw), &s.d); err != nil {
		t.Fatal(err)
	}
	if got := s.d.roots(); s.d.Verdict.Class != "broken" || got != parse(t, result{out: raw}).roots() ||
		len(s.d.Roots) != 2 || s.d.Roots[0].name() != "f host/a" || s.d.Roots[1].Confidence != "likely" || s.d.Roots[1].Deadlock != 1 {
		t.Errorf("%+v", s.d)
	}
}
