// Package screen prints a watch: one frame of a terminal, one line for each change, and the end. It
// computes nothing: what it prints is in a view, an event or an end of internal/follow.
//
// Invariants:
//   - A frame is never wider than the terminal, and one line lower, so that it does not scroll.
//   - What to do next is never left out of a frame that has room for it.
//   - What a cluster names is foreign: control characters never reach the terminal.
package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Size is the room that a frame has, and what is done meanwhile.
type Size struct {
	Width, Height int
	Busy          string // what is being read now, or what was seen to change; "" for nothing
	Next          string // the command to type next; "" for none
}

// Frame renders a view as the lines of one frame: never wider than the room, and one
// line fewer than its height, so that a terminal does not scroll.
func Frame(v follow.View, now time.Time, size Size, o answer.Options) []string {
	s := &frame{Style: o.Style, v: v, o: o, now: now, size: size}
	if v.Diagnosis == nil {
		return s.fitAll([]line{{page.Bold.Span("rollcall watch")}, {page.Dim.Span(size.Busy)}})
	}
	sections := []section{
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

// line is one line before it is cut to the width.
type line []page.Span

// section is a part of the frame. Where it has more lines than room its last one says
// how many are left out.
type section struct {
	lines  []line
	least  int    // lines that it gets before others get more
	more   string // what its lines are
	headed bool   // the first line is a heading, which is nothing alone
}

type frame struct {
	page.Style
	v    follow.View
	o    answer.Options
	now  time.Time
	size Size
}

func (s *frame) width() int { return max(s.size.Width, 20) }

// room is how many lines a frame has.
func (s *frame) room() int { return max(s.size.Height-1, 3) }

// share gives each section its least, then the rest one line after the other, and blank
// lines between sections where all fit.
func (s *frame) share(list []section) []line {
	list = slices.DeleteFunc(list, func(x section) bool { return len(x.lines) == 0 })
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
	var out []line
	for i, section := range list {
		if give[i] == 0 {
			continue
		}
		if blanks && len(out) > 0 {
			out = append(out, nil)
		}
		lines := section.lines[:give[i]]
		if n := len(section.lines) - give[i]; n > 0 && section.more != "" && give[i] > 1 {
			lines = append(slices.Clone(lines[:give[i]-1]), line{page.Dim.Span(fmt.Sprintf("  and %d more %s", n+1, section.more))})
		}
		out = append(out, lines...)
	}
	return out
}

// fitAll cleans, cuts and paints the lines.
func (s *frame) fitAll(list []line) []string {
	out := make([]string, 0, len(list))
	for _, line := range list[:min(len(list), s.room())] {
		var b strings.Builder
		left := s.width()
		for _, part := range line {
			text := s.Clean(part.Text)
			text = s.Shorten(text, left)
			left -= page.Length(text)
			b.WriteString(s.Paint(part.Paint, text))
			if left <= 0 {
				break
			}
		}
		out = append(out, b.String())
	}
	return out
}

// wrapped breaks a text into lines that begin with a lead and continue below it.
func (s *frame) wrapped(lead page.Span, style page.Paint, text string, most int) []line {
	n := page.Length(lead.Text)
	parts := page.Break(s.Clean(text), s.width()-n, s.width()-n)
	var out []line
	for i, part := range parts {
		if i == most {
			break
		}
		if i == most-1 && len(parts) > most {
			part = strings.Join(parts[i:], " ") // fitAll cuts it
		}
		if i == 0 {
			out = append(out, line{lead, style.Span(part)})
			continue
		}
		out = append(out, line{page.Plain.Span(strings.Repeat(" ", n)), style.Span(part)})
	}
	return out
}

func (s *frame) head() []line {
	d := s.v.Diagnosis
	source := d.Source.Name
	if d.Cluster.Version != "" {
		source += s.Sign(page.Separator) + d.Cluster.Version
	}
	first := line{page.Bold.Span("rollcall watch"), page.Dim.Span(s.Sign(page.Separator) + source + s.Sign(page.Separator) + "for " + s.ago(s.v.Started))}
	if s.size.Busy != "" {
		first = append(first, page.Dim.Span(s.Sign(page.Separator)+s.size.Busy))
	}
	h := answer.HeadlineOf(d)
	words := fmt.Sprintf("%s %d of %s joined", s.Sign(h.Sign), s.v.Joined, page.Count(s.v.Expected, "host has", "hosts have"))
	if s.v.Expected == 0 {
		words = s.Sign(h.Sign) + " no expected host is known yet"
	}
	about := h.Words
	if !s.v.AwaySince.IsZero() { // what was found before may have changed
		h = answer.Headline{Sign: page.Open, Paint: page.Yellow, Words: "CANNOT CHECK"}
		words, about = s.Sign(h.Sign)+words[len(s.Sign(answer.HeadlineOf(d).Sign)):], h.Words
	} else if d.Verdict.Class == diagnosis.Settling {
		about = fmt.Sprintf("in progress, expected for %s more", s.until(d.Verdict.Until))
	}
	return []line{first, {h.Paint.Span(words), page.Plain.Span("; "), h.Paint.Span(about)}}
}

// away says since when the API does not answer, and of when the rest is.
func (s *frame) away() []line {
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
	return s.wrapped(page.Yellow.Span(s.Sign(page.Warn)+" "), page.Plain, text, 3)
}

func (s *frame) causes() []line {
	var out []line
	for _, c := range s.v.Causes {
		mark, style := page.Bad, page.Red
		if c.Severity != fault.Error {
			mark, style = page.Warn, page.Yellow
		}
		out = append(out, s.wrapped(style.Span(s.Sign(mark)+" cause: "), page.Plain, s.o.Brief(c.Title)+alsoAt(c), 2)...)
	}
	for _, c := range s.v.Symptoms {
		out = append(out, s.wrapped(page.Yellow.Span(s.Sign(page.Open)+" cause unknown: "), page.Plain, s.o.Brief(c.Title)+alsoAt(c), 2)...)
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
func (s *frame) hosts() []line {
	var out []line
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
			width[i] = page.Length(head[i])
			for _, r := range rows {
				width[i] = max(width[i], page.Length(r[i]))
			}
		}
		if narrow {
			width[0] = min(width[0], max(8, s.width()-2-(width[1]+width[2]+4)))
		} else {
			width[0] = min(width[0], max(12, s.width()-2-(width[1]+width[2]+width[3]+width[4]+8)))
		}
		title := "  " + page.Columns(head, width)
		if !narrow {
			title += "USUAL"
		}
		out = append(out, line{page.Bold.Span(strings.TrimRight(title, " "))})
		for i, h := range s.v.Hosts {
			mark := answer.StageMark(h.Step.State)
			cells := slices.Clone(rows[i])
			cells[0] = s.Shorten(cells[0], width[0])
			row, usual := fmt.Sprintf("%-2s", s.Sign(mark.Sign))+page.Columns(cells, width), ""
			if !narrow {
				usual = s.usual(h)
			}
			if usual == "" {
				row = strings.TrimRight(row, " ")
			}
			out = append(out, line{mark.Paint.Span(row), page.Dim.Span(usual)})
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
		out = append(out, line{page.Green.Span(fmt.Sprintf("%-2s", s.Sign(page.Good))), page.Plain.Span(page.Count(n, "host has", "hosts have") + " joined"),
			page.Dim.Span(" (" + strings.Join(roles, ", ") + ")")})
	}
	return out
}

func (s *frame) hostCells(h follow.HostLine, narrow bool) []string {
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
		return []string{s.Clean(h.Name), stage, lasts}
	}
	return []string{s.Clean(h.Name), s.Clean(role), stage, string(h.Step.State), lasts}
}

// usual says how long the stage took before, and where.
func (s *frame) usual(h follow.HostLine) string {
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
	return text + " (" + page.Count(h.Usual.Hosts, "host", "hosts") + " here)"
}

// changes lists what was reported, the newest first.
func (s *frame) changes() []line {
	var out []line
	for _, e := range slices.Backward(s.v.Changes) {
		if e.Type == follow.Started {
			continue
		}
		out = append(out, line{page.Dim.Span("  " + fmt.Sprintf("%-7s", s.ago(e.Time)+" ago")), page.Plain.Span(" " + s.o.Brief(e.Text))})
	}
	if len(out) > 0 {
		out = append([]line{{page.Bold.Span("Changed")}}, out...)
	}
	return out
}

func (s *frame) waiting() []line {
	var out []line
	for _, w := range s.v.Waiting {
		title := s.o.Brief(w.Title)
		if w.Subjects > 1 {
			title += fmt.Sprintf(" (and %d more)", w.Subjects-1)
		}
		out = append(out, line{page.Yellow.Span(s.Sign(page.Wait) + " "), page.Dim.Span("in " + s.until(w.Until) + " a fault: "), page.Plain.Span(title)})
	}
	if len(out) > 0 {
		out = append([]line{{page.Bold.Span("In progress")}}, out...)
	}
	return out
}

// left lists the indicators that do not hold yet.
func (s *frame) left() []line {
	var out []line
	for _, i := range s.v.Indicators {
		if i.Holds() {
			continue
		}
		out = append(out, s.indicator(i))
	}
	if len(out) > 0 {
		out = append([]line{{page.Bold.Span("Left until " + string(s.v.Goal))}}, out...)
	}
	return out
}

func (s *frame) indicator(i after.Indicator) line {
	mark := i.Mark(s.Style)
	if i.Outcome == fault.Absent { // it is waited for
		mark = page.Yellow.Span(s.Sign(page.Wait))
	}
	out := line{mark.Paint.Span(mark.Text + " "), page.Plain.Span(i.Title)}
	if i.Reason != "" {
		out = append(out, page.Dim.Span(": "+s.o.Brief(i.Reason)))
	}
	return out
}

func (s *frame) next() []line {
	if s.size.Next == "" {
		return nil
	}
	return s.wrapped(page.Bold.Span("Next: "), page.Cyan, s.size.Next, 3)
}

func (s *frame) ago(t time.Time) string { return fault.Span(max(s.now.Sub(t), 0)) }

func (s *frame) until(t time.Time) string { return fault.Span(max(t.Sub(s.now), 0)) }
