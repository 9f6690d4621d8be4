package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session/readerrole"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// lines is what a server logs, read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var servedAt = regexp.MustCompile(`address=(127\.0\.0\.1:[0-9]+)`)

// faster is how many seconds pass in one for a server that keeps records.
const faster = 20

// serving runs `rollcall serve` against an API server until stop is called, and returns where it listens and its log.
func serving(t *testing.T, api string, more ...string) (at string, log *lines, stop func() cmdutil.ExitCode) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clitest.WriteKubeconfig(kubeconfig, api); err != nil {
		t.Fatal(err)
	}
	log = &lines{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan cmdutil.ExitCode, 1)
	args := append([]string{"rollcall", "serve", "--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0", "--request-timeout", "5s"}, more...)
	began := time.Now()
	clock := func() time.Time {
		if slices.Contains(more, "--records") {
			return clitest.Now.Add(time.Since(began) * faster)
		}
		return clitest.Now
	}
	go func() {
		done <- Main(ctx, args, cmdutil.IO{In: strings.NewReader(""), Out: log, Err: log, Getenv: func(string) string { return "" }, Clock: clock})
	}()
	stop = sync.OnceValue(func() cmdutil.ExitCode { cancel(); return <-done })
	t.Cleanup(func() { stop() })
	waitFor(t, log, "it listens", func() bool { return servedAt.MatchString(log.String()) })
	return "http://" + servedAt.FindStringSubmatch(log.String())[1], log, stop
}

func waitFor(t *testing.T, log *lines, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it did not happen: %s\n%s", what, log)
}

var plain = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func served(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := plain.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestServe: a healthy cluster shows no failed host and no cause; a fault is in the metrics at the next reading; while the API is
// away the last answer stays and the server says that it is blind; it ends at a signal, with 0, and leaves no goroutine.
func TestServe(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	cluster, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cluster)
	defer server.Close()
	at, log, stop := serving(t, server.URL, "--interval", "10s")
	metrics := func() string { return served(t, at+"/metrics") }
	waitFor(t, log, "the first reading", func() bool { return strings.Contains(metrics(), "\nrollcall_last_run_timestamp_seconds ") })
	text := metrics()
	for _, want := range []string{"rollcall_blind 0", "rollcall_leader 1", `rollcall_verdict_info{class="healthy"} 1`, `rollcall_runs_total{result="ok"} 1`,
		`rollcall_hosts{role="master",stage="config-done",state="passed"} 3`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{`state="failed"`, "rollcall_root_info{", "rollcall_host_stage_info{", clitest.PlantedWord} {
		if strings.Contains(text, not) {
			t.Errorf("a healthy cluster has %q in\n%s", not, text)
		}
	}
	var list []clitest.Change
	if err := yaml.UnmarshalStrict([]byte(toRepair), &list); err != nil {
		t.Fatal(err)
	}
	cluster.Mu.Lock()
	err = cluster.Happen(list)
	cluster.Mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	const root = `rollcall_root_info{confidence="proven",fault="pool-source-missing"`
	waitFor(t, log, "the fault is exported", func() bool { return strings.Contains(metrics(), root) })
	cluster.Mu.Lock()
	cluster.Down = true
	cluster.Mu.Unlock()
	waitFor(t, log, "it says that it is blind", func() bool { return strings.Contains(metrics(), "\nrollcall_blind 1\n") })
	if text = served(t, at+"/"); !strings.Contains(text, "The cluster cannot be read") || !strings.Contains(text, "pool-source-missing, proven") {
		t.Errorf("the page:\n%s", text)
	}
	if text = served(t, at+"/rollcall/report"); !strings.Contains(text, "pool-source-missing") {
		t.Errorf("the report:\n%.2000s", text)
	}
	if text = metrics(); !strings.Contains(text, root) || !strings.Contains(text, "\nrollcall_last_run_timestamp_seconds ") {
		t.Errorf("the last answer is gone:\n%s", text)
	}
	cluster.Mu.Lock()
	cluster.Down = false
	cluster.Mu.Unlock()
	waitFor(t, log, "it reads again", func() bool { return strings.Contains(metrics(), "\nrollcall_blind 0\n") })
	if len(cluster.Written) > 0 {
		t.Errorf("it wrote %q", cluster.Written)
	}
	if code := stop(); code != cmdutil.ExitOK {
		t.Errorf("it ends with %d:\n%s", code, log)
	}
}

// TestServeWrites: a cause that lasts has an Event, and a record after 5 minutes, which `serve incidents` prints. Nothing else is written.
func TestServeWrites(t *testing.T) {
	if !sample.Whole() {
		t.Skip("it takes five minutes of a clock that is 20 times as fast; in .ci/run")
	}
	cluster, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	var list []clitest.Change
	if err := yaml.UnmarshalStrict([]byte(toRepair), &list); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Happen(list); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cluster)
	defer server.Close()
	_, log, stop := serving(t, server.URL, "--interval", "10s", "--events", "--records", "rollcall")
	wrote := func(what string) bool {
		cluster.Mu.Lock()
		defer cluster.Mu.Unlock()
		return slices.ContainsFunc(cluster.Written, func(w string) bool { return strings.HasPrefix(w, what) })
	}
	waitFor(t, log, "an Event", func() bool { return wrote("POST events/rollcall-") || wrote("POST events/") })
	waitFor(t, log, "a record", func() bool { return wrote("POST configmaps/") })
	if code := stop(); code != cmdutil.ExitOK {
		t.Errorf("it ends with %d:\n%s", code, log)
	}
	for _, w := range cluster.Written {
		if !strings.HasPrefix(w, "POST events/") && !strings.HasPrefix(w, "POST configmaps/") && !strings.HasPrefix(w, "PUT configmaps/") {
			t.Errorf("it wrote %s", w)
		}
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clitest.WriteKubeconfig(kubeconfig, server.URL); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := Main(t.Context(), []string{"rollcall", "serve", "incidents", "--kubeconfig", kubeconfig}, cmdutil.IO{In: strings.NewReader(""), Out: &out,
		Err: &out, Getenv: func(string) string { return "" }, Clock: func() time.Time { return clitest.Now }})
	if code != cmdutil.ExitOK || !strings.Contains(out.String(), "pool-source-missing") || !strings.Contains(out.String(), " open ") {
		t.Errorf("incidents, exit code %d:\n%s", code, &out)
	}
}

// TestServeBroken: against every kind of broken server it stays up, says that it is blind where nothing can be read, and writes no
// secret.
func TestServeBroken(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	cluster, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range clitest.BrokenServers() {
		if kind.TLS {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			server, end := kind.Serve(cluster)
			t.Cleanup(end)
			at, log, stop := serving(t, server.URL, "--request-timeout", "1s", "--interval", "10s")
			waitFor(t, log, "a reading ended", func() bool {
				text := served(t, at+"/metrics")
				return strings.Contains(text, "rollcall_run_duration_seconds_count") && !strings.Contains(text, "rollcall_run_duration_seconds_count 0")
			})
			text := served(t, at+"/metrics")
			if kind.Blind && !strings.Contains(text, "\nrollcall_blind 1\n") {
				t.Errorf("it is not blind:\n%s", text)
			}
			if code := stop(); code != cmdutil.ExitOK {
				t.Errorf("it ended with %d", code)
			}
			if strings.Contains(text+log.String(), clitest.PlantedWord) {
				t.Errorf("a secret:\n%s%s", text, log)
			}
		})
	}
}

// TestServeRights: the rights in the manifests permit each request of a server that reads a cluster, so that nothing is missing in the
// answer of the pod that is there for a person.
func TestServeRights(t *testing.T) {
	cluster, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[live.Access]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if a, ok := accessOf(q); ok {
			mu.Lock()
			asked[a] = true
			mu.Unlock()
		}
		cluster.ServeHTTP(w, q)
	}))
	defer server.Close()
	at, log, stop := serving(t, server.URL, "--lease", "rollcall/rollcall")
	waitFor(t, log, "the first reading", func() bool {
		return strings.Contains(served(t, at+"/metrics"), "\nrollcall_last_run_timestamp_seconds ")
	})
	waitFor(t, log, "it watches", func() bool {
		mu.Lock()
		defer mu.Unlock()
		watches := 0
		for a := range asked {
			if a.Verb == "watch" {
				watches++
			}
		}
		return watches >= 8
	})
	stop()
	out, errs, code := call(nil, "serve", "manifests", "--image", "registry.example.com/rollcall:1")
	if code != cmdutil.ExitOK {
		t.Fatal(errs)
	}
	var roles []readerrole.Object
	for _, doc := range strings.Split(out, "\n---\n") {
		var o readerrole.Object
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, o)
	}
	if len(asked) < 40 {
		t.Errorf("%d kinds of requests were seen", len(asked))
	}
	for a := range asked {
		resource := strings.TrimSuffix(a.Resource.Name+"/"+a.Subresource, "/")
		if !slices.ContainsFunc(roles, func(o readerrole.Object) bool {
			return (o.Kind == "ClusterRole" || o.Kind == "Role" && o.Metadata.Namespace == a.Namespace) && slices.ContainsFunc(o.Rules, func(r readerrole.Rule) bool {
				return slices.Contains(r.APIGroups, a.Resource.Group) && slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, a.Verb)
			})
		}) {
			t.Errorf("%s is asked for and not permitted", a)
		}
	}
}

// accessOf is what the API must allow for a request; false for discovery, which everybody may read.
func accessOf(q *http.Request) (live.Access, bool) {
	parts := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	var a live.Access
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		a.Resource.Group, parts = parts[1], parts[3:]
	default:
		return a, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		a.Namespace, parts = parts[1], parts[2:]
	}
	a.Resource.Name = parts[0]
	a.Verb = map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[q.Method]
	if len(parts) > 2 {
		a.Subresource = parts[2]
	}
	switch {
	case a.Verb != "":
	case len(parts) > 1:
		a.Verb = "get"
	case q.URL.Query().Has("watch"):
		a.Verb = "watch"
	default:
		a.Verb = "list"
	}
	return a, a.Resource.Name != "selfsubjectaccessreviews"
}
