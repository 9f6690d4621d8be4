package message

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// Result is what a text shows.
type Result string

// The results. A text that shows a failure and not its cause is unknown.
const (
	Present Result = "present" // it shows a cause
	Absent  Result = "absent"  // it shows nothing that is known as a sign of trouble
	Unknown Result = "unknown" // something is wrong, and it does not show what
)

// Report is what was found in a text.
type Report struct {
	Result   Result         `json:"result"`
	Matches  []Match        `json:"matches"`                 // causes, best first
	Symptoms []Match        `json:"symptoms,omitempty"`      // faults that are effects of others, and failures without a known cause
	Over     []Match        `json:"over,omitempty"`          // shown, and a later line ends them, or many lines went by without them
	Errors   []UnknownError `json:"unknownErrors,omitempty"` // what programs call errors and no message knows, in the order of the text
	// ErrorLines counts the lines of Errors, PastErrors those that a later line ends or that
	// were not seen in the last 500 lines of a log.
	ErrorLines int `json:"unknownErrorLines,omitempty"`
	PastErrors int `json:"pastErrorLines,omitempty"`

	Damaged string `json:"damaged,omitempty"` // why the object that the text is cannot be read whole, with the line
	Lines   int    `json:"lines"`
	Bytes   int64  `json:"bytes"`

	// NoCluster says that the text is of an installation that was still making its machines.
	NoCluster bool `json:"-"`

	Normal []Note `json:"-"` // lines that are known as no sign of trouble, the first ones
}

// Break notes that the text is an object that cannot be read whole: what it does not show
// is then not known.
func (r *Report) Break(why string) {
	if r.Damaged = why; r.Result == Absent {
		r.Result = Unknown
	}
}

// Note is a line that is no sign of trouble, and why.
type Note struct {
	Words string
	Line  Line
}

const maxNormal = 20

// Match is one fault, or one failure, that lines show.
type Match struct {
	Fault      string      `json:"fault,omitempty"`
	Aliases    []string    `json:"aliases,omitempty"`
	Failure    string      `json:"failure,omitempty"` // what has failed, where no fault is known
	Next       string      `json:"next,omitempty"`    // what to look at, where no fault is known
	Confidence fault.Grade `json:"confidence"`
	Explains   []string    `json:"explains,omitempty"` // other matches that usually follow from it
	Count      int         `json:"count"`              // lines that show it
	Lines      []Line      `json:"lines"`              // the first ones, and the last one

	// Candidates are the faults that can print the lines, the likeliest first, where the text
	// does not show which of them it is.
	Candidates []string `json:"candidates,omitempty"`

	Names map[string]string `json:"names,omitempty"` // that its first line gives: host, operator, pull.registry and so on
	// Reason says that the line itself gives the reason: nothing else has to be found.
	Reason bool `json:"reason,omitempty"`

	// Step says that it names the step that failed, and not why.
	Step bool `json:"-"`
	// Own is what its first line says behind the words by which it is known: where it is a step,
	// the reason in the words of the program.
	Own string `json:"-"`

	last int
	// Quiet is why a match is over: no line ends it, and the last 500 lines are without it.
	Quiet bool `json:"-"`

	effect bool  // it only counts what others show
	rows   []int // lines of the objects that it is about, where it is read from tables and conditions
	state  bool  // one of its lines is part of an object or a table: it has no later line
	depth  int   // how far behind in its first line it stands: the deepest error of a chain is the reason
}

// Line is a line of the text.
type Line struct {
	Number  int    `json:"line"`
	Text    string `json:"text"`
	Program string `json:"program,omitempty"` // whose message it is
	origin
}

// origin is where a line comes from, by its own headers.
type origin struct {
	host, writer, module string
	form                 logline.Form
	unit                 string // of the block of systemctl status that the line is in
}

func originOf(l logline.Line) origin {
	host := string(l.Host)
	if host == "localhost" || strings.HasPrefix(host, "localhost.") {
		host = "" // a host that has no name yet, which gets one in the same boot
	}
	return origin{host: host, writer: string(l.Program), module: string(l.Module), form: l.Form}
}

// keptLines is how many lines of a match are kept, besides the last one.
const keptLines = 2

// collector gathers what blocks show.
type collector struct {
	x     *Index
	clean func(string) string
	by    map[int]*ruleMatches
	with  map[int]bool
	no    map[int]bool
	tells map[tell]bool
	next  map[string]string // what to look at, by failure
	steps map[string]bool   // failures that name the step that failed
	lines int
	bytes int64

	errors     map[string]*errorForm
	moreErrors int // lines of forms beyond the bound
	hints      []Line
	hinted     int
	terraform  bool
	states     []state
	past       past

	certificates []certificate
	clock        time.Time
}

// ruleMatches is what was met of one rule. Its lines are as they were read: to clean each of
// hundreds of thousands takes longer than to find them, and at most three are printed.
type ruleMatches struct {
	count int
	first []Line
	last  Line
	hosts map[string]Line // the last line of each host
	depth int             // how far behind in its first line the rule holds
	own   string          // what the first line says behind what the rule is found by
}

// maxHosts bounds the hosts of one text whose lines are told apart.
const maxHosts = 64

// print makes the lines fit to be printed: without secrets, and short.
func (t *ruleMatches) print(clean func(string) string) {
	for i := range t.first {
		t.first[i].Text = short(clean(t.first[i].Text))
	}
	t.last.Text = short(clean(t.last.Text))
}

func newCollector(x *Index, clean func(string) string) *collector {
	return &collector{x: x, clean: clean, by: map[int]*ruleMatches{}, with: map[int]bool{}, no: map[int]bool{}, tells: map[tell]bool{},
		next: map[string]string{}, steps: map[string]bool{},
		errors: map[string]*errorForm{}, past: past{boots: map[string]int{}, done: map[string]int{}, names: map[string]string{}}}
}

func (c *collector) add(f found) {
	for _, h := range f.hits {
		t := c.by[h.rule]
		if t == nil {
			t = &ruleMatches{hosts: map[string]Line{}}
			c.by[h.rule] = t
		}
		t.count++
		line := Line{Number: c.lines + h.line, Text: h.text, Program: c.x.rules[h.rule].program, origin: h.from}
		if len(t.first) < keptLines {
			t.first = append(t.first, line)
		}
		t.last = line
		if _, have := t.hosts[line.host]; have || len(t.hosts) < maxHosts {
			t.hosts[line.host] = line
		}
	}
	c.addErrors(f)
	c.addHints(f)
	c.terraform = c.terraform || f.terraform
	c.addStates(f)
	c.past.add(f.marks, c.lines)
	for _, x := range f.certificates {
		x.line += c.lines
		c.certificates = append(c.certificates, x)
	}
	if !f.clock.IsZero() {
		c.clock = f.clock
	}
	for _, r := range f.with {
		c.with[r] = true
	}
	for _, r := range f.without {
		c.no[r] = true
	}
	for _, t := range f.tells {
		c.tells[t] = true
	}
	c.lines += f.lines
	c.bytes += f.bytes
}

// maxText bounds a line that is kept, in characters.
const maxText = 500

func short(text string) string {
	text = plain(text)
	return evidence.Shorten(text, maxText)
}

func (c *collector) report() *Report {
	r := &Report{Result: Absent, Matches: []Match{}, Lines: c.lines, Bytes: c.bytes}
	byFault, byFailure := map[string]*Match{}, map[string]*Match{}
	pastFault, pastFailure := map[string]*Match{}, map[string]*Match{}
	c.past.enders = c.enders()
	for _, i := range sorted(c.by) {
		rule, t := &c.x.rules[i], c.by[i]
		if len(rule.With) > 0 && !c.with[i] || c.no[i] || rule.Lines > 0 && c.lines > rule.Lines {
			continue
		}
		toFault, toFailure := byFault, byFailure
		if c.allEnded(rule, t) {
			toFault, toFailure = pastFault, pastFailure
		}
		t.own = short(c.clean(rule.own(t.first[0].Text)))
		t.print(c.clean)
		t.depth = strings.LastIndex(strings.ToLower(t.first[0].Text), string(rule.parts[0]))
		switch {
		case len(rule.Causes) > 0:
			c.causes(toFault, toFailure, i, t)
		case rule.Lasts.Duration > 0:
			c.lasting(toFault, toFailure, rule, t)
		case rule.Fault != "":
			grade := rule.Shows
			if grade == "" {
				grade = fault.ShowsLikely
			}
			c.match(toFault, rule.Fault, grade, t)
		case rule.Failure != "":
			words := withNames(rule.Failure, t.first[0])
			c.match(toFailure, words, fault.ShowsPossible, t)
			c.steps[words] = c.x.steps[rule.Failure]
			if rule.Next != "" {
				c.next[words] = withNames(rule.Next, t.first[0])
			}
		case len(r.Normal) < maxNormal:
			r.Normal = append(r.Normal, Note{rule.Normal, t.first[0]})
		}
	}
	c.unknownErrors(r, byFailure, byFault)
	c.statesTo(r, byFailure)
	c.outOfDate(byFailure, byFault)
	if c.bytes <= maxHinted && len(byFault)+len(byFailure)+len(pastFault)+len(pastFailure)+r.ErrorLines+r.PastErrors == 0 {
		c.hintsTo(r, byFailure, byFault)
	}
	for id, m := range byFault {
		f, _ := c.x.catalog.Fault(id)
		m.Fault, m.Aliases, m.Next, m.Step = id, f.Aliases, c.next[id], f.ReasonElsewhere
		switch {
		case (m.Confidence == fault.ShowsPossible || !f.StandsAlone && !f.TextOnly()) && c.quiet(m):
			m.Quiet = true
			r.Over = append(r.Over, *m)
		case (f.StandsAlone || f.TextOnly()) && !f.ReasonElsewhere:
			r.Matches = append(r.Matches, *m)
		default:
			r.Symptoms = append(r.Symptoms, *m)
		}
	}
	for words, m := range byFailure {
		if m.Next = c.next[words]; m.Next == "" {
			m.Next = c.x.nextOf(m.Lines[0].origin)
		}
		m.Step = c.steps[words] || c.x.steps[words]
		if m.Failure = words; c.quiet(m) {
			m.Quiet = true
			r.Over = append(r.Over, *m)
			continue
		}
		r.Symptoms = append(r.Symptoms, *m)
	}
	for id, m := range pastFault {
		if byFault[id] == nil {
			f, _ := c.x.catalog.Fault(id)
			m.Fault, m.Aliases = id, f.Aliases
			r.Over = append(r.Over, *m)
		}
	}
	for words, m := range pastFailure {
		if byFailure[words] == nil {
			m.Next, m.Failure = c.next[words], words
			r.Over = append(r.Over, *m)
		}
	}
	r.NoCluster = c.terraform || byFault["installer-infrastructure-failed"] != nil
	c.x.rank(r)
	return r
}

// enders are the lines that end what others of the same host show.
func (c *collector) enders() (list []ender) {
	for i, t := range c.by {
		r := &c.x.rules[i]
		if r.over == nil && len(r.Ends) == 0 && r.Proves == "" {
			continue
		}
		for host, l := range t.hosts {
			list = append(list, ender{line: l.Number, host: host, state: l.form == logline.State, typed: isTyped(l), over: r.over, ends: r.Ends,
				stage: stageIndex(r.Proves)})
		}
	}
	return list
}

// isTyped reports whether a line is a command behind the prompt of a shell.
func isTyped(l Line) bool {
	_, ok := logline.Command([]byte(l.Text))
	return ok
}

// allEnded reports whether what a rule shows is over on each host that shows it.
func (c *collector) allEnded(r *rule, t *ruleMatches) bool {
	for _, l := range t.hosts {
		if !c.ended(r, l) {
			return false
		}
	}
	return true
}

// Seen is a fault that was decided from the objects and journals in the same text.
type Seen struct {
	Fault    string
	Subject  string
	Shows    fault.Grade
	Evidence []evidence.Item
}

// Join adds what was decided from objects and journals to what messages show. A fault that
// both show is one match, as sure as the surer of them. What a later line ended stays over.
func (x *Index) Join(r *Report, list []Seen) {
	seen := map[int]bool{}
	for _, s := range list {
		for _, item := range s.Evidence {
			seen[item.Locator.Line] = true
		}
	}
	r.Symptoms = slices.DeleteFunc(r.Symptoms, func(m Match) bool { // rules know these objects: they are not said twice
		return len(m.rows) > 0 && !slices.ContainsFunc(m.rows, func(line int) bool { return !seen[line] })
	})
	ended := func(id string) bool {
		return slices.ContainsFunc(r.Over, func(m Match) bool { return m.Fault == id })
	}
	for _, s := range list {
		f, ok := x.catalog.Fault(s.Fault)
		if !ok || ended(s.Fault) {
			continue
		}
		to := &r.Symptoms
		if f.StandsAlone {
			to = &r.Matches
			r.Symptoms = slices.DeleteFunc(r.Symptoms, func(m Match) bool { return m.Fault == s.Fault })
		}
		i := slices.IndexFunc(*to, func(m Match) bool { return m.Fault == s.Fault })
		if i < 0 {
			*to = append(*to, Match{Fault: s.Fault, Aliases: f.Aliases, Confidence: s.Shows, Lines: []Line{}, Step: f.ReasonElsewhere})
			i = len(*to) - 1
		}
		m := &(*to)[i]
		if s.Shows.Rank() > m.Confidence.Rank() {
			m.Confidence = s.Shows
		}
		for _, item := range s.Evidence {
			m.Count++
			if m.Own == "" && len(strings.Fields(item.Excerpt)) > leastOwn {
				m.Own = trimmed(short(item.Excerpt))
			}
			if len(m.Lines) <= keptLines {
				text := item.Excerpt
				if _, name, _ := strings.Cut(s.Subject, "/"); !strings.Contains(text, name) || name == "" {
					text = s.Subject + ": " + text
				}
				m.Lines = append(m.Lines, Line{Number: item.Locator.Line, Text: short(text)})
			}
			if kind, name, ok := strings.Cut(s.Subject, "/"); ok && name != "" && m.Names[kind] == "" {
				if m.Names == nil {
					m.Names = map[string]string{}
				}
				m.Names[kind] = name
			}
		}
	}
	for i := range r.Matches {
		r.Matches[i].Explains = nil
	}
	x.rank(r)
}

// Merge puts what several texts show together. A match of one is not over because of another.
func Merge(texts []*Report) *Report {
	all := texts[0]
	for _, r := range texts[1:] {
		all.Matches, all.Symptoms, all.Over = join(all.Matches, r.Matches), join(all.Symptoms, r.Symptoms), join(all.Over, r.Over)
		all.Errors, all.ErrorLines, all.PastErrors = append(all.Errors, r.Errors...), all.ErrorLines+r.ErrorLines, all.PastErrors+r.PastErrors
		all.Lines, all.Bytes = all.Lines+r.Lines, all.Bytes+r.Bytes
	}
	return all
}

func join(a, b []Match) []Match {
	for _, m := range b {
		i := slices.IndexFunc(a, func(have Match) bool { return have.Fault == m.Fault && have.Failure == m.Failure })
		if i < 0 {
			a = append(a, m)
			continue
		}
		if a[i].Count += m.Count; m.Confidence.Rank() > a[i].Confidence.Rank() {
			a[i].Confidence = m.Confidence
		}
	}
	return a
}

// quietLines is after how many lines without it a failure no longer counts: what fails
// once while programs start is in every log.
const quietLines = 500

// quiet reports whether a match was not seen in the last lines of a long text.
func (c *collector) quiet(m *Match) bool { return !m.state && c.lines-m.last > quietLines }

func sorted(by map[int]*ruleMatches) []int {
	var list []int
	for i := range by {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}

// match adds what was met of one rule to a match.
func (c *collector) match(to map[string]*Match, key string, grade fault.Grade, t *ruleMatches) {
	m := to[key]
	if m == nil {
		m = &Match{Confidence: grade, depth: t.depth, Own: t.own}
		to[key] = m
	}
	if grade.Rank() > m.Confidence.Rank() {
		m.Confidence = grade
	}
	m.Count += t.count
	m.last = max(m.last, t.last.Number)
	m.state = m.state || t.last.form == logline.State
	for _, l := range t.first {
		for key, name := range namesIn(l) {
			if m.Names == nil {
				m.Names = map[string]string{}
			}
			if _, ok := m.Names[key]; !ok {
				m.Names[key] = name
			}
		}
	}
	m.Lines = append(m.Lines, t.first...)
	if t.count > len(t.first) {
		m.Lines = append(m.Lines, t.last)
	}
	slices.SortStableFunc(m.Lines, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
	m.Lines = slices.CompactFunc(m.Lines, func(a, b Line) bool { return a.Number == b.Number })
	if n := len(m.Lines); n > keptLines+1 {
		m.Lines = append(m.Lines[:keptLines:keptLines], m.Lines[n-1])
	}
}

// rank orders causes: those that explain others before these, the surer ones first.
func (x *Index) rank(r *Report) {
	for i := range r.Matches {
		for j := range r.Matches {
			a, b := &r.Matches[i], &r.Matches[j]
			if i != j && x.explains(a.Fault, b.Fault) && !x.explains(b.Fault, a.Fault) && a.Confidence.Rank() >= min(b.Confidence.Rank(), 2) {
				a.Explains = append(a.Explains, b.Fault)
			}
		}
		for _, s := range r.Symptoms {
			if s.Fault != "" && x.explains(r.Matches[i].Fault, s.Fault) {
				r.Matches[i].Explains = append(r.Matches[i].Explains, s.Fault)
			}
		}
	}
	effects := map[string]bool{}
	for _, m := range r.Matches {
		for _, id := range m.Explains {
			effects[id] = true
		}
	}
	// What is not even an error does not go before an error, however plainly it is said.
	grave := func(m Match) bool {
		return m.Confidence.Rank() >= fault.ShowsLikely.Rank() && x.severity(m.Fault) >= fault.Error.Rank()
	}
	order := func(a, b Match) int {
		return cmp.Or(boolFirst(!effects[a.Fault], !effects[b.Fault]), boolFirst(!a.Step, !b.Step), boolFirst(!a.effect, !b.effect),
			boolFirst(!x.ends(a), !x.ends(b)),
			boolFirst(grave(a), grave(b)), -cmp.Compare(a.Confidence.Rank(), b.Confidence.Rank()),
			-cmp.Compare(x.severity(a.Fault), x.severity(b.Fault)), -cmp.Compare(len(a.Explains), len(b.Explains)),
			cmp.Compare(a.firstLine(), b.firstLine()), -cmp.Compare(a.Count, b.Count), cmp.Compare(a.Fault+a.Failure, b.Fault+b.Failure))
	}
	slices.SortFunc(r.Matches, order)
	slices.SortFunc(r.Symptoms, order)
	deepestFirst(r.Symptoms)
	slices.SortFunc(r.Over, order)
	switch {
	case len(r.Matches) > 0 && r.Matches[0].Confidence.Rank() >= fault.ShowsLikely.Rank():
		r.Result = Present
	case len(r.Matches)+len(r.Symptoms)+r.ErrorLines > 0:
		r.Result = Unknown
	}
}

// deepestFirst orders what stands in the same line: the last error of a chain is the reason of
// those before it. The places that they have among the others stay.
func deepestFirst(list []Match) {
	places := map[int][]int{}
	for i, m := range list {
		if line := m.firstLine(); line != math.MaxInt {
			places[line] = append(places[line], i)
		}
	}
	for _, at := range places {
		same := make([]Match, 0, len(at))
		for _, i := range at {
			same = append(same, list[i])
		}
		slices.SortStableFunc(same, func(a, b Match) int {
			if a.state || b.state { // the cells of a row are no chain
				return cmp.Or(boolFirst(a.Reason, b.Reason), boolFirst(!a.Step, !b.Step))
			}
			return cmp.Or(boolFirst(!a.Step, !b.Step), cmp.Compare(b.depth, a.depth))
		})
		for j, i := range at {
			list[i] = same[j]
		}
	}
}

// firstLine is where a match is seen first; what was read from objects comes last.
func (m Match) firstLine() int {
	if len(m.Lines) == 0 || m.Lines[0].Number == 0 {
		return math.MaxInt
	}
	return m.Lines[0].Number
}

// ends reports whether a step leads to nothing else: it is the last one of all that failed, as where
// openshift-install gives up.
func (x *Index) ends(m Match) bool {
	f, ok := x.catalog.Fault(m.Fault)
	return ok && m.Step && len(f.Explains) == 0
}

func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (x *Index) severity(id string) int {
	if f, ok := x.catalog.Fault(id); ok {
		return f.Severity.Rank()
	}
	return 0
}

// explains reports whether a fault usually leads to another, directly or over one more.
func (x *Index) explains(cause, effect string) bool {
	f, ok := x.catalog.Fault(cause)
	if !ok {
		return false
	}
	for _, e := range f.Explains {
		if e.Strength == fault.PossibleEdge {
			continue
		}
		if e.Fault == effect {
			return true
		}
		if next, ok := x.catalog.Fault(e.Fault); ok && slices.ContainsFunc(next.Explains, func(e fault.Edge) bool {
			return e.Fault == effect && e.Strength != fault.PossibleEdge
		}) {
			return true
		}
	}
	return false
}
