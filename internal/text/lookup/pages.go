package lookup

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// What a word says about its page, by where it is.
const (
	inID        = 4
	inTitle     = 3.5
	inAdvice    = 2.5
	inMessage   = 1.6
	inMeans     = 1
	inLinked    = 0.6 // the titles of what the page leads to
	inSteps     = 0.5
	priorPlan   = 0.75 // who asks has a cluster more often than a plan
	priorHosted = 0.9
	priorFix    = 0.7
	priorStage  = 0.75
	priorFact   = 0.5

	priorRefused = 0.85
	priorMessage = 0.6
)

// doesNotJoin is how people say that a host stops at a stage, whatever stops it there.
const doesNotJoin = "A host, worker or node that is stuck or hangs here does not join."

// stopJoin are the faults that a question in general words is about: the request of the host, its
// config, its NodePool; the most frequent first. Their pages come before those of the stages.
var stopJoin = []string{"csr-not-approved", "csr-client-pending", "ignition-fetch-500", "ignition-tls-untrusted", "hosted-no-worker-yet"}

// FaultPages are the faults of a catalog.
func FaultPages(c *fault.Catalog) []Page {
	messages := map[string][]string{}
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			if m.Fault != "" {
				messages[m.Fault] = append(messages[m.Fault], m.Text, strings.Join(m.Also, " "))
			}
		}
	}
	var list []Page
	for _, f := range c.Faults {
		p := Page{Kind: "fault", ID: f.ID, Title: fault.ShortTitle(f), Prior: severityPrior[f.Severity]}
		switch {
		case fault.Preflight(f):
			p.Prior *= priorPlan
		case f.Layer == "hosted":
			p.Prior *= priorHosted
		}
		p.add(inID, f.ID, strings.Join(f.Aliases, " "))
		p.add(inTitle, p.Title)
		p.add(inMeans, f.Means, strings.ReplaceAll(f.Layer, "-", " "))
		p.add(inMessage, messages[f.ID]...)
		for _, id := range f.Remedies {
			p.add(inLinked, strings.ReplaceAll(id, "-", " "))
		}
		if f.Blocks != "" {
			p.add(inSteps, string(f.Blocks))
		}
		if i := slices.Index(stopJoin, f.ID); i >= 0 {
			p.add(inID+float64(len(stopJoin)-i), doesNotJoin)
		}
		list = append(list, p)
	}
	return list
}

// severityPrior: a question is more often about an error.
var severityPrior = map[fault.Severity]float64{fault.Error: 1, fault.Warning: 0.95, fault.Info: 0.85}

// AdvicePages are the remedies and the refused remedies of a catalog. Title prints the title
// of a remedy without values.
func AdvicePages(c *fault.Catalog, title func(string) string) []Page {
	var list []Page
	for _, r := range c.Remedies() {
		p := Page{Kind: "remedy", ID: r.ID, Title: title(r.Title), Prior: priorFix}
		p.add(inID, r.ID)
		p.add(inTitle, p.Title)
		for _, s := range r.Steps {
			p.add(inSteps, title(s.Do))
		}
		list = append(list, p)
	}
	for _, r := range c.Refused {
		p := Page{Kind: "refused", ID: r.ID, Title: r.Title, Phrases: r.Advice, Prior: priorRefused}
		p.add(inID, r.ID)
		p.add(inTitle, r.Title)
		p.add(inAdvice, strings.Join(r.Advice, " "))
		p.add(inMeans, r.Happens, r.Instead)
		list = append(list, p)
	}
	return list
}

// message is the kind of what has no name of its own.
const message = "message"

// MessagePages are the messages that show a failure and not its cause: they have no page of a
// fault, and their text alone is what to ask for.
func MessagePages(c *fault.Catalog) []Page {
	var list []Page
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			if m.Failure == "" || len(m.Also)+len(m.With)+len(m.Without) > 0 || m.Match+m.Command != "" {
				continue
			}
			p := Page{Kind: message, ID: m.Text, Title: m.Failure, Prior: priorMessage}
			p.add(inTitle, m.Text)
			p.add(inAdvice, m.Failure)
			p.add(inSteps, m.Next, file.Program)
			list = append(list, p)
		}
	}
	return list
}

// StagePages are the steps of the join path. Means says what a host has done that passed one.
func StagePages(c *fault.Catalog, means func(fault.Stage) string) []Page {
	stops := map[fault.Stage]int{}
	most := 1
	for _, f := range c.Faults {
		stops[f.Blocks]++
		if f.Blocks != "" {
			most = max(most, stops[f.Blocks])
		}
	}
	var list []Page
	for _, s := range fault.Stages() {
		p := Page{Kind: "stage", ID: string(s), Title: means(s)}
		p.Prior = priorStage + (1-priorStage)*float64(stops[s])/float64(most) // where hosts stop most often
		p.add(inID, p.ID)
		p.add(inTitle, p.Title)
		p.add(inMessage, doesNotJoin)
		list = append(list, p)
	}
	return list
}

// FactPage is the page of a fact.
func FactPage(name, doc string) Page {
	p := Page{Kind: "fact", ID: name, Title: doc, Prior: priorFact}
	p.add(inID, name)
	p.add(inTitle, doc)
	return p
}

func (p *Page) add(weight float64, texts ...string) {
	if text := strings.TrimSpace(strings.Join(texts, "\n")); text != "" {
		p.Fields = append(p.Fields, Field{weight, text})
	}
}
