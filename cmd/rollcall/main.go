// Command rollcall calls the roll of an OpenShift cluster: which hosts should have
// answered, which did not, at which step each one stopped, why, and what is safe
// to do about it. It also runs as `oc rollcall` and `kubectl rollcall`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/rollcall-project/rollcall/internal/cli"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/garbage"
)

func main() {
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		garbage.Pace(cli.Heap(os.Args))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // after the first signal a second one ends the process at once
	code := cli.Main(ctx, os.Args, cmdutil.System())
	stop()
	os.Exit(int(code))
}
