package sanitize

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// rate is how many of the secrets of a form were left in clear.
type rate struct{ left, of int }

func (r rate) String() string {
	return fmt.Sprintf("%.2f %% of %d", 100*float64(r.left)/float64(max(1, r.of)), r.of)
}

// measured plants values in every form beside every name.
func measured(t testing.TB, values int, each func(form int, text, how string, left bool, planted, clean string)) {
	s := sanitizer(t, "salt")
	ways := map[string]func(string) string{
		"text": s.Text,
		"lines": func(v string) string {
			stream := s.Lines()
			var out []string
			for line := range strings.SplitSeq(v, "\n") {
				out = append(out, stream.Line(line))
			}
			return strings.Join(out, "\n")
		},
		"object": func(v string) string {
			o := evidence.Object{Resource: evidence.ConfigMaps, Content: map[string]any{"data": map[string]any{"text": v}}}
			s.Object(o.Resource.Group, o.Resource.Name, o.Content)
			return evidence.String(o.Content, "data", "text")
		},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i, form := range plantedForms {
		for text := range max(1, len(form.texts)) {
			for _, family := range families {
				for _, a := range alphabets {
					wordy := a.name == "words" || a.name == "CamelCase"
					if wordy && (!form.words || !family.words) {
						continue
					}
					for n := range values {
						name := family.names[(n+r.IntN(len(family.names)))%len(family.names)]
						value := a.of(r, family.least+r.IntN(41-family.least))
						if form.sure && !family.sure {
							continue
						}
						planted, secret := form.plant(text, name, value)
						for how, clean := range ways {
							if how == "lines" && form.write == nil && form.texts[text][0] == '^' {
								continue
							}
							got := clean(planted)
							each(i, fmt.Sprint(text), how, leaks(got, secret) != "", planted, got)
						}
					}
				}
			}
		}
	}
}

// maxLeaked is how many of a thousand secrets of a form may be left.
const maxLeaked = 10

// usualValues is how many values are planted into each form.
const usualValues = 4

type measure struct {
	rates []rate
	all   rate
	left  []string
}

// leakRatesOf is what was measured, by the number of values: the page and the bound are of one measurement.
var leakRatesOf = struct {
	sync.Mutex
	values map[int]*measure
}{values: map[int]*measure{}}

// leakRates measures every form, and returns one rate for each and examples of what was left.
func leakRates(t testing.TB, values int) (rates []rate, all rate, left []string) {
	leakRatesOf.Lock()
	defer leakRatesOf.Unlock()
	if m := leakRatesOf.values[values]; m != nil {
		return m.rates, m.all, m.left
	}
	defer func() { leakRatesOf.values[values] = &measure{rates, all, left} }()
	rates = make([]rate, len(plantedForms))
	measured(t, values, func(form int, _ string, how string, leaked bool, planted, _ string) {
		rates[form].of++
		all.of++
		if leaked {
			rates[form].left++
			all.left++
			left = append(left, fmt.Sprintf("%s, %s: %q", plantedForms[form].kind, how, planted))
		}
	})
	return rates, all, left
}

// TestLeakRate plants random values beside names of every family in every form. With LEAKS=1 it
// lists what was left.
func TestLeakRate(t *testing.T) {
	values := usualValues
	if testing.Short() {
		values = 1
	}
	rates, all, left := leakRates(t, values)
	for i, f := range plantedForms {
		t.Logf("| %s | %s |", f.kind, rates[i])
		if bound := max(rates[i].of*maxLeaked/1000, 2); rates[i].left > bound {
			t.Errorf("%s: %s is left, which is more than %d", f.kind, rates[i], bound)
		}
	}
	t.Logf("| all | %s |", all)
	if os.Getenv("LEAKS") != "" {
		t.Log(strings.Join(left, "\n"))
	}
}
