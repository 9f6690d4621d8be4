package answer

import (
	"strconv"
	"strings"
)

// page writes the whole page.
func (m *markup) page(p htmlPage) {
	m.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{}</title>
<style>`, p.Title)
	m.b.WriteString(htmlStyle)
	m.put("</style>\n</head>\n<body>\n")
	m.header(p)
	m.put("<main>\n")
	if p.AtRisk {
		m.accepted(p.Accepted)
	}
	m.todo(p)
	for _, r := range p.Roots {
		m.root(r)
	}
	m.open(p.Open)
	if len(p.Waits) > 0 {
		m.put("<section id=\"waits\"><h2>In progress</h2>\n<ul class=\"waits\">")
		for _, w := range p.Waits {
			m.put(`<li><span aria-hidden="true">…</span> {}; <b>{}</b></li>`, w.Term, w.Text)
		}
		m.put("</ul></section>\n")
	}
	if !p.AtRisk && len(p.Accepted) > 0 {
		m.accepted(p.Accepted)
	}
	if !p.Plan {
		m.hosts(p.Hosts)
	}
	m.machines(p.Machines)
	m.time(p.Time)
	m.gaps(p)
	m.checks(p)
	m.put("</main>\n<footer><p>Made by Rollcall. This page needs no network and runs no script. It holds what was read from the cluster: " +
		"names, addresses, excerpts of logs. Read it before you pass it on.</p></footer>\n</body>\n</html>\n")
}

func (m *markup) header(p htmlPage) {
	m.put("<header class=\"{}\">\n<div class=\"bar\"><p class=\"brand\">Rollcall</p>\n<nav aria-label=\"Parts of this page\"><ul>\n", p.Class)
	part := func(there bool, id, name string) {
		if there {
			m.put("<li><a href=\"#{}\">{}</a></li>\n", id, name)
		}
	}
	part(len(p.Todo) > 0, "todo", "What to do")
	for _, r := range p.Roots {
		m.put(`<li><a href="#{}">{}</a></li>`, r.ID, r.Number)
	}
	m.put("\n")
	part(len(p.Supplies) > 0, "next", "Next")
	part(len(p.Open) > 0, "open", "Not explained")
	part(len(p.Waits) > 0, "waits", "In progress")
	part(!p.Plan, "hosts", "Hosts")
	part(p.Machines != nil, "machines", "Machines")
	part(p.Time != nil, "time", "Timeline")
	part(len(p.Gaps) > 0, "gaps", "Not read")
	part(len(p.Checks) > 0, "checks", "Checks")
	m.put("</ul></nav></div>\n<h1><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</h1>\n<div class=\"summary\">", p.Sign, p.Headline)
	for _, s := range p.Summary {
		m.put("<p><b>{}:</b> {}</p>\n", s.Term, s.Text)
	}
	m.put("</div>\n")
	m.some("<p class=\"reason\">{}</p>\n", p.Reason)
	if n := len(p.MoreReasons); n > 0 {
		m.fold("", "{} more", strconv.Itoa(n), func() {
			m.put("<ul>")
			m.each("<li>{}</li>\n", p.MoreReasons)
			m.put("</ul>")
		})
	}
	m.put(`<dl class="source">`)
	for _, s := range p.Source {
		m.put(`<div><dt>{}</dt> <dd>{}</dd></div>`, s.Term, s.Text)
	}
	m.put("</dl>\n</header>\n")
}

func (m *markup) todo(p htmlPage) {
	if len(p.Todo) > 0 {
		m.put("<section id=\"todo\"><h2>What to do</h2>\n<ol class=\"todo\">")
		for _, t := range p.Todo {
			m.put("<li><a href=\"#{}\">{}</a><br>{}", t.ID, t.Title, t.Do)
			m.some(": <code>{}</code>", t.How)
			m.put("</li>\n")
		}
		m.put("</ol></section>\n")
	}
	if len(p.Supplies) == 0 {
		return
	}
	const command literal = "<pre class=\"command\"><code>{}</code></pre>\n"
	m.put("<section id=\"next\"><h2>Next: {}</h2>\n", p.NextIs)
	m.each(command, p.Supplies)
	if n := len(p.MoreSupplies); n > 0 {
		m.fold("", "{} more", strconv.Itoa(n), func() { m.each(command, p.MoreSupplies) })
	}
	m.put("</section>\n")
}

func (m *markup) accepted(list []htmlAccepted) {
	m.put("<section id=\"accepted\"><h2>Accepted</h2>\n<ul class=\"gaps\">")
	for _, a := range list {
		m.put(`<li><p><b>{}</b> <small><code>{}</code> {}`, a.Title, a.Fault, string(a.Severity))
		if a.DataRisk {
			m.put(`, about etcd or the loss of data`)
		}
		m.put("</small></p>\n")
		m.where(a.Where)
		m.put("<p>by {} until <time>{}</time>: {} <small>{}</small></p>\n", a.Owner, a.Until, a.Reason, a.Entry)
		m.some("<p>Accepted through it: {}</p>", a.Effects)
		m.put("</li>\n")
	}
	m.put("</ul></section>\n")
}

func (m *markup) gaps(p htmlPage) {
	if len(p.Gaps) == 0 {
		return
	}
	m.put("<section id=\"gaps\"><h2>Not checked</h2>\n<p>{}</p>\n<ul class=\"gaps\">", p.GapsSay)
	for _, g := range p.Gaps {
		m.put(`<li><p>`)
		m.some(`<b>{}</b>: `, g.Reason)
		m.put("{}</p>\n", g.Needs)
		if g.AllNeeds != "" || len(g.Supplies) > 0 {
			summary := literal("How to get it")
			if g.AllNeeds != "" {
				if summary = "All of it"; len(g.Supplies) > 0 {
					summary = "All of it, and how to get it"
				}
			}
			m.fold("", summary, "", func() {
				m.some("<p>{}</p>\n", g.AllNeeds)
				if len(g.Supplies) > 0 {
					m.put(`<ul class="supply">`)
					m.each("<li><code>{}</code></li>\n", g.Supplies)
					m.put(`</ul>`)
				}
			})
		}
		m.put("</li>\n")
	}
	m.put("</ul></section>\n")
}

func (m *markup) checks(p htmlPage) {
	if len(p.Checks) == 0 {
		return
	}
	m.put("<section id=\"checks\"><h2>What was checked</h2>\n<p>{}</p>\n", p.Outcomes)
	m.fold("long", "{} faults of the catalog", strconv.Itoa(len(p.Checks)), func() {
		m.put("\n" + `<div class="scroll" tabindex="0" role="group" aria-label="What was checked"><table class="plain checks"><thead><tr>` +
			`<th scope="col">Fault</th><th scope="col">Layer</th><th scope="col">Of a</th><th scope="col">Present</th><th scope="col">Absent</th>` +
			`<th scope="col">Unknown</th><th scope="col">N/A</th></tr></thead><tbody>` + "\n")
		for _, c := range p.Checks {
			m.put(`<tr><th scope="row"><code>{}</code>`, c.Fault)
			m.some(`<br><small>Unknown: {}</small>`, c.Why)
			m.put("</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", c.Layer, c.Subject,
				strconv.Itoa(c.Present), strconv.Itoa(c.Absent), strconv.Itoa(c.Unknown), strconv.Itoa(c.Other))
		}
		m.put("</tbody></table></div>")
	})
	m.put("</section>\n")
}

func (m *markup) hosts(h htmlHosts) {
	m.put("<section id=\"hosts\"><h2>Hosts</h2>\n<p>{}</p>\n<ul class=\"legend\">", h.Say)
	for _, c := range h.Legend {
		m.put(`<li><span class="cell {}" aria-hidden="true">{}</span> {}</li>`, c.Class, c.Sign, c.State)
	}
	m.put("</ul>\n")
	folded := func(summary literal, rows []htmlHost) {
		if len(rows) > 0 {
			m.fold("", summary, strconv.Itoa(len(rows)), func() { m.roll(h.Steps, rows) })
		}
	}
	if len(h.Open) > 0 {
		m.roll(h.Steps, h.Open)
	}
	folded("{} more not done", h.More)
	if h.FoldDone {
		folded("{} passed every stage", h.Done)
	} else if len(h.Done) > 0 {
		m.roll(h.Steps, h.Done)
	}
	folded("{} claimed and not expected", h.Claimed)
	m.fold("aside", "What the stages are", "", func() {
		m.put(`<ol class="steps">`)
		for _, s := range h.Steps {
			m.put(`<li><b>{}</b>: {}</li>`, s.Name, s.Means)
		}
		m.put(`</ol>`)
	})
	m.put("</section>\n")
}

func (m *markup) roll(steps []htmlStep, rows []htmlHost) {
	m.put(`<div class="scroll" tabindex="0" role="group" aria-label="Hosts"><table class="roll"><thead><tr><th scope="col" class="first">Host</th>`)
	for _, s := range steps {
		m.put(`<th scope="col" class="step" title="{}"><span>{}</span></th>`, s.Means, s.Name)
	}
	m.put("<th scope=\"col\" class=\"last\">Stage</th></tr></thead>\n<tbody>")
	for _, r := range rows {
		m.put("<tr class=\"{}\"><th scope=\"row\"><span class=\"name\">{}</span> <small>{}</small></th>\n", r.Class, r.Name, r.Role)
		for _, c := range r.Cells {
			m.put(`<td class="cell {}" title="{}"><span aria-hidden="true">{}</span><span class="hidden">{}</span></td>`, c.Class, c.About, c.Sign, c.About)
		}
		m.put("\n<td class=\"stands\"><b>{}</b>", r.Stands)
		m.some(`<span class="why">{}</span>`, r.Why)
		m.put("</td></tr>\n")
	}
	m.put("</tbody></table></div>\n")
}

func (m *markup) time(t *htmlTime) {
	if t == nil {
		return
	}
	m.put("<section id=\"time\"><h2>Timeline</h2>\n")
	m.figure(t.Charts)
	m.some("<p class=\"key\">{}</p>\n", t.Note)
	table := func() {
		m.put("\n" + `<div class="scroll" tabindex="0" role="group" aria-label="Timeline"><table class="plain moments"><thead><tr>` +
			`<th scope="col">Time</th><th scope="col">Age</th><th scope="col">Subject</th><th scope="col">What</th></tr></thead><tbody>` + "\n")
		for _, x := range t.Moments {
			m.put(`<tr><td><time>{}</time></td><td>{}</td><td>{}</td><td>{}`, x.Time, x.Age, x.Subject, x.Text)
			m.some(`<br><code class="where">{}</code>`, x.Where)
			m.put("</td></tr>\n")
		}
		m.put("</tbody></table></div>\n")
	}
	if t.Long {
		m.fold("", "All {} moments", strconv.Itoa(len(t.Moments)), table)
	} else {
		table()
	}
	m.put("</section>\n")
}

// figure draws the same in two widths; the style shows the one that fits.
func (m *markup) figure(charts []drawing) {
	m.put("<figure class=\"{}\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n", charts[0].Kind, charts[0].About)
	for _, c := range charts {
		m.drawing(c)
	}
	m.put("</figure>\n")
}

func (m *markup) drawing(d drawing) {
	m.put("<svg class=\"{}\" role=\"img\" width=\"{}\" height=\"{}\" viewBox=\"-1 -1 {} {}\" xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>\n",
		d.Class, num(d.W), num(d.H), num(d.W+2), num(d.H+2), d.About) // the lines at the edges are whole
	label := func(w words) { m.put(`<text class="{}" x="{}" y="{}">{}</text>`, w.Class, num(w.X), num(w.Y), w.Text) }
	box := func(s shape, radius string) {
		m.put(`<rect x="{}" y="{}" width="{}" height="{}" rx="{}"/>`, num(s.X), num(s.Y), num(s.W), num(s.H), radius)
		for _, l := range s.Lines {
			label(l)
		}
		m.put("</g>\n")
	}
	for _, f := range d.Frames {
		m.put(`<g class="{}">`, f.Class)
		box(f, "14")
	}
	for _, a := range d.Arrows {
		m.put("<path class=\"{}\" d=\"{}\"/>\n", a.Class, a.D)
	}
	for _, b := range d.Boxes {
		m.put(`<g class="{}"><title>{}</title>`, b.Class, b.Title)
		box(b, "6")
	}
	for _, w := range d.Marks {
		label(w)
		m.put("\n")
	}
	m.put("</svg>\n")
}

// where lists all subjects where the title names only some.
func (m *markup) where(names []string) {
	if len(names) > 0 {
		m.fold("", "All {}", strconv.Itoa(len(names)), func() { m.names(names) })
	}
}

func (m *markup) names(list []string) { m.put(`<p class="names">{}</p>`, strings.Join(list, ", ")) }
