package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// About says how a subject stands in an answer that was narrowed to it. A host that is not done, and
// whose time is not over yet, is never good; nor is a subject of which a condition holds that may be a fault.
func About(d *diagnosis.Diagnosis, s fault.Subject) diagnosis.About {
	host := hostOf(d, s)
	causes := concerning(d)
	open := openAbout(d, s, host)
	worst := Worst(d)
	switch {
	case worst >= fault.Error.Rank():
		return diagnosis.About{State: diagnosis.AboutBroken, Says: joined(standing(host), causes)}
	case len(open) > 0:
		return diagnosis.About{State: diagnosis.AboutOpen, Says: joined(few(open), causes)}
	case worst > fault.Info.Rank():
		return diagnosis.About{State: diagnosis.AboutWarning, Says: causes}
	}
	if says := progressing(d, host); says != "" {
		return diagnosis.About{State: diagnosis.AboutProgress, Says: says}
	}
	if n := len(d.Accepted); n > 0 {
		says := "1 accepted finding concerns it"
		if n > 1 {
			says = fmt.Sprintf("%d accepted findings concern it", n)
		}
		return diagnosis.About{State: diagnosis.AboutAccepted, Says: says}
	}
	says := "nothing wrong found"
	if n := d.NotRun(); n > 0 {
		says += fmt.Sprintf("; %d of its checks not run", n)
	}
	return diagnosis.About{State: diagnosis.AboutGood, Says: joined(says, causes)}
}

// hostOf is the host that an answer was narrowed to; nil where it is about something else.
func hostOf(d *diagnosis.Diagnosis, s fault.Subject) *diagnosis.HostState {
	if s.Kind != fault.Host {
		return nil
	}
	if i := slices.IndexFunc(d.Hosts, func(h diagnosis.HostState) bool { return h.Name == s.Name }); i >= 0 {
		return &d.Hosts[i]
	}
	return nil
}

// concerning names the first cause, and says how many there are; "" where there is none.
func concerning(d *diagnosis.Diagnosis) string {
	if len(d.Roots) == 0 {
		return ""
	}
	first := d.Roots[0].Cases[0]
	says := "cause: " + first.Title
	if first.Confidence != diagnosis.Proven {
		says = string(first.Confidence) + " " + says
	}
	if n := len(d.Roots); n > 1 {
		says += fmt.Sprintf(" (and %d more)", n-1)
	}
	return says
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

// standing says where a host is that is not done, "" of any other subject.
func standing(h *diagnosis.HostState) string {
	switch {
	case h == nil || h.Done():
		return ""
	case h.State == diagnosis.StageUnknown:
		return "not known whether it has passed " + string(h.Stage)
	}
	return fmt.Sprintf("%s at %s", h.State, h.Stage)
}

// openAbout lists what has no answer: symptoms without a cause, conditions that may be a fault, a host that is not
// done and not on its way, and what is open about the whole where the subject itself shows nothing.
func openAbout(d *diagnosis.Diagnosis, s fault.Subject, host *diagnosis.HostState) []string {
	var list []string
	for _, u := range d.Unexplained {
		if u.Severity.Rank() > fault.Info.Rank() {
			list = append(list, noCause(u).Says)
		}
	}
	for _, f := range d.Findings {
		if (f.Unsettled || f.HeldUp != "") && f.Severity.Rank() > fault.Info.Rank() {
			list = append(list, Holding(f))
		}
	}
	if host != nil && host.Expected && !host.Done() && len(d.Roots) == 0 && onItsWay(d, *host) == "" && len(d.Accepted) == 0 {
		list = append([]string{standing(host) + ", and what was read does not prove why"}, list...)
	}
	if host != nil && host.Expected && !host.Done() && len(d.Roots) > 0 && len(list) == 0 {
		list = append(list, standing(host))
	}
	if len(list) > 0 {
		return list
	}
	whole := *d
	if len(d.Hosts) == 0 { // that an answer about something else lists no host is no open question
		whole.Hosts = []diagnosis.HostState{{Expected: true, State: diagnosis.StagePassed}}
	}
	for _, q := range openQuestions(&whole) {
		list = append(list, q.Says)
	}
	if len(list) > 0 {
		list[0] = "no known fault of it in what was read; not decided: " + list[0]
	}
	return list
}

// reported is a condition in an excerpt: its type and status.
var reported = regexp.MustCompile(`^[A-Z][A-Za-z]*=[A-Z][a-z]+\b`)

// Holding says of a finding that may be a fault or pass which condition holds, since when, and until when that may be normal.
func Holding(f diagnosis.Finding) string {
	says := f.Title
	for _, e := range f.Evidence {
		if condition := reported.FindString(e.Excerpt); condition != "" && e.Time.Equal(f.Since) && !f.Since.IsZero() {
			says = condition + ": " + strings.TrimPrefix(says, fmt.Sprintf("%s %s: ", f.Subject.Kind, f.Subject.Name))
			break
		}
	}
	if !f.Since.IsZero() {
		says += "; since " + f.Since.UTC().Format(time.RFC3339)
	}
	if !f.Until.IsZero() {
		return says + "; until " + f.Until.UTC().Format(time.RFC3339) + " it may be normal" + because(f.HeldUp)
	}
	return says + "; " + strings.TrimLeft(strings.TrimPrefix(f.Reason, "the condition holds"), ";, ")
}

// progressing says what holds and is still normal, "" where nothing does.
func progressing(d *diagnosis.Diagnosis, host *diagnosis.HostState) string {
	if host != nil && !host.Done() {
		if way := onItsWay(d, *host); way != "" {
			return standing(host) + ", " + way
		}
	}
	for _, f := range d.Findings {
		if f.Waiting() && f.Accepted == nil && f.Severity.Rank() > fault.Info.Rank() {
			return f.Title + "; normal until " + f.Until.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// onItsWay says until when it is normal that a host is not done, "" where it is not or where that is not known.
func onItsWay(d *diagnosis.Diagnosis, h diagnosis.HostState) string {
	if at := inProgress(d, h); !at.IsZero() {
		return "normal until " + at.UTC().Format(time.RFC3339)
	}
	for _, f := range d.Findings {
		if f.Waiting() && slices.Contains(h.BlockedBy, f.Key()) {
			return "normal until " + f.Until.UTC().Format(time.RFC3339)
		}
	}
	return ""
}
