// Package leaks checks what internal/sanitize hides against the rules of gitleaks. It
// is a module of its own, so that the product does not depend on gitleaks.
package leaks

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/lucasjones/reggen"
	gitleaks "github.com/zricethezav/gitleaks/v8/config"

	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// samples is how many texts are made of each rule.
const samples = 5

// least is how many percent of the samples must be hidden. It only goes up.
const least = 87

// TestRules makes texts that the rules of gitleaks find a secret in, and reports how
// many of these secrets internal/sanitize hides in a log line, an assignment and JSON.
func TestRules(t *testing.T) {
	var config struct {
		Rules []struct {
			ID          string
			Regex       string
			Entropy     float64
			SecretGroup int
			Keywords    []string
		}
	}
	if _, err := toml.Decode(gitleaks.DefaultConfig, &config); err != nil {
		t.Fatal(err)
	}
	s, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	all, hidden, unmade := 0, 0, 0
	var missed []string
	for _, r := range config.Rules {
		if r.Regex == "" {
			continue // a name of a file
		}
		find, err := regexp.Compile(r.Regex)
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		generator, err := reggen.NewGenerator(r.Regex)
		if err != nil {
			unmade++
			continue
		}
		generator.SetSeed(1)
		left := 0
		made := 0
		for range samples * 20 {
			text := generator.Generate(12)
			if strings.IndexFunc(text, func(r rune) bool { return r > 0x7e || r < ' ' && r != '\n' }) >= 0 {
				continue // (?i) also makes signs that fold to letters
			}
			if len(r.Keywords) > 0 && strings.Contains(r.Regex, "[\\w.-]{0,50}?") { // the name is the keyword, and not any row of characters
				if m := find.FindStringSubmatch(text); len(m) > 1 && m[1] != "" {
					text = r.Keywords[0] + "_token = \"" + m[1] + "\""
				}
			}
			m := find.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			secret := m[0]
			if r.SecretGroup > 0 {
				secret = m[r.SecretGroup]
			} else if len(m) > 1 && m[1] != "" {
				secret = m[1]
			}
			if len(secret) < 8 || entropy(secret) < r.Entropy || strings.ContainsAny(secret, "\n\r") && !strings.Contains(text, "PRIVATE KEY") {
				continue
			}
			for _, line := range []string{"failed with " + text + " for host", text, "level=info msg=\"" + strings.ReplaceAll(text, `"`, `\"`) + "\" n=1"} {
				all++
				if strings.Contains(s.Text(line), secret) {
					left++
				} else {
					hidden++
				}
			}
			if made++; made == samples {
				break
			}
		}
		if made == 0 {
			unmade++
		}
		if left > 0 {
			missed = append(missed, r.ID)
		}
	}
	slices.Sort(missed)
	percent := 100 * hidden / max(all, 1)
	t.Logf("%d of %d samples are hidden (%d%%), of %d rules; no samples of %d rules", hidden, all, percent, len(config.Rules), unmade)
	t.Logf("not or not always hidden: %s", strings.Join(missed, " "))
	if percent < least {
		t.Errorf("%d%% are hidden, at least %d%% are wanted", percent, least)
	}
}

// entropy is Shannon's, in bits for each character.
func entropy(v string) float64 {
	counts := map[rune]float64{}
	for _, r := range v {
		counts[r]++
	}
	e := 0.0
	for _, n := range counts {
		p := n / float64(len(v))
		e -= p * math.Log2(p)
	}
	return e
}
