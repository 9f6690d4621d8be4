package message

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// A text of which nothing is known may still speak of trouble: in a sentence of the person who
// pasted it, or in a line that its program does not call an error. Such lines are hints. They count
// only where the text shows nothing else, so that it is not taken for one without trouble.

// The bounds of hints: of longer texts nobody asks what one line of them means.
const (
	maxHinted = 64 << 10 // bytes
	maxHints  = 3        // lines that are shown
)

// hintWords are words of trouble that do not stand in what is well, too.
var hintWords = set("error", "errors", "errored", "failed", "fail", "fails", "failing", "failure", "failures", "crash", "crashed", "crashes", "crashing",
	"unhealthy", "unreachable", "denied", "rejected", "refused", "killed", "exceeded", "insufficient", "timeout", "expired", "corrupt", "corrupted",
	"aborted", "fatal", "panic", "unable", "cannot", "couldn", "unauthorized", "forbidden", "notready", "unrecognized", "mismatch")

// hint keeps a line whose words speak of trouble.
func (f *found) hint(number int, line []byte) {
	l := logline.Parse(line[:min(len(line), maxTried)])
	switch m := string(l.Message); {
	case saysFailure.Match(line) || operatorFails(l.Message) || fieldFails(line):
	case l.Form == logline.State, judged.Match(l.Message), string(l.Program) == "systemd" && unitNamed.Match(l.Message):
		return
	case !speaksOfTrouble(m), l.Level == logline.Info && reportsSuccess(m):
		return
	}
	if f.hinted++; len(f.hints) < maxHints {
		f.hints = append(f.hints, Line{Number: number, Text: string(bytes.TrimRight(line, "\r\n")), origin: originOf(l)})
	}
}

// saysFailure are words that say nothing but a failure, in whatever form their line is: the result of a process that systemd
// prints, that of a command with what it said, and errors of the operating system by name and by number.
var saysFailure = regexp.MustCompile(`\bstatus=[1-9]\d*/[A-Z]|\bexit status [1-9]\d*: |(?i:\[?\berrno[ :=]+-?[1-9])|` +
	`\bE(?:ACCES|PERM|NOSPC|IO|CONNREFUSED|CONNRESET|TIMEDOUT|HOSTUNREACH|NETUNREACH|ADDRINUSE|NOMEM|ROFS|MFILE|NFILE)\b`)

// failingField is a field of the result of a program, as JSON, with what it reports.
var failingField = regexp.MustCompile(`^[> \t]*"(?:msg|stderr|error|err)": ?"(.+)`)

// fieldFails reports whether a line is such a field and what it reports begins as an error does.
func fieldFails(line []byte) bool {
	m := failingField.FindSubmatch(line)
	return m != nil && logline.Parse(m[1]).Level >= logline.Error
}

// operatorFails reports whether a line says of a ClusterOperator that it is False, and nothing else.
func operatorFails(message []byte) bool {
	name, value, ok := bytes.Cut(bytes.TrimSpace(message), []byte("="))
	if !ok {
		name, value, ok = bytes.Cut(bytes.TrimSpace(message), []byte(":"))
	}
	return ok && bytes.EqualFold(bytes.TrimSpace(value), []byte("False")) && operatorRank(string(bytes.TrimSpace(name))) < len(operatorOrder)
}

// judged are lines that others look at: conditions, and the status of an HTTP server.
var judged = regexp.MustCompile(`^(?:-? ?"[^"]+": ?|-? ?f:\S+:|[A-Z]\w+=(?:True|False|Unknown)\b|HTTP/[\d.]+ |` +
	`(?:Kernel c|C)ommand line: |# (?:HELP|TYPE) |[a-z_:][\w:]*(?:\{.*\})? -?[\d.]+(?:e[+-]?\d+)?$)`) // or of a metric

// unitNamed are lines of systemd that only name a unit, by its description.
var unitNamed = regexp.MustCompile(`^(?:Starting|Started|Stopping|Stopped|Finished|Reached target|Listening on|Created slice|Mounting|Mounted|` +
	`Condition check resulted in) `)

// speaksOfTrouble reports whether a message has a word of trouble that has no value which says
// otherwise ("errors=0", "timeout: 30s", "failed: false") and that no "not" turns around.
func speaksOfTrouble(m string) bool {
	if logline.EndsInFailure([]byte(m)) {
		return true
	}
	list := wordsOf(m)
	if len(list) < leastOwn {
		return false // a heading
	}
	for i, w := range list {
		if !hintWords[w] || i+1 < len(list) && logline.Thing(list[i+1]) {
			continue
		}
		if i > 0 && list[i-1] == "from" || i > 0 && notWords[list[i-1]] || i > 1 && notWords[list[i-2]] {
			continue
		}
		if !valued(m, w) {
			return true
		}
	}
	return false
}

// What is set right is no trouble any more, and what is made ready for trouble is none yet.
var (
	rightedWords = set("clear", "clearing", "cleared", "clean", "cleaning", "cleaned", "reset", "resetting", "resolved", "recovered",
		"register", "registering", "registered", "initialized", "initializing", "enabled", "enabling")
	successWords = set("successfully", "succeeded", "recovered", "resolved", "cleared")
	failingWords = set("but", "cannot", "unable", "couldn", "could")
)

// reportsSuccess reports whether a line that its program calls no error says that something was
// set right, or went well.
func reportsSuccess(m string) bool {
	list := wordsOf(message(m))
	if len(list) == 0 {
		return false
	}
	good := rightedWords[list[0]]
	for i, w := range list {
		if failingWords[w] || i+1 < len(list) && w == "failed" && list[i+1] == "to" {
			return false
		}
		good = good || successWords[w] && (i == 0 || !notWords[list[i-1]])
	}
	return good
}

// message is the text of a line of JSON, or of a structured line of klog.
func message(m string) string {
	if _, rest, ok := strings.Cut(m, `"msg":"`); ok {
		m = `"` + rest
	}
	if rest, ok := strings.CutPrefix(m, `"`); ok {
		m, _, _ = strings.Cut(rest, `"`)
	}
	return m
}

// valued reports whether each place of a word is a name: of an option, a path, a field with its
// value.
func valued(m, w string) bool {
	m = lowerASCII(m)
	for at := 0; ; {
		i := strings.Index(m[at:], w)
		if i < 0 {
			return true
		}
		i += at
		if at = i + len(w); at < len(m) && m[at] >= 'a' && m[at] <= 'z' {
			continue // a longer word
		}
		rest := strings.TrimLeft(m[at:], `"'\ `)
		isName := i > 0 && strings.ContainsRune("-/._", rune(m[i-1])) ||
			at+1 < len(m) && strings.ContainsRune("-/._=", rune(m[at])) && m[at+1] != ' '
		value, isField := strings.CutPrefix(rest, ":")
		value = strings.TrimLeft(value, ` "'\`)
		isWell := isZero.MatchString(rest) ||
			isField && (value == "" || strings.ContainsRune("0123456789,}", rune(value[0])) || strings.HasPrefix(value, "false")) ||
			isNil.MatchString(value)
		isDuration := w == "timeout" && rest != "" && (rest[0] >= '0' && rest[0] <= '9' || strings.HasPrefix(rest, "of ") ||
			strings.HasPrefix(rest, "set to ") || strings.HasPrefix(rest, "is set"))
		if !isName && !isWell && !isDuration {
			return false
		}
	}
}

// isZero is a count of nothing, behind the noun that is counted: "unhealthy nodes: 0".
var isZero = regexp.MustCompile(`^[a-z]+[:=] ?"?(?:0|none|nil|no|false)\b`)

// isNil is a value that is none, as Go, JSON and Python print it, with its type before it.
var isNil = regexp.MustCompile(`^(?:\([\w\[\]*.]+\) )?<?(?:nil|null|none)\b`)

// addHints adds the hints of a block that begins behind some lines.
func (c *collector) addHints(f found) {
	c.hinted += f.hinted
	for _, l := range f.hints {
		if l.Number += c.lines; len(c.hints) < maxHints {
			c.hints = append(c.hints, l)
		}
	}
}

// hintsTo puts the hints into the report of a text that shows nothing else: what their grammar
// shows, and the rest with their own words.
func (c *collector) hintsTo(r *Report, failures, faults map[string]*Match) {
	for _, l := range c.hints {
		if c.waitsOn(l) || c.ended(nil, l) {
			c.hinted--
			continue
		}
		e := &errorForm{count: 1, first: l, last: l}
		if c.understood(failures, faults, e) {
			c.hinted--
			continue
		}
		l.Program, l.Text = l.writer, short(c.clean(l.Text))
		r.Errors = append(r.Errors, UnknownError{Program: l.writer, Host: l.host, Count: 1, Lines: []Line{l}, Says: c.x.says(l),
			Next: c.x.nextOf(l.origin), Hint: true})
	}
	r.ErrorLines = c.hinted
}
