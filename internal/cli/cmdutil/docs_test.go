package cmdutil

import (
	"bytes"
	"strings"
	"testing"
)

// TestDocs: an address that is of no use is said once, and no answer has a part of it.
func TestDocs(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "https://docs.example.com/rollcall/": "https://docs.example.com/rollcall/", "file:///srv/docs/index.html": "file:///srv/docs/index.html",
		"docs.example.com": "", "javascript:alert(1)": "", "https://user:secret@example.com/": "", "https://example.com/?q=1": "", "https://": "",
		"https://example.com/\" onclick=": "", "https://example.com/ x": "",
	} {
		var errs bytes.Buffer
		a := New("rollcall", IO{Err: &errs, Getenv: func(name string) string { return map[string]string{DocsVariable: value}[name] }})
		if got := a.docs(); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
		a.docs()
		if n := strings.Count(errs.String(), DocsVariable); n > 1 || (n == 0) != (value == want) || strings.Contains(errs.String(), "secret") {
			t.Errorf("%q: %s", value, &errs)
		}
	}
}
