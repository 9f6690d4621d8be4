package sanitize

import (
	"fmt"
	"strings"
	"testing"
)

// What was found clean is not tried again; a text with a secret is, each time.
func TestCleanTexts(t *testing.T) {
	s := sanitizer(t, "salt")
	const clean, dirty = "token: expired", "password: hunter2-and-more"
	for range 2 {
		if got := s.Text(clean); got != clean {
			t.Errorf("Text(%q) = %q", clean, got)
		}
		if got := s.Text(dirty); strings.Contains(got, "hunter2") {
			t.Errorf("Text(%q) = %q", dirty, got)
		}
	}
	if !s.clean.has(clean) || s.clean.has(dirty) {
		t.Errorf("remembered as clean: %t and %t, want true and false", s.clean.has(clean), s.clean.has(dirty))
	}
	long := "token: expired" + strings.Repeat(" and more", maxCleanBytes)
	s.Text(long)
	if s.clean.has(long) {
		t.Error("a text beyond the bound is remembered")
	}
	for i := range maxClean + 10 {
		s.clean.add(fmt.Sprint(i))
	}
	if n := len(s.clean.known); n != maxClean {
		t.Errorf("%d texts are remembered, want %d", n, maxClean)
	}
}

// TestPatternsCompile: the expressions that are compiled later can be.
func TestPatternsCompile(t *testing.T) {
	for i, p := range secretPatterns {
		if p.find.get() == nil || len(p.marks) == 0 {
			t.Errorf("pattern %d: %v, marks %q", i, p.find.get(), p.marks)
		}
	}
}

// TestWholeTexts: a long text that was found clean is not read again; one with a secret is,
// and one that differs from a clean one by its secret.
func TestWholeTexts(t *testing.T) {
	s := sanitizer(t, "salt")
	clean := strings.Repeat("Sep 14 09:43:30 host kubelet: the token expires soon\n", 20)
	dirty := clean + "password: hunter2-and-more\n"
	for range 2 {
		if got := s.Text(clean); got != clean {
			t.Errorf("Text = %q", got)
		}
		if got := s.Text(dirty); strings.Contains(got, "hunter2") {
			t.Errorf("Text = %q", got)
		}
	}
	if !s.whole.has(clean) || s.whole.has(dirty) {
		t.Errorf("remembered as clean: %t and %t, want true and false", s.whole.has(clean), s.whole.has(dirty))
	}
}
