// Command rollcall-provider-gcp makes the workers of `rollcall worker --provider gcp`: private
// instances of Google Compute Engine, with the application default credentials of whoever
// starts it. docs/provider-gcp.md has its options. It is a program of its own so that the
// library of Google weighs on no one else.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rollcall-project/rollcall/internal/worker/provider"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "rollcall-provider-gcp:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	c, err := newClients(ctx)
	if err != nil {
		return fmt.Errorf("connect to Compute Engine: %w", err)
	}
	defer c.close()
	return provider.Serve(ctx, os.Stdin, os.Stdout, &gcp{api: c})
}
