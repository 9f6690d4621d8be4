package sanitize

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// leaks reports whether a text still holds a secret, or eight characters of it in a row.
func leaks(text, secret string) string {
	const recognisable = 8
	for i := 0; i+recognisable <= len(secret); i++ {
		if part := secret[i : i+recognisable]; strings.Contains(text, part) {
			return part
		}
	}
	if len(secret) < recognisable && strings.Contains(text, secret) {
		return secret
	}
	return ""
}

// TestPlanted: no secret survives, as a whole text, line by line, or in a field of an
// object, and what is left is the same the second time.
func TestPlanted(t *testing.T) {
	list, names := secrets()
	t.Logf("%d texts", len(list))
	bad := 0
	for i, p := range list {
		s, err := New()
		if err != nil {
			t.Fatal(err)
		}
		for how, clean := range map[string]func(string) string{
			"whole": s.Text,
			"lines": func(v string) string {
				stream := s.Lines()
				var out []string
				for _, line := range strings.Split(v, "\n") {
					out = append(out, stream.Line(line))
				}
				return strings.Join(out, "\n")
			},
			"field": func(v string) string {
				o := evidence.Object{Resource: evidence.ConfigMaps, Content: map[string]any{"data": map[string]any{"text": v}}}
				s.Object(o.Resource.Group, o.Resource.Name, o.Content)
				return evidence.String(o.Content, "data", "text")
			},
		} {
			got := clean(p.text)
			if part := leaks(got, p.secret); part != "" {
				bad++
				t.Errorf("%s, %s: %q is left in\n%s", names[i], how, part, got)
			}
			if again := clean(got); again != got {
				t.Errorf("%s, %s: not the same twice:\n%s\n%s", names[i], how, got, again)
			}
		}
	}
	t.Logf("%d leaks", bad)
}
