package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestListBroken holds the promise that a broken answer is never a list.
func TestListBroken(t *testing.T) {
	html := func(code int, media string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "<html><body>Please log in to the proxy</body></html>")
		}
	}
	raw := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}
	}
	const head = `{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfigPoolList",`
	cases := map[string]struct {
		answer http.HandlerFunc
		detail string
	}{
		"HTML as HTML":        {html(200, "text/html; charset=utf-8"), "Please log in"},
		"HTML as JSON":        {html(200, "application/json"), "Please log in"},
		"HTML without a type": {html(200, ""), "Please log in"},
		"HTML with 502":       {html(502, "text/html"), "502 Bad Gateway"},
		"HTML with 404":       {html(404, "text/html"), "404 Not Found"},
		"nonsense type":       {html(200, "; ;;"), "no media type"},
		"500": {func(w http.ResponseWriter, _ *http.Request) {
			answerStatus(w, 500, metav1.StatusReasonInternalError, "etcdserver: no leader")
		}, "etcdserver: no leader"},
		"503": {func(w http.ResponseWriter, _ *http.Request) {
			answerStatus(w, 503, metav1.StatusReasonServiceUnavailable, "no endpoints")
		}, "503 Service Unavailable"},
		"429": {func(w http.ResponseWriter, _ *http.Request) {
			answerStatus(w, 429, metav1.StatusReasonTooManyRequests, "slow down")
		}, "429"},
		"half a document":        {raw(head + `"items":[{"metadata":{"name":"a"`), "not an answer"},
		"nothing":                {raw(""), "not an answer"},
		"null":                   {raw("null"), "not an answer"},
		"another kind":           {raw(`{"apiVersion":"v1","kind":"Status","status":"Success"}`), "not an answer"},
		"another group":          {raw(`{"apiVersion":"v1","kind":"NodeList","items":[]}`), "not an answer"},
		"no items":               {raw(head + `"metadata":{}}`), "without items"},
		"items of another type":  {raw(head + `"items":{}}`), "without items"},
		"an item that is no map": {raw(head + `"items":["a"]}`), "with a string"},
		"an item without a name": {raw(head + `"items":[{"metadata":{}}]}`), "without a name"},
		"an item in a namespace": {raw(head + `"items":[{"metadata":{"name":"a","namespace":"b"}}]}`), "namespace"},
		"endless":                {raw(head + `"metadata":{"continue":"again"},"items":[]}`), "does not end"},
		"cut connection": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "5000")
			_, _ = io.WriteString(w, head)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "unexpected EOF"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI()
			f.handle[poolsPath] = c.answer
			list, err := f.source(t, Options{}).List(t.Context(), evidence.MachineConfigPools, "")
			wantUnavailable(t, list, err, evidence.Unreachable, c.detail)
			if strings.Contains(err.Error(), "very-secret-token") {
				t.Errorf("the error carries the token: %v", err)
			}
		})
	}
	t.Run("protobuf cut", func(t *testing.T) {
		f := newFakeAPI()
		f.handle["/api/v1/nodes"] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaProto)
			_, _ = io.WriteString(w, "k8s\x00\n\x0f\n\x02v1\x12\x08NodeList")
		}
		list, err := f.source(t, Options{}).List(t.Context(), evidence.Nodes, "")
		wantUnavailable(t, list, err, evidence.Unreachable, "not an answer")
	})
}

func TestListOfAPIThatIsNone(t *testing.T) {
	servers := map[string]http.HandlerFunc{
		"HTML":       func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>router</html>") },
		"404":        func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not here", 404) },
		"{}":         func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, 200, map[string]any{}) },
		"500":        func(w http.ResponseWriter, _ *http.Request) { answerStatus(w, 500, "InternalError", "boom") },
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
	}
	for name, h := range servers {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(h)
			t.Cleanup(server.Close)
			list, err := sourceOf(t, server.URL, Options{}).List(t.Context(), evidence.Nodes, "")
			wantUnavailable(t, list, err, evidence.Unreachable, "")
		})
	}
	t.Run("redirected elsewhere", func(t *testing.T) {
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%s was asked, with %q", r.URL, r.Header.Get("Authorization"))
		}))
		t.Cleanup(other.Close)
		server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
		t.Cleanup(server.Close)
		list, err := sourceOf(t, server.URL, Options{}).List(t.Context(), evidence.Nodes, "")
		wantUnavailable(t, list, err, evidence.Unreachable, "307")
	})
	t.Run("nobody listens", func(t *testing.T) {
		server := httptest.NewServer(nil)
		server.Close()
		s := sourceOf(t, server.URL, Options{})
		list, err := s.List(t.Context(), evidence.Nodes, "")
		wantUnavailable(t, list, err, evidence.Unreachable, "connection refused")
		if _, err := s.Describe(t.Context()); err != nil {
			t.Errorf("describe: %v", err)
		}
	})
}

// TestListAPIDiesBetweenPages: the pages that came are not a list.
func TestListAPIDiesBetweenPages(t *testing.T) {
	f := newFakeAPI()
	for i := range 10 {
		f.custom[poolsPath] = append(f.custom[poolsPath], pool(fmt.Sprintf("p%d", i)))
	}
	f.handle[poolsPath] = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "4" {
			panic(http.ErrAbortHandler)
		}
		f.list(w, r)
	}
	list, err := f.source(t, Options{PageSize: 2}).List(t.Context(), evidence.MachineConfigPools, "")
	wantUnavailable(t, list, err, evidence.Unreachable, "EOF")
}

func TestListExpires(t *testing.T) {
	for _, times := range []int{1, 2} {
		f := newFakeAPI()
		for i := range 6 {
			f.custom[poolsPath] = append(f.custom[poolsPath], pool(fmt.Sprintf("p%d", i)))
		}
		gone := 0
		f.handle[poolsPath] = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("continue") == "4" && gone < times {
				gone++
				answerStatus(w, 410, metav1.StatusReasonExpired, "The provided continue parameter is too old")
				return
			}
			f.list(w, r)
		}
		list, err := f.source(t, Options{PageSize: 2}).List(t.Context(), evidence.MachineConfigPools, "")
		if times == 1 {
			if err != nil || len(list) != 6 {
				t.Errorf("expired once: %d objects, %v", len(list), err)
			}
			continue
		}
		wantUnavailable(t, list, err, evidence.Unreachable, "expired twice")
	}
}

func TestListHangs(t *testing.T) {
	release := make(chan struct{})
	f := newFakeAPI()
	f.handle[poolsPath] = func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}
	host := f.start(t).URL
	t.Cleanup(func() { close(release) })
	list, err := sourceOf(t, host, Options{RequestTimeout: 50 * time.Millisecond}).List(t.Context(), evidence.MachineConfigPools, "")
	wantUnavailable(t, list, err, evidence.Unreachable, "no answer within 50ms")
	list, err = sourceOf(t, host, Options{RunTimeout: 50 * time.Millisecond, ListTimeout: time.Minute}).List(t.Context(), evidence.MachineConfigPools, "")
	wantUnavailable(t, list, err, evidence.Unreachable, "the run's time of 50ms is over")

	ctx, cancel := context.WithCancel(t.Context())
	s := sourceOf(t, host, Options{})
	if _, err := s.List(ctx, evidence.Pods, "x"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = s.List(ctx, evidence.MachineConfigPools, "")
	if _, ok := evidence.AsUnavailable(err); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want the context's error", err)
	}
}

// TestDiscoveryOfCancelledCallerIsAskedAgain: who goes away leaves no failure behind.
func TestDiscoveryOfCancelledCallerIsAskedAgain(t *testing.T) {
	s := newFakeAPI().source(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.List(ctx, evidence.Pods, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := s.List(t.Context(), evidence.Pods, "x"); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestListTriesOnceMoreAfterABrokenConnection(t *testing.T) {
	f := newFakeAPI()
	f.custom[poolsPath] = []map[string]any{pool("master")}
	n := 0
	f.handle[poolsPath] = func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 1 {
			http.Error(w, "no backend", http.StatusServiceUnavailable)
			return
		}
		f.list(w, r)
	}
	list, err := f.source(t, Options{}).List(t.Context(), evidence.MachineConfigPools, "")
	if err != nil || len(list) != 1 {
		t.Errorf("%d pools, %v", len(list), err)
	}
}

// TestListOfSilentAggregatedServer: a group whose own server does not answer is
// known to the API; its resources are not "not served".
func TestListOfSilentAggregatedServer(t *testing.T) {
	f := newFakeAPI()
	f.handle["/apis"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		_, _ = io.WriteString(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
			{"metadata":{"name":"metal3.io"},"versions":[{"version":"v1alpha1","freshness":"Stale"}]}]}`)
	}
	s := f.source(t, Options{})
	list, err := s.List(t.Context(), evidence.BareMetalHosts, "x")
	wantUnavailable(t, list, err, evidence.Unreachable, "aggregated API server of metal3.io")
	list, err = s.List(t.Context(), evidence.Machines, "x")
	wantUnavailable(t, list, err, evidence.NotServed, "")
}

// TestSilentServer: an API server that says what it serves and answers no list, as one
// without etcd, is not waited for a hundred times.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	f := newFakeAPI()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, path := range []string{"/api/v1/nodes", poolsPath} {
		f.handle[path] = hang
	}
	s := f.source(t, Options{RequestTimeout: 500 * time.Millisecond})
	for i := range maxUnanswered {
		list, err := s.List(t.Context(), evidence.MachineConfigPools, "")
		wantUnavailable(t, list, err, evidence.Unreachable, "no answer")
		if n := len(f.requests(poolsPath)); n != i+1 {
			t.Fatalf("%d requests after %d lists", n, i+1)
		}
	}
	list, err := s.List(t.Context(), evidence.Nodes, "")
	wantUnavailable(t, list, err, evidence.Unreachable, "not asked: none of the first 8 lists was answered")
	if n := len(f.requests("/api/v1/nodes")); n != 0 {
		t.Errorf("it was asked %d times all the same", n)
	}
}

// TestSlowList: one list that is not answered says nothing of the others.
func TestSlowList(t *testing.T) {
	t.Parallel()
	f := newFakeAPI()
	f.handle[poolsPath] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	s := f.source(t, Options{RequestTimeout: 500 * time.Millisecond})
	if _, err := s.List(t.Context(), evidence.Nodes, ""); err != nil {
		t.Fatal(err)
	}
	for range maxUnanswered + 1 {
		list, err := s.List(t.Context(), evidence.MachineConfigPools, "")
		wantUnavailable(t, list, err, evidence.Unreachable, "no answer")
	}
	if _, err := s.List(t.Context(), evidence.Nodes, ""); err != nil {
		t.Errorf("a list that is answered was given up: %v", err)
	}
}
