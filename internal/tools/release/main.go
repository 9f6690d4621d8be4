// Command release makes what goes into a release of Rollcall besides the programs: the
// list of what a program is made of, and container images. It is a module of its own, so
// that none of what it needs reaches the tool.
//
//	release sbom BINARY DOCUMENT            CycloneDX, of the build info in the binary
//	release image [--gather --base REF] --to REF linux/amd64=BINARY...
//
// Invariant: the same input gives the same bytes. Nothing here reads the clock.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 3 && args[0] == "sbom":
		return writeSBOM(args[1], args[2])
	case len(args) > 1 && args[0] == "image":
		return pushImage(ctx, args[1:])
	}
	return errors.New("usage: release sbom BINARY DOCUMENT | image [--gather --base REF] --to REF OS/ARCH=BINARY...")
}
