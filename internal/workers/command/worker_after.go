package command

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/baseline"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/workers"
)

// keepAfterJoin keeps what later commands need of a run whose workers are in: the ends of their
// serving certificates, and a baseline of the hosted cluster.
func (a *app) keepAfterJoin(ctx context.Context, w *workerRun, follow *workerFollow) error {
	ends, err := servingEnds(ctx, w.api)
	if err != nil {
		return fmt.Errorf("read the ends of serving certificates: %w", err)
	}
	for _, s := range w.runner.Journal.Statuses() {
		if until, seen := ends[s.Worker.Name]; seen && s.Step == workers.In {
			err = errors.Join(err, w.runner.Journal.Certify(s.Worker.Name, until))
		}
	}
	if err != nil || follow.base == nil {
		return err
	}
	var raw bytes.Buffer
	if err := follow.base.Write(&raw); err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	file, err := w.runner.Journal.KeepBaseline(raw.Bytes())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.IO.Out, "Baseline: %s baseline compare %s --hosted %s\n", a.Name, shellcommand.Quote(file),
		shellcommand.Quote(w.runner.Journal.Plan.Hosted))
	return err
}

// servingEnds are the ends of the serving certificates that the hosted cluster has issued in the
// last hour: after that it forgets the requests (kubernetes/kubernetes:
// pkg/controller/certificates/cleaner).
func servingEnds(ctx context.Context, api *kube.Client) (map[string]time.Time, error) {
	list, err := api.List(ctx, kube.Ref{Group: openshift.CertificatesGroup, Version: "v1", Resource: "certificatesigningrequests"})
	if err != nil {
		return nil, err
	}
	ends := map[string]time.Time{}
	for _, o := range list {
		name, is := strings.CutPrefix(evidence.String(o, "spec", "username"), openshift.NodeUserPrefix)
		raw, err := base64.StdEncoding.DecodeString(evidence.String(o, "status", "certificate"))
		if !is || err != nil || evidence.String(o, "spec", "signerName") != certificatesv1.KubeletServingSignerName {
			continue
		}
		block, _ := pem.Decode(raw)
		if block == nil {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && c.NotAfter.After(ends[name]) {
			ends[name] = c.NotAfter
		}
	}
	return ends, nil
}

// takeBaseline reads what the hosted cluster is like, from what a diagnosis has read.
func (f *workerFollow) takeBaseline(ctx context.Context, r *session.Run) error {
	b, err := baseline.Take(ctx, facts.NewWorld(r.Reader, f.last.Now), f.last.Now, f.last.Source.Name, string(f.last.Verdict.Class))
	if err != nil {
		return fmt.Errorf("read what the hosted cluster is like: %w", err)
	}
	f.base = &b
	return nil
}

// clusterNow is what `worker list --hosted` adds from the two clusters.
type clusterNow struct {
	configs map[string]string       // NodePool to the config that new machines get
	nodes   map[string]workers.Node // of the hosted cluster; nil: not read
	ends    map[string]time.Time    // of serving certificates, as far as they are shown
	pools   map[string]poolNow
}

// poolNow is what of a NodePool could be misread.
type poolNow struct {
	version string // of its status
	minor   string // of the kubelet that belongs to it, such as 1.33; "" unknown
	never   []string
}

// alwaysFalse are the conditions that are False on platform None whatever its workers do:
// HyperShift makes no Machines there (openshift/hypershift:hypershift-operator/controllers/nodepool/
// conditions.go setMachineAndNodeConditions from 4.18, nodepool_controller.go before).
var alwaysFalse = []string{"AllMachinesReady", "AllNodesHealthy"}

func readPool(pool map[string]any) poolNow {
	p := poolNow{version: evidence.String(pool, "status", "version")}
	var minor int
	if _, err := fmt.Sscanf(p.version, "4.%d.", &minor); err == nil {
		p.minor = fmt.Sprintf("1.%d", minor+13) // OpenShift 4.N has Kubernetes 1.(N+13)
	}
	conditions, _ := evidence.Field(pool, "status", "conditions").([]any)
	for _, name := range alwaysFalse {
		for _, c := range conditions {
			if m, _ := c.(map[string]any); m["type"] == name && m["status"] == "False" {
				p.never = append(p.never, name)
			}
		}
	}
	return p
}

// readClusters reads both clusters for the runs of one hosted cluster. What could not be read is
// an error next to what could.
func (a *app) readClusters(ctx context.Context, h hub, runs []workers.Run) (clusterNow, error) {
	now := clusterNow{configs: map[string]string{}, pools: map[string]poolNow{}}
	var wrong []error
	for _, r := range runs {
		if _, known := now.pools[r.Plan.NodePool]; known {
			continue
		}
		namespace, _, _ := strings.Cut(r.Plan.Hosted, "/")
		pool, err := h.Object(ctx, openshift.HyperShiftGroup, "nodepools", namespace, r.Plan.NodePool)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("read NodePool %s/%s: %w", namespace, r.Plan.NodePool, err))
			continue
		}
		now.pools[r.Plan.NodePool] = readPool(pool)
		config, err := workers.CurrentConfig(ctx, h, r.Plan)
		wrong = append(wrong, err)
		now.configs[r.Plan.NodePool] = config
	}
	_, api, err := a.hostedClients(ctx)
	if err != nil {
		return now, errors.Join(append(wrong, err)...)
	}
	nodes, err := api.List(ctx, kube.Ref{Version: "v1", Resource: "nodes"})
	if err == nil {
		now.nodes = map[string]workers.Node{}
	}
	for _, o := range nodes {
		now.nodes[evidence.String(o, "metadata", "name")] = nodeOf(o)
	}
	wrong = append(wrong, err)
	now.ends, err = servingEnds(ctx, api)
	return now, errors.Join(append(wrong, err)...)
}

// node is what the hosted cluster shows of a worker that has joined.
func (c clusterNow) node(p workers.Plan, s workers.Status) string {
	n, there := c.nodes[s.Worker.Name]
	switch {
	case c.nodes == nil:
		return "not read"
	case s.Step != workers.In && s.Step != workers.MayBeOut:
		return "-"
	case !there:
		return "gone"
	case n.UID != s.NodeUID:
		return "of another machine"
	}
	text := "not Ready"
	if n.Ready {
		text = "Ready"
	}
	if n.Cordoned {
		text += ", cordoned"
	}
	text += ", kubelet " + n.Kubelet
	if minor := c.pools[p.NodePool].minor; minor != "" && !strings.HasPrefix(n.Kubelet, "v"+minor+".") {
		text += " (outdated, release has v" + minor + ")"
	}
	return text
}

// serving is when the serving certificate of a worker expires.
func (c clusterNow) serving(s workers.Status, at time.Time) string {
	until := s.ServingUntil
	if c.ends[s.Worker.Name].After(until) {
		until = c.ends[s.Worker.Name]
	}
	switch {
	case s.Step != workers.In:
		return "-"
	case until.IsZero():
		return "not seen"
	case until.Before(at):
		return "expired " + until.UTC().Format(time.DateOnly) + ", or renewed since"
	}
	return "until " + until.UTC().Format(time.DateOnly)
}
