package answer

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"unicode"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

func junitOf(t *testing.T, d *diagnosis.Diagnosis, o Options) (junitAll, []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := renderJUnit(&out, d, o); err != nil {
		t.Fatal(err)
	}
	var all junitAll
	dec := xml.NewDecoder(bytes.NewReader(out.Bytes()))
	if err := dec.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all, out.Bytes()
}

func TestJUnitGolden(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			all, raw := junitOf(t, s.make(), options(page.Style{}))
			golden(t, "junit-"+s.name+".xml", raw)
			checkJUnit(t, all, s.make())
		})
		t.Run(s.name+"/hostile", func(t *testing.T) {
			for _, keep := range [][]string{nil, {"state", "outcome", "stage", "kind", "class", "severity", "strength"}} {
				d := poison(t, s.make(), keep...)
				all, raw := junitOf(t, d, hostileOptions())
				checkJUnit(t, all, d)
				if bytes.Contains(raw, []byte("<script")) || bytes.Contains(raw, []byte("<img")) {
					t.Error("foreign text is not escaped")
				}
				for _, r := range string(raw) {
					if r != '\n' && !unicode.IsPrint(r) {
						t.Fatalf("%U reaches the report", r)
					}
				}
			}
		})
	}
}

// checkJUnit counts what the totals say, from the findings and from the cases.
func checkJUnit(t *testing.T, all junitAll, d *diagnosis.Diagnosis) {
	t.Helper()
	var sum junitTotals
	for _, s := range all.Suites {
		var own junitTotals
		for _, c := range s.Cases {
			own.Tests++
			verdicts := 0
			if c.Failure != nil {
				own.Failures++
				verdicts++
			}
			if c.Error != nil {
				own.Errors++
				verdicts++
			}
			if c.Skipped != nil {
				own.Skipped++
				verdicts++
			}
			if verdicts > 1 || c.Name == "" || c.Class == "" {
				t.Errorf("case %+v", c)
			}
		}
		own.Time = s.Time
		if own != s.junitTotals {
			t.Errorf("suite %s says %+v and holds %+v", s.Name, s.junitTotals, own)
		}
		sum.Tests += own.Tests
		sum.Failures += own.Failures
		sum.Errors += own.Errors
		sum.Skipped += own.Skipped
	}
	if sum.Time = all.Time; sum != all.junitTotals {
		t.Errorf("all say %+v and hold %+v", all.junitTotals, sum)
	}
	present, known := 0, 0
	for _, f := range d.Findings {
		switch f.Outcome {
		case fault.Present:
			if f.Accepted == nil {
				present++
			}
		case fault.Absent:
			known++
		}
	}
	if all.Tests != len(d.Findings)+1 || all.Failures != present || all.Skipped != len(d.Findings)-present-known {
		t.Errorf("%+v of %d findings: %d present, %d absent", all.junitTotals, len(d.Findings), present, known)
	}
}

// TestJUnitIsNotGreenWithoutAnAnswer holds that a cluster that could not be read does
// not pass, and that one which is normal so far does.
func TestJUnitIsNotGreenWithoutAnAnswer(t *testing.T) {
	if all, _ := junitOf(t, answertest.Unreadable(), options(page.Style{})); all.Errors != 1 || !strings.Contains(all.Suites[0].Cases[0].Error.Text, "connection refused") {
		t.Errorf("unreadable: %+v", all.junitTotals)
	}
	all, raw := junitOf(t, answertest.Settling(), options(page.Style{}))
	if all.Errors+all.Failures+all.Skipped != 0 || !strings.Contains(string(raw), "in progress: pool master has not converged once") {
		t.Errorf("settling: %+v", all.junitTotals)
	}
}

func TestJUnitLayers(t *testing.T) {
	d := answertest.Healthy()
	d.Findings = []diagnosis.Finding{
		answertest.Present("b", answertest.Pool("master"), "b", fault.Error), answertest.Present("a", answertest.Pool("master"), "a", fault.Error), answertest.Present("c", answertest.Pool("worker"), "c", fault.Error),
	}
	all, _ := junitOf(t, d, options(page.Style{}))
	if len(all.Suites) != 2 || all.Suites[1].Name != "other" || len(all.Suites[1].Cases) != 3 {
		t.Errorf("suites without a catalogue: %+v", all.Suites)
	}
}
