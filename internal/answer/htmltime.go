package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

const (
	maxRows   = 12   // subjects with a row of their own
	timeRow   = 34.0 // height of a row
	timeHead  = 8.0
	timeFoot  = 30.0
	timeSides = 10.0
)

// moments returns the timeline, oldest first.
func (t *text) moments() []diagnosis.Moment {
	list := slices.Clone(t.d.Timeline)
	slices.SortStableFunc(list, func(a, b diagnosis.Moment) int { return a.Time.Compare(b.Time) })
	return list
}

// axis turns a time into a place. Where most of what happened lies in a small part
// of the whole, equal steps are equal factors of the age.
type axis struct {
	now, from time.Time
	width     float64
	factors   bool
}

func newAxis(list []diagnosis.Moment, now time.Time, width float64) axis {
	a := axis{now: now, from: list[0].Time, width: width}
	for _, m := range list {
		if m.Time.After(a.now) {
			a.now = m.Time // clocks differ
		}
	}
	if !a.from.Before(a.now) {
		a.from = a.now.Add(-time.Minute)
	}
	late := 0
	for _, m := range list {
		if a.now.Sub(m.Time) < a.now.Sub(a.from)/10 {
			late++
		}
	}
	a.factors = late*2 > len(list) && a.now.Sub(a.from) > 2*time.Hour
	return a
}

func (a axis) at(when time.Time) float64 {
	whole, old := a.now.Sub(a.from).Seconds(), a.now.Sub(when).Seconds()
	part := old / whole
	if a.factors {
		part = math.Log1p(old/60) / math.Log1p(whole/60)
	}
	return timeSides + (1-part)*(a.width-2*timeSides)
}

var steps = []time.Duration{
	time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
	12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour, 90 * 24 * time.Hour, 365 * 24 * time.Hour,
	5 * 365 * 24 * time.Hour,
}

// ticks are ages with room for their names between them, the present first.
func (a axis) ticks() []time.Duration {
	list := []time.Duration{0}
	last := a.at(a.now)
	whole := a.now.Sub(a.from)
	place := func(age time.Duration) {
		x := a.at(a.now.Add(-age))
		if age <= whole && last-x >= 64 && x >= 30 {
			list, last = append(list, age), x
		}
	}
	if a.factors {
		for _, s := range steps {
			place(s)
		}
		return list
	}
	for _, s := range steps {
		if whole/s > 10 && s != steps[len(steps)-1] {
			continue
		}
		for age := s; age > 0 && age <= whole; age += s { // the longest Duration is followed by negative ones
			place(age)
		}
		break
	}
	return list
}

// drawTimeline draws when things began: a row for each subject, the present at the right.
func (t *text) drawTimeline(list []diagnosis.Moment, width float64) drawing {
	a := newAxis(list, t.d.Now, width)
	d := drawing{W: width, Kind: "time", About: "When what began, a row for each subject, the present at the right. The list below has the same."}
	rows, names := timeRows(list)
	d.H = timeHead + float64(len(names))*timeRow + timeFoot
	bottom := d.H - timeFoot
	for _, age := range a.ticks() {
		x, class, name := a.at(a.now.Add(-age)), "tick mid", ageName(age)
		if age == 0 {
			class, name = "tick end", "now"
		}
		d.Arrows = append(d.Arrows, stroke{fmt.Sprintf("M %s %s L %s %s", num(x), num(0), num(x), num(bottom+4)), "grid"})
		d.Marks = append(d.Marks, words{x, bottom + 18, class, name})
	}
	for i, name := range names {
		y := timeHead + float64(i)*timeRow + 24
		d.Arrows = append(d.Arrows, stroke{fmt.Sprintf("M %s %s L %s %s", num(timeSides), num(y), num(width-timeSides), num(y)), "rail"})
		d.Marks = append(d.Marks, words{timeSides, y - 8, "lane", clip(name, int(width/8))})
	}
	for i, m := range list {
		x, y := a.at(m.Time), timeHead+float64(rows[i])*timeRow+24
		d.Boxes = append(d.Boxes, shape{X: x - 4.5, Y: y - 4.5, W: 9, H: 9, Class: "dot",
			Title: page.Clock(m.Time) + " " + m.Subject.String() + ": " + m.Text})
	}
	if a.factors {
		d.Class = "factors"
	}
	return d
}

// ageName is a round age.
func ageName(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{365 * 24 * time.Hour, "y"}, {24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.unit && d%u.unit == 0 {
			return fmt.Sprintf("%d%s ago", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%ds ago", d/time.Second)
}

// timeRows gives each subject a row, the ones that began first above; of many
// subjects the ones with the fewest moments share the last row.
func timeRows(list []diagnosis.Moment) (rows []int, names []string) {
	count := map[fault.Subject]int{}
	var order []fault.Subject
	for _, m := range list {
		if count[m.Subject] == 0 {
			order = append(order, m.Subject)
		}
		count[m.Subject]++
	}
	own := slices.Clone(order)
	if len(own) > maxRows {
		slices.SortStableFunc(own, func(a, b fault.Subject) int { return cmp.Compare(count[b], count[a]) })
		own = own[:maxRows-1]
	}
	row := map[fault.Subject]int{}
	for _, s := range order {
		if slices.Contains(own, s) {
			row[s] = len(names)
			names = append(names, s.String())
		}
	}
	if len(own) < len(order) {
		for _, s := range order {
			if !slices.Contains(own, s) {
				row[s] = len(names)
			}
		}
		names = append(names, fmt.Sprintf("%d more", len(order)-len(own)))
	}
	for _, m := range list {
		rows = append(rows, row[m.Subject])
	}
	return rows, names
}
