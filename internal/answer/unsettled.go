package answer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

const (
	fewUnsettled   = 5   // findings that are listed
	fewMessages    = 3   // of one
	longestMessage = 400 // what an object reports; the rest is behind the command
	fewDescribed   = 2   // commands of the first screen
)

// unsettledFindings are those whose condition holds, and that may be a fault or pass.
func (t *text) unsettledFindings() []diagnosis.Finding {
	var list []diagnosis.Finding
	for _, f := range t.d.Findings {
		if f.Unsettled && f.Severity.Rank() > fault.Info.Rank() {
			list = append(list, f)
		}
	}
	return list
}

// unsettled lists what holds and is not decided, with what the objects report of it: the verdict has room for one line.
func (t *text) unsettled() {
	list := t.unsettledFindings()
	if len(list) == 0 {
		return
	}
	t.Blank()
	t.Head(0, "Not decided: a fault, or it passes by itself")
	var shown []string
	for i, f := range list {
		if i == fewUnsettled && !t.o.Wide {
			t.Line(2, page.Dim.Span(moreHint(len(list)-i)))
			return
		}
		title := t.o.Brief(f.Title)
		if s := since(f.Since, t.d.Now); s != "" {
			title += "; " + s
		}
		t.Para(0, page.Yellow.Span(t.Sign(page.Open)+" "), page.Plain, title)
		for _, says := range reported(f, shown) {
			shown = append(shown, says)
			t.Para(2, page.Plain.Span("- "), page.Plain, t.o.Brief(says))
		}
	}
}

// asItShould is a condition that speaks for the object that it is of.
var asItShould = regexp.MustCompile(`^(?:Available=True|Degraded=False|Progressing=False)\b`)

// reported are the conditions with a message that a finding rests on, each once, but those that its title has, or that are
// shown already.
func reported(f diagnosis.Finding, shown []string) []string {
	var list []string
	for _, e := range f.Evidence {
		_, message, ok := strings.Cut(e.Excerpt, ": ")
		begin := strings.TrimRight(evidence.Shorten(message, shortestShown), "…")
		has := func(text string) bool { return strings.Contains(text, begin) }
		if !ok || asItShould.MatchString(e.Excerpt) || has(f.Title) || slices.ContainsFunc(list, has) || slices.ContainsFunc(shown, has) {
			continue
		}
		if list = append(list, evidence.Shorten(e.Excerpt, longestMessage)); len(list) == fewMessages {
			break
		}
	}
	return list
}

// shortestShown is how much of a message a sentence has at least that repeats it.
const shortestShown = 30

// operatorsNamed are the operators in the message of a ClusterVersion (openshift/cluster-version-operator:pkg/payload/task.go
// SummaryForReason, pkg/cvo/internal/operatorstatus.go checkOperatorHealth).
var operatorsNamed = regexp.MustCompile(`(?i)cluster operators? ([a-z0-9, -]+?) (?:is|are) (?:not available|degraded|updating)`)

// describing are the commands that show what is not decided: the operator or the node that it is about.
func (t *text) describing() []string {
	var list []string
	add := func(command string) {
		if !slices.Contains(list, command) && len(list) < fewDescribed {
			list = append(list, command)
		}
	}
	for _, f := range t.unsettledFindings() {
		switch {
		case f.Subject.Kind == fault.Operator:
			add("oc describe clusteroperator " + f.Subject.Name)
		case f.Subject.Kind == fault.Host && f.Subject.Name != fault.Unnamed:
			add("oc describe node " + f.Subject.Name)
		case f.Fault == versionFailing:
			m := operatorsNamed.FindStringSubmatch(f.Title)
			if m == nil {
				add("oc get clusteroperators")
				continue
			}
			names := strings.FieldsFunc(strings.ReplaceAll(m[1], " and ", " "), func(r rune) bool { return r == ',' || r == ' ' })
			add("oc describe clusteroperator " + strings.Join(names, " "))
		}
	}
	return list
}

// versionFailing is the fault that repeats what operators report.
const versionFailing = "cluster-version-failing"
