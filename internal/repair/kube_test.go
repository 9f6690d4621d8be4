package repair

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// TestHeldOfRedirect: a held config is read from no place to which a redirection leads.
func TestHeldOfRedirect(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/pods") {
				rw.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprint(rw, `{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[{"metadata":{"name":"mcd"}}]}`)
				return
			}
			http.Redirect(rw, req, other.URL+req.URL.Path, code)
		}))
		defer server.Close()
		held, err := NewHeldLive(&rest.Config{Host: server.URL, QPS: -1, BearerToken: "token-of-the-test"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fetchHeld(t.Context(), held, "x"); err == nil {
			t.Errorf("%d: the held config came from a redirection", code)
		}
	}
	if reached > 0 {
		t.Errorf("the other server was reached %d times", reached)
	}
}
