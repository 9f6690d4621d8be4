package baseline

import (
	"fmt"
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/page"
)

// Saved is what there is to say of a baseline that was saved.
type Saved struct {
	File    string // "" where it went to the output
	Saved   Baseline
	Healthy bool
	Reason  string   // of the verdict, where it is not healthy
	Backup  string   // command that takes a backup of etcd; "" where etcd is not the cluster's own
	Compare []string // words of the command that compares
}

// Print writes what was saved, what was not, and what to do besides.
func (s Saved) Print(w io.Writer, style page.Style) error {
	p := &page.Page{Style: style}
	p.Lead(0, page.Green.Span(p.Sign(page.Good)+" "), "  ", page.Plain,
		fmt.Sprintf("%s: %d values of %s as of %s", s.File, len(s.Saved.Entries), s.Saved.Source, page.Clock(s.Saved.Taken)), 0)
	switch {
	case s.Healthy:
	case s.Saved.Verdict == "undetermined":
		p.Lead(0, page.Yellow.Span(p.Sign(page.Warn)+" "), "  ", page.Plain, "Not known whether the cluster is healthy now ("+s.Reason+
			"). Save another baseline once that is known.", 0)
	default:
		p.Lead(0, page.Yellow.Span(p.Sign(page.Warn)+" "), "  ", page.Plain,
			"The cluster is not healthy now ("+s.Reason+"). The baseline has this state: save another one once the cluster is healthy.", 0)
	}
	gaps(p, "Not saved: ", s.Saved.Missing)
	p.Blank()
	if s.Backup != "" {
		p.Para(0, page.Span{}, page.Plain, "A baseline cannot restore anything. Take a backup of etcd now, and keep it outside of the cluster:")
		p.Line(2, page.Cyan.Span(s.Backup)) // in one piece: half of it is another command
	}
	p.Lead(0, page.Plain.Span("See later what has changed: "), "  ", page.Cyan, strings.Join(s.Compare, " "), 0)
	return p.Flush(w)
}

func gaps(p *page.Page, word string, gaps []Gap) {
	for _, g := range gaps {
		p.Lead(0, page.Yellow.Span(p.Sign(page.Open)+" "+word), "  ", page.Plain, p.Clean(g.String()), 0)
	}
}

// areaWords are the headings of changes.
var areaWords = map[Area]string{
	Version: "Version", Operators: "Operators", Nodes: "Nodes", Pools: "Pools", Configs: "MachineConfigs",
	Certificates: "Certificates", Network: "Network", Hardware: "Hardware",
}

// Print writes what has changed, by areas. That it is not known whether both are of
// one cluster comes first: the changes can be the differences of two.
func (c Comparison) Print(w io.Writer, style page.Style) error {
	p := &page.Page{Style: style}
	changesHead(p, c)
	switch c.Verdict {
	case "healthy":
	case "undetermined":
		p.Para(0, page.Span{}, page.Dim, "The baseline was saved while it was not known whether the cluster was healthy.")
	case "settling":
		p.Para(0, page.Span{}, page.Dim, "The baseline was saved while an installation or an update was in progress.")
	default:
		p.Para(0, page.Span{}, page.Dim, "The baseline was saved while the cluster was not healthy.")
	}
	if c.Now.Before(c.Since) {
		p.Para(0, page.Span{}, page.Dim, "What was read is older ("+page.Clock(c.Now)+") than the baseline: what was new then is shown as gone.")
	}
	area := Area("")
	for _, change := range c.Changes {
		if change.Area != area {
			area = change.Area
			p.Blank()
			p.Head(0, areaWords[area])
		}
		p.Lead(2, page.Bold.Span(p.Clean(change.Subject)+" "), "    ", page.Plain, p.Clean(change.String()), 0)
	}
	if len(c.NotCompared) > 0 {
		p.Blank()
	}
	gaps(p, "Not compared: ", c.NotCompared)
	return p.Flush(w)
}

func changesHead(p *page.Page, c Comparison) {
	compared := fmt.Sprintf("%d values compared", c.Compared)
	if len(c.NotCompared) > 0 {
		compared += ", not all of them"
	}
	since := "since " + page.Clock(c.Since)
	switch {
	case !c.Certain():
		found := "no difference from the baseline of "
		if n := len(c.Changes); n > 0 {
			found = page.Count(n, "difference", "differences") + " from the baseline of "
		}
		p.Line(0, page.Yellow.Span(p.Sign(page.Open)+" CLUSTER NOT KNOWN: "), page.Plain.Span(found+page.Clock(c.Since)+", "+compared))
		p.Para(0, page.Span{}, page.Plain, "Not known whether this is the cluster of the baseline:")
		for _, r := range c.Identity.Reasons {
			p.Para(2, page.Span{}, page.Plain, p.Clean(r))
		}
	case len(c.Changes) > 0:
		p.Line(0, page.Yellow.Span(fmt.Sprintf("%s %s %s: ", p.Sign(page.Warn), page.Count(len(c.Changes), "CHANGE", "CHANGES"), since)),
			page.Plain.Span(compared))
	case len(c.NotCompared) > 0:
		p.Line(0, page.Yellow.Span(p.Sign(page.Open)+" NO CHANGE FOUND "+since+": "), page.Plain.Span(compared))
	default:
		p.Line(0, page.Green.Span(p.Sign(page.Good)+" NO CHANGE "+since+": "), page.Plain.Span(compared))
	}
	if c.Certain() && !c.Identity.ByID {
		p.Para(0, page.Span{}, page.Dim,
			"The cluster ID is not known on both sides. It is the same cluster: "+p.Clean(strings.Join(c.Identity.Reasons, "; "))+".")
	}
}

// String is what was not compared, in words.
func (g Gap) String() string {
	const most = 5
	what := string(g.Area)
	if n := len(g.Subjects); n > 0 {
		what = strings.Join(g.Subjects[:min(n, most)], ", ")
		if n > most {
			what += fmt.Sprintf(" and %d more", n-most)
		}
	}
	return what + ": " + g.Reason
}

// String is a change in words, without its subject.
func (c Change) String() string {
	whole := c.Name == ""
	switch {
	case c.Kind == Added && whole:
		return "is new: " + someValues(c.Values)
	case c.Kind == Removed && whole:
		return "is no longer there, had: " + someValues(c.Values)
	case c.Kind == Added:
		return c.Name + " is new: " + c.Is
	case c.Kind == Removed:
		return c.Name + " is no longer there, was " + c.Was
	}
	return c.Name + " was " + c.Was + ", is " + c.Is
}

// someValues are the first values of an object, fields before conditions.
func someValues(values []Value) string {
	const most = 3
	var words []string
	for _, conditions := range []bool{false, true} {
		for _, v := range values {
			if strings.HasPrefix(v.Name, "condition ") == conditions && len(words) < most {
				words = append(words, v.Name+" "+v.Value)
			}
		}
	}
	text := strings.Join(words, ", ")
	if n := len(values) - len(words); n > 0 {
		text += " and " + page.Count(n, "more value", "more values")
	}
	return text
}
