package message

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// reported is what a command says behind its last "error:", ready to be compared.
type reported struct {
	fault.Reported
	match *regexp.Regexp
}

// reportedErrors compiles the lists of a catalog.
func reportedErrors(c *fault.Catalog) (map[string][]reported, error) {
	lists := map[string][]reported{}
	for _, file := range c.Messages {
		for name, list := range file.Reported {
			for _, one := range list {
				match, err := regexp.Compile("(?is)" + one.Match)
				if err != nil {
					return nil, fmt.Errorf("compile reported error %q: %w", one.Match, err)
				}
				lists[name] = append(lists[name], reported{one, match})
			}
		}
	}
	return lists, nil
}

// errorMark is what a command writes before its error; transaction is how rpm-ostreed logs the result of a
// transaction (coreos/rpm-ostree:src/daemon/rpmostreed-transaction.cxx).
const errorMark = "error: "

var (
	transaction = regexp.MustCompile(`(?i)^\S* failed: `)
	// writtenColor is a color of a terminal as Go quotes it.
	writtenColor = regexp.MustCompile(`\\*x1b\[[0-9;]*m`)
	exitStatus   = regexp.MustCompile(`(?i)[\s:]*\b(?:exit status \d+|exit code \d+|signal: \w+)[\s"'\\:,.]*$`)
)

// errorChain is what a command reported in a text, from its first error on; "" where the text has only how the command
// ended. Last is the last error of the chain.
func errorChain(text string) (chain, last string) {
	text = writtenColor.ReplaceAllString(strings.ReplaceAll(plain(text), `\n`, "\n"), "")
	if i := strings.Index(lowerASCII(text), errorMark); i >= 0 {
		chain = text[i+len(errorMark):]
	} else if at := transaction.FindStringIndex(text); at != nil {
		chain = text[at[1]:]
	}
	chain = withoutEnd(chain)
	if last = chain; chain == "" {
		return "", ""
	}
	if i := strings.LastIndex(lowerASCII(chain), errorMark); i >= 0 {
		last = withoutEnd(chain[i+len(errorMark):])
	}
	return oneLine(chain), oneLine(cmp.Or(last, chain))
}

// withoutEnd is a text without how the command ended and without the quotes around it.
func withoutEnd(text string) string {
	for {
		short := exitStatus.ReplaceAllString(text, "")
		if short == text {
			return strings.Trim(text, " \t\n\"'\\,;")
		}
		text = short
	}
}

// oneLine is a text with its line ends as blanks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// lastError is the end of a text from its last "error:" on; "" where it has none.
func lastError(text string) string {
	lower := lowerASCII(text)
	for i := strings.LastIndex(lower, errorMark); i >= 0; i = strings.LastIndex(lower[:i], errorMark) {
		if withoutEnd(text[i+len(errorMark):]) != "" {
			return text[i:]
		}
	}
	return ""
}

// reportedIn is what the line of a rule reports behind the words by which it is known.
func (r *rule) reportedIn(line string) (chain, last string) {
	line = plain(line)
	if i := strings.Index(lowerASCII(line), string(r.parts[0])); i >= 0 {
		line = line[i+len(r.parts[0]):]
	}
	return errorChain(line)
}

// find is the entry of a list that fits a chain of errors, nil where none does.
func findReported(list []reported, chain string) *reported {
	for i := range list {
		if list[i].match.MatchString(chain) {
			return &list[i]
		}
	}
	return nil
}

// reportedTo puts the failure of a command into the report: what it says behind its last error decides what can be behind
// it. Where the text has only that the command failed, the causes of the rule are kept.
func (c *collector) reportedTo(failures map[string]*Match, r *rule, t *ruleMatches, chain, last string) {
	failure, next := r.Failure, r.Next
	one := findReported(c.x.reported[r.ReportedBy], chain)
	if chain != "" && one != nil {
		failure, next = one.Failure, one.Next
	}
	words := ofRow(withNames(failure, t.first[0]), t)
	c.match(failures, words, fault.ShowsPossible, t)
	m := failures[words]
	m.depth = max(m.depth, t.depth)
	c.next[words] = cmp.Or(c.next[words], nextFor(next, t.first[0]))
	c.forms[words] = failure
	if chain == "" {
		c.steps[words] = true
		c.silent = append(c.silent, words)
		return
	}
	m.told = true
	m.Own = cmp.Or(short(c.clean(last)), m.Own)
	m.Reason = one != nil && one.Reason
	c.steps[words] = c.steps[words] || !m.Reason
	if m.Reason {
		m.root = true
		return
	}
	if one != nil {
		for _, id := range one.Causes {
			if !slices.Contains(m.Candidates, id) {
				m.Candidates = append(m.Candidates, id)
			}
		}
	}
}

// osTool are commands and programs whose errors are those of an update of the OS.
var (
	osTool     = regexp.MustCompile(`(?:^|[ /])(?:rpm-ostree|ostree|bootc)(?: |$)`)
	osPrograms = set("rpm-ostree", "rpm-ostreed", "ostree", "bootc")
)

// osUpdate is the list of what rpm-ostree, ostree and bootc report.
const osUpdate = "os-update"

// behindStep is how many lines behind the step the error of its command may stand.
const behindStep = 3

// reportedLine puts a line that is the error of rpm-ostree, ostree or bootc by itself into the report: it stands below the
// command, is of its journal, or follows the line in which the machine-config-daemon reports that the command failed.
func (c *collector) reportedLine(failures map[string]*Match, e *errorForm) bool {
	text := e.first.Text
	message := string(logline.Parse([]byte(text)).Message)
	if !strings.HasPrefix(lowerASCII(message), errorMark) && !strings.HasPrefix(lowerASCII(text), errorMark) {
		return false
	}
	if !osTool.MatchString(e.command) && !osPrograms[e.first.writer] && !c.followsSilent(failures, e.first) {
		return false
	}
	chain, last := errorChain(errorMark + strings.TrimPrefix(message, "error: "))
	if chain == "" {
		return false
	}
	t := &ruleMatches{count: e.count, first: e.lines(c.clean)[:1], last: e.lines(c.clean)[min(1, e.count-1)], depth: len(text)}
	c.reportedTo(failures, &rule{Message: fault.Message{Failure: "rpm-ostree failed", Next: osNext, ReportedBy: osUpdate}}, t, chain, last)
	return true
}

// osNext is where the steps before an error are that no entry of the list fits.
const osNext = "on the host: journalctl -u rpm-ostreed -b -n 50: the error of this transaction and the steps before it; rpm-ostree status; " +
	"df -h /sysroot /boot"

// followsSilent reports whether a line comes right behind one in which a command only failed.
func (c *collector) followsSilent(failures map[string]*Match, l Line) bool {
	return l.form == logline.Plain && slices.ContainsFunc(c.silent, func(words string) bool {
		m := failures[words]
		return m != nil && slices.ContainsFunc(m.Lines, func(of Line) bool { return of.Number < l.Number && l.Number-of.Number <= behindStep })
	})
}

// dropSilent takes out what only says that a command failed where the same text has what the command said, and what
// else is to be looked at for steps whose line has it.
func (c *collector) dropSilent(failures map[string]*Match) {
	words := slices.Sorted(maps.Keys(failures))
	for _, silent := range c.silent {
		step := failures[silent]
		if step == nil || step.told {
			continue
		}
		at := slices.IndexFunc(words, func(w string) bool {
			m := failures[w]
			return m != nil && m.told && w != silent && m.sameNode(step)
		})
		if at >= 0 {
			failures[words[at]].take(step)
			delete(failures, silent)
		}
	}
	c.answerStates(failures)
	for w, m := range failures {
		if c.steps[w] && !m.told && slices.ContainsFunc(words, func(w string) bool {
			of := failures[w]
			return of != nil && of.told && of.depth > m.depth && of.hasLines(*m) && of.sameNode(m)
		}) {
			c.next[w], m.Candidates, m.answered = "", nil, true
		}
	}
}

// answerStates takes what is to be looked at from the state of a node whose reason is in the same text: it would ask for
// that reason.
func (c *collector) answerStates(failures map[string]*Match) {
	has := func(m *Match, annotation, node string) bool {
		return slices.ContainsFunc(m.Lines, func(l Line) bool { return strings.Contains(l.Text, annotation) && l.row.name == node })
	}
	for w, m := range failures {
		if len(m.Lines) == 0 || !strings.Contains(m.Lines[0].Text, openshift.ConfigStateAnnotation) {
			continue
		}
		for other, of := range failures {
			if other != w && has(of, openshift.ConfigReasonAnnotation, m.Lines[0].row.name) {
				c.next[w], m.Candidates, m.answered = "", nil, true
			}
		}
	}
}

// sameNode reports whether two matches are about one node, as far as their lines name it.
func (m *Match) sameNode(other *Match) bool {
	a, b := m.Names["node"], other.Names["node"]
	return a == "" || b == "" || shortName(a) == shortName(b)
}

// take adds the lines of another match.
func (m *Match) take(other *Match) {
	m.Count += other.Count
	m.last = max(m.last, other.last)
	m.Lines = append(m.Lines, other.Lines...)
	slices.SortStableFunc(m.Lines, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
	for key, name := range other.Names {
		m.name(key, name)
	}
}
