package host

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
}

func (f *fakeConfigs) MachineConfig(_ context.Context, name string) (*machineConfig, error) {
	if mc := f.configs[name]; mc != nil {
		return mc, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: machineConfigGroup, Resource: "machineconfig"}, name)
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

func TestBootstrapMismatch(t *testing.T) {
	gone, here := rendered("rendered-master-0", osA, "/etc/a", "a"), rendered("rendered-master-1", osA, "/etc/a", "b")
	text := "bootstrap generated MC rendered-master-0 "
	for name, c := range map[string]struct {
		pivoted bool
		pool    string
		alter   func(*bench)
		want    string
		diff    bool
	}{
		"pivoted": {pivoted: true, pool: here.Name, diff: true,
			want: text + "and in-cluster generated MC rendered-master-1 for this node do not match. Please check machine-config-daemon logs or the on disk diff file located at /etc/machine-config-daemon/bootstrapconfigdiff"},
		"pool not rendered": {pivoted: true, want: text + "does not match in-cluster MC generated by the controller"},
		"pool names nothing": {pivoted: true, pool: "rendered-master-2",
			want: text + "does not match in-cluster MC generated by the controller"},
		"no reboot at first boot": {pool: here.Name,
			want: "error fetching current config on disk during bootstrap: open /etc/machine-config-daemon/currentconfig: no such file or directory, config: <nil>"},
		"annotation edited": {pivoted: true, pool: here.Name,
			alter: func(b *bench) {
				b.set(map[string]string{annoCurrentConfig: "rendered-master-9", annoDesiredConfig: "rendered-master-9"})
			},
			want: "error current config rendered-master-0 on disk does not match current config on annotation: rendered-master-9"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, here)
			b.configs.pool = c.pool
			b.install(gone, c.pivoted)
			if c.alter != nil {
				c.alter(b)
			}
			for range 3 {
				if err := b.step(); err == nil || err.Error() != c.want {
					t.Fatalf("error is %q, want %q", err, c.want)
				}
			}
			b.state(stateDegraded, c.want)
			b.logged("In bootstrap mode", fmt.Sprintf("Marking Degraded due to: %q", c.want))
			if got := b.disk.exists(bootstrapDiffPath); got != c.diff {
				t.Errorf("diff file is there: %v, want %v", got, c.diff)
			}
			if n := strings.Count(b.out.String(), "Granular diff:"); c.diff && n != 1 {
				t.Errorf("diff was logged %d times", n)
			}
			if !b.disk.exists(nodeAnnotationsPath) || len(b.machine.reboots) > 0 {
				t.Error("the daemon left bootstrap mode or rebooted")
			}
		})
	}
}

func TestBootstrapEnds(t *testing.T) {
	mc := rendered("rendered-master-1", osA, "/etc/a", "a")
	b := newBench(t, mc)
	b.install(mc, true)
	b.obey()
	if err := b.step(); err != nil {
		t.Fatal(err)
	}
	b.state(stateDone, "")
	b.logged("No bootstrap pivot required; unlinking bootstrap node annotations", "Validated on-disk state", "In desired state MachineConfig: rendered-master-1")
	if b.disk.exists(nodeAnnotationsPath) || !b.disk.exists(nodeAnnotationsBak) {
		t.Error("node annotations file was not renamed")
	}
	if a := b.annos(); a[annoDesiredDrain] != "uncordon-rendered-master-1" {
		t.Errorf("desiredDrain is %q", a[annoDesiredDrain])
	}
	// currentconfig is now the cluster's, with files.
	if got, err := readCurrentConfig(b.disk); err != nil || string(got.Spec.Config) != string(mc.Spec.Config) {
		t.Errorf("currentconfig is %v, %v", got, err)
	}
	if err := b.step(); err != nil {
		t.Errorf("second pass: %v", err)
	}
}

func TestMissingConfigReturns(t *testing.T) {
	mc := rendered("rendered-master-0", osA, "/etc/a", "a")
	b := newBench(t)
	b.install(mc, true)
	b.obey()
	if err := b.step(); err == nil {
		t.Fatal("a missing config was accepted")
	}
	b.configs.configs[mc.Name] = mc
	if err := b.step(); err != nil {
		t.Fatal(err)
	}
	b.state(stateDone, "")
}

func TestBootstrapPivotRebootsWithoutDrain(t *testing.T) {
	mc := rendered("rendered-master-1", osB, "/etc/a", "a")
	b := newBench(t, mc)
	b.install(mc, false)
	b.obey()
	if err := b.step(); !errors.Is(err, errReboot) {
		t.Fatalf("error is %v, want a reboot", err)
	}
	b.logged(`"Bootstrap pivot required to: ` + osB + `"`)
	a := b.annos()
	if a[annoDesiredDrain] != "" || a[annoPostAction] != stateRebooting || b.disk.exists(nodeAnnotationsBak) {
		t.Errorf("annotations %v", a)
	}
	b.reboot()
	if err := b.step(); err != nil {
		t.Fatal(err)
	}
	b.state(stateDone, "")
	if got := b.annos()[annoPostAction]; got != "" {
		t.Errorf("post-config-action is still %q", got)
	}
}

func TestAnnotationsCannotHideDrift(t *testing.T) {
	// The repair of the seeds: both annotations set to a config that the disk is not in.
	gone, here := rendered("rendered-master-0", osA, "/etc/a", "a"), rendered("rendered-master-1", osA, "/etc/a", "b")
	b := newBench(t, here)
	b.install(gone, true)
	b.obey()
	b.set(map[string]string{annoCurrentConfig: here.Name, annoDesiredConfig: here.Name, annoState: stateDone})
	want := `unexpected on-disk state validating against rendered-master-1: content mismatch for file "/etc/a"`
	if err := b.step(); err == nil || err.Error() != want {
		t.Fatalf("error is %v, want %q", err, want)
	}
	b.state(stateDegraded, want)
}

func TestOnDiskValidation(t *testing.T) {
	base := func() *machineConfig {
		mc := rendered("rendered-master-1", osA, "/etc/a", "a", kubeletCAPath, "ca")
		mc.Spec.KernelArguments = []string{"x=1 y=2"}
		mc.Spec.Config = json.RawMessage(strings.TrimSuffix(string(mc.Spec.Config), "}") +
			`,"systemd":{"units":[{"name":"a.service","contents":"u","dropins":[{"name":"d.conf","contents":"d"}]},{"name":"m.service","mask":true,"contents":"-"}]}}`)
		return mc
	}
	for name, c := range map[string]struct {
		alter func(*bench)
		want  string
	}{
		"clean":             {},
		"surplus file":      {alter: func(b *bench) { b.write("/etc/extra", "x", 0o644) }},
		"certificate":       {alter: func(b *bench) { b.write(kubeletCAPath, "rotated", 0o644) }},
		"surplus argument":  {alter: func(b *bench) { b.machine.kargs = []string{"x=1", "y=2", "z=3"} }},
		"content":           {func(b *bench) { b.write("/etc/a", "A", 0o644) }, `content mismatch for file "/etc/a"`},
		"mode":              {func(b *bench) { b.write("/etc/a", "a", 0o600) }, `mode mismatch for file: "/etc/a"; expected: -rw-r--r--/420/0644; received: -rw-------/384/0600`},
		"missing file":      {func(b *bench) { b.disk.remove("/etc/a") }, `could not stat file "/etc/a": lstat /etc/a: no such file or directory`},
		"unit":              {func(b *bench) { b.write(systemdPath+"/a.service", "v", 0o644) }, `content mismatch for file "/etc/systemd/system/a.service"`},
		"drop-in":           {func(b *bench) { b.write(systemdPath+"/a.service.d/d.conf", "e", 0o644) }, `content mismatch for file "/etc/systemd/system/a.service.d/d.conf"`},
		"unmasked":          {func(b *bench) { b.disk.symlink("/etc/a", systemdPath+"/m.service") }, `state validation: invalid unit masked setting. path: "/etc/systemd/system/m.service"; expected: /dev/null; received: /etc/a`},
		"missing arguments": {func(b *bench) { b.machine.kargs = []string{"y=2"} }, `missing expected kernel arguments: [x=1]`},
		"image":             {func(b *bench) { b.machine.image = osB }, `expected target osImageURL "` + osA + `", have "` + osB + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.machine.kargs = []string{"x=1", "y=2"}
			mc := base()
			b.install(mc, false)
			if c.alter != nil {
				c.alter(b)
			}
			got := ""
			if err := b.validate(mc); err != nil {
				got = strings.TrimPrefix(err.Error(), "unexpected on-disk state validating against rendered-master-1: ")
			}
			if got != c.want {
				t.Errorf("validation says %q, want %q", got, c.want)
			}
		})
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

func TestUpdateStepByStep(t *testing.T) {
	from := rendered("rendered-master-1", osA, "/etc/a", "a", "/etc/old", "o")
	to := rendered("rendered-master-2", osB, "/etc/a", "b", "/etc/new", "n")
	to.Spec.KernelArguments = []string{"k=1"}
	b := settled(t, from, to)
	b.set(map[string]string{annoDesiredConfig: to.Name})

	// The controller does not answer: the daemon waits, and has changed nothing.
	var during []string
	b.controller = func() {
		a := b.annos()
		during = append(during, a[annoState]+" "+a[annoDesiredDrain])
		if len(during) < 3 {
			return
		}
		got, _ := b.disk.read("/etc/a")
		if string(got) != "a" {
			t.Errorf("file was written before the drain: %q", got)
		}
		b.obey()
		b.controller()
	}
	if err := b.step(); !errors.Is(err, errReboot) {
		t.Fatalf("error is %v, want a reboot", err)
	}
	if want := slices.Repeat([]string{"Working drain-rendered-master-2"}, 3); !slices.Equal(during, want) {
		t.Errorf("while waiting the node said %q", during)
	}
	a := b.annos()
	if a[annoState] != stateWorking || a[annoCurrentConfig] != from.Name || b.disk.exists("/etc/old") {
		t.Errorf("before the reboot: %v", a)
	}
	b.reboot()
	if err := b.step(); err != nil {
		t.Fatal(err)
	}
	b.state(stateDone, "")
	a = b.annos()
	if a[annoCurrentConfig] != to.Name || a[annoDesiredDrain] != "uncordon-rendered-master-2" {
		t.Errorf("at the end: %v", a)
	}
	b.logged("Starting update from rendered-master-1 to rendered-master-2: &{osUpdate:true kargs:true fips:false passwd:false files:true units:false kernelType:false extensions:false oclEnabled:false revertFromOCL:false}",
		"drain complete", `Disk currentConfig \"rendered-master-2\" overrides node's currentConfig annotation \"rendered-master-1\"`)
}

func TestUpdateWithoutReboot(t *testing.T) {
	from, to := rendered("rendered-master-1", osA, "/etc/containers/registries.conf", "a"), rendered("rendered-master-2", osA, "/etc/containers/registries.conf", "b")
	b := settled(t, from, to)
	b.set(map[string]string{annoDesiredConfig: to.Name})
	if err := b.step(); err != nil {
		t.Fatal(err)
	}
	b.state(stateDone, "")
	if a := b.annos(); a[annoCurrentConfig] != to.Name || len(b.machine.reboots) > 0 || strings.Contains(b.out.String(), "drain complete") {
		t.Errorf("annotations %v, reboots %q", a, b.machine.reboots)
	}
}

func TestUpdateRefused(t *testing.T) {
	from, fips := rendered("rendered-master-1", osA, "/etc/a", "a"), rendered("rendered-master-2", osA, "/etc/a", "a")
	fips.Spec.FIPS = true
	for name, c := range map[string]struct {
		desired string
		alter   func(*bench)
		state   string
		want    string
	}{
		"desired config missing": {"rendered-master-7", nil, stateDegraded,
			"missing MachineConfig rendered-master-7\nmachineconfig.machineconfiguration.openshift.io \"rendered-master-7\" not found"},
		"drift": {fips.Name, func(b *bench) { b.write("/etc/a", "x", 0o644) }, stateDegraded,
			`unexpected on-disk state validating against rendered-master-1: content mismatch for file "/etc/a"`},
		"FIPS": {fips.Name, nil, stateUnreconciled,
			"can't reconcile config rendered-master-1 with rendered-master-2: detected change to FIPS flag; refusing to modify FIPS on a running cluster"},
		"current config pruned": {from.Name, func(b *bench) { delete(b.configs.configs, from.Name) }, stateDegraded,
			"missing MachineConfig rendered-master-1\nmachineconfig.machineconfiguration.openshift.io \"rendered-master-1\" not found"},
	} {
		t.Run(name, func(t *testing.T) {
			b := settled(t, from, fips)
			b.set(map[string]string{annoDesiredConfig: c.desired})
			if c.alter != nil {
				c.alter(b)
			}
			if err := b.step(); err == nil {
				t.Fatal("no error")
			}
			b.state(c.state, c.want)
		})
	}
}

func TestDrainTimesOut(t *testing.T) {
	from, to := rendered("rendered-master-1", osA, "/etc/a", "a"), rendered("rendered-master-2", osA, "/etc/a", "b")
	b := settled(t, from, to)
	b.controller = nil
	b.pace.DaemonPoll = 10 * time.Second
	b.set(map[string]string{annoDesiredConfig: to.Name})
	want := "failed to drain node: control0 after 1 hour. Please see machine-config-controller logs for more information"
	if err := b.step(); err == nil || err.Error() != want {
		t.Fatalf("error is %v", err)
	}
	b.state(stateDegraded, want)
	if err := b.step(); err != nil {
		t.Errorf("a drain that the controller still owes is no new error: %v", err)
	}
	b.logged("A previously requested drain has not yet completed.")
}

func TestDriftIsNoticedAndHeals(t *testing.T) {
	mc := rendered("rendered-master-1", osA, "/etc/a", "a")
	b := settled(t, mc)
	b.write("/etc/a", "edited", 0o644)
	want := `unexpected on-disk state validating against rendered-master-1: content mismatch for file "/etc/a"`
	for range 2 {
		if err := b.step(); err == nil || err.Error() != want {
			t.Fatalf("error is %v", err)
		}
	}
	b.state(stateDegraded, want)
	b.write("/etc/a", "a", 0o644)
	if err := b.step(); err != nil {
		t.Fatal(err)
	}
	b.state(stateDone, "")
}

func TestReasonIsCut(t *testing.T) {
	b := newBench(t)
	b.see(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
	b.fail(t.Context(), errors.New(strings.Repeat("é", 2500)))
	if got := b.annos()[annoReason]; got != strings.Repeat("é", 2000) {
		t.Errorf("reason has %d bytes", len(got))
	}
}

func TestRunBacksOffForEver(t *testing.T) {
	b := newBench(t)
	b.install(rendered("rendered-master-0", osA), false)
	ctx, cancel := context.WithCancel(t.Context())
	var waits []time.Duration
	b.sleep = func(ctx context.Context, d time.Duration) bool {
		if waits = append(waits, d); len(waits) == 8 {
			cancel()
		}
		return ctx.Err() == nil
	}
	b.run(ctx)
	s := time.Second
	if want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 15 * s, 15 * s, 15 * s, 15 * s}; !slices.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	b.state(stateDegraded, b.annos()[annoReason])
}
