package host

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
)

const (
	osA  = "quay.io/os@sha256:aaaa"
	osB  = "quay.io/os@sha256:bbbb"
	node = "control0"
)

// fakeConfigs is the cluster's MachineConfigs and the master pool's target.
type fakeConfigs struct {
	configs map[string]*machineConfig
	pool    string

	ca        []byte
	caVersion string // empty: there is no ControllerConfig yet
}

func (f *fakeConfigs) MachineConfig(_ context.Context, name string) (*machineConfig, error) {
	if mc := f.configs[name]; mc != nil {
		return mc, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: machineConfigGroup, Resource: "machineconfig"}, name)
}

func (f *fakeConfigs) KubeletCA(context.Context, string) ([]byte, string, error) {
	if f.caVersion == "" {
		return nil, "", apierrors.NewNotFound(schema.GroupResource{Group: machineConfigGroup, Resource: "controllerconfig"}, "machine-config-controller")
	}
	return f.ca, f.caVersion, nil
}

func (f *fakeConfigs) PoolConfig(context.Context, string) (string, error) {
	if f.pool == "" {
		return "", errors.New("no pool")
	}
	return f.pool, nil
}

// fakeMachine records reboots; a reboot takes effect in bench.reboot.
type fakeMachine struct {
	image, staged string
	kargs, next   []string
	reboots       []string
}

func (m *fakeMachine) booted() (string, []string) { return m.image, m.kargs }
func (m *fakeMachine) stageOS(mc *machineConfig) error {
	m.staged, m.next = mc.Spec.OSImageURL, splitKernelArguments(mc.Spec.KernelArguments)
	return nil
}
func (m *fakeMachine) reboot(reason string) error { m.reboots = append(m.reboots, reason); return nil }

// rendered makes a rendered config with one file per pair of path and content.
func rendered(name, image string, files ...string) *machineConfig {
	type file struct {
		Path     string            `json:"path"`
		Mode     int               `json:"mode"`
		Contents map[string]string `json:"contents"`
	}
	var list []file
	for i := 0; i < len(files); i += 2 {
		list = append(list, file{files[i], 0o644, map[string]string{"source": "data:;base64," + base64.StdEncoding.EncodeToString([]byte(files[i+1]))}})
	}
	raw, err := json.Marshal(map[string]any{"ignition": map[string]any{"version": "3.5.0"}, "storage": map[string]any{"files": list}})
	if err != nil {
		panic(err)
	}
	return &machineConfig{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: machineConfigSpec{OSImageURL: image, Config: raw}}
}

// encapsulated is the config without its Ignition part, as the machine config
// server sends it.
func encapsulated(mc *machineConfig) *machineConfig {
	out := *mc
	out.Spec.Config = json.RawMessage(`{"ignition":{"version":"3.5.0"}}`)
	return &out
}

// bench is a daemon on a disk, a fake API and a fake machine. While the daemon
// sleeps, controller plays the machine-config-controller.
type bench struct {
	*daemon
	t          *testing.T
	clk        *clock
	machine    *fakeMachine
	configs    *fakeConfigs
	out        *strings.Builder
	sleeps     int
	controller func()
}

func newBench(t *testing.T, configs ...*machineConfig) *bench {
	b := &bench{t: t, clk: newClock(), machine: &fakeMachine{image: osA}, configs: &fakeConfigs{configs: map[string]*machineConfig{}}, out: &strings.Builder{}}
	for _, mc := range configs {
		b.configs.configs[mc.Name] = mc
	}
	client := fake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{labelMaster: ""}}})
	b.daemon = &daemon{
		name: node, disk: testDisk(t), machine: b.machine, configs: b.configs, client: client,
		log: &klogger{w: b.out, now: b.clk.now, pid: 1}, pace: DefaultPace(), now: b.clk.now, booting: true,
		sleep: func(ctx context.Context, d time.Duration) bool {
			b.clk.advance(d)
			b.sleeps++
			if b.controller != nil {
				b.controller()
			}
			return ctx.Err() == nil
		},
	}
	return b
}

// install puts a config on the disk as Ignition does, with the annotations
// file; pivoted says that the first boot stored the encapsulated config.
func (b *bench) install(mc *machineConfig, pivoted bool) {
	b.t.Helper()
	cfg, err := mc.ignition()
	if err == nil {
		err = b.disk.install(cfg)
	}
	annos, _ := json.Marshal(map[string]string{annoCurrentConfig: mc.Name, annoDesiredConfig: mc.Name, annoState: stateDone})
	if err == nil {
		err = b.disk.write(nodeAnnotationsPath, annos, 0o644)
	}
	if err == nil && pivoted {
		err = storeCurrentConfig(b.disk, b.log, encapsulated(mc))
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) annos() map[string]string {
	b.t.Helper()
	n, err := b.client.CoreV1().Nodes().Get(b.t.Context(), node, metav1.GetOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return n.Annotations
}

func (b *bench) set(annos map[string]string) {
	b.t.Helper()
	if _, err := b.annotate(b.t.Context(), annos); err != nil {
		b.t.Fatal(err)
	}
}

// obey makes the controller grant what the daemon asks for.
func (b *bench) obey() {
	b.controller = func() {
		n, err := b.client.CoreV1().Nodes().Get(b.t.Context(), node, metav1.GetOptions{})
		if err != nil {
			b.t.Fatal(err)
		}
		n.Annotations[annoAppliedDrain] = n.Annotations[annoDesiredDrain]
		if _, err := b.client.CoreV1().Nodes().Update(b.t.Context(), n, metav1.UpdateOptions{}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// step is one pass as run makes it.
func (b *bench) step() error {
	err := b.sync(b.t.Context())
	if err != nil && !errors.Is(err, errReboot) {
		b.fail(b.t.Context(), err)
	}
	return err
}

// reboot is what the machine does after a reboot was asked for.
func (b *bench) reboot() {
	if b.machine.staged != "" {
		b.machine.image, b.machine.kargs, b.machine.staged = b.machine.staged, b.machine.next, ""
	}
	b.booting, b.node = true, nil
}

func (b *bench) logged(want ...string) {
	b.t.Helper()
	for _, w := range want {
		if !strings.Contains(b.out.String(), w) {
			b.t.Errorf("log does not say %q; it says\n%s", w, b.out)
		}
	}
}

func (b *bench) state(want, reason string) {
	b.t.Helper()
	a := b.annos()
	if a[annoState] != want || a[annoReason] != reason {
		b.t.Errorf("state %q, reason %q; want %q, %q", a[annoState], a[annoReason], want, reason)
	}
}

func (b *bench) write(name, content string, mode uint32) {
	b.t.Helper()
	if err := b.disk.write(name, []byte(content), fs.FileMode(mode)); err != nil {
		b.t.Fatal(err)
	}
}

// settled brings a daemon to Done on mc.
func settled(t *testing.T, mc *machineConfig, others ...*machineConfig) *bench {
	t.Helper()
	b := newBench(t, append(others, mc)...)
	b.install(mc, true)
	b.obey()
	if err := b.step(); err != nil {
		t.Fatal(err)
	}
	return b
}
