// Package octable reads tables as oc, kubectl and omc print them: a heading in capitals, and
// rows whose cells begin below the names of their columns.
//
// Invariants:
//   - It knows no kind and no column: what a cell means is for its callers.
//   - What a table prints for nothing, such as <none>, is "".
package octable

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Column is one column: its name, and where it begins.
type Column struct {
	Name string
	From int
}

// unaligned is the place of a column that has none.
const unaligned = -1

var cell = regexp.MustCompile(`[A-Z][A-Z-]*(?: [A-Z][A-Z-]*)*`)

// Columns reads the heading of a table. Some programs make one blank of several: then only
// the words of a row tell the cells apart.
func Columns(head string) []Column {
	var columns []Column
	if !strings.Contains(strings.TrimSpace(head), "  ") {
		for _, word := range strings.Fields(head) {
			columns = append(columns, Column{word, unaligned})
		}
		return columns
	}
	for _, at := range cell.FindAllStringIndex(head, -1) {
		columns = append(columns, Column{head[at[0]:at[1]], at[0]})
	}
	return columns
}

// Unaligned are columns by their names alone, of a table without its heading.
func Unaligned(names ...string) (columns []Column) {
	for _, name := range names {
		columns = append(columns, Column{name, unaligned})
	}
	return columns
}

// Row reads the cells of a row: by the positions of the columns where they fit, else by
// blanks where there are as many words as columns. The cells are in the order of the columns.
func Row(line string, columns []Column) ([]string, bool) {
	cells := make([]string, len(columns))
	if len(columns) == 0 {
		return nil, false
	}
	fits := columns[0].From != unaligned
	for i, c := range columns {
		if !fits || c.From > len(line) {
			continue
		}
		to := len(line)
		if i+1 < len(columns) {
			to = min(columns[i+1].From, len(line))
		}
		if c.From > 0 && line[c.From-1] != ' ' {
			fits = false
			break
		}
		cells[i] = Value(line[c.From:to])
	}
	if fits {
		return cells, true
	}
	words := strings.Fields(line)
	if len(words) != len(columns) {
		return shifted(line, columns)
	}
	for i := range columns {
		cells[i] = Value(words[i])
	}
	return cells, true
}

// maxShift is how far a cell may be from its column where somebody has edited the row.
const maxShift = 8

// shifted reads a row in which somebody has made a cell shorter or longer, such as an address
// that was not to be shown: each text goes to the nearest column.
func shifted(line string, columns []Column) ([]string, bool) {
	cells := make([]string, len(columns))
	if columns[0].From == unaligned {
		return nil, false
	}
	found, next := texts.FindAllStringIndex(line, -1), 0
	if len(found) < 2 { // a sentence
		return nil, false
	}
	for _, at := range found {
		best, distance := -1, maxShift+1
		for i := next; i < len(columns); i++ {
			if d := max(at[0]-columns[i].From, columns[i].From-at[0]); d < distance {
				best, distance = i, d
			}
		}
		if best < 0 {
			return nil, false
		}
		cells[best], next = Value(line[at[0]:at[1]]), best+1
	}
	return cells, true
}

// texts are the cells of a row: between them are two blanks or more.
var texts = regexp.MustCompile(`\S+(?: \S+)*`)

// Value is the text of a cell, "" where the table prints that there is none.
func Value(text string) string {
	if text = Unmarked(strings.TrimSpace(text)); text == "<none>" || text == "<unset>" || text == "<unknown>" {
		return ""
	}
	return text
}

// marks are what Markdown puts around a word to print it as code or in bold. No name and no
// value of oc has them.
var marks = strings.NewReplacer("`", "", "**", "")

// Unmarked is a text without the marks of Markdown, as it was before somebody wrote it into a
// ticket.
func Unmarked(text string) string { return marks.Replace(text) }

var ageParts = regexp.MustCompile(`^(?:(\d+)y)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$`)

// Age reads an age of oc (k8s.io/apimachinery:pkg/util/duration HumanDuration).
func Age(text string) (time.Duration, bool) {
	m := ageParts.FindStringSubmatch(text)
	if m == nil || text == "" {
		return 0, false
	}
	var sum time.Duration
	for i, unit := range []time.Duration{365 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if n, err := strconv.Atoi(m[i+1]); err == nil && n < 100_000 {
			sum += time.Duration(n) * unit
		}
	}
	return sum, true
}
