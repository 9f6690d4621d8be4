package provider

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// Main runs a provider's program and returns its exit code: 1 with one line where it failed, also where it panicked.
func Main(ctx context.Context, name string, errs io.Writer, run func(context.Context) error) (code int) {
	defer func() {
		if defect := recover(); defect != nil {
			fmt.Fprintf(errs, "%s: %s\n", name, crash.Line("rollcall", defect, debug.Stack()))
			code = 1
		}
	}()
	if err := run(ctx); err != nil {
		fmt.Fprintf(errs, "%s: %v\n", name, err)
		return 1
	}
	return 0
}
