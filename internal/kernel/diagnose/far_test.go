package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func TestFar(t *testing.T) {
	newest := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		now  time.Time
		desc evidence.Description
		want bool
	}{
		"the same":     {newest, evidence.Description{Now: newest}, false},
		"a week later": {newest.AddDate(0, 0, 7), evidence.Description{Now: newest}, false},
		"years later":  {newest.AddDate(10, 0, 0), evidence.Description{Now: newest}, true},
		"years before": {newest.AddDate(-10, 0, 0), evidence.Description{Now: newest}, true},
		"no time":      {newest, evidence.Description{}, false},
		"live":         {newest.AddDate(10, 0, 0), evidence.Description{Now: newest, Kind: live}, false},
	} {
		if got := Far(c.now, c.desc); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What happened between the evidence and the given time is not known: no answer is healthy, and
// no cause proven.
func TestFarNowIsNeitherHealthyNorProven(t *testing.T) {
	host := diagnosis.HostState{Name: "w0", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed}
	d := &diagnosis.Diagnosis{Now: time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC), Hosts: []diagnosis.HostState{host}}
	near := verdict(d)
	d.Source.Newest = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	v := verdict(d)
	if near.Class != diagnosis.Healthy || v.Class != diagnosis.Undetermined || !strings.Contains(v.Reason, "2026-03-01T12:00:00Z") {
		t.Errorf("near %s, far %s: %s", near.Class, v.Class, v.Reason)
	}
	d.Roots = []diagnosis.Root{{Cases: []diagnosis.Case{{Confidence: diagnosis.Proven}}}}
	lowerIfFar(d)
	if c := d.Roots[0].Cases[0]; c.Confidence != diagnosis.Likely || c.Lowered == "" {
		t.Errorf("%s, lowered: %q", c.Confidence, c.Lowered)
	}
}
