package catalogpages

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// book is the catalog with what its pages look up.
type book struct {
	*fault.Catalog
	causes   map[string][]neighbor // of a fault
	effects  map[string][]neighbor
	messages map[string][]shown        // that show a fault
	uses     map[string][]*fault.Fault // of a remedy
	refusals map[string][]*fault.Fault // of a refused advice
	facts    map[string]facts.Fact
	linked   bool // there are pages of single faults and remedies
}

// neighbor is a fault at the other end of an edge.
type neighbor struct {
	fault *fault.Fault
	edge  fault.Edge
}

// shown is a message with the program that prints it.
type shown struct {
	program string
	fault.Message
}

func newBook(c *fault.Catalog, known []facts.Fact, linked bool) *book {
	b := &book{Catalog: c, causes: map[string][]neighbor{}, effects: map[string][]neighbor{}, messages: map[string][]shown{},
		uses: map[string][]*fault.Fault{}, refusals: map[string][]*fault.Fault{}, facts: map[string]facts.Fact{}, linked: linked}
	for _, f := range c.Faults {
		for _, e := range f.Explains {
			effect, _ := c.Fault(e.Fault) // Load has checked that it is there
			b.effects[f.ID] = append(b.effects[f.ID], neighbor{effect, e})
			b.causes[e.Fault] = append(b.causes[e.Fault], neighbor{f, e})
		}
		for _, id := range f.Remedies {
			b.uses[id] = append(b.uses[id], f)
		}
		for _, id := range f.Refused {
			b.refusals[id] = append(b.refusals[id], f)
		}
	}
	for _, f := range c.Faults {
		slices.SortStableFunc(b.causes[f.ID], surestFirst)
		slices.SortStableFunc(b.effects[f.ID], surestFirst)
	}
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			if m.Fault != "" {
				b.messages[m.Fault] = append(b.messages[m.Fault], shown{file.Program, m})
			}
		}
	}
	for _, f := range known {
		b.facts[f.Name] = f
	}
	return b
}

// strengths of edges, the surest first.
var strengths = []fault.Strength{fault.Certain, fault.LikelyEdge, fault.PossibleEdge}

func surestFirst(a, b neighbor) int {
	return cmp.Or(cmp.Compare(slices.Index(strengths, a.edge.Strength), slices.Index(strengths, b.edge.Strength)),
		cmp.Compare(a.fault.ID, b.fault.ID))
}

// once drops further edges of the same fault. The surest is the first.
func once(list []neighbor) []neighbor {
	var kept []neighbor
	for _, n := range list {
		if !slices.ContainsFunc(kept, func(k neighbor) bool { return k.fault == n.fault }) {
			kept = append(kept, n)
		}
	}
	return kept
}

// faultLink names a fault, and links to its page where there is one; up leads to the
// directory of all pages.
func (b *book) faultLink(up string, f *fault.Fault) string {
	if !b.linked {
		return code(f.ID)
	}
	return link(code(f.ID), up+"faults/"+f.ID+".md")
}

func (b *book) remedyLink(up string, r *fault.Remedy) string {
	if !b.linked {
		return code(r.ID)
	}
	return link(code(r.ID), up+"remedies/"+r.ID+".md")
}

func refusedLink(up string, r *fault.RefusedRemedy) string {
	return link(code(r.ID), up+"refused.md#"+r.ID)
}

// title is a fault's title with words for its values. fault.ShortTitle leaves values out,
// which changes what some titles say ("is to be online, and is powered on").
func title(f *fault.Fault) string { return prose(answer.PlainTitle(f)) }

func remedyTitle(r *fault.Remedy) string { return prose(answer.Plain(r.Title)) }

var (
	githubName = regexp.MustCompile(`^[\w-]+/[\w.-]+$`)
	gitName    = regexp.MustCompile(`^[\w./-]+$`)
)

// sources lists references, each with a link where it is a repository of GitHub.
func sources(refs []fault.Ref) []string {
	var list []string
	for _, r := range refs {
		text := r.Repo
		if r.Path != "" {
			text += ": " + r.Path
		}
		branch := "HEAD"
		if gitName.MatchString(r.Branch) {
			branch = r.Branch
		}
		line := escape(text)
		if githubName.MatchString(r.Repo) && (r.Path == "" || gitName.MatchString(r.Path)) {
			to := "https://github.com/" + r.Repo
			if r.Path != "" {
				to += "/blob/" + branch + "/" + r.Path
			}
			line = link(line, to)
		}
		if r.Symbol != "" {
			line += ", " + code(r.Symbol)
		}
		if r.Branch != "" {
			line += ", " + code(r.Branch)
		}
		if r.Note != "" {
			line += ": " + prose(r.Note)
		}
		list = append(list, line)
	}
	return list
}

// byID sorts and returns the faults without doubles.
func byID(list []*fault.Fault) []*fault.Fault {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *fault.Fault) int { return cmp.Compare(a.ID, b.ID) })
	return slices.Compact(list)
}

// Slug is the anchor of a heading, as GitHub makes it.
func Slug(text string) string {
	return strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
}

var notInSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// layers lists the layers of the catalog.
func (b *book) layers() []string {
	var list []string
	for _, f := range b.Faults {
		list = append(list, f.Layer)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func codes(list []string) string { return codesWith(", ", list) }

// codesWith joins code spans.
func codesWith(separator string, list []string) string {
	var out []string
	for _, v := range list {
		out = append(out, code(v))
	}
	return strings.Join(out, separator)
}
