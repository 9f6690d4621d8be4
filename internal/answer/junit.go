package answer

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// The JUnit elements that CI systems agree on: testsuites, testsuite, testcase with
// failure, error or skipped, and system-out.

type junitAll struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitTotals
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitTotals
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitTotals struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitVerdict `xml:"failure"`
	Error   *junitVerdict `xml:"error"`
	Skipped *junitSkipped `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitVerdict struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// renderJUnit writes every check as a test: a suite for each layer of the catalog, a case
// for each fault and subject. A fault that is present fails; one that is accepted is skipped
// with who accepts it, until when and why. Unknown and not
// applicable are skipped with the reason: CI systems count and show these apart from
// both passed and failed. What is normal so far passes and says until when. That an
// unknown is not taken for fine is the work of the first suite: it holds one case,
// which is an error when no answer could be given.
func renderJUnit(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	o.Style = page.Style{}
	t := newText(d, o)
	all := junitAll{Name: "rollcall", Suites: []junitSuite{t.junitSuite("verdict", t.junitVerdict())}}
	for _, layer := range t.junitLayers() {
		var cases []junitCase
		for _, f := range d.Findings {
			if t.junitLayer(f.Fault) == layer {
				cases = append(cases, t.junitCase(f, layer))
			}
		}
		all.Suites = append(all.Suites, t.junitSuite(layer, cases...))
	}
	all.Time = "0"
	for _, s := range all.Suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
	}
	raw, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the answer as JUnit: %w", err)
	}
	// line breaks are our own, and only between lines of proof: write them as such
	return page.Write(w, xml.Header+strings.ReplaceAll(string(raw), "&#xA;", "\n")+"\n")
}

// junitLayers lists the layers of what was checked.
func (t *text) junitLayers() []string {
	var list []string
	for _, f := range t.d.Findings {
		if l := t.junitLayer(f.Fault); !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	slices.Sort(list)
	return list
}

func (t *text) junitLayer(id string) string {
	if l := t.layer(id); l != "" {
		return l
	}
	return "other"
}

func (t *text) junitSuite(name string, cases ...junitCase) junitSuite {
	s := junitSuite{Name: t.Clean(name), Timestamp: t.d.Now.UTC().Format("2006-01-02T15:04:05"), Cases: cases}
	s.Time = "0"
	for _, p := range [][2]string{{"source", t.d.Source.Kind + " " + t.d.Source.Name}, {"cluster", t.d.Cluster.ID}, {"version", t.d.Cluster.Version}} {
		if p[1] != "" {
			s.Properties = append(s.Properties, junitProperty{p[0], t.Clean(p[1])})
		}
	}
	s.Tests = len(cases)
	for _, c := range cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	return s
}

// junitVerdict is the case that says whether there is an answer at all.
func (t *text) junitVerdict() junitCase {
	h := HeadlineOf(t.whole())
	c := junitCase{Class: "rollcall.verdict", Name: "an answer could be given", Time: "0"}
	said := t.Clean(h.Words)
	if reason := t.verdictReason(); reason != "" {
		said += ": " + t.Clean(reason)
	}
	if t.d.Verdict.Class != diagnosis.Undetermined || len(t.d.Roots) > 0 {
		c.Out = said
		return c
	}
	var lines []string
	for _, g := range t.d.Groups.Gaps {
		lines = append(lines, "could not be read: "+t.Clean(strings.Join(needsOf(g), ", ")+": "+reasonOf(g)))
		for _, s := range g.Supply {
			lines = append(lines, "  get it: "+t.Clean(t.o.supply(s)))
		}
	}
	c.Error = &junitVerdict{Message: said, Type: string(diagnosis.Undetermined), Text: strings.Join(lines, "\n")}
	return c
}

func (t *text) junitCase(f diagnosis.Finding, layer string) junitCase {
	c := junitCase{Class: "rollcall." + t.Clean(layer), Name: t.Clean(f.Fault + " " + f.Subject.String()), Time: "0"}
	switch f.Outcome {
	case fault.Present:
		if f.Accepted != nil {
			c.Skipped = &junitSkipped{t.Clean(acceptedWords(f))}
			c.Out = t.Clean(t.title(f.Key())) + "\n" + t.junitProof(f)
			break
		}
		c.Failure = &junitVerdict{Message: t.Clean(t.title(f.Key())), Type: t.Clean(string(f.Severity)), Text: t.junitProof(f)}
	case fault.Absent:
		if f.Waiting() {
			c.Out = "in progress: " + t.Clean(t.title(f.Key())) + "; " + t.deadline(f.Until)
		}
	case fault.NotApplicable:
		c.Skipped = &junitSkipped{t.Clean(strings.TrimSuffix("not applicable: "+f.Reason, ": "))}
	default:
		c.Skipped = &junitSkipped{t.Clean(strings.TrimSuffix("unknown: "+f.Reason, ": "))}
	}
	return c
}

// junitProof says the role of a present fault and what proves it.
func (t *text) junitProof(f diagnosis.Finding) string {
	var lines []string
	for _, r := range t.d.Roots {
		for i := range r.Cases {
			c := &r.Cases[i]
			switch {
			case c.Key == f.Key():
				lines = append(lines, "a cause, "+confidences[c.Confidence])
			case slices.Contains(c.Explains, f.Key()):
				lines = append(lines, "explained by "+t.Clean(t.title(c.Key)))
			}
		}
	}
	for _, u := range t.d.Unexplained {
		if u.Key == f.Key() {
			lines = append(lines, "its cause is not known")
		}
	}
	if s := since(f.Since, t.d.Now); s != "" {
		lines = append(lines, s)
	}
	for _, item := range f.Evidence {
		lines = append(lines, "- "+t.Clean(item.Excerpt), "  "+t.Clean(item.Locator.String()))
	}
	return strings.Join(lines, "\n")
}
