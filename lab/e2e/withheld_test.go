package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// hang is the mode in which a list is never answered; the others are HTTP statuses.
const hang = 0

// premises are the lists without which no cluster is healthy.
var premises = []string{
	"nodes", "machines.machine.openshift.io", "machinesets.machine.openshift.io", "baremetalhosts.metal3.io",
	"machineconfigpools.machineconfiguration.openshift.io", "certificatesigningrequests.certificates.k8s.io",
	"clusteroperators.config.openshift.io",
}

// withholder stands between the tool and the API server, on a loopback address, and
// withholds one list from it.
type withholder struct {
	config string // path of the kubeconfig that leads through it

	mu       sync.Mutex
	resource string // RESOURCE[.GROUP]
	mode     int
	asked    map[string]bool // the lists that were asked for
}

func newWithholder(t *testing.T, kubeconfig string) *withholder {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	w := &withholder{asked: map[string]bool{}}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }, Transport: transport, FlushInterval: -1,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		list, ok := listOf(r)
		if !ok {
			forward.ServeHTTP(rw, r)
			return
		}
		w.mu.Lock()
		w.asked[list] = true
		withheld, mode := w.resource == list, w.mode
		w.mu.Unlock()
		switch {
		case !withheld:
			forward.ServeHTTP(rw, r)
		case mode == hang:
			<-r.Context().Done()
		default:
			refuse(rw, list, mode)
		}
	}))
	t.Cleanup(server.Close)
	w.config = writeKubeconfig(t, server.URL, server.Certificate())
	return w
}

// refuse answers as the API server does with such a status.
func refuse(rw http.ResponseWriter, list string, code int) {
	reason := map[int]string{http.StatusForbidden: "Forbidden", http.StatusTooManyRequests: "TooManyRequests", http.StatusInternalServerError: "InternalError"}[code]
	message := map[int]string{
		http.StatusForbidden:           list + ` is forbidden: User "on-call" cannot list resource at the cluster scope`,
		http.StatusTooManyRequests:     "Too many requests, please try again later.",
		http.StatusInternalServerError: "Internal error occurred: etcdserver: request timed out",
	}[code]
	if code == http.StatusTooManyRequests {
		rw.Header().Set("Retry-After", "1")
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	fmt.Fprintf(rw, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
}

// listOf says which list a request asks for, as RESOURCE or RESOURCE.GROUP.
func listOf(r *http.Request) (string, bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	switch {
	case r.Method != http.MethodGet || r.URL.Query().Get("watch") != "":
		return "", false
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = "."+parts[1], parts[3:]
	default:
		return "", false
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	if len(parts) != 1 {
		return "", false
	}
	return parts[0] + group, true
}

// ask asks with one list withheld; an empty name withholds nothing.
func (w *withholder) ask(resource string, mode int, state string) sample {
	w.mu.Lock()
	w.resource, w.mode = resource, mode
	w.mu.Unlock()
	return (&sampler{state: state}).ask(w.config, "--request-timeout", "3s")
}

// withheld compares an answer without one list with the whole answer.
func withheldWrong(list string, mode int, whole, got sample) []violation {
	name := fmt.Sprint(mode)
	if mode == hang {
		name = "hang"
	}
	var bad []violation
	report := func(format string, a ...any) {
		bad = append(bad, violation{id: list + " " + name + ": " + fmt.Sprintf(format, a...), of: got})
	}
	if got.code != 0 && got.code != 2 && got.code != 3 {
		return nil // no answer at all claims nothing
	}
	if rank(got.d.Verdict.Class) < rank(whole.d.Verdict.Class) {
		report("%s instead of %s", got.d.Verdict.Class, whole.d.Verdict.Class)
	} else if got.code == 0 && whole.code != 0 {
		report("exit 0 instead of %d", whole.code)
	}
	if got.d.Verdict.Class == "healthy" && slices.Contains(premises, list) {
		report("healthy without a premise")
	}
	for _, r := range got.d.Roots {
		if r.Confidence == "proven" && !slices.ContainsFunc(whole.d.Findings, func(f finding) bool {
			return f.Fault == r.Fault && f.Subject == r.Subject && f.Outcome == "present"
		}) {
			report("proven %s %s", r.Fault, r.Subject)
		}
	}
	return bad
}

// rank orders the classes by how much they promise: all that name something wrong, or
// nothing at all, promise the same.
func rank(class string) int {
	switch class {
	case "healthy":
		return 0
	case "settling":
		return 1
	}
	return 2
}

// TestWithheld withholds each list that the tool asks for in turn, in every way in which
// an API server withholds one. The verdict never becomes healthier, and nothing becomes
// proven that is not so.
func TestWithheld(t *testing.T) {
	if !inFull() {
		t.Skipf("set %s=1 for it", full)
	}
	t.Parallel()
	for _, scenario := range []string{"cluster", "node-deleted", "bootstrap-desync", "csr-machine-no-addresses+config-drift", "drain-held-by-budget"} {
		t.Run(scenario, func(t *testing.T) {
			var flags []string
			if scenario == "bootstrap-desync" {
				flags = anHour
			}
			w := up(t, scenario, true, flags...)
			settle(t, w.withheld(t, scenario, nil, []int{http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError, hang}))
		})
	}
}

// withheld asks with each of the lists withheld in each way; none means all that the
// tool asks for. It returns what is wrong with the answers.
func (w *world) withheld(t *testing.T, name string, lists []string, modes []int) []violation {
	t.Helper()
	kubeconfig := strings.TrimSpace(w.lab("kubeconfig").out)
	first := newWithholder(t, kubeconfig)
	whole := first.ask("", hang, w.state)
	if lists == nil {
		for list := range first.asked {
			lists = append(lists, list)
		}
		slices.Sort(lists)
	}
	type question struct {
		list string
		mode int
	}
	var questions []question
	for _, mode := range modes {
		for _, list := range lists {
			if !first.asked[list] {
				t.Errorf("the tool does not ask for %s", list)
			}
			questions = append(questions, question{list, mode})
		}
	}
	answers := make([]sample, len(questions))
	var next int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 { // most of the time of a hang, and of a throttled list, is waiting
		h := newWithholder(t, kubeconfig)
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(questions) {
					return
				}
				answers[i] = h.ask(questions[i].list, questions[i].mode, w.state)
			}
		})
	}
	began := time.Now()
	wg.Wait()
	t.Logf("the whole answer: %s", whole)
	t.Logf("%d lists, %d questions in %s", len(lists), len(questions), time.Since(began).Round(time.Second))
	var found []violation
	var timeline []sample
	for i, q := range questions {
		answers[i].step = fmt.Sprintf("%s withheld with %d (0: a hang)", q.list, q.mode)
		timeline = append(timeline, answers[i])
		found = append(found, withheldWrong(q.list, q.mode, whole, answers[i])...)
	}
	if name != "" {
		write(t, "withheld-"+name, append([]sample{whole}, timeline...))
	}
	return found
}

// TestWithheldWrong: what counts as healthier.
func TestWithheldWrong(t *testing.T) {
	answer := func(class string, code int, proven ...string) sample {
		s := sample{code: code}
		s.d.Verdict.Class = class
		for _, f := range proven {
			s.d.Roots = append(s.d.Roots, root{Fault: f, Confidence: "proven"})
			s.d.Findings = append(s.d.Findings, finding{Fault: f, Outcome: "present"})
		}
		return s
	}
	for _, tt := range []struct {
		list       string
		whole, got sample
		want       string
	}{
		{"events", answer("healthy", 0), answer("healthy", 0), ""},
		{"nodes", answer("healthy", 0), answer("healthy", 0), "nodes 403: healthy without a premise"},
		{"nodes", answer("settling", 0), answer("healthy", 0), "nodes 403: healthy instead of settling; nodes 403: healthy without a premise"},
		{"nodes", answer("undetermined", 3), answer("settling", 0), "nodes 403: settling instead of undetermined"},
		{"nodes", answer("undetermined", 2, "f"), answer("undetermined", 0), "nodes 403: exit 0 instead of 2"},
		{"nodes", answer("undetermined", 2, "f"), answer("undetermined", 3), ""},
		{"nodes", answer("undetermined", 2, "f"), answer("undetermined", 2, "f", "g"), "nodes 403: proven g /"},
		{"nodes", answer("undetermined", 2, "f"), answer("", 1), ""},
	} {
		var ids []string
		for _, v := range withheldWrong(tt.list, http.StatusForbidden, tt.whole, tt.got) {
			ids = append(ids, v.id)
		}
		if got := strings.Join(ids, "; "); got != tt.want {
			t.Errorf("%s, %s after %s: got %q, want %q", tt.list, tt.got.d.Verdict.Class, tt.whole.d.Verdict.Class, got, tt.want)
		}
	}
}

func TestListOf(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/nodes":                         "nodes",
		"/api/v1/namespaces":                    "namespaces",
		"/api/v1/namespaces/a/pods":             "pods",
		"/api/v1/namespaces/a/pods/p":           "",
		"/api/v1/namespaces/a/pods/p/log":       "",
		"/api/v1/namespaces/a":                  "",
		"/apis/metal3.io/v1alpha1":              "",
		"/apis/metal3.io/v1alpha1/hosts":        "hosts.metal3.io",
		"/apis/m.io/v1/namespaces/a/machines":   "machines.m.io",
		"/apis/m.io/v1/namespaces/a/machines/b": "",
		"/version":                              "",
	} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		if got, _ := listOf(r); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
