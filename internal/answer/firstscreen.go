package answer

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// hostsLine says on the first screen which hosts are not done: with their stages where that
// fits two lines, else as many names as fit.
func (t *text) hostsLine() {
	rows, expected := t.openHosts()
	if len(rows) == 0 || t.o.Wide {
		return
	}
	head := "Hosts: "
	if expected > 0 {
		head += notDone(rows, fmt.Sprint(expected)) + ": "
	}
	fits := func(text string) bool { return len(page.Break(t.Clean(head+text), page.LineRoom, page.LineRoom)) <= 2 }
	groups := t.d.Groups.Hosts
	stages := t.hostStages(groups, "")
	if fits(stages) {
		t.Lead(0, page.Bold.Span(head), "  ", page.Plain, stages, 0)
		return
	}
	domain := commonDomain(groups)
	if stages = t.hostStages(groups, domain); !fits(stages) {
		stages = namesThatFit(groups, domain, fits)
	}
	t.Lead(0, page.Bold.Span(head), "  ", page.Plain, stages, 0)
}

// hostStages lists the hosts of each stage, without the domain that all have.
func (t *text) hostStages(groups []diagnosis.HostGroup, domain string) string {
	return strings.Join(each(groups, func(g diagnosis.HostGroup) string {
		names := strings.Join(withoutDomain(g.Names, domain), ", ")
		if t.d.Hosts[g.First].Bootstrap() {
			return names + " " + string(g.State)
		}
		return names + " at " + string(g.Stage)
	}), "; ") + domainNote(domain)
}

func domainNote(domain string) string {
	if domain == "" {
		return ""
	}
	return " (all of " + strings.TrimPrefix(domain, ".") + ")"
}

func withoutDomain(names []string, domain string) []string {
	return each(names, func(n string) string { return strings.TrimSuffix(n, domain) })
}

// commonDomain is what follows the first dot of every name, with that dot; empty where it is
// not the same for all.
func commonDomain(groups []diagnosis.HostGroup) string {
	domain := ""
	for i, g := range groups {
		for j, n := range g.Names {
			dot := strings.IndexByte(n, '.')
			switch {
			case dot <= 0 || strings.Contains(n, " "):
				return ""
			case i+j == 0:
				domain = n[dot:]
			case n[dot:] != domain:
				return ""
			}
		}
	}
	return domain
}

// namesThatFit lists the first hosts that fit, and how many others there are.
func namesThatFit(groups []diagnosis.HostGroup, domain string, fits func(string) bool) string {
	var names []string
	for _, g := range groups {
		names = append(names, withoutDomain(g.Names, domain)...)
	}
	note := domainNote(domain)
	n := 1
	for n < len(names) && fits(some(names, n+1)+note) {
		n++
	}
	return some(names, n) + note
}
