package message

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// besideWords are lines of what goes on beside the failure: a step that is tried again (ansible
// lib/ansible/plugins/callback/default.py, v2_runner_retry), and logs that could not be gathered after
// it (openshift/installer:cmd/openshift-install/gather.go and create.go).
var besideWords = regexp.MustCompile(`^FAILED - RETRYING: |(?i)\battempted to gather debug logs\b|\bfailed to gather bootstrap logs\b`)

// asides marks what does not lead where the text has an error of another line.
func (x *Index) asides(r *Report) {
	list := make([]*Match, 0, len(r.Matches)+len(r.Symptoms))
	for _, of := range [][]Match{r.Matches, r.Symptoms} {
		for i := range of {
			of[i].Aside = false
			list = append(list, &of[i])
		}
	}
	var aside []*Match
	for _, m := range list {
		if m.Reason && m.root {
			continue // it leads, however mildly its program says it
		}
		of := m.allLines(isBeside)
		isError := func(other *Match) bool { return other != m && !other.allLines(isBeside) && !other.allLines(isWarning) }
		errorLine := func(other *Match) bool { return isError(other) && slices.ContainsFunc(other.Lines, m.errorOf) }
		unknown := func(e UnknownError) bool { return !e.Hint }
		unknownOf := func(e UnknownError) bool { return !e.Hint && m.errorOf(e.Lines[0]) }
		switch {
		case of && (slices.ContainsFunc(list, isError) || slices.ContainsFunc(r.Errors, unknown)):
		case !of && m.allLines(isWarning) && (slices.ContainsFunc(list, errorLine) || slices.ContainsFunc(r.Errors, unknownOf)):
			if slices.ContainsFunc(list, func(other *Match) bool { return errorLine(other) && x.explains(m.Fault, other.Fault) }) {
				continue // it is the reason of that error
			}
		default:
			continue
		}
		aside = append(aside, m)
	}
	for _, m := range aside {
		m.Aside = true
	}
}

// demoted are the causes that lead: one that is only possible, and that its program reports as a warning of what it
// later calls an error, is a symptom.
func demoted(r *Report) {
	isAside := func(m Match) bool { return m.Aside && m.Confidence == fault.ShowsPossible }
	if !slices.ContainsFunc(r.Symptoms, func(m Match) bool { return !m.Aside && !m.effect }) {
		return
	}
	for _, m := range r.Matches {
		if isAside(m) {
			r.Symptoms = append(r.Symptoms, m)
		}
	}
	r.Matches = slices.DeleteFunc(r.Matches, isAside)
}

// allLines reports whether a match has lines, and all that are kept are of one kind.
func (m *Match) allLines(of func(Line) bool) bool {
	return len(m.Lines) > 0 && !m.state && !slices.ContainsFunc(m.Lines, func(l Line) bool { return !of(l) })
}

// errorOf reports whether a line is an error of the program that writes the lines of a match.
func (m *Match) errorOf(l Line) bool {
	return l.writer == m.Lines[0].writer && l.module == "" && logline.Parse([]byte(l.Text)).Level >= logline.Error
}

func isBeside(l Line) bool {
	return besideWords.Match(bytes.TrimLeft([]byte(l.Text), " "))
}

// isWarning reports whether a program calls a line a warning. In klog and where a line names its module the
// warnings are those of libraries, which have the reason of what fails.
func isWarning(l Line) bool {
	return l.module == "" && l.form == logline.Log && logline.Parse([]byte(l.Text)).Level == logline.Warning
}

// dropRetried drops the retries of a task of Ansible that failed in the end: its failure has the reason.
func (c *collector) dropRetried(failures map[string]*Match, errors []UnknownError) {
	for words, m := range failures {
		if len(m.Lines) == 0 || !m.allLines(func(l Line) bool { return strings.HasPrefix(l.Text, "FAILED - RETRYING: ") }) {
			continue
		}
		_, task, _ := strings.Cut(m.Lines[len(m.Lines)-1].Text, "]: ")
		if i := strings.LastIndex(task, " ("); i > 0 && slices.ContainsFunc(errors, func(e UnknownError) bool {
			return e.Fatal && e.Lines[0].Number > m.last && strings.Contains(e.Says, task[:i]+`"`)
		}) {
			delete(failures, words)
		}
	}
}
