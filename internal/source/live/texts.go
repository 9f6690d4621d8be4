package live

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// Texts implements evidence.Source. A text is opened only when it is read; a
// kubelet that does not answer makes Open fail, so that the text is known as
// unread and not as empty.
func (s *Source) Texts(ctx context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	need := evidence.Texts(q)
	var list []evidence.Text
	var err error
	switch q.Kind {
	case evidence.ContainerLog:
		list, err = s.containerLogs(ctx, need)
	case evidence.Journal:
		list, err = s.journals(ctx, need)
	case evidence.Console:
		err = &evidence.Unavailable{
			Why:    evidence.NotAsked,
			Detail: "an API does not see a machine's screen",
			Supply: evidence.Supply{Kind: evidence.SupplyConsole},
		}
	default:
		err = &evidence.Unavailable{Why: evidence.NotCollected, Detail: "a cluster's API has no such text"}
	}
	if u, ok := evidence.AsUnavailable(err); ok {
		named := *u
		named.Need = need
		return nil, &named
	}
	slices.SortFunc(list, func(a, b evidence.Text) int { return cmp.Compare(a.Path, b.Path) })
	return list, err
}

// pod is what of a Pod is needed to find its logs.
type pod struct {
	namespace, name, node string
	containers            []container
}

type container struct {
	name     string
	current  bool // it runs, or ran and its last run is what the kubelet gives as the current log
	previous bool
}

// podList is the pods of a namespace, listed once for both who asks for them: the
// objects until somebody took them, whose they are from then on.
type podList struct {
	pods    []pod
	mu      sync.Mutex
	objects []evidence.Object
	taken   bool
}

// take returns the objects to the first caller.
func (l *podList) take() ([]evidence.Object, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, first := l.objects, !l.taken
	l.objects, l.taken = nil, true
	return list, first
}

// podsIn lists the pods of a namespace once.
func (s *Source) podsIn(ctx context.Context, namespace string) (*podList, error) {
	return memo(&s.memoMu, s.pods, namespace).get(ctx, func(ctx context.Context) (*podList, error) {
		objects, err := s.read(ctx, evidence.Objects(evidence.Pods, namespace))
		if err != nil {
			return nil, err
		}
		pods := make([]pod, 0, len(objects))
		for _, o := range objects {
			p := pod{namespace: o.Namespace, name: o.Name, node: evidence.String(o.Content, "spec", "nodeName")}
			for _, kind := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
				states, _ := evidence.Field(o.Content, "status", kind).([]any)
				for _, c := range states {
					if state, ok := c.(map[string]any); ok {
						p.containers = append(p.containers, containerOf(state))
					}
				}
			}
			pods = append(pods, p)
		}
		return &podList{pods: pods, objects: objects}, nil
	})
}

// containerOf tells which logs a container has by its status. A container that
// waits after a crash has one log only: the kubelet then gives the last run's as
// the current one (kubernetes/kubernetes:pkg/kubelet/kubelet_pods.go
// validateContainerLogStatus), and one that never ran has none.
func containerOf(state map[string]any) container {
	_, waits := evidence.Field(state, "state", "waiting").(map[string]any)
	_, ended := evidence.Field(state, "lastState", "terminated").(map[string]any)
	again := evidence.Int(state, "restartCount") > 0
	return container{
		name:     evidence.String(state, "name"),
		current:  !waits || ended || again,
		previous: again && !waits,
	}
}

func (s *Source) containerLogs(ctx context.Context, need evidence.Need) ([]evidence.Text, error) {
	q := need.Text
	pods, err := s.podsIn(ctx, q.Namespace)
	if err != nil {
		return nil, err
	}
	if err := s.require(ctx, Access{Verb: "get", Resource: evidence.Pods, Subresource: "log", Namespace: q.Namespace}); err != nil {
		return nil, err
	}
	var list []evidence.Text
	for _, p := range pods.pods {
		if q.Host != "" && q.Host != p.node {
			continue
		}
		for _, c := range p.containers {
			if q.Container != "" && q.Container != c.name {
				continue
			}
			if c.current {
				list = append(list, s.logText(need, p, c.name, false))
			}
			if c.previous {
				list = append(list, s.logText(need, p, c.name, true))
			}
		}
	}
	return list, nil
}

// logText is one log. Lines begin with the kubelet's own time of the line, as
// those of `oc adm inspect` do (openshift/oc:pkg/cli/admin/inspect/pod.go).
func (s *Source) logText(need evidence.Need, p pod, container string, previous bool) evidence.Text {
	path := fmt.Sprintf("-n %s pod/%s -c %s", p.namespace, p.name, container)
	if previous {
		path += " --previous"
	}
	return evidence.Text{
		Kind: evidence.ContainerLog, Namespace: p.namespace, Pod: p.name, Container: container, Previous: previous,
		Host: p.node, Path: path,
		Open: func(ctx context.Context) (io.ReadCloser, error) {
			req := kube.Request{Path: []string{"api", "v1", "namespaces", p.namespace, "pods", p.name, "log"}, Query: url.Values{
				"container": {container}, "previous": {strconv.FormatBool(previous)}, "timestamps": {"true"},
				"tailLines": {strconv.Itoa(s.opts.LogLines)}, "limitBytes": {strconv.FormatInt(s.opts.LogBytes, 10)},
			}}
			right := Access{Verb: "get", Resource: evidence.Pods, Subresource: "log", Namespace: p.namespace}
			return s.stream(ctx, need, right, req)
		},
	}
}

// journals are the journals of nodes as `oc adm node-logs` reads them
// (openshift/oc:pkg/cli/admin/node/logs.go). The kubelet takes `unit` or
// `query` by its release, and `tail` or `tailLines`
// (openshift/kubernetes:pkg/kubelet/kubelet_server_journal.go newNodeLogQuery).
func (s *Source) journals(ctx context.Context, need evidence.Need) ([]evidence.Text, error) {
	q := need.Text
	if !s.opts.Journals {
		return nil, &evidence.Unavailable{
			Why:    evidence.NotAsked,
			Detail: "journals are read only when asked for",
			Supply: evidence.Supply{Kind: evidence.SupplyJournals},
		}
	}
	if q.Unit == "" {
		return nil, fmt.Errorf("list journals: the kubelet gives the journal of a unit, none is named")
	}
	nodes, err := s.List(ctx, evidence.Nodes, "")
	if err != nil {
		return nil, err
	}
	right := Access{Verb: "get", Resource: evidence.Nodes, Subresource: "proxy"}
	if err := s.require(ctx, right); err != nil {
		return nil, err
	}
	var list []evidence.Text
	for _, n := range nodes {
		if q.Host != "" && q.Host != n.Name {
			continue
		}
		list = append(list, evidence.Text{
			Kind: evidence.Journal, Host: n.Name, Unit: q.Unit, Path: "node-logs " + n.Name + " -u " + q.Unit,
			Open: func(ctx context.Context) (io.ReadCloser, error) {
				lines := strconv.Itoa(min(s.opts.LogLines, 100_000))
				req := kube.Request{Path: []string{"api", "v1", "nodes", n.Name, "proxy", "logs", "journal"}, Query: url.Values{
					"unit": {q.Unit}, "query": {q.Unit}, "tail": {lines}, "tailLines": {lines}, "output": {"short-iso-precise"},
				}}
				return s.stream(ctx, need, right, req)
			},
		})
	}
	return list, nil
}

// require returns an Unavailable when the API says that a right is missing.
// When it cannot say, the read itself will tell.
func (s *Source) require(ctx context.Context, a Access) error {
	allowed, err := s.allowed(ctx, a)
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s: %w", a, ctx.Err())
	}
	if err != nil || allowed {
		return nil
	}
	return &evidence.Unavailable{Why: evidence.Forbidden, Detail: "missing right: " + a.String(), Supply: a.supply()}
}

// failures are what a kubelet writes into an answer of status 200 instead of a
// log (kubernetes/kubernetes:pkg/kubelet/kuberuntime/kuberuntime_container.go
// GetContainerLogs; openshift/kubernetes:pkg/kubelet/kubelet_server_journal.go).
var failures = [][]byte{
	[]byte("unable to retrieve container logs for "),
	[]byte("error: journal output not available"),
	[]byte("failed to get logging cmd: "),
	[]byte("options present and query resolved to log files for "),
	[]byte("log not found for "),
	[]byte("error getting log for "),
}

// stream opens a text. It fails when there is no answer in the time of one
// request, and when the first bytes say that there is no log. Reading the whole
// text may take four times as long.
func (s *Source) stream(caller context.Context, need evidence.Need, right Access, req kube.Request) (io.ReadCloser, error) {
	ctx, cancel := s.withTimeout(caller, 4*s.opts.RequestTimeout)
	body, err := s.open(ctx, req)
	for try := (attempts{s: s}); err != nil && throttled(err); {
		pause, again := try.next(ctx, err)
		if !again || !s.pause(ctx, pause) {
			break
		}
		body, err = s.open(ctx, req)
	}
	if err != nil {
		err = s.unavailable(caller, ctx, need, right, err)
		cancel()
		return nil, err
	}
	in := bufio.NewReaderSize(&whole{body, s.opts.LogBytes}, 64<<10)
	head, err := in.Peek(256)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errCut) {
		err = s.unavailable(caller, ctx, need, right, fmt.Errorf("the log breaks off at its beginning: %w", err))
		cancel()
		return nil, errors.Join(err, body.Close())
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	if slices.ContainsFunc(failures, func(f []byte) bool { return bytes.HasPrefix(first, f) }) {
		cancel()
		u := &evidence.Unavailable{Need: need, Why: evidence.Unreachable, Detail: wire.Clip(string(first))}
		return nil, errors.Join(u, body.Close())
	}
	return &stream{Reader: in, body: body, cancel: cancel}, nil
}

// whole reads at most left bytes. A log that has as many was cut: the kubelet begins
// so many lines before its end and stops after so many bytes, so what is missing is
// the newest.
type whole struct {
	from io.Reader
	left int64
}

func (w *whole) Read(p []byte) (int, error) {
	if w.left == 0 {
		return 0, errCut
	}
	n, err := w.from.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	return n, err
}

var errCut = errors.New("the log is longer than what is read of it: its newest lines are missing")

// open sends the request and awaits the answer's header within the time of one request.
func (s *Source) open(ctx context.Context, req kube.Request) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := fmt.Errorf("no answer within %v", s.opts.RequestTimeout)
	timer := time.AfterFunc(s.opts.RequestTimeout, func() { cancel(late) })
	req.Accept = "text/plain, */*"
	body, err := s.api.Open(ctx, req)
	timer.Stop()
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, late) {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	return &stream{Reader: body, body: body, cancel: func() { cancel(nil) }}, nil
}

// stream is an open text; closing it ends its request.
type stream struct {
	io.Reader
	body   io.Closer
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (r *stream) Close() error {
	err := r.body.Close()
	r.cancel()
	if err != nil && !strings.Contains(err.Error(), "context canceled") {
		return fmt.Errorf("close the log: %w", err)
	}
	return nil
}
