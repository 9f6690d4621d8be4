package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/fault"
)

// Remedy is what a report says of a remedy or a refused remedy.
type Remedy struct {
	Title string
	Risk  string // in words; empty for refused ones
}

// Options say how a diagnosis is rendered and what its commands look like.
type Options struct {
	Style
	Command   string // how the user calls the tool; "": rollcall
	Source    string // flags that a command needs to read the same source again
	Remedies  map[string]Remedy
	Refused   map[string]Remedy
	Plan      func(r fault.Root, only bool) string // the command that plans the repair of a root, of the only one; nil: there is none
	Subject   *fault.Subject                       // the diagnosis was narrowed to it
	All       bool                                 // also hosts that are done
	NoHeaders bool
	Wide      bool // leave nothing out
}

// again returns a command over the same source.
func (o Options) again(words string) string {
	c := o.Command
	if c == "" {
		c = "rollcall"
	}
	if words != "" {
		c += " " + words
	}
	if o.Source != "" {
		c += " " + o.Source
	}
	return c
}

// know returns a command that needs no source.
func (o Options) know(words string) string {
	o.Source = ""
	return o.again(words)
}

// text renders one diagnosis.
type text struct {
	page
	o       Options
	d       *fault.Diagnosis
	finding map[fault.Key]fault.Finding
}

func newText(d *fault.Diagnosis, o Options) *text {
	t := &text{page: page{Style: o.Style}, o: o, d: d, finding: map[fault.Key]fault.Finding{}}
	for _, f := range d.Findings {
		t.finding[f.Key()] = f
	}
	return t
}

// Text writes the answer for a person: at most a screen where one root is the case.
func Text(w io.Writer, d *fault.Diagnosis, o Options) error {
	t := newText(d, o)
	t.verdict()
	t.source()
	t.subject()
	roots := sameRoots(d)
	for i, r := range roots {
		t.root(i, len(roots), r)
	}
	t.unexplained()
	t.settling()
	t.hosts()
	if o.Wide {
		t.timeline()
	}
	t.unchecked()
	t.next()
	return t.flush(w)
}

func (t *text) verdict() {
	h := headlineOf(t.d)
	mark := t.sign(h.sign)
	if strings.EqualFold(mark, "ok") {
		mark = "OK"
	}
	words := mark + " " + h.words
	reason := t.d.Verdict.Reason
	switch {
	case t.d.Verdict.Class == fault.Settling:
		reason = "until " + clock(t.d.Verdict.Until) + "; ask again then"
	case t.d.Verdict.Class == fault.Undetermined && len(t.d.Roots) > 0:
		reason = count(len(sameRoots(t.d)), "cause", "causes") + " found"
	}
	if reason == "" {
		t.line(0, span{h.paint, words})
		return
	}
	t.lead(0, span{h.paint, words + ": "}, "  ", plain, reason, t.limit(3))
}

// source says what was read, so that nobody repairs the wrong cluster.
func (t *text) source() {
	t.parts(0, dim, sourceParts(t.d))
}

func sourceParts(d *fault.Diagnosis) []string {
	var parts []string
	name := d.Source.Name
	if d.Source.Kind == "live" {
		name = "cluster " + name
	} else {
		name = d.Source.Kind + " " + name
	}
	parts = append(parts, name)
	version := d.Cluster.Version
	if version == "" {
		version = "version not readable"
	}
	parts = append(parts, version)
	platform := d.Cluster.Platform
	if platform == "None" { // what Infrastructure says of hosts without a platform
		platform = "platform None"
	}
	if about := strings.TrimSpace(platform + " " + d.Cluster.Topology); about != "" {
		parts = append(parts, about)
	}
	if d.Source.Vantage != "" {
		parts = append(parts, "asked from "+d.Source.Vantage)
	}
	return append(parts, "as of "+clock(d.Now))
}

// subject says that the answer was narrowed, and what of it is left.
func (t *text) subject() {
	if t.o.Subject == nil {
		return
	}
	t.blank()
	verdict := "nothing known is wrong with it"
	switch {
	case len(t.d.Roots) > 0:
		verdict = count(len(t.d.Roots), "cause concerns it", "causes concern it")
	case len(t.d.Unexplained) > 0:
		verdict = "something is wrong with it and the cause is not known"
	}
	t.para(0, span{bold, t.o.Subject.String() + ": "}, plain, verdict+"; the line above is about the whole cluster")
	for _, h := range t.d.Hosts {
		if t.o.Subject.Kind == fault.Host && h.Name == t.o.Subject.Name {
			t.stages(h)
		}
	}
}

// unexplained lists symptoms without a proven cause, the same ones together.
func (t *text) unexplained() {
	var order []string
	groups := map[string]*link{}
	first := map[string]fault.Unexplained{}
	for _, u := range t.d.Unexplained {
		if groups[u.Fault] == nil {
			groups[u.Fault] = &link{fault: u.Fault}
			first[u.Fault] = u
			order = append(order, u.Fault)
		}
		groups[u.Fault].keys = append(groups[u.Fault].keys, u.Key)
	}
	for _, id := range order {
		t.blank()
		mark := t.sign(signOpen) + " "
		t.para(0, span{yellow, mark}, bold, t.linkTitle(groups[id]))
		t.parts(2, dim, []string{"cause not known", string(first[id].Severity)})
		t.proof(first[id].Evidence)
		t.suspects(first[id].Suspects)
	}
}

const fewSuspects = 4

func (t *text) suspects(list []fault.Suspect) {
	if len(list) == 0 {
		t.para(2, span{}, plain, "No entry of the catalogue could explain it here.")
		return
	}
	t.head(2, "It could be")
	for i, s := range list {
		if i == fewSuspects && !t.o.Wide {
			t.para(2, span{plain, "- "}, dim, more(len(list)-i))
			return
		}
		t.para(2, span{plain, "- "}, plain, s.Title)
		switch {
		case s.Supply != "":
			t.para(4, span{plain, "decide: "}, cyan, s.Supply)
		case s.Next != "":
			t.para(4, span{plain, "decide: "}, cyan, t.o.know("explain "+s.Next))
		}
	}
}

// settling lists what holds and is still normal, the same ones together, each with
// the first deadline.
func (t *text) settling() {
	var order []string
	groups := map[string]*link{}
	deadline := map[string]time.Time{}
	for _, f := range t.d.Findings {
		if !f.Waiting() {
			continue
		}
		if groups[f.Fault] == nil {
			groups[f.Fault] = &link{fault: f.Fault}
			deadline[f.Fault] = f.Until
			order = append(order, f.Fault)
		}
		groups[f.Fault].keys = append(groups[f.Fault].keys, f.Key())
		if f.Until.Before(deadline[f.Fault]) {
			deadline[f.Fault] = f.Until
		}
	}
	if len(order) == 0 {
		return
	}
	t.blank()
	t.head(0, "Normal so far")
	for i, id := range order {
		if i == fewSettling && !t.o.Wide {
			t.line(2, span{dim, more(len(order) - i)})
			return
		}
		t.para(0, span{yellow, t.sign(signWait) + " "}, plain, fmt.Sprintf("%s; a fault from %s on (in %s)",
			t.linkTitle(groups[id]), clock(deadline[id]), age(deadline[id].Sub(t.d.Now))))
	}
}

const fewSettling = 5

// timeline lists when things began.
func (t *text) timeline() {
	if len(t.d.Timeline) == 0 {
		return
	}
	t.blank()
	t.head(0, "When")
	for _, m := range t.d.Timeline {
		t.para(2, span{dim, clock(m.Time) + "  "}, plain, m.Subject.String()+": "+m.Text)
	}
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return clock(t)
}
