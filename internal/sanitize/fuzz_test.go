package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzPlanted plants a random secret in a form of the grammar and something foreign around it.
// Nothing may panic, and the second time may change nothing. A secret that is left is counted
// where nothing is around it: no more than maxLeaked of a thousand, and two. The steps of the decoder are in
// proportion to the text, also where it is repeated: steps, because time is another one on each machine.
func FuzzPlanted(f *testing.F) {
	for i := range uint64(64) {
		f.Add(i, "", "")
	}
	f.Add(uint64(1), "\"\x1b[31m", "\\u0022\n---\n")
	f.Add(uint64(2), "{'a': ", "}]")
	for _, part := range []string{"user,password\n", "\"password\",", "value: x\nname: PASSWORD\n", "password='", "key: ", "token:", "{\"password\":", "{Name:PASSWORD Value:", "password: {\n"} {
		f.Add(uint64(3), part, part)
	}
	total, left := 0, 0
	f.Fuzz(func(t *testing.T, seed uint64, before, after string) {
		r := rand.New(rand.NewPCG(seed, 7))
		form := plantedForms[r.IntN(len(plantedForms))]
		family := families[r.IntN(3)] // the names that leave no doubt
		name := family.names[r.IntN(len(family.names))]
		value := alphabets[r.IntN(8)].of(r, family.least+r.IntN(41-family.least))
		planted, secret := form.plant(r.IntN(max(1, len(form.texts))), name, value)
		text := before + planted + after
		often := func(v string) string { return strings.Repeat(v, repeated/max(1, len(v))) }
		for _, text := range []string{text, often(text), often(before) + planted + often(after)} {
			if steps, most := sanitizer(t, "a").decoded(text, readable(text)).steps, mostSteps(len(text)); steps > most {
				t.Errorf("%d steps for %d bytes, want %d at most: %.300q", steps, len(text), most, text)
			}
		}
		once := sanitizer(t, "a").Text(text)
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

// repeated is how long a text of FuzzPlanted is made: long enough that the square of it is beyond mostSteps.
const repeated = 16 << 10

// mostSteps bounds the steps of the decoder for a text of so many bytes: what it may look at around names, twice because
// the look that is refused is counted, too, and as much for the values.
func mostSteps(bytes int) int { return 3 * lookAround * (bytes + maxBeside) }
