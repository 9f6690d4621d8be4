// Command gcp-emulator serves the emulated Compute Engine API of package emulator on a loopback
// address, for rollcall-provider-gcp with --option endpoint=URL. With --machines its instances
// are those of another provider's program, such as the lab's, so that they really boot.
//
// It prints its URL on a line of its own. URL/emulator shows what it has, and changes how it
// behaves (emulator.Behavior).
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
	"github.com/rollcall-project/rollcall/providers/gcp/emulator"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "gcp-emulator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	address := flag.String("listen", "127.0.0.1:0", "loopback `ADDRESS` to serve on")
	machines := flag.String("machines", "", "`PROGRAM` of a provider that has the machines behind the instances")
	options := flag.String("options", "", "`KEY=VALUE,...` for it")
	flag.Parse()
	e := emulator.New()
	if *machines != "" {
		m := &emulator.Providers{By: provider.Program{Path: *machines}, Options: map[string]string{}}
		for _, o := range strings.Split(*options, ",") {
			if key, value, ok := strings.Cut(o, "="); ok {
				m.Options[key] = value
			}
		}
		e.Machines = m
	}
	mux := http.NewServeMux()
	mux.Handle("/emulator", emulator.Control(e))
	mux.Handle("/", e)
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if !listener.Addr().(*net.TCPAddr).IP.IsLoopback() { //nolint:errcheck // it is one of TCP
		listener.Close()
		return fmt.Errorf("listen on %s: it is not a loopback address", *address)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.Serve(listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
