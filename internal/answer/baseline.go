package answer

import (
	"fmt"
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/baseline"
)

// BaselineSaved is what there is to say of a baseline that was saved.
type BaselineSaved struct {
	File    string // "" where it went to the output
	Saved   baseline.Baseline
	Healthy bool
	Reason  string   // of the verdict, where it is not healthy
	Backup  string   // command that takes a backup of etcd; "" where etcd is not the cluster's own
	Compare []string // words of the command that compares
}

// Baseline writes what was saved, what was not, and what to do besides.
func Baseline(w io.Writer, s BaselineSaved, o Options) error {
	p := &page{Style: o.Style}
	p.lead(0, span{green, p.sign(signGood) + " "}, "  ", plain, fmt.Sprintf("%s: %d values of %s as of %s", s.File, len(s.Saved.Entries), s.Saved.Source,
		clock(s.Saved.Taken)), 0)
	switch {
	case s.Healthy:
	case s.Saved.Verdict == "undetermined":
		p.lead(0, span{yellow, p.sign(signWarn) + " "}, "  ", plain, "Not known whether the cluster is healthy now ("+s.Reason+
			"). Save another baseline once that is known.", 0)
	default:
		p.lead(0, span{yellow, p.sign(signWarn) + " "}, "  ", plain,
			"The cluster is not healthy now ("+s.Reason+"). The baseline has this state: save another one once the cluster is healthy.", 0)
	}
	p.gaps("Not saved: ", s.Saved.Missing)
	p.blank()
	if s.Backup != "" {
		p.para(0, span{}, plain, "A baseline cannot restore anything. Take a backup of etcd now, and keep it outside of the cluster:")
		p.line(2, span{cyan, s.Backup}) // in one piece: half of it is another command
	}
	p.lead(0, span{plain, "See later what has changed: "}, "  ", cyan, strings.Join(s.Compare, " "), 0)
	return p.flush(w)
}

func (p *page) gaps(word string, gaps []baseline.Gap) {
	for _, g := range gaps {
		p.lead(0, span{yellow, p.sign(signOpen) + " " + word}, "  ", plain, p.clean(BaselineGap(g)), 0)
	}
}

// areaWords are the headings of changes.
var areaWords = map[baseline.Area]string{
	baseline.Version: "Version", baseline.Operators: "Operators", baseline.Nodes: "Nodes", baseline.Pools: "Pools", baseline.Configs: "MachineConfigs",
	baseline.Certificates: "Certificates", baseline.Network: "Network", baseline.Hardware: "Hardware",
}

// BaselineChanges writes what has changed, by areas. That it is not known whether both are of
// one cluster comes first: the changes can be the differences of two.
func BaselineChanges(w io.Writer, c baseline.Comparison, o Options) error {
	p := &page{Style: o.Style}
	p.changesHead(c)
	switch c.Verdict {
	case "healthy":
	case "undetermined":
		p.para(0, span{}, dim, "The baseline was saved while it was not known whether the cluster was healthy.")
	default:
		p.para(0, span{}, dim, "The baseline was saved while the cluster was not healthy ("+p.clean(c.Verdict)+").")
	}
	if c.Now.Before(c.Since) {
		p.para(0, span{}, dim, "What was read is older ("+clock(c.Now)+") than the baseline: what was new then is shown as gone.")
	}
	area := baseline.Area("")
	for _, change := range c.Changes {
		if change.Area != area {
			area = change.Area
			p.blank()
			p.head(0, areaWords[area])
		}
		p.lead(2, span{bold, p.clean(change.Subject) + " "}, "    ", plain, p.clean(BaselineChange(change)), 0)
	}
	if len(c.NotCompared) > 0 {
		p.blank()
	}
	p.gaps("Not compared: ", c.NotCompared)
	return p.flush(w)
}

func (p *page) changesHead(c baseline.Comparison) {
	compared := fmt.Sprintf("%d values compared", c.Compared)
	if len(c.NotCompared) > 0 {
		compared += ", not all of them"
	}
	since := "since " + clock(c.Since)
	switch {
	case !c.Certain():
		found := "no difference from the baseline of "
		if n := len(c.Changes); n > 0 {
			found = count(n, "difference", "differences") + " from the baseline of "
		}
		p.line(0, span{yellow, p.sign(signOpen) + " CLUSTER NOT KNOWN: "}, span{plain, found + clock(c.Since) + ", " + compared})
		p.para(0, span{}, plain, "Not known whether this is the cluster of the baseline:")
		for _, r := range c.Identity.Reasons {
			p.para(2, span{}, plain, p.clean(r))
		}
	case len(c.Changes) > 0:
		p.line(0, span{yellow, fmt.Sprintf("%s %s %s: ", p.sign(signWarn), count(len(c.Changes), "CHANGE", "CHANGES"), since)}, span{plain, compared})
	case len(c.NotCompared) > 0:
		p.line(0, span{yellow, p.sign(signOpen) + " NO CHANGE FOUND " + since + ": "}, span{plain, compared})
	default:
		p.line(0, span{green, p.sign(signGood) + " NO CHANGE " + since + ": "}, span{plain, compared})
	}
	if c.Certain() && !c.Identity.ByID {
		p.para(0, span{}, dim, "The cluster ID is not known on both sides. It is the same cluster: "+p.clean(strings.Join(c.Identity.Reasons, "; "))+".")
	}
}

// BaselineGap is what was not compared, in words.
func BaselineGap(g baseline.Gap) string {
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

// BaselineChange is a change in words, without its subject.
func BaselineChange(c baseline.Change) string {
	whole := c.Name == ""
	switch {
	case c.Kind == baseline.Added && whole:
		return "is new: " + someValues(c.Values)
	case c.Kind == baseline.Removed && whole:
		return "is no longer there, had: " + someValues(c.Values)
	case c.Kind == baseline.Added:
		return c.Name + " is new: " + c.Is
	case c.Kind == baseline.Removed:
		return c.Name + " is no longer there, was " + c.Was
	}
	return c.Name + " was " + c.Was + ", is " + c.Is
}

// someValues are the first values of an object, fields before conditions.
func someValues(values []baseline.Value) string {
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
		text += " and " + count(n, "more value", "more values")
	}
	return text
}
