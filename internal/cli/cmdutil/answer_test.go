package cmdutil

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/paste"
)

// opened is a frame with what a command asks of a run. The run is over objects; what it says is a
// sample.
func opened(t *testing.T, s *surroundings, change func(*session.Options)) (*App, *session.Run) {
	t.Helper()
	a := s.frame()
	a.PlanCommand = func(context.Context, *session.Run, *diagnosis.Diagnosis) answer.PlanCommand {
		return func(c diagnosis.Case, _ string, _ bool) string { return "rollcall fix plan --root " + c.Fault }
	}
	a.Repairs = func(cluster string) []answer.Deed { return []answer.Deed{{What: "a repair of " + cluster}} }
	o := cluster(t)
	if change != nil {
		change(o)
	}
	r, err := a.Session(*o).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, r
}

// says is a question whose answer is a diagnosis.
func says(d *diagnosis.Diagnosis) func(context.Context) (*diagnosis.Diagnosis, error) {
	return func(context.Context) (*diagnosis.Diagnosis, error) { return d, nil }
}

// cannotCheck is a diagnosis of a cluster whose API does not answer.
func cannotCheck() *diagnosis.Diagnosis {
	d := answertest.Unreadable()
	d.Verdict.Class = diagnosis.CannotCheck
	return d
}

// TestAnswer: what is printed in which format, with which exit code.
func TestAnswer(t *testing.T) {
	broken := errors.New("read the cluster: no route to host")
	for _, c := range []struct {
		name   string
		format string
		failOn string
		q      Question
		code   ExitCode
		has    []string
		not    []string
		err    string
	}{
		{name: "text", format: "text", q: Question{Diagnose: says(answertest.DesyncProven())}, code: ExitFault,
			has: []string{"CAUSE KNOWN", "rollcall fix plan --root pool-render-missing"}},
		{name: "the code is that of --fail-on", format: "text", failOn: FailOnNever, q: Question{Diagnose: says(answertest.DesyncProven())}, code: ExitOK,
			has: []string{"CAUSE KNOWN"}},
		{name: "name", format: "name", q: Question{Diagnose: says(answertest.DesyncProven())}, code: ExitFault, has: []string{"pool-render-missing\n"},
			not: []string{"CAUSE"}},
		{name: "html", format: "html", q: Question{Diagnose: says(answertest.Healthy())}, code: ExitOK, has: []string{"<!DOCTYPE html>"}},
		{name: "markdown has what was done", format: "markdown", q: Question{Diagnose: says(answertest.DesyncProven())}, code: ExitFault,
			has: []string{"# Incident record", "a repair of 9f6c0a34"}},
		{name: "one host", format: "text", q: Question{Diagnose: says(answertest.DesyncProven()), Subject: "node/control2"}, code: ExitFault,
			has: []string{"✗ host/control2: failed at ignition-fetched; cause: ", "\nThe whole cluster: ✗ BROKEN", "pool-render-missing"},
			not: []string{"Hosts: 3 of 3"}},
		{name: "no such host", format: "text", q: Question{Diagnose: says(answertest.DesyncProven()), Subject: "node/other"}, err: "other"},
		{name: "a host, and nothing could be checked", format: "text", q: Question{Diagnose: says(cannotCheck()), Subject: "node/other"}, code: ExitUndecided,
			has: []string{"CANNOT CHECK"}},
		{name: "no subject", format: "text", q: Question{Diagnose: says(answertest.Healthy()), Subject: "pod/a"}, err: `"pod/a": this kind is not supported`},
		{name: "no diagnosis", format: "text", q: Question{Diagnose: func(context.Context) (*diagnosis.Diagnosis, error) { return nil, broken }},
			err: broken.Error()},
		{name: "a command decides what is open", format: "name", code: ExitOK,
			q: Question{Diagnose: says(answertest.Undecided()), Undecided: func(*diagnosis.Diagnosis) bool { return false }}},
		{name: "since a baseline", format: "text", code: ExitOK, has: []string{"Changed since the baseline of 2026-05-01T11:00:00Z: 1 change", "co/etcd is new"},
			q: Question{Diagnose: says(answertest.Healthy()), Changed: func(context.Context, *diagnosis.Diagnosis) (*answer.Changed, error) {
				return &answer.Changed{File: "good.json", Since: noon.Add(-time.Hour), All: true, Is: []answer.Change{{Says: "co/etcd is new"}}}, nil
			}}},
		{name: "no baseline", format: "text", err: broken.Error(),
			q: Question{Diagnose: says(answertest.Healthy()), Changed: func(context.Context, *diagnosis.Diagnosis) (*answer.Changed, error) {
				return nil, broken
			}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &surroundings{screen: Screen{Width: 120}}
			a, r := opened(t, s, nil)
			if a.Output.FailOn = c.failOn; c.failOn == "" {
				a.Output.FailOn = "error"
			}
			err := a.Answer(t.Context(), r, c.format, c.q)
			out := s.out.String()
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || out != "" {
					t.Errorf("%v, printed %q; want %q", err, out, c.err)
				}
				return
			}
			if got := CodeOf(err, failed); got != c.code {
				t.Errorf("%d, want %d: %v", got, c.code, err)
			}
			for _, want := range c.has {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			for _, not := range c.not {
				if strings.Contains(out, not) {
					t.Errorf("%q in\n%s", not, out)
				}
			}
		})
	}
}

// TestAnswerOfRun: without another diagnosis the answer is that of the run. The exit code is the same
// in each format.
func TestAnswerOfRun(t *testing.T) {
	s := &surroundings{}
	a, r := opened(t, s, func(o *session.Options) { o.Only = []string{"csr-client-pending"} })
	a.Output.FailOn = "error"
	var codes []ExitCode
	for _, format := range []string{"json", "text", "yaml"} {
		s.out.Reset()
		codes = append(codes, CodeOf(a.Answer(t.Context(), r, format, Question{}), failed))
		if format != "json" {
			continue
		}
		var d diagnosis.Diagnosis
		if err := json.Unmarshal(s.out.Bytes(), &d); err != nil || d.Kind != "Diagnosis" || len(d.Hosts) == 0 {
			t.Errorf("%v, %s of %d hosts", err, d.Kind, len(d.Hosts))
		}
	}
	if codes[0] != codes[1] || codes[1] != codes[2] {
		t.Errorf("%d", codes)
	}
}

// TestReportOptions: the commands of an answer read the same source again.
func TestReportOptions(t *testing.T) {
	s := &surroundings{screen: Screen{Width: 90, Size: func() (int, int) { return 90, 30 }}}
	a, r := opened(t, s, func(o *session.Options) { o.Expect = []string{"m9"} })
	a.Name, a.Output.NoHeaders, a.Output.Findings = "oc rollcall", true, true
	o := a.ReportOptions(r)
	if o.Command != "oc rollcall" || !strings.HasPrefix(o.Source, "--from ") || !strings.HasSuffix(o.Source, " --expect m9") || o.Answer != "" {
		t.Errorf("%q, %q, %q", o.Command, o.Source, o.Answer)
	}
	if o.Width != 90 || !o.NoHeaders || !o.Findings || o.Catalog != r.Catalog {
		t.Errorf("%d, %t, %t", o.Width, o.NoHeaders, o.Findings)
	}
	if len(o.Refused) == 0 || len(o.Refused) != len(r.Catalog.Refused) {
		t.Errorf("%d of %d pieces of unsafe advice", len(o.Refused), len(r.Catalog.Refused))
	}
}

// TestAcceptNotes: an entry that has expired is a warning on stderr, and --quiet leaves it out.
func TestAcceptNotes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accept.yaml")
	entry := "- {fault: csr-client-pending, subject: csr/csr-1, reason: a test, owner: sre, until: 2026-04-01}\n"
	if err := os.WriteFile(file, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		file  string
		quiet bool
		want  string // "": nothing
	}{
		{"an expired entry", file, false, "rollcall: warning: "},
		{"--quiet", file, true, ""},
		{"nothing is accepted", "", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &surroundings{}
			a, r := opened(t, s, func(o *session.Options) { o.Accept, o.AcceptNamed = c.file, c.file != "" })
			s.err.Reset()
			a.Quiet = c.quiet
			a.AcceptNotes(r, answertest.Healthy())
			if got := s.err.String(); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestNothingRead: of what is asked of a cluster, and not of probes and of what was not asked for.
func TestNothingRead(t *testing.T) {
	of := func(need string, state evidence.State, count int, reason string) evidence.Coverage {
		return evidence.Coverage{Need: need, State: state, Count: count, Reason: reason}
	}
	api := evidence.APIProbes.String()
	for _, c := range []struct {
		name     string
		coverage []evidence.Coverage
		why      string
		probed   bool
	}{
		{"no coverage", nil, "the source holds none of what is asked for", false},
		{"something was read", []evidence.Coverage{of("pods", evidence.Missing, 0, "forbidden"), of("nodes", evidence.Read, 3, "")}, "", false},
		{"an empty list was read", []evidence.Coverage{of("nodes", evidence.Empty, 0, "")}, "", false},
		{"a part was read", []evidence.Coverage{of("nodes", evidence.Partial, 1, "cut off")}, "", false},
		{"nothing of a part", []evidence.Coverage{of("nodes", evidence.Partial, 0, "cut off")}, "cut off", false},
		{"the first reason", []evidence.Coverage{of("nodes", evidence.Missing, 0, "refused"), of("pods", evidence.Missing, 0, "forbidden")}, "refused", false},
		{"not what was not asked for", []evidence.Coverage{of("a", evidence.Missing, 0, string(evidence.NotAsked)+": --journals"),
			of("b", evidence.Missing, 0, string(evidence.NotCollected)), of("nodes", evidence.Missing, 0, "refused")}, "refused", false},
		{"only probes answered", []evidence.Coverage{of(api, evidence.Read, 1, ""), of("nodes", evidence.Missing, 0, "refused")}, "refused", true},
		{"no probe answered", []evidence.Coverage{of(api, evidence.Missing, 0, "timeout"), of("nodes", evidence.Missing, 0, "refused")}, "refused", false},
	} {
		if why, probed := NothingRead(&diagnosis.Diagnosis{Coverage: c.coverage}); why != c.why || probed != c.probed {
			t.Errorf("%s: %q, %t; want %q, %t", c.name, why, probed, c.why, c.probed)
		}
	}
	a, r := opened(t, &surroundings{}, nil)
	err := a.NothingError(r, "save a baseline of", "save it again", "refused", "no baseline was saved")
	for _, want := range []string{"save a baseline of ", "(refused); no baseline was saved. Check ", "`rollcall diagnose`", "`rollcall can-i`, then save it again"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %q", want, err)
		}
	}
}

// TestFocus: what an answer about a subject keeps.
func TestFocus(t *testing.T) {
	whole := answertest.DesyncProven()
	host := fault.Subject{Kind: fault.Host, Name: "control2"}
	other := fault.Subject{Kind: fault.Host, Name: "worker9"}
	request := fault.Subject{Kind: fault.CSR, Name: "csr-1"}
	whole.Findings = append(whole.Findings, diagnosis.Finding{Fault: "of-another", Subject: other, Outcome: fault.Absent},
		diagnosis.Finding{Fault: "of-its-request", Subject: request, Outcome: fault.Absent})
	whole.Unexplained = []diagnosis.Unexplained{
		{Key: fault.Key{Fault: "u", Subject: host}, Suspects: []diagnosis.Suspect{{Key: fault.Key{Fault: "s", Subject: request}}}},
		{Key: fault.Key{Fault: "u", Subject: other}},
	}
	whole.Accepted = []diagnosis.AcceptedFinding{
		{Key: fault.Key{Fault: "a", Subject: other}, Effects: []fault.Key{{Fault: "e", Subject: host}}},
		{Key: fault.Key{Fault: "b", Subject: other}},
	}
	for _, c := range []struct {
		name                                       string
		s                                          fault.Subject
		related                                    []fault.Subject
		roots, hosts, unexplained, accepted, times int
		finding                                    string // one that is kept, "" for none
		without                                    string
	}{
		{"a host that a cause holds", host, nil, 1, 1, 1, 1, 1, "ignition-fetch-500", "of-another"},
		{"what belongs to it", host, []fault.Subject{request}, 1, 1, 1, 1, 1, "of-its-request", "of-another"},
		{"the pool of the cause", fault.Subject{Kind: fault.Pool, Name: "master"}, nil, 1, 0, 0, 0, 1, "pool-render-missing", "of-another"},
		{"a host that no cause holds", other, nil, 0, 0, 1, 2, 0, "of-another", "pool-render-missing"},
		{"nothing is about it", fault.Subject{Kind: fault.Operator, Name: "dns"}, nil, 0, 0, 0, 0, 0, "", "pool-render-missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			roots, findings := len(whole.Roots), len(whole.Findings)
			d := focus(whole, c.s, c.related)
			if len(d.Roots) != c.roots || len(d.Hosts) != c.hosts || len(d.Unexplained) != c.unexplained || len(d.Accepted) != c.accepted || len(d.Timeline) != c.times {
				t.Errorf("%d roots, %d hosts, %d unexplained, %d accepted, %d moments", len(d.Roots), len(d.Hosts), len(d.Unexplained), len(d.Accepted), len(d.Timeline))
			}
			ids := map[string]bool{}
			for _, f := range d.Findings {
				ids[f.Fault] = true
			}
			if c.finding != "" && !ids[c.finding] || ids[c.without] {
				t.Errorf("%v", ids)
			}
			if d.Verdict.Class != whole.Verdict.Class || d.Verdict.Reason != whole.Verdict.Reason {
				t.Errorf("the verdict is another one: %+v", d.Verdict)
			}
			if len(whole.Roots) != roots || len(whole.Findings) != findings || len(whole.Unexplained) != 2 {
				t.Error("the whole diagnosis was changed")
			}
		})
	}
}

// TestWithoutOthers: only the journal of the other system is dropped, and none where a name does not say which one it is.
func TestWithoutOthers(t *testing.T) {
	texts := func(names ...string) (list []*paste.Source) {
		for _, n := range names {
			list = append(list, paste.Read(n, nil, time.Time{}))
		}
		return list
	}
	for _, c := range []struct{ have, others, want string }{
		{"a/journal a/kubelet.log", "journal", "a/kubelet.log"},
		{"a/journal b/journal", "journal", "a/journal b/journal"},
		{"a/journal b/journal", "b/journal", "a/journal"},
		{"a/journal", "", "a/journal"},
	} {
		var others []diagnosis.OtherSystem
		for _, o := range strings.Fields(c.others) {
			others = append(others, diagnosis.OtherSystem{Source: o})
		}
		var got []string
		for _, s := range withoutOthers(texts(strings.Fields(c.have)...), others) {
			got = append(got, s.Name())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s without %s: %v, want %s", c.have, c.others, got, c.want)
		}
	}
}
