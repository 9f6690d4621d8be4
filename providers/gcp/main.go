// Command rollcall-provider-gcp makes the workers of `rollcall worker --provider gcp`: private
// instances of Google Compute Engine, with the application default credentials of whoever
// starts it. docs/provider-gcp.md has its options. It is a program of its own so that the
// library of Google weighs on no one else.
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
	code := provider.Main(ctx, "rollcall-provider-gcp", os.Stderr, run)
	cancel()
	os.Exit(code)
}

func run(ctx context.Context) error {
	g := &gcp{open: func(ctx context.Context, endpoint string) (*clients, error) {
		client, err := newClient(endpoint)
		if err != nil {
			return nil, err
		}
		return newClients(ctx, client, endpoint)
	}}
	defer func() {
		if g.api != nil {
			g.api.close()
		}
	}()
	return provider.Serve(ctx, os.Stdin, os.Stdout, g)
}
