package evidence

import (
	"testing"
	"time"
)

func TestSpecWritten(t *testing.T) {
	entry := func(subresource, at string) any {
		return map[string]any{"manager": "m", "operation": "Update", "subresource": subresource, "time": at}
	}
	ten, eleven, noon := "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z"
	for name, c := range map[string]struct {
		fields []any
		want   string
	}{
		"the newest that is no status": {[]any{entry("", ten), entry("", eleven), entry("status", noon)}, eleven},
		"only the status":              {[]any{entry("status", noon)}, ""},
		"not kept":                     {nil, ""},
		"foreign":                      {[]any{7, entry("", "yesterday"), map[string]any{"time": ten}}, ten},
	} {
		o := Object{Content: map[string]any{"metadata": map[string]any{"managedFields": c.fields}}}
		got := o.SpecWritten()
		if c.want == "" && !got.IsZero() || c.want != "" && got.Format(time.RFC3339) != c.want {
			t.Errorf("%s: %s, want %q", name, got, c.want)
		}
	}
}

func TestPlausible(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-03-01T12:00:00Z": true, "1970-01-01T00:00:00Z": true, "9999-12-31T23:59:59-01:00": false, "1650-01-01T00:00:00Z": false,
	} {
		if got := Time(map[string]any{"at": text}, "at"); got.IsZero() == want {
			t.Errorf("%s is %s", text, got)
		}
		if _, ok := LineTime(text+" a line", time.Time{}); ok != want {
			t.Errorf("a line with %s has a time: %t", text, ok)
		}
	}
}
