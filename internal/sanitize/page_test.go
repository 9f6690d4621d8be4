package sanitize

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/secrets.md")

const (
	secretsPage = "../../docs/secrets.md"
	tableBegin  = "<!-- measured by TestSecretsPage -->\n"
	tableEnd    = "<!-- end -->\n"
)

// TestSecretsPage holds the table of the page about secrets against what is measured. The rates
// before are those of the sanitizer of forms, measured once with the same values.
func TestSecretsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("measures all forms")
	}
	before, err := os.ReadFile("testdata/leaks-before.txt")
	if err != nil {
		t.Fatal(err)
	}
	was := map[string]string{}
	for line := range strings.Lines(string(before)) {
		form, rate, _ := strings.Cut(strings.TrimSpace(line), "\t")
		was[form], _, _ = strings.Cut(rate, " of")
	}
	rates, all, _ := leakRates(t, usualValues)
	var b strings.Builder
	b.WriteString("| form | values | left before | left now |\n| --- | --- | --- | --- |\n")
	row := func(form string, r rate) {
		now, _, _ := strings.Cut(r.String(), " of")
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", form, r.of, cmp.Or(was[form], "not measured"), now)
	}
	for i, f := range plantedForms {
		row(f.kind, rates[i])
	}
	row("all", all)
	raw, err := os.ReadFile(secretsPage)
	if err != nil {
		t.Fatal(err)
	}
	raw = []byte(withPrefixes(t, string(raw)))
	head, rest, ok := strings.Cut(string(raw), tableBegin)
	have, tail, end := strings.Cut(rest, tableEnd)
	switch {
	case !ok || !end:
		t.Fatalf("%s has no table between %q and %q", secretsPage, tableBegin, tableEnd)
	case have == b.String() && !*update:
	case *update:
		if err := os.WriteFile(secretsPage, []byte(head+tableBegin+b.String()+tableEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of %s is not what is measured; run this test with -update. Now:\n%s", secretsPage, b.String())
	}
	texts := fmt.Sprintf("%d harmless texts", len(harmless)+len(lookAlikes)+len(alikes)+len(tabled)+len(keptTexts))
	if !strings.Contains(string(raw), texts) {
		t.Errorf("%s does not say %q", secretsPage, texts)
	}
}

const (
	prefixesBegin = "<!-- prefixes: made by TestSecretsPage -->\n"
	prefixesEnd   = "<!-- end of prefixes -->\n"
)

// withPrefixes returns the page with the prefixes that are known now, and holds it against them.
func withPrefixes(t *testing.T, page string) string {
	var b strings.Builder
	b.WriteString("Prefixes of tokens, and the least number of characters behind each:")
	sign := " "
	for i, p := range tokenPrefixes {
		issuer := p.issuer + " "
		if i > 0 && tokenPrefixes[i-1].issuer == p.issuer {
			issuer = ""
		}
		fmt.Fprintf(&b, "%s%s`%s` %d", sign, issuer, strings.ReplaceAll(p.prefixes, " ", "` `"), p.least)
		if sign = ", "; i%3 == 2 {
			sign = ",\n"
		}
	}
	b.WriteString(".\n")
	head, rest, ok := strings.Cut(page, prefixesBegin)
	have, tail, end := strings.Cut(rest, prefixesEnd)
	switch {
	case !ok || !end:
		t.Fatalf("%s has no prefixes between %q and %q", secretsPage, prefixesBegin, prefixesEnd)
	case have != b.String() && !*update:
		t.Errorf("the prefixes of %s are not those of the code; run this test with -update", secretsPage)
	}
	return head + prefixesBegin + b.String() + prefixesEnd + tail
}
