package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, c *http.Client, url string) (*http.Response, error) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(q)
	if resp != nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

// TestNoRedirect: a redirection is the answer, for requests with a credential, too.
func TestNoRedirect(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(server.Close)
	for _, o := range []Options{{}, {Reuse: true}} {
		if resp, err := get(t, HTTP(o), server.URL); err != nil || resp.StatusCode != http.StatusFound {
			t.Errorf("%v, %v", resp, err)
		}
	}
	if reached {
		t.Error("the other server was asked")
	}
}

// TestAnswerHasAnEnd: a body without end is read up to the bound, and its headers are bounded.
func TestAnswerHasAnEnd(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/headers" {
			w.Header().Set("X", strings.Repeat("x", 2*maxHeader))
			return
		}
		for {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	c := HTTP(Options{Answer: 10 << 10})
	resp, err := get(t, c, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, resp.Body); n != 10<<10 || !errors.Is(err, ErrTooMuch) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := get(t, c, server.URL+"/headers"); err == nil {
		t.Error("headers without end were read")
	}
}

// TestNoAnswer: a request ends in time where a bound is given.
func TestNoAnswer(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	for _, o := range []Options{{Headers: time.Millisecond}, {Request: time.Millisecond}} {
		if _, err := get(t, HTTP(o), server.URL); err == nil {
			t.Error("an answer came")
		}
	}
}

// TestNoProxyUnlessAsked: what the environment names is not used by itself.
func TestNoProxyUnlessAsked(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	if HTTP(Options{}).Transport.(bounded).Proxy != nil {
		t.Error("a proxy is asked for")
	}
	if _, err := get(t, HTTP(Options{}), server.URL); err != nil {
		t.Error(err)
	}
}

// TestDialHasAnEnd: also where the caller's context has none.
func TestDialHasAnEnd(t *testing.T) {
	if Dialer(0).Timeout != connectTime || Dialer(time.Second).Timeout != time.Second {
		t.Error("a connection may take for ever")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ctx, "tcp", "192.0.2.1:1"); err == nil {
		t.Error("connected")
	}
}
