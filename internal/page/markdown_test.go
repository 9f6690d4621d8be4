package page

import "testing"

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"pool worker is paused":                "pool worker is paused",
		"a|b *c* _d_ <e> [f](g) #h":            `a\|b \*c\* \_d\_ &lt;e&gt; \[f\](g) \#h`,
		"ask @everyone now":                    "ask `@everyone` now",
		"by sre@example.com, until then":       "by `sre@example.com`, until then",
		"see https://evil.example/x(1).":       "see `https://evil.example/x(1`).",
		"[click](https://evil.example)":        "`[click](https://evil.example`)",
		"www.evil.example":                     "`www.evil.example`",
		"a:smile: :smile: (:x:)":               "a:smile: `:smile`: `(:x`:)",
		"as of 2026-05-01T10:50:00Z":           "as of 2026-05-01T10:50:00Z",
		"#12 and GH-7 and (#3)":                "`#12` and `GH-7` and `(#3`)",
		"`@a`|@b":                              "`'@a'\\|@b`",
		"quay.io/a/b@sha256:0123 is not there": "`quay.io/a/b@sha256:0123` is not there",
		"sha256:0123 and accept.yaml:7":        "sha256:0123 and accept.yaml:7",
	} {
		if got := Markdown(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
