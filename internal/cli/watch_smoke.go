package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/watch"
	"github.com/rollcall-project/rollcall/internal/watch/after"
	"github.com/rollcall-project/rollcall/internal/watch/smoke"
)

// smokeEnd tries a pod on the hosts that were asked for where everything else holds. The end
// has one indicator more, and is only good where it holds.
func (w *watching) smokeEnd(ctx context.Context, e watch.End) watch.End {
	if !w.flags.smokePod || e.ExitCode != int(ExitOK) {
		return e
	}
	var names []string
	for _, h := range w.follower.Last().Hosts {
		if w.counts(h) {
			names = append(names, h.Name)
		}
	}
	i := after.Indicator{ID: after.SmokePod, Title: "a new pod on each of these hosts runs and answers"}
	w.trying = "trying a new pod on " + strings.Join(names, ", ")
	w.paint()
	defer func() { w.trying = "" }()
	c, err := w.app.smokeCluster()
	if err != nil {
		i.Outcome, i.Reason = fault.Unknown, err.Error()
	} else {
		judgeSmoke(&i, smoke.Try(ctx, c, names, smoke.Options{Run: strings.ToLower(rand.Text()[:6]), Patience: w.flags.smokeFor}))
	}
	e.Indicators = append(slices.Clone(e.Indicators), i)
	switch {
	case ctx.Err() != nil:
		e.ExitCode, e.Reason = int(ExitInterrupted), "interrupted while a pod was tried; all else holds"
	case !i.Holds():
		e.ExitCode, e.Reason = int(ExitUndecided), "all else holds, and a new pod does not show that workloads run: "+i.Reason
	}
	return e
}

// judgeSmoke makes one indicator of the tries: absent where one pod did not answer.
func judgeSmoke(i *after.Indicator, list []smoke.Result) {
	i.Outcome = fault.Present
	if len(list) == 0 {
		i.Outcome, i.Reason = fault.Unknown, "no host was tried"
	}
	var reasons, left []string
	for _, r := range list {
		switch {
		case r.Outcome == fault.Absent:
			i.Outcome = fault.Absent
		case r.Outcome == fault.Unknown && i.Outcome == fault.Present:
			i.Outcome = fault.Unknown
		}
		if r.Outcome != fault.Present {
			reasons = append(reasons, r.Node+": "+r.Reason)
		}
		if r.Left != "" {
			left = append(left, r.Left)
		}
	}
	const named = 3
	if n := len(reasons) - named; n > 0 {
		reasons = append(reasons[:named], fmt.Sprintf("and %d more", n))
	}
	if len(left) > 0 {
		reasons = append(reasons, "not deleted, delete by hand: "+strings.Join(left, ", "))
	}
	if len(reasons) > 0 {
		i.Reason = strings.Join(reasons, "; ")
	}
}

// podCluster is the cluster as package smoke needs it.
type podCluster struct {
	api  *repair.Kube
	http *http.Client
	base *url.URL
}

var _ smoke.Cluster = podCluster{}

func (a *app) smokeCluster() (podCluster, error) {
	config, err := a.restConfig()
	if err != nil {
		return podCluster{}, err
	}
	api, err := repair.NewKube(config)
	if err != nil {
		return podCluster{}, err
	}
	client, err := rest.HTTPClientFor(repair.Protected(config))
	if err != nil {
		return podCluster{}, fmt.Errorf("make a client: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return podCluster{}, fmt.Errorf("read the address of the API server: %w", err)
	}
	return podCluster{api: api, http: client, base: base}, nil
}

func podRef(name string) repair.Ref {
	return repair.Ref{Version: "v1", Resource: "pods", Namespace: smoke.Namespace, Name: name}
}

// DaemonSet implements smoke.Cluster.
func (c podCluster) DaemonSet(ctx context.Context, name string) (map[string]any, error) {
	return c.api.Get(ctx, repair.Ref{Group: "apps", Version: "v1", Resource: "daemonsets", Namespace: smoke.Namespace, Name: name})
}

// Node implements smoke.Cluster.
func (c podCluster) Node(ctx context.Context, name string) (map[string]any, error) {
	return c.api.Get(ctx, nodeRef(name))
}

// Pod implements smoke.Cluster.
func (c podCluster) Pod(ctx context.Context, name string) (map[string]any, error) {
	return c.api.Get(ctx, podRef(name))
}

// CreatePod implements smoke.Cluster.
func (c podCluster) CreatePod(ctx context.Context, pod map[string]any) (map[string]any, error) {
	return c.api.Create(ctx, podRef(evidence.String(pod, "metadata", "name")), pod, false)
}

// DeletePod implements smoke.Cluster.
func (c podCluster) DeletePod(ctx context.Context, name, uid string) error {
	return deleteObject(ctx, c.api, podRef(name), uid)
}

// Ask implements smoke.Cluster. The answer is of the pod, and of the API server where it
// does not reach the pod.
func (c podCluster) Ask(ctx context.Context, pod, port string) (string, error) {
	u := c.base.JoinPath("api", "v1", "namespaces", smoke.Namespace, "pods", pod+":"+port, "proxy", "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	const enough = 4096 // one line is expected
	raw, err := io.ReadAll(io.LimitReader(resp.Body, enough))
	switch {
	case err != nil:
		return "", err
	case resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusUnauthorized:
		return "", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, fmt.Errorf("HTTP %d", resp.StatusCode))
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("HTTP %d: %.200q", resp.StatusCode, raw)
	}
	return string(raw), nil
}
