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
	"strings"
	"syscall"

	"google.golang.org/api/option"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
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
	g := &gcp{open: func(ctx context.Context, endpoint string) (*clients, error) {
		return newClients(ctx, clientOptions(endpoint)...)
	}}
	defer func() {
		if g.api != nil {
			g.api.close()
		}
	}()
	return provider.Serve(ctx, os.Stdin, os.Stdout, g)
}

// clientOptions are those of the library for an endpoint that parseOptions has let through. A
// credential goes to Google only.
func clientOptions(endpoint string) []option.ClientOption {
	switch {
	case endpoint == "":
		return nil
	case strings.HasPrefix(endpoint, "https://"):
		return []option.ClientOption{option.WithEndpoint(endpoint)}
	}
	return []option.ClientOption{option.WithEndpoint(endpoint), option.WithoutAuthentication()}
}
