package browse

import (
	"strings"
	"testing"
)

// TestRangesInside: ranges without an end are refused where there are many, and ranges behind each other are not.
func TestRangesInside(t *testing.T) {
	document := map[string]any{"items": []any{map[string]any{"a": "b"}, map[string]any{"a": "c"}}}
	const one = "{range .items[*]}"
	if _, err := ParseTemplate(strings.Repeat(one, 2000)); err == nil || !strings.Contains(err.Error(), "2000 ranges inside each other") {
		t.Errorf("2000 ranges: %v", err)
	}
	for _, text := range []string{strings.Repeat(one, maxRanges), strings.Repeat(one+"{.a}{end}", 100), strings.Repeat("{ range .items[*]}{.a}{ end}", 100)} {
		p, err := ParseTemplate(text)
		if err != nil {
			t.Errorf("%.40s: %v", text, err)
			continue
		}
		if _, err := p.Of(document); err != nil {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}
