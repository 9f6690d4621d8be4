package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/bmc"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
	"github.com/rollcall-project/rollcall/lab/ironic"
)

// metal3 is bare metal provisioning: the real baremetal-operator, an emulated
// Ironic that talks to emulated BMCs, and the machines behind those.
type metal3 struct {
	ctx    context.Context
	ironic *ironic.Ironic
	log    logFile // of the container metal3-ironic
	seen   logFile // every request that reached a BMC, see Dir.BMCLog
	pods   map[deployment]string

	mu   sync.Mutex
	bmcs map[string]*bmc.BMC // by host
	dead map[string]bool     // machines that do not boot what is in their virtual drive
}

var (
	metal3Deployment = deployment{machineNamespace, "metal3", "5b8c5d7f9c"}
	bmoDeployment    = deployment{machineNamespace, "metal3-baremetal-operator", "6d9f7c5b84"}
)

const bmoProc = "baremetal-operator"

// ironicPort is where the operator finds Ironic
// (openshift/cluster-baremetal-operator:provisioning/baremetal_config.go baremetalIronicPort).
const ironicPort = 6385

// The account on every BMC of the lab.
const (
	bmcUser = "lab"
	bmcPass = "not-a-password"
)

// StartMetal3 makes the workers' BMCs, Ironic and the operator, which registers
// and adopts the workers as it does after every restart of Ironic. It returns
// when all hosts that are there are looked after, and it is seen to run. A second call
// does nothing.
func (l *Lab) StartMetal3(ctx context.Context) error {
	if l.metal3Runs() {
		return nil
	}
	// Bound to the supervisor, not to the trouble that asked for it.
	m := &metal3{ctx: ctx, pods: map[deployment]string{}, bmcs: map[string]*bmc.BMC{}, dead: map[string]bool{}}
	if err := m.seen.open(l.opts.Dir.BMCLog()); err != nil {
		return err
	}
	var err error
	m.ironic, err = ironic.Start(ironic.Config{
		Address: fmt.Sprintf("%s:%d", l.net.Local(), ironicPort), ImageURL: fmt.Sprintf("http://%s:6180", l.net.Local()), Log: &m.log,
		PowerTimeout: 20 * time.Second, CallTimeout: 30 * time.Second, SyncInterval: 5 * time.Second, ConnectRetries: 2, ConnectWait: time.Second,
	})
	if err != nil {
		return err
	}
	l.hosts.Go(func() {
		<-ctx.Done()
		m.ironic.Close() //nolint:errcheck // the lab goes down
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, b := range m.bmcs {
			b.Close() //nolint:errcheck // the lab goes down
		}
	})
	if err := l.cableHosts(ctx, m); err != nil {
		return err
	}
	l.mu.Lock()
	l.metal3 = m
	l.mu.Unlock()
	return l.awaitWhy(ctx, 3*time.Minute, "metal3 does not look after the workers", func(ctx context.Context, _ *Lab) (string, error) {
		for _, w := range l.values.Workers {
			host, err := l.Get(ctx, BareMetalHosts, machineNamespace, w.Name)
			if err != nil {
				return "", err
			}
			current, err := l.credentialsTried(ctx, host.GetName())
			if err != nil {
				return "", err
			}
			if s := nested(host, "status", "operationalStatus"); s != "OK" || !current {
				return fmt.Sprintf("%s is %q %s", w.Name, s, nested(host, "status", "errorMessage")), nil
			}
		}
		if !l.procs.Running(bmoProc) {
			return "the baremetal-operator does not run", nil
		}
		return l.unavailable(ctx, metal3Deployment, bmoDeployment)
	})
}

// showMetal3 makes metal3 as anybody sees it who reads the cluster: its objects and its
// pods, in which nothing runs until StartMetal3.
func (l *Lab) showMetal3(ctx context.Context) error {
	if err := l.metal3Objects(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	l.metal3Shown = true
	l.mu.Unlock()
	return l.awaitWhy(ctx, time.Minute, "metal3 is not there", func(ctx context.Context, _ *Lab) (string, error) {
		return l.unavailable(ctx, metal3Deployment, bmoDeployment)
	})
}

func (l *Lab) metal3There() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.metal3Shown
}

func (l *Lab) metal3Runs() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.metal3 != nil
}

func (l *Lab) metal3Objects(ctx context.Context) error {
	if err := l.applier.CRDs(ctx, l.opts.Artifacts.Metal3CRDs); err != nil {
		return err
	}
	crd, err := l.values.Metal3CRD()
	if err != nil {
		return err
	}
	if err := l.Create(ctx, crd); err != nil {
		return err
	}
	if err := l.applier.CRDs(ctx, l.opts.Artifacts.Metal3CRDs); err != nil { // waits for all
		return err
	}
	objects, err := l.values.Metal3YAML()
	if err != nil {
		return err
	}
	return l.Create(ctx, objects)
}

// addBMC starts the controller of a machine.
func (l *Lab) addBMC(m *metal3, h seed.Host, vendor bmc.Vendor, on bool, changed func(bool, bmc.Boot)) (*bmc.BMC, error) {
	b, err := bmc.Start(bmc.Config{
		Name: h.Name, Address: fmt.Sprintf("%s:%d", l.net.BMC(h.Index), plan.BMCPort), Vendor: vendor,
		Serial: fmt.Sprintf("LAB%04d", h.Index), MACs: []string{h.MAC}, User: bmcUser, Pass: bmcPass, On: on, PowerChanged: changed,
		Log: &m.seen,
	})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bmcs[h.Name] = b
	return b, nil
}

// BMC is the controller of a host; nil while there is none.
func (l *Lab) BMC(name string) *bmc.BMC {
	l.mu.Lock()
	m := l.metal3
	l.mu.Unlock()
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bmcs[name]
}

// cableHosts gives each host that was provisioned before the BMC that its
// address names.
func (l *Lab) cableHosts(ctx context.Context, m *metal3) error {
	list, err := l.dyn.Resource(BareMetalHosts).Namespace(machineNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list hosts: %w", err)
	}
	for _, host := range list.Items {
		m.mu.Lock()
		cabled := m.bmcs[host.GetName()] != nil
		m.mu.Unlock()
		if cabled || nested(&host, "status", "provisioning", "state") != "provisioned" {
			continue
		}
		for i := range plan.MostHosts {
			if !strings.Contains(nested(&host, "spec", "bmc", "address"), fmt.Sprintf("//%s:", l.net.BMC(i))) {
				continue
			}
			h := seed.Host{Name: host.GetName(), Index: i, MAC: nested(&host, "spec", "bootMACAddress")}
			// Both have their system under /redfish/v1/Systems/1.
			vendor := []bmc.Vendor{bmc.HPE, bmc.Supermicro}[i%2]
			if _, err := l.addBMC(m, h, vendor, l.isOn(h.Name), l.switchMachine(m.ctx, h.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// switchMachine lets a machine of the cluster run or stop as its BMC says.
func (l *Lab) switchMachine(ctx context.Context, name string) func(bool, bmc.Boot) {
	var was Machine // when it was switched off
	return func(on bool, _ bmc.Boot) {
		l.mu.Lock()
		running := l.machines[name]
		l.mu.Unlock()
		var err error
		switch {
		case on && running == nil && was.Name != "":
			err = l.PowerOn(ctx, was)
		case !on && running != nil:
			was = running.spec
			was.Resume = false
			err = l.PowerOff(name)
		}
		if err != nil {
			l.log.Warn("switch a machine by its BMC", "host", name, "err", err)
		}
	}
}

// Spare is a machine that a person adds to metal3.
type Spare struct {
	seed.Host
	Vendor      bmc.Vendor
	SecretPass  string // in the secret; empty: the right one
	Annotations map[string]string
	// Dead machines do not boot what is in their virtual drive.
	Dead bool
	// Entered is the boot MAC that the person has entered; empty: the machine's.
	Entered string
	// System is the path of the system that the person has entered; empty: the BMC's.
	System string
}

// AddSpare cables a machine with its BMC and creates secret and BareMetalHost.
func (l *Lab) AddSpare(ctx context.Context, s Spare) error {
	if err := l.StartMetal3(ctx); err != nil {
		return err
	}
	if s.SecretPass == "" {
		s.SecretPass = bmcPass
	}
	m := l.metal3
	if s.Dead {
		m.mu.Lock()
		m.dead[s.Name] = true
		m.mu.Unlock()
	}
	machine := ironic.Machine{Hostname: s.Name, Serial: fmt.Sprintf("LAB%04d", s.Index), Vendor: "Lab", Product: "Server", MACs: []string{s.MAC},
		Address: l.net.Host(s.Index)}
	var agent struct {
		sync.Mutex
		stop context.CancelFunc
	}
	b, err := l.addBMC(m, s.Host, s.Vendor, false, func(on bool, boot bmc.Boot) {
		agent.Lock()
		defer agent.Unlock()
		if agent.stop != nil {
			agent.stop()
		}
		m.mu.Lock()
		dead := m.dead[s.Name]
		m.mu.Unlock()
		if dead || !on || boot.Image == "" || boot.Target != "Cd" {
			return
		}
		var run context.Context
		run, agent.stop = context.WithCancel(m.ctx)
		l.hosts.Go(func() { machine.Agent(run, m.ironic.URL()) }) //nolint:errcheck // ironic waits, or has ended
	})
	if err != nil {
		return err
	}
	entered := s.Host
	entered.MAC = cmp.Or(s.Entered, s.MAC)
	manifest, err := seed.Spare{
		Host: entered, Pass: s.SecretPass, Annotations: s.Annotations, Online: true,
		BMC: "redfish-virtualmedia" + strings.TrimPrefix(b.URL(), "https") + cmp.Or(s.System, b.SystemPath()),
	}.YAML()
	if err != nil {
		return err
	}
	return l.Create(ctx, manifest)
}

// syncMetal3 keeps Ironic's and the operator's pods, and the operator behind
// its pod.
func (l *Lab) syncMetal3(ctx context.Context) error {
	l.mu.Lock()
	m, shown := l.metal3, l.metal3Shown
	l.mu.Unlock()
	if !shown {
		return nil
	}
	if m != nil {
		if err := l.cableHosts(ctx, m); err != nil {
			return err
		}
	}
	nodes, err := l.nodes(ctx)
	if err != nil {
		return err
	}
	for _, d := range []deployment{metal3Deployment, bmoDeployment} {
		pod, err := l.deployedPod(ctx, d, nodes)
		if err != nil {
			return err
		}
		if pod == nil {
			l.procs.Stop(bmoProc)
			return errors.New("no master can run " + d.name)
		}
		if err := errors.Join(l.silent(pod), l.syncMetal3Pod(m, d, pod)); err != nil {
			return err
		}
	}
	return nil
}

// syncMetal3Pod puts what runs behind a pod; m is nil where nothing does.
func (l *Lab) syncMetal3Pod(m *metal3, d deployment, pod *corev1.Pod) error {
	if m == nil {
		return nil
	}
	moved := m.pods[d] != pod.Name
	m.pods[d] = pod.Name
	if d == metal3Deployment {
		if !moved {
			return nil
		}
		return m.log.open(l.containerLog(pod.Spec.NodeName, pod.Namespace, pod.Name, "metal3-ironic"))
	}
	if !moved && l.procs.Running(bmoProc) {
		return nil
	}
	l.procs.Stop(bmoProc)
	// It acts as the administrator; the webhook is off.
	return l.procs.Start(proc.Spec{
		Name: bmoProc, Path: l.opts.Artifacts.Bin["baremetal-operator"],
		Log: l.containerLog(pod.Spec.NodeName, pod.Namespace, pod.Name, "metal3-baremetal-operator"),
		Env: []string{
			"WATCH_NAMESPACE=" + machineNamespace, "POD_NAMESPACE=" + machineNamespace, "POD_NAME=" + pod.Name,
			"IRONIC_ENDPOINT=" + m.ironic.URL() + "/v1/", "PROVISIONING_NETWORK_DISABLED=true",
			fmt.Sprintf("DEPLOY_ISO_URL=http://%s:6180/images/ironic-python-agent.iso", l.net.Local()),
		},
		Args: []string{"--kubeconfig=" + l.plane.AdminKubeconfig(), "--webhook-port=0", "--metrics-addr=0", "--health-addr=0"},
	})
}

// logFile is a log that moves with its pod.
type logFile struct {
	mu   sync.Mutex
	file *os.File
}

func (f *logFile) open(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		f.file.Close() //nolint:errcheck // nothing is buffered
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var err error
	f.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return err
}

// Write loses what is written while there is no pod.
func (f *logFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return len(p), nil
	}
	return f.file.Write(p)
}
