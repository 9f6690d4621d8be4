package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// What decides nothing is counted; what is normal until a deadline, or accepted, stays.
func TestFindings(t *testing.T) {
	all := []diagnosis.Finding{
		{Fault: "a", Outcome: fault.Present}, {Fault: "b", Outcome: fault.Absent}, {Fault: "c", Outcome: fault.Unknown},
		{Fault: "d", Outcome: fault.NotApplicable}, {Fault: "e", Outcome: fault.Absent, Until: time.Unix(1, 0)},
		{Fault: "f", Outcome: fault.Absent, Accepted: &diagnosis.Accepted{}}, {Fault: "g", Outcome: fault.Absent},
	}
	kept, left := Options{}.findings(all, diagnosis.Aside{Absent: 40, NotApplicable: 50})
	var ids string
	for _, f := range kept {
		ids += f.Fault
	}
	if ids != "acef" || left == nil || *left != (omitted{Absent: 42, NotApplicable: 51}) {
		t.Errorf("kept %s, left %+v, want acef and 42 and 51", ids, left)
	}
	if kept, left = (Options{Findings: true}).findings(all, diagnosis.Aside{}); len(kept) != len(all) || left != nil {
		t.Errorf("with all findings: %d kept, left %+v", len(kept), left)
	}
}

// TestUnknownAlike: only findings that are unknown for one reason, and of which nothing was
// seen, are one entry.
func TestUnknownAlike(t *testing.T) {
	unknown := func(id, host, reason string) diagnosis.Finding {
		return diagnosis.Finding{Fault: id, Subject: fault.Subject{Kind: fault.Host, Name: host}, Outcome: fault.Unknown,
			Title: "the disk of " + host + " is full", Reason: reason}
	}
	seen := unknown("a", "w5", "not run on w5")
	seen.Evidence = []evidence.Item{{Excerpt: "8 of 9 GB"}}
	present := unknown("a", "w6", "not run on w6")
	present.Outcome = fault.Present
	log := func(host, pod string) diagnosis.Finding {
		f := unknown("a", host, "open "+pod+": not read")
		f.Unread = []*evidence.Unavailable{{Supply: evidence.Supply{Path: pod}}}
		return f
	}
	all := []diagnosis.Finding{
		unknown("a", "w1", "not run on w1"), unknown("a", "w2", "not run on w2"), unknown("a", "w3", "forbidden"), unknown("a", "w4", "not run on w4"),
		seen, present, log("w7", "pod/x"), log("w8", "pod/y"), unknown("b", "w1", "not run on w1"),
	}
	kept, _ := Options{}.findings(all, diagnosis.Aside{})
	var got []string
	for _, f := range kept {
		entry := f.Fault + " " + f.Subject.Name
		for _, o := range f.Others {
			entry += "+" + o.Name
		}
		got = append(got, entry)
	}
	want := []string{"a w1+w2+w4", "a w3", "a w5", "a w6", "a w7+w8", "b w1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestHostsThatAreDone: their stages are left out, and when they passed them. What was found
// at them stays, and so does all of a host that the answer is about.
func TestHostsThatAreDone(t *testing.T) {
	host := func(name string, state diagnosis.StageOutcome) diagnosis.HostState {
		return diagnosis.HostState{Name: name, State: state, Stages: []diagnosis.StageState{{Stage: fault.Ready, State: state}}}
	}
	at := func(name, text string, passed bool) diagnosis.Moment {
		return diagnosis.Moment{Subject: fault.Subject{Kind: fault.Host, Name: name}, Text: text, Passed: passed}
	}
	d := &diagnosis.Diagnosis{
		Findings: []diagnosis.Finding{},
		Hosts:    []diagnosis.HostState{host("done", diagnosis.StagePassed), host("failed", diagnosis.StageFailed)},
		Timeline: []diagnosis.Moment{at("done", "passed ready", true), at("done", "its disk is full", false), at("failed", "passed powered", true)},
	}
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"by default", Options{}, "done:false failed:true [its disk is full passed powered] 1 1"},
		{"all findings", Options{Findings: true}, "done:true failed:true [passed ready its disk is full passed powered] 0 0"},
		{"about one", Options{Subject: &fault.Subject{Kind: fault.Host, Name: "done"}}, "done:true failed:true [passed ready its disk is full passed powered] 0 0"},
	} {
		var raw bytes.Buffer
		if err := JSON(&raw, d, c.o); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Hosts []struct {
				Name   string
				Stages []any
			}
			Timeline []struct{ Text string }
			Omitted  struct{ Stages, Moments int }
		}
		if err := json.Unmarshal(raw.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		var got string
		for _, h := range doc.Hosts {
			got += fmt.Sprintf("%s:%t ", h.Name, h.Stages != nil)
		}
		var texts []string
		for _, m := range doc.Timeline {
			texts = append(texts, m.Text)
		}
		if got += fmt.Sprint(texts, doc.Omitted.Stages, doc.Omitted.Moments); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
