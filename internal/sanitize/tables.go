package sanitize

import (
	"slices"
	"strings"
)

// A table has the names of its columns in a line of their own, and the values in the lines below:
// Markdown, psql, box drawings, CSV and TSV have a sign between the cells, what oc prints has blanks.
// All cells below the name of a secret are looked at, whatever stands in the others.

// tableReader reads lines and notes the secrets in cells. It goes on over the lines of a stream. The
// work for a line is bounded by its length.
type tableReader struct {
	kind    func(name string) keyKind
	sign    string    // between two cells; "" are blanks
	columns []keyKind // none: in no table
	starts  []int     // where columns begin, where blanks are between them
	apart   bool      // indented, and with blanks behind the signs, as in code: a word is no secret then
	name    bool      // the line was one name alone: a rule below it makes a column of it
	rows    int       // that are left
}

// maxRows bounds a table: a log with commas in its lines may look like one for ever.
const maxRows = 4096

// maxHead bounds the line with the names of the columns.
const maxHead = 512

// tableSigns stand between cells. Of those that may be in a sentence, the head has no blanks behind them.
var tableSigns = []string{"│", "║", "┃", "|", "\t", ",", ";", ""}

func (r *tableReader) active() bool { return r != nil && len(r.columns) > 0 }

// sees reports whether a line is of a table, or may be its head. Only a stream of lines has a reader.
func (r *tableReader) sees(line string) bool { return r != nil && (r.active() || opensTable(line)) }

// What a character is in the line with the names of the columns.
const (
	noHead       = 1 + iota // it ends what may be one
	betweenCells            // it may stand between two names
)

var headSigns = func() (signs [256]byte) {
	for _, c := range []byte(":{}[]<>@!\\") {
		signs[c] = noHead
	}
	for _, c := range []byte("|,;\t") {
		signs[c] = betweenCells
	}
	for c := 0x80; c < len(signs); c++ {
		signs[c] = betweenCells
	}
	return signs
}()

// opensTable is a quick look for a line that ends in names of columns.
func opensTable[T string | []byte](line T) bool {
	end := len(line)
	for end > 0 && strings.IndexByte(" \r", line[end-1]) >= 0 {
		end--
	}
	i, signs, stem := end, false, false
	for ; i > 0 && end-i < maxHead && headSigns[line[i-1]] != noHead; i-- {
		switch c := line[i-1]; {
		case headSigns[c] == betweenCells, c == ' ' && i < end && line[i] == ' ':
			signs = true
		case i < end && !stem:
			stem = isStem(c, line[i], line[min(i+1, end-1)])
		}
	}
	return stem && (signs || end-i < 32)
}

// tables returns where secrets are in the cells of tables; w is the view of v.
func (s *Sanitizer) tables(v string, w view) []span {
	if strings.IndexByte(w.text, '\n') < 0 {
		return nil
	}
	return w.spans((&tableReader{kind: s.keys.kind}).read(w.text))
}

// read returns where the secrets in cells are.
func (r *tableReader) read(t string) (found []span) {
	for at := 0; at < len(t); {
		line, _, _ := strings.Cut(t[at:], "\n")
		from := prefixEnd(line)
		for _, cell := range r.line(line[from:]) {
			found = append(found, span{at + from + cell.from, at + from + cell.to})
		}
		at += len(line) + 1
	}
	return found
}

// line reads one line.
func (r *tableReader) line(line string) (found []span) {
	rule := isRule(line)
	if r.name && !rule {
		r.columns, r.name = nil, false
	}
	switch {
	case rule:
		r.name = false
		return nil
	case r.oneColumn() && r.replaced(line):
		return nil
	case r.active() && r.rows > 0:
		for _, part := range []string{line, before(line, '"'), before(line, '\''), beforeEnd(line)} {
			if cells := r.cells(part); cells != nil {
				r.rows--
				return r.judge(part, cells)
			}
		}
	}
	r.open(line)
	return nil
}

// open leaves the table and begins the one whose head a line is, if it is one.
func (r *tableReader) open(line string) {
	if r.columns, r.starts, r.sign, r.apart = nil, nil, "", false; opensTable(line) {
		r.head(line)
		for _, quote := range []byte(`"'`) {
			if n := strings.LastIndexByte(line, quote); !r.active() && n >= 0 && (strings.Count(line, string(quote))%2 == 1 || opensText(line[:n])) {
				r.head(line[n+1:])
			}
		}
	}
}

// oneColumn reports whether the table has a single column: each line may be a row of it.
func (r *tableReader) oneColumn() bool { return len(r.columns) == 1 && r.sign == "" }

// replaced leaves a table of one column at a line with several cells: the column was only a heading with a line
// below it, and the table that follows has to be read.
func (r *tableReader) replaced(line string) bool {
	if len(split(line, "")) < 2 && !opensTable(line) {
		return false
	}
	was := *r
	if r.open(line); r.active() && !r.oneColumn() || len(split(line, "")) > 1 {
		return true
	}
	*r = was
	return false
}

// before returns what stands in front of the first of an odd number of quotes: the end of a text
// that is in them.
func before(line string, quote byte) string {
	if n := strings.IndexByte(line, quote); n >= 0 && strings.Count(line, string(quote))%2 == 1 {
		return line[:n]
	}
	return line
}

// beforeEnd returns what stands in front of the quote that ends a text and the brackets behind it.
func beforeEnd(line string) string {
	text := strings.TrimRight(line, "}] \t\\\"")
	if tail := line[len(text):]; strings.Contains(tail, `"}`) || strings.Contains(tail, `"]`) {
		return text
	}
	return line
}

// isRule reports whether a line is drawn between rows.
func isRule(line string) bool {
	return strings.ContainsAny(line, "-=─═━") && strings.Trim(line, " \t\r|-+=:.~│║┃─═━┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╟╫╢╪╞╡┏┳┓┣╋┫┗┻┛") == ""
}

// head reads a line as the names of columns.
func (r *tableReader) head(line string) {
	if name := strings.TrimSpace(line); !strings.Contains(name, "  ") && r.kind(name) == deepKey && isColumn(name) {
		r.sign, r.columns, r.starts, r.name, r.rows = "", []keyKind{deepKey}, []int{strings.Index(line, name)}, true, maxRows
		return
	}
	for _, sign := range tableSigns {
		if r.sign = sign; sign == "|" && strings.HasPrefix(strings.TrimSpace(line), "||") {
			line = strings.ReplaceAll(line, "||", " |") // of a wiki
		}
		cells := split(line, sign)
		if len(cells) < 2 && (sign == "" || len(cells) == 0 || strings.Count(line, sign) < 2) {
			continue
		}
		columns, starts, secret := make([]keyKind, len(cells)), make([]int, len(cells)), false
		apart := wordsApart(line, sign, cells)
		allNamed := !slices.ContainsFunc(cells, func(c span) bool { return strings.TrimSpace(line[c.from:c.to]) == "" })
		for i, c := range cells {
			name, _, _ := strings.Cut(strings.Trim(line[c.from:c.to], "=*_ \"'`"), "(")
			name = strings.TrimSpace(name)
			sentence := (sign == "," || sign == ";") && strings.HasPrefix(line[c.from:c.to], " ") && !apart && (i > 0 || !allNamed)
			if sentence || name != "" && !isColumn(name) && line[c.from] != '"' {
				return
			}
			columns[i], starts[i] = r.kind(name), c.from
			if columns[i] == plainKey && chosen(name, false) {
				return // a value
			}
			secret = secret || columns[i] != plainKey
		}
		if secret {
			r.columns, r.starts, r.rows, r.apart = columns, starts, maxRows, apart && line[0] == ' '
		}
		return
	}
}

// wordsApart reports whether all cells of a head are one word each with a blank in front, so that it is no sentence.
func wordsApart(line, sign string, cells []span) bool {
	for i, c := range cells {
		cell := line[c.from:c.to]
		if name := strings.Trim(cell, " \"'"); i > 0 && !strings.HasPrefix(cell, " ") || name == "" || strings.IndexByte(name, ' ') >= 0 {
			return false
		}
	}
	return sign == "," || sign == ";"
}

// isColumn reports whether a text may be the name of a column.
func isColumn(name string) bool {
	return len(name) <= 40 && strings.Count(name, " ") < 4 && strings.Trim(name, alphanumeric+"_-. /#%") == ""
}

// cells returns the cells of a row; nil if it has not as many as the head.
func (r *tableReader) cells(line string) []span {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	if cells := split(line, r.sign); len(cells) == len(r.columns) {
		return cells
	}
	if end := strings.TrimRight(line, " \t\r"); r.sign == "|" && strings.HasSuffix(end, "|") { // the last cell of psql is empty
		if cells := append(split(end[:len(end)-1], r.sign), span{len(end), len(end)}); len(cells) == len(r.columns) {
			return cells
		}
	}
	if r.sign != "" || hasAtom(line) { // what was hidden has moved the columns
		return nil
	}
	var cells []span
	for i, from := range r.starts {
		to := len(line)
		if i+1 < len(r.starts) {
			to = min(to, r.starts[i+1])
		}
		if from >= len(line) {
			from, to = len(line), len(line)
		}
		if to < len(line) && line[to-1] != ' ' || from > 0 && from < len(line) && line[from-1] != ' ' {
			return nil
		}
		cells = append(cells, span{from, from + len(strings.TrimRight(line[from:to], " \t\r"))})
	}
	return cells
}

// split returns the cells of a line; those with blanks around have them in front, as a head shows
// by them that it is a sentence.
func split(line, sign string) (cells []span) {
	from, end := 0, len(strings.TrimRight(line, " \t\r"))
	if sign == "" {
		for from = skip(line, 0, " "); from < end; {
			to := end
			if n := strings.Index(line[from:end], "  "); n >= 0 {
				to = from + n
			}
			cells = append(cells, span{from, to})
			from = skip(line, to, " ")
		}
		return cells
	}
	if bar := sign[0] == '|' || sign[0] >= 0x80; bar { // one may stand on both sides
		if from = skip(line, 0, " \t"); strings.HasPrefix(line[from:], sign) {
			from += len(sign)
		} else {
			from = 0
		}
		if strings.HasSuffix(line[:end], sign) && end > from {
			end -= len(sign)
		}
	}
	for from <= end {
		to := end
		if q := skip(line, from, " "); q < end && line[q] == '"' { // the sign may be in quotes
			q = quotedCell(line[:end], q+1)
			if n := strings.Index(line[q:end], sign); n >= 0 {
				to = q + n
			}
		} else if n := strings.Index(line[from:end], sign); n >= 0 {
			to = from + n
		}
		cells = append(cells, span{from, to})
		from = to + len(sign)
	}
	return cells
}

// quotedCell returns where a cell in quotes ends; a quote in it is doubled.
func quotedCell(line string, i int) int {
	for i < len(line) {
		switch {
		case line[i] != '"':
			i++
		case strings.HasPrefix(line[i:], `""`):
			i += 2
		default:
			return i
		}
	}
	return i
}

// judge returns the secrets of a row.
func (r *tableReader) judge(line string, cells []span) (found []span) {
	if len(cells) == 2 && r.kind(strings.Trim(line[cells[0].from:cells[0].to], " *`\"")) >= maybeKey {
		r.columns = nil // of fields and their values
		return nil
	}
	for i, c := range cells {
		if r.columns[i] == plainKey || c.from >= c.to {
			continue
		}
		const around = " \t\r\"'`*"
		from := min(c.to, skip(line, c.from, around))
		value := strings.TrimRight(line[from:c.to], around)
		inQuotes := from > c.from && line[from-1] == '"' && line[from+len(value):] != "" && line[from+len(value)] == '"'
		if r.apart && !chosen(value, true) {
			continue
		}
		if lo, hi := cellSecret(value, r.columns[i]); lo < hi || inQuotes && r.columns[i] == deepKey && quotedPhrase(value) {
			if lo >= hi {
				hi = len(value)
			}
			found = append(found, span{from + lo, from + hi})
		}
	}
	return found
}

// cellSecret returns where the secret is in a cell. Below the name of a password each word is one
// that does not say how it is.
func cellSecret(value string, kind keyKind) (from, to int) {
	switch {
	case kind == weakKey:
		return secretIn(value, kind, beside, false)
	case kind < maybeKey:
		return secretIn(value, kind, cell, false)
	case len(value) < minOpen || hasAtom(value) || !noFlag(value) || publicValue(value) || nameOfObject(value) || lowPath.get().MatchString(value):
		return 0, 0
	case kind == deepKey && !strings.ContainsAny(value, " \t") && !isRelease(value) && !slices.Contains(statusWords, strings.ToLower(value)),
		chosen(value, kind >= secretKey) && (kind >= secretKey || randomWord(value) || len(value) >= 12):
		return 0, len(value)
	}
	return 0, 0
}

// quotedPhrase reports whether a cell in quotes is a password with blanks and no sentence.
func quotedPhrase(value string) bool {
	first, _, more := strings.Cut(value, " ")
	return more && !hasAtom(value) && strings.ContainsAny(value, "0123456789!#$%^&*+=?~@;") && noFlag(value) && noFlag(first) &&
		!slices.Contains(statusWords, strings.ToLower(first)) && !isTime(value)
}

// statusWords say how a password is, beside those that noFlag knows.
var statusWords = []string{"unknown", "valid", "present", "absent", "default", "never", "active", "optional", "secret", "string", "varchar", "text", "ready",
	"correct", "redacted", "plain", "hashed", "encrypted", "n/a", "<hidden>", "(hidden)", "<redacted>", "password"}
