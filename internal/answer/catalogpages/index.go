package catalogpages

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// readme is the first page.
func (b *book) readme() string {
	d := newDoc("Catalog")
	d.para("Everything that Rollcall knows about faults of OpenShift bare metal clusters: " +
		page.Count(len(b.Faults), "fault", "faults") + ", " + page.Count(len(b.Remedies()), "remedy", "remedies") + " and " +
		page.Count(len(b.Refused), "piece of unsafe advice", "pieces of unsafe advice") + ". `rollcall explain ID` shows the page of each in a terminal; " +
		"`rollcall docs --out DIR` writes all pages as one that opens in a browser, with search.")
	d.table([]string{"you have", "look in"}, [][]string{
		{"a host that does not join", link("the join path", "join-path.md") + ": where it stopped, and what stops a host there"},
		{"a symptom", link("by symptom", "by-symptom.md") + ": its causes, the surest first"},
		{"two faults that look alike", link("faults that look alike", "confusable.md") + ": the evidence that decides between them"},
		{"a line of a log", link("by message", "by-message.md") + ": program, message, fault. `rollcall scan FILE` searches whole files"},
		{"a command that somebody advised", link("by command", "by-command.md") + " and " + link("unsafe advice", "refused.md")},
		{"an area", link("by layer", "by-layer.md")},
	})
	d.head(2, "Layers")
	var layers []string
	for _, layer := range b.layers() {
		n := 0
		for _, f := range b.Faults {
			if f.Layer == layer {
				n++
			}
		}
		layers = append(layers, link(layer, "by-layer.md#"+layer)+": "+page.Count(n, "fault", "faults"))
	}
	d.list(layers)
	d.head(2, "Remedies")
	var remedies [][]string
	for _, r := range b.Remedies() {
		remedies = append(remedies, []string{b.remedyLink("", r), remedyTitle(r), string(r.By), string(r.Risk)})
	}
	d.table([]string{"id", "what it does", "by", "risk"}, remedies)
	d.head(2, "How these pages are made")
	d.para("They are generated from the files of `catalog/`. To change a page, change its entry " +
		"([faults](../writing-a-fault.md), [remedies](../writing-a-remedy.md), [messages](../writing-a-message.md)) and run:")
	d.block(0, "sh", "go run ./internal/tools/catalogdocs")
	return d.String()
}

// byLayer lists all faults.
func (b *book) byLayer() string {
	d := newDoc("Faults by layer")
	for _, layer := range b.layers() {
		d.head(2, layer)
		var rows [][]string
		for _, f := range b.Faults {
			if f.Layer == layer {
				rows = append(rows, []string{b.faultLink("", f), title(f), string(f.For), string(f.Severity)})
			}
		}
		d.table([]string{"id", "fault", "subject", "severity"}, rows)
	}
	return d.String()
}

// bySymptom lists faults that do not stand alone, with their causes.
func (b *book) bySymptom() string {
	d := newDoc("Causes by symptom")
	d.para("A symptom has a cause in another fault. `certain`: where both are present, the symptom is explained. " +
		"`likely` and `possible`: a hint that has to be checked.")
	var symptoms []*fault.Fault
	for _, f := range b.Faults {
		if !f.StandsAlone && len(b.causes[f.ID]) > 0 {
			symptoms = append(symptoms, f)
		}
	}
	var list []string
	for _, f := range symptoms {
		list = append(list, link(code(f.ID), "#"+f.ID)+": "+title(f)+" ("+page.Count(len(once(b.causes[f.ID])), "cause", "causes")+")")
	}
	d.list(list)
	for _, f := range symptoms {
		d.head(2, f.ID)
		d.para(b.faultLink("", f) + ": " + title(f))
		var rows [][]string
		for _, n := range once(b.causes[f.ID]) {
			rows = append(rows, []string{string(n.edge.Strength), b.faultLink("", n.fault), title(n.fault), string(n.fault.For)})
		}
		d.table([]string{"how sure", "cause", "what it is", "subject"}, rows)
	}
	return d.String()
}

// byMessage lists what programs print.
func (b *book) byMessage() string {
	d := newDoc("Faults by message")
	d.para("What programs print, without the parts that change. Upper and lower case do not matter. " +
		"`rollcall scan FILE` finds these messages in any text.")
	for _, file := range b.Messages {
		d.head(2, escape(file.Program))
		if file.Where != "" {
			d.para("Where: " + prose(file.Where) + ".")
		}
		var rows [][]string
		for _, m := range file.Messages {
			if m.Neutral() {
				continue
			}
			rows = append(rows, []string{messageText(m), b.messageShows(m), messageGrade(m)})
		}
		d.table([]string{"message contains", "shows", "how sure"}, rows)
	}
	return d.String()
}

func (b *book) messageShows(m fault.Message) string {
	switch {
	case m.Fault != "":
		f, _ := b.Fault(m.Fault) // Load has checked that it is there
		return b.faultLink("", f) + ": " + title(f)
	case m.Failure != "":
		return "failed, cause not shown: " + prose(m.Failure)
	}
	return "normal: " + prose(m.Normal)
}

func messageGrade(m fault.Message) string {
	if m.Fault == "" {
		return ""
	}
	return grade(m.Shows)
}

// byCommand lists the commands of remedies, and the patterns of refused ones.
func (b *book) byCommand() string {
	d := newDoc("Remedies by command")
	d.para("The commands in the steps of remedies, by program and verb, without filters such as `grep`. A command here is safe only as a step of its remedy: " +
		"read the requirements and the order of the steps there.")
	found := b.commands()
	const alone = "Other programs"
	var list []string
	var others [][]string
	for _, p := range sortedKeys(found) {
		if len(found[p]) > 1 {
			list = append(list, link(code(p), "#"+Slug(p)))
		} else {
			c := sortedKeys(found[p])[0]
			others = append(others, []string{code(c), b.remedyLinks(found[p][c])})
		}
	}
	d.list(append(list, link(alone, "#other-programs"), link("Refused commands", "#refused-commands")))
	for _, p := range sortedKeys(found) {
		if len(found[p]) == 1 {
			continue
		}
		d.head(2, p)
		var rows [][]string
		for _, c := range sortedKeys(found[p]) {
			rows = append(rows, []string{code(c), b.remedyLinks(found[p][c])})
		}
		d.table([]string{"command", "remedies"}, rows)
	}
	d.head(2, alone)
	d.table([]string{"command", "remedies"}, others)
	d.head(2, "Refused commands")
	d.para("A command that matches all expressions of a line is unsafe advice. `rollcall explain \"COMMAND\"` checks a command.")
	for _, r := range b.Refused {
		if len(r.Commands) == 0 {
			continue
		}
		d.para(refusedLink("", r) + ": " + prose(r.Title))
		d.list(patterns(r))
	}
	return d.String()
}

// commands returns the remedies by program and command.
func (b *book) commands() map[string]map[string][]*fault.Remedy {
	found := map[string]map[string][]*fault.Remedy{}
	for _, r := range b.Remedies() {
		a := plainAdvice(r)
		texts := []string{a.Verify.Run}
		for _, s := range a.Steps {
			texts = append(texts, s.Run)
		}
		for _, text := range texts {
			for _, c := range commandsOf(text) {
				if slices.Contains(filters, c.program) {
					continue
				}
				if found[c.program] == nil {
					found[c.program] = map[string][]*fault.Remedy{}
				}
				if list := found[c.program][c.String()]; !slices.Contains(list, r) {
					found[c.program][c.String()] = append(list, r)
				}
			}
		}
	}
	return found
}

// manyRemedies is how many remedies a cell of a table names. Looks such as `oc get nodes`
// are part of many more, which helps no reader.
const manyRemedies = 25

func (b *book) remedyLinks(list []*fault.Remedy) string {
	text := ""
	for i, r := range list {
		if i == manyRemedies {
			return text + fmt.Sprintf(" and %d more", len(list)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += b.remedyLink("", r)
	}
	return text
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	return keys
}
