package live

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

const mco = "openshift-machine-config-operator"

func runs(name string, restarts int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func waits(name string, restarts int32) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name, RestartCount: restarts, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "X"}}}
	if restarts > 0 {
		s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
	}
	return s
}

func podWith(name, node string, init, main []corev1.ContainerStatus) runtime.Object {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: mco, Name: name}, Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{InitContainerStatuses: init, ContainerStatuses: main}}
}

func statuses(s ...corev1.ContainerStatus) []corev1.ContainerStatus { return s }

func textsAPI() *fakeAPI {
	f := newFakeAPI()
	f.typed["/api/v1/pods"] = []runtime.Object{
		podWith("mcs-0", "control0", nil, statuses(runs("server", 0), runs("kube-rbac-proxy", 0))),
		podWith("mcs-1", "control1", statuses(runs("server", 0)), statuses(runs("x", 3))),
		podWith("mcs-2", "control2", nil, statuses(runs("server", 2))),
		podWith("mcs-3", "control3", nil, statuses(waits("server", 7))),
		podWith("mcs-4", "control4", nil, statuses(waits("server", 0))),
	}
	f.typed["/api/v1/nodes"] = []runtime.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "control1"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "control0"}}}
	return f
}

func logPath(pod string) string { return "/api/v1/namespaces/" + mco + "/pods/" + pod + "/log" }

func serverLog() evidence.TextQuery {
	return evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: mco, Container: "server"}
}

func TestContainerLogsThatExist(t *testing.T) {
	s := textsAPI().source(t, Options{})
	list, err := s.Texts(t.Context(), serverLog())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range list {
		got = append(got, fmt.Sprintf("%s %s %s %v | %s", x.Host, x.Pod, x.Container, x.Previous, x.Path))
	}
	const base = "-n " + mco + " pod/"
	want := []string{
		"control0 mcs-0 server false | " + base + "mcs-0 -c server",
		"control1 mcs-1 server false | " + base + "mcs-1 -c server", // an init container
		"control2 mcs-2 server false | " + base + "mcs-2 -c server",
		"control2 mcs-2 server true | " + base + "mcs-2 -c server --previous",
		"control3 mcs-3 server false | " + base + "mcs-3 -c server", // crashed and waits: the last run's log is the current one
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("texts (-want +got):\n%s", d)
	}
	one, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: mco, Container: "server", Host: "control0"})
	if err != nil || len(one) != 1 {
		t.Errorf("of one host: %d, %v", len(one), err)
	}
}

func TestContainerLogIsOpenedLazilyAndBounded(t *testing.T) {
	f := textsAPI()
	f.handle[logPath("mcs-0")] = func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("0123456789", 100)) // a server that ignores limitBytes
	}
	s := f.source(t, Options{LogBytes: 64, LogLines: 7})
	list, err := s.Texts(t.Context(), serverLog())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.requests(logPath("mcs-0"))); n != 0 {
		t.Errorf("the log was asked for %d times before it was opened", n)
	}
	in, err := list[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(in)
	if !errors.Is(err, errCut) {
		t.Errorf("the newest lines are missing, and the log ends with %v", err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if len(raw) != 64 {
		t.Errorf("%d bytes", len(raw))
	}
	q := f.requests(logPath("mcs-0"))[0].URL.Query()
	want := map[string]string{"container": "server", "previous": "false", "timestamps": "true", "tailLines": "7", "limitBytes": "64"}
	for k, v := range want {
		if q.Get(k) != v {
			t.Errorf("%s=%s, want %s", k, q.Get(k), v)
		}
	}
}

// TestLogOfSilentKubeletIsPartialCoverage: the reader says that one log could not
// be read, and why; it is not an empty log.
func TestLogOfSilentKubeletIsPartialCoverage(t *testing.T) {
	f := textsAPI()
	f.typed["/api/v1/pods"] = f.typed["/api/v1/pods"][:2]
	f.handle[logPath("mcs-0")] = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "2026-03-04T05:06:07Z could not fetch config , err: not found\n")
	}
	f.handle[logPath("mcs-1")] = func(w http.ResponseWriter, _ *http.Request) {
		answerStatus(w, 500, metav1.StatusReasonInternalError, `Get "https://192.0.2.5:10250/containerLogs/x": remote error: tls: internal error`)
	}
	r, set := readerOf(t, f.source(t, Options{}))
	found, err := r.Matches(t.Context(), serverLog(), set)
	if err != nil || len(found) != 1 || found[0].Text.Host != "control0" || !found[0].Line.Time.Equal(epoch) {
		t.Fatalf("%+v, %v", found, err)
	}
	c := r.Coverage()[0]
	if c.State != evidence.Partial || !strings.Contains(c.Reason, "remote error: tls: internal error") {
		t.Errorf("coverage %+v", c)
	}
}

func readerOf(t *testing.T, s evidence.Source) (*reader.Reader, string) {
	t.Helper()
	set, err := scan.Compile([]scan.Signature{{ID: "empty", Literal: "could not fetch config"}})
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	return reader.New(set, clean, nil, reader.Limits{}, s), "empty"
}

func TestTextsThatFailToOpen(t *testing.T) {
	release := make(chan struct{})
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	}
	cases := map[string]struct {
		answer http.HandlerFunc
		why    evidence.Why
		detail string
	}{
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) { answerStatus(w, 403, metav1.StatusReasonForbidden, "no") },
			evidence.Forbidden, "missing right: get pods/log in namespace " + mco},
		"gone pod": {func(w http.ResponseWriter, _ *http.Request) {
			answerStatus(w, 404, metav1.StatusReasonNotFound, `pods "mcs-0" not found`)
		},
			evidence.Unreachable, "not found"},
		"no log on the node": {text("unable to retrieve container logs for cri-o://0123"), evidence.Unreachable, "unable to retrieve"},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}, evidence.Unreachable, "no answer within 100ms"},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, evidence.Unreachable, "breaks off"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := textsAPI()
			f.handle[logPath("mcs-0")] = c.answer
			s := f.source(t, Options{})
			list, err := s.Texts(t.Context(), serverLog())
			if err != nil {
				t.Fatal(err)
			}
			if name == "hangs" {
				s.opts.RequestTimeout = 100 * time.Millisecond
			}
			in, err := list[0].Open(t.Context())
			if err == nil {
				_ = in.Close()
			}
			wantUnavailable(t, nil, err, c.why, c.detail)
		})
	}
	close(release)
}

func TestTextBreaksOffInTheMiddle(t *testing.T) {
	f := textsAPI()
	f.handle[logPath("mcs-0")] = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("a line of the log\n", 1000))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	list, err := f.source(t, Options{}).Texts(t.Context(), serverLog())
	if err != nil {
		t.Fatal(err)
	}
	in, err := list[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(in)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the end of a broken log is %v", err)
	}
	if err := in.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestTextReadEndsWithItsContext(t *testing.T) {
	f := textsAPI()
	f.handle[logPath("mcs-0")] = func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("line\n", 100))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	list, err := f.source(t, Options{}).Texts(t.Context(), serverLog())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, err := list[0].Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(in); !errors.Is(err, context.Canceled) {
		t.Errorf("read of a cancelled text: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestTextsWithoutRights(t *testing.T) {
	f := textsAPI()
	f.denied = func(_, _, sub, _ string) bool { return sub == "log" || sub == "proxy" }
	s := f.source(t, Options{Journals: true})
	_, err := s.Texts(t.Context(), serverLog())
	wantUnavailable(t, nil, err, evidence.Forbidden, "missing right: get pods/log in namespace "+mco)
	_, err = s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"})
	wantUnavailable(t, nil, err, evidence.Forbidden, "missing right: get nodes/proxy")
	f.denied = func(verb, resource, _, _ string) bool { return verb == "list" && resource == "pods" }
	_, err = f.source(t, Options{}).Texts(t.Context(), serverLog())
	wantUnavailable(t, nil, err, evidence.Forbidden, "missing right: list pods in namespace "+mco)
}

func TestTextsNotAsked(t *testing.T) {
	s := textsAPI().source(t, Options{})
	for kind, supply := range map[evidence.TextKind]evidence.SupplyKind{evidence.Journal: evidence.SupplyJournals, evidence.Console: evidence.SupplyConsole} {
		q := evidence.TextQuery{Kind: kind, Unit: "kubelet"}
		_, err := s.Texts(t.Context(), q)
		wantUnavailable(t, nil, err, evidence.NotAsked, "")
		if u, _ := evidence.AsUnavailable(err); u.Supply.Kind != supply || u.Need != evidence.Texts(q) {
			t.Errorf("%s: %+v", kind, u)
		}
	}
}

func TestJournals(t *testing.T) {
	f := textsAPI()
	const line = "2026-03-04T05:06:07.000000+0000 control0 kubelet[1]: could not fetch config\n"
	f.handle["/api/v1/nodes/control0/proxy/logs/journal"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, line)
		_ = z.Close()
	}
	f.handle["/api/v1/nodes/control1/proxy/logs/journal"] = func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "\nerror: journal output not available\n")
	}
	s := f.source(t, Options{Journals: true})
	q := evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}
	list, err := s.Texts(t.Context(), q)
	if err != nil || len(list) != 2 || list[0].Host != "control0" || list[0].Path != "node-logs control0 -u kubelet" {
		t.Fatalf("%+v, %v", list, err)
	}
	in, err := list[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil || string(raw) != line {
		t.Errorf("%q, %v", raw, err)
	}
	asked := f.requests("/api/v1/nodes/control0/proxy")[0].URL.Query()
	if asked.Get("unit") != "kubelet" || asked.Get("query") != "kubelet" || asked.Get("tail") != "100000" || asked.Get("tailLines") != "100000" {
		t.Errorf("asked %v", asked)
	}
	_, err = list[1].Open(t.Context())
	wantUnavailable(t, nil, err, evidence.Unreachable, "journal output not available")
}

func TestRights(t *testing.T) {
	f := textsAPI()
	f.denied = func(verb, resource, sub, namespace string) bool { return sub == "log" }
	s := f.source(t, Options{})
	needs := []evidence.Need{
		evidence.Objects(evidence.Nodes, ""), evidence.Texts(serverLog()), evidence.Objects(evidence.MCSProbes, ""),
		evidence.Texts(evidence.TextQuery{Kind: evidence.Console}),
	}
	got, err := s.Rights(t.Context(), needs)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range got {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Access, r.Err)
		}
		lines = append(lines, fmt.Sprintf("%s: %s %v", r.Need, r.Access, r.Allowed))
	}
	want := []string{
		"nodes: list nodes true",
		"log " + mco + "/server: list pods in namespace " + mco + " true",
		"log " + mco + "/server: get pods/log in namespace " + mco + " false",
		"mcsanswers.rollcall.dev: list nodes true",
		"mcsanswers.rollcall.dev: list machineconfigpools.machineconfiguration.openshift.io true",
		"mcsanswers.rollcall.dev: list infrastructures.config.openshift.io true",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("rights (-want +got):\n%s", d)
	}
	if n := len(f.requests("/apis/authorization.k8s.io")); n != 5 {
		t.Errorf("%d reviews for 5 distinct accesses", n)
	}
}

func TestRightsOfAPIThatCannotSay(t *testing.T) {
	f := newFakeAPI()
	f.handle["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"] = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>")
	}
	got, err := f.source(t, Options{}).Rights(t.Context(), []evidence.Need{evidence.Objects(evidence.Nodes, "")})
	if err != nil || len(got) != 1 || got[0].Err == nil || got[0].Allowed {
		t.Errorf("%+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.source(t, Options{}).Rights(ctx, []evidence.Need{evidence.Objects(evidence.Nodes, "")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
