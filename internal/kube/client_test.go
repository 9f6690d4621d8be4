package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// answering is the API whose server does what do does.
func answering(t *testing.T, do http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(do)
	t.Cleanup(server.Close)
	k, err := New(&rest.Config{Host: server.URL, QPS: -1, BearerToken: "token-of-the-test"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func node(name string) Ref { return Ref{Version: "v1", Resource: "nodes", Name: name} }

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
		k := answering(t, func(rw http.ResponseWriter, req *http.Request) {
			http.Redirect(rw, req, other.URL+req.URL.Path, code)
		})
		_, err := k.Get(t.Context(), node("x"))
		if !errors.Is(err, ErrRedirect) {
			t.Errorf("%d: Get: %v", code, err)
		}
		if _, err := k.Patch(t.Context(), node("x"), "", []byte("[]"), false); !errors.Is(err, ErrRedirect) {
			t.Errorf("%d: Patch: %v", code, err)
		}
		if _, _, err := k.Do(t.Context(), Request{Path: []string{"api"}}); !errors.Is(err, ErrRedirect) {
			t.Errorf("%d: Do: %v", code, err)
		}
		if _, err := k.AskPod(t.Context(), "n", "p", "80"); !errors.Is(err, ErrRedirect) {
			t.Errorf("%d: AskPod: %v", code, err)
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
		k := answering(t, func(rw http.ResponseWriter, _ *http.Request) { says(rw, body) })
		if o, err := k.Get(t.Context(), node("x")); err == nil || !strings.Contains(err.Error(), "the API answered with") {
			t.Errorf("%s: Get: %v, %v", name, o, err)
		}
	}
	k := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
		says(rw, `{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":[{"metadata":{}}]}`)
	})
	if o, err := k.List(t.Context(), node("")); err == nil {
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
		k := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
			n++
			says(rw, `{"apiVersion":"v1","kind":"NodeList","metadata":{"continue":"`+token(n)+`"},"items":[]}`)
		})
		if _, err := k.List(t.Context(), node("")); err == nil || !strings.Contains(err.Error(), "does not end") {
			t.Errorf("%s: List: %v", name, err)
		}
		if n > maxPages {
			t.Errorf("%s: %d pages were read", name, n)
		}
	}
}

// TestAnswerWithoutEnd: a body is read up to the bound.
func TestAnswerWithoutEnd(t *testing.T) {
	const maxAnswer = 64 << 20
	var sent atomic.Int64
	k := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for ; sent.Load() < 2*maxAnswer; sent.Add(int64(len(chunk))) {
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})
	if _, err := k.Get(t.Context(), node("x")); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("Get: %.200v", err)
	}
	if sent.Load() >= 2*maxAnswer {
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
	client, err := rest.HTTPClientFor(Protect(&rest.Config{Host: server.URL}, Limits{Request: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := client.Get(server.URL); err == nil {
		t.Errorf("an answer came: %v, %v", resp.Status, resp.Body.Close())
	}
}

// TestMessagePrintable: what a server writes moves no cursor and has an end, and the error
// keeps its type.
func TestMessagePrintable(t *testing.T) {
	for message, want := range map[string]string{
		`nodes \"x\" not found`:           `nodes "x" not found`,
		`a\u001b[2Jb\u009b1mc\nd`:         "abc\nd",
		strings.Repeat("x", 2*maxMessage): strings.Repeat("x", maxMessage),
	} {
		k := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(rw, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"%s","reason":"NotFound","code":404}`, message)
		})
		_, err := k.Get(t.Context(), node("x"))
		if !apierrors.IsNotFound(err) || err.Error() != want {
			t.Errorf("%.40s: %.80v", message, err)
		}
	}
}

// TestNoList: an answer that is no list is not taken for an empty one, and a list of the same objects again
// and again ends.
func TestNoList(t *testing.T) {
	for name, body := range map[string]string{
		"a Status":      `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":500}`,
		"without items": `{"apiVersion":"v1","kind":"NodeList","metadata":{}}`,
		"HTML":          `<html>sign in</html>`,
		"items no list": `{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":{}}`,
		"an object":     `{"apiVersion":"v1","kind":"Node","metadata":{"name":"x"}}`,
	} {
		k := answering(t, func(rw http.ResponseWriter, _ *http.Request) { says(rw, body) })
		if o, err := k.List(t.Context(), node("")); err == nil {
			t.Errorf("%s: List: %v", name, o)
		}
	}
	for _, items := range []string{"[]", "null"} {
		k := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
			says(rw, `{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":`+items+`}`)
		})
		if o, err := k.List(t.Context(), node("")); err != nil || len(o) > 0 {
			t.Errorf("items %s: %v, %v", items, o, err)
		}
	}
	n := 0
	k := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
		n++
		says(rw, fmt.Sprintf(`{"apiVersion":"v1","kind":"NodeList","metadata":{"continue":"%d"},
			"items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"x"}}]}`, n))
	})
	if _, err := k.List(t.Context(), node("")); err == nil || !strings.Contains(err.Error(), "does not end") || n > 2 {
		t.Errorf("after %d pages: %v", n, err)
	}
}

// TestListLacksSome: a list that counts objects which do not follow is not all there is.
func TestListLacksSome(t *testing.T) {
	k := answering(t, func(rw http.ResponseWriter, _ *http.Request) {
		says(rw, `{"apiVersion":"v1","kind":"NodeList","metadata":{"remainingItemCount":3},"items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"m0"}}]}`)
	})
	if list, err := k.List(t.Context(), node("")); err == nil || !strings.Contains(err.Error(), "3 more") {
		t.Errorf("%d objects, %v", len(list), err)
	}
}
