package report

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
)

const (
	fewProofs  = 3
	fewLinks   = 12 // lines of a chain
	fewRuled   = 6
	fewNames   = 4
	fewMeans   = 4 // lines
	fewExcerpt = 3 // lines
)

// same is one root with the roots of the same fault at other subjects.
type same struct {
	fault.Root             // the first; it explains what any of them explains
	keys       []fault.Key // all of them
}

// sameRoots puts the roots of one fault together: a hundred requests of one kind
// are one case. A root that is part of a deadlock stays alone.
func sameRoots(d *fault.Diagnosis) []same {
	var list []same
	at := map[string]int{}
	for _, r := range d.Roots {
		i, ok := at[r.Fault]
		if !ok || r.Deadlock > 0 || list[i].Deadlock > 0 {
			at[r.Fault] = len(list)
			r.Explains = slices.Clone(r.Explains)
			list = append(list, same{r, []fault.Key{r.Key}})
			continue
		}
		list[i].keys = append(list[i].keys, r.Key)
		list[i].Explains = append(append(list[i].Explains, r.Key), r.Explains...)
	}
	return list
}

// root writes one root: what, how sure, proof, what it leads to, what to do.
func (t *text) root(i, of int, r same) {
	t.blank()
	g, style := signBad, red
	if r.Severity != fault.Error {
		g, style = signWarn, yellow
	}
	mark := t.sign(g) + " "
	if of > 1 {
		mark = fmt.Sprintf("%s%d of %d: ", mark, i+1, of)
	}
	t.lead(0, span{style, mark}, "  ", bold, t.linkTitle(&link{keys: r.keys}), 0)
	about := []string{confidences[r.Confidence], string(r.Severity), r.Subject.String()}
	if s := since(r.Since, t.d.Now); s != "" {
		about = append(about, s)
	}
	t.parts(2, dim, about)
	if r.Lowered != "" {
		t.para(2, span{yellow, "Not proven: "}, plain, r.Lowered)
	}
	t.lead(2, span{}, "", plain, r.Means, t.limit(fewMeans))
	t.proof(r.Evidence)
	t.ring(r.Root)
	t.leadsTo(r.Root)
	t.ruledOut(r.Root)
}

// limit is n lines, or all of them in wide output.
func (t *text) limit(n int) int {
	if t.o.Wide {
		return 0
	}
	return n
}

func (t *text) proof(items []evidence.Item) {
	if len(items) == 0 {
		return
	}
	t.head(2, "Proof")
	shown := distinct(items, t.o.Wide)
	for i, p := range shown {
		if i == fewProofs && !t.o.Wide {
			t.para(2, span{}, dim, more(len(shown)-i))
			return
		}
		t.lead(2, span{plain, "- "}, "  ", plain, excerpt(p.Item), t.limit(fewExcerpt))
		where := t.where(p.Item)
		if p.places > 1 {
			where += " (and in " + count(p.places-1, "more place", "more places") + ")"
		}
		t.para(4, span{}, dim, where)
	}
}

// proof is an item and how many others say the same.
type proof struct {
	evidence.Item
	places int
}

// distinct keeps the first item of each place and of each text; all, if asked.
func distinct(items []evidence.Item, all bool) []proof {
	var list []proof
	for _, item := range items {
		i := slices.IndexFunc(list, func(have proof) bool {
			return !all && (have.Locator == item.Locator || have.Excerpt == item.Excerpt)
		})
		switch {
		case i < 0:
			list = append(list, proof{item, 1})
		case list[i].Locator != item.Locator:
			list[i].places++
		}
	}
	return list
}

// where says where an item can be looked up again. The source is named where it is
// another than that of the answer; the directories with which every path of an
// archive begins are left to -o wide.
func (t *text) where(item evidence.Item) string {
	loc := item.Locator
	if !t.o.Wide {
		for _, begin := range []string{"/namespaces/", "/cluster-scoped-resources/"} {
			if i := strings.Index(loc.Path, begin); i > 0 {
				loc.Path = t.sign(ellipsis) + loc.Path[i:]
				break
			}
		}
	}
	where := loc.String()
	if s := loc.Source; s != "" && s != "live" && s != t.d.Source.Name && s != path.Base(t.d.Source.Name) {
		where = s + ": " + where
	}
	if item.From != "" {
		where += " (asked from " + item.From + ")"
	}
	return where
}

// leadsTo draws the chain from the root down to what was seen.
func (t *text) leadsTo(r fault.Root) {
	top := chain(t.d, r)
	if len(top) == 0 {
		return
	}
	t.head(2, "What it leads to")
	left := fewLinks
	if t.o.Wide {
		left = 1 << 20
	}
	t.branches(top, "", &left)
	if left < 0 {
		t.para(2, span{}, dim, more(-left))
	}
}

func (t *text) branches(list []*link, before string, left *int) {
	for i, l := range list {
		glyph, below := branch, t.sign(trunk)
		if i == len(list)-1 {
			glyph, below = lastOne, "   "
		}
		if *left--; *left >= 0 {
			inner := below
			if len(l.children) > 0 {
				inner += t.sign(trunk)[:len(t.sign(trunk))-2]
			}
			t.lead(2, span{plain, before + t.sign(glyph)}, before+below, plain, t.linkTitle(l)+weak(l.strength), 0)
		}
		t.branches(l.children, before+below, left)
	}
}

// weak marks edges that are not certain.
func weak(s fault.Strength) string {
	switch s {
	case fault.LikelyEdge:
		return " (likely because of it)"
	case fault.PossibleEdge:
		return " (possibly because of it)"
	}
	return ""
}

// linkTitle is the title of the first of the same findings, and where it is the same.
func (t *text) linkTitle(l *link) string {
	title := t.title(l.keys[0])
	if len(l.keys) == 1 {
		return title
	}
	var names []string
	same := "the same"
	first := l.keys[0].Subject.Name
	for _, k := range l.keys[1:] {
		names = append(names, k.Subject.Name)
		if strings.ReplaceAll(title, first, "") != strings.ReplaceAll(t.title(k), k.Subject.Name, "") {
			same = "alike"
		}
	}
	return fmt.Sprintf("%s; %s: %s (%d %s)", title, same, some(names, t.names()), len(l.keys), plurals[l.keys[0].Subject.Kind])
}

func (t *text) names() int {
	if t.o.Wide {
		return 1 << 20
	}
	return fewNames
}

// title is a finding's title; the subject is added where it does not name it.
func (t *text) title(k fault.Key) string {
	title := t.finding[k].Title
	if title == "" {
		title = k.Fault
	}
	if k.Subject.Name != "" && !strings.Contains(title, k.Subject.Name) {
		title += " (" + k.Subject.String() + ")"
	}
	return title
}

// ring draws a deadlock: each line holds up the next, the last the first.
func (t *text) ring(r fault.Root) {
	i := r.Deadlock - 1
	if i < 0 || i >= len(t.d.Deadlocks) {
		return
	}
	dead := t.d.Deadlocks[i]
	s := t.Style
	t.head(2, "Deadlock: each holds up the next, the last the first; waiting does not help")
	links := loop(t.d, dead)
	for i, l := range links {
		first, further := s.sign(ringSide), s.sign(ringSide)
		switch i {
		case 0:
			first = s.sign(ringTop)
		case len(links) - 1:
			first, further = s.sign(ringEnd), "    "
		}
		title := t.linkTitle(l)
		if l.fault == r.Fault && len(l.keys) == 1 {
			title = "the fault above"
		}
		t.lead(2, span{plain, first}, further, plain, title, 0)
	}
	if dead.Remedy != "" && !slices.Contains(r.Remedies, dead.Remedy) {
		t.lead(2, span{bold, "What opens it: "}, "  ", plain, t.remedyTitle(dead.Remedy), 0)
	}
}

// klogHeader is what klog writes before a message: severity, date, time, thread, place.
var klogHeader = regexp.MustCompile(`^[IWEF]\d{4} \d{2}:\d{2}:\d{2}\.\d+ +\d+ \S+\] `)

// excerpt is what an item shows. Of a log line the times and the place in the source
// are left out: where the line is stands below, and the message has the room.
func excerpt(item evidence.Item) string {
	text := item.Excerpt
	if item.Locator.Line == 0 {
		return text
	}
	at := item.Time
	if stamp, rest, ok := strings.Cut(text, " "); ok {
		if t, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
			at, text = t, rest
		}
	}
	text = klogHeader.ReplaceAllString(text, "")
	if at.IsZero() {
		return text
	}
	return clock(at) + " " + text
}

func (t *text) remedyTitle(id string) string {
	if r, ok := t.o.Remedies[id]; ok && r.Title != "" {
		return r.Title
	}
	return id
}

// ruledOut names the other causes of the same symptoms that are not there.
func (t *text) ruledOut(r fault.Root) {
	if len(r.RuledOut) == 0 {
		return
	}
	if !t.o.Wide {
		var ids []string
		for _, o := range r.RuledOut {
			ids = append(ids, o.Fault)
		}
		t.lead(2, span{bold, "Ruled out: "}, "  ", plain, some(ids, fewRuled)+" (why: -o wide)", 0)
		return
	}
	t.head(2, "Ruled out")
	for _, o := range r.RuledOut {
		line := o.Fault + ": not so that " + o.Title
		if o.Reason != "" {
			line += " (" + o.Reason + ")"
		}
		t.para(2, span{plain, "- "}, plain, line)
	}
}
