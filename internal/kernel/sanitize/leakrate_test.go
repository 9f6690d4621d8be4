package sanitize

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// rate is how many of the secrets of a form were left in clear.
type rate struct{ left, of int }

func (r rate) String() string {
	return fmt.Sprintf("%.2f %% of %d", 100*float64(r.left)/float64(max(1, r.of)), r.of)
}

// measured plants values in every form beside every name.
func measured(t testing.TB, values int, each func(form int, text int, how string, left bool, planted, clean string)) {
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
			s.Object(&o)
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
						if form.sure && kindOfKey(name) < secretKey {
							continue
						}
						planted, secret := form.plant(text, name, value)
						for how, clean := range ways {
							if how == "lines" && form.write == nil && form.texts[text][0] == '^' {
								continue
							}
							got := clean(planted)
							each(i, text, how, leaks(got, secret) != "", planted, got)
						}
					}
				}
			}
		}
	}
}

func TestLeakRate(t *testing.T) {
	rates := make([]rate, len(plantedForms))
	byText := map[string]*rate{}
	samples := map[string][]string{}
	all := rate{}
	measured(t, 4, func(form, text int, how string, left bool, planted, clean string) {
		label := plantedForms[form].kind
		if f := plantedForms[form]; f.write == nil {
			label += ": " + f.texts[text]
		}
		label += " [" + how + "]"
		if byText[label] == nil {
			byText[label] = &rate{}
		}
		rates[form].of++
		all.of++
		byText[label].of++
		if left {
			rates[form].left++
			all.left++
			byText[label].left++
			samples[label] = append(samples[label], fmt.Sprintf("%q", planted))
		}
	})
	for i, f := range plantedForms {
		t.Logf("| %s | %s |", f.kind, rates[i])
	}
	t.Logf("| all | %s |", all)
	if os.Getenv("LEAKS") != "" {
		var keys []string
		for k := range byText {
			if byText[k].left > 0 {
				keys = append(keys, k)
			}
		}
		sort.Slice(keys, func(i, j int) bool { return byText[keys[i]].left > byText[keys[j]].left })
		for _, k := range keys {
			t.Logf("%q %s: %s", k, *byText[k], strings.Join(samples[k][:min(len(samples[k]), 3)], " "))
		}
	}
}
