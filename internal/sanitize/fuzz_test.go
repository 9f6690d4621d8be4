package sanitize

import (
	"math/rand/v2"
	"testing"
)

// FuzzPlanted plants a random secret in a form of the grammar and something foreign around it.
// Nothing may panic, and the second time may change nothing. A secret that is left is counted
// where nothing is around it: no more than maxLeaked of a thousand, and two.
func FuzzPlanted(f *testing.F) {
	for i := range uint64(64) {
		f.Add(i, "", "")
	}
	f.Add(uint64(1), "\"\x1b[31m", "\\u0022\n---\n")
	f.Add(uint64(2), "{'a': ", "}]")
	total, left := 0, 0
	f.Fuzz(func(t *testing.T, seed uint64, before, after string) {
		r := rand.New(rand.NewPCG(seed, 7))
		form := plantedForms[r.IntN(len(plantedForms))]
		family := families[r.IntN(3)] // the names that leave no doubt
		name := family.names[r.IntN(len(family.names))]
		value := alphabets[r.IntN(8)].of(r, family.least+r.IntN(41-family.least))
		planted, secret := form.plant(r.IntN(max(1, len(form.texts))), name, value)
		once := sanitizer(t, "a").Text(before + planted + after)
		if twice := sanitizer(t, "b").Text(once); twice != once {
			t.Errorf("sanitizing twice changes\n%q to\n%q", once, twice)
		}
		stream := sanitizer(t, "a").Lines()
		stream.Line(before + planted)
		stream.Line(after)
		if before != "" || after != "" || form.sure && !family.sure {
			return
		}
		if total++; leaks(once, secret) != "" {
			left++
		}
		if left > 2+total*maxLeaked/1000 {
			t.Errorf("%d of %d secrets are left, the last in %q", left, total, once)
		}
	})
}
