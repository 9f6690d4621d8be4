package answer

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// mostColumns is how many machines stand side by side; more are listed by what they have.
const mostColumns = 4

// widestColumn is the most that a column has; longer values are listed below one another.
const widestColumn = 56

// machines writes the masters side by side: what differs, and with -o wide all of it.
func (t *text) machines() {
	m := t.d.Machines
	if m == nil || len(m.Hosts) == 0 {
		return
	}
	var rows []diagnosis.MachineRow
	differ, compared := countDiffering(m.Rows)
	for _, r := range m.Rows {
		if t.o.Wide || r.Differs {
			rows = append(rows, r)
		}
	}
	t.Blank()
	head := machinesHead(differ, compared)
	if len(m.Hosts) == 1 {
		head = "As its BMC shows " + m.Hosts[0]
	}
	t.Lead(0, page.Bold.Span(head), "", page.Plain, "", 0)
	if len(rows) > 0 {
		t.machineRows(m, rows)
	}
	if differ < len(m.Rows) && !t.o.Wide {
		t.Line(2, page.Dim.Span("all properties: -o wide"))
	}
	for _, u := range m.Unread {
		t.Lead(2, page.Yellow.Span(u.Host+": "), "  ", page.Plain, u.Reason, 0)
	}
}

// countDiffering counts the properties that differ, and those that are compared.
func countDiffering(rows []diagnosis.MachineRow) (differ, compared int) {
	for _, r := range rows {
		if r.Differs {
			differ++
		}
		if !r.Own {
			compared++
		}
	}
	return differ, compared
}

func machinesHead(differ, compared int) string {
	return fmt.Sprintf("Masters side by side, as their BMCs show them: %d of %d properties differ", differ, compared)
}

func (t *text) machineRows(m *diagnosis.Machines, rows []diagnosis.MachineRow) {
	name := 0
	for _, r := range rows {
		name = max(name, page.Length(r.Property))
	}
	list := func(r diagnosis.MachineRow, paint page.Paint) {
		t.Lead(2, paint.Span(pad(r.Property, name)+"  "), strings.Repeat(" ", name+2), paint, strings.Join(grouped(m.Hosts, r.Values), "; "), 0)
	}
	if len(m.Hosts) > mostColumns {
		for _, r := range rows {
			list(r, page.Plain)
		}
		return
	}
	width := max(8, min(widest(m.Hosts, rows), (t.Room()-2-name)/len(m.Hosts)-2, widestColumn))
	cells := func(first string, values []string) string {
		line := pad(first, name)
		for _, v := range values {
			line += "  " + pad(cell(v, width), width)
		}
		return strings.TrimRight(line, " ")
	}
	t.Line(2, page.Dim.Span(cells("", m.Hosts)))
	for _, r := range rows {
		paint := page.Plain
		if r.Differs {
			paint = page.Yellow
		}
		if longest(r.Values) > width { // cut, two values can look alike
			list(r, paint)
		} else {
			t.Line(2, paint.Span(cells(r.Property, r.Values)))
		}
		if r.Differs && r.Matters != "" {
			t.Para(4, page.Span{}, page.Dim, r.Matters)
		}
	}
}

// widest is the length of the longest cell.
func widest(hosts []string, rows []diagnosis.MachineRow) int {
	n := 0
	for _, h := range hosts {
		n = max(n, page.Length(h))
	}
	for _, r := range rows {
		if l := longest(r.Values); l <= widestColumn {
			n = max(n, l)
		}
	}
	return n
}

func longest(values []string) int {
	n := 0
	for _, v := range values {
		n = max(n, page.Length(v))
	}
	return n
}

// grouped writes each value once, with the machines that have it.
func grouped(hosts, values []string) []string {
	var order []string
	have := map[string][]string{}
	for i, v := range values {
		if v == "" {
			v = "?"
		}
		if have[v] == nil {
			order = append(order, v)
		}
		have[v] = append(have[v], hosts[i])
	}
	var out []string
	for _, v := range order {
		names := have[v]
		text := strings.Join(names[:min(3, len(names))], ", ")
		if n := len(names) - 3; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		out = append(out, v+" ("+text+")")
	}
	return out
}

// cell is a value in a column.
func cell(v string, width int) string {
	switch {
	case v == "":
		return "?"
	case page.Length(v) <= width:
		return v
	}
	return page.Cut(v, width-1) + "~"
}

func pad(v string, width int) string {
	return v + strings.Repeat(" ", max(0, width-page.Length(v)))
}
