package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Roll writes the roll: what was read, the hosts that are not done, a count of the
// others, and where the full answer is.
func Roll(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	t := newText(d, o)
	if !o.NoHeaders {
		t.verdict()
		t.source()
	}
	t.rollHosts(o.All)
	if !o.NoHeaders {
		t.rollFoot()
	}
	return t.Flush(w)
}

func (t *text) rollHosts(all bool) {
	var rows []diagnosis.HostState
	rest := map[string]int{}
	claimed := 0
	for _, h := range t.d.Hosts {
		switch {
		case h.Bootstrap():
			if all || !h.Done() {
				rows = append(rows, h)
			}
		case !h.Expected:
			claimed++
			if all {
				rows = append(rows, h)
			}
		case all || !h.Done():
			rows = append(rows, h)
		default:
			rest[h.Role]++
		}
	}
	if len(rows) > 0 {
		if !t.o.NoHeaders {
			t.Blank()
		}
		t.table(rows)
	}
	if t.o.NoHeaders {
		return
	}
	if !all || len(t.d.Roots)+len(t.d.Unexplained)+len(t.d.Accepted) > 0 {
		t.Blank()
	}
	t.countRest(rest, claimed, all)
}

// countRest says how many hosts are not listed.
func (t *text) countRest(rest map[string]int, claimed int, all bool) {
	if all {
		return
	}
	var parts []string
	total := 0
	roles := make([]string, 0, len(rest))
	for role := range rest {
		roles = append(roles, role)
	}
	slices.Sort(roles)
	for _, role := range roles {
		total += rest[role]
		name := role
		if name == "" {
			name = "without a role"
		}
		parts = append(parts, fmt.Sprintf("%d %s", rest[role], name))
	}
	switch {
	case total > 0:
		t.Para(0, page.Green.Span(t.Sign(page.Good)+" "), page.Plain,
			fmt.Sprintf("%s passed every stage (%s); --all lists them", page.Count(total, "host", "hosts"), strings.Join(parts, ", ")))
	case len(t.d.Hosts) == 0:
		t.Para(0, page.Yellow.Span(t.Sign(page.Open)+" "), page.Plain, "no host was checked")
	}
	if claimed > 0 {
		t.Para(0, page.Yellow.Span(t.Sign(page.Open)+" "), page.Plain,
			fmt.Sprintf("%s only claimed by a CSR and not expected; --all lists them", page.Count(claimed, "name is", "names are")))
	}
}

// rollFoot names the causes in a line each and where the whole answer is.
func (t *text) rollFoot() {
	for _, r := range t.d.Roots {
		g, style := page.Bad, page.Red
		if r.Severity != fault.Error {
			g, style = page.Warn, page.Yellow
		}
		t.Lead(0, style.Span(t.Sign(g)+" cause: "), "  ", page.Plain, t.linkTitle(&link{keys: r.Keys()}), 0)
	}
	for i, u := range t.d.Unexplained {
		if i == fewSuspects {
			t.Para(0, page.Span{}, page.Dim, fmt.Sprintf("and %d more without a known cause", len(t.d.Unexplained)-i))
			break
		}
		t.Lead(0, page.Yellow.Span(t.Sign(page.Open)+" cause unknown: "), "  ", page.Plain, t.o.Brief(u.Title), 0)
	}
	t.acceptedBriefly()
	gaps := t.d.Groups.Gaps
	blind := len(t.d.Hosts) == 0 && len(gaps) > 0
	if blind && t.d.Cluster.Installer != nil { // what a cluster would supply is no answer about openshift-install
		t.supplies()
		t.Blank()
	} else if blind {
		t.gap(gaps[0])
	}
	found := len(t.d.Roots) + len(t.d.Unexplained) + len(t.d.Accepted)
	open := !blind && found == 0 && t.d.Verdict.Class == diagnosis.Undetermined && !otherSystem(t.d)
	if open {
		t.supplies()
		t.Blank()
	}
	if blind || open || found > 0 || t.d.Verdict.Class == diagnosis.Settling {
		t.Line(0, page.Plain.Span("The whole answer: "), page.Cyan.Span(t.o.Again("diagnose")))
	}
}

// StageMark is the mark of a host or a stage in a state.
func StageMark(o diagnosis.StageOutcome) page.Mark { return stageMarks[o] }

var stageMarks = map[diagnosis.StageOutcome]page.Mark{
	diagnosis.StagePassed: page.Green.Mark(page.Good), diagnosis.StageFailed: page.Red.Mark(page.Bad), diagnosis.StageWaiting: page.Yellow.Mark(page.Wait),
	diagnosis.StageUnknown: page.Yellow.Mark(page.Open), diagnosis.StageNotApplicable: page.Dim.Mark(page.Good),
}

// whyLines is how many lines a host's reason has on a terminal.
const whyLines = 2

// table lists hosts. Why a host is where it is stands below it, on every screen alike; where no
// person reads it is the last column, so that each host is one line.
func (t *text) table(rows []diagnosis.HostState) {
	head := []string{"HOST", "ROLE", "STAGE", "STATE", "FOR"}
	cells := make([][]string, len(rows))
	width := make([]int, len(head))
	for i, h := range head {
		width[i] = page.Length(h)
	}
	for i, h := range rows {
		cells[i] = t.cells(h)
		for j, c := range cells[i] {
			width[j] = max(width[j], page.Length(c))
		}
	}
	beside := t.Width == page.NoWrap
	if !beside {
		width[0] = t.nameRoom(cells, width)
	}
	if !t.o.NoHeaders {
		line := "  " + page.Columns(head, width)
		if beside {
			line += "WHY"
		}
		t.Line(0, page.Bold.Span(strings.TrimRight(line, " ")))
	}
	run := 0
	for i, h := range rows {
		mark := StageMark(h.State)
		sign := fmt.Sprintf("%-2s", t.Sign(mark.Sign))
		if beside {
			first := sign + page.Columns(cells[i], width)
			t.Lead(0, mark.Paint.Span(first), strings.Repeat(" ", page.Length(first)), page.Plain, t.why(h), whyLines)
			continue
		}
		if page.Length(cells[i][0]) > width[0] { // the row would be wider than the screen
			t.Line(0, mark.Paint.Span(sign+cells[i][0]))
			sign, cells[i][0] = "  ", ""
		}
		t.Line(0, mark.Paint.Span(sign+strings.TrimRight(page.Columns(cells[i], width), " ")))
		run++
		why := t.CutLines(t.Clean(t.why(h)), whyLines) // before who it is about: as it is cut in a pipe
		if i+1 < len(rows) && t.why(h) == t.why(rows[i+1]) {
			continue // said once, below the last of them
		}
		if run > 1 && why != "" {
			who := "both"
			if run > 2 {
				who = fmt.Sprintf("all %d", run)
			}
			why = who + ": " + why
		}
		if run = 0; why != "" {
			t.Lead(4, page.Span{}, "", page.Plain, why, 0)
		}
	}
}

// nameRoom is how wide the column of the names is: that of the longest with which a row fits the screen. A longer one has a
// line of its own. Where none fits, it is the longest of all.
func (t *text) nameRoom(cells [][]string, width []int) int {
	room := t.Width - len("? ")
	for _, w := range width[1:] {
		room -= w + len("  ")
	}
	widest := 0
	for _, c := range cells {
		if n := page.Length(c[0]); n <= room {
			widest = max(widest, n)
		}
	}
	if widest == 0 {
		return width[0]
	}
	return max(widest, len("HOST"))
}

func (t *text) cells(h diagnosis.HostState) []string {
	role := h.Role
	if !h.Expected && !h.Bootstrap() {
		role = "(claimed)"
	}
	if role == "" {
		role = "-"
	}
	lasts := "-"
	known := h.State != diagnosis.StageUnknown // else for how long it is so is not known either
	if !h.Since.IsZero() && known && (!h.Done() || h.Bootstrap()) {
		lasts = fault.Span(t.d.Now.Sub(h.Since))
	}
	name := t.Clean(h.Name)
	step := string(h.Stage)
	if h.Bootstrap() { // it does not join
		step = "-"
	}
	return []string{name, t.Clean(role), step, string(h.State), lasts}
}

// why is a host's own reason, or the causes that block it.
func (t *text) why(h diagnosis.HostState) string {
	if h.Why != "" || len(h.BlockedBy) == 0 {
		return t.o.Brief(h.Why)
	}
	var titles []string
	for _, k := range h.BlockedBy {
		titles = append(titles, t.title(k))
	}
	return strings.Join(titles, "; ")
}

// openHosts are the hosts that are not done, and in wide output all of them; expected is how
// many there should be. None where no host is expected, or where the answer is about one
// subject.
func (t *text) openHosts() (rows []diagnosis.HostState, expected int) {
	for _, h := range t.d.Hosts {
		if h.Expected && !h.PerhapsNode { // it is one of the Nodes that are counted
			expected++
		}
		if (h.Expected || h.Bootstrap()) && !h.Done() || t.o.Wide {
			rows = append(rows, h)
		}
	}
	if expected == 0 && !slices.ContainsFunc(rows, diagnosis.HostState.Bootstrap) || t.o.Subject != nil {
		return nil, expected
	}
	return rows, expected
}

// hosts lists the hosts that are not done, with the reason.
func (t *text) hosts() {
	rows, _ := t.openHosts()
	if len(rows) == 0 {
		return
	}
	t.Blank()
	if t.o.Wide {
		t.Head(0, "Hosts")
		t.table(rows)
		return
	}
	t.Head(0, "Why each host is not done")
	t.byStage()
}

// notDone counts the expected hosts that are not done, and apart from them those of which
// that is not known: "2 of 5 not done, 1 unknown". Those that are done are Ready, too.
func notDone(list []diagnosis.HostState, of string) string {
	open, unknown, ready, perhaps := 0, 0, 0, 0
	for _, h := range list {
		switch {
		case h.PerhapsNode:
			perhaps++
		case h.Done() || !h.Expected:
		case h.State == diagnosis.StageUnknown:
			unknown++
			if h.Ready() {
				ready++
			}
		default:
			open++
		}
	}
	said := fmt.Sprintf("%d of %s not done, %d unknown", open, of, unknown)
	switch {
	case unknown == 0:
		said = fmt.Sprintf("%d of %s not done", open, of)
	case open == 0 && ready == unknown:
		all, _, _ := strings.Cut(of, " ") // "3 hosts"
		said = fmt.Sprintf("%s of %s Ready, %d not checked further", all, of, unknown)
	case open == 0:
		said = fmt.Sprintf("%d of %s unknown", unknown, of)
	}
	if perhaps > 0 {
		said += fmt.Sprintf("; %s these hosts (oc get machines -A -o wide shows the Nodes)", page.Count(perhaps, "Machine may be one of", "Machines may be"))
	}
	return said
}

// byStage writes the groups of hosts that are not done.
func (t *text) byStage() {
	for i, g := range t.d.Groups.Hosts {
		if i == fewPlaces {
			t.Line(2, page.Dim.Span("and others: "+t.o.Again("")))
			return
		}
		mark, first := StageMark(g.State), t.d.Hosts[g.First]
		line := fmt.Sprintf("%s at %s", g.State, g.Stage)
		if !first.Since.IsZero() && first.State != diagnosis.StageUnknown { // for how long it is so is not known either
			line += t.lasts(first.Since)
		}
		if why := t.why(first); why != "" {
			if len(g.Names) > 1 { // the reason of each has its own name
				why = strings.ReplaceAll(why, first.Name, "HOST")
			}
			line += ": " + why
		}
		if first.Bootstrap() {
			line = string(g.State) + ": " + t.why(first)
		}
		who := t.Clean(some(g.Names, fewNames))
		t.Lead(0, mark.Paint.Span(fmt.Sprintf("%-2s", t.Sign(mark.Sign))), "  ", page.Plain, who+" "+line, 2+page.Length(who)/page.LineRoom)
	}
}

const fewPlaces = 6

// stages lists every step of one host with its time and reason.
func (t *text) stages(h diagnosis.HostState) {
	t.Head(2, "Steps")
	for _, s := range h.Stages {
		if s.State == diagnosis.StageNotApplicable && !t.o.Wide {
			continue
		}
		mark := StageMark(s.State)
		lead := fmt.Sprintf("%-2s%-17s%-9s", t.Sign(mark.Sign), s.Stage, s.State)
		about := until(s.At)
		if s.Why != "" {
			about = strings.TrimSpace(about + "  " + s.Why)
		}
		t.Lead(2, mark.Paint.Span(lead), strings.Repeat(" ", page.Length(lead)), page.Plain, about, t.limit(2))
	}
}
