package report

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/diagnosis"
)

// mostColumns is how many machines stand side by side; more are listed by what they have.
const mostColumns = 4

// machines writes the masters side by side: what differs, and with -o wide all of it.
func (t *text) machines() {
	m := t.d.Machines
	if m == nil || len(m.Hosts) == 0 {
		return
	}
	var rows []diagnosis.MachineRow
	differ := 0
	for _, r := range m.Rows {
		if r.Differs {
			differ++
		}
		if t.o.Wide || r.Differs {
			rows = append(rows, r)
		}
	}
	t.blank()
	head := fmt.Sprintf("Masters side by side, as their BMCs show them: %d of %d properties differ", differ, len(m.Rows))
	if len(m.Hosts) == 1 {
		head = "As its BMC shows " + m.Hosts[0]
	}
	t.lead(0, span{bold, head}, "", plain, "", 0)
	if len(rows) > 0 {
		t.machineRows(m, rows)
	}
	if differ < len(m.Rows) && !t.o.Wide {
		t.line(2, span{dim, "all properties: -o wide"})
	}
	for _, u := range m.Unread {
		t.lead(2, span{yellow, u.Host + ": "}, "  ", plain, u.Reason, 0)
	}
}

func (t *text) machineRows(m *diagnosis.Machines, rows []diagnosis.MachineRow) {
	name := 0
	for _, r := range rows {
		name = max(name, length(r.Property))
	}
	if len(m.Hosts) > mostColumns {
		for _, r := range rows {
			t.lead(2, span{plain, pad(r.Property, name) + "  "}, strings.Repeat(" ", name+2), plain, strings.Join(grouped(m.Hosts, r.Values), "; "), 0)
		}
		return
	}
	width := max(8, min(widest(m.Hosts, rows), (t.width()-2-name)/len(m.Hosts)-2))
	cells := func(first string, values []string) string {
		line := pad(first, name)
		for _, v := range values {
			line += "  " + pad(cell(v, width), width)
		}
		return strings.TrimRight(line, " ")
	}
	t.line(2, span{dim, cells("", m.Hosts)})
	for _, r := range rows {
		paint := plain
		if r.Differs {
			paint = yellow
		}
		t.line(2, span{paint, cells(r.Property, r.Values)})
		if r.Differs && r.Matters != "" {
			t.para(4, span{}, dim, r.Matters)
		}
	}
}

// widest is the length of the longest cell.
func widest(hosts []string, rows []diagnosis.MachineRow) int {
	n := 0
	for _, h := range hosts {
		n = max(n, length(h))
	}
	for _, r := range rows {
		for _, v := range r.Values {
			n = max(n, length(v))
		}
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
	case length(v) <= width:
		return v
	}
	return cut(v, width-1) + "~"
}

func pad(v string, width int) string {
	return v + strings.Repeat(" ", max(0, width-length(v)))
}
