package message

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

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

	// Blank says that the text has nothing but white space.
	Blank bool `json:"-"`

	// Release3 says that a program of OpenShift 3 writes in the text: what Rollcall advises is for OpenShift 4.
	Release3 bool `json:"-"`

	// System is another distribution of Kubernetes whose text it is, "" for OpenShift and where nothing shows it.
	System string `json:"-"`
	// OpenShift says that the text has words that only OpenShift has, or is too long to say that it has none.
	OpenShift bool `json:"-"`

	// NoCluster says that the text is of an installation that was still making its machines.
	NoCluster bool `json:"-"`

	// Setting is where the text is from, as far as it shows that.
	Setting Setting `json:"-"`

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

	// Aside says that its lines are warnings, retries, or about logs that could not be gathered, in a text
	// that has an error, too: that one is asked for first.
	Aside bool `json:"-"`

	last int
	// Quiet is why a match is over: no line ends it, and the last 500 lines are without it.
	Quiet bool `json:"-"`

	// Beside says that it is no failure, and what explains the first one: it stands in the same text.
	Beside bool `json:"-"`

	// Others is how many objects it is about beside the one in its title.
	Others   int `json:"-"`
	subjects []string
	twice    bool // a fault says it as well

	effect bool // it only counts what others show
	// stopsAPI says that the API of a host cannot answer because of it.
	stopsAPI bool
	// stopsRequests says that no request for a certificate gets to the API because of it.
	stopsRequests bool
	root          bool // a rule says that it is the reason of others
	told          bool // it has what the command reported that failed
	answered      bool // another match has what the same lines report: nothing is to be looked at for this one
	former        bool // it is of a try before the last one, see formerTry

	missing bool        // an object does not exist that something else has to make first
	objects []rowObject // what its states are of
	rows    []int       // lines of the objects that it is about, where it is read from tables and conditions
	state   bool        // one of its lines is part of an object or a table: it has no later line
	depth   int         // how far behind in its first line it stands: the deepest error of a chain is the reason
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
	about                bool      // host is whom the message is about
	unit                 string    // of the block of systemctl status that the line is in
	row                  rowObject // the object that the line is a row of
}

func originOf(l logline.Line) origin {
	host := string(l.Host)
	if host == "localhost" || strings.HasPrefix(host, "localhost.") {
		host = "" // a host that has no name yet, which gets one in the same boot
	}
	about := aboutHost(l.Message)
	if about != "" {
		host = about
	}
	return origin{host: host, about: about != "", writer: string(l.Program), module: string(l.Module), form: l.Form}
}

// aboutHost returns the host that a message of the assisted service is about, "" for other messages: the
// service, and openshift-install that waits for it, log of all hosts in one place
// (openshift/assisted-service:internal/host/common.go, openshift/installer:pkg/agent/validations.go).
func aboutHost(message []byte) string {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(message, `"`), []byte("Host "))
	if !ok {
		return ""
	}
	name, rest, _ := bytes.Cut(rest, []byte(" "))
	before, isSubject := bytes.CutSuffix(name, []byte(":"))
	// openshift-install puts a status, which is a sentence, right behind the name (pkg/agent/cluster.go).
	sentence := len(rest) > 0 && rest[0] >= 'A' && rest[0] <= 'Z' && hostName.Match(before) && !linking[string(before)]
	if len(before) == 0 || !isSubject && !sentence && !bytes.HasPrefix(rest, []byte("validation: ")) {
		return ""
	}
	return string(before)
}

// hostName is the name of a host as the assisted service has it.
var hostName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$`)

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
		unseen := func(line int) bool { return !seen[line] }
		return len(m.rows) > 0 && !slices.ContainsFunc(m.rows, unseen)
	})
	ended := func(id string) bool {
		return slices.ContainsFunc(r.Over, func(m Match) bool { return m.Fault == id })
	}
	for _, s := range seenNeededFirst(list) {
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
			if kind, name, ok := strings.Cut(s.Subject, "/"); ok && name != fault.Unnamed {
				m.name(kind, name)
				if !slices.Contains(m.subjects, name) {
					m.subjects = append(m.subjects, name)
					m.Others = len(m.subjects) - 1
				}
			}
			if says := onePlaceholder.FindStringSubmatch(f.Title); says != nil { // its title is what its evidence says
				m.name(says[1], short(item.Excerpt))
			}
		}
	}
	for i := range r.Matches {
		r.Matches[i].Explains = nil
	}
	x.rank(r)
}

// saidTwice takes out what rows show and a fault of the same rows says as well. What to look at stays with the fault.
func (x *Index) saidTwice(r *Report) {
	for _, list := range [][]Match{r.Matches, r.Symptoms} {
		for i := range list {
			m := &list[i]
			f, ok := x.catalog.Fault(m.Fault)
			if !ok {
				continue
			}
			says := lastWord(fault.TitleOf(f, m.Names))
			for j := range r.Symptoms {
				s := &r.Symptoms[j]
				if s.ofRows() && s.Count <= m.Count && strings.Contains(s.Failure, s.Lines[0].row.name) && lastWord(s.Failure) == says && m.sharesLine(*s) {
					s.twice = true
					m.Lines = slices.Clone(m.Lines)
					for k, l := range m.Lines { // the row as it was pasted
						if at := slices.IndexFunc(s.Lines, func(o Line) bool { return o.Number == l.Number }); at >= 0 {
							m.Lines[k].Text = s.Lines[at].Text
						}
					}
					m.Next = cmp.Or(m.Next, s.Next)
				}
			}
		}
	}
	r.Symptoms = slices.DeleteFunc(r.Symptoms, func(m Match) bool { return m.twice })
}

// lastWord is the word in which a sentence about an object ends, such as Ready of "node m1 is not Ready".
func lastWord(title string) string {
	title = strings.TrimSuffix(strings.ToLower(title), "=true")
	return title[strings.LastIndexByte(title, ' ')+1:]
}

// sharesLine reports whether two matches have a line in common.
func (m *Match) sharesLine(other Match) bool {
	return slices.ContainsFunc(m.Lines, func(l Line) bool {
		return slices.ContainsFunc(other.Lines, func(o Line) bool { return o.Number == l.Number })
	})
}

// ofRows reports whether a failure that no fault stands for is only in rows of tables: each is an object.
func (m *Match) ofRows() bool {
	return m.Fault == "" && len(m.Candidates) == 0 && len(m.Lines) > 0 && !slices.ContainsFunc(m.Lines, func(l Line) bool { return l.row.name == "" })
}

// onePlaceholder is a title that is nothing but the sentence of a fact.
var onePlaceholder = regexp.MustCompile(`^\{([a-z]+\.[a-z]+)\}$`)

// name keeps a name that is not there yet.
func (m *Match) name(key, name string) {
	if name == "" || m.Names[key] != "" {
		return
	}
	if m.Names == nil {
		m.Names = map[string]string{}
	}
	m.Names[key] = name
}

// Merge puts what several texts show together. A match of one is not over because of another.
func Merge(texts []*Report) *Report {
	all := texts[0]
	for _, r := range texts[1:] {
		all.Matches, all.Symptoms, all.Over = join(all.Matches, r.Matches), join(all.Symptoms, r.Symptoms), join(all.Over, r.Over)
		all.Errors, all.ErrorLines, all.PastErrors = append(all.Errors, r.Errors...), all.ErrorLines+r.ErrorLines, all.PastErrors+r.PastErrors
		all.Lines, all.Bytes = all.Lines+r.Lines, all.Bytes+r.Bytes
		all.Blank = all.Blank && r.Blank
		all.Release3 = all.Release3 || r.Release3
		all.Setting = all.Setting.and(r.Setting)
		if all.OpenShift = all.OpenShift || r.OpenShift; all.System == "" {
			all.System = r.System
		}
	}
	if all.OpenShift {
		all.System, all.Setting.System = "", "" // not all of them are of it
	}
	all.neutral()
	return all
}

// neutral takes out of the next steps what another distribution does not have.
func (r *Report) neutral() {
	if r.System == "" {
		return
	}
	r.Setting.System = r.System
	for i := range r.Matches {
		r.Matches[i].Next = withKubectl(r.System, r.Matches[i].Next)
	}
	for i := range r.Symptoms {
		r.Symptoms[i].Next = withKubectl(r.System, r.Symptoms[i].Next)
	}
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
	if t.count > len(t.first) || !m.hasLines(Match{Lines: t.first}) || len(m.Lines) == 0 { // another rule has the same lines
		m.Count += t.count
	}
	m.last = max(m.last, t.last.Number)
	m.state = m.state || t.last.form == logline.State
	for _, node := range t.nodes {
		if !slices.Contains(m.subjects, node) {
			m.subjects = append(m.subjects, node)
		}
	}
	m.Others = max(m.Others, len(m.subjects)-1)
	for _, l := range t.first {
		for key, name := range namesIn(l) {
			m.name(key, name)
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
