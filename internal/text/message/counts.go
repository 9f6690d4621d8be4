package message

import (
	"bytes"
	"slices"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// A rule with conditions on the rest of a text (with, without, lines) does not count in a text that does
// not meet them. A line that only such rules know is then a line that nobody knows: otherwise an error
// would be neither shown nor counted.

// counts reports whether the text meets the conditions of a rule.
func (c *collector) counts(i int) bool {
	rule := &c.x.rules[i]
	return (len(rule.With) == 0 || c.with[i]) && !c.no[i] && (rule.Lines == 0 || c.lines <= rule.Lines)
}

// conditional reports whether a rule has conditions on the rest of the text.
func (r *rule) conditional() bool { return len(r.With) > 0 || len(r.Without) > 0 || r.Lines > 0 }

// dropUncounted drops hits of rules whose conditions the text does not meet. Of a part of a text only
// what its rest cannot change is dropped.
func (x *Index) dropUncounted(f *found) {
	f.hits = slices.DeleteFunc(f.hits, func(h hit) bool {
		r := &x.rules[h.rule]
		isLong := r.Lines > 0 && f.lines > r.Lines
		return isLong || slices.Contains(f.without, h.rule) || f.whole && len(r.With) > 0 && !slices.Contains(f.with, h.rule)
	})
}

// knownBy are the lines of a part of a text that only rules with conditions know, with these rules.
func (x *Index) knownBy(f *found) map[int][]int {
	if f.whole {
		return nil
	}
	by := map[int][]int{}
	for _, h := range f.hits {
		if x.rules[h.rule].conditional() {
			by[h.line] = append(by[h.line], h.rule)
		}
	}
	for _, h := range f.hits {
		if !x.rules[h.rule].conditional() {
			delete(by, h.line)
		}
	}
	return by
}

// report keeps a line that its own program calls an error and that no message knows, whatever is made of
// it later: see reportedOnly.
func (f *found) report(number int, line []byte, l logline.Line) {
	if len(bytes.TrimSpace(l.Message)) == 0 {
		return
	}
	if f.reportedLines++; len(f.reports) < maxForms {
		f.reports = append(f.reports, Line{Number: number, Text: string(bytes.TrimRight(line, "\r\n")), origin: originOf(l)})
	}
}

// dropReports takes out lines that the text shows to be no trouble.
func (f *found) dropReports(are func(Line) bool) {
	n := len(f.reports)
	f.reports = slices.DeleteFunc(f.reports, are)
	f.reportedLines -= n - len(f.reports)
}

// reportedOnly puts errors into the report of a text that would show nothing else: whatever dropped
// them, a text in which a program reports an error is not one without a sign of trouble.
func (c *collector) reportedOnly(r *Report) {
	if len(r.Matches)+len(r.Symptoms)+len(r.Over)+len(r.Errors)+r.ErrorLines+r.PastErrors > 0 {
		return
	}
	for _, l := range c.reports[:min(len(c.reports), maxHints)] {
		l.Program, l.Text = l.writer, short(c.clean(l.Text))
		r.Errors = append(r.Errors, UnknownError{Program: l.writer, Host: l.host, Count: 1, Lines: []Line{l}, Says: c.x.says(l),
			Next: c.x.nextOf(l.origin)})
	}
	r.ErrorLines = c.reportedLines
}
