package provider

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// TestMainCode: whatever a provider's program does, it ends with 0 or with 1 and one line.
func TestMainCode(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(context.Context) error
		code int
		want string
	}{
		"done":     {func(context.Context) error { return nil }, 0, ""},
		"failed":   {func(context.Context) error { return errors.New("no room") }, 1, "p: no room\n"},
		"panicked": {func(context.Context) error { var list []int; _ = list[len(list)]; return nil }, 1, "this is a defect of the program"},
	} {
		var errs bytes.Buffer
		code := Main(t.Context(), "p", &errs, c.run)
		if text := errs.String(); code != c.code || !strings.Contains(text, c.want) || strings.Count(text, "\n") != c.code {
			t.Errorf("%s: %d, %q", name, code, text)
		}
	}
}
