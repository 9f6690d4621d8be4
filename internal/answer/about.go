package answer

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// source shows what was read, so that nobody repairs the wrong cluster.
func (t *text) source() {
	d := *t.d
	if !t.o.Wide {
		if d.Source.Kind != "live" && d.Source.Kind != planSource { // from where it was asked is with each answer of a probe
			d.Source.Vantage = ""
		}
		if d.Cluster.Topology == usualTopology {
			d.Cluster.Topology = ""
		}
		d.Source.Name = t.shortPath(d.Source.Name)
	}
	if in := d.Cluster.Installer; in != nil && !t.o.Wide && t.saysAbove(in.String()) {
		about := diagnosis.Installer{Version: in.Version}
		t.Parts(0, page.Dim, each(sourceParts(&d), func(part string) string {
			return strings.Replace(part, in.String(), about.Name(), 1)
		}))
		return
	}
	t.Parts(0, page.Dim, sourceParts(&d))
}

// saysAbove reports whether the line with the verdict has a sentence.
func (t *text) saysAbove(says string) bool {
	return strings.HasPrefix(t.d.Verdict.Reason, says) || len(t.d.Verdict.Open) > 0 && strings.HasPrefix(t.d.Verdict.Open[0].Says, says)
}

// longPath is how many characters a path has that is shortened: half a row of the narrowest screen.
const longPath = 40

// shortPath is the end of a path that would fill a row.
func (t *text) shortPath(name string) string {
	if page.Length(name) <= longPath || strings.ContainsAny(name, " ,") || !strings.Contains(name, "/") {
		return name
	}
	return t.Sign(page.Ellipsis) + "/" + path.Base(name)
}

// usualTopology is the one that needs no word (openshift/api config/v1 TopologyMode).
const usualTopology = "HighlyAvailable"

func sourceParts(d *diagnosis.Diagnosis) []string {
	var parts []string
	name := d.Source.Name
	if d.Source.Kind == "live" {
		name = "cluster " + name
		if d.Source.API != "" && d.Source.API != d.Source.Name {
			name += " at " + d.Source.API
		}
	} else {
		name = d.Source.Kind + " " + name
		if d.Source.More > 0 {
			name += fmt.Sprintf(" and %d more", d.Source.More)
		}
	}
	parts = append(parts, name)
	if d.Cluster.Hosted != "" {
		parts = append(parts, "hosted cluster "+d.Cluster.Hosted)
	}
	switch {
	case d.Cluster.Version != "":
		parts = append(parts, d.Cluster.Version)
		if u := d.Cluster.Update; u != nil {
			parts = append(parts, updateWords(*u, d.Now))
		}
	case d.Source.Kind == planSource:
		parts = append(parts, "release not named (--release)")
	case d.Cluster.Installer == nil || d.Cluster.Installer.Version == "":
		parts = append(parts, "version unknown")
	}
	platform := d.Cluster.Platform
	if strings.EqualFold(platform, "None") { // what Infrastructure, and install-config, say of hosts without a platform
		platform = "platform None"
	}
	if about := strings.TrimSpace(platform + " " + d.Cluster.Topology); about != "" {
		parts = append(parts, about)
	}
	if d.Source.Vantage != "" {
		parts = append(parts, "asked from "+d.Source.Vantage)
	}
	if d.Cluster.Installer != nil {
		parts = append(parts, d.Cluster.Installer.String())
	}
	if d.Source.AtLeast {
		return append(parts, "as of "+page.Clock(d.Now)+", the newest time in it (--now TIME: when it was read)")
	}
	return append(parts, "as of "+page.Clock(d.Now))
}

// aboutSigns are the signs of an answer about one subject.
var aboutSigns = map[diagnosis.AboutState]Headline{
	diagnosis.AboutBroken:   {Sign: page.Bad, Paint: page.Red},
	diagnosis.AboutOpen:     {Sign: page.Open, Paint: page.Yellow},
	diagnosis.AboutWarning:  {Sign: page.Warn, Paint: page.Yellow},
	diagnosis.AboutProgress: {Sign: page.Wait, Paint: page.Yellow},
	diagnosis.AboutAccepted: {Sign: page.Warn, Paint: page.Yellow},
	diagnosis.AboutGood:     {Sign: page.Good, Paint: page.Green},
}

// stands writes how the subject stands that the answer was narrowed to, and below it the verdict on the whole cluster.
func (t *text) stands() {
	h := aboutSigns[t.o.About.State]
	mark := t.Sign(h.Sign)
	if strings.EqualFold(mark, "ok") {
		mark = "OK"
	}
	t.Lead(0, h.Paint.Span(mark+" "+t.o.Subject.String()+": "), "  ", page.Plain, t.o.Brief(t.o.About.Says), 0)
	t.Para(0, page.Plain.Span("The whole cluster: "), page.Plain, t.wholeVerdict())
}

// wholeVerdict is the verdict on the whole cluster in an answer about a subject, with its sign.
func (t *text) wholeVerdict() string {
	o := t.o
	o.Subject = nil
	w := newText(t.whole(), o)
	w.short = true
	h := HeadlineOf(w.d)
	said := w.Sign(h.Sign) + " " + h.Words
	if reason := w.verdictReason(); reason != "" {
		said += ": " + reason
	}
	return said
}

// subject shows the row and the steps of the subject that the answer was narrowed to.
func (t *text) subject() {
	if t.o.Subject == nil {
		return
	}
	if len(t.o.Row) > 0 {
		t.Blank()
		t.Parts(0, page.Plain, each(t.o.Row, func(cell string) string { return t.o.Brief(evidence.Shorten(cell, longestCell)) }))
	}
	for _, h := range t.d.Hosts {
		if t.o.Subject.Kind == fault.Host && h.Name == t.o.Subject.Name {
			t.Blank()
			t.stages(h)
			t.blocked(h)
		}
	}
}

// longestCell is how much of a message a row has.
const longestCell = 400

// blocked says what of a host's pool stops it at its stage, where the cause is not at the host itself: the effects
// have the rest.
func (t *text) blocked(h diagnosis.HostState) {
	if h.Done() || t.o.Catalog == nil {
		return
	}
	for _, r := range t.d.Roots {
		for _, c := range r.Cases {
			if c.Subject == *t.o.Subject || !slices.Contains(h.BlockedBy, c.Key) {
				continue
			}
			for _, k := range c.Explains { // nearest first; the cause itself is below
				if f, ok := t.o.Catalog.Fault(k.Fault); ok && k.Subject.Kind == fault.Pool && f.Blocks == h.Stage {
					t.Lead(2, page.Yellow.Span("Blocked: "), "  ", page.Plain, t.title(k), 0)
					return
				}
			}
		}
	}
}

// whole is the diagnosis before it was narrowed to a subject.
func (t *text) whole() *diagnosis.Diagnosis {
	if t.o.Whole != nil {
		return t.o.Whole
	}
	return t.d
}

// otherCauses lists the causes of the whole cluster that are not known to concern the subject.
func (t *text) otherCauses() {
	if len(t.d.Roots) > 0 || t.o.Whole == nil || len(t.o.Whole.Roots) == 0 {
		return
	}
	t.Blank()
	t.Head(0, "Causes in the cluster that are not proven to concern it")
	whole := newText(t.o.Whole, t.o)
	for i, r := range t.o.Whole.Roots {
		if i == fewSuspects {
			t.Line(2, page.Dim.Span("and more"))
			break
		}
		t.Para(0, page.Red.Span(t.Sign(page.Bad)+" "), page.Plain, whole.linkTitle(&link{keys: r.Keys()}))
	}
	t.Line(2, page.Cyan.Span(t.o.Again("diagnose")))
}

// updateWords say which version is installed or updated to, how far that is and since when. When it
// ends is not reported, and is not guessed.
func updateWords(u diagnosis.Update, now time.Time) string {
	words := "updating to " + u.To
	if u.First {
		words = "installing" // the version stands before it
	}
	if u.Total > 0 {
		words += fmt.Sprintf(", %d%% (%d of %d manifests)", u.Percent(), u.Done, u.Total)
	}
	if !u.Began.IsZero() {
		words += ", for " + fault.Span(now.Sub(u.Began))
	}
	return words
}
