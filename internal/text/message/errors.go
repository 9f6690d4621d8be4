package message

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// UnknownError is a line, or several of one form, that its own program calls an error and
// that no message of the catalog knows.
type UnknownError struct {
	Program string `json:"program,omitempty"`
	Host    string `json:"host,omitempty"`
	Count   int    `json:"count"`
	Lines   []Line `json:"lines"` // the first one, and the last one
	// Says is the first line without its headers, behind the name of what writes it.
	Says string `json:"says"`
	Next string `json:"next,omitempty"` // where the rest of its writer's log is
	// Fatal says that the program called it fatal.
	Fatal bool `json:"fatal,omitempty"`
	// Hint says that nothing calls it an error: its words speak of trouble.
	Hint bool `json:"hint,omitempty"`
}

// errorForm gathers lines of one form: they differ in numbers only.
type errorForm struct {
	count       int
	first, last Line
	line        []byte // the last one, in its block
	chain       bool   // its causes follow, one a line
	until       int    // the number of the last line of first's text
	command     string // whose output they are, "" where no prompt is above them
	fatal       bool
	above       string // the message whose cause it is, where that stands in the line before
	says, next  string // its sentence and the next command, where it is no line of a log
	own         bool   // the program or its input is wrong, and nothing that it asks
	known       bool   // a message knows the line and shows the step that failed: only the reason is looked for
	knownBy     []int  // rules that know the line where the rest of the text allows them, see counts
}

// The bounds of what is kept of errors that nobody knows.
const (
	maxForms    = 256
	maxFormText = 160
)

// judge looks at each line of a block for what its program says of it: errors that no
// message knows, units of systemd that end, a host that boots.
func (x *Index) judge(b []byte, f *found) {
	defer func() {
		for _, e := range f.errors { // the block is used again
			if e.last.Text, e.line = string(bytes.TrimRight(e.line, "\r\n")), nil; e.chain {
				e.last.Text = e.first.Text
			}
		}
	}()
	x.outputsOnly(b, f)
	x.dropUncounted(f)
	known, steps := x.knownLines(f.hits)
	maybe := x.knownBy(f)
	dropStarting(b, f)
	small := len(b) <= maxHinted
	number := 0
	var command []byte
	var host string // of the shell
	var last *errorForm
	var in block
	var reports terraform
	var programs programs
	var objects shown
	var written outputs
	var head cutHead
	var banner failedUnits
	var above []byte
	defer func() {
		f.view = objects.view
		f.dropIsolated(in.isolated)
		programs.playbook.close(f)
		objects.finish(x, f)
		f.terraform = reports.seen
	}()
	for line := range bytes.Lines(b) {
		number++
		objects.see(number, line)
		if small {
			f.listed(number, line)
			objects.page.see(number, line)
		}
		if in.see(line) {
			f.nameUnit(number, in.unit)
			if in.stopsItself(line) {
				continue
			}
			objects.activating(number, in.unit, line)
			objects.inactive(number, in.unit, line)
		}
		banner.see(f, number, line)
		for len(known) > 0 && known[0] < number {
			known = known[1:]
		}
		isStep := steps[number]
		isKnown := len(known) > 0 && known[0] == number
		if head.begins(line, isKnown) {
			continue
		}
		line, isKnown = head.join(line, isKnown)
		if programs.trace.open && len(line) < minError {
			continue
		}
		if len(line) < minError || !isStep && logline.Calm(line) {
			if small && len(line) >= minError {
				f.logTime(line, "")
			}
			if small && !isKnown {
				f.hint(number, line)
			}
			if small && !f.release3 && len(line) >= minError {
				f.release3 = logline.Release3(logline.Parse(line[:min(len(line), maxTried)]))
			}
			continue
		}
		if typed, ok := logline.Command(line); ok {
			command = written.command(typed)
			if named := hostOf(line); named != "" {
				host, objects.view.host = named, named
			}
			continue
		}
		l := logline.Parse(line[:min(len(line), maxTried)])
		if l.Form == logline.Log {
			command = nil
		}
		if (!isKnown || isStep) && l.Level >= logline.Error {
			f.report(number, line, l)
		}
		f.release3 = f.release3 || logline.Release3(l)
		if programs.list.see(f, number, line, &l) {
			continue
		}
		if e, taken := programs.see(f, number, line, l, command, isKnown); taken {
			if e != nil {
				last = e
			}
			continue
		}
		if _, more := in.lastWords(&l); more && last != nil {
			last.more(line)
			continue
		}
		f.times(number, line, l, small, command, host)
		if last != nil && (last.causedBy(l) || last.continues(number, line, l) || last.isDetail(number, l)) {
			continue
		}
		if f.mark(number, line, l) {
			continue
		}
		said := isStep || l.Level >= logline.Error || l.Level == logline.NoLevel && l.Form != logline.State &&
			(logline.EndsInFailure(l.Message) || logline.Refusal(l.Message, command))
		if said && (reports.passes(l) || isLink(l.Message)) {
			continue
		}
		rules := maybe[number]
		if said && (!isKnown || rules != nil) && len(bytes.TrimSpace(l.Message)) > 0 {
			last = f.addErrorOf(number, line, l, command, rules)
			if isCause(l.Message) && last.above == "" {
				last.above = string(above[:min(len(above), maxText)])
			}
			last.known = isStep
			programs.list.wraps(number, l)
		} else if small && !isKnown && !isStep {
			f.hint(number, line)
		}
		above = l.Message
	}
}

// isCause reports whether a message is the cause of the one above it, as .NET and Java print them.
func isCause(m []byte) bool {
	for _, words := range [][]byte{[]byte("---> "), []byte("--> "), []byte("Caused by: "), []byte("caused by: ")} {
		if bytes.HasPrefix(m, words) {
			return true
		}
	}
	return false
}

// knownLines are the lines that a message knows, in their order, and those of which it knows
// only the step that failed.
func (x *Index) knownLines(hits []hit) (known []int, steps map[int]bool) {
	known, steps = make([]int, 0, len(hits)), map[int]bool{}
	for _, h := range hits {
		if x.isStep(h.rule) {
			steps[h.line] = true
			continue
		}
		known = append(known, h.line)
	}
	slices.Sort(known)
	return known, steps
}

// isLink reports whether a message is nothing but the address of a page.
func isLink(m []byte) bool {
	return bytes.HasPrefix(m, []byte("https://")) && !bytes.ContainsAny(m, " \t")
}

// isStep reports whether a rule knows only which step failed.
func (x *Index) isStep(i int) bool { return x.rules[i].step }

// outputsOnly drops hits of messages that count only in the output of a command that is not
// the one above them.
func (x *Index) outputsOnly(b []byte, f *found) {
	isOutput := func(h hit) bool { return x.rules[h.rule].command != nil }
	if !slices.ContainsFunc(f.hits, isOutput) {
		return
	}
	commands := map[int][]byte{} // by line
	number := 0
	var command, scratch []byte
	for line := range bytes.Lines(b) {
		number++
		if typed, ok := logline.Command(line); ok {
			command = plainLower(nil, typed)
		}
		commands[number] = command
	}
	f.hits = slices.DeleteFunc(f.hits, func(h hit) bool {
		scratch = append(scratch[:0], commands[h.line]...)
		return isOutput(h) && !x.rules[h.rule].command.in(scratch)
	})
}

// dropHits drops what messages show in a line that says nothing of the kind.
func (f *found) dropHits(number int) {
	f.hits = slices.DeleteFunc(f.hits, func(h hit) bool { return h.line == number })
}

// minError is the length of the shortest line that reports an error.
const minError = 6

func (f *found) addError(number int, line []byte, l logline.Line, command []byte) *errorForm {
	return f.addErrorOf(number, line, l, command, nil)
}

// addErrorOf adds an error that rules know where the rest of the text allows them.
func (f *found) addErrorOf(number int, line []byte, l logline.Line, command []byte, rules []int) *errorForm {
	key := formOf(l)
	if rules != nil {
		key += fmt.Sprint(rules)
	}
	if f.errors == nil {
		f.errors = map[string]*errorForm{}
	}
	e := f.errors[key]
	if e == nil {
		from := originOf(l)
		e = &errorForm{first: Line{Number: number, Text: string(bytes.TrimRight(line, "\r\n")), origin: from}, last: Line{origin: from},
			until: number, command: string(command), knownBy: rules}
		f.errors[key] = e
	}
	e.count++
	e.last.Number, e.line = number, line
	e.fatal = e.fatal || l.Level == logline.Fatal
	return e
}

// causedBy adds a line of the chain of causes that Rust programs print below their error:
// "Caused by:" and then one cause a line, the deepest last.
func (e *errorForm) causedBy(l logline.Line) bool {
	m := bytes.TrimSpace(l.Message)
	if !bytes.Equal(l.Program, []byte(e.first.writer)) {
		return false
	}
	if bytes.Equal(m, []byte("Caused by:")) {
		e.chain = true
		return true
	}
	number, cause, ok := bytes.Cut(m, []byte(": "))
	if !e.chain || !ok || len(number) != 1 || number[0] < '0' || number[0] > '9' {
		return e.chain && len(m) == 0
	}
	e.first.Text += ": " + string(cause)
	return true
}

// continues adds the line behind one that ends with a colon, and the rest of a line that was
// wrapped where it was pasted.
func (e *errorForm) continues(number int, line []byte, l logline.Line) bool {
	if e.count > 1 {
		isRest := e.chain && number == e.last.Number+1 && l.Module == nil && len(l.Program) == 0
		return isRest && bytes.HasSuffix(bytes.TrimRight(e.line, " \"\r\n"), []byte(":"))
	}
	if number != e.until+1 || l.Module != nil || l.Form == logline.State {
		return false
	}
	if text, ok := strings.CutSuffix(strings.TrimRight(e.first.Text, " "), ` \`); ok && l.Form == logline.Plain {
		e.first.Text = text // written over several lines, as for a shell
		e.more(l.Message)
		e.until = number
		return true
	}
	sameRecord := len(l.Program) == 0 && (bytes.HasPrefix(l.Message, []byte("status code: ")) || sameKernelRecord(e.first, line))
	if !sameRecord && !strings.HasSuffix(strings.TrimRight(e.first.Text, ` "`), ":") && !(e.first.form == logline.Plain && wrapped(e.first.Text, l)) {
		return false
	}
	e.more(l.Message)
	e.until = number
	return true
}

// detailLine is a line of the details that a client of Google Cloud prints behind its error, as JSON.
var detailLine = regexp.MustCompile(`^(?:Help Token: .*|Details:|[\s\[\]{},]*|"[@\w.]+": .*|, (?:forbidden|rateLimitExceeded|\w+))$`)

// isDetail reports whether a line is of the details of the error that the line right before it belongs to.
func (e *errorForm) isDetail(number int, l logline.Line) bool {
	at := max(e.until, e.last.Number)
	if l.Level < logline.Error || number <= at || number > at+1 || string(l.Program) != e.first.writer || !detailLine.Match(bytes.TrimSpace(l.Message)) {
		return false
	}
	e.until = number
	return true
}

// more adds a line that belongs to the error.
func (e *errorForm) more(line []byte) {
	line = bytes.TrimSpace(line)
	if room := maxText - len(e.first.Text); room > 0 { // the end of a chain of errors is its reason
		e.first.Text += " " + string(line[:min(len(line), max(room, maxFormText))])
	}
	e.chain = true
}

// formOf is what lines of one form have in common: host, program, and the message without
// its numbers and without what stands in quotes. Of a structured message of klog its own
// quoted text stays, and the values behind it do not count.
func formOf(l logline.Line) string {
	m := l.Message[:min(len(l.Message), maxFormText)]
	if len(m) > 0 && m[0] == '"' {
		if end := bytes.IndexByte(m[1:], '"'); end > 0 {
			m = m[1 : end+1]
		}
	}
	key := make([]byte, 0, len(l.Host)+len(l.Program)+len(m)+2)
	key = append(append(append(append(key, l.Host...), 0), l.Program...), 0)
	masked, quoted := false, false
	for _, c := range m {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
			continue
		case c >= '0' && c <= '9':
			if !masked {
				key = append(key, '#')
			}
			masked = true
			continue
		case masked && c >= 'a' && c <= 'f':
			continue // the rest of a number in hexadecimal digits
		}
		masked = false
		key = append(key, c)
	}
	return string(key)
}

// addErrors adds the errors of a block that begins behind some lines.
func (c *collector) addErrors(f found) {
	for _, key := range slices.Sorted(maps.Keys(f.errors)) {
		e := f.errors[key]
		e.first.Number += c.lines
		e.last.Number += c.lines
		have := c.errors[key]
		switch {
		case have != nil:
			have.count += e.count
			have.last = e.last
		case len(c.errors) == maxForms:
			c.moreErrors += e.count
		default:
			c.errors[key] = e
		}
	}
}

// unknownErrors puts errors that nobody knows into the report: what their grammar shows, and
// the rest with their own words. What is past is only counted.
func (c *collector) unknownErrors(r *Report, failures, faults map[string]*Match) {
	forms := slices.SortedFunc(maps.Values(c.errors), func(a, b *errorForm) int { return cmp.Compare(a.first.Number, b.first.Number) })
	for _, e := range forms {
		if slices.ContainsFunc(e.knownBy, c.counts) {
			continue
		}
		if e.known {
			if !c.ended(nil, e.last) {
				c.understood(failures, faults, e)
			}
			continue
		}
		if c.waitsOn(e.last) {
			continue
		}
		if c.ended(nil, e.last) || e.last.form != logline.State && c.lines-e.last.Number > quietLines {
			r.PastErrors += e.count
			continue
		}
		if e.own {
			c.ownError(failures, e)
			continue
		}
		if c.past.named(e.first) {
			continue // the line with the name of the unit says it
		}
		if c.reportedLine(failures, e) || c.understood(failures, faults, e) {
			continue
		}
		r.ErrorLines += e.count
		u := UnknownError{Program: e.first.writer, Host: e.first.host, Count: e.count, Lines: e.lines(c.clean), Fatal: e.fatal,
			Next: c.x.nextOf(e.first.origin)}
		if pagerCut.MatchString(e.first.Text) {
			u.Next = strings.TrimSuffix("the line was cut at the edge of the screen: the same command with --no-pager prints all of it; "+u.Next, "; ")
		}
		if u.Says = c.x.says(u.Lines[0]); e.says != "" {
			u.Says, u.Next = short(c.clean(e.says)), e.next
		}
		r.Errors = append(r.Errors, u)
	}
	r.ErrorLines += c.moreErrors
}

// pagerCut is a line of a journal that the pager cut at the edge of the screen (less -S, which journalctl starts: systemd
// man/less-variables.xml).
var pagerCut = regexp.MustCompile(`^\S+ [ \d]\d \d\d:\d\d:\d\d .{40,}[^\s<=-]+ ?>$`)

// ownError puts an error of a program itself into the report: it is its own reason.
func (c *collector) ownError(failures map[string]*Match, e *errorForm) {
	lines := e.lines(c.clean)
	words := short(c.clean(e.says))
	c.match(failures, words, fault.ShowsPossible, &ruleMatches{count: e.count, first: lines[:1], last: lines[len(lines)-1]})
	failures[words].Reason = true
	c.next[words] = e.next
}

// lines are the first and the last line of a form, fit to be printed.
func (e *errorForm) lines(clean func(string) string) []Line {
	list := []Line{e.first}
	if e.count > 1 {
		list = append(list, e.last)
	}
	for i := range list {
		list[i].Program, list[i].Text = list[i].writer, short(telling(clean(list[i].Text)))
	}
	return list
}
