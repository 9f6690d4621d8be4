package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/fault"
)

//go:embed html.tmpl
var htmlTemplate string

//go:embed html.css
var htmlStyle string

// page is parsed once: the text is part of the program.
var htmlParsed = template.Must(template.New("page").Funcs(template.FuncMap{"num": num}).Parse(htmlTemplate))

// htmlPage is everything that the page shows, in its order.
type htmlPage struct {
	CSS         template.CSS
	Title       string
	Class, Sign string
	Headline    string
	Reason      string
	Source      []pair
	Counts      []pair
	Outcomes    string
	About       string // the subject that the answer was narrowed to
	AboutSays   string
	Roots       []htmlRoot
	Open        []htmlOpen
	Waits       []pair
	Supplies    []string
	Hosts       htmlHosts
	Time        *htmlTime
	Gaps        []htmlGap
	GapsSay     string
	Checks      []htmlCheck
}

// pair is a term with what is said of it.
type pair struct{ Term, Text string }

// HTML writes the answer as one page that needs no network: to be sent, printed and
// kept. It leaves nothing out that -o wide has.
func HTML(w io.Writer, d *fault.Diagnosis, o Options) error {
	o.Style = Style{}
	t := newText(d, o)
	h := headlineOf(t.whole())
	p := htmlPage{
		CSS: template.CSS(htmlStyle), Class: signClasses[h.sign], Sign: signs[h.sign][0], Headline: h.words, Reason: t.verdictReason(),
		Source: t.htmlSource(), Counts: t.htmlCounts(), Outcomes: t.htmlOutcomes(), Supplies: t.htmlSupplies(),
		Hosts: t.htmlHosts(), Time: t.htmlTime(), Gaps: t.htmlGaps(), Checks: t.htmlChecks(), Open: t.htmlOpen(),
	}
	p.Title = "Rollcall: " + d.Source.Name + ": " + strings.ToLower(h.words)
	p.GapsSay = t.htmlGapsSay()
	if o.Subject != nil {
		p.About, p.AboutSays = o.Subject.String(), t.subjectVerdict()
	}
	roots := sameRoots(d)
	for i, r := range roots {
		p.Roots = append(p.Roots, t.htmlRoot(i, len(roots), r))
	}
	for _, x := range t.waits() {
		p.Waits = append(p.Waits, pair{t.linkTitle(linkOf(x.Group)), t.deadline(x.Until)})
	}
	var out bytes.Buffer
	if err := htmlParsed.Execute(&out, p); err != nil {
		return fmt.Errorf("render the answer as HTML: %w", err)
	}
	return write(w, cleanLines(out.String()))
}

// cleanLines makes foreign text harmless as clean does and keeps the page's own lines.
func cleanLines(page string) string {
	lines := strings.Split(page, "\n")
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.TrimRight(Style{}.clean(l), " "); l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n") + "\n"
}

var signClasses = map[sign]string{signBad: "bad", signWarn: "warn", signGood: "good", signOpen: "open", signWait: "wait"}

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
	if version == "" {
		version = "not readable"
	}
	add("Version", version)
	add("Hosted cluster", d.Cluster.Hosted)
	add("Platform", strings.TrimSpace(d.Cluster.Platform+" "+d.Cluster.Topology))
	add("Cluster", d.Cluster.ID)
	if d.Cluster.Installer != nil {
		add("Installation", d.Cluster.Installer.String())
	}
	add("As of", clock(d.Now))
	return list
}

// htmlCounts are the figures at the top.
func (t *text) htmlCounts() []pair {
	expected, answered := 0, 0
	for _, h := range t.d.Hosts {
		if h.Expected {
			expected++
			if h.Done() {
				answered++
			}
		}
	}
	list := []pair{{fmt.Sprint(len(sameRoots(t.d))), plural(len(sameRoots(t.d)), "cause", "causes")}}
	if n := len(t.withoutCause()); n > 0 {
		list = append(list, pair{fmt.Sprint(n), "without a known cause"})
	}
	return append(list, pair{fmt.Sprintf("%d of %d", answered, expected), "hosts have passed every stage"})
}

// htmlOutcomes are the outcomes of the checks in figures.
func (t *text) htmlOutcomes() string {
	outcomes := map[fault.Outcome]int{}
	young := 0
	for _, f := range t.d.Findings {
		if f.Waiting() { // absent, with a deadline
			young++
			continue
		}
		outcomes[f.Outcome]++
	}
	words := fmt.Sprintf("%d present", outcomes[fault.Present])
	if young > 0 {
		words += fmt.Sprintf(", %d in progress", young)
	}
	return words + fmt.Sprintf(", %d absent, %d unknown, %d not applicable", outcomes[fault.Absent], outcomes[fault.Unknown], outcomes[fault.NotApplicable])
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// htmlSupplies is what would decide where no cause is known, all of it.
func (t *text) htmlSupplies() []string {
	if len(t.d.Roots) > 0 {
		return nil
	}
	return t.supplyList()
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

// layer is the layer of a fault, "" where the catalogue does not have it.
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

type htmlGap struct {
	Needs    string
	Reason   string
	Supplies []string
}

func (t *text) htmlGaps() []htmlGap {
	var list []htmlGap
	for _, g := range t.d.Groups.Gaps {
		list = append(list, htmlGap{strings.Join(needsOf(g), ", "), reasonOf(g), each(g.Supply, t.o.supply)})
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
	return count(n, "check is", "checks are") + " unknown because of it. Unknown is never taken for fine, and never for broken."
}
