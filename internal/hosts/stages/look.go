package stages

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/facts/etcd"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/facts/product"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
	"github.com/rollcall-project/rollcall/internal/source/install"
)

// leaseTimeout is how long a node may not renew its lease before it counts as not reporting. The
// controller manager itself waits 40 to 50 seconds
// (kubernetes/kubernetes:pkg/controller/nodelifecycle, node-monitor-grace-period).
const leaseTimeout = 3 * time.Minute

// shared is what all hosts' stages look at, read once.
type shared struct {
	now      time.Time
	version  string           // of the cluster, "" where nothing says it
	product  string           // another distribution that the cluster is of, "" where nothing shows that
	hosted   *evidence.Hosted // the hosted cluster that the roll is of, nil where it is of another
	roll     *inventory.Inventory
	requests []csrs.Request
	noCSRs   error // why requests could not be read
	renewed  map[string]evidence.Object
	newest   time.Time // newest renewal of any node's lease: the cluster's own "now"
	pods     map[string]map[string]corev1.Pod
	noPods   map[string]error
	podLocs  map[string]evidence.Locator
	members  int                  // of etcd, where its operator says that all of them are available; else 0
	said     evidence.Item        // that it says so
	servers  int                  // nodes that run an API server, as its operator counts them; 0: it does not say so
	counts   evidence.Item        // that it does
	updating map[string]time.Time // pool -> since when it updates its nodes
	degraded map[string]time.Time // pool -> since when a node of it is degraded
	targets  map[string]string    // pool -> name of its rendered config
	made     map[string]time.Time // rendered config -> when it was created; those that some node does not have yet
	service  *assisted.Service    // how the rendezvous host of an agent-based install answered; nil: it was not asked
	plan     *install.Install     // of an install directory; nil: none was read
}

func readShared(ctx context.Context, w *facts.World, r *inventory.Inventory) (*shared, error) {
	s := &shared{now: w.Now, version: w.Version, roll: r, renewed: map[string]evidence.Object{}, pods: map[string]map[string]corev1.Pod{},
		noPods: map[string]error{}, podLocs: map[string]evidence.Locator{}, targets: map[string]string{}, updating: map[string]time.Time{},
		degraded: map[string]time.Time{}, made: map[string]time.Time{}}
	var err error
	if s.hosted, err = w.Hosted(ctx); err != nil {
		return nil, err
	}
	other, err := product.Of(ctx, w)
	if err != nil {
		return nil, err
	}
	s.product = other.Name
	if s.requests, err = csrs.All(ctx, w); err != nil {
		if _, ok := evidence.AsUnavailable(err); !ok {
			return nil, err
		}
		s.noCSRs = err
	}
	for _, step := range []func(context.Context, *facts.World) error{
		s.readLeases, s.readPods, s.readEtcd, s.readServers, s.readPools, s.readTargets, s.readInstall,
	} {
		if err := step(ctx, w); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *shared) readLeases(ctx context.Context, w *facts.World) error {
	list, err := w.List(ctx, evidence.Leases, corev1.NamespaceNodeLease)
	if _, ok := evidence.AsUnavailable(err); ok {
		return nil // older archives lack leases; the Ready condition has to do
	}
	for _, o := range list {
		s.renewed[o.Name] = o
		if t := evidence.Time(o.Content, "spec", "renewTime"); t.After(s.newest) {
			s.newest = t
		}
	}
	return err
}

func (s *shared) readPods(ctx context.Context, w *facts.World) error {
	for _, ns := range []string{openshift.EtcdNamespace, openshift.APIServerNamespace} {
		list, err := w.List(ctx, evidence.Pods, ns)
		if _, ok := evidence.AsUnavailable(err); ok {
			s.noPods[ns] = err
			continue
		}
		if err != nil {
			return err
		}
		s.pods[ns] = map[string]corev1.Pod{}
		for _, o := range list {
			pod, err := evidence.Decode[corev1.Pod](o)
			if err != nil {
				continue // one pod that does not fit its schema must not hide the others
			}
			s.pods[ns][o.Name] = pod
			s.podLocs[ns+"/"+o.Name] = o.Loc
		}
	}
	return nil
}

func (s *shared) readEtcd(ctx context.Context, w *facts.World) (err error) {
	s.members, s.said, err = etcd.AllAvailable(ctx, w)
	return err
}

// activeNodes is how the operators of static pods count the nodes on which theirs runs
// (openshift/library-go:pkg/operator/staticpod/controller/staticpodstate/staticpodstate_controller.go).
var activeNodes = regexp.MustCompile(`(\d+) nodes? (?:is|are) active`)

func (s *shared) readServers(ctx context.Context, w *facts.World) error {
	o, ok, err := w.Get(ctx, evidence.ClusterOperators, "", openshift.APIServer)
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return err
	}
	if err != nil || !ok {
		return nil
	}
	for _, c := range conditions.Named(conditions.Split(conditions.Of(o)), "StaticPodsAvailable") {
		if m := activeNodes.FindStringSubmatch(c.Message); m != nil && c.Status == "True" {
			s.servers, _ = strconv.Atoi(m[1])
			s.counts = c.Item()
		}
	}
	return nil
}

// masters counts the hosts that are to have a member of etcd.
func (s *shared) masters() int {
	n := 0
	for _, h := range s.roll.Hosts {
		if !h.Spare && h.Expected && slices.Contains(controlPlaneRoles, h.Role) {
			n++
		}
	}
	return n
}

func (s *shared) readPools(ctx context.Context, w *facts.World) error {
	list, err := w.List(ctx, evidence.MachineConfigPools, "")
	if _, ok := evidence.AsUnavailable(err); ok {
		return nil
	}
	for _, o := range list {
		s.targets[o.Name] = evidence.String(o.Content, "spec", "configuration", "name")
		if c := conditions.Find(conditions.Of(o), "Updating"); c.Status == "True" {
			s.updating[o.Name] = c.Since
		}
		if c := conditions.Find(conditions.Of(o), "NodeDegraded"); c.Status == "True" {
			s.degraded[o.Name] = c.Since
		}
	}
	return err
}

// readTargets reads when the configs were created that a node is to have and has not.
func (s *shared) readTargets(ctx context.Context, w *facts.World) error {
	wanted := map[string]bool{}
	for _, h := range s.roll.Hosts {
		if h.Node == nil {
			continue
		}
		current := h.Node.API.Annotations[openshift.CurrentConfigAnnotation]
		for _, config := range []string{h.Node.API.Annotations[openshift.DesiredConfigAnnotation], s.targets[h.Pool.Name]} {
			if config != "" && config != current {
				wanted[config] = true
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	list, err := w.Some(ctx, evidence.MachineConfigs, "")
	for _, o := range list {
		if wanted[o.Name] {
			s.made[o.Name] = o.Created()
		}
	}
	if _, ok := evidence.AsUnavailable(err); ok {
		return nil
	}
	return err
}

// waitsFor is since when a node waits for a config, given since when it is as it is: nothing waits for a config that is not
// there yet. Zero stays zero.
func (s *shared) waitsFor(config string, since time.Time) time.Time {
	if at := s.made[config]; !since.IsZero() && at.After(since) {
		return at
	}
	return since
}

// readInstall reads who plans the cluster and how the rendezvous host answered.
func (s *shared) readInstall(ctx context.Context, w *facts.World) error {
	services, err := w.List(ctx, evidence.AssistedServices, "")
	if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
		return err
	}
	for _, o := range services {
		if svc, err := evidence.Decode[assisted.Service](o); err == nil && (s.service == nil || svc.Usable) {
			s.service = &svc
		}
	}
	plans, err := w.List(ctx, evidence.Installs, "")
	if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
		return err
	}
	for _, o := range plans {
		if plan, err := evidence.Decode[install.Install](o); err == nil {
			s.plan = &plan
		}
	}
	return nil
}

// of gathers what the stages of one host look at.
func (s *shared) of(ctx context.Context, w *facts.World, h inventory.Host) (*view, error) {
	v := &view{shared: s, host: h}
	for _, r := range s.requests {
		if r.NodeName == h.Name || slices.Contains(h.Aliases, r.NodeName) {
			v.requests = append(v.requests, r)
		}
	}
	v.setReporting()
	var err error
	if v.machine, err = readOnHost(ctx, w, h); err != nil {
		return nil, err
	}
	if h.Node == nil && h.Named != nil {
		line, ok, err := kubelet.Runs(ctx, w, h)
		if err != nil {
			return nil, err
		}
		if ok {
			v.kubelet = &line
		} else {
			v.kubelet = timed(h.Named.Kubelet, w.Now)
		}
		if v.logged, err = kubelet.Reached(ctx, w, h); err != nil {
			return nil, err
		}
		if err := v.readLogin(ctx, w); err != nil {
			return nil, err
		}
		if line := timed(h.Named.Seen, w.Now); line != nil {
			v.logged[fault.Powered] = *line
		}
	}
	v.ignition, err = s.readIgnition(ctx, w, h)
	return v, err
}

// timed is a line of a journal with its time: a host that logs runs, and a kubelet that logs was started
// after Ignition (openshift/machine-config-operator:templates/{master,worker}/01-*-kubelet/_base/units is a
// unit of the rendered config). Nil without such a line.
func timed(line *evidence.Item, now time.Time) *evidence.Item {
	if line == nil {
		return nil
	}
	at := *line
	at.Time, _ = evidence.LineTime(at.Excerpt, now)
	return &at
}

// loginPrompt is the signature of a screen on which somebody can log in: the host runs, be it its own
// system or that of an installation.
const loginPrompt = "console-login"

// readLogin proves by a login prompt on the host's console that it is powered.
func (v *view) readLogin(ctx context.Context, w *facts.World) error {
	lines, err := w.Matches(ctx, inventory.Consoles, loginPrompt)
	if _, ok := evidence.AsUnavailable(err); ok {
		return nil
	}
	if err != nil {
		return err
	}
	for _, m := range lines {
		if m.Text.Host == v.host.Name {
			v.logged[fault.Powered] = m.Item()
		}
	}
	return nil
}

// setReporting decides whether the Node still reports, by the newest lease of the cluster and
// never by the clock of this machine.
func (v *view) setReporting() {
	if v.host.Node == nil {
		return
	}
	if lease, ok := v.renewed[v.host.Node.API.Name]; ok {
		v.lastSeen = evidence.Time(lease.Content, "spec", "renewTime")
		v.stale = !v.lastSeen.IsZero() && v.newest.Sub(v.lastSeen) > leaseTimeout
		return
	}
	if c := condition(v.host.Node.API.Status.Conditions, corev1.NodeReady); c != nil {
		v.lastSeen = c.LastHeartbeatTime.Time
		v.stale = c.Status == corev1.ConditionUnknown
	}
}

// last returns the newest request of a kind, nil if there is none.
func (v *view) last(k csrs.Kind) *csrs.Request {
	for _, r := range slices.Backward(v.requests) {
		if r.Kind == k {
			return &r
		}
	}
	return nil
}

func condition(list []corev1.NodeCondition, t corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range list {
		if list[i].Type == t {
			return &list[i]
		}
	}
	return nil
}
