package fault

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Messages is one file of the catalog's directory "messages": what one program prints,
// and what a line of it shows. The YAML form is described in docs/writing-a-message.md.
type Messages struct {
	Program  string    `json:"program"`         // as its users call it: machine-config-daemon
	Where    string    `json:"where,omitempty"` // where its lines are found
	Messages []Message `json:"messages,omitempty"`
	Refs     []Ref     `json:"refs"`

	// Shared are lists of causes by name: messages of any file refer to them with causesOf.
	Shared map[string][]MessageCause `json:"shared,omitempty"`
	// Reported are lists, by name, of what commands say behind their last "error:": messages of any file refer to them
	// with reportedBy.
	Reported map[string][]Reported `json:"reported,omitempty"`

	Endpoints []Endpoint `json:"endpoints,omitempty"` // servers that errors of any program name
	Writers   []Writer   `json:"writers,omitempty"`   // of errors that no message knows
	// Steps are failures of messages, in their words, that name the step that failed: the reason
	// stands behind it in the same line, or in another one.
	Steps []string `json:"steps,omitempty"`
	// Effects are failures of messages, in their words, to which others lead: they come after what else
	// a text shows.
	Effects []string `json:"effects,omitempty"`
	// Reasons are failures of messages, in their words, that are the reason of others in the text: they
	// come before them, and nothing else has to be found.
	Reasons []string `json:"reasons,omitempty"`
	// OfServers are failures of messages, in their words, that report what came of a request: where the
	// line names the server, the report does, too.
	OfServers []string `json:"ofServers,omitempty"`
}

// Message is one line of a program, without the parts that change. It shows a fault, a
// failure whose cause it does not show, or normal operation; one with an ID may show
// none of them: it is there for the facts that read it.
type Message struct {
	ID   string `json:"id,omitempty"`   // the name by which facts ask for the line; "" where none does
	Read string `json:"read,omitempty"` // with an ID: expression that a line must match for facts, any case; they get its groups

	Text   string   `json:"text"`             // literal part of the line, any case; blanks count as one
	Also   []string `json:"also,omitempty"`   // further parts of the same line
	Match  string   `json:"match,omitempty"`  // expression that the line must match, any case
	Unless string   `json:"unless,omitempty"` // expression that the line must not match, any case
	With   []string `json:"with,omitempty"`   // literals of which one must be anywhere in the same input

	Without []string `json:"without,omitempty"` // literals of which none may be anywhere in the same input

	// Command is an expression, any case, for the command whose output the line is in: counts
	// only behind a prompt with such a command.
	Command string `json:"command,omitempty"`

	Lines int `json:"lines,omitempty"` // counts only in an input of at most so many lines; 0: in any

	Fault   string `json:"fault,omitempty"`   // the fault that the line shows
	Shows   Grade  `json:"shows,omitempty"`   // how surely; likely where empty
	Failure string `json:"failure,omitempty"` // what has failed, in words; the line does not say why
	Next    string `json:"next,omitempty"`    // of a failure: what to look at, imperative, with the command that decides
	// Causes are what can print the line, the likeliest first. Without a signal of one of them
	// the line is a failure with these candidates; with it, it shows that fault.
	Causes   []MessageCause `json:"causes,omitempty"`
	CausesOf string         `json:"causesOf,omitempty"` // instead of causes: the name of a list that is shared
	// ReportedBy is the name of a list of Reported: the words behind the last "error:" of the line decide. Where the line
	// has none, or none that is in the list, the message's own failure, next and causes count.
	ReportedBy string `json:"reportedBy,omitempty"`
	Normal     string `json:"normal,omitempty"` // why the line is no sign of trouble

	// Lasts is how long the line is normal: where the first one and the last one of a text are
	// further apart, it shows the fault; before that the failure.
	Lasts Duration `json:"lasts,omitzero"`

	Ends []string `json:"ends,omitempty"` // faults of which this line shows that they are over
	// Over is an expression, any case: what earlier lines show that match it is over. Where it has a group "same", only
	// if the value of the group is in this line, too.
	Over string `json:"over,omitempty"`
	// Proves is the stage that the host of the line has reached with it: what earlier lines of
	// that host show of this stage and of those before it is over.
	Proves Stage  `json:"proves,omitempty"`
	Ref    string `json:"ref,omitempty"` // path in the first of the file's refs, where it is another than that
}

// MessageCause is one of several faults that can print a line.
type MessageCause struct {
	Fault string   `json:"fault"`
	Tells []string `json:"tells,omitempty"` // the signal: literals of which one is anywhere in the same input; empty where a text never shows it
	Shows Grade    `json:"shows,omitempty"` // how surely with the signal; likely where empty
	// Differ is an expression with two groups, which are the signal, too, where the line has both and they differ.
	Differ string `json:"differ,omitempty"`
	// Unless is an expression, any case: a line that matches it rules the cause out.
	Unless string `json:"unless,omitempty"`
	Ref    string `json:"ref,omitempty"` // repository, path and symbol of what prints it, where it is another than the message's
}

// Grade is how surely a line shows a fault.
type Grade string

// The grades, the surest first.
const (
	ShowsProven   Grade = "proven"   // the line says the cause itself
	ShowsLikely   Grade = "likely"   // the usual cause of the line
	ShowsPossible Grade = "possible" // one of several causes
)

// Rank orders grades, the surest highest.
func (g Grade) Rank() int {
	switch g {
	case ShowsProven:
		return 3
	case ShowsPossible:
		return 1
	}
	return 2
}

// minText is the shortest literal that is rare enough to look for.
const minText = 4

// check reports what is wrong with a file of messages.
func (m *Messages) check() (wrong mistakes) {
	wrong.need(m.Program, "program", "write the name of the program that its users know")
	if len(m.Messages)+len(m.Endpoints)+len(m.Writers)+len(m.Reported) == 0 {
		wrong.add(Where{"messages"}, "write a list of messages, each with a text", "is missing")
	}
	if len(m.Refs) == 0 {
		wrong.add(Where{"refs"}, "write - {repo: OWNER/NAME, path: PATH}", "is missing: messages name their source")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Shared)) {
		checkCauses(&wrong, Where{"shared", name}, m.Shared[name])
	}
	for i := range m.Messages {
		m.Messages[i].check(&wrong, Where{"messages", i})
	}
	m.checkReported(&wrong)
	for i := range m.Endpoints {
		m.Endpoints[i].check(&wrong, Where{"endpoints", i})
	}
	for i := range m.Writers {
		m.Writers[i].check(&wrong, Where{"writers", i})
	}
	return wrong
}

func (m *Message) check(wrong *mistakes, at Where) {
	under := func(key ...any) Where { return append(slices.Clone(at), key...) }
	shows := 0
	for _, s := range []string{m.Fault, m.Failure, m.Normal} {
		if s != "" {
			shows++
		}
	}
	if m.ID != "" {
		m.checkID(wrong, at)
	}
	if m.Read != "" && m.ID == "" {
		wrong.add(under("read"), "write id, or match", "only for a message with an id")
	}
	if m.Lasts.Duration > 0 && (m.Fault == "" || m.Failure == "") {
		wrong.add(under("lasts"), "write both", "needs the fault and the failure")
	}
	if shows > 1 && m.Lasts.Duration == 0 || shows == 0 && m.ID == "" {
		wrong.add(at, "write the id of the fault, or what has failed, or why it is normal",
			"exactly one of fault, failure and normal is needed, there are %d", shows)
	}
	if m.Shows != "" && m.Fault == "" {
		wrong.add(under("shows"), "leave it out", "it is only for a fault")
	}
	caused := len(m.Causes) > 0 || m.CausesOf != ""
	if caused && (m.Normal != "" || m.Next == "") {
		wrong.add(under("causes"), "write next, the command that decides", "causes go with a fault or a failure, and with next")
	}
	if len(m.Causes) > 0 && m.CausesOf != "" {
		wrong.add(under("causesOf"), "write one of them", "it is written instead of causes")
	}
	checkCauses(wrong, under("causes"), m.Causes)
	if m.ReportedBy != "" && m.Failure == "" {
		wrong.add(under("reportedBy"), "write failure, or remove it", "only for a failure")
	}
	if m.Failure != "" && m.Next == "" && !caused {
		wrong.add(under("next"), "write what to look at: the reading command that decides, and what its answers mean",
			"is missing: a failure does not show the cause")
	}
	if m.Next != "" && m.Failure == "" && !caused {
		wrong.add(under("next"), "remove it, or write failure", "only for a failure")
	}
	if m.Shows != "" {
		oneOf(wrong, under("shows"), m.Shows, []Grade{ShowsProven, ShowsLikely, ShowsPossible})
	}
	if m.Proves != "" {
		oneOf(wrong, under("proves"), m.Proves, Stages())
	}
	if len(strings.TrimSpace(m.Text)) < minText {
		wrong.add(under("text"), "write the literal part of the line that does not change", "it has fewer than %d characters", minText)
	}
	for _, list := range []struct {
		key   string
		texts []string
	}{{"also", m.Also}, {"with", m.With}, {"without", m.Without}} {
		for i, text := range list.texts {
			if len(strings.TrimSpace(text)) < 2 {
				wrong.add(under(list.key, i), "write at least 2 characters", "%q is too short", text)
			}
		}
	}
	wrong.checkRegexp(under("match"), m.Match)
	wrong.checkRegexp(under("unless"), m.Unless)
	wrong.checkRegexp(under("over"), m.Over)
	wrong.checkRegexp(under("command"), m.Command)
	wrong.checkRegexp(under("read"), m.Read)
}

// checkCauses reports what is wrong with a list of causes.
func checkCauses(wrong *mistakes, at Where, list []MessageCause) {
	under := func(key ...any) Where { return append(slices.Clone(at), key...) }
	for i, c := range list {
		for j, text := range c.Tells {
			if len(strings.TrimSpace(text)) < minText {
				wrong.add(under(i, "tells", j), "write a longer part of the line", "it has fewer than %d characters", minText)
			}
		}
		wrong.checkRegexp(under(i, "differ"), c.Differ)
		wrong.checkRegexp(under(i, "unless"), c.Unless)
		if c.Shows != "" {
			oneOf(wrong, under(i, "shows"), c.Shows, []Grade{ShowsProven, ShowsLikely, ShowsPossible})
		}
	}
}

var messageID = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)

// checkID holds that facts and people find the same lines: facts know text and read only.
func (m *Message) checkID(wrong *mistakes, at Where) {
	if !messageID.MatchString(m.ID) {
		wrong.add(append(slices.Clone(at), "id"), "for example mcd.degraded", "%q is not lower case words with - or . between them", m.ID)
	}
	if len(m.Also) > 0 || m.Match != "" || m.Unless != "" {
		wrong.add(append(slices.Clone(at), "id"), "write a message of its own for facts, with text and read",
			"a message with an id cannot have also, match or unless")
	}
}

// Neutral reports whether the message shows nothing by itself and is only read by facts.
func (m Message) Neutral() bool { return m.Fault == "" && m.Failure == "" && m.Normal == "" }

// onlyRead removes the messages that no fact reads.
func (m *Messages) onlyRead() {
	m.Messages = slices.DeleteFunc(m.Messages, func(m Message) bool { return m.ID == "" })
}

// shareCauses gives the messages with causesOf the list of that name, and reports names that are not
// there, or twice.
func (c *Catalog) shareCauses() (list Problems) {
	lists := map[string][]MessageCause{}
	for _, file := range c.Messages {
		var wrong mistakes
		for _, name := range slices.Sorted(maps.Keys(file.Shared)) {
			if lists[name] != nil {
				wrong.add(Where{"shared", name}, "choose another name", "another list has this name")
			}
			lists[name] = file.Shared[name]
		}
		list = append(list, c.withoutFollowing(file, wrong)...)
	}
	names := slices.Sorted(maps.Keys(lists))
	for _, file := range c.Messages {
		var wrong mistakes
		for i := range file.Messages {
			m := &file.Messages[i]
			if m.CausesOf == "" {
				continue
			}
			if m.Causes = lists[m.CausesOf]; m.Causes == nil {
				wrong.add(Where{"messages", i, "causesOf"}, meant(m.CausesOf, names), "no list of shared causes is called %q", m.CausesOf)
			}
		}
		list = append(list, c.withoutFollowing(file, wrong)...)
	}
	return list
}

// checkMessages reports messages of faults that are not there, and faults that are only
// recognized in text and that no message shows.
func (c *Catalog) checkMessages() (list Problems) {
	shown := map[string]bool{}
	var faults []string
	for _, f := range c.Faults {
		faults = append(faults, f.ID)
	}
	for _, file := range c.Messages {
		var wrong mistakes
		check := func(id string, at Where) {
			if _, ok := c.byID[id]; id != "" && !ok {
				wrong.add(at, meant(id, faults), "the fault %q is not in the catalog", id)
			}
		}
		for i, m := range file.Messages {
			shown[m.Fault] = true
			check(m.Fault, Where{"messages", i, "fault"})
			for j, cause := range m.Causes {
				shown[cause.Fault] = true
				if m.CausesOf == "" {
					check(cause.Fault, Where{"messages", i, "causes", j, "fault"})
				}
			}
			for j, id := range m.Ends {
				check(id, Where{"messages", i, "ends", j})
			}
		}
		for name, causes := range file.Shared {
			for j, cause := range causes {
				check(cause.Fault, Where{"shared", name, j, "fault"})
			}
		}
		for i, e := range file.Endpoints {
			for _, id := range e.Faults {
				check(id, Where{"endpoints", i, "faults"})
			}
		}
		list = append(list, c.withoutFollowing(file, wrong)...)
	}
	for _, f := range c.Faults {
		if f.TextOnly() && !shown[f.ID] {
			list = append(list, c.withoutFollowing(f, mistakes{{
				at:   Where{"when"},
				text: "is missing, and no message shows the fault",
				hint: "write when, or a message with fault: " + f.ID,
			}})...)
		}
	}
	return list
}

// TextOnly reports whether a fault is recognized in text only: there is no fact that
// decides it, so a diagnosis of a cluster neither finds it nor rules it out.
func (f *Fault) TextOnly() bool { return f.When == "" && !Preflight(f) }

// Checked returns the faults that a diagnosis of a cluster looks for.
func (c *Catalog) Checked() []*Fault {
	return slices.DeleteFunc(slices.Clone(c.Faults), func(f *Fault) bool { return f.When == "" })
}

// Named returns the fault with an id or with another name that it is known under.
func (c *Catalog) Named(name string) []*Fault {
	if f, ok := c.byID[name]; ok {
		return []*Fault{f}
	}
	var list []*Fault
	for _, f := range c.Faults {
		if slices.Contains(f.Aliases, name) {
			list = append(list, f)
		}
	}
	return list
}
