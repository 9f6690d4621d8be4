package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/rollcall-project/rollcall/lab/internal/plan"
)

// world keeps true, every few seconds, what on a cluster the scheduler, the
// DaemonSet and Deployment controllers and the operators that the lab does not
// run would keep true: pods on registered hosts with the real processes behind
// them, the API address, and the operators' conditions.
//
// Pools, renders, node annotations and certificates are none of its business:
// the real controllers and the hosts write those.
func (l *Lab) world(ctx context.Context) {
	for {
		begin, was := l.passes.begin(), l.here()
		for _, part := range []struct {
			name string
			do   func(context.Context) error
		}{
			{"secrets", l.syncSecrets},
			{PartMasters, l.syncMasters},
			{PartWorkers, l.syncWorkers},
			{PartMachines, l.syncMachines},
			{PartController, l.syncController},
			{PartMachineApprover, l.syncMachineApprover},
			{PartMetal3, l.syncMetal3},
			{PartHosted, l.syncHosted},
			{PartWorkloads, l.syncWorkloads},
			{"installer's approver", l.approve},
			{PartOperators, l.syncOperators},
			{PartOperators, l.syncControllerManagerOperator},
			{PartOperators, l.syncMachineConfigOperator},
		} {
			if !l.works(part.name) {
				continue
			}
			l.timeMu.Lock()
			err := part.do(ctx)
			l.timeMu.Unlock()
			if err != nil && ctx.Err() == nil {
				l.log.Warn("keep the cluster true", "part", part.name, "err", err)
			}
		}
		l.update(func(*State) {})
		l.passes.end()
		if !l.rest(ctx, begin, was) {
			return
		}
	}
}

// label is the part of admission that OpenShift's API server has and the
// upstream one has not; see host.Config.Labeler.
func (l *Lab) label(ctx context.Context, node string, labels map[string]string) error {
	return setLabels(ctx, l.kube, node, labels)
}

func setLabels(ctx context.Context, kube kubernetes.Interface, node string, labels map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	_, err = kube.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// nodes lists the masters that are Nodes, by name.
func (l *Lab) nodes(ctx context.Context) ([]corev1.Node, error) {
	list, err := l.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/master"})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// syncSecrets keeps the files that pods have mounted equal to their Secrets, as
// a kubelet does. A Secret that is gone leaves the files as they were.
func (l *Lab) syncSecrets(ctx context.Context) error {
	mounted, err := filepath.Glob(l.mcsCerts("*"))
	if err != nil {
		return err
	}
	for _, dir := range mounted {
		if err := l.mount(ctx, "machine-config-server-tls", dir); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	if err := l.mount(ctx, "node-bootstrapper-token", filepath.Join(l.mcsEtc(), "mcs", "bootstrap-token")); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// mount writes a Secret of the machine config operator into a directory.
func (l *Lab) mount(ctx context.Context, secret, dir string) error {
	s, err := l.kube.CoreV1().Secrets(MCONamespace).Get(ctx, secret, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read secret %s: %w", secret, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for key, value := range s.Data {
		if !filepath.IsLocal(key) {
			continue
		}
		if err := writeIfNew(filepath.Join(dir, key), value); err != nil {
			return err
		}
	}
	return nil
}

// mcsCerts is the volume of a master's machine config server.
func (l *Lab) mcsCerts(node string) string {
	return l.opts.Dir.file("pods", node, "machine-config-server-tls")
}

// mcsEtc is what the machine config servers see as /etc.
func (l *Lab) mcsEtc() string { return l.opts.Dir.file("pods", "etc") }

func writeIfNew(path string, data []byte) error {
	old, err := os.ReadFile(path)
	if err == nil && string(old) == string(data) {
		return nil
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// master is what the lab runs for one registered master.
type master struct {
	index      int
	pod        string // the machine config server's pod
	port       int    // its real secure port
	mcs, api   *plan.Forwarder
	mcsRunning bool
	restarts   int
}

// syncMasters gives each registered master its pods, its machine config server
// and its addresses, and points the API address at one of them.
func (l *Lab) syncMasters(ctx context.Context) error {
	nodes, err := l.nodes(ctx)
	if err != nil {
		return err
	}
	var errs []error
	var serving []string
	for _, node := range nodes {
		address, err := l.syncMaster(ctx, &node)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", node.Name, err))
			continue
		}
		if address != "" {
			serving = append(serving, address)
		}
	}
	if !l.controllerWanted() || l.procs.Running("machine-config-server-bootstrap") {
		return errors.Join(errs...)
	}
	if !l.works(PartVIP) {
		return errors.Join(errs...)
	}
	// The virtual address lies on one master at a time; keepalived prefers
	// those with a running machine config server (>= 4.16, chk_mcs).
	if len(serving) > 1 {
		serving = serving[:1]
	}
	if !slices.Equal(l.vip.Targets(), serving) {
		errs = append(errs, l.vip.SetTargets(serving...))
	}
	return errors.Join(errs...)
}

// syncMaster returns where the master's machine config server listens; empty where
// none runs.
func (l *Lab) syncMaster(ctx context.Context, node *corev1.Node) (string, error) {
	l.worldMu.Lock()
	defer l.worldMu.Unlock()
	i := slices.IndexFunc(l.values.Hosts, func(h seedHost) bool { return h.Name == node.Name })
	if i < 0 {
		return "", nil // somebody made a Node that is no host of ours
	}
	m := l.masters[node.Name]
	if m == nil {
		m = &master{index: i, pod: "machine-config-server-" + suffix(node.Name, "mcs")}
		m.mcs = &plan.Forwarder{Addr: fmt.Sprintf("%s:%d", l.net.Host(i), plan.MCSPort), Logger: l.log}
		m.api = &plan.Forwarder{Addr: fmt.Sprintf("%s:%d", l.net.Host(i), plan.APIPort), Logger: l.log}
		l.masters[node.Name] = m
	}
	api := []string{fmt.Sprintf("%s:%d", l.net.API(), plan.APIPort)}
	if !l.hostBooted(node.Name) {
		api = nil
	}
	if err := m.api.SetTargets(api...); err != nil {
		return "", err
	}
	if !l.hostRuns(node.Name) {
		// The machine is down, or its kubelet cannot run what is bound to it.
		m.mcsRunning = false
		l.procs.Stop(mcsProc(node.Name))
		return "", m.mcs.SetTargets()
	}
	daemonPod := "machine-config-daemon-" + suffix(node.Name, "mcd")
	if err := l.ensureDaemonPod(ctx, node, "machine-config-daemon", daemonPod); err != nil {
		return "", err
	}
	if !l.controllerWanted() {
		return "", nil // the operator has not rolled out the in-cluster server yet
	}
	if err := l.ensureServer(ctx, node.Name, m); err != nil {
		return "", err
	}
	if err := l.ensureDaemonPod(ctx, node, "machine-config-server", m.pod); err != nil {
		return "", err
	}
	return fmt.Sprintf("127.0.0.1:%d", m.port), nil
}
