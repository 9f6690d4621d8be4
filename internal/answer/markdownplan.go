package answer

import (
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// plan writes the answer of a preflight for a ticket or a review: there are no hosts yet and
// no incident, but lines of files, and what they need.
func (m *markdown) plan() {
	m.printf("# Before the installation: %s\n\n", HeadlineOf(m.d).Words)
	if reason := m.planReason(); reason != "" {
		m.printf("%s\n\n", m.md(reason))
	}
	m.printf("| | |\n| --- | --- |\n| Read | %s |\n", m.md(strings.Join(sourceParts(m.d), ", ")))
	m.printf("| Found by | Rollcall, %s |\n", page.Count(m.d.Stats.Faults, "check", "checks"))
	m.accepted(true)
	for _, r := range m.d.Roots {
		for _, c := range r.Cases {
			m.mistake(r, c)
		}
	}
	if list := m.planAdvice(); len(list) > 0 {
		m.printf("\n## What to do\n")
		m.advice(list)
	}
	m.machines()
	m.paths()
	m.accepted(false)
	if list := m.notCheckedOfPlan(); len(list) > 0 {
		m.printf("\n## Not checked\n\n")
		for _, n := range list {
			m.printf("- %s: %s\n", m.md(strings.Join(n.checks, ", ")), m.md(n.reason))
			m.code("  ", each(n.supplies, m.planSupply)...)
		}
	}
}

// planKinds are the severities in the words of a preflight.
var planKinds = map[fault.Severity]string{fault.Error: "Mistake", fault.Warning: "Warning", fault.Info: "Note"}

func (m *markdown) mistake(r diagnosis.Root, c diagnosis.Case) {
	m.printf("\n## %s: %s\n\n%s\n\n%s\n\n", planKinds[r.Severity], m.md(c.Title), m.id(c.Fault), m.md(r.Means))
	for _, item := range c.Evidence {
		m.printf("- %s\n", m.md(item.Locator.String()))
		m.code("  ", item.Excerpt)
	}
}

// paths lists what was measured of the paths to the hosts.
func (m *markdown) paths() {
	if len(m.d.Paths) == 0 {
		return
	}
	m.printf("\n## Paths to the hosts, as measured\n\n")
	for _, p := range m.d.Paths {
		m.printf("- %s to %s: %s\n", m.md(p.From), m.md(p.Host), m.md(measured(p)))
	}
}
