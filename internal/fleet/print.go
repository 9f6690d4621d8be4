package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Look says how a report looks and how its commands are written.
type Look struct {
	page.Style
	Program   string // name
	Wide      bool   // also the version, the platform, the time that it took, and every cause
	NoHeaders bool
}

// look is how a state is shown.
type look struct {
	sign  page.Sign
	paint page.Paint
	words string // in the table
	many  string // in the headline, after a number
}

var looks = map[State]look{
	Broken:     {page.Bad, page.Red, "BROKEN", "broken"},
	NotRead:    {page.Open, page.Yellow, "NOT READ", "not read"},
	Undecided:  {page.Open, page.Yellow, "UNDECIDED", "undecided"},
	Warning:    {page.Warn, page.Yellow, "WARNING", "with warnings only"},
	InProgress: {page.Wait, page.Yellow, "IN PROGRESS", "in progress as expected"},
	Quiet:      {page.Good, page.Green, "OK", "with nothing wrong found"},
}

// Text writes a report for a person.
func Text(w io.Writer, r Report, l Look) error {
	p := &page.Page{Style: l.Style}
	if !l.NoHeaders {
		headline(p, r, l)
		p.Blank()
	}
	table(p, r, l)
	if !l.NoHeaders {
		foot(p, r, l)
	}
	return p.Flush(w)
}

// headline counts the states, the worst first.
func headline(p *page.Page, r Report, l Look) {
	worst, parts := looks[Quiet], []string(nil)
	for _, s := range slices.Backward(states) {
		if r.Counts[s] > 0 {
			worst = looks[s]
		}
	}
	for _, s := range states {
		if n := r.Counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, looks[s].many))
		}
	}
	p.Lead(0, worst.paint.Span(l.Sign(worst.sign)+" "), "  ", page.Bold, page.Count(len(r.Clusters), "cluster", "clusters")+": "+strings.Join(parts, ", "), 0)
}

// table has a row for each cluster; what is wrong stands in its last column, or where that leaves no room below it.
func table(p *page.Page, r Report, l Look) {
	head := []string{"CLUSTER", "ANSWER", "HOSTS DONE"}
	if l.Wide {
		head = append(head, "VERSION", "PLATFORM", "TOOK")
	}
	rows := [][]string{head}
	for _, c := range r.Clusters {
		row := []string{l.Clean(c.Name), looks[c.State].words, hosts(c)}
		if l.Wide {
			row = append(row, dash(l.Clean(c.Version)), dash(l.Clean(c.Platform)), fmt.Sprintf("%.1fs", c.Seconds))
		}
		rows = append(rows, row)
	}
	sign := 2 // columns, with a blank
	if l.ASCII {
		sign = 3
	}
	width, used := make([]int, len(head)), sign
	for i := range head {
		for _, row := range rows {
			width[i] = max(width[i], page.Length(row[i]))
		}
		used += width[i] + 2
	}
	beside := l.Room()-used >= 40
	if over := used - 2 - l.Room(); over > 0 { // a longer name has a line of its own
		used -= width[0]
		width[0] = nameRoom(rows, width[0]-over)
		used += width[0]
	}
	if !l.NoHeaders {
		title := strings.Repeat(" ", sign) + page.Columns(head, width)
		if beside {
			title += "WHY"
		}
		p.Line(0, page.Bold.Span(strings.TrimRight(title, " ")))
	}
	for i, c := range r.Clusters {
		mark := looks[c.State]
		lead, cells := fmt.Sprintf("%-*s", sign, l.Sign(mark.sign)), rows[i+1]
		if page.Length(cells[0]) > width[0] {
			p.Line(0, mark.paint.Span(lead+cells[0]))
			lead, cells[0] = strings.Repeat(" ", sign), ""
		}
		first, why := lead+page.Columns(cells, width), reasons(c, l)
		if beside && len(why) > 0 {
			p.Lead(0, mark.paint.Span(first), strings.Repeat(" ", used), page.Plain, why[0], 0)
			why = why[1:]
		} else {
			p.Line(0, mark.paint.Span(strings.TrimRight(first, " ")))
		}
		for _, text := range why {
			indent := 4
			if beside {
				indent = used
			}
			p.Para(indent, page.Span{}, page.Plain, text)
		}
	}
}

// nameRoom is how wide the column of the names is: as the longest that still leaves the others their room.
func nameRoom(rows [][]string, most int) int {
	room := page.Length(rows[0][0])
	for _, row := range rows {
		if n := page.Length(row[0]); n <= most {
			room = max(room, n)
		}
	}
	return room
}

// hosts says how many of the expected hosts are done.
func hosts(c Result) string {
	if c.Hosts == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", c.Done, c.Hosts)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// reasons are why a cluster stands as it does: the first cause, and how many more there are; all of them where the
// report is wide.
func reasons(c Result, l Look) []string {
	if c.Error != "" {
		if l.Wide {
			return []string{l.Clean(whole(c))}
		}
		return []string{l.Clean(brief(c))}
	}
	var all []string
	for _, cause := range c.Causes {
		all = append(all, l.Clean(cause.Title)+" ("+cause.Fault+", "+string(cause.Confidence)+")")
	}
	for _, title := range c.Open {
		all = append(all, "cause unknown: "+l.Clean(title))
	}
	if len(all) == 0 && c.State != Quiet {
		headline := c.Headline + ": "
		if c.Reason != "" && strings.HasPrefix(c.Headline, looks[c.State].words) {
			headline = "" // the column before says it
		}
		return []string{l.Clean(strings.TrimSuffix(headline+c.Reason, ": "))}
	}
	if more := len(all) - 1; more > 0 && !l.Wide {
		return []string{all[0] + fmt.Sprintf("; %d more", more)}
	}
	return all
}

// whole is why a cluster was not read, on one line.
func whole(c Result) string { return strings.Join(strings.Fields(c.Error), " ") }

// briefly is how long a reason in the table is at most.
const briefly = 100

// brief is whole up to the end of its first clause; what is left out stands below the table.
func brief(c Result) string {
	text, short := whole(c), ""
	for _, part := range strings.SplitAfter(text, ": ") { // what failed, and why, as far as there is room
		if short != "" && len(short)+len(part) > briefly {
			break
		}
		short += part
	}
	if i := clauseEnd.FindStringIndex(short); i != nil {
		short = short[:i[0]]
	}
	return evidence.Shorten(strings.TrimRight(short, ":;. "), briefly)
}

var clauseEnd = regexp.MustCompile(`; |\. [A-Z]| \(`)

// command asks a cluster alone; "" where that gives the same error again, and the error names no other command.
func command(c Result, program string) string {
	if c.Error == "" || !strings.Contains(c.Call, "--from") {
		return program + " diagnose " + c.Call
	}
	for _, line := range []string{program + " fleet --archives ", program + " preflight ", program + " scan "} {
		if _, rest, ok := strings.Cut(whole(c), line); ok {
			return line + strings.TrimRight(strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '`' || r == ',' || r == ';' })[0], ".")
		}
	}
	return ""
}

// foot names the causes that are in several clusters, and how to ask the worst one alone.
func foot(p *page.Page, r Report, l Look) {
	if len(r.Shared) > 0 {
		p.Blank()
		p.Head(0, "In more than one cluster")
		for _, s := range r.Shared {
			p.Lead(2, page.Bold.Span(fmt.Sprintf("%d clusters: ", len(s.Clusters))), "  ", page.Plain, l.Clean(s.Title), 0)
			p.Para(4, page.Span{}, page.Dim, s.Fault+": "+l.Clean(some(s.Clusters, l.Wide)))
		}
	}
	if len(r.Clusters) == 0 || r.Clusters[0].State == Quiet {
		return
	}
	notRead(p, r, l)
	p.Blank()
	if i := slices.IndexFunc(r.Clusters, func(c Result) bool { return c.Error == "" && c.State != Quiet }); i >= 0 {
		first := "The whole answer of the first: "
		if i > 0 {
			first = "The whole answer of " + l.Clean(r.Clusters[i].Name) + ": "
		}
		p.Line(0, page.Plain.Span(first), page.Cyan.Span(l.Clean(command(r.Clusters[i], l.Program))))
	}
	if n := r.Counts[NotRead]; n > 0 {
		p.Para(0, page.Span{}, page.Plain, fmt.Sprintf("Nothing is known of %s: not read is no answer about a cluster. Its row says why.",
			page.Count(n, "cluster", "clusters")))
	}
}

// notRead says of each cluster that was not read the whole reason, where its row has a part of it.
func notRead(p *page.Page, r Report, l Look) {
	headed := l.Wide
	for _, c := range r.Clusters {
		if c.Error == "" || brief(c) == whole(c) || l.Wide {
			continue
		}
		if !headed {
			p.Blank()
			p.Head(0, "Not read, because")
			headed = true
		}
		p.Lead(2, page.Bold.Span(l.Clean(c.Name)+": "), "  ", page.Plain, l.Clean(whole(c)), 0)
	}
}

// some names the first of many.
func some(names []string, all bool) string {
	const few = 5
	if all || len(names) <= few+1 {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + fmt.Sprintf(" and %d more", len(names)-few)
}

// Names writes the name of each cluster that is not quiet, in a line each.
func Names(w io.Writer, r Report) error {
	var b strings.Builder
	for _, c := range r.Clusters {
		if c.State != Quiet {
			fmt.Fprintln(&b, page.Style{}.Clean(c.Name))
		}
	}
	return page.Write(w, b.String())
}

// JSON writes a report for a program.
func JSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
