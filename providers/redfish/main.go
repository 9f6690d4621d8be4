// Command rollcall-provider-redfish makes the workers of `rollcall worker --provider redfish`:
// servers with a BMC that boot a live ISO of RHCOS from virtual media once, which installs to
// the disk that was named. docs/provider-redfish.md has its options. With the word clock it
// sets the clock of a BMC: docs/bmc-clock.md.
//
// Invariants:
//   - A server that is switched on is never touched, unless this run has switched it on.
//   - An image in a virtual drive that is not the run's stays there.
//   - What is changed is written down before: which drive, which boot override there was.
//   - Passwords go to BMCs with a verified certificate only, once for each call.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	name, run := "rollcall-provider-redfish", func(ctx context.Context) error { return provider.Serve(ctx, os.Stdin, os.Stdout, &servers{}) }
	if len(os.Args) > 1 && os.Args[1] == "clock" {
		name += ": clock"
		run = func(ctx context.Context) error { return runClock(ctx, os.Args[2:], os.Stdout, os.Getenv) }
	}
	code := provider.Main(ctx, name, os.Stderr, run)
	cancel()
	os.Exit(code)
}
