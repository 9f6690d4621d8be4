package answer

import "strconv"

// root writes one cause.
func (m *markup) root(r htmlRoot) {
	m.put("<section id=\"{}\" class=\"case {}\">\n<h2><span class=\"kicker\">{} {}</span> {}</h2>\n", r.ID, r.Class, r.Sign, r.Number, r.Title)
	m.tags(r.Tags)
	m.where(r.Where)
	m.some("<p class=\"lowered\"><b>Not proven:</b> {}</p>\n", r.Lowered)
	m.proofs(r.Proof, r.MoreProof)
	m.put("<h3 class=\"act\">What to do</h3>\n")
	if r.Do.Command != "" {
		m.put("<p>Let Rollcall plan the repair. {}</p>\n<pre class=\"command\"><code>{}</code></pre>\n<p>Or by hand:</p>\n", r.Do.About, r.Do.Command)
	}
	m.advice(r.Do)
	m.refused(r.Refused)
	m.some("<h3>What it means</h3>\n<p class=\"means\">{}</p>\n", r.Means)
	if r.HasChain {
		m.effects(r)
	}
	if n := len(r.RuledOut); n > 0 {
		summary := literal("{} other causes")
		if n == 1 {
			summary = "{} other cause"
		}
		m.put("<h3>Ruled out</h3>\n")
		m.fold("long", summary, strconv.Itoa(n), func() {
			m.put(`<table class="plain ruled"><thead><tr><th scope="col">Cause</th><th scope="col">Why not</th></tr></thead><tbody>`)
			for _, o := range r.RuledOut {
				m.put("<tr><th scope=\"row\"><code>{}</code></th><td>{}</td></tr>\n", o.Term, o.Text)
			}
			m.put("</tbody></table>")
		})
	}
	if len(r.Refs) > 0 {
		m.fold("aside", "Sources in the product", "", func() {
			m.put("<ul>")
			m.each(`<li class="ref">{}</li>`, r.Refs)
			m.put("</ul>")
		})
	}
	m.put("</section>\n")
}

func (m *markup) refused(list []htmlRefused) {
	if len(list) == 0 {
		return
	}
	m.put("<h3 class=\"act\">Do not</h3>\n")
	for _, r := range list {
		m.put("<details class=\"refused\"><summary><span class=\"no\" aria-hidden=\"true\">✗</span> <b>{}</b> <small><code>{}</code></small></summary>\n",
			r.Title, r.ID)
		m.some("<p>{}</p>\n", r.Happens)
		m.some("<p><b>Instead:</b> {}</p>\n", r.Instead)
		m.some("<p><b>When it is safe after all:</b> {}</p>", r.When)
		m.put("</details>\n")
	}
}

func (m *markup) effects(r htmlRoot) {
	m.put("<h3>Effects</h3>\n")
	m.figure(r.Charts)
	m.put(`<p class="key"><svg width="30" height="10" aria-hidden="true"><path class="certain" d="M 0 5 L 30 5"/></svg> certain
<svg width="30" height="10" aria-hidden="true"><path class="likely" d="M 0 5 L 30 5"/></svg> likely
<svg width="30" height="10" aria-hidden="true"><path class="possible" d="M 0 5 L 30 5"/></svg> possible</p>
`)
	m.fold("aside", "The same in words", "", func() {
		m.put("\n")
		if len(r.Ring) > 0 {
			m.put("<p>Deadlock: these block one another. Waiting does not help.</p><ol>")
			m.each("<li>{}</li>", r.Ring)
			m.put("</ol>\n")
		}
		m.tree(r.Tree)
	})
}

func (m *markup) tree(list []htmlTree) {
	if len(list) == 0 {
		return
	}
	m.put("<ul>")
	for _, t := range list {
		m.put("<li>{}", t.Title)
		m.tree(t.Children)
		m.put("</li>")
	}
	m.put("</ul>")
}

// open writes what is present and has no known cause.
func (m *markup) open(list []htmlOpen) {
	if len(list) == 0 {
		return
	}
	m.put(`<div id="open">`)
	for _, o := range list {
		m.put("<section class=\"case open\">\n<h2><span class=\"kicker\">? Cause unknown</span> {}</h2>\n", o.Title)
		m.tags(o.Tags)
		m.where(o.Where)
		if o.Do != nil {
			m.put("<h3 class=\"act\">What to do</h3>\n")
			m.advice(*o.Do)
		}
		m.proofs(o.Proof, o.MoreProof)
		m.suspects(o.Suspects)
		m.put("</section>")
	}
	m.put("</div>\n")
}

func (m *markup) suspects(list []htmlSuspect) {
	if len(list) == 0 {
		m.put("<p>No entry of the catalog could explain it here.</p>\n")
		return
	}
	m.put("<h3>It could be</h3>\n<ul class=\"suspects\">")
	for _, s := range list {
		m.put(`<li>{} <small><code>{}</code></small>`, s.Title, s.Fault)
		m.some(`<br><span class="decide">Decide:</span> <code>{}</code>`, s.Supply)
		if n := len(s.Others); n > 0 {
			m.fold("", "the same at {} more", strconv.Itoa(n), func() { m.names(s.Others) })
		}
		m.put("</li>\n")
	}
	m.put("</ul>\n")
}

func (m *markup) tags(list []string) {
	m.put(`<p class="tags">`)
	m.each(`<span>{}</span> `, list)
	m.put("</p>\n")
}

func (m *markup) proofs(first, more []htmlProof) {
	if len(first) == 0 {
		return
	}
	m.put("<h3>Proof</h3>\n")
	m.proof(first)
	if n := len(more); n > 0 {
		m.fold("", "{} more", strconv.Itoa(n), func() { m.proof(more) })
	}
}

func (m *markup) proof(list []htmlProof) {
	m.put(`<ul class="proof">`)
	for _, p := range list {
		m.put(`<li><p class="seen">{}</p>`, p.Text)
		m.places(p.Places)
		if n := len(p.MorePlaces); n > 0 {
			m.fold("", "and {} more", strconv.Itoa(n), func() { m.places(p.MorePlaces) })
		}
		m.put("</li>\n")
	}
	m.put("</ul>\n")
}

func (m *markup) places(list []htmlPlace) {
	for _, p := range list {
		m.put(`<p class="where">`)
		m.some(`{}: `, p.Source)
		m.put(`<code>{}</code>`, p.Where)
		m.some(` (asked from {})`, p.From)
		m.put(`</p>`)
	}
}

// advice is what to do by hand.
func (m *markup) advice(d htmlDo) {
	m.some("<p>To decide whether it is this cause, read:</p><pre class=\"command\"><code>{}</code></pre>\n", d.Decides)
	if d.First != nil {
		m.remedy(*d.First)
	} else {
		m.put("<p>No remedy is known. Save the evidence with <code>rollcall collect</code> and ask for support.</p>\n")
	}
	if n := len(d.Others); n > 0 {
		summary := literal("{} other remedies")
		if n == 1 {
			summary = "{} other remedy"
		}
		m.fold("", summary, strconv.Itoa(n), func() {
			for _, r := range d.Others {
				m.remedy(r)
			}
		})
	}
	m.put("<p>More: <code>{}</code>", d.More)
	if d.URL != "" {
		m.put(" <a href=\"{}\" rel=\"noreferrer\">{}</a>", d.URL, d.URL)
	}
	m.put("</p>\n")
}

func (m *markup) remedy(r htmlRemedy) {
	m.put(`<div class="remedy"><p class="what">`)
	if r.NotNow {
		m.put(`<b>Not now:</b> `)
	}
	m.put("<b>{}</b> <small><code>{}</code></small></p>\n<p class=\"who\">{} · risk: {}", r.Title, r.ID, r.Who, r.Risk)
	m.some(`, {}`, r.RiskText)
	if r.Opens {
		m.put(` · <b>breaks the deadlock</b>`)
	}
	m.put("</p>\n")
	if r.NeedsProof {
		m.put("<p>{}</p>\n", needsProof)
	}
	if len(r.Requires) > 0 {
		m.put(`<p>Only if:</p><ul>`)
		m.each(`<li>{}</li>`, r.Requires)
		m.put("</ul>\n")
	}
	m.put("<ol>")
	for _, s := range r.Steps {
		m.put(`<li>{}`, s.Do)
		if s.OnHost {
			m.put(` (on the host)`)
		}
		m.some(`<pre class="command"><code>{}</code></pre>`, s.Run)
		m.some(`<p class="expect">→ {}</p>`, s.Expect)
		m.put(`</li>`)
	}
	m.put("</ol>\n<p><b>It worked when:</b> {}</p>", r.Worked)
	m.some(`<pre class="command"><code>{}</code></pre>`, r.Check)
	m.put("\n")
	m.some(`<p class="after"><b>Undo:</b> {}</p>`, r.Undo)
	m.some(`<p class="after"><b>If the diagnosis is wrong:</b> {}</p>`, r.IfWrong)
	m.put("</div>\n")
}
