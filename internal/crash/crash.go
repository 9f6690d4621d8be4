// Package crash describes a panic in one line that a user can report.
//
// Invariant: the line has no value of the run, only its type and where it happened: what a panic
// prints may hold a secret.
package crash

import (
	"bytes"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// module is the import path of this program's own packages.
const module = "github.com/rollcall-project/rollcall/"

// Line is what to print for a panic: name is the program, defect what recover returned, and stack
// what runtime/debug.Stack returned then.
func Line(name string, defect any, stack []byte) string {
	if p, ok := defect.(*Panic); ok {
		return Line(name, p.Value, p.Stack)
	}
	what := fmt.Sprintf("a value of type %T", defect)
	if err, ok := defect.(runtime.Error); ok {
		what = err.Error()
	}
	return fmt.Sprintf("this is a defect of the program: %s, at %s. Nothing that was shown before is an answer. "+
		"Report this line with the output of `%s version` and the command that you ran", what, place(stack), name)
}

// place is the innermost function of this program on the stack below the panic, with its file and line.
func place(stack []byte) string {
	_, below, _ := bytes.Cut(stack, []byte("\npanic("))
	lines := strings.Split(string(below), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, module) && i+1 < len(lines) {
			function, _, _ := strings.Cut(strings.TrimPrefix(l, module), "(0x")
			file, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			return function + " (" + path.Base(file) + ")"
		}
	}
	return "an unknown place"
}
