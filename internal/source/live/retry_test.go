package live

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// refuse answers with a code, as the first tries are; text is what the API server's
// priority and fairness sends (k8s.io/apiserver:pkg/server/filters/maxinflight.go tooManyRequests).
func refuse(code int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		http.Error(w, "Too many requests, please try again later.", code)
	}
}

// TestRefusedListIsTriedAgain: a refusal that passes leaves a whole list.
func TestRefusedListIsTriedAgain(t *testing.T) {
	cases := map[string]struct {
		refuse http.HandlerFunc
		times  int
		least  time.Duration
	}{
		"429 with seconds":  {refuse(429, "1"), 1, time.Second},
		"429 without":       {refuse(429, ""), maxTries - 1, 0},
		"500":               {refuse(500, ""), maxTries - 1, 0},
		"502":               {refuse(502, ""), 2, 0},
		"503 with seconds":  {refuse(503, "0"), maxTries - 1, 0},
		"503 with nonsense": {refuse(503, "soon"), 2, 0},
		"504":               {refuse(504, ""), 2, 0},
		"503 with a date": {func(w http.ResponseWriter, r *http.Request) {
			now := time.Now().UTC().Truncate(time.Second).Add(-time.Hour) // the server's clock is behind
			w.Header().Set("Date", now.Format(http.TimeFormat))
			refuse(503, now.Add(time.Second).Format(http.TimeFormat))(w, r)
		}, 1, time.Second},
		"a Status that has lost the header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			answerStatus(w, 429, metav1.StatusReasonTooManyRequests, "slow down")
		}, 1, time.Second},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeAPI()
			for i := range 4 {
				f.custom[poolsPath] = append(f.custom[poolsPath], pool(fmt.Sprintf("p%d", i)))
			}
			var n atomic.Int32
			f.handle[poolsPath] = func(w http.ResponseWriter, r *http.Request) {
				// The second page: what came before it is no list.
				if r.URL.Query().Get("continue") != "" && int(n.Add(1)) <= c.times {
					c.refuse(w, r)
					return
				}
				f.list(w, r)
			}
			began := time.Now()
			list, err := f.source(t, Options{PageSize: 2}).List(t.Context(), evidence.MachineConfigPools, "")
			if err != nil || len(list) != 4 {
				t.Errorf("%d objects, %v", len(list), err)
			}
			if took := time.Since(began); took < c.least {
				t.Errorf("asked again after %v, Retry-After says %v", took, c.least)
			}
		})
	}
}

// TestRefusedListIsUnavailable: a refusal that lasts is never a list, also where pages
// came before it.
func TestRefusedListIsUnavailable(t *testing.T) {
	for name, c := range map[string]struct {
		refuse http.HandlerFunc
		detail string
	}{
		"429":                   {refuse(429, ""), "(tried 5 times)"},
		"500":                   {refuse(500, ""), "(tried 5 times)"},
		"503":                   {refuse(503, ""), "(tried 5 times)"},
		"429 for too long":      {refuse(429, "3600"), "(the server asks to try again in 1h0m0s)"},
		"429 for ever":          {refuse(429, "99999999"), "again in 24h0m0s"},
		"503 until another day": {refuse(503, time.Now().Add(72*time.Hour).UTC().Format(http.TimeFormat)), "again in 24h0m0s"},
	} {
		for _, at := range []string{"", "2"} {
			f := newFakeAPI()
			for i := range 4 {
				f.custom[poolsPath] = append(f.custom[poolsPath], pool(fmt.Sprintf("p%d", i)))
			}
			f.handle[poolsPath] = func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("continue") == at {
					c.refuse(w, r)
					return
				}
				f.list(w, r)
			}
			t.Run(name+" at page "+at, func(t *testing.T) {
				list, err := f.source(t, Options{PageSize: 2}).List(t.Context(), evidence.MachineConfigPools, "")
				wantUnavailable(t, list, err, evidence.Unreachable, c.detail)
			})
		}
	}
}

// TestServerThatRefusesAll: it is not asked five times for each of a hundred lists.
func TestServerThatRefusesAll(t *testing.T) {
	f := newFakeAPI()
	f.handle[poolsPath] = refuse(429, "")
	s := f.source(t, Options{})
	for range 20 {
		list, err := s.List(t.Context(), evidence.MachineConfigPools, "")
		wantUnavailable(t, list, err, evidence.Unreachable, "429")
	}
	if n, want := len(f.requests(poolsPath)), enoughRefusals*maxTries+20-enoughRefusals; n != want {
		t.Errorf("%d requests, want %d", n, want)
	}
}

// aLog is the request of a log.
var aLog = kube.Request{Path: []string{"log"}, Query: url.Values{"tailLines": {"9"}}}

// TestThrottledLog: a log whose request is refused is read when the server has time.
func TestThrottledLog(t *testing.T) {
	f := newFakeAPI()
	var n atomic.Int32
	f.handle["/log"] = func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < 3 {
			refuse(429, "")(w, r)
			return
		}
		_, _ = io.WriteString(w, "a line\n")
	}
	s := f.source(t, Options{})
	in, err := s.stream(t.Context(), evidence.Need{}, Access{}, aLog)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if raw, err := io.ReadAll(in); err != nil || string(raw) != "a line\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// endlessPages answers every page with a new token, a new object and as many bytes as are wanted.
func endlessPages(size int, pause time.Duration) http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(pause)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfigPoolList","metadata":{"continue":"%d"},"items":[{"metadata":{"name":"p%d","annotations":{"a":"%s"}}}]}`,
			n.Add(1), n.Load(), strings.Repeat("x", size))
	}
}

// TestEndless: what never ends is given up within the bounds, and says so.
func TestEndless(t *testing.T) {
	for name, c := range map[string]struct {
		opts   Options
		answer http.HandlerFunc
		detail string
	}{
		"pages, in time":  {Options{ListTimeout: 500 * time.Millisecond}, endlessPages(1, 5*time.Millisecond), "the list has not ended within 500ms"},
		"pages, in bytes": {Options{RunBytes: 1 << 20}, endlessPages(100<<10, 0), "more than 1048576 bytes"},
		"the run":         {Options{RunTimeout: 2 * time.Second, ListTimeout: time.Minute}, endlessPages(1, 5*time.Millisecond), "the run's time of 2s is over"},
		"a body": {Options{RunBytes: 1 << 20}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for line := []byte(strings.Repeat(" ", 64<<10)); ; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}, "more than 1048576 bytes"},
		"a slow body": {Options{RequestTimeout: 500 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Millisecond)
			}
		}, "no answer within 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeAPI()
			f.custom["/api/v1/configmaps"] = nil
			f.handle[poolsPath] = c.answer
			s := f.source(t, c.opts)
			if _, err := s.List(t.Context(), evidence.Nodes, ""); err != nil {
				t.Fatal(err)
			}
			list, err := s.List(t.Context(), evidence.MachineConfigPools, "")
			wantUnavailable(t, list, err, evidence.Unreachable, c.detail)
		})
	}
}

// TestRunBytes: a run that has read enough reads no further list, and logs have a bound
// of their own.
func TestRunBytes(t *testing.T) {
	f := newFakeAPI()
	f.handle[poolsPath] = endlessPages(100<<10, 0)
	f.handle["/log"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a line\n") }
	s := f.source(t, Options{RunBytes: 1 << 20, RunLogBytes: 3})
	if _, err := s.List(t.Context(), evidence.MachineConfigPools, ""); err == nil {
		t.Fatal("an endless list ends")
	}
	asked := len(f.requests("/api/v1/nodes"))
	list, err := s.List(t.Context(), evidence.Nodes, "")
	wantUnavailable(t, list, err, evidence.Unreachable, "more than 1048576 bytes")
	if len(f.requests("/api/v1/nodes")) != asked {
		t.Error("it was asked all the same")
	}
	in, err := s.stream(t.Context(), evidence.Need{}, Access{}, aLog)
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	if _, err := s.stream(t.Context(), evidence.Need{}, Access{}, aLog); err == nil {
		t.Error("logs have no bound")
	}
}
