package answer

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

//go:embed html.css
var htmlStyle string

// htmlPage is everything that the page shows, in its order.
type htmlPage struct {
	Title        string
	Class, Sign  string
	Summary      []pair
	Headline     string
	Reason       string
	MoreReasons  []string   // what does not fit a glance
	Todo         []htmlTodo // of several causes
	Source       []pair
	Outcomes     string
	Roots        []htmlRoot
	Open         []htmlOpen
	Waits        []pair
	Accepted     []htmlAccepted
	AtRisk       bool   // some of it is about data: it comes first
	NextIs       string // what the supplies are for
	Supplies     []string
	MoreSupplies []string
	Plan         bool // there are no hosts yet
	Hosts        htmlHosts
	Machines     *machineTable
	Time         *htmlTime
	Gaps         []htmlGap
	GapsSay      string
	Checks       []htmlCheck
}

// pair is a term with what is said of it.
type pair struct{ Term, Text string }

// HTML writes the answer as one page that needs no network: to be sent, printed and
// kept. It leaves nothing out that -o wide has.
func HTML(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	o.Style = page.Style{}
	t := newText(d, o)
	h := HeadlineOf(t.whole())
	p := htmlPage{
		Class: signClasses[h.Sign], Sign: page.Style{}.Sign(h.Sign), Headline: h.Words,
		Summary: t.htmlSummary(), Source: t.htmlSource(), Outcomes: t.htmlOutcomes(),
		Hosts: t.htmlHosts(), Machines: t.machineTable(), Time: t.htmlTime(), Gaps: t.htmlGaps(), Checks: t.htmlChecks(), Open: t.htmlOpen(),
		Plan: d.Source.Kind == planSource,
	}
	p.Title = "Rollcall: " + d.Source.Name + ": " + strings.ToLower(h.Words)
	p.Supplies, p.MoreSupplies = t.htmlSupplies()
	p.NextIs = t.nextIs()
	p.Reason, p.MoreReasons = t.htmlReason()
	p.Reason = t.notInSummary(p.Reason, p.Summary)
	if p.GapsSay = t.htmlGapsSay(); p.Summary[0].Term == summaryState {
		p.Reason = "" // the summary has it
	}
	if o.Subject != nil {
		p.Class, p.Sign = signClasses[aboutSigns[o.About.State].Sign], page.Style{}.Sign(aboutSigns[o.About.State].Sign)
		p.Headline, p.Reason, p.MoreReasons = o.Subject.String()+": "+o.About.Says, "The whole cluster: "+t.wholeVerdict(), nil
	}
	p.Accepted = t.htmlAccepted()
	p.AtRisk = len(d.Accepted) > 0 && d.Accepted[0].DataRisk
	for i, r := range d.Roots {
		p.Roots = append(p.Roots, t.htmlRoot(i, len(d.Roots), r))
	}
	p.Todo = t.htmlTodos(p.Roots)
	for _, x := range t.waitingGroups() {
		p.Waits = append(p.Waits, pair{t.linkTitle(linkOf(x.Group)), t.deadline(x.Until)})
	}
	var out markup
	if out.page(p); out.err != nil {
		return out.err
	}
	return page.Write(w, cleanLines(out.b.String()))
}

// cleanLines makes foreign text harmless as clean does and keeps the page's own lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.TrimRight(page.Style{}.Clean(l), " "); l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n") + "\n"
}

var signClasses = map[page.Sign]string{page.Bad: "bad", page.Warn: "warn", page.Good: "good", page.Open: "open", page.Wait: "wait"}

func (t *text) htmlSource() []pair {
	d := t.d
	list := []pair{{"Read", d.Source.Kind + " " + d.Source.Name}}
	add := func(term, text string) {
		if text != "" {
			list = append(list, pair{term, text})
		}
	}
	add("Asked from", d.Source.Vantage)
	version := d.Cluster.Version
	if version == "" && d.Source.Kind == planSource {
		version = "not named (--release)"
	} else if version == "" && (d.Cluster.Installer == nil || d.Cluster.Installer.Version == "") {
		version = "not readable"
	}
	add("Version", version)
	if u := d.Cluster.Update; u != nil {
		term, words := "Update", strings.TrimPrefix(updateWords(*u, d.Now), "updating ")
		if u.First {
			term, words = "Installing", strings.TrimPrefix(words, "installing, ")
		}
		add(term, words)
	}
	add("Hosted cluster", d.Cluster.Hosted)
	add("Platform", strings.TrimSpace(d.Cluster.Platform+" "+d.Cluster.Topology))
	add("Cluster", d.Cluster.ID)
	if d.Cluster.Installer != nil {
		add("Installation", d.Cluster.Installer.String())
	}
	add("As of", page.Clock(d.Now))
	return list
}

// htmlOutcomes are the outcomes of the checks in figures.
func (t *text) htmlOutcomes() string {
	outcomes := map[fault.Outcome]int{}
	settling := 0
	for _, f := range t.d.Findings {
		if f.Waiting() { // absent, with a deadline
			settling++
			continue
		}
		outcomes[f.Outcome]++
	}
	words := fmt.Sprintf("%d present", outcomes[fault.Present])
	if settling > 0 {
		words += fmt.Sprintf(", %d in progress", settling)
	}
	return words + fmt.Sprintf(", %d absent, %d unknown, %d not applicable", outcomes[fault.Absent], outcomes[fault.Unknown], outcomes[fault.NotApplicable])
}

const shownSupplies = 8

// htmlSupplies is what would decide where no cause is known: the best, and the rest.
func (t *text) htmlSupplies() (first, rest []string) {
	if len(t.d.Roots) > 0 {
		return nil, nil
	}
	list := t.supplyList()
	n := min(shownSupplies, len(list))
	return list[:n], list[n:]
}

// htmlCheck is one fault and how often it had each outcome.
type htmlCheck struct {
	Fault, Layer, Subject           string
	Present, Absent, Unknown, Other int
	Why                             string // why the first unknown one is
}

// htmlChecks sums the findings up by fault.
func (t *text) htmlChecks() []htmlCheck {
	var list []htmlCheck
	at := map[string]int{}
	for _, f := range t.d.Findings {
		i, ok := at[f.Fault]
		if !ok {
			i = len(list)
			at[f.Fault] = i
			list = append(list, htmlCheck{Fault: f.Fault, Layer: t.layer(f.Fault), Subject: string(f.Subject.Kind)})
		}
		c := &list[i]
		switch f.Outcome {
		case fault.Present:
			c.Present++
		case fault.Absent:
			c.Absent++
		case fault.Unknown:
			if c.Unknown++; c.Why == "" {
				c.Why = f.Reason
			}
		default:
			c.Other++
		}
	}
	return list
}

// layer is the layer of a fault, "" where the catalog does not have it.
func (t *text) layer(id string) string {
	if f, ok := t.entry(id); ok {
		return f.Layer
	}
	return ""
}

func (t *text) entry(id string) (*fault.Fault, bool) {
	if t.o.Catalog == nil {
		return nil, false
	}
	return t.o.Catalog.Fault(id)
}

// htmlGap is a reason why something was not read, and what: the first of it at a glance.
type htmlGap struct {
	Needs    string
	AllNeeds string // "" where Needs has them all
	Reason   string
	Supplies []string
}

func (t *text) htmlGaps() []htmlGap {
	var list []htmlGap
	for _, g := range notServedOnce(t.d.Groups.Gaps) {
		needs := needsOf(g)
		gap := htmlGap{Needs: some(needs, fewNeeds), Reason: reasonOf(g), Supplies: each(g.Supply, t.o.supply)}
		if len(needs) > fewNeeds {
			gap.AllNeeds = strings.Join(needs, ", ")
		}
		list = append(list, gap)
	}
	return list
}

const fewNeeds = 3

// notServedOnce makes one gap of the kinds that the API does not serve: each has a
// reason of its own that only repeats its name.
func notServedOnce(gaps []diagnosis.Gap) []diagnosis.Gap {
	const prefix, all = "not served: ", "not served: the API has none of these"
	var list []diagnosis.Gap
	at := -1
	for _, g := range gaps {
		switch {
		case !strings.HasPrefix(g.Reason, prefix) || len(g.Supply) > 0:
		case at < 0:
			at = len(list)
		default:
			first := &list[at]
			first.Reason, first.Needs = all, slices.Concat(first.Needs, g.Needs)
			continue
		}
		list = append(list, g)
	}
	return list
}

func (t *text) htmlGapsSay() string {
	n := 0
	for _, f := range t.d.Findings {
		if f.Outcome == fault.Unknown {
			n++
		}
	}
	if n == 0 {
		return "No check needed more than was read."
	}
	return page.Count(n, "check is", "checks are") + " unknown because of it. Unknown is never taken for fine, and never for broken."
}
