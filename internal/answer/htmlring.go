package answer

import (
	"fmt"

	"github.com/rollcall-project/rollcall/internal/answer/htmlgraph"
)

// drawRing draws a deadlock: boxes in two rows that run round with the clock, or
// one below the other with a line back where only one fits next to another.
func (t *text) drawRing(p causeGraph, perRow int) drawing {
	var list []shape
	for _, l := range p.ring {
		s := t.shape(box{links: []*link{l}}, false)
		s.Class = "ring"
		if l.fault == p.opens {
			s.Class = "ring root"
			s.Lines[0].Text = clip("BREAKS IT: "+l.fault, boxColumns+3)
		}
		list = append(list, s)
	}
	var d drawing
	if perRow < 2 || len(list) < 2 {
		d = column(list)
	} else {
		d = rounds(list)
	}
	frame := shape{W: d.W + 2*ringPad, H: d.H + ringHead + ringPad, Class: "frame"}
	heading := "DEADLOCK: each blocks the next, clockwise"
	if perRow < 2 {
		heading = "DEADLOCK: each blocks the next"
	}
	frame.Lines = []words{{ringPad, ringHead - 12, "tag", heading}}
	d.shift(ringPad, ringHead)
	d.Frames = []shape{frame}
	d.W, d.H = frame.W, frame.H
	return d
}

// column sets the ring's boxes one below the other; the way back runs at the left.
func column(list []shape) drawing {
	const back = 24.0
	d := drawing{W: boxWidth + back}
	for i, s := range list {
		if i > 0 {
			x := back + boxWidth/2
			d.Arrows = append(d.Arrows, straight(htmlgraph.Point{X: x, Y: d.H}, htmlgraph.Point{X: x, Y: d.H + ringGap})...)
			d.H += ringGap
		}
		s.move(back, d.H)
		d.Boxes = append(d.Boxes, s)
		d.H += s.H
	}
	if len(list) > 1 {
		last := d.Boxes[len(list)-1]
		from, to := last.Y+last.H/2, d.Boxes[0].Y+d.Boxes[0].H/2
		d.Arrows = append(d.Arrows, stroke{fmt.Sprintf("M %s %s L %s %s L %s %s L %s %s", num(back), num(from),
			num(4), num(from), num(4), num(to), num(back-6), num(to)), "certain"}, head(htmlgraph.Point{X: back, Y: to}, 1, 0))
	}
	return d
}

// rounds sets the first half of the ring in a row from left to right and the rest
// below it from right to left.
func rounds(list []shape) drawing {
	above := max((len(list)+1)/2, 2)
	var high [2]float64
	for i, s := range list {
		r := min(i/above, 1)
		high[r] = max(high[r], s.H)
	}
	d := drawing{W: float64(above)*(boxWidth+ringGap) - ringGap, H: high[0]}
	if high[1] > 0 {
		d.H += ringGap + high[1]
	}
	for i, s := range list {
		column, y := i, (high[0]-s.H)/2
		if i >= above {
			column, y = 2*above-1-i, high[0]+ringGap+(high[1]-s.H)/2
		}
		s.move(float64(column)*(boxWidth+ringGap), y)
		d.Boxes = append(d.Boxes, s)
	}
	if len(list) == 2 { // there and back next to each other
		a, b := d.Boxes[0], d.Boxes[1]
		y := high[0] / 2
		d.Arrows = append(straight(htmlgraph.Point{X: a.X + a.W, Y: y - 8}, htmlgraph.Point{X: b.X, Y: y - 8}),
			straight(htmlgraph.Point{X: b.X, Y: y + 8}, htmlgraph.Point{X: a.X + a.W, Y: y + 8})...)
		return d
	}
	for i, a := range d.Boxes {
		d.Arrows = append(d.Arrows, between(a, d.Boxes[(i+1)%len(list)])...)
	}
	return d
}

// between joins two boxes of a ring: side by side, one above the other, or round
// the corner.
func between(a, b shape) []stroke {
	ax, ay, bx, by := a.X+a.W/2, a.Y+a.H/2, b.X+b.W/2, b.Y+b.H/2
	sameRow := ay-by < ringGap && by-ay < ringGap && ax != bx
	switch {
	case sameRow && ax < bx:
		return straight(htmlgraph.Point{X: a.X + a.W, Y: ay}, htmlgraph.Point{X: b.X, Y: ay})
	case sameRow:
		return straight(htmlgraph.Point{X: a.X, Y: ay}, htmlgraph.Point{X: b.X + b.W, Y: ay})
	case ax == bx && ay < by:
		return straight(htmlgraph.Point{X: ax, Y: a.Y + a.H}, htmlgraph.Point{X: bx, Y: b.Y})
	case ax == bx:
		return straight(htmlgraph.Point{X: ax, Y: a.Y}, htmlgraph.Point{X: bx, Y: b.Y + b.H})
	}
	end := htmlgraph.Point{X: bx, Y: b.Y + b.H}
	return []stroke{{fmt.Sprintf("M %s %s L %s %s L %s %s", num(a.X), num(ay), num(bx), num(ay), num(bx), num(end.Y+6)), "certain"},
		head(end, 0, -1)}
}

// straight is an arrow along a row or a column.
func straight(a, b htmlgraph.Point) []stroke {
	dx, dy := sign1(b.X-a.X), sign1(b.Y-a.Y)
	return []stroke{{fmt.Sprintf("M %s %s L %s %s", num(a.X), num(a.Y), num(b.X-6*dx), num(b.Y-6*dy)), "certain"}, head(b, dx, dy)}
}

func sign1(f float64) float64 {
	switch {
	case f > 0:
		return 1
	case f < 0:
		return -1
	}
	return 0
}
