package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// The paths of the pages. Each is a nonResourceURL that a reader needs permission to get.
const (
	StatusPath = "/rollcall"
	ReportPath = "/rollcall/report"
)

// policy is the Content-Security-Policy of the pages: no script, nothing from elsewhere, no frame around it.
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// mostRows bounds the hosts of the page; the report has all.
const mostRows = 200

// Pages are the pages of the server, by their path.
func (s *Server) Pages() map[string]http.Handler {
	r := &report{}
	return map[string]http.Handler{
		StatusPath: s.page(func(st *State) ([]byte, error) { return statusPage(st, s.c.Clock()), nil }),
		ReportPath: s.page(func(st *State) ([]byte, error) {
			if st.Reading == nil {
				return statusPage(st, s.c.Clock()), nil
			}
			return r.of(st.Reading)
		}),
	}
}

func (s *Server) page(write func(*State) ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body, err := write(s.State())
		if err != nil {
			s.c.Log.Error("write a page", "error", err.Error())
			http.Error(w, "the page could not be written; the log has the reason", http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		_, _ = w.Write(body) // a reader who went away
	})
}

// report keeps the report of the newest answer: that of a large cluster takes a second, and many may look at it.
type report struct {
	mu    sync.Mutex
	about *Reading
	body  []byte
}

func (r *report) of(reading *Reading) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.about == reading {
		return r.body, nil
	}
	var out bytes.Buffer
	if err := answer.HTML(&out, reading.Diagnosis, reading.Report); err != nil {
		return nil, err
	}
	r.about, r.body = reading, out.Bytes()
	return r.body, nil
}

// sheet is a page that is being written. All text is foreign.
type sheet struct{ strings.Builder }

// put writes markup with texts in the place of %s.
func (s *sheet) put(markup string, texts ...string) {
	args := make([]any, len(texts))
	for i, t := range texts {
		args[i] = html.EscapeString(page.Style{}.Clean(t))
	}
	fmt.Fprintf(s, markup, args...)
}

const statusHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="30">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:70rem;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.1rem;margin:1.4rem 0 .4rem}p{margin:.3rem 0}
.note{border-left:.4rem solid;padding:.4rem .8rem}.bad{border-color:#c00}.warn{border-color:#b80}.good{border-color:#080}.open,.wait{border-color:#777}
table{border-collapse:collapse;width:100%%}th,td{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid #8886;vertical-align:top}
ul{padding-left:1.2rem;margin:.3rem 0}small{opacity:.8}
@media(max-width:40rem){thead{position:absolute;left:-99rem}tr,td{display:block;border:0;padding:0}tr{border-bottom:1px solid #8886;padding:.4rem 0}
td[data-of]::before{content:attr(data-of) ": ";opacity:.8}}
</style>
</head>
<body>
`

// classes are those of the signs of a headline.
var classes = map[page.Sign]string{page.Bad: "bad", page.Warn: "warn", page.Good: "good", page.Open: "open", page.Wait: "wait"}

// statusPage is the page about the hosts.
func statusPage(st *State, now time.Time) []byte {
	var s sheet
	head := answer.Headline{Sign: page.Wait, Words: "THE CLUSTER IS NOT READ YET"}
	if !st.Leading {
		head.Words = "ANOTHER REPLICA READS THE CLUSTER"
	}
	name := ""
	if st.Reading != nil {
		head, name = answer.HeadlineOf(st.Reading.Diagnosis), ": "+st.Reading.Diagnosis.Source.Name
	}
	s.put(statusHead, "Rollcall"+name+": "+strings.ToLower(head.Words))
	s.put("<header class=\"note %s\"><h1>%s %s</h1>\n", classes[head.Sign], page.Style{}.Sign(head.Sign), head.Words)
	if st.Reading != nil {
		s.put("<p>%s</p>\n", st.Reading.Diagnosis.Verdict.Reason)
	}
	s.put("</header>\n<main>\n")
	s.age(st, now)
	if st.Reading != nil {
		s.causes(st.Reading.Diagnosis)
		s.hosts(st.Reading.Diagnosis, now)
	}
	s.changes(st, now)
	s.put("</main>\n<footer><p><small>Rollcall. This page reloads itself every 30 seconds. It runs no script.</small></p></footer>\n</body>\n</html>\n")
	return []byte(s.String())
}

// age says how old the answer is, and why there is no newer one.
func (s *sheet) age(st *State, now time.Time) {
	if st.Blind != "" {
		s.put("<p class=\"note bad\"><b>The cluster cannot be read for %s</b>: %s. What is below is the last answer.</p>\n",
			fault.Span(now.Sub(st.BlindFrom)), st.Blind)
	}
	switch {
	case !st.Leading && st.Holder != "":
		s.put("<p>The replica %s holds the lease. Reload this page to reach it, or ask that pod.</p>\n", st.Holder)
	case !st.Leading:
		s.put("<p>No replica is known to hold the lease.</p>\n")
	}
	if st.Reading != nil {
		s.put("<p>Read %s ago, at %s. <a href=\"%s\">The whole diagnosis</a>: causes with their proof, and what to do.</p>\n",
			fault.Span(now.Sub(st.ReadAt)), page.Clock(st.ReadAt), ReportPath)
	}
}

// causes lists the causes, each with how sure it is.
func (s *sheet) causes(d *diagnosis.Diagnosis) {
	if len(d.Roots)+len(d.Groups.Unexplained) == 0 {
		return
	}
	s.put("<h2>Causes</h2>\n<ul>\n")
	for _, r := range d.Roots {
		first := r.Cases[0]
		s.put("<li>%s <small>(%s, %s", first.Title, r.Fault, string(first.Confidence))
		if n := len(r.Cases); n > 1 {
			s.put(", and %s more", fmt.Sprint(n-1))
		}
		s.put(")</small></li>\n")
	}
	for _, g := range d.Groups.Unexplained {
		s.put("<li>%s <small>(%s, cause unknown)</small></li>\n", d.Unexplained[g.First].Title, g.Fault)
	}
	s.put("</ul>\n")
}

// hosts counts the hosts, and lists those that have not joined: those that failed first.
func (s *sheet) hosts(d *diagnosis.Diagnosis, now time.Time) {
	joined, expected := 0, 0
	var open []diagnosis.HostState
	for _, h := range d.Hosts {
		switch {
		case !h.Expected:
			continue
		case h.Done():
			joined++
		default:
			open = append(open, h)
		}
		expected++
	}
	s.put("<h2>Hosts</h2>\n<p>%s of %s expected hosts have joined.</p>\n", fmt.Sprint(joined), fmt.Sprint(expected))
	if len(open) == 0 {
		return
	}
	failed := func(h diagnosis.HostState) int {
		if h.State == diagnosis.StageFailed {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(open, func(a, b diagnosis.HostState) int { return cmp.Compare(failed(a), failed(b)) })
	s.put("<table>\n<thead><tr><th>Host</th><th>Role</th><th>Stage</th><th>Since</th><th>Why</th></tr></thead>\n<tbody>\n")
	for _, h := range open[:min(len(open), mostRows)] {
		since := ""
		if !h.Since.IsZero() {
			since = fault.Span(now.Sub(h.Since)) + " ago"
		}
		s.put("<tr><td><b>%s</b></td><td data-of=\"Role\">%s</td><td data-of=\"Stage\">%s, %s</td><td data-of=\"Since\">%s</td><td>%s</td></tr>\n",
			h.Name, h.Role, string(h.Stage), string(h.State), cmp.Or(since, "not known"), h.Why)
	}
	s.put("</tbody>\n</table>\n")
	if more := len(open) - mostRows; more > 0 {
		s.put("<p>And %s more: see the whole diagnosis.</p>\n", fmt.Sprint(more))
	}
}

// changes lists what changed last, the newest first.
func (s *sheet) changes(st *State, now time.Time) {
	if len(st.Changes) == 0 {
		return
	}
	s.put("<h2>Changes</h2>\n<ul>\n")
	for _, e := range slices.Backward(st.Changes) {
		s.put("<li>%s <small>(%s ago)</small></li>\n", e.Text, fault.Span(now.Sub(e.Time)))
	}
	s.put("</ul>\n")
}
