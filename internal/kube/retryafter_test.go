package kube

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestRetryAfterWithinBudget: a server cannot make a client wait longer than one request may take,
// neither at once nor by and by; the error says what it answered.
func TestRetryAfterWithinBudget(t *testing.T) {
	for _, after := range []string{"1000000000", "1", "Fri, 31 Dec 2100 23:59:59 GMT"} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Retry-After", after)
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(status)
			}))
			t.Cleanup(server.Close)
			c, err := New(&rest.Config{Host: server.URL, QPS: -1, Timeout: 2 * time.Second}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			_, err = c.List(t.Context(), node(""))
			if err == nil {
				t.Fatal("no error")
			}
			if spent := time.Since(start); spent > 4*time.Second {
				t.Errorf("Retry-After: %s: ended after %v", after, spent)
			}
			if status == http.StatusTooManyRequests && !strings.Contains(err.Error(), "429") {
				t.Errorf("the error does not name 429: %v", err)
			}
		}
	}
}

func TestWaits(t *testing.T) {
	w := &waits{most: 10 * time.Second}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for i, tt := range []struct {
		at, wait time.Duration
		want     bool
	}{
		{0, 0, true}, {0, 11 * time.Second, false}, {0, 6 * time.Second, true}, {6 * time.Second, 6 * time.Second, false},
		{6 * time.Second, 4 * time.Second, true}, {10 * time.Second, time.Second, false},
		{30 * time.Second, 9 * time.Second, true},
	} {
		if got := w.may(tt.wait, now.Add(tt.at), time.Time{}, false); got != tt.want {
			t.Errorf("%d: may wait %v at %v: %v", i, tt.wait, tt.at, got)
		}
	}
	if w.may(time.Second, now, now, true) {
		t.Error("it may wait beyond the context's end")
	}
}
