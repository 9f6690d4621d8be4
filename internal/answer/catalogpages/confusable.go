package catalogpages

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// family is faults that look alike.
type family struct {
	name    string
	because string
	faults  []*fault.Fault
}

// mostAlike bounds a family: more causes than that are a list of the symptom's causes, on
// its own page.
const mostAlike = 15

// families are the groups of faults that look alike: those that people call by one name,
// and the causes of a symptom none of which is certain by the symptom alone.
func (b *book) families() []family {
	var list []family
	byAlias := map[string][]*fault.Fault{}
	for _, f := range b.Faults {
		for _, name := range f.Aliases {
			byAlias[name] = append(byAlias[name], f)
		}
	}
	for _, name := range sortedKeys(byAlias) {
		same := byAlias[name]
		if f, ok := b.Fault(name); ok && !slices.Contains(same, f) {
			same = append([]*fault.Fault{f}, same...)
		}
		if len(same) > 1 {
			list = append(list, family{name, "People call all of them " + code(name) + ".", same})
		}
	}
	for _, f := range b.Faults {
		causes := once(b.causes[f.ID])
		if f.StandsAlone || len(causes) < 2 || len(causes) > mostAlike {
			continue
		}
		var same []*fault.Fault
		for _, n := range causes {
			same = append(same, n.fault)
		}
		list = append(list, family{f.ID, "All of them show as " + b.faultLink("", f) + ": " + title(f) + ".", same})
	}
	return list
}

// confusable lists faults that look alike, and the evidence that decides between them.
func (b *book) confusable() string {
	d := newDoc("Faults that look alike")
	d.para("Each family has one name or one symptom, and several causes with different remedies. " +
		"The tables have the evidence that decides: the condition by which a diagnosis knows the fault, a line that proves it, " +
		"what rules it out, and what to look at first.")
	list := b.families()
	var index []string
	for _, x := range list {
		index = append(index, link(code(x.name), "#"+Slug(x.name))+" ("+page.Count(len(x.faults), "fault", "faults")+")")
	}
	d.list(index)
	for _, x := range list {
		d.head(2, x.name)
		d.para(x.because)
		var rows [][]string
		for _, f := range x.faults {
			rows = append(rows, []string{b.faultLink("", f), title(f), b.knownBy(f), b.provenBy(f), b.decides(f)})
		}
		d.table([]string{"fault", "what it is", "known by", "a line that proves it", "look at"}, rows)
	}
	return d.String()
}

// knownBy is the condition of a fault, and what refutes it.
func (b *book) knownBy(f *fault.Fault) string {
	if f.TextOnly() {
		return "text only"
	}
	text := code(f.When)
	if f.Refute != "" {
		text += "; ruled out when " + code(f.Refute)
	}
	return text
}

// provenBy is a message that proves a fault, "" where none does alone.
func (b *book) provenBy(f *fault.Fault) string {
	for _, m := range b.messages[f.ID] {
		if m.Shows == fault.ShowsProven {
			return messageText(m.Message)
		}
	}
	return ""
}
