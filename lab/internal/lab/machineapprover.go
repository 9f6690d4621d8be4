package lab

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/lab/host"
)

const (
	approverContainer = "machine-approver-controller"

	// openshift/cluster-machine-approver:manifests/04-deployment.yaml, main.go
	approverLease         = "cluster-machine-approver-leader"
	approverLeaseDuration = 137 * time.Second
	approverRetryPeriod   = 26 * time.Second

	// The default queue's delays after an error (k8s.io/client-go:
	// util/workqueue/default_rate_limiters.go DefaultTypedControllerRateLimiter).
	approverFirstDelay = 5 * time.Millisecond
	approverMaxDelay   = 1000 * time.Second
)

var machineResource = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}

// machineApprover stands in for one process of the cluster-machine-approver: it
// leads, reads the cluster's requests, Machines and Nodes, decides by
// approverRules and writes what the product's log says. In this cluster no
// Machine has addresses, so that it finds nothing to approve; where somebody
// gives one its addresses, it approves.
type machineApprover struct {
	run      string // the pod and the boot of its host: another one is another process
	path     string // of its log
	log      bytes.Buffer
	id       string // holder of the lease
	leads    bool
	renewed  time.Time // last attempt at the lease
	disabled bool      // nodeClientCert.disabled, read at the start
	queue    map[string]*attempt
}

// attempt is what the approver's queue knows of a request.
type attempt struct {
	version  string // resourceVersion that was seen last
	failures int
	again    time.Time // when to try again; zero: not before the request changes
}

// syncMachineApprover keeps the machine approver running as a pod of the first
// schedulable master once the cluster stands for itself, and moves it when the
// pod was evicted.
func (l *Lab) syncMachineApprover(ctx context.Context) error {
	l.mu.Lock()
	wanted := l.handedOver
	l.mu.Unlock()
	if !wanted {
		return nil
	}
	nodes, err := l.nodes(ctx)
	if err != nil {
		return err
	}
	pod, err := l.deployedPod(ctx, approverDeployment, nodes)
	if err != nil {
		return err
	}
	if pod == nil {
		return errors.Join(l.stopMachineApprover(ctx), errors.New("no master can run the machine-approver"))
	}
	state, err := host.ReadState(l.opts.Dir.Host(pod.Spec.NodeName))
	if err != nil {
		return err
	}
	if !l.hostRuns(pod.Spec.NodeName) {
		l.machineApprover = nil // the machine is down: no one gives the lease back
		return nil
	}
	run := pod.Name + "/" + state.BootID
	if a := l.machineApprover; a == nil || a.run != run {
		if a != nil && !strings.HasPrefix(a.run, pod.Name+"/") {
			if err := l.stopMachineApprover(ctx); err != nil {
				return err
			}
		}
		if l.machineApprover, err = l.startMachineApprover(ctx, pod, run); err != nil {
			return err
		}
	}
	a := l.machineApprover
	err = l.lead(ctx, a)
	if err == nil && a.leads {
		err = l.reconcileRequests(ctx, a)
	}
	return errors.Join(err, a.flush())
}

// startMachineApprover begins a process: its first words and its configuration
// (openshift/cluster-machine-approver:main.go, pkg/controller/config.go).
func (l *Lab) startMachineApprover(ctx context.Context, pod *corev1.Pod, run string) (*machineApprover, error) {
	a := &machineApprover{
		run: run, id: pod.Spec.NodeName + "_" + string(uuid.NewUUID()), queue: map[string]*attempt{},
		path: l.containerLog(pod.Spec.NodeName, pod.Namespace, pod.Name, approverContainer),
	}
	a.say('I', "main.go:157", "setting up manager")
	a.say('I', "main.go:182", "registering components")
	a.say('I', "main.go:184", "setting up scheme")
	a.say('I', "main.go:222", "setting up controllers")
	config, err := l.kube.CoreV1().ConfigMaps(approverDeployment.namespace).Get(ctx, "machine-approver-config", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read configmap machine-approver-config: %w", err)
	}
	var mounted map[string]string
	if err == nil {
		mounted = config.Data
	}
	a.configure(mounted)
	a.say('I', "main.go:248", "starting the cmd")
	a.say('I', "leaderelection.go:257", "attempting to acquire leader lease %s/%s...", approverDeployment.namespace, approverLease)
	if err := os.MkdirAll(filepath.Dir(a.path), 0o755); err != nil {
		return nil, err
	}
	return a, a.flush()
}

// configure is pkg/controller/config.go LoadConfig: the mounted ConfigMap, if it
// is there.
func (a *machineApprover) configure(mounted map[string]string) {
	const path = "/var/run/configmaps/config/config.yaml"
	var config struct{ NodeClientCert struct{ Disabled bool } }
	text, ok := mounted["config.yaml"]
	switch {
	case !ok:
		a.say('I', "config.go:33", "using default as failed to load config %s: open %s: no such file or directory", path, path)
	case text == "":
		a.say('I', "config.go:37", "using default as config %s is empty", path)
	default:
		if err := yaml.Unmarshal([]byte(text), &config); err != nil {
			a.say('I', "config.go:48", "using default as failed to unmarshal config %s as JSON: %v", path, err)
		}
	}
	a.disabled = config.NodeClientCert.Disabled
	a.say('I', "config.go:23", "machine approver config: %+v", config)
}

// say adds a line to the log, in klog's form.
func (a *machineApprover) say(level byte, at, format string, args ...any) {
	fmt.Fprintf(&a.log, "%c%s %7d %s] %s\n", level, time.Now().UTC().Format("0102 15:04:05.000000"), 1, at, fmt.Sprintf(format, args...))
}

// flush appends what was said to the container's log.
func (a *machineApprover) flush() error {
	if a.log.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(a.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the machine approver's log: %w", err)
	}
	_, err = a.log.WriteTo(f)
	return errors.Join(err, f.Close())
}

// lead takes or renews the leader lease, every 26 seconds
// (k8s.io/client-go:tools/leaderelection/leaderelection.go tryAcquireOrRenew).
func (l *Lab) lead(ctx context.Context, a *machineApprover) error {
	now := time.Now()
	if now.Sub(a.renewed) < approverRetryPeriod {
		return nil
	}
	leases := l.kube.CoordinationV1().Leases(approverDeployment.namespace)
	lease, err := leases.Get(ctx, approverLease, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: approverLease}}
		a.takes(&lease.Spec, now)
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	case err == nil && a.takes(&lease.Spec, now):
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	case err == nil:
		a.leads, a.renewed = false, now
		return nil
	}
	if err != nil {
		return fmt.Errorf("lead as machine approver: %w", err)
	}
	if !a.leads {
		a.say('I', "leaderelection.go:271", "successfully acquired lease %s/%s", approverDeployment.namespace, approverLease)
	}
	a.leads, a.renewed = true, now
	return nil
}

// takes writes a into a lease that is its own, was given back or has run out,
// and says whether it could.
func (a *machineApprover) takes(s *coordinationv1.LeaseSpec, now time.Time) bool {
	at, seconds, transitions := metav1.NewMicroTime(now), int32(approverLeaseDuration/time.Second), int32(0)
	if s.HolderIdentity == nil || *s.HolderIdentity != a.id {
		if s.HolderIdentity != nil && *s.HolderIdentity != "" && s.RenewTime != nil && s.LeaseDurationSeconds != nil &&
			now.Before(s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds)*time.Second)) {
			return false
		}
		if s.RenewTime != nil { // somebody led before
			if s.LeaseTransitions != nil {
				transitions = *s.LeaseTransitions
			}
			transitions++
		}
		s.AcquireTime, s.LeaseTransitions = &at, &transitions
	}
	s.HolderIdentity, s.RenewTime, s.LeaseDurationSeconds = &a.id, &at, &seconds
	return true
}

// stopMachineApprover ends the process as an eviction does: it gives the lease
// back (leaderelection.go release).
func (l *Lab) stopMachineApprover(ctx context.Context) error {
	a := l.machineApprover
	if a == nil {
		return nil
	}
	leases := l.kube.CoordinationV1().Leases(approverDeployment.namespace)
	lease, err := leases.Get(ctx, approverLease, metav1.GetOptions{})
	if err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity == a.id {
		nobody, second, now := "", int32(1), metav1.NowMicro()
		lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = &nobody, &second
		lease.Spec.RenewTime, lease.Spec.AcquireTime = &now, &now
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("give back lease %s: %w", approverLease, err)
	}
	l.machineApprover = nil
	return nil
}

// reconcileRequests decides on the requests that are new, have changed or are
// to be tried again (openshift/cluster-machine-approver:pkg/controller/controller.go
// Reconcile).
func (l *Lab) reconcileRequests(ctx context.Context, a *machineApprover) error {
	list, err := l.kube.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list requests: %w", err)
	}
	due := a.due(list.Items, time.Now())
	if len(due) == 0 {
		return nil
	}
	rules, err := l.approverRules(ctx, a)
	if err != nil {
		for _, req := range due {
			a.done(req.Name, err)
		}
		return err
	}
	for _, req := range due {
		a.say('I', "controller.go:165", "Reconciling CSR: %v", req.Name)
		if rules.flooded(req.Name, list.Items, time.Now()) {
			a.done(req.Name, nil)
			continue
		}
		err := l.reconcileRequest(ctx, a, rules, req)
		a.done(req.Name, err)
	}
	return nil
}

func (l *Lab) approverRules(ctx context.Context, a *machineApprover) (approverRules, error) {
	rules := approverRules{nodes: map[string]bool{}, disabled: a.disabled, say: a.say}
	machines, err := l.dyn.Resource(machineResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return rules, fmt.Errorf("list machines: %w", err)
	}
	for _, obj := range machines.Items {
		var m approverMachine
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &m); err != nil {
			return rules, fmt.Errorf("read machine %s: %w", obj.GetName(), err)
		}
		rules.machines = append(rules.machines, m)
	}
	nodes, err := l.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return rules, fmt.Errorf("list nodes: %w", err)
	}
	for _, node := range nodes.Items {
		rules.nodes[node.Name] = true
	}
	return rules, nil
}

// reconcileRequest is controller.go reconcileCSR.
func (l *Lab) reconcileRequest(ctx context.Context, a *machineApprover, rules approverRules, req *certificatesv1.CertificateSigningRequest) error {
	if approval(req) != nil {
		a.say('I', "controller.go:267", "%v: CSR is already approved", req.Name)
		return nil
	}
	ok, err := rules.authorize(req)
	if err != nil || !ok {
		return err
	}
	now := metav1.Now()
	req.Status.Conditions = append(req.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
		Reason: "NodeCSRApprove", Message: approverMessage, LastUpdateTime: now, LastTransitionTime: now,
	})
	if _, err := l.kube.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, req.Name, req, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("Unable to approve CSR %s: %w", req.Name, err) //nolint:staticcheck // the product's words
	}
	a.say('I', "controller.go:293", "CSR %s approved", req.Name)
	return nil
}

// due returns the requests that an event or a delay has put into the queue,
// oldest first, and forgets those that are gone.
func (a *machineApprover) due(all []certificatesv1.CertificateSigningRequest, now time.Time) []*certificatesv1.CertificateSigningRequest {
	var due []*certificatesv1.CertificateSigningRequest
	seen := map[string]bool{}
	for i := range all {
		req := &all[i]
		seen[req.Name] = true
		t := a.queue[req.Name]
		if t == nil {
			t = &attempt{}
			a.queue[req.Name] = t
		}
		changed := t.version != req.ResourceVersion && looksAt(req, now)
		t.version = req.ResourceVersion
		if changed || (!t.again.IsZero() && !now.Before(t.again)) {
			due = append(due, req)
		}
	}
	for name := range a.queue {
		if !seen[name] {
			delete(a.queue, name)
		}
	}
	slices.SortFunc(due, func(x, y *certificatesv1.CertificateSigningRequest) int {
		return cmp.Or(x.CreationTimestamp.Compare(y.CreationTimestamp.Time), strings.Compare(x.Name, y.Name))
	})
	return due
}

// done ends one attempt: after an error the request comes again, later each
// time, without one it is forgotten until it changes
// (sigs.k8s.io/controller-runtime:pkg/internal/controller/controller.go reconcileHandler).
func (a *machineApprover) done(name string, err error) {
	t := a.queue[name]
	if err == nil {
		t.failures, t.again = 0, time.Time{}
		return
	}
	delay := min(approverFirstDelay<<min(t.failures, 30), approverMaxDelay)
	t.failures++
	t.again = time.Now().Add(delay)
	a.say('E', "controller.go:353", `"Reconciler error" err=%q controller="certificatesigningrequest" controllerGroup="certificates.k8s.io" `+
		`controllerKind="CertificateSigningRequest" CertificateSigningRequest=%q namespace="" name=%q reconcileID=%q`,
		"could not reconcile CSR: "+err.Error(), name, name, uuid.NewUUID())
}
