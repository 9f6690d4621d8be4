package answer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// WatchSize is the room that a frame has, and what is done meanwhile.
type WatchSize struct {
	Width, Height int
	Busy          string // what is being read now, or what was seen to change; "" for nothing
	Next          string // the command to type next; "" for none
}

// WatchScreen renders a view as the lines of one frame: never wider than the room, and one
// line fewer than its height, so that a terminal does not scroll.
func WatchScreen(v follow.View, now time.Time, size WatchSize, o Options) []string {
	s := &watchScreen{Style: o.Style, v: v, now: now, size: size}
	if v.Diagnosis == nil {
		return s.fitAll([]watchLine{{{bold, "rollcall watch"}}, {{dim, size.Busy}}})
	}
	s.t = newText(v.Diagnosis, o)
	sections := []watchSection{
		{lines: s.head(), least: 2},
		{lines: s.away(), least: 1},
		{lines: s.causes(), least: 2},
		{lines: s.hosts(), least: 3, more: "hosts"},
		{lines: s.changes(), least: 2, more: "earlier changes", headed: true},
		{lines: s.waiting(), more: "in progress", headed: true},
		{lines: s.left(), more: "to hold", headed: true},
		{lines: s.next(), least: 2},
	}
	return s.fitAll(s.share(sections))
}

// watchLine is one line before it is cut to the width.
type watchLine []span

// watchSection is a part of the frame. Where it has more lines than room its last one says
// how many are left out.
type watchSection struct {
	lines  []watchLine
	least  int    // lines that it gets before others get more
	more   string // what its lines are
	headed bool   // the first line is a heading, which is nothing alone
}

type watchScreen struct {
	Style
	v    follow.View
	t    *text
	now  time.Time
	size WatchSize
}

func (s *watchScreen) width() int { return max(s.size.Width, 20) }

// room is how many lines a frame has.
func (s *watchScreen) room() int { return max(s.size.Height-1, 3) }

// share gives each section its least, then the rest one line after the other, and blank
// lines between sections where all fit.
func (s *watchScreen) share(list []watchSection) []watchLine {
	list = slices.DeleteFunc(list, func(x watchSection) bool { return len(x.lines) == 0 })
	give := make([]int, len(list))
	left := s.room()
	grant := func(i, n int) {
		n = min(n, len(list[i].lines)-give[i], left)
		give[i] += n
		left -= n
	}
	if last := len(list) - 1; last >= 0 {
		grant(0, list[0].least)
		grant(last, list[last].least) // what to do is never left out
	}
	for i := range list {
		grant(i, list[i].least-give[i])
	}
	for again := true; again && left > 0; {
		again = false
		for i, section := range list {
			before := left
			switch {
			case !section.headed || give[i] > 0:
				grant(i, 1)
			case left > 1:
				grant(i, 2)
			}
			again = again || left < before
		}
	}
	for i, section := range list {
		if section.headed && give[i] == 1 {
			give[i] = 0
		}
	}
	shown := 0
	for _, n := range give {
		if n > 0 {
			shown++
		}
	}
	blanks := left >= shown-1
	var out []watchLine
	for i, section := range list {
		if give[i] == 0 {
			continue
		}
		if blanks && len(out) > 0 {
			out = append(out, nil)
		}
		lines := section.lines[:give[i]]
		if n := len(section.lines) - give[i]; n > 0 && section.more != "" && give[i] > 1 {
			lines = append(slices.Clone(lines[:give[i]-1]), watchLine{{dim, fmt.Sprintf("  and %d more %s", n+1, section.more)}})
		}
		out = append(out, lines...)
	}
	return out
}

// fitAll cleans, cuts and paints the lines.
func (s *watchScreen) fitAll(list []watchLine) []string {
	out := make([]string, 0, len(list))
	for _, line := range list[:min(len(list), s.room())] {
		var b strings.Builder
		left := s.width()
		for _, part := range line {
			text := s.clean(part.text)
			if length(text) > left {
				text = cut(text, left-length(s.sign(ellipsis))) + s.sign(ellipsis)
			}
			left -= length(text)
			b.WriteString(s.paint(part.paint, text))
			if left <= 0 {
				break
			}
		}
		out = append(out, b.String())
	}
	return out
}

// wrapped breaks a text into lines that begin with a lead and continue below it.
func (s *watchScreen) wrapped(lead span, style paint, text string, most int) []watchLine {
	n := length(lead.text)
	parts := wrap(s.clean(text), s.width()-n, s.width()-n)
	var out []watchLine
	for i, part := range parts {
		if i == most {
			break
		}
		if i == most-1 && len(parts) > most {
			part = strings.Join(parts[i:], " ") // fitAll cuts it
		}
		if i == 0 {
			out = append(out, watchLine{lead, {style, part}})
			continue
		}
		out = append(out, watchLine{{plain, strings.Repeat(" ", n)}, {style, part}})
	}
	return out
}

func (s *watchScreen) head() []watchLine {
	d := s.v.Diagnosis
	source := d.Source.Name
	if d.Cluster.Version != "" {
		source += s.sign(separator) + d.Cluster.Version
	}
	first := watchLine{{bold, "rollcall watch"}, {dim, s.sign(separator) + source + s.sign(separator) + "for " + s.ago(s.v.Started)}}
	if s.size.Busy != "" {
		first = append(first, span{dim, s.sign(separator) + s.size.Busy})
	}
	h := headlineOf(d)
	words := fmt.Sprintf("%s %d of %s joined", s.sign(h.sign), s.v.Joined, count(s.v.Expected, "host has", "hosts have"))
	if s.v.Expected == 0 {
		words = s.sign(h.sign) + " no expected host is known yet"
	}
	about := h.words
	if !s.v.AwaySince.IsZero() { // what was found before may have changed
		h = headline{signOpen, yellow, "CANNOT CHECK"}
		words, about = s.sign(h.sign)+words[len(s.sign(headlineOf(d).sign)):], h.words
	} else if d.Verdict.Class == diagnosis.Settling {
		about = fmt.Sprintf("in progress, expected for %s more", s.until(d.Verdict.Until))
	}
	return []watchLine{first, {{h.paint, words}, {plain, "; "}, {h.paint, about}}}
}

// away says since when the API does not answer, and of when the rest is.
func (s *watchScreen) away() []watchLine {
	if s.v.AwaySince.IsZero() {
		return nil
	}
	text := "the API is unreachable for " + s.ago(s.v.AwaySince)
	switch {
	case s.v.Reached:
		text += "; what follows is " + s.ago(s.v.SeenAt) + " old"
	default:
		text = "the API does not answer yet, for " + s.ago(s.v.AwaySince)
	}
	if s.v.AwayWhy != "" {
		text += ": " + s.v.AwayWhy
	}
	return s.wrapped(span{yellow, s.sign(signWarn) + " "}, plain, text, 3)
}

func (s *watchScreen) causes() []watchLine {
	var out []watchLine
	for _, c := range s.v.Causes {
		mark, style := signBad, red
		if c.Severity != fault.Error {
			mark, style = signWarn, yellow
		}
		out = append(out, s.wrapped(span{style, s.sign(mark) + " cause: "}, plain, s.t.brief(c.Title)+alsoAt(c), 2)...)
	}
	for _, c := range s.v.Symptoms {
		out = append(out, s.wrapped(span{yellow, s.sign(signOpen) + " cause unknown: "}, plain, s.t.brief(c.Title)+alsoAt(c), 2)...)
	}
	return out
}

func alsoAt(c follow.Cause) string {
	if n := len(c.Subjects) - 1; n > 0 {
		return fmt.Sprintf(" (and at %d more)", n)
	}
	return ""
}

// hosts lists the hosts that have not joined, and counts the others.
func (s *watchScreen) hosts() []watchLine {
	var out []watchLine
	narrow := s.width() < 64
	if len(s.v.Hosts) > 0 {
		head := []string{"HOST", "ROLE", "STAGE", "STATE", "FOR"}
		rows := make([][]string, 0, len(s.v.Hosts))
		for _, h := range s.v.Hosts {
			rows = append(rows, s.hostCells(h, narrow))
		}
		if narrow {
			head = []string{"HOST", "STAGE", "FOR"}
		}
		width := make([]int, len(head))
		for i := range head {
			width[i] = length(head[i])
			for _, r := range rows {
				width[i] = max(width[i], length(r[i]))
			}
		}
		if narrow {
			width[0] = min(width[0], max(8, s.width()-2-(width[1]+width[2]+4)))
		} else {
			width[0] = min(width[0], max(12, s.width()-2-(width[1]+width[2]+width[3]+width[4]+8)))
		}
		title := "  " + columns(head, width)
		if !narrow {
			title += "USUAL"
		}
		out = append(out, watchLine{{bold, strings.TrimRight(title, " ")}})
		for i, h := range s.v.Hosts {
			mark := stateSigns[h.Step.State]
			cells := slices.Clone(rows[i])
			if length(cells[0]) > width[0] {
				cells[0] = cut(cells[0], width[0]-length(s.sign(ellipsis))) + s.sign(ellipsis)
			}
			row, usual := fmt.Sprintf("%-2s", s.sign(mark.sign))+columns(cells, width), ""
			if !narrow {
				usual = s.usual(h)
			}
			if usual == "" {
				row = strings.TrimRight(row, " ")
			}
			out = append(out, watchLine{{mark.paint, row}, {dim, usual}})
		}
	}
	if n := s.v.Joined; n > 0 {
		var roles []string
		for role := range s.v.JoinedByRole {
			roles = append(roles, role)
		}
		slices.Sort(roles)
		for i, role := range roles {
			word := role
			if word == "" {
				word = "without a role"
			}
			roles[i] = fmt.Sprintf("%d %s", s.v.JoinedByRole[role], word)
		}
		out = append(out, watchLine{{green, fmt.Sprintf("%-2s", s.sign(signGood))}, {plain, count(n, "host has", "hosts have") + " joined"},
			{dim, " (" + strings.Join(roles, ", ") + ")"}})
	}
	return out
}

func (s *watchScreen) hostCells(h follow.HostLine, narrow bool) []string {
	lasts := "-"
	if !h.Since.IsZero() {
		lasts = s.ago(h.Since)
	}
	role, stage := h.Role, string(h.Step.Stage)
	if role == "" {
		role = "-"
	}
	if h.Bootstrap {
		stage = "-"
	}
	if narrow {
		return []string{s.clean(h.Name), stage, lasts}
	}
	return []string{s.clean(h.Name), s.clean(role), stage, string(h.Step.State), lasts}
}

// usual says how long the stage took before, and where.
func (s *watchScreen) usual(h follow.HostLine) string {
	if h.Usual == nil {
		return ""
	}
	text := fault.Span(h.Usual.Min)
	if h.Usual.Max-h.Usual.Min >= time.Second {
		text += " to " + fault.Span(h.Usual.Max)
	}
	if h.Usual.Source != "" {
		return text + " (" + h.Usual.Source + ")"
	}
	return text + " (" + count(h.Usual.Hosts, "host", "hosts") + " here)"
}

// changes lists what was reported, the newest first.
func (s *watchScreen) changes() []watchLine {
	var out []watchLine
	for _, e := range slices.Backward(s.v.Changes) {
		if e.Type == follow.Started {
			continue
		}
		out = append(out, watchLine{{dim, "  " + fmt.Sprintf("%-7s", s.ago(e.Time)+" ago")}, {plain, " " + s.t.brief(e.Text)}})
	}
	if len(out) > 0 {
		out = append([]watchLine{{{bold, "Changed"}}}, out...)
	}
	return out
}

func (s *watchScreen) waiting() []watchLine {
	var out []watchLine
	for _, w := range s.v.Waiting {
		title := s.t.brief(w.Title)
		if w.Subjects > 1 {
			title += fmt.Sprintf(" (and %d more)", w.Subjects-1)
		}
		out = append(out, watchLine{{yellow, s.sign(signWait) + " "}, {dim, "in " + s.until(w.Until) + " a fault: "}, {plain, title}})
	}
	if len(out) > 0 {
		out = append([]watchLine{{{bold, "In progress"}}}, out...)
	}
	return out
}

// left lists the indicators that do not hold yet.
func (s *watchScreen) left() []watchLine {
	var out []watchLine
	for _, i := range s.v.Indicators {
		if i.Holds() {
			continue
		}
		out = append(out, s.indicator(i))
	}
	if len(out) > 0 {
		out = append([]watchLine{{{bold, "Left until " + string(s.v.Goal)}}}, out...)
	}
	return out
}

func (s *watchScreen) indicator(i after.Indicator) watchLine {
	mark := indicatorSigns[i.Outcome]
	style, text := mark.paint, s.indicatorSign(i)
	if i.Outcome == fault.Absent { // it is waited for
		style, text = yellow, s.sign(signWait)
	}
	line := watchLine{{style, text + " "}, {plain, i.Title}}
	if i.Reason != "" {
		line = append(line, span{dim, ": " + s.t.brief(i.Reason)})
	}
	return line
}

func (s *watchScreen) next() []watchLine {
	if s.size.Next == "" {
		return nil
	}
	return s.wrapped(span{bold, "Next: "}, cyan, s.size.Next, 3)
}

func (s *watchScreen) ago(t time.Time) string { return fault.Span(max(s.now.Sub(t), 0)) }

func (s *watchScreen) until(t time.Time) string { return fault.Span(max(t.Sub(s.now), 0)) }
