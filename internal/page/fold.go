package page

import "strings"

// Fold breaks the rows of a table that is wider than the room, between two columns: no word is broken and no cell is cut.
// What does not fit is in further lines below the row, indented. A cell that has no room in a line of its own is broken
// at blanks. The columns of a table have at least two blanks between them.
func (s Style) Fold(table string) string {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	rows := make([][]rune, len(lines))
	wide := false
	for i, l := range lines {
		rows[i] = []rune(strings.TrimRight(l, " "))
		wide = wide || len(rows[i]) > s.tableRoom()
	}
	if !wide {
		return table
	}
	breaks := s.breaks(rows, columnStarts(rows))
	var b strings.Builder
	for _, row := range rows {
		for _, l := range s.folded(row, breaks) {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// tableRoom is how many columns the row of a table has: all of the screen, also of a wide one. Where the width is not
// known, no person reads it on a screen.
func (s Style) tableRoom() int {
	switch {
	case s.Width == 0:
		return noEnd
	case s.Width > maxWidth:
		return s.Width
	}
	return s.Room()
}

// further is what the further lines of a row begin with.
const further = "    "

// columnStarts are where the columns of rows begin: no row has anything in the two places before.
func columnStarts(rows [][]rune) []int {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	used := make([]bool, width)
	for _, row := range rows {
		for i, r := range row {
			used[i] = used[i] || r != ' '
		}
	}
	starts := []int{0}
	for i := 2; i < width; i++ {
		if used[i] && !used[i-1] && !used[i-2] {
			starts = append(starts, i)
		}
	}
	return starts
}

// breaks are the columns that begin a further line, the same in all rows. The last column needs room for its longest word:
// the rest of it is broken at blanks.
func (s Style) breaks(rows [][]rune, starts []int) []int {
	var list []int
	from, room := 0, s.tableRoom()
	for i, at := range starts {
		need := 0
		for _, row := range rows {
			switch {
			case len(row) <= at:
			case i+1 < len(starts):
				need = max(need, Length(strings.TrimRight(string(row[at:min(len(row), starts[i+1])]), " ")))
			default:
				for _, word := range strings.Fields(string(row[at:])) {
					need = max(need, Length(word))
				}
			}
		}
		if at > from && at-from+need > room {
			list = append(list, at)
			from, room = at, s.tableRoom()-len(further)
		}
	}
	return list
}

// folded are the lines of one row.
func (s Style) folded(row []rune, breaks []int) []string {
	var list []string
	indent, from := "", 0
	for _, at := range breaks {
		if at >= len(row) {
			break
		}
		if text := strings.TrimRight(string(row[from:at]), " "); text != "" {
			list = append(list, indent+text)
		}
		indent, from = further, at
	}
	text := string(row[from:])
	if Length(indent+text) <= s.tableRoom() {
		return append(list, indent+text)
	}
	for i, l := range breakTail(text, s.tableRoom()-len(indent), s.tableRoom()-len(further)) {
		if i > 0 {
			indent = further
		}
		list = append(list, indent+l)
	}
	return list
}

// breakTail breaks a row whose last cell is too long. The blanks between its columns stay.
func breakTail(text string, first, rest int) []string {
	runes := []rune(text)
	at := min(first, len(runes)-1)
	for at > 0 && runes[at] != ' ' {
		at--
	}
	head := strings.TrimRight(string(runes[:at]), " ")
	if head == "" {
		return Break(text, first, rest)
	}
	return append([]string{head}, Break(string(runes[at:]), rest, rest)...)
}
