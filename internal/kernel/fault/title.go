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
	kind  string
	parts []string // in turn: text, what is in braces, text
}

// ParseTitle takes a title of a fault apart.
func ParseTitle(f *Fault, text string) Title {
	t := Title{kind: string(f.For)}
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
// is left out as well, and elsewhere its name stands in capitals, as in a command.
func (t Title) Fill(name string, show func(expr string) string) string {
	text, _ := t.fill(name, show)
	return text
}

// FillWhole fills a title, or the general one of the fault where a value is missing that the sentence
// needs: a name in capitals is for a command, and no part of an answer.
func (t Title) FillWhole(f *Fault, name string, show func(expr string) string) string {
	text, whole := t.fill(name, show)
	if whole || f.General == "" {
		return text
	}
	return FillTitle(f, f.General, name, show)
}

// fill also reports whether no name in capitals is in the text.
func (t Title) fill(name string, show func(expr string) string) (text string, whole bool) {
	whole = true
	if len(t.parts) == 1 {
		return t.parts[0], whole
	}
	var room [9]string
	filled := append(room[:0], t.parts...)
	for i := 1; i < len(filled); i += 2 {
		expr := filled[i]
		if expr == t.kind {
			filled[i] = name
		} else if filled[i] = show(expr); filled[i] == "" {
			leaveOut(filled, i, strings.ToUpper(expr[strings.LastIndexByte(expr, '.')+1:]))
			whole = whole && filled[i] == ""
		}
	}
	return strings.TrimSpace(strings.Join(filled, "")), whole
}

// leaveOut writes a title without the value at i, or placeholder where the sentence needs
// something there.
func leaveOut(parts []string, i int, placeholder string) {
	before, after := &parts[i-1], &parts[i+1]
	switch {
	case strings.HasSuffix(*before, " (") && strings.HasPrefix(*after, ")"):
		*before, *after = strings.TrimSuffix(*before, " ("), strings.TrimPrefix(*after, ")")
	case strings.HasSuffix(*before, ": "):
		*before = strings.TrimSuffix(*before, ": ")
	case strings.HasSuffix(*before, " ") && strings.HasPrefix(*after, ","):
		*before = strings.TrimSuffix(*before, " ")
	default:
		parts[i] = placeholder
	}
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

// Span renders a duration as oc does: two units at most.
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
	return two(s/86400, "d", s%86400/3600, "h")
}
