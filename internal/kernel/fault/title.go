package fault

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

var hole = regexp.MustCompile(`\{([a-zA-Z][a-zA-Z0-9_.]*)\}`)

// holes lists what a title names in braces, without the subject itself.
func holes(f *Fault, text string) []string {
	var list []string
	for _, m := range hole.FindAllStringSubmatch(text, -1) {
		if m[1] != string(f.For) && !slices.Contains(list, m[1]) {
			list = append(list, m[1])
		}
	}
	return list
}

// Title is a title taken apart at its braces: a fault is judged for every host.
type Title struct {
	kind    string
	parts   []string // in turn: text, what is in braces, text
	general string   // the sentence where a value is missing that it needs
	subject string   // the subject in the words of that sentence: host
}

// ParseTitle takes a title of a fault apart.
func ParseTitle(f *Fault, text string) Title {
	t := Title{kind: string(f.For), subject: subjectWord(f.For)}
	if text == f.Title {
		t.general = f.General
	}
	at := 0
	for _, m := range hole.FindAllStringSubmatchIndex(text, -1) {
		t.parts = append(t.parts, text[at:m[0]], text[m[2]:m[3]])
		at = m[1]
	}
	t.parts = append(t.parts, text[at:])
	return t
}

// Fill replaces the braces: the subject's kind by its name, all others by what show
// returns for them. A value that is not there, "", leaves no gap: what only introduces it
// is left out as well, and where the sentence needs it, it is the general one, about this subject.
// A fault without a general title has its name in capitals there, as in a command.
func (t Title) Fill(name string, show func(expr string) string) string {
	if len(t.parts) == 1 {
		return t.parts[0]
	}
	var room [9]string
	filled := append(room[:0], t.parts...)
	short := false
	for i := 1; i < len(filled); i += 2 {
		expr := filled[i]
		if expr == t.kind {
			filled[i] = name
			continue
		}
		if filled[i] = show(expr); filled[i] != "" {
			continue
		}
		short = true
		if leaveOut(filled, i, t.general != "") {
			continue
		}
		if t.general != "" {
			return t.about(name)
		}
		filled[i] = strings.ToUpper(expr[strings.LastIndexByte(expr, '.')+1:])
	}
	title := strings.TrimSpace(strings.Join(filled, ""))
	if short && t.general != "" && len(strings.Fields(title)) <= onlySubject {
		return t.about(name)
	}
	return title
}

// onlySubject is how many words a title has in which nothing but its subject is left: "operator
// ingress reports".
const onlySubject = 3

// about names the subject in a general sentence, where it is first mentioned: "the host cannot pull"
// becomes "w1 cannot pull", "the pool is paused" becomes "pool worker is paused". Words that stand
// for a subject of no name, "the host", leave it as it is.
func (t Title) about(name string) string {
	general, subject := t.general, t.subject
	if named := strings.ReplaceAll(general, "{"+t.kind+"}", name); named != general {
		return named
	}
	if name == "" || name == Unnamed || strings.HasPrefix(name, "the ") || strings.HasPrefix(name, "a ") || name == "…" || subject == string(Cluster) {
		return general
	}
	for _, at := range anySubject.FindAllStringSubmatchIndex(general, -1) {
		word := general[at[2]:at[3]]
		if !strings.EqualFold(word, subject) {
			continue
		}
		if subject != string(Host) {
			name = word + " " + name
		}
		return general[:at[0]] + name + general[at[1]:]
	}
	return general + " (" + name + ")"
}

// anySubject is how a sentence mentions a subject without its name.
var anySubject = regexp.MustCompile(`(?i)\b(?:the|an?) (host|pool|nodepool|operator|request)\b`)

// leaveOut writes a title without the value at i. It reports whether the rest is a sentence: not
// sure where something follows the value, so that a general title is better.
func leaveOut(parts []string, i int, general bool) bool {
	before, after := &parts[i-1], &parts[i+1]
	switch {
	case strings.HasSuffix(*before, " (") && strings.HasPrefix(*after, ")"):
		*before, *after = strings.TrimSuffix(*before, " ("), strings.TrimPrefix(*after, ")")
	case strings.HasSuffix(*before, ": "):
		*before = strings.TrimSuffix(*before, ": ")
	case strings.HasSuffix(*before, " ") && strings.HasPrefix(*after, ",") && !general:
		*before = strings.TrimSuffix(*before, " ")
	default:
		return false
	}
	return true
}

// FillTitle fills a title once.
func FillTitle(f *Fault, text, name string, show func(expr string) string) string {
	return ParseTitle(f, text).Fill(name, show)
}

// Show renders a result for a sentence.
func Show(r Result) string {
	switch v := r.Value.Value().(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case []string:
		return strings.Join(v, ", ")
	default:
		return fmt.Sprint(v)
	}
}

// Span renders a duration as oc does: two units at most. From a week on it is days, from two years
// on years: what is that old is not counted in hours.
func Span(d time.Duration) string {
	two := func(a int64, unitA string, b int64, unitB string) string {
		if b == 0 {
			return fmt.Sprintf("%d%s", a, unitA)
		}
		return fmt.Sprintf("%d%s%d%s", a, unitA, b, unitB)
	}
	s := int64(d / time.Second)
	switch {
	case d < 0:
		return "in the future"
	case s < 120:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm", s/60)
	case s < 48*3600:
		return two(s/3600, "h", s%3600/60, "m")
	}
	switch days := s / 86400; {
	case days < 8:
		return two(days, "d", s%86400/3600, "h")
	case days < 2*365:
		return fmt.Sprintf("%dd", days)
	default:
		return fmt.Sprintf("%dy", days/365)
	}
}
