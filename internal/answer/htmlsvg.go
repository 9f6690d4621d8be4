package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer/htmlgraph"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Sizes in a picture, in pixels. A character is taken for wide, so that text of any
// common font stays inside of its box.
const (
	boxWidth   = 262.0
	boxPad     = 13.0
	boxColumns = 33
	lineHigh   = 17.0
	ringGap    = 40.0
	ringPad    = 22.0
	ringHead   = 34.0
	boxLines   = 7
)

// drawing is a picture ready to be written: the template only fills it in.
type drawing struct {
	W, H   float64
	About  string // what it shows, for who does not see it
	Frames []shape
	Boxes  []shape
	Arrows []stroke
	Marks  []words // text outside of boxes
	Class  string
	Kind   string // what it is a picture of: chain, time
}

type shape struct {
	X, Y, W, H float64
	Class      string
	Title      string
	Lines      []words
}

// words is a line of text at a place.
type words struct {
	X, Y  float64
	Class string
	Text  string
}

type stroke struct{ D, Class string }

// draw lays a chain out with at most perRow boxes next to each other.
func (t *text) draw(p causeGraph, perRow int) drawing {
	about := "What the cause leads to, from the top down. The same in words follows."
	d := drawing{About: about, Kind: "chain"}
	nodes := make([]htmlgraph.Node, len(p.boxes))
	shapes := make([]shape, len(p.boxes))
	for i, b := range p.boxes {
		shapes[i] = t.shape(b, i == 0)
		nodes[i] = htmlgraph.Node{W: shapes[i].W, H: shapes[i].H}
	}
	var ring drawing
	if p.ring != nil {
		ring = t.drawRing(p, perRow)
		nodes[0] = htmlgraph.Node{W: ring.W, H: ring.H}
		d.About = "A deadlock as a ring: each box blocks the next. Its effects are below. The same in words follows."
	}
	edges := make([]htmlgraph.Edge, len(p.arrows))
	for i, a := range p.arrows {
		edges[i] = htmlgraph.Edge{From: a.from, To: a.to}
	}
	d.W, d.H = htmlgraph.Layout(nodes, edges, perRow)
	for i, s := range shapes {
		if i == 0 && p.ring != nil {
			d.Frames, d.Boxes, d.Arrows = ring.Frames, ring.Boxes, ring.Arrows
			d.shift(nodes[0].X, nodes[0].Y)
			continue
		}
		s.move(nodes[i].X, nodes[i].Y)
		d.Boxes = append(d.Boxes, s)
	}
	for i, e := range edges {
		d.Arrows = append(d.Arrows, curve(e.Path, strengthClass(p.arrows[i].strength))...)
	}
	return d
}

func strengthClass(s fault.Strength) string {
	switch s {
	case fault.LikelyEdge:
		return "likely"
	case fault.PossibleEdge:
		return "possible"
	}
	return "certain"
}

// shape writes a box at the origin.
func (t *text) shape(b box, root bool) shape {
	s := shape{W: boxWidth, Class: "symptom"}
	switch {
	case b.more > 0:
		s.Class = "rest"
		s.add("text", "and "+page.Count(b.more, "more fault", "more faults")+": in words below")
	case len(b.links) > 1:
		s.Class = "symptom many"
		s.add("tag", page.Count(len(b.links), "symptom", "symptoms"))
		var titles []string
		for i, l := range b.links {
			title := t.linkTitle(l)
			titles = append(titles, title)
			if i == maxListed {
				s.add("text", fmt.Sprintf("and %d more", len(b.links)-i))
			}
			if i < maxListed {
				s.wrap("text", "– "+title, 3)
			}
		}
		s.Title = strings.Join(titles, "; ")
	default:
		l := b.links[0]
		tag := l.fault
		if root {
			s.Class, tag = "root", "CAUSE: "+tag
		}
		s.Title = t.linkTitle(l)
		s.add("tag", tag)
		s.wrap("text", s.Title, boxLines)
	}
	s.H += boxPad
	return s
}

// add writes one line below those that are there.
func (s *shape) add(class, text string) {
	if s.H == 0 {
		s.H = boxPad / 2
	}
	s.H += lineHigh
	if class == "tag" {
		text = clip(text, boxColumns+3)
	}
	s.Lines = append(s.Lines, words{boxPad, s.H, class, text})
}

func (s *shape) wrap(class, text string, limit int) {
	for _, l := range breakText(page.Style{}.Clean(text), boxColumns, limit) {
		s.add(class, l)
	}
}

func (s *shape) move(x, y float64) {
	s.X, s.Y = s.X+x, s.Y+y
	for i := range s.Lines {
		s.Lines[i].X += x
		s.Lines[i].Y += y
	}
}

// shift moves what has been drawn so far. Strokes hold their place in a group.
func (d *drawing) shift(x, y float64) {
	for _, list := range [][]shape{d.Frames, d.Boxes} {
		for i := range list {
			list[i].move(x, y)
		}
	}
	if x == 0 && y == 0 {
		return
	}
	for i := range d.Arrows {
		d.Arrows[i].D = moved(d.Arrows[i].D, x, y)
	}
}

// moved shifts a path that is made of absolute "M x y" and "L x y" only.
func moved(path string, x, y float64) string {
	fields := strings.Fields(path)
	for i := 0; i+2 < len(fields); i += 3 {
		var px, py float64
		if _, err := fmt.Sscan(fields[i+1]+" "+fields[i+2], &px, &py); err != nil {
			return path
		}
		fields[i+1], fields[i+2] = num(px+x), num(py+y)
	}
	return strings.Join(fields, " ")
}

func num(f float64) string { return fmt.Sprintf("%g", math.Round(f*10)/10) }

// curve draws an edge with its head.
func curve(path []htmlgraph.Point, class string) []stroke {
	if len(path) < 2 {
		return nil
	}
	var b strings.Builder
	end := path[len(path)-1]
	down := 1.0
	if path[len(path)-2].Y > end.Y {
		down = -1
	}
	fmt.Fprintf(&b, "M %s %s", num(path[0].X), num(path[0].Y))
	for i := 1; i < len(path); i++ {
		a, z := path[i-1], path[i]
		if i == len(path)-1 {
			z.Y -= 6 * down
		}
		if i%2 == 0 {
			fmt.Fprintf(&b, " L %s %s", num(z.X), num(z.Y))
			continue
		}
		half := (a.Y + z.Y) / 2
		fmt.Fprintf(&b, " C %s %s %s %s %s %s", num(a.X), num(half), num(z.X), num(half), num(z.X), num(z.Y))
	}
	return []stroke{{b.String(), class}, head(end, 0, down)}
}

// head is the point of an arrow that ends at p in a direction.
func head(p htmlgraph.Point, dx, dy float64) stroke {
	bx, by := p.X-9*dx, p.Y-9*dy
	return stroke{fmt.Sprintf("M %s %s L %s %s L %s %s", num(p.X), num(p.Y),
		num(bx-4.5*dy), num(by+4.5*dx), num(bx+4.5*dy), num(by-4.5*dx)), "head"}
}

// clip cuts a line that does not fit; its title has it whole.
func clip(text string, columns int) string {
	r := []rune(page.Style{}.Clean(text))
	if len(r) <= columns {
		return string(r)
	}
	return string(r[:columns-1]) + "…"
}

// breakText breaks text at blanks, and words that are longer than a line at its
// end. The last of at most limit lines ends with an ellipsis where text is left.
func breakText(text string, columns, limit int) []string {
	var lines []string
	line := []rune{}
	for _, word := range strings.Fields(text) {
		w := []rune(word)
		if len(line) > 0 && columnsOf(line)+1+columnsOf(w) <= columns {
			line = append(append(line, ' '), w...)
			continue
		}
		if len(line) > 0 {
			lines = append(lines, string(line))
		}
		for columnsOf(w) > columns {
			n := cutAt(w, columns)
			lines, w = append(lines, string(w[:n])), w[n:]
		}
		line = slices.Clone(w)
	}
	lines = append(lines, string(line))
	if len(lines) > limit {
		lines = lines[:limit]
		last := []rune(lines[limit-1])
		for len(last) > 0 && columnsOf(last) > columns-1 {
			last = last[:len(last)-1]
		}
		lines[limit-1] = string(last) + "…"
	}
	return lines
}

// cutAt is how many characters of a long word continue one line, better behind a sign
// than inside of a name.
func cutAt(w []rune, columns int) int {
	n := 1
	for n < len(w) && columnsOf(w[:n+1]) <= columns {
		n++
	}
	for i := n; i > n/2; i-- {
		if strings.ContainsRune("-./:=,_@", w[i-1]) {
			return i
		}
	}
	return n
}

// columnsOf counts characters beyond the Latin, Greek and Cyrillic ones twice:
// most of them are wide.
func columnsOf(r []rune) int {
	n := 0
	for _, c := range r {
		if n++; c >= 0x1100 {
			n++
		}
	}
	return n
}
