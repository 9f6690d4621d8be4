package page

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Length is how many characters a text has.
func Length(s string) int { return utf8.RuneCountInString(s) }

// Cut shortens a text to n characters.
func Cut(s string, n int) string {
	if Length(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:max(n, 0)]), " ")
}

// cutWords shortens a text to n characters, at a blank where there is one.
func cutWords(s string, n int) string {
	short := Cut(s, n)
	if i := strings.LastIndexByte(short, ' '); i > 0 && short != s && !strings.HasPrefix(s[len(short):], " ") {
		short = short[:i]
	}
	return strings.TrimRight(short, " ,;:(…")
}

// Break breaks a text at blanks into lines of at most rest characters, the first of
// at most first. A word that is longer is alone and whole, so that it can be
// copied.
func Break(text string, first, rest int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		width := rest
		if len(lines) == 0 {
			width = first
		}
		switch {
		case line == "":
			line = word
		case Length(line)+1+Length(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// Columns is one row of a table: cells in columns of these widths, two blanks between them.
func Columns(cells []string, width []int) string {
	var b strings.Builder
	for i, c := range cells {
		b.WriteString(c)
		b.WriteString(strings.Repeat(" ", width[i]-Length(c)+2))
	}
	return b.String()
}

// Clock renders a time as RFC 3339 in UTC.
func Clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Count renders a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
