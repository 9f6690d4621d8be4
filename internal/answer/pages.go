package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Fact describes a fact on its page.
type Fact struct {
	Name   string     `json:"name"`
	For    fault.Kind `json:"for"`
	Doc    string     `json:"doc"`
	Fields []Field    `json:"fields"`
	Needs  []string   `json:"needs"`
	UsedBy []string   `json:"usedBy"`
}

// Field is one field of a fact.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Row is one line of a list. Rows of one group follow one another.
type Row struct{ Group, ID, Title string }

// relations in words, from the view of the cause.
var relations = map[fault.Relation]string{
	fault.Same: "the same subject", fault.HostsOfPool: "the hosts of the pool", fault.AllNodePools: "every NodePool",
	fault.NodesOfPool: "the nodes of the pool",
	fault.PoolsOfHost: "the pool of the host", fault.HostsOfPeers: "the other hosts of the pool", fault.CSRsOfHost: "the CSRs of the host",
	fault.HostOfCSR: "the host of the CSR", fault.AllHosts: "every host", fault.AllPools: "every pool", fault.AllCSRs: "every CSR",
	fault.Operators: "operators", fault.ToCluster: "the cluster",
}

// FaultPage writes everything that the catalog says of a fault.
func FaultPage(w io.Writer, f *fault.Fault, c *fault.Catalog, o Options) error {
	p := &page{Style: o.Style}
	p.line(0, span{bold, f.ID})
	p.parts(0, dim, []string{"fault", ofSubject(f.For), "layer " + f.Layer, string(f.Severity)})
	p.para(0, span{}, plain, PlainTitle(f))
	p.section("What it means", f.Means)
	p.head(0, "Present if")
	switch {
	case f.TextOnly():
		p.para(2, span{}, plain, "only where a text shows it ("+o.know("scan FILE")+"): no object of a cluster decides it")
	case fault.Preflight(f):
		p.para(2, span{}, plain, "a check of a plan finds it ("+o.know(nextOf(f))+"): no object of a cluster decides it")
	default:
		p.line(2, span{plain, f.When})
	}
	if f.Settles != nil {
		line := "normal for the first " + fault.Span(f.Settles.Within.Duration)
		if f.Settles.Unless != "" {
			line += ", unless " + f.Settles.Unless
		}
		p.para(2, span{}, dim, line)
	}
	if f.Refute != "" {
		p.line(2, span{dim, "not if " + f.Refute})
	}
	for _, s := range f.Support {
		p.line(2, span{dim, "proven by " + s})
	}
	var leads, causes []string
	for _, e := range f.Explains {
		leads = append(leads, edgeWords(e.Fault, e))
	}
	for _, other := range c.Faults {
		for _, e := range other.Explains {
			if e.Fault == f.ID {
				causes = append(causes, edgeWords(other.ID, e))
			}
		}
	}
	p.items("Effects", leads)
	p.items("Possible causes", causes)
	if f.Blocks != "" {
		p.section("Stage that it blocks", string(f.Blocks)+": "+StageMeans(f.Blocks))
	}
	p.items("What to do", remedyWords(f.Remedies, c, o))
	if f.NoRemedy != "" {
		p.section("What to do", "there is no remedy: "+f.NoRemedy)
	}
	p.items("Do not", refusedWords(f.Refused, c, o))
	var given []string
	for name, g := range f.Given {
		given = append(given, name+" = "+g.Fact)
	}
	slices.Sort(given)
	p.items("What is looked at ("+o.know("explain FACT")+")", given)
	p.items("Source", refWords(f.Refs))
	p.next(o, nextOf(f))
	return p.flush(w)
}

// PlainTitle is a fault's title outside a diagnosis: its placeholders are shown as words.
func PlainTitle(f *fault.Fault) string { return Plain(f.Title) }

func edgeWords(id string, e fault.Edge) string {
	return fmt.Sprintf("%s (%s; %s)", id, relations[e.On], e.Strength)
}

// Plain is a text of the catalog outside a diagnosis: its placeholders are shown as words.
func Plain(text string) string {
	r := fault.Remedy{Title: text}
	return r.Fill(&fault.Fault{}, fault.Subject{}, func(string) []string { return nil }).Title
}

func remedyWords(ids []string, c *fault.Catalog, o Options) []string {
	var list []string
	for _, id := range ids {
		if r, ok := c.Remedy(id); ok {
			list = append(list, Plain(r.Title)+": "+o.know("explain "+id))
		}
	}
	return list
}

func refusedWords(ids []string, c *fault.Catalog, o Options) []string {
	var list []string
	for _, id := range ids {
		title := ""
		for _, r := range c.Refused {
			if r.ID == id {
				title = r.Title + ": "
			}
		}
		list = append(list, title+o.know("explain "+id))
	}
	return list
}

func refWords(refs []fault.Ref) []string {
	var list []string
	for _, r := range refs {
		line := r.Repo
		if r.Path != "" {
			line += ":" + r.Path
		}
		for _, more := range []string{r.Symbol, r.Branch, r.Note} {
			if more != "" {
				line += " " + more
			}
		}
		list = append(list, line)
	}
	return list
}

// RefusedPage writes why advice is not followed and what to do instead.
func RefusedPage(w io.Writer, r *fault.RefusedRemedy, c *fault.Catalog, o Options) error {
	p := &page{Style: o.Style}
	p.line(0, span{bold, r.ID})
	p.parts(0, dim, []string{"common unsafe advice"})
	p.para(0, span{red, p.sign(signBad) + " do not: "}, plain, r.Title)
	p.section("What happens", r.Happens)
	p.section("When it is safe after all", r.When)
	p.section("Do instead", r.Instead)
	p.items("Also phrased as", r.Advice)
	var used []string
	for _, f := range c.Faults {
		if slices.Contains(f.Refused, r.ID) {
			used = append(used, f.ID)
		}
	}
	p.items("Applies to", used)
	p.items("Source", refWords(r.Refs))
	p.next(o, "diagnose")
	return p.flush(w)
}

// DestroysPart writes what a command changes and destroys, below what the command is.
func DestroysPart(w io.Writer, d fault.Destroys, refs []fault.Ref, o Options) error {
	p := &page{Style: o.Style}
	p.blank()
	p.section("What it changes", d.Changes)
	p.section("What is lost", d.Lost)
	p.section("When it is safe", d.Safe)
	p.section("Instead", d.Instead)
	p.items("Source", refWords(refs))
	return p.flush(w)
}

// RemedyPage writes what a remedy is, its steps and which faults it is for.
func RemedyPage(w io.Writer, r *fault.Remedy, c *fault.Catalog, o Options) error {
	t := &text{page: page{Style: o.Style}, o: o, d: &diagnosis.Diagnosis{}}
	t.line(0, span{bold, r.ID})
	about := []string{"remedy", actorWords(r.By, r.Where), "risk: " + string(r.Risk)}
	if r.Fix {
		about = append(about, "`"+o.know("fix plan")+"` can do it")
	}
	if r.Versions != "" {
		about = append(about, "versions "+r.Versions)
	}
	t.parts(0, dim, append(about, r.Platforms...))
	a := r.Fill(&fault.Fault{}, fault.Subject{}, func(string) []string { return nil })
	t.para(0, span{}, plain, a.Title)
	var only []string
	for _, q := range r.Requires {
		only = append(only, q.Says)
	}
	t.items("Only if", only)
	t.head(0, "Steps")
	t.steps(a)
	t.verify(a.Verify)
	t.costs(a)
	var used []string
	for _, f := range c.Faults {
		if slices.Contains(f.Remedies, r.ID) {
			used = append(used, f.ID)
		}
	}
	t.items("For", used)
	t.items("Source", refWords(r.Refs))
	if r.Fix {
		t.next(o, "fix plan")
	} else {
		t.next(o, "diagnose")
	}
	return t.flush(w)
}

// ofSubject says what a fact is about.
func ofSubject(k fault.Kind) string {
	if k == fault.Any {
		return "of any subject"
	}
	if k == fault.Operator {
		return "of an " + string(k)
	}
	return "of a " + string(k)
}

// FactPage writes what a fact is made of.
func FactPage(w io.Writer, f Fact, o Options) error {
	p := &page{Style: o.Style}
	p.line(0, span{bold, f.Name})
	p.parts(0, dim, []string{"fact", ofSubject(f.For)})
	p.para(0, span{}, plain, f.Doc)
	var fields []string
	for _, field := range f.Fields {
		fields = append(fields, field.Name+": "+field.Type)
	}
	p.items("Fields", fields)
	p.items("What it reads", f.Needs)
	p.items("Faults that use it", f.UsedBy)
	p.next(o, "diagnose")
	return p.flush(w)
}

// StagePage writes what a step of the join path is and what stops it.
func StagePage(w io.Writer, s fault.Stage, c *fault.Catalog, o Options) error {
	p := &page{Style: o.Style}
	p.line(0, span{bold, string(s)})
	at := slices.Index(fault.Stages(), s)
	p.parts(0, dim, []string{fmt.Sprintf("stage %d of %d of the join path", at+1, len(fault.Stages()))})
	p.para(0, span{}, plain, StageMeans(s))
	var stops []string
	for _, f := range c.Faults {
		if f.Blocks == s {
			stops = append(stops, f.ID)
		}
	}
	p.items("What can stop it", stops)
	p.next(o, "diagnose")
	return p.flush(w)
}

// commandPurpose says what the commands at the end of a page are for.
var commandPurpose = map[string]string{
	"diagnose":                  "what is wrong in your cluster or archive",
	"scan FILE":                 "whether a log or a console shows it",
	"preflight DIR":             "whether your plan has it",
	"preflight DIR --bmc":       "whether the machines of your plan have it",
	"fix plan":                  "plan it for your cluster; nothing is changed",
	"diagnose --hosted NS/NAME": "what is wrong in your hosted cluster",
}

// next writes what to run after a page was read.
func (p *page) next(o Options, command string) {
	p.line(0, span{bold, "Next: "}, span{cyan, o.know(command)}, span{plain, "   " + commandPurpose[command]})
}

// nextOf is the command that finds a fault.
func nextOf(f *fault.Fault) string {
	switch {
	case f.TextOnly():
		return "scan FILE"
	case f.Layer == "hardware":
		return "preflight DIR --bmc"
	case fault.Preflight(f):
		return "preflight DIR"
	case fault.ControlPlaneOf(f) == fault.HostedControlPlane:
		return "diagnose --hosted NS/NAME"
	}
	return "diagnose"
}

func (p *page) section(title, body string) {
	p.head(0, title)
	p.para(2, span{}, plain, body)
}

func (p *page) items(title string, list []string) {
	if len(list) == 0 {
		return
	}
	p.head(0, title)
	for _, v := range list {
		p.para(2, span{plain, "- "}, plain, v)
	}
}

// List writes ids with their titles, on one line each where the rows are in groups. A title
// that is too long for the terminal is cut there; into a pipe it is whole.
func List(w io.Writer, rows []Row, o Options) error {
	p := &page{Style: o.Style}
	in, widths := map[string]int{}, map[string]int{}
	for _, r := range rows {
		widths[r.Group] = max(widths[r.Group], length(r.ID))
		in[r.Group]++
	}
	for i, r := range rows {
		limit := 0
		if r.Group != "" {
			limit = 1
		}
		if r.Group != "" && !o.NoHeaders && (i == 0 || rows[i-1].Group != r.Group) {
			if i > 0 {
				p.blank()
			}
			p.head(0, fmt.Sprintf("%s (%d)", r.Group, in[r.Group]))
		}
		lead := r.ID + strings.Repeat(" ", widths[r.Group]-length(r.ID)+2)
		if p.width()-len(lead) < 30 {
			p.line(0, span{bold, r.ID})
			p.para(4, span{}, plain, r.Title)
			continue
		}
		p.lead(0, span{bold, lead}, strings.Repeat(" ", length(lead)), plain, r.Title, limit)
	}
	return p.flush(w)
}

// IDs writes one id a line.
func IDs(w io.Writer, rows []Row) error {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.ID + "\n")
	}
	return write(w, b.String())
}

// RelationWords says at which subjects an edge has its effect.
func RelationWords(r fault.Relation) string { return relations[r] }

// ActorWords says who carries a remedy out, and where.
func ActorWords(by fault.Actor, where string) string { return actorWords(by, where) }
