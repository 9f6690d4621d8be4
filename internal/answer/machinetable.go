package answer

import "github.com/rollcall-project/rollcall/internal/kernel/diagnosis"

// machineTable is the masters side by side for formats that have tables of their own.
type machineTable struct {
	Head   string
	Hosts  []string
	Rows   []diagnosis.MachineRow
	Unread []diagnosis.UnreadMachine
}

// machineTable returns nil where there is nothing to show.
func (t *text) machineTable() *machineTable {
	m := t.d.Machines
	if m == nil || len(m.Hosts)+len(m.Unread) == 0 {
		return nil
	}
	differ, compared := countDiffering(m.Rows)
	table := &machineTable{Head: machinesHead(differ, compared), Hosts: m.Hosts, Rows: m.Rows, Unread: m.Unread}
	if len(m.Hosts) == 1 {
		table.Head = "As its BMC shows " + m.Hosts[0]
	}
	return table
}

// shown is a value of a table, "?" where it is not known.
func shown(value string) string {
	if value == "" {
		return "?"
	}
	return value
}

func (m *markdown) machines() {
	table := m.machineTable()
	if table == nil {
		return
	}
	m.printf("\n## %s\n", m.md(table.Head))
	if len(table.Rows) > 0 {
		m.printf("\n| Property |")
		for _, h := range table.Hosts {
			m.printf(" %s |", m.md(h))
		}
		m.printf(" Differs |\n| --- |")
		for range table.Hosts {
			m.printf(" --- |")
		}
		m.printf(" --- |\n")
	}
	for _, r := range table.Rows {
		m.printf("| %s |", m.md(r.Property))
		for _, v := range r.Values {
			m.printf(" %s |", m.md(shown(v)))
		}
		m.printf(" %s |\n", m.md(differsWords(r)))
	}
	if len(table.Unread) > 0 {
		m.printf("\n")
	}
	for _, u := range table.Unread {
		m.printf("- %s: %s\n", m.md(u.Host), m.md(u.Reason))
	}
}

// differsWords say whether a property differs, and why that matters.
func differsWords(r diagnosis.MachineRow) string {
	switch {
	case r.Differs && r.Matters != "":
		return "yes: " + r.Matters
	case r.Differs:
		return "yes"
	}
	return ""
}

func (m *markup) machines(table *machineTable) {
	if table == nil {
		return
	}
	m.put("<section id=\"machines\"><h2>{}</h2>\n", table.Head)
	if len(table.Rows) > 0 {
		m.put("<table class=\"plain\"><thead><tr><th scope=\"col\">Property</th>")
		m.each("<th scope=\"col\">{}</th>", table.Hosts)
		m.put("<th scope=\"col\">Differs</th></tr></thead>\n<tbody>")
		for _, r := range table.Rows {
			m.put("<tr><th scope=\"row\">{}</th>", r.Property)
			for _, v := range r.Values {
				m.put("<td>{}</td>", shown(v))
			}
			m.put("<td>{}</td></tr>\n", differsWords(r))
		}
		m.put("</tbody></table>\n")
	}
	for _, u := range table.Unread {
		m.put("<p><b>{}</b>: {}</p>\n", u.Host, u.Reason)
	}
	m.put("</section>\n")
}
