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
