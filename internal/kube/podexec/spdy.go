package podexec

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// The protocol of SPDY that carries exit codes, which every API server since Kubernetes
// 1.4 speaks, and the header that names a stream
// (kubernetes/apimachinery:pkg/util/remotecommand/constants.go,
// kubernetes/api:core/v1/types.go StreamType).
const (
	spdyProtocol = "v4.channel.k8s.io"
	streamType   = "streamType"
)

func overSPDY(ctx context.Context, cfg *rest.Config, target *url.URL, s Streams) error {
	rt, upgrader, err := spdy.RoundTripperFor(cfg)
	if err != nil {
		return fmt.Errorf("make SPDY connection: %w", err)
	}
	req, err := request(ctx, http.MethodPost, target)
	if err != nil {
		return err
	}
	// The credential is added to redirected requests, too, and no API server redirects this.
	client := &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	conn, protocol, err := spdy.NegotiateStreaming(upgrader, client, req, spdyProtocol)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // what it could say has been read
	if protocol != spdyProtocol {
		return fmt.Errorf("the server speaks %q instead of %s", protocol, spdyProtocol)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return copyStreams(conn, s)
}

// copyStreams connects a command's streams and waits for its end.
func copyStreams(conn httpstream.Connection, s Streams) error {
	open := func(name string) (httpstream.Stream, error) {
		stream, err := conn.CreateStream(http.Header{http.CanonicalHeaderKey(streamType): {name}})
		if err != nil {
			return nil, fmt.Errorf("open the command's stream %s: %w", name, err)
		}
		return stream, nil
	}
	end, err := open("error")
	if err != nil {
		return err
	}
	if s.In != nil {
		in, err := open("stdin")
		if err != nil {
			return err
		}
		go crash.Func(func() {
			_, _ = io.Copy(in, s.In) // a connection that breaks is reported by the other streams
			_ = in.Close()
		})()
	}
	var printed crash.Group
	for name, w := range map[string]io.Writer{"stdout": s.Out, "stderr": s.Err} {
		if w == nil {
			continue
		}
		stream, err := open(name)
		if err != nil {
			return err
		}
		printed.Go(func() error {
			_, err := io.Copy(w, stream)
			if err != nil {
				err = fmt.Errorf("read the command's output: %w", err)
				_ = conn.Close() // no one reads the rest
			}
			return err
		})
	}
	if err := printed.Wait(); err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(end, maxResult))
	if err != nil {
		return fmt.Errorf("read the command's result: %w", err)
	}
	return result(raw)
}
