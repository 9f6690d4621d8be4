package plan

import "testing"

func TestPlace(t *testing.T) {
	for _, p := range [][2]int{{1, 1}, {40000, 3}, {3, columns - 1}} {
		if line, column, ok := LineColumn(place(p[0], p[1])); !ok || line != p[0] || column != p[1] {
			t.Errorf("%v: %d:%d, %v", p, line, column, ok)
		}
	}
	if line, column, _ := LineColumn(place(7, columns+5)); line != 7 || column != columns-1 {
		t.Errorf("a long line: %d:%d", line, column)
	}
	for _, v := range []any{nil, "3:4", 3.0} {
		if _, _, ok := LineColumn(v); ok {
			t.Errorf("%v is a place", v)
		}
	}
}
