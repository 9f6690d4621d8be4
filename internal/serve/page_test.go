package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// shown is a page as a browser gets it.
func shown(t *testing.T, s *Server, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.Pages()[path].ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d", path, w.Code)
	}
	for header, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		if got := w.Header().Get(header); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s is %q", path, header, got)
		}
	}
	root, err := html.Parse(strings.NewReader(w.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" || n.Data == "img" || n.Data == "form" || n.Data == "iframe" {
			t.Errorf("%s has a <%s>", path, n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || strings.Contains(a.Val, "javascript:") {
				t.Errorf("%s has %s=%q", path, a.Key, a.Val)
			}
		}
	}
	return w.Body.String()
}

// TestPages: what each state shows, with names that a hostile cluster chose.
func TestPages(t *testing.T) {
	c := &clock{at: noon}
	s := leading(c)
	has := func(path string, wants ...string) {
		t.Helper()
		text := shown(t, s.Server, path)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%.3000s", path, want, text)
			}
		}
	}
	for _, path := range []string{StatusPath, ReportPath} {
		has(path, "THE CLUSTER IS NOT READ YET")
	}
	s.state.Store(&State{Holder: "rollcall-1_0a0b"})
	has(StatusPath, "ANOTHER REPLICA READS THE CLUSTER", "rollcall-1_0a0b")
	d := brokenAnswer(noon, mostRows+7)
	d.Hosts[2].Name, d.Hosts[2].Why = "<script>alert(1)</script>", "100%s \x1b[31m <img src=x onerror=alert(1)>"
	d.Hosts[2].Since = noon.Add(-time.Hour)
	d.Groups.Unexplained = []diagnosis.Group{{Fault: "node-not-ready"}}
	d.Unexplained = []diagnosis.Unexplained{{Title: "node <b>x</b> is not ready", Key: fault.Key{Fault: "node-not-ready"}}}
	s.state.Store(&State{Leading: true, Reading: &Reading{Diagnosis: d}, ReadAt: noon, Blind: "connection refused", BlindFrom: noon.Add(time.Minute),
		Changes: []follow.Event{{Text: "worker1: registered -> ready", Time: noon}}})
	c.forward(10 * time.Minute)
	has(StatusPath, `<meta http-equiv="refresh"`, "Read 10m ago", "The cluster cannot be read for 9m", "connection refused", "&lt;script&gt;alert(1)&lt;/script&gt;",
		"100%s ", "1h10m ago", fmt.Sprintf("1 of %d expected hosts have joined", mostRows+8), "And 7 more", "node &lt;b&gt;x&lt;/b&gt; is not ready",
		"pool-source-missing, proven, and 206 more", "worker1: registered -&gt; ready", `href="/rollcall/report"`)
	s.state.Store(&State{Leading: true, Reading: &Reading{Diagnosis: healthyAnswer(noon)}, ReadAt: noon})
	has(ReportPath, "<title>Rollcall: prod")
	has(StatusPath, "1 of 1 expected hosts have joined")
}
