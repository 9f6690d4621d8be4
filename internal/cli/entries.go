package cli

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// entry is one thing that `explain` has a page about.
type entry struct {
	kind, id, title string
	text            string // what free text is searched in, as well as the title
	page            any    // *fault.Fault, *fault.Remedy, *fault.RefusedRemedy, facts.Fact, fault.Stage or answer.Word
}

// entries lists everything that can be explained: faults first.
func entries(c *fault.Catalog) []entry {
	var list []entry
	for _, f := range c.Faults {
		list = append(list, faultEntry(f))
	}
	for _, r := range c.Remedies() {
		list = append(list, remedyEntry(r))
	}
	return append(list, otherEntries(c)...)
}

func faultEntry(f *fault.Fault) entry { return entry{"fault", f.ID, fault.ShortTitle(f), "", f} }

func remedyEntry(r *fault.Remedy) entry { return entry{"remedy", r.ID, answer.Plain(r.Title), "", r} }

func refusedEntry(r *fault.RefusedRemedy) entry {
	return entry{"refused", r.ID, r.Title, strings.Join(r.Advice, "\n"), r}
}

// otherEntries lists what is neither a fault nor a remedy.
func otherEntries(c *fault.Catalog) []entry {
	var list []entry
	for _, r := range c.Refused {
		list = append(list, refusedEntry(r))
	}
	for _, f := range sortedFacts() {
		list = append(list, entry{"fact", f.Name, f.Doc, "", f})
	}
	for _, s := range fault.Stages() {
		list = append(list, entry{"stage", string(s), answer.StageMeans(s), "", s})
	}
	for _, w := range answer.Glossary() {
		list = append(list, entry{"word", w.Names[0], w.Means, "", w})
	}
	return list
}

// entryOf returns the entry with an id. It does not decode the remedies, as entries does.
func entryOf(c *fault.Catalog, id string) (entry, bool) {
	if f, ok := c.Fault(id); ok {
		return faultEntry(f), true
	}
	if r, ok := c.Remedy(id); ok {
		return remedyEntry(r), true
	}
	others := otherEntries(c)
	i := slices.IndexFunc(others, func(e entry) bool { return e.id == id })
	if i < 0 {
		return entry{}, false
	}
	return others[i], true
}

func sortedFacts() []facts.Fact {
	list := slices.Clone(all.All())
	slices.SortFunc(list, func(a, b facts.Fact) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// factPage describes a fact for people and programs.
func factPage(f facts.Fact, c *fault.Catalog) answer.Fact {
	p := answer.Fact{Name: f.Name, For: f.For, Doc: f.Doc, Fields: []answer.Field{}, Needs: []string{}, UsedBy: []string{}}
	for _, field := range f.Fields {
		p.Fields = append(p.Fields, answer.Field{Name: field.Name, Type: celType(field.Type)})
	}
	for _, n := range f.Needs {
		p.Needs = append(p.Needs, n.String())
	}
	for _, known := range c.Faults {
		for _, given := range known.Given {
			if given.Fact == f.Name && !slices.Contains(p.UsedBy, known.ID) {
				p.UsedBy = append(p.UsedBy, known.ID)
			}
		}
	}
	return p
}

// celType names a Go type as expressions see it.
func celType(t reflect.Type) string {
	switch {
	case t.String() == "time.Time":
		return "timestamp"
	case t.String() == "time.Duration":
		return "duration"
	case t.Kind() == reflect.Slice:
		return "list of " + celType(t.Elem())
	case t.Kind() == reflect.Map:
		return fmt.Sprintf("map of %s to %s", celType(t.Key()), celType(t.Elem()))
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return "int"
	}
	return t.Kind().String()
}
