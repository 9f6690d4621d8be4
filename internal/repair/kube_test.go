package repair

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kube/podexec"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// answering is the API whose server does what do does.
func answering(t *testing.T, do http.HandlerFunc) (*Kube, *rest.Config) {
	t.Helper()
	server := httptest.NewServer(do)
	t.Cleanup(server.Close)
	cfg := &rest.Config{Host: server.URL, QPS: -1, BearerToken: "token-of-the-test"}
	k, err := NewKube(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return k, cfg
}

func says(rw http.ResponseWriter, body string) {
	rw.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(rw, body)
}

// TestRedirectNotFollowed: no client takes the token to where a redirection leads.
func TestRedirectNotFollowed(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		k, cfg := answering(t, func(rw http.ResponseWriter, req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/pods") {
				says(rw, `{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[{"metadata":{"name":"mcd"}}]}`)
				return
			}
			http.Redirect(rw, req, other.URL+req.URL.Path, code)
		})
		_, err := k.Get(t.Context(), nodeRef("x"))
		if !errors.Is(err, live.ErrRedirect) {
			t.Errorf("%d: Get: %v", code, err)
		}
		if _, err := k.Patch(t.Context(), nodeRef("x"), "", []byte("[]"), false); !errors.Is(err, live.ErrRedirect) {
			t.Errorf("%d: Patch: %v", code, err)
		}
		held, err := NewHeldLive(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fetchHeld(t.Context(), held, "x"); err == nil {
			t.Errorf("%d: the held config came from a redirection", code)
		}
		typed, err := podexec.New(Protected(cfg))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := typed.Node(t.Context(), "x"); !errors.Is(err, live.ErrRedirect) {
			t.Errorf("%d: typed Get: %v", code, err)
		}
	}
	if reached > 0 {
		t.Errorf("the other server was reached %d times", reached)
	}
}

// TestAnotherObject: an answer about something else is an error.
func TestAnotherObject(t *testing.T) {
	for name, body := range map[string]string{
		"name":      `{"apiVersion":"v1","kind":"Node","metadata":{"name":"other"}}`,
		"no name":   `{"apiVersion":"v1","kind":"Node","metadata":{}}`,
		"namespace": `{"apiVersion":"v1","kind":"Node","metadata":{"name":"x","namespace":"y"}}`,
		"kind":      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}`,
		"version":   `{"apiVersion":"v2","kind":"Node","metadata":{"name":"x"}}`,
	} {
		k, _ := answering(t, func(rw http.ResponseWriter, _ *http.Request) { says(rw, body) })
		if o, err := k.Get(t.Context(), nodeRef("x")); err == nil || !strings.Contains(err.Error(), "the API answered with") {
			t.Errorf("%s: Get: %v, %v", name, o, err)
		}
	}
	k, _ := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
		says(rw, `{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":[{"metadata":{}}]}`)
	})
	if o, err := k.List(t.Context(), nodeRef("")); err == nil {
		t.Errorf("List with an object without a name: %v", o)
	}
}

// TestEndlessList: neither the same token again nor ever new ones.
func TestEndlessList(t *testing.T) {
	for name, token := range map[string]func(int) string{
		"same token": func(int) string { return "x" },
		"new tokens": func(n int) string { return fmt.Sprint(n) },
	} {
		n := 0
		k, _ := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
			n++
			says(rw, `{"apiVersion":"v1","kind":"NodeList","metadata":{"continue":"`+token(n)+`"},"items":[]}`)
		})
		if _, err := k.List(t.Context(), nodeRef("")); err == nil || !strings.Contains(err.Error(), "does not end") {
			t.Errorf("%s: List: %v", name, err)
		}
		if n > maxPages {
			t.Errorf("%s: %d pages were read", name, n)
		}
	}
}

// TestAnswerWithoutEnd: a body is read up to the bound.
func TestAnswerWithoutEnd(t *testing.T) {
	sent := 0
	k, _ := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for sent = 0; sent < 2*maxAnswer; sent += len(chunk) {
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})
	if _, err := k.Get(t.Context(), nodeRef("x")); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("Get: %.200v", err)
	}
	if sent >= 2*maxAnswer {
		t.Error("the whole answer was taken")
	}
}

// TestNoAnswer: a request ends by itself.
func TestNoAnswer(t *testing.T) {
	hold := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-hold:
		case <-req.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hold)
	client, err := rest.HTTPClientFor(live.Protect(&rest.Config{Host: server.URL}, live.Limits{Request: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := client.Get(server.URL); err == nil {
		t.Errorf("an answer came: %v, %v", resp.Status, resp.Body.Close())
	}
}
