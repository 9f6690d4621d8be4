package podexec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"k8s.io/streaming/pkg/httpstream"

	"github.com/rollcall-project/rollcall/internal/kube"
)

// Command is what is run, and in which container.
type Command struct {
	Container string
	Argv      []string
}

// NoWebSocket reports whether err says that a server, or a proxy before it, speaks no web
// sockets.
func NoWebSocket(err error) bool {
	return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
}

// Streams are a command's input and output; nil is not connected.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ExitError is a command that ended with another code than 0.
type ExitError struct{ Code int }

func (e *ExitError) Error() string {
	return fmt.Sprintf("command terminated with exit code %d", e.Code)
}

// ErrLost is a connection that ended before the command's result came.
var ErrLost = errors.New("the command broke off without its result")

// maxResult bounds what a server says of a command's end.
const maxResult = 1 << 20

// Run runs a command in a pod and returns when it has ended: over a web socket, and where
// fallback takes that one's error over SPDY, as kubectl does. API servers before
// Kubernetes 1.30 (OpenShift 4.17), and some proxies, speak SPDY only. A command that
// ends with another code than 0 is an *ExitError.
//
// client-go's own package for it, tools/remotecommand, needs four words of
// k8s.io/api/core/v1 and with it links the codecs of all its kinds.
func (c *Client) Run(ctx context.Context, namespace, pod string, cmd Command, s Streams, fallback func(error) bool) error {
	query := url.Values{"container": {cmd.Container}, "command": cmd.Argv}
	for name, connected := range map[string]bool{"stdin": s.In != nil, "stdout": s.Out != nil, "stderr": s.Err != nil} {
		if connected {
			query.Set(name, "true")
		}
	}
	target := c.api.URL(kube.Request{Path: []string{"api", "v1", "namespaces", namespace, "pods", pod, "exec"}, Query: query})
	err := overWebSocket(ctx, c.cfg, target, s)
	if err != nil && fallback(err) {
		err = overSPDY(ctx, c.cfg, target, s)
	}
	if ctx.Err() != nil {
		return ctx.Err() // what broke is the connection that was closed for it
	}
	return err
}

// result reads what a server says of a command's end, as the protocols v4 and v5 have it
// (kubernetes/apimachinery:pkg/util/remotecommand/constants.go). Without a word the
// command's end is not known, which is an error.
func result(raw []byte) error {
	var status struct {
		Status, Reason, Message string
		Details                 struct {
			Causes []struct{ Reason, Message string }
		}
	}
	if len(raw) == 0 {
		return ErrLost
	}
	if err := json.Unmarshal(raw, &status); err != nil {
		return fmt.Errorf("decode the command's result: %w", err)
	}
	switch {
	case status.Status == "Success":
		return nil
	case status.Status != "Failure":
		return fmt.Errorf("the command's result is %q", status.Status)
	case status.Reason != "NonZeroExitCode":
		return errors.New(status.Message)
	}
	for _, c := range status.Details.Causes {
		if c.Reason != "ExitCode" {
			continue
		}
		code, err := strconv.ParseUint(c.Message, 10, 8)
		if err != nil {
			return fmt.Errorf("the command's exit code is %q", c.Message)
		}
		return &ExitError{Code: int(code)}
	}
	return errors.New("the command failed, and its exit code was not sent")
}

// request is the request that becomes a connection.
func request(ctx context.Context, method string, target *url.URL) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, target.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make the request for a command: %w", err)
	}
	return r, nil
}
