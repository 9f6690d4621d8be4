package octable_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/text/octable"
)

func TestRow(t *testing.T) {
	const head = "NAMESPACE   NAME     STATE     LAST SEEN   AGE"
	for name, c := range map[string]struct {
		head, row string
		want      []string // nil: no row
	}{
		"aligned":            {head, "toys        kite-1   ready     2m          3h", []string{"toys", "kite-1", "ready", "2m", "3h"}},
		"an empty cell":      {head, "toys        kite-1             2m          3h", []string{"toys", "kite-1", "", "2m", "3h"}},
		"printed for none":   {head, "toys        kite-1   <none>    2m          3h", []string{"toys", "kite-1", "", "2m", "3h"}},
		"cut":                {head, "toys        kite-1", []string{"toys", "kite-1", "", "", ""}},
		"one blank":          {"NAME STATE AGE", "kite-1 ready 3h", []string{"kite-1", "ready", "3h"}},
		"a cell made longer": {head, "toys        kite-1   preparing  2m          3h", []string{"toys", "kite-1", "preparing", "2m", "3h"}},
		"a cell made short":  {head, "t     kite-1   ready     2m          3h", []string{"t", "kite-1", "ready", "2m", "3h"}},
		"prose":              {head, "this is a sentence that somebody has written below the table of objects", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := octable.Row(c.row, octable.Columns(c.head))
			if ok != (c.want != nil) || ok && !slices.Equal(got, c.want) {
				t.Errorf("got %q, %t; want %q", got, ok, c.want)
			}
		})
	}
}

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"14s": 14 * time.Second, "3m51s": 231 * time.Second, "2d3h": 51 * time.Hour, "1y2d": 367 * 24 * time.Hour} {
		if got, ok := octable.Age(text); !ok || got != want {
			t.Errorf("%s is %v, %t; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "<unknown>", "3 h", "true"} {
		if got, ok := octable.Age(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
