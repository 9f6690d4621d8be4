// Command rollcall-host looks on one OpenShift machine from inside, where it never
// became a Node or the API is unreachable. It is static, small and knows no Kubernetes
// client: CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" is how it is released.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/rollcall-project/rollcall/internal/hostcli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // after the first signal a second one ends the process at once
	code := hostcli.Main(ctx, os.Args[1:], hostcli.System())
	stop()
	os.Exit(code)
}
