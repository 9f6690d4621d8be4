package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// accepts is a list of "fault host".
type accepts []string

func (a accepts) Accepted(_ string, k fault.Key, _ time.Time) (diagnosis.Acceptance, bool) {
	ok := slices.Contains(a, k.Fault+" "+k.Subject.Name)
	return diagnosis.Acceptance{Reason: "known", Owner: "sre", Until: "2026-04-01", Entry: "accept.yaml:1"}, ok
}

func TestAccept(t *testing.T) {
	const stands = "standsAlone: true\nremedies: [switch]\n"
	explains := func(list ...string) string {
		var edges []string
		for _, e := range list {
			what, strength, _ := strings.Cut(e, " ")
			edges = append(edges, "{fault: "+what+", on: same, strength: "+strength+"}")
		}
		return "explains: [" + strings.Join(edges, ", ") + "]\n"
	}
	tests := []struct {
		name     string
		wall     wall
		entries  map[string]string
		accept   accepts
		accepted []string // by an entry, with the role
		through  []string
		roots    []string
		verdict  diagnosis.VerdictClass
		cause    diagnosis.CauseState
		worst    int
		open     bool
	}{
		{name: "nothing is accepted", wall: wall{"a": {"x": "lit"}}, entries: map[string]string{"x": stands},
			roots: []string{"x a proven"}, verdict: diagnosis.RecoverableInPlace, cause: diagnosis.CauseKnown, worst: 2},
		{name: "a root with its effects", wall: wall{"a": {"x": "lit", "y": "lit", "z": "lit"}}, accept: accepts{"x a"},
			entries:  map[string]string{"x": stands + explains("y certain"), "y": explains("z certain"), "z": ""},
			accepted: []string{"x a root"}, through: []string{"y a: x", "z a: x"},
			verdict: diagnosis.OnlyAccepted, cause: diagnosis.CauseKnown, worst: -1},
		{name: "at one host and not at the other", wall: wall{"a": {"x": "lit"}, "b": {"x": "lit"}}, accept: accepts{"x a"},
			entries: map[string]string{"x": stands}, accepted: []string{"x a root"}, roots: []string{"x b proven"},
			verdict: diagnosis.RecoverableInPlace, cause: diagnosis.CauseKnown, worst: 2},
		{name: "an effect with another cause", wall: wall{"a": {"w": "lit", "x": "lit", "y": "lit"}}, accept: accepts{"x a"},
			entries:  map[string]string{"w": stands + "severity: warning\n" + explains("y certain"), "x": stands + explains("y certain"), "y": ""},
			accepted: []string{"x a root"}, roots: []string{"w a proven"}, verdict: diagnosis.RecoverableInPlace, cause: diagnosis.CauseKnown, worst: 2},
		{name: "an effect with another likely cause", wall: wall{"a": {"w": "lit", "x": "lit", "y": "lit"}}, accept: accepts{"x a"},
			entries:  map[string]string{"w": stands + "severity: warning\n" + explains("y likely"), "x": stands + explains("y certain"), "y": ""},
			accepted: []string{"x a root"}, roots: []string{"w a proven"}, verdict: diagnosis.RecoverableInPlace, cause: diagnosis.CauseKnown, worst: 2},
		{name: "both causes are accepted", wall: wall{"a": {"w": "lit", "x": "lit", "y": "lit"}}, accept: accepts{"w a", "x a"},
			entries:  map[string]string{"w": stands + explains("y certain"), "x": stands + explains("y certain"), "y": ""},
			accepted: []string{"w a root", "x a root"}, through: []string{"y a: w x"}, verdict: diagnosis.OnlyAccepted, cause: diagnosis.CauseKnown, worst: -1},
		{name: "a likely effect is not accepted through its cause", wall: wall{"a": {"x": "lit", "y": "lit"}}, accept: accepts{"x a"},
			entries:  map[string]string{"x": stands + explains("y likely"), "y": ""},
			accepted: []string{"x a root"}, verdict: diagnosis.Undetermined, cause: diagnosis.CauseUnknown, worst: 2, open: true},
		{name: "a symptom without its cause", wall: wall{"a": {"x": "lit", "y": "lit", "z": "lit"}}, accept: accepts{"y a"},
			entries:  map[string]string{"x": stands + explains("y certain"), "y": explains("z certain"), "z": ""},
			accepted: []string{"y a symptom"}, roots: []string{"x a proven"}, verdict: diagnosis.RecoverableInPlace, cause: diagnosis.CauseKnown, worst: 2},
		{name: "a symptom whose cause is absent", wall: wall{"a": {"x": "dark", "y": "lit"}}, accept: accepts{"y a"},
			entries:  map[string]string{"x": stands + explains("y certain"), "y": ""},
			accepted: []string{"y a unexplained"}, verdict: diagnosis.OnlyAccepted, cause: diagnosis.CauseUnknown, worst: -1},
		{name: "a symptom whose cause was withheld", wall: wall{"a": {"x": "unseen", "y": "lit"}}, accept: accepts{"y a"},
			entries:  map[string]string{"x": stands + explains("y certain"), "y": ""},
			accepted: []string{"y a unexplained"}, verdict: diagnosis.Undetermined, cause: diagnosis.CauseUnknown, worst: -1, open: true},
		{name: "the root of a deadlock", wall: wall{"a": {"x": "lit", "y": "lit", "z": "lit"}}, accept: accepts{"x a"},
			entries:  map[string]string{"x": stands + explains("y certain"), "y": explains("x certain", "z certain"), "z": ""},
			accepted: []string{"x a root"}, through: []string{"y a: x", "z a: x"}, verdict: diagnosis.OnlyAccepted, cause: diagnosis.CauseKnown, worst: -1},
		{name: "another member of a deadlock", wall: wall{"a": {"x": "lit", "y": "lit", "z": "lit"}}, accept: accepts{"y a"},
			entries:  map[string]string{"x": stands + explains("y certain"), "y": explains("x certain", "z certain"), "z": ""},
			accepted: []string{"y a symptom"}, roots: []string{"x a proven"}, verdict: diagnosis.RecoverableInPlace, cause: diagnosis.CauseKnown, worst: 2},
		{name: "what is still normal leads to the effect, too", wall: wall{"a": {"w": "fresh", "x": "lit", "y": "lit"}}, accept: accepts{"x a"},
			entries:  map[string]string{"w": stands + "settles: {within: 30m}\n" + explains("y certain"), "x": stands + explains("y certain"), "y": ""},
			accepted: []string{"x a root"}, verdict: diagnosis.Undetermined, cause: diagnosis.CauseUnknown, worst: 2, open: true},
		{name: "what is unknown and what is absent is not accepted", wall: wall{"a": {"x": "unseen", "y": "dark"}}, accept: accepts{"x a", "y a"},
			entries: map[string]string{"x": stands, "y": stands}, verdict: diagnosis.Healthy, cause: diagnosis.CauseNone, worst: -1},
		{name: "what may be normal stays a question", wall: wall{"a": {"x": "timeless"}}, accept: accepts{"x a"},
			entries: map[string]string{"x": stands + "settles: {within: 30m}\n"}, verdict: diagnosis.Undetermined, cause: diagnosis.CauseUnknown, worst: -1, open: true},
		{name: "beside what still settles", wall: wall{"a": {"w": "fresh", "x": "lit"}}, accept: accepts{"x a"},
			entries:  map[string]string{"w": stands + "settles: {within: 30m}\n", "x": stands},
			accepted: []string{"x a root"}, verdict: diagnosis.Settling, cause: diagnosis.CauseNone, worst: -1},
		{name: "what still settles because of what is accepted", wall: wall{"a": {"w": "fresh", "x": "lit"}}, accept: accepts{"x a"},
			entries:  map[string]string{"w": stands + "settles: {within: 30m}\n", "x": stands + explains("w certain")},
			accepted: []string{"x a root"}, through: []string{"w a: x"}, verdict: diagnosis.OnlyAccepted, cause: diagnosis.CauseKnown, worst: -1},
		{name: "what is not a fault yet is not accepted", wall: wall{"a": {"w": "fresh", "y": "lit"}}, accept: accepts{"w a"},
			entries: map[string]string{"w": stands + "settles: {within: 30m}\n" + explains("y certain"), "y": ""},
			verdict: diagnosis.Settling, cause: diagnosis.CauseNone, worst: -1},
		{name: "an info is named, too", wall: wall{"a": {"x": "lit"}}, accept: accepts{"x a"},
			entries: map[string]string{"x": stands + "severity: info\n"}, accepted: []string{"x a root"}, verdict: diagnosis.OnlyAccepted, cause: diagnosis.CauseKnown, worst: -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := runAccepting(t, tt.wall, tt.entries, tt.accept)
			var accepted, through []string
			for _, a := range d.Accepted {
				accepted = append(accepted, a.Fault+" "+a.Subject.Name+" "+string(a.Role))
			}
			for _, f := range d.Findings {
				if f.Accepted == nil || len(f.Accepted.Through) == 0 {
					continue
				}
				var causes []string
				for _, k := range f.Accepted.Through {
					causes = append(causes, k.Fault)
				}
				through = append(through, f.Fault+" "+f.Subject.Name+": "+strings.Join(causes, " "))
			}
			for what, diff := range map[string]string{
				"accepted": cmp.Diff(tt.accepted, accepted), "accepted through another": cmp.Diff(tt.through, through), "roots": cmp.Diff(tt.roots, roots(d)),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			if v := d.Verdict; v.Class != tt.verdict || v.Cause != tt.cause || v.Accepted != len(tt.accepted) {
				t.Errorf("verdict %+v, want %s, cause %s, %d accepted", v, tt.verdict, tt.cause, len(tt.accepted))
			}
			if got := Worst(d); got != tt.worst {
				t.Errorf("the worst has rank %d, want %d", got, tt.worst)
			}
			if got := Undecided(d); got != tt.open {
				t.Errorf("undecided: %v, want %v", got, tt.open)
			}
		})
	}
}

// TestAcceptGroups: what one entry accepts is one group; what is about data comes first.
func TestAcceptGroups(t *testing.T) {
	const stands = "standsAlone: true\nremedies: [switch]\n"
	d := runAccepting(t, wall{"a": {"x": "lit", "etcd-x": "lit"}, "b": {"x": "lit"}}, map[string]string{"x": stands, "etcd-x": stands}, accepts{"x a", "x b", "etcd-x a"})
	var got []string
	for _, g := range d.Groups.Accepted {
		var names []string
		for _, s := range g.Subjects {
			names = append(names, s.Name)
		}
		got = append(got, g.Fault+" "+strings.Join(names, " "))
	}
	if diff := cmp.Diff([]string{"etcd-x a", "x a b"}, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if !d.Accepted[0].DataRisk || d.Accepted[1].DataRisk {
		t.Errorf("about data: %v, %v", d.Accepted[0].DataRisk, d.Accepted[1].DataRisk)
	}
}
