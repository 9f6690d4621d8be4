package kube

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// endless answers everything with a body that does not end.
type endless struct{}

func (endless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(zeros{})}, nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestEndlessAnswer: what keeps answers whole must not be given one without an end.
func TestEndlessAnswer(t *testing.T) {
	const maxPage = 256 << 20
	for url, most := range map[string]int64{
		"https://a/api":                            64 << 20,
		"https://a/api/v1/nodes?limit=500":         maxPage,
		"https://a/api/v1/pods/x/log?limitBytes=1": maxPage,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := protected{endless{}, Limits{Page: maxPage}.withDefaults(), newAllowance(maxPage * 2), newAllowance(1), &waits{}, &patience{}}.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil || !strings.Contains(err.Error(), "MiB") || n > most {
			t.Errorf("%s: %d bytes and then %v, want at most %d", url, n, err, most)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}
