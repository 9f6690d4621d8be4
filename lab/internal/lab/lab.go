package lab

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/rollcall-project/rollcall/lab/internal/build"
	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// MCONamespace is where the machine config parts live.
const MCONamespace = "openshift-machine-config-operator"

// Options is what a lab is started with.
type Options struct {
	Dir      Dir
	Scenario Scenario
	// MCS is the release of the in-cluster machine config server: "4.20" or
	// "4.14".
	MCS string
	// Resume says that Dir holds the healthy cluster of a snapshot, which continues
	// where it was; the base of the scenario is not played.
	Resume bool
	// InstallDir is the directory of an installation with extra manifests, which the bootstrap
	// host and the cluster get; empty: none. The scenario's own late input is then left out.
	InstallDir string
	// Stand overrides how long the trouble stands; negative: as long as it says.
	Stand     time.Duration
	Artifacts build.Artifacts
	Logger    *slog.Logger
}

// Lab is a running lab. It belongs to its supervisor.
type Lab struct {
	opts   Options
	log    *slog.Logger
	procs  *proc.Group
	net    plan.Net
	pki    *pki.Cluster
	values seed.Values
	plane  *cluster.Plane

	kube    kubernetes.Interface
	dyn     dynamic.Interface
	applier *seed.Applier
	vip     *plan.Forwarder   // the API VIP's 22623
	tied    map[string]string // programs that the hosts start, by name

	hosts sync.WaitGroup

	worldMu sync.Mutex // held while a master's part of the world changes
	timeMu  sync.Mutex // held while time passes: who is played here must not see half of it

	passes passes // of the world

	// Only the world loop uses these, and masters whoever holds worldMu.
	masters         map[string]*master
	deployed        map[deployment]int // pods of each so far
	controllerIn    string             // the pod that the controller runs as
	machineApprover *machineApprover   // nil while it does not run

	mu           sync.Mutex // guards what follows
	state        State
	approves     bool // an installation-time approver is alive
	controllerOn bool // the story has come to the in-cluster controller
	handedOver   bool // the bootstrap host's part is over
	machines     map[string]*machine
	lastOn       map[string]Machine // each host as it was last switched on
	off          map[string]bool    // parts of the world that stand still
	metal3Shown  bool               // its objects and pods are there
	metal3       *metal3            // nil while it does not run
	hosted       *Hosted            // nil where there is no hosted cluster
}

// Run plays the scenario and keeps the lab alive until ctx ends. It reports
// through Dir/lab.json; an error is also returned.
func Run(ctx context.Context, opts Options) error {
	l := &Lab{opts: opts, log: opts.Logger, procs: proc.NewGroup(opts.Logger), masters: map[string]*master{}, deployed: map[deployment]int{},
		machines: map[string]*machine{}, lastOn: map[string]Machine{}, off: map[string]bool{}}
	l.passes.hurry = make(chan struct{}, 1)
	l.state = State{
		Scenario: opts.Scenario.Name, MCS: opts.MCS, Stage: Starting, PID: os.Getpid(), Started: time.Now().UTC(),
	}
	ctx, cancel := context.WithCancel(ctx)
	defer l.procs.StopAll()
	defer l.hosts.Wait()
	defer cancel()
	if err := l.play(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // told to stop while starting
		}
		l.update(func(s *State) { s.Stage, s.Error = Failed, err.Error() })
		return err
	}
	<-ctx.Done()
	return nil
}

// act is one step of a story.
type act struct {
	step string
	do   func(context.Context) error
}

// play tells the story: an install or the way back from a snapshot, then what
// goes wrong.
func (l *Lab) play(ctx context.Context) error {
	story := l.install()
	if l.opts.Resume {
		story = l.goOn()
	}
	for _, act := range append(story, act{"", l.trouble}) {
		l.step(act.step)
		if err := act.do(ctx); err != nil {
			l.mu.Lock()
			step := l.state.Step
			l.mu.Unlock()
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	l.hosts.Go(func() { l.takeOrders(ctx) })
	l.update(func(s *State) { s.Stage, s.Step = Ready, l.opts.Scenario.About })
	return nil
}

// step says what is being done.
func (l *Lab) step(what string) {
	if what == "" {
		return
	}
	l.update(func(s *State) { s.Step, s.Steps = what, append(s.Steps, what) })
	l.log.Info(what)
}

// install is the story of an install up to the base's steady state.
func (l *Lab) install() []act {
	story := []act{
		{"making addresses and certificates", l.prepare},
		{"starting etcd, kube-apiserver and kube-controller-manager", l.startPlane},
		{"creating the definitions and the objects of the install", l.createSeed},
		{"rendering the first configs with machine-config-controller bootstrap", l.renderBootstrap},
		{"serving them with machine-config-server bootstrap", l.serveBootstrap},
		{"installing control1 and control2 from the bootstrap server", l.installFirstMasters},
		{"starting the in-cluster machine-config-controller", l.startController},
	}
	if l.opts.Scenario.Halfway {
		return append(story, act{"waiting until the first two masters have the cluster's config", l.awaitFirstConfigs})
	}
	if l.opts.Scenario.Workers {
		// As the cluster-baremetal-operator does, long before the install is complete.
		story = append(story, act{"showing metal3", l.showMetal3})
	}
	story = append(story,
		act{"handing over: bootstrap server off, API address to the masters", l.handOver},
		act{"rebooting the rendezvous host control0 as the third master", l.rebootRendezvous},
		act{"waiting for the steady state", l.awaitSteady},
	)
	if l.opts.Scenario.Workers {
		story = append(story, act{"adding worker0 and worker1 with a MachineSet", l.addWorkers})
	}
	return story
}

// goOn is the way back from a snapshot.
func (l *Lab) goOn() []act {
	return []act{
		{"reading the snapshot", l.restore},
		{"starting etcd, kube-apiserver and kube-controller-manager", l.startPlane},
		{"going on where the snapshot was made", l.resume},
	}
}

// update changes the published state.
func (l *Lab) update(change func(*State)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.state)
	l.state.Procs = l.procs.List()
	if err := l.opts.Dir.writeState(l.state); err != nil {
		l.log.Error("write state", "err", err)
	}
}

func (l *Lab) prepare(context.Context) error {
	var err error
	if l.net, err = plan.Pick(string(l.opts.Dir)); err != nil {
		return err
	}
	api := []string{l.net.API(), "localhost"}
	etcd := []string{l.net.Etcd(), "127.0.0.1"} // 127.0.0.1: whom a member sees when another connects
	for i := range 3 {
		api, etcd = append(api, l.net.Host(i)), append(etcd, l.net.Host(i))
	}
	l.pki, err = pki.NewCluster(pki.Hosts{
		API: append(api, "kubernetes.default.svc"), Etcd: etcd,
		// api-int and the VIP, not the masters' own addresses
		// (openshift/installer:pkg/asset/tls/mcscertkey.go Generate).
		MCS: []string{"api-int.lab.example.com", l.net.API()},
	})
	if err != nil {
		return err
	}
	if err := l.pki.Save(l.opts.Dir.file(pkiFile)); err != nil {
		return err
	}
	installed := time.Now().UTC()
	l.update(func(s *State) { s.Net, s.Installed = l.net, installed })
	return l.equip(installed)
}

const pkiFile = "pki.json"

// equip makes what every lab has, new or from a snapshot.
func (l *Lab) equip(installed time.Time) error {
	l.tied = map[string]string{}
	for _, name := range []string{"ignition", "kubelet-bootstrap"} {
		var err error
		if l.tied[name], err = proc.Tied(l.opts.Dir.file("bin"), l.opts.Artifacts.Bin[name]); err != nil {
			return err
		}
	}
	l.values = seed.NewValues(l.net, l.pki, installed)
	l.vip = &plan.Forwarder{Addr: fmt.Sprintf("%s:%d", l.net.API(), plan.MCSPort), Logger: l.log}
	l.update(func(s *State) {
		s.Hosts, s.Addresses = nil, map[string]string{}
		for _, h := range l.values.Hosts {
			s.Hosts, s.Addresses[h.Name] = append(s.Hosts, h.Name), l.net.Host(h.Index)
		}
	})
	return nil
}

func (l *Lab) startPlane(ctx context.Context) error {
	l.plane = &cluster.Plane{
		API: l.net.API(), Etcd: l.net.Etcd(),
		Dir: l.opts.Dir.file("control-plane"), Net: l.net, Bin: l.opts.Artifacts.Bin, PKI: l.pki,
		Procs: l.procs, Logs: l.opts.Dir.Logs(),
	}
	if err := l.plane.Start(ctx); err != nil {
		return err
	}
	cfg := l.plane.AdminConfig()
	var err error
	if l.kube, err = kubernetes.NewForConfig(cfg); err != nil {
		return err
	}
	if l.dyn, err = dynamic.NewForConfig(cfg); err != nil {
		return err
	}
	if l.applier, err = seed.NewApplier(cfg); err != nil {
		return err
	}
	admin, err := os.ReadFile(l.plane.AdminKubeconfig())
	if err != nil {
		return err
	}
	return os.WriteFile(l.opts.Dir.Kubeconfig(), admin, 0o600)
}

// renderInputs are the manifests that only rendering depends on. They are
// created in the cluster later than the rest, as cluster-bootstrap does with
// what the operators' bootstrap renders.
var renderInputs = map[string]bool{"60-machineconfig.yaml": true, "70-late-input.yaml": true}

// workersManifest is created when the masters stand.
const workersManifest = "90-workers.yaml"

func (l *Lab) createSeed(ctx context.Context) error {
	if err := l.applier.CRDs(ctx, l.opts.Artifacts.CRDs); err != nil {
		return err
	}
	names, err := seed.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if renderInputs[name] || name == workersManifest {
			continue
		}
		if err := l.apply(ctx, name); err != nil {
			return err
		}
	}
	gates, err := seed.FeatureGate(l.opts.Artifacts.FeatureGate)
	if err != nil {
		return err
	}
	return l.applier.Apply(ctx, []*unstructured.Unstructured{gates})
}

func (l *Lab) apply(ctx context.Context, name string) error {
	data, err := l.values.YAML(name)
	if err != nil {
		return err
	}
	objs, err := seed.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := l.applier.Apply(ctx, objs); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// containerLog is where the log of a container of a host's pod is kept.
func (l *Lab) containerLog(node, namespace, pod, container string) string {
	return filepath.Join(l.opts.Dir.Host(node), "containers", namespace, pod, container+".log")
}
