package fault

import (
	"regexp"
	"strings"
)

// ShortTitle is a fault's title without the values that only a diagnosis knows.
func ShortTitle(f *Fault) string { return TitleOf(f, nil) }

// TitleOf is a fault's title with names that a text gives, by what titles call them in
// braces: host, operator, pull.registry. Where one is missing that the title needs, it is the
// general title.
func TitleOf(f *Fault, names map[string]string) string {
	name := names[string(f.For)]
	if name == "" {
		name = "the " + subjectWord(f.For)
	}
	missing := false
	title := FillTitle(f, f.Title, name, func(expr string) string {
		missing = missing || names[expr] == "" && (f.General != "" || !optional(f.Title, expr))
		return names[expr]
	})
	if f.General != "" && (missing || names[string(f.For)] == "" && strings.Contains(f.Title, "{"+string(f.For)+"}")) {
		title = FillTitle(f, f.General, name, func(string) string { return "" })
	}
	return twice.ReplaceAllString(title, "the $1")
}

// optional reports whether a title is a sentence without what it has in braces: behind a
// colon at its end, or in parentheses.
func optional(title, expr string) bool {
	return strings.HasSuffix(title, ": {"+expr+"}") || strings.Contains(title, " ({"+expr+"})")
}

// twice is a kind in front of the words that stand for its name: "pool the pool".
var twice = regexp.MustCompile(`(?:\bthe )?\b(pool|node|operator|NodePool|Machine|host|request|cluster) the (?:pool|host|operator|nodepool|machine|` +
	`request|csr|cluster)\b`)

func subjectWord(k Kind) string {
	if k == CSR {
		return "request"
	}
	return string(k)
}
