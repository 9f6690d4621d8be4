package message

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// keptLines is how many lines of a match are kept, besides the last one.
const keptLines = 2

// collector gathers what blocks show.
type collector struct {
	x       *Index
	clean   func(string) string
	by      map[int]*ruleMatches
	with    map[int]bool
	no      map[int]bool
	tells   map[tell]bool
	next    map[string]string // what to look at, by failure
	steps   map[string]bool   // failures that name the step that failed
	forms   map[string]string // failures by their words, as the catalog has them, with placeholders
	silent  []string          // failures that only say that a command failed, see reportedTo
	lines   int
	bytes   int64
	written bool // a block has

	errors     map[string]*errorForm
	moreErrors int // lines of forms beyond the bound
	hints      []Line
	hinted     int

	reports       []Line // see reportedOnly
	reportedLines int

	terraform bool
	states    []state
	view      hostView
	past      past

	modes        []fileMode
	release3     bool
	system       string
	openShift    bool // it may be of OpenShift
	setting      Setting
	certificates []certificate
	clocks       []clock
	facts        []pageFact
	apiLeaves    map[logline.Leaf]bool // what came of requests to the API server
}

// ruleMatches is what was met of one rule. Its lines are as they were read: to clean each of
// hundreds of thousands takes longer than to find them, and at most three are printed.
type ruleMatches struct {
	count int
	first []Line
	last  Line
	hosts map[string]Line // the last line of each host

	counts map[string]int // lines, by host
	depth  int            // how far behind in its first line the rule holds
	own    string         // what the first line says behind what the rule is found by
	nodes  []string       // the nodes and hosts that the lines are about

	parts map[string]*ruleMatches // by unit, pod or reported error, see partOf
}

// maxHosts bounds the hosts of one text whose lines are told apart.
const maxHosts = 64

// add takes one more line.
func (t *ruleMatches) add(line Line) {
	t.count++
	if len(t.first) < keptLines {
		t.first = append(t.first, line)
	}
	t.last = line
	if node := line.subject(); node != "" && len(t.nodes) < maxHosts && !slices.Contains(t.nodes, node) {
		t.nodes = append(t.nodes, node)
	}
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	if _, have := t.counts[line.host]; have || len(t.counts) < maxHosts {
		t.counts[line.host]++
	}
	if _, have := t.hosts[line.host]; have || len(t.hosts) < maxHosts {
		t.hosts[line.host] = line
	}
}

// print makes the lines fit to be printed: without secrets, and short.
func (t *ruleMatches) print(clean func(string) string) {
	for i := range t.first {
		t.first[i].Text = short(clean(t.first[i].Text))
	}
	t.last.Text = short(clean(t.last.Text))
}

func newCollector(x *Index, clean func(string) string) *collector {
	return &collector{x: x, clean: clean, by: map[int]*ruleMatches{}, with: map[int]bool{}, no: map[int]bool{}, tells: map[tell]bool{},
		next: map[string]string{}, steps: map[string]bool{}, forms: map[string]string{},
		errors: map[string]*errorForm{}, past: newPast(), apiLeaves: map[logline.Leaf]bool{}}
}

func (c *collector) add(f found) {
	for _, h := range f.hits {
		t := c.by[h.rule]
		if t == nil {
			t = &ruleMatches{hosts: map[string]Line{}}
			c.by[h.rule] = t
		}
		line := Line{Number: c.lines + h.line, Text: h.text, Program: c.x.rules[h.rule].program, origin: h.from}
		t.add(line)
		if over := c.x.rules[h.rule].over; over != nil && over.same && len(t.hosts) < maxHosts {
			t.hosts[line.host+"\x00"+line.Text] = line // each of them ends what is of its own object
		}
		if c.x.rules[h.rule].ofOperator() {
			t.neededFirst(line)
		}
		if part := t.part(c.x.partKey(&c.x.rules[h.rule], line)); part != nil {
			part.add(line)
		}
	}
	c.addErrors(f)
	c.addHints(f)
	for _, l := range f.reports {
		if l.Number += c.lines; len(c.reports) < maxForms {
			c.reports = append(c.reports, l)
		}
	}
	c.reportedLines += f.reportedLines
	c.terraform = c.terraform || f.terraform
	c.addStates(f)
	c.addView(f.view)
	c.past.add(f.marks, c.lines)
	for _, x := range f.certificates {
		x.line += c.lines
		c.certificates = append(c.certificates, x)
	}
	c.clocks = append(c.clocks, f.clocks...)
	for _, fact := range f.facts {
		fact.line.Number += c.lines
		c.facts = append(c.facts, fact)
	}
	for _, m := range f.modes {
		m.line.Number += c.lines
		c.modes = append(c.modes, m)
	}
	c.release3 = c.release3 || f.release3
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
	c.written = c.written || f.written
}

// maxText bounds a line that is kept, in characters.
const maxText = 800

// stack is how the stack of a line begins that zap wrote: it is behind what the line reports.
const stack = `,"stacktrace":"`

// short is a line that fits: a long one loses its middle, as its end has the reason.
func short(text string) string {
	text = plain(text)
	r := []rune(text)
	if len(r) <= maxText {
		return text
	}
	if head, _, ok := strings.Cut(text, stack); ok {
		return short(head + "…")
	}
	if reason := lastError(text); reason != "" && len([]rune(reason)) <= maxText*3/4 {
		return evidence.Shorten(strings.TrimSuffix(text, reason), maxText-len([]rune(reason))-1) + " " + reason
	}
	const tail = maxText * 3 / 8
	end := string(r[len(r)-tail:])
	if i := strings.IndexByte(end, ' '); i >= 0 && i < len(end)/2 {
		end = end[i:]
	}
	return evidence.Shorten(text, maxText-tail-1) + " " + strings.TrimLeft(end, " ,;:)")
}

func (c *collector) report() *Report {
	r := &Report{Result: Absent, Matches: []Match{}, Lines: c.lines, Bytes: c.bytes, Blank: !c.written}
	byFault, byFailure := map[string]*Match{}, map[string]*Match{}
	pastFault, pastFailure := map[string]*Match{}, map[string]*Match{}
	c.past.enders = c.enders()
	for _, i := range sorted(c.by) {
		rule := &c.x.rules[i]
		if !c.counts(i) {
			continue
		}
		for _, t := range c.by[i].apart() {
			toFault, toFailure := byFault, byFailure
			if c.allEnded(rule, t) {
				toFault, toFailure = pastFault, pastFailure
			} else {
				t = c.current(rule, t)
			}
			c.ruleTo(r, toFault, toFailure, i, t)
		}
	}
	c.dropUnnamed(byFailure)
	c.unknownErrors(r, byFailure, byFault)
	c.dropSilent(byFailure)
	c.dropRetried(byFailure, r.Errors)
	c.statesTo(r, byFailure)
	c.outOfDate(byFailure, byFault)
	c.viewTo(byFailure, byFault)
	c.deniedBy(byFailure)
	c.dropRefuted(byFault, byFailure)
	if byFailure[ofNoRelease] != nil { // nobody has to have that image
		delete(byFault, "image-pull-not-found")
	}
	if c.bytes <= maxHinted && len(byFault)+len(byFailure)+len(pastFault)+len(pastFailure)+r.ErrorLines+r.PastErrors == 0 {
		c.hintsTo(r, byFailure, byFault)
	}
	for _, of := range []map[string]*Match{byFault, byFailure} {
		for _, m := range of {
			m.former = c.past.formerTry(m)
		}
	}
	for id, m := range byFault {
		f, _ := c.x.catalog.Fault(id)
		m.Fault, m.Aliases, m.Next, m.Step = id, f.Aliases, c.next[id], f.ReasonElsewhere
		switch {
		case (m.Confidence == fault.ShowsPossible || !f.StandsAlone && !f.TextOnly()) && c.quiet(m):
			m.Quiet = true
			r.Over = append(r.Over, *m)
		case c.isEffect(id, m, byFailure, byFault):
			m.effect = true
			r.Symptoms = append(r.Symptoms, *m)
		case (f.StandsAlone || f.TextOnly()) && !f.ReasonElsewhere:
			r.Matches = append(r.Matches, *m)
		default:
			r.Symptoms = append(r.Symptoms, *m)
		}
	}
	for words, m := range byFailure {
		if m.Next = c.next[words]; m.Next == "" && !m.answered {
			m.Next = c.x.nextOf(m.Lines[0].origin)
		}
		m.Step = c.steps[words] || c.x.steps[words]
		m.effect = m.effect || c.x.effects[words]
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
	r.Release3 = c.release3
	r.NoCluster = c.terraform || byFault["installer-infrastructure-failed"] != nil
	r.System, r.OpenShift = c.system, c.openShift
	r.Setting = c.setting
	if r.NoCluster || byFault["installer-assets-failed"] != nil && r.Setting.Phase == "" && !r.Setting.API {
		r.Setting.Phase, r.NoCluster = NothingMade, true
	}
	c.reportedOnly(r)
	r.neutral()
	r.suit()
	c.x.rank(r)
	r.olderDay()
	c.besideFirst(r)
	return r
}

// ruleTo puts what was met of one rule into the report.
func (c *collector) ruleTo(r *Report, faults, failures map[string]*Match, i int, t *ruleMatches) {
	rule := &c.x.rules[i]
	own := rule.own(t.first[0].Text)
	chain, last := rule.reportedIn(t.first[0].Text)
	reports := findReported(c.x.reported[rule.ReportedBy], chain) != nil
	if c.x.reasons[rule.Failure] { // the conditions behind it are others
		own, _, _ = strings.Cut(own, `\n`)
		own, _, _ = strings.Cut(own, "\n")
	}
	t.own = short(c.clean(strings.ReplaceAll(own, `\n`, " ")))
	t.print(c.clean)
	t.depth = strings.LastIndex(strings.ToLower(t.first[0].Text), string(rule.parts[0]))
	if t.first[0].row.isReporting() {
		t.depth += maxTried // what is around the report of a node comes before it in the chain
	}
	switch {
	case rule.ReportedBy != "" && (len(rule.Causes) == 0 || reports):
		c.reportedTo(failures, rule, t, chain, last)
	case len(rule.Causes) > 0:
		c.causes(faults, failures, i, t)
	case rule.Lasts.Duration > 0:
		c.lasting(faults, failures, rule, t)
	case rule.Fault != "":
		grade := rule.Shows
		if grade == "" {
			grade = fault.ShowsLikely
		}
		c.match(faults, rule.Fault, grade, t)
	case c.x.ofServers[rule.Failure] && c.namesServer(faults, failures, t):
	case rule.Failure != "":
		words := ofRow(withNames(rule.Failure, t.first[0]), t)
		c.match(failures, words, fault.ShowsPossible, t)
		c.steps[words], c.forms[words] = c.x.steps[rule.Failure], rule.Failure
		if c.x.reasons[rule.Failure] {
			failures[words].Reason, failures[words].root = true, true
		}
		if next := cmp.Or(rule.nextOfOwn(t.own, t.first[0].row), rule.Next); next != "" {
			c.next[words] = nextFor(next, t.first[0])
		}
	case len(r.Normal) < maxNormal:
		r.Normal = append(r.Normal, Note{rule.Normal, t.first[0]})
	}
}

// enders are the lines that end what others of the same host show.
func (c *collector) enders() (list []ender) {
	for i, t := range c.by {
		r := &c.x.rules[i]
		if r.over == nil && len(r.Ends) == 0 && r.Proves == "" {
			continue
		}
		for _, l := range t.hosts {
			list = append(list, ender{
				line: l.Number, text: plainLower(nil, []byte(l.Text)), host: l.host, state: l.form == logline.State && !ansibleRecap.MatchString(l.Text),
				typed: isTyped(l) || r.command != nil,
				over:  r.over, ends: r.Ends, stage: stageIndex(r.Proves),
			})
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
