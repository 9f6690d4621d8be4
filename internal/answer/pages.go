package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
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
	p := &page.Page{Style: o.Style}
	p.Line(0, page.Bold.Span(f.ID))
	p.Parts(0, page.Dim, []string{"fault", ofSubject(f.For), "layer " + f.Layer, string(f.Severity)})
	p.Para(0, page.Span{}, page.Plain, PlainTitle(f))
	section(p, "What it means", f.Means)
	faultTodo(p, f, c, o)
	presentIf(p, f, o)
	var leads, causes []string
	for _, e := range f.Explains {
		leads = addOnce(leads, edgeWords(e.Fault, e, e.Fault == f.ID))
	}
	for _, other := range c.Faults {
		for _, e := range other.Explains {
			if e.Fault == f.ID {
				causes = addOnce(causes, edgeWords(other.ID, e, other.ID == f.ID))
			}
		}
	}
	items(p, "Effects", leads)
	items(p, "Possible causes", causes)
	if f.Blocks != "" {
		section(p, "Stage that it blocks", string(f.Blocks)+": "+StageMeans(f.Blocks))
	}
	var given []string
	for name, g := range f.Given {
		given = append(given, name+" = "+g.Fact)
	}
	slices.Sort(given)
	items(p, "What is looked at ("+o.know("explain FACT")+")", given)
	items(p, "Source", refWords(f.Refs))
	next(p, o, nextOf(f))
	return p.Flush(w)
}

// faultTodo writes what to do about a fault, and what not.
func faultTodo(p *page.Page, f *fault.Fault, c *fault.Catalog, o Options) {
	items(p, "What to do", remedyWords(f.Remedies, c, o))
	if !fault.Preflight(f) && slices.ContainsFunc(f.Remedies, func(id string) bool {
		r, ok := c.Remedy(id)
		return ok && r.Risk != fault.RiskNone
	}) {
		p.Para(2, page.Span{}, page.Dim, "Steps that change something are for a proven cause.")
	}
	if f.NoRemedy != "" {
		section(p, "What to do", "there is no remedy: "+f.NoRemedy)
	}
	items(p, "Do not", refusedWords(f.Refused, c, o))
}

// presentIf writes the condition of a fault as the catalog has it.
func presentIf(p *page.Page, f *fault.Fault, o Options) {
	p.Head(0, "Present if")
	switch {
	case f.TextOnly():
		p.Para(2, page.Span{}, page.Plain, "only where a text shows it ("+o.know("scan FILE")+"): no object of a cluster decides it")
	case fault.Preflight(f):
		p.Para(2, page.Span{}, page.Plain, "a check of a plan finds it ("+o.know(nextOf(f))+"): no object of a cluster decides it")
	default:
		p.Line(2, page.Plain.Span(f.When))
	}
	if f.Settles != nil {
		line := "normal for the first " + fault.Span(f.Settles.Within.Duration)
		if f.Settles.Unless != "" {
			line += ", unless " + f.Settles.Unless
		}
		p.Para(2, page.Span{}, page.Dim, line)
	}
	if f.Refute != "" {
		p.Line(2, page.Dim.Span("not if "+f.Refute))
	}
	for _, s := range f.Support {
		p.Line(2, page.Dim.Span("proven by "+s))
	}
}

// addOnce adds a line that is not there yet: a fault may have the same effect under several conditions.
func addOnce(list []string, line string) []string {
	if slices.Contains(list, line) {
		return list
	}
	return append(list, line)
}

// PlainTitle is a fault's title outside a diagnosis, where none of its values is known.
func PlainTitle(f *fault.Fault) string { return fault.ShortTitle(f) }

// edgeWords writes an edge. One from a fault to itself is between two subjects.
func edgeWords(id string, e fault.Edge, itself bool) string {
	on := relations[e.On]
	if itself && e.On == fault.Operators {
		on = "of other operators"
	}
	return fmt.Sprintf("%s (%s; %s)", id, on, e.Strength)
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
	p := &page.Page{Style: o.Style}
	p.Line(0, page.Bold.Span(r.ID))
	p.Parts(0, page.Dim, []string{"common unsafe advice"})
	p.Para(0, page.Red.Span(p.Sign(page.Bad)+" do not: "), page.Plain, r.Title)
	section(p, "What happens", r.Happens)
	section(p, "When it is safe after all", r.When)
	section(p, "Do instead", r.Instead)
	items(p, "Also phrased as", r.Advice)
	var used []string
	for _, f := range c.Faults {
		if slices.Contains(f.Refused, r.ID) {
			used = append(used, f.ID)
		}
	}
	items(p, "Applies to", used)
	items(p, "Source", refWords(r.Refs))
	next(p, o, "diagnose")
	return p.Flush(w)
}

// DestroysPart writes what a command changes and destroys, below what the command is.
func DestroysPart(w io.Writer, d fault.Destroys, refs []fault.Ref, o Options) error {
	p := &page.Page{Style: o.Style}
	p.Blank()
	section(p, "What it changes", d.Changes)
	section(p, "What is lost", d.Lost)
	section(p, "When it is safe", d.Safe)
	section(p, "Instead", d.Instead)
	items(p, "Source", refWords(refs))
	return p.Flush(w)
}

// RemedyPage writes what a remedy is, its steps and which faults it is for.
func RemedyPage(w io.Writer, r *fault.Remedy, c *fault.Catalog, o Options) error {
	t := &text{Page: page.Page{Style: o.Style}, o: o, d: &diagnosis.Diagnosis{}}
	t.Line(0, page.Bold.Span(r.ID))
	about := []string{"remedy", actorWords(r.By, r.Where), "risk: " + string(r.Risk)}
	if r.Fix {
		about = append(about, "`"+o.know("fix plan")+"` can do it")
	}
	if r.Versions != "" {
		about = append(about, "versions "+r.Versions)
	}
	t.Parts(0, page.Dim, append(about, r.Platforms...))
	a := r.Fill(&fault.Fault{}, fault.Subject{}, func(string) []string { return nil })
	t.Para(0, page.Span{}, page.Plain, a.Title)
	var only []string
	for _, q := range r.Requires {
		only = append(only, q.Says)
	}
	if r.By != fault.ByPlan && a.UntilProven().NeedsProof {
		t.Para(0, page.Span{}, page.Plain, "For a proven cause only: "+t.o.know("diagnose")+" shows whether it is. "+
			"Until then run no step that changes something.")
	}
	items(&t.Page, "Only if", only)
	t.Head(0, "Steps")
	t.steps(a)
	t.verify(a.Verify)
	t.costs(a)
	t.Lead(2, page.Bold.Span("Tried: "), "  ", page.Plain, TriedWords(r.Tried), 0)
	var used []string
	for _, f := range c.Faults {
		if slices.Contains(f.Remedies, r.ID) {
			used = append(used, f.ID)
		}
	}
	items(&t.Page, "For", used)
	items(&t.Page, "Source", refWords(r.Refs))
	if r.Fix {
		next(&t.Page, o, "fix plan")
	} else {
		next(&t.Page, o, "diagnose")
	}
	return t.Flush(w)
}

// TriedWords says how far a remedy was tried before somebody needs it.
func TriedWords(t fault.Tried) string {
	switch t {
	case fault.TriedServers:
		return "yes, on OpenShift's own servers in Rollcall's lab: etcd, API server, controllers. The hosts are simulated."
	case fault.TriedSimulation:
		return "only on a simulated API server: carried out, interrupted and undone there."
	}
	return "no. It is advice from the sources below."
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
	p := &page.Page{Style: o.Style}
	p.Line(0, page.Bold.Span(f.Name))
	p.Parts(0, page.Dim, []string{"fact", ofSubject(f.For)})
	p.Para(0, page.Span{}, page.Plain, f.Doc)
	var fields []string
	for _, field := range f.Fields {
		fields = append(fields, field.Name+": "+field.Type)
	}
	items(p, "Fields", fields)
	items(p, "What it reads", f.Needs)
	items(p, "Faults that use it", f.UsedBy)
	next(p, o, "diagnose")
	return p.Flush(w)
}

// StagePage writes what a step of the join path is and what stops it.
func StagePage(w io.Writer, s fault.Stage, c *fault.Catalog, o Options) error {
	p := &page.Page{Style: o.Style}
	p.Line(0, page.Bold.Span(string(s)))
	at := slices.Index(fault.Stages(), s)
	p.Parts(0, page.Dim, []string{fmt.Sprintf("stage %d of %d of the join path", at+1, len(fault.Stages()))})
	p.Para(0, page.Span{}, page.Plain, StageMeans(s))
	var stops []string
	for _, f := range c.Faults {
		if f.Blocks == s {
			stops = append(stops, f.ID)
		}
	}
	items(p, "What can stop it", stops)
	next(p, o, "diagnose")
	return p.Flush(w)
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
func next(p *page.Page, o Options, command string) {
	p.Line(0, page.Bold.Span("Next: "), page.Cyan.Span(o.know(command)), page.Plain.Span("   "+commandPurpose[command]))
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

func section(p *page.Page, title, body string) {
	p.Head(0, title)
	p.Para(2, page.Span{}, page.Plain, body)
}

func items(p *page.Page, title string, list []string) {
	if len(list) == 0 {
		return
	}
	p.Head(0, title)
	for _, v := range list {
		p.Para(2, page.Plain.Span("- "), page.Plain, v)
	}
}

// List writes ids with their titles, which are whole.
func List(w io.Writer, rows []Row, o Options) error {
	p := &page.Page{Style: o.Style}
	in, widths := map[string]int{}, map[string]int{}
	for _, r := range rows {
		widths[r.Group] = max(widths[r.Group], page.Length(r.ID))
		in[r.Group]++
	}
	for i, r := range rows {
		if r.Group != "" && !o.NoHeaders && (i == 0 || rows[i-1].Group != r.Group) {
			if i > 0 {
				p.Blank()
			}
			p.Head(0, fmt.Sprintf("%s (%d)", r.Group, in[r.Group]))
		}
		lead := r.ID + strings.Repeat(" ", widths[r.Group]-page.Length(r.ID)+2)
		if p.Room()-len(lead) < 30 {
			p.Line(0, page.Bold.Span(r.ID))
			p.Para(4, page.Span{}, page.Plain, r.Title)
			continue
		}
		p.Lead(0, page.Bold.Span(lead), strings.Repeat(" ", page.Length(lead)), page.Plain, r.Title, 0)
	}
	return p.Flush(w)
}

// IDs writes one id a line.
func IDs(w io.Writer, rows []Row) error {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.ID + "\n")
	}
	return page.Write(w, b.String())
}

// RelationWords says at which subjects an edge has its effect.
func RelationWords(r fault.Relation) string { return relations[r] }

// ActorWords says who carries a remedy out, and where.
func ActorWords(by fault.Actor, where string) string { return actorWords(by, where) }
