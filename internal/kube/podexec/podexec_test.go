package podexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// overSPDYOnly is an API server that refuses web sockets, as those before Kubernetes 1.30
// do, and runs with its streams what it is given.
func overSPDYOnly(t *testing.T, run func(streams map[string]httpstream.Stream)) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "you must use SPDY", http.StatusBadRequest)
			return
		}
		if _, err := httpstream.Handshake(r, w, []string{spdyProtocol}); err != nil {
			t.Error(err)
			return
		}
		arrived := make(chan httpstream.Stream, 4)
		conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
			arrived <- s
			return nil
		})
		if conn == nil {
			t.Error("no connection")
			return
		}
		defer func() { _ = conn.Close() }() // the client may have closed it
		want := 1
		for _, name := range []string{"stdin", "stdout", "stderr"} {
			if r.URL.Query().Get(name) == "true" {
				want++
			}
		}
		streams := map[string]httpstream.Stream{}
		for len(streams) < want {
			select {
			case s := <-arrived:
				streams[s.Headers().Get(streamType)] = s
			case <-time.After(time.Minute):
				t.Errorf("only %d of %d streams came", len(streams), want)
				return
			}
		}
		run(streams)
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSPDY(t *testing.T) {
	const code3 = `{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`
	for name, c := range map[string]struct {
		result string
		check  func(error) bool
	}{
		"success":     {`{"status":"Success"}`, func(err error) bool { return err == nil }},
		"exit code":   {code3, func(err error) bool { e := (*ExitError)(nil); return errors.As(err, &e) && e.Code == 3 }},
		"failure":     {`{"status":"Failure","message":"container not found"}`, func(err error) bool { return err != nil && err.Error() == "container not found" }},
		"no result":   {"", func(err error) bool { return errors.Is(err, ErrLost) }},
		"no JSON":     {"<html>", func(err error) bool { return err != nil }},
		"no code":     {`{"status":"Failure","reason":"NonZeroExitCode"}`, func(err error) bool { return err != nil }},
		"odd code":    {strings.Replace(code3, `"3"`, `"-1"`, 1), func(err error) bool { return err != nil }},
		"odd outcome": {`{"status":"Perhaps"}`, func(err error) bool { return err != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			client := overSPDYOnly(t, func(s map[string]httpstream.Stream) {
				in, err := io.ReadAll(s["stdin"])
				if err != nil {
					t.Error(err)
				}
				fmt.Fprintf(s["stdout"], "got %s", in)
				fmt.Fprint(s["stderr"], "complaint")
				fmt.Fprint(s["error"], c.result)
				for _, one := range s {
					_ = one.Close() // the connection is closed after it
				}
			})
			var out, errs bytes.Buffer
			o := Command{Container: "c", Argv: []string{"cat"}}
			err := client.Run(t.Context(), "ns", "pod", o, Streams{In: strings.NewReader("input"), Out: &out, Err: &errs}, NoWebSocket)
			if !c.check(err) {
				t.Errorf("err = %v", err)
			}
			if out.String() != "got input" || errs.String() != "complaint" {
				t.Errorf("out %q, err %q", out.String(), errs.String())
			}
		})
	}
}

// TestSPDYEnds: a command that never ends is left when the caller wants no more.
func TestSPDYEnds(t *testing.T) {
	begun := make(chan struct{})
	client := overSPDYOnly(t, func(s map[string]httpstream.Stream) {
		close(begun)
		_, _ = io.Copy(io.Discard, s["error"]) // until the client closes
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	err := client.Run(ctx, "ns", "pod", Command{Container: "c", Argv: []string{"sleep"}}, Streams{Out: io.Discard}, NoWebSocket)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// TestNoFallback: what is no refusal of web sockets is not tried again.
func TestNoFallback(t *testing.T) {
	client := overSPDYOnly(t, func(map[string]httpstream.Stream) { t.Error("asked over SPDY") })
	err := client.Run(t.Context(), "ns", "pod", Command{Container: "c"}, Streams{Out: io.Discard}, func(error) bool { return false })
	if !NoWebSocket(err) {
		t.Errorf("err = %v", err)
	}
}
