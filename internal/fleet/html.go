package fleet

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/page"
)

// HTML writes a report as one page that needs no network and runs no script.
func HTML(w io.Writer, r Report, now time.Time, l Look) error {
	var b strings.Builder
	say := func(format string, args ...any) {
		for i, a := range args {
			if s, ok := a.(string); ok {
				args[i] = html.EscapeString(l.Clean(s))
			}
		}
		fmt.Fprintf(&b, format, args...)
	}
	b.WriteString(htmlHead)
	say("<h1>%s</h1>\n<p>Asked at %s. The worst is first.</p>\n", "Fleet: "+page.Count(len(r.Clusters), "cluster", "clusters"), page.Clock(now))
	b.WriteString("<ul class=\"counts\">")
	for _, s := range states {
		if n := r.Counts[s]; n > 0 {
			say("<li class=\"%s\">%d %s</li>\n", string(s), n, looks[s].many)
		}
	}
	b.WriteString("</ul>\n")
	if len(r.Shared) > 0 {
		b.WriteString("<h2>In more than one cluster</h2>\n<ul>\n")
		for _, s := range r.Shared {
			say("<li><b>%d clusters:</b> %s <small>%s: %s</small></li>\n", len(s.Clusters), s.Title, s.Fault, strings.Join(s.Clusters, ", "))
		}
		b.WriteString("</ul>\n")
	}
	b.WriteString("<h2>Clusters</h2>\n<div class=\"wide\"><table>\n" +
		"<thead><tr><th>Cluster<th>Answer<th>Hosts done<th>Version<th>Why, and the command for all of it</tr></thead>\n<tbody>\n")
	for _, c := range r.Clusters {
		say("<tr class=\"%s\"><th scope=\"row\">%s<td><span aria-hidden=\"true\">%s</span> %s<td>%s<td>%s<td>", string(c.State), c.Name,
			l.Sign(looks[c.State].sign), looks[c.State].words, hosts(c), dash(c.Version))
		wide := l
		wide.Wide = true
		for _, why := range reasons(c, wide) {
			say("<p>%s</p>", why)
		}
		if run := command(c, l.Program); c.State != Quiet && run != "" {
			say("<pre><code>%s</code></pre>", run)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table></div>\n<footer><p>Made by Rollcall. It holds names and excerpts that were read from clusters: " +
		"read it before you pass it on.</p></footer>\n</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

const htmlHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Rollcall: fleet</title>
<style>
:root { color-scheme: light dark; --line: light-dark(#d5d9de, #3a4048); --bad: light-dark(#a3131d, #ff8a8a); --warn: light-dark(#7a5200, #f0c060);
  --good: light-dark(#176b2c, #7fd695); --soft: light-dark(#f3f5f7, #20242a) }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 80rem; padding: 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
.counts { display: flex; flex-wrap: wrap; gap: .5rem; list-style: none; padding: 0 }
.counts li { border: 1px solid currentColor; border-radius: .5rem; padding: .1rem .6rem }
small { display: block }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { border-top: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top }
th, td:not(:nth-child(5)) { overflow-wrap: normal; white-space: nowrap }
th[scope] { max-width: 18rem; overflow-wrap: anywhere; white-space: normal; min-width: 9rem }
td p { margin: 0 0 .3rem } td:nth-child(5) { min-width: 16rem }
pre { background: var(--soft); margin: 0; padding: .3rem .5rem; white-space: pre-wrap }
.broken td:nth-child(2), li.broken { color: var(--bad) }
.not-read td:nth-child(2), .undecided td:nth-child(2), .warning td:nth-child(2), .in-progress td:nth-child(2),
li.not-read, li.undecided, li.warning, li.in-progress { color: var(--warn) }
.quiet td:nth-child(2), li.quiet { color: var(--good) }
@media (max-width: 40rem) { thead { display: none } tr, th[scope], td { display: block; border: 0; padding: .1rem 0 }
  tr { border-top: 1px solid var(--line); padding: .5rem 0 } td:nth-child(5) { min-width: 0 } }
@media print { body { max-width: none } pre { border: 1px solid #999 } }
</style>
</head>
<body>
`
