package answer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// acceptIn accepts a finding of a diagnosis with its effects, as the engine does.
func acceptIn(d *diagnosis.Diagnosis, a diagnosis.AcceptedFinding) {
	for i := range d.Findings {
		f := &d.Findings[i]
		switch {
		case f.Key() == a.Key:
			f.Accepted = &diagnosis.Accepted{Acceptance: a.Acceptance}
			a.Title, a.Severity = f.Title, f.Severity
		default:
			for _, k := range a.Effects {
				if k == f.Key() {
					f.Accepted = &diagnosis.Accepted{Acceptance: a.Acceptance, Through: []fault.Key{a.Key}}
				}
			}
		}
	}
	if a.Effects == nil {
		a.Effects = []fault.Key{}
	}
	d.Accepted = append(d.Accepted, a)
	d.Verdict.Accepted++
}

// accepted is a cluster in which nothing is wrong but what is accepted.
func accepted() *diagnosis.Diagnosis {
	d := answertest.Base(answertest.Answered("control0", "master"), answertest.Answered("control1", "master"), answertest.Answered("control2", "master"),
		answertest.Answered("worker0", "worker"), answertest.Stopped("worker1", "worker", fault.ConfigDone, diagnosis.StageWaiting, ""))
	paused, alarm := answertest.Key("pool-paused", answertest.Pool("worker")), answertest.Key("etcd-alarm-raised", fault.Subject{Kind: fault.Cluster})
	pending := []fault.Key{answertest.Key("node-config-pending", answertest.Host("worker0")), answertest.Key("node-config-pending", answertest.Host("worker1"))}
	d.Hosts[4].BlockedBy = []fault.Key{paused}
	d.Findings = []diagnosis.Finding{
		answertest.Present(alarm.Fault, alarm.Subject, "etcd has raised the alarm NOSPACE", fault.Error),
		answertest.Present(pending[0].Fault, pending[0].Subject, "node worker0 waits for its config", fault.Warning),
		answertest.Present(pending[1].Fault, pending[1].Subject, "node worker1 waits for its config", fault.Warning),
		answertest.Present(paused.Fault, paused.Subject, "pool worker is paused", fault.Warning),
	}
	for _, h := range []string{"a", "b", "c", "d", "e", "f"} {
		d.Findings = append(d.Findings, answertest.Present("bmh-detached", answertest.Host(h), "BareMetalHost "+h+" is detached", fault.Info))
	}
	d.Verdict = diagnosis.Verdict{Class: diagnosis.OnlyAccepted, Cause: diagnosis.CauseKnown, Reason: "etcd-alarm-raised, pool-paused, bmh-detached (6 times); 1 of 5 expected hosts not done: worker1"}
	acceptIn(d, diagnosis.AcceptedFinding{Key: alarm, Role: diagnosis.RoleRoot, DataRisk: true, Root: &diagnosis.Root{
		Fault: alarm.Fault, Severity: fault.Error, Means: "etcd refuses writes.",
		Cases: []diagnosis.Case{{Key: alarm, Title: d.Findings[0].Title, Confidence: diagnosis.Proven, Evidence: []evidence.Item{answertest.Item("etcd", "alarms", "NOSPACE at control0")}}},
	}, Acceptance: diagnosis.Acceptance{Reason: "defragmentation is planned for Saturday, change CHG0041", Owner: "storage team", Until: "2026-05-03", Entry: "accept.yaml:2"}})
	acceptIn(d, diagnosis.AcceptedFinding{Key: paused, Role: diagnosis.RoleRoot, Effects: pending, Acceptance: diagnosis.Acceptance{Reason: "firmware is being tested", Owner: "sre@example.com", Until: "2026-06-30", Entry: "accept.yaml:7"}})
	for _, f := range d.Findings[4:] {
		acceptIn(d, diagnosis.AcceptedFinding{Key: f.Key(), Role: diagnosis.RoleRoot, Acceptance: diagnosis.Acceptance{Reason: "spare hosts", Owner: "sre@example.com", Until: "2026-12-31", Entry: "accept.yaml:12"}})
	}
	diagnose.Group(d)
	return d
}

// partAccepted is a cluster with two causes of which one is accepted, with what only it explains.
func partAccepted() *diagnosis.Diagnosis {
	d := answertest.TwoRoots()
	r := d.Roots[0]
	d.Roots = d.Roots[1:]
	d.Verdict.Reason = "the catalogue knows no remedy for kubelet-ca-expired"
	acceptIn(d, diagnosis.AcceptedFinding{Key: r.Cases[0].Key, Role: diagnosis.RoleRoot, Root: &r, Effects: r.Cases[0].Explains[1:],
		Acceptance: diagnosis.Acceptance{Reason: "requests are approved by hand", Owner: "platform", Until: "2026-05-31", Entry: "accept.yaml:1"}})
	diagnose.Group(d)
	return d
}

// TestAcceptedOnTheFirstScreen: what is accepted and about data comes before everything else.
func TestAcceptedOnTheFirstScreen(t *testing.T) {
	d := answertest.DesyncProven()
	alarm := answertest.Key("etcd-alarm-raised", fault.Subject{Kind: fault.Cluster})
	d.Findings = append(d.Findings, answertest.Present(alarm.Fault, alarm.Subject, "etcd has raised the alarm NOSPACE", fault.Error))
	acceptIn(d, diagnosis.AcceptedFinding{Key: alarm, Role: diagnosis.RoleRoot, DataRisk: true, Acceptance: diagnosis.Acceptance{Reason: "known", Owner: "storage", Until: "2026-05-03", Entry: "a:1"}})
	diagnose.Group(d)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return renderText(b, d, options(page.Style{Width: 80})) },
		"roll": func(b *bytes.Buffer) error { return Roll(b, d, options(page.Style{Width: 80})) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if first := strings.Join(lines[:min(24, len(lines))], "\n"); !strings.Contains(first, "Accepted: etcd has raised the alarm NOSPACE") || !strings.Contains(first, "1 ACCEPTED") {
			t.Errorf("%s: it is not on the first screen:\n%s", name, first)
		}
	}
}

// TestAcceptedEffect: an effect that is accepted is one of its cause anyway, and says so.
func TestAcceptedEffect(t *testing.T) {
	d := answertest.DesyncProven()
	acceptIn(d, diagnosis.AcceptedFinding{Key: d.Findings[1].Key(), Role: diagnosis.RoleSymptom, Acceptance: diagnosis.Acceptance{Reason: "known", Owner: "sre", Until: "2026-05-03", Entry: "a:1"}})
	diagnose.Group(d)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return renderText(b, d, options(page.Style{Width: 200})) },
		"markdown": func(b *bytes.Buffer) error { return renderMarkdown(b, d, options(page.Style{})) },
		"html":     func(b *bytes.Buffer) error { return HTML(b, d, options(page.Style{})) },
		"sarif":    func(b *bytes.Buffer) error { return renderSARIF(b, d, options(page.Style{})) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); !strings.Contains(text, "gets HTTP 500 (accepted)") || strings.Count(text, "(accepted)") > 2 {
			t.Errorf("%s marks %d effects", name, strings.Count(text, "(accepted)"))
		}
	}
}

// TestAnswerFlags: flags that change the answer are repeated where the answer is asked for again,
// and nowhere else.
func TestAnswerFlags(t *testing.T) {
	o := Options{Command: "rollcall", Source: "--from x", Answer: "--accept a.yaml"}
	for words, want := range map[string]string{
		"": "rollcall --from x --accept a.yaml", "diagnose": "rollcall diagnose --from x --accept a.yaml",
		"diagnose node/a": "rollcall diagnose node/a --from x --accept a.yaml", "collect": "rollcall collect --from x",
	} {
		if got := o.Again(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
	if got := o.know("diagnose --from PATH"); got != "rollcall diagnose --from PATH" {
		t.Errorf("%q", got)
	}
}
