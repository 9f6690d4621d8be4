package answer

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// renderMarkdown writes the answer as the record of an incident, for a ticket or a wiki: verdict,
// causes with what to do and the proof, hosts, timeline, open questions, and when to call
// for support. Foreign text is escaped: it makes no headings, links or tables.
func renderMarkdown(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	o.Style = page.Style{Width: 1 << 20}
	o.Wide = true
	m := &markdown{text: newText(d, o)}
	if d.Source.Kind == planSource {
		m.plan()
		return page.Write(w, m.out.String())
	}
	m.headOfRecord()
	m.accepted(true)
	for i, r := range d.Roots {
		m.cause(i, len(d.Roots), r)
	}
	m.open()
	m.accepted(false)
	m.hostTable()
	m.machines()
	m.moments()
	m.done()
	m.questions()
	m.support()
	return page.Write(w, m.out.String())
}

type markdown struct {
	*text
	out strings.Builder
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.out, format, args...) }

// md makes foreign text plain text of Markdown.
func (m *markdown) md(text string) string { return page.Markdown(m.Clean(text)) }

// hasCommand is a sentence with a command in it.
var hasCommand = regexp.MustCompile(`(?:^|[ \x60])(?:oc|rollcall|sudo|virsh|kubectl|systemctl) [a-z-]+ `)

var plainID = regexp.MustCompile(`^[a-z0-9-]+$`)

// id writes an id as code, where it is one.
func (m *markdown) id(id string) string {
	if plainID.MatchString(id) {
		return "`" + id + "`"
	}
	return m.md(id)
}

// code writes foreign lines as a block that they cannot end: each is indented.
func (m *markdown) code(indent string, lines ...string) {
	m.printf("\n")
	for _, l := range lines {
		m.printf("%s    %s\n", indent, m.Clean(l))
	}
}

// toFillIn are the fields of a record that no evidence has, with what belongs there.
var toFillIn = [][2]string{{"Impact", "who notices it, and what does not work for them"}, {"Owner", "who works on it"}, {"Ticket", "where it is tracked"}}

// headOfRecord is the table at its top.
func (m *markdown) headOfRecord() {
	h := HeadlineOf(m.whole())
	m.printf("# Incident record: %s\n\n", h.Words)
	if about := m.o.Subject; about != nil {
		m.printf("%s\n\nThe whole cluster: %s\n\n", m.md(about.String()+": "+m.o.About.Says), m.md(m.wholeVerdict()))
	} else if reason := m.verdictReason(); reason != "" {
		m.printf("%s\n\n", m.md(reason))
	}
	m.printf("| | |\n| --- | --- |\n| Read | %s |\n", m.md(strings.Join(sourceParts(m.d), ", ")))
	if id := m.d.Cluster.ID; id != "" {
		m.printf("| Cluster | %s |\n", m.md(id))
	}
	var first time.Time
	for _, r := range m.d.Roots {
		for _, c := range r.Cases {
			if !c.Since.IsZero() && (first.IsZero() || c.Since.Before(first)) {
				first = c.Since
			}
		}
	}
	if s := since(first, m.d.Now); s != "" {
		m.printf("| Began | %s |\n", m.md(strings.TrimPrefix(s, "since ")))
	}
	m.printf("| Found by | Rollcall, %d checks of %d subjects |\n", m.d.Stats.Faults, m.d.Stats.Subjects)
	if rows, expected := m.openHosts(); expected > 0 {
		m.printf("| Hosts | %s |\n", m.md(notDone(rows, fmt.Sprint(expected))))
	}
	for _, field := range toFillIn {
		m.printf("| %s | (fill in: %s) |\n", field[0], field[1])
	}
}

func (m *markdown) cause(i, of int, r diagnosis.Root) {
	first := r.Cases[0]
	head := "Cause"
	if of > 1 {
		head = fmt.Sprintf("Cause %d of %d", i+1, of)
	}
	m.printf("\n## %s: %s\n\n", head, m.md(m.linkTitle(&link{keys: r.Keys()})))
	about := []string{m.id(r.Fault), m.md(confidences[r.LeastSure().Confidence]), m.md(string(r.Severity)), m.md(first.Subject.String())}
	if s := since(first.Since, m.d.Now); s != "" {
		about = append(about, m.md(s))
	}
	m.printf("%s\n\n", strings.Join(about, ", "))
	if r.LeastSure().Lowered != "" {
		m.printf("Not proven: %s\n\n", m.md(r.LeastSure().Lowered))
	}
	m.printf("%s\n", m.md(r.Means))
	m.printf("\n### What to do\n")
	if command := m.proves(first); command != "" {
		m.printf("\nTo decide whether it is this cause, read:\n")
		m.code("", command)
	}
	m.planned = m.planCommand(first)
	m.advice(first.Remedies)
	if len(r.Refused) > 0 {
		m.printf("\n")
	}
	for _, id := range r.Refused {
		m.printf("- Do not: %s (%s)\n", m.md(m.o.Refused[id].Title), m.id(id))
	}
	m.printf("\n### Proof\n\n")
	for _, p := range distinct(first.Evidence, true) {
		m.printf("- %s\n", m.md(p.Locator.String()))
		m.code("  ", excerpt(p.Item))
	}
	if tree := chain(m.d, r); len(tree) > 0 {
		m.printf("\n### Effects\n\n")
		m.effects(tree, "")
	}
	if len(first.RuledOut) > 0 {
		m.printf("\n### Ruled out\n\n")
		for _, out := range first.RuledOut {
			m.printf("- %s: %s\n", m.id(out.Fault), m.md(ruledOutWords(out)))
		}
	}
}

func (m *markdown) advice(list []fault.Advice) {
	if len(list) == 0 {
		m.printf("\nNo remedy is known.\n")
	}
	for _, a := range list {
		m.printf("\n**%s** (%s; risk: %s)\n\n", m.md(a.Title), m.md(actorWords(a.Actor(), a.Where)), m.md(string(a.Risk)))
		if a.NeedsProof {
			m.printf("%s\n\n", m.md(needsProof))
		}
		for _, q := range a.Requires {
			m.printf("- Only if %s\n", m.md(q))
		}
		for i, s := range a.Steps {
			where := ""
			if s.On == "host" {
				where = " (on the host)"
			}
			m.printf("%d. %s%s\n", i+1, m.md(s.Do), where)
			if s.Run != "" {
				m.code("   ", strings.Split(m.commands(s.Run), "\n")...)
			}
			if s.Expect != "" {
				m.printf("\n   Shows: %s\n", m.md(s.Expect))
			}
		}
		worked := a.Verify.Expect
		if a.Verify.Takes != "" {
			worked += " (usually within " + a.Verify.Takes + ")"
		}
		m.printf("\nIt worked when: %s\n", m.md(worked))
		if a.Verify.Run != "" {
			m.code("", strings.Split(m.commands(a.Verify.Run), "\n")...)
		}
		for _, line := range []struct{ head, text string }{{"Undo", a.Undo}, {"If the diagnosis is wrong", a.IfWrong}} {
			switch {
			case line.text == "":
			case hasCommand.MatchString(line.text): // to be copied: nothing of it is escaped
				m.printf("\n%s:\n", line.head)
				m.code("", line.text)
			default:
				m.printf("\n%s: %s\n", line.head, m.md(line.text))
			}
		}
	}
}

func (m *markdown) effects(list []*link, indent string) {
	for _, l := range list {
		m.printf("%s- %s\n", indent, m.md(m.effectTitle(l)))
		m.effects(l.children, indent+"  ")
	}
}

// open lists symptoms without a known cause.
func (m *markdown) open() {
	for _, u := range m.withoutCause() {
		m.printf("\n## Cause unknown: %s\n\n", m.md(m.linkTitle(u.link)))
		for _, p := range distinct(u.Evidence, true) {
			m.printf("- %s\n", m.md(p.Locator.String()))
			m.code("  ", excerpt(p.Item))
		}
		for _, s := range u.Suspects {
			m.printf("- It could be: %s\n", m.md(s.Title+m.alsoAt(s)))
		}
		if len(u.Remedies) > 0 {
			m.advice(u.Remedies)
		}
	}
}

func (m *markdown) hostTable() {
	if len(m.d.Hosts) == 0 {
		return
	}
	m.printf("\n## Hosts\n\n| Host | Role | Step | State | Since | Why |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, h := range m.d.Hosts {
		if !h.Expected {
			continue
		}
		when := ""
		if !h.Since.IsZero() {
			when = page.Clock(h.Since)
		}
		m.printf("| %s | %s | %s | %s | %s | %s |\n", m.md(h.Name), m.md(h.Role), m.md(string(h.Stage)), m.md(string(h.State)), when, m.md(h.Why))
	}
}

func (m *markdown) moments() {
	list := m.text.moments()
	if len(list) == 0 {
		return
	}
	m.printf("\n## Timeline\n\n| Time | Subject | What |\n| --- | --- | --- |\n")
	for _, x := range list {
		m.printf("| %s | %s | %s |\n", page.Clock(x.Time), m.md(x.Subject.String()), m.md(x.Text))
	}
}

// Deed is a repair that was begun on this machine.
type Deed struct {
	At           time.Time
	What, Result string
}

// done has the repairs of Rollcall. The rest is filled by whoever works on the incident:
// Rollcall does not know what they did.
func (m *markdown) done() {
	m.printf("\n## What was done\n\n| Time | Who | What | Result |\n| --- | --- | --- | --- |\n")
	for _, d := range m.o.Done {
		m.printf("| %s | Rollcall, on this machine | %s | %s |\n", d.At.UTC().Format(time.RFC3339), m.md(d.What), m.md(d.Result))
	}
	m.printf("| | | | |\n\n")
	m.printf("The repairs of Rollcall are listed by:\n")
	m.code("", m.o.know("fix history"))
}

func (m *markdown) questions() {
	gaps := m.d.Groups.Gaps
	if len(gaps) == 0 {
		return
	}
	m.printf("\n## Open questions\n\n")
	for _, g := range gaps {
		m.printf("- Not checked: %s", m.md(some(needsOf(g), 1<<20)))
		if reason := reasonOf(g); reason != "" {
			m.printf(" (%s)", m.md(reason))
		}
		m.printf("\n")
		if len(g.Supply) > 0 {
			m.code("  ", each(g.Supply, m.o.supply)...)
		}
	}
}

// support says when to stop and call, and what to send.
func (m *markdown) support() {
	m.printf("\n## When to open a support case\n\n")
	for _, line := range Escalation(m.d) {
		m.printf("- %s\n", m.md(line))
	}
	m.printf("\nSend this record, and what this saves (no secrets, see docs/secrets.md):\n")
	m.code("", m.o.Again("collect"))
}
