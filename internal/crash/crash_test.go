package crash

import (
	"errors"
	"runtime/debug"
	"strings"
	"testing"
)

func lineOf(do func()) (line string) {
	defer func() {
		if defect := recover(); defect != nil {
			line = Line("rollcall", defect, debug.Stack())
		}
	}()
	do()
	return ""
}

func TestLine(t *testing.T) {
	var list []int
	line := lineOf(func() { _ = list[len(list)] })
	for _, want := range []string{"index out of range", "crash.", "crash_test.go:", "rollcall version"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %q", want, line)
		}
	}
	if line := lineOf(func() { panic(errors.New("password=hunter2")) }); strings.Contains(line, "hunter2") || strings.Contains(line, "\n") {
		t.Errorf("the value is in the line: %q", line)
	}
}

// TestGroup: a panic in a goroutine is one of who waits, and the line says where it was.
func TestGroup(t *testing.T) {
	wrong := func() error { var list []int; _ = list[len(list)]; return nil }
	for name, run := range map[string]func(){
		"group":   func() { var g Group; g.SetLimit(1); g.Go(wrong); _ = g.Wait() },
		"context": func() { g, _ := WithContext(t.Context()); g.Go(wrong); _ = g.Wait() },
		"nested": func() {
			var g Group
			g.Go(func() error { var inner Group; inner.Go(wrong); return inner.Wait() })
			_ = g.Wait()
		},
	} {
		line := lineOf(run)
		for _, want := range []string{"index out of range", "crash.TestGroup", "crash_test.go:"} {
			if !strings.Contains(line, want) {
				t.Errorf("%s: %q is not in %q", name, want, line)
			}
		}
	}
	g, ctx := WithContext(t.Context())
	failed := errors.New("failed")
	g.Go(func() error { return failed })
	g.Go(func() error { <-ctx.Done(); return nil })
	if err := g.Wait(); !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
}
