package plan

// columns is more than a line of a plan has.
const columns = 1 << 24

// place is a line and a column of a plan, as one number: a text under the path of a password
// would be taken for the password.
func place(line, column int) int64 { return int64(line)*columns + int64(min(column, columns-1)) }

// LineColumn is the line and the column of a Place, and whether v is one.
func LineColumn(v any) (line, column int, ok bool) {
	n, ok := v.(int64)
	return int(n / columns), int(n % columns), ok
}
