package sample

import (
	"strconv"
	"testing"
)

// TestHas: a sample is the same each time, about as large as asked for, and everything where
// the tests run whole.
func TestHas(t *testing.T) {
	t.Setenv("ROLLCALL_WHOLE", "")
	t.Setenv("ROLLCALL_FULL", "")
	taken := 0
	for i := range 1000 {
		has := Has(4, "case", strconv.Itoa(i))
		if has != Has(4, "case", strconv.Itoa(i)) || has != One(4, "case", strconv.Itoa(i)) {
			t.Errorf("case %d is not always taken or never", i)
		}
		if has {
			taken++
		}
	}
	if taken < 200 || taken > 300 {
		t.Errorf("%d of 1000 are taken, want about 250", taken)
	}
	for _, name := range []string{"ROLLCALL_WHOLE", "ROLLCALL_FULL"} {
		t.Setenv(name, "1")
		for i := range 10 {
			if !Has(4, "case", strconv.Itoa(i)) {
				t.Errorf("with %s, case %d is left out", name, i)
			}
		}
		t.Setenv(name, "")
	}
}
