package command

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/page"
)

// TestTable: where a row is wider than the screen, a long name stands below it, and the others keep their column.
func TestTable(t *testing.T) {
	rows := [][]string{{"REQUEST", "HOST", "STATE"}, {"csr-a", "w1", "pending"}, {"csr-b", "a-very-long-name.example.com", "issued"}}
	wide := []string{"REQUEST  HOST                          STATE", "csr-a    w1                            pending", "csr-b    a-very-long-name.example.com  issued"}
	narrow := []string{"REQUEST  HOST  STATE", "csr-a    w1    pending", "csr-b          issued", "    a-very-long-name.example.com"}
	for _, c := range []struct {
		room int
		want []string
	}{{page.NoWrap, wide}, {80, wide}, {30, narrow}, {10, narrow}} {
		if got := table(rows, 1, c.room); !slices.Equal(got, c.want) {
			t.Errorf("%d columns: %q, want %q", c.room, got, c.want)
		}
	}
	if rows[2][1] != "a-very-long-name.example.com" {
		t.Error("the rows were changed")
	}
}
