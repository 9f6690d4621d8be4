package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

var etcdResource = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "etcds"}

var poolResource = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}

// TestRepair: the plan is refused where it must be, survives being killed before
// and after every write, and at its end the third master has joined, the pool has
// converged under the real controller, and the fault is absent.
func TestRepair(t *testing.T) {
	w := up(t, "bootstrap-desync", true, anHour...)
	settled(t, w)
	plan := w.plan("plan.yaml")

	w.refused(t, w.otherCluster(plan), "apply", "this is cluster")

	w.setPoolStatus(t, `{"status":{"configuration":{"name":"rendered-master-00000000000000000000000000000000"}}}`)
	w.refused(t, plan, "apply", "is not as it was when the plan was made")
	w.setPoolStatus(t, `{"status":{"configuration":{"name":null}}}`)

	w.etcdUnhealthy(t, "on", "True")
	w.refused(t, plan, "resume", "etcd")
	w.etcdUnhealthy(t, "off", "False")

	kills := w.throughKills(t, plan)
	if kills < 10 {
		t.Errorf("the process was killed %d times only; the writes were %v", kills, w.proxy.written())
	}
	w.joined(t)
}

// etcdUnhealthy switches the report of the etcd operator and waits until it says so.
func (w *world) etcdUnhealthy(t *testing.T, word, degraded string) {
	t.Helper()
	if r := w.lab("etcd-unhealthy", word); r.code != 0 {
		t.Fatal(r)
	}
	eventually(t, time.Minute, func() string {
		etcd, err := w.client(t).Resource(etcdResource).Get(t.Context(), "cluster", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		conditions, _, _ := unstructured.NestedSlice(etcd.Object, "status", "conditions")
		for _, c := range conditions {
			if m, _ := c.(map[string]any); m["type"] == "EtcdMembersDegraded" && m["status"] == degraded {
				return ""
			}
		}
		return "EtcdMembersDegraded is not " + degraded
	})
}

// settled waits until the desync is no longer within the time in which it would
// be normal.
func settled(t *testing.T, w *world) {
	t.Helper()
	eventually(t, 4*time.Minute, func() string {
		if r := w.live("diagnose", "-o", "json"); r.code != 2 {
			return r.String()
		}
		return ""
	})
}

// plan makes a plan as an operator would: the host that is expected is named with
// its address. The stuck master's own copy of its config is read on the master, in its
// machine-config-daemon's pod, where no flag names a file.
func (w *world) plan(name string, flags ...string) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), name)
	r := w.live(append([]string{"fix", "plan", "--to", path, "--expect", "control0=" + w.address("control0")}, flags...)...)
	if r.code != 0 {
		w.t.Fatal(r)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, secret := range []string{"\"auth\"", "auths", "eyJ"} {
		if strings.Contains(string(raw), secret) {
			w.t.Errorf("the plan holds %q:\n%s", secret, raw)
		}
	}
	return path
}

// address is what the lab gave a host.
func (w *world) address(host string) string {
	w.t.Helper()
	fields := strings.Fields(w.lab("status").out)
	for i, f := range fields {
		if f == host && i+1 < len(fields) && strings.Count(fields[i+1], ".") == 3 {
			return fields[i+1]
		}
	}
	w.t.Fatalf("the lab knows no address of %s: %v", host, fields)
	return ""
}

// otherCluster writes a copy of the plan that is for another cluster.
func (w *world) otherCluster(plan string) string {
	w.t.Helper()
	raw, err := os.ReadFile(plan)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "id: ") {
			line = "id: elsewhere\n"
		}
		if strings.HasPrefix(line, "  id: ") && len(out) > 0 && strings.HasPrefix(strings.Join(out, ""), "apiVersion") && !strings.Contains(strings.Join(out, ""), "steps:") {
			line = "  id: 00000000-0000-4000-8000-000000000000\n"
		}
		out = append(out, line)
	}
	path := filepath.Join(w.t.TempDir(), "elsewhere.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(out, "")), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// refused runs a plan that must be refused with a reason, without a write to what
// the plan is about.
func (w *world) refused(t *testing.T, plan, verb, reason string) {
	t.Helper()
	before := len(w.touched())
	arg := plan
	if verb == "resume" {
		arg = planID(t, plan)
	}
	r := w.live("fix", verb, arg)
	if r.code == 0 || !strings.Contains(r.err, reason) {
		t.Fatalf("not refused with %q: %s", reason, r)
	}
	if after := w.touched(); len(after) != before {
		t.Errorf("%s wrote %v", verb, after[before:])
	}
}

// touched lists the writes to anything but the copy of the journal.
func (w *world) touched() []string {
	var list []string
	for _, s := range w.proxy.written() {
		if !strings.Contains(s, "/configmaps") {
			list = append(list, s)
		}
	}
	return list
}

func planID(t *testing.T, plan string) string {
	t.Helper()
	raw, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			return strings.TrimSpace(id)
		}
	}
	t.Fatalf("the plan has no id:\n%s", raw)
	return ""
}

// throughKills resumes the plan again and again; each process is killed before,
// the next one after its first write, until one comes to the end.
func (w *world) throughKills(t *testing.T, plan string) (kills int) {
	t.Helper()
	id := planID(t, plan)
	side := before
	for range 200 {
		w.proxy.arm(side, 1)
		r := w.live("fix", "resume", id)
		switch r.code {
		case 0:
			return kills
		case -1:
			kills++
		default:
			t.Fatalf("after %d kills: %s", kills, r)
		}
		side = before + after - side
	}
	t.Fatalf("200 processes did not finish the plan; the writes were %v", w.proxy.written())
	return kills
}

// joined asserts the end of the story, from the cluster and from the console.
func (w *world) joined(t *testing.T) {
	t.Helper()
	pool, err := w.client(t).Resource(poolResource).Get(t.Context(), "master", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	count := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(pool.Object, "status", field)
		return n
	}
	spec, _, _ := unstructured.NestedString(pool.Object, "spec", "configuration", "name")
	status, _, _ := unstructured.NestedString(pool.Object, "status", "configuration", "name")
	if count("machineCount") != 3 || count("updatedMachineCount") != 3 || count("degradedMachineCount") != 0 || spec != status {
		t.Errorf("pool master: %v", pool.Object["status"])
	}
	if screen := w.lab("console", "control0").out; !strings.Contains(screen, "GET result: OK") {
		t.Error("control0's Ignition never got its config")
	}
	eventually(t, 3*time.Minute, func() string {
		d := parse(t, w.live("diagnose", "-o", "json"))
		if len(d.Roots) > 0 || strings.Contains(d.present(), "bootstrap-mc-mismatch") {
			return "after the repair: roots " + d.roots() + ", present " + d.present()
		}
		for _, h := range d.Hosts {
			if h.State != "passed" {
				return "after the repair: " + d.hosts()
			}
		}
		return ""
	})
}

// TestUndo: the first write undone, from a process that was killed at it and
// with the undo itself killed; then the fault is as it was. Once a host has used
// the write, undoing it is refused with the reason.
func TestUndo(t *testing.T) {
	w := up(t, "bootstrap-desync", true)
	settled(t, w)
	w.ignition(t, syscall.SIGSTOP)
	held := filepath.Join(w.dir, "hosts", "control1", "root", "etc", "mcs-machine-config-content.json")
	id := w.killedAtPool(t, w.plan("first.yaml", "--held", "control1="+held))
	if w.poolStatus(t) == "" {
		t.Fatal("the first write was not made")
	}
	for _, side := range []when{before, after} {
		w.proxy.arm(side, 1)
		if r := w.live("fix", "undo", id); r.code != -1 && r.code != 0 {
			t.Fatal(r)
		}
	}
	w.proxy.arm(never, 0)
	if r := w.live("fix", "undo", id); r.code != 0 && !strings.Contains(r.err, "taken back") && !strings.Contains(r.out, "taken back") {
		t.Fatal(r)
	}
	if got := w.poolStatus(t); got != "" {
		t.Fatalf("after undo, status.configuration.name is %q", got)
	}

	id = w.killedAtPool(t, w.plan("second.yaml"))
	w.ignition(t, syscall.SIGCONT)
	eventually(t, 2*time.Minute, func() string {
		if screen := w.lab("console", "control0").out; !strings.Contains(screen, "GET result: OK") {
			return "control0 has not got its config"
		}
		return ""
	})
	if r := w.live("fix", "undo", id); r.code != 5 || w.poolStatus(t) == "" {
		t.Errorf("undo after the host used the write: want exit 5 and the write to stay: %s", r)
	}
}

// killedAtPool applies a plan and kills the process right after it wrote the
// pool's status. It returns the plan's id.
func (w *world) killedAtPool(t *testing.T, plan string) string {
	t.Helper()
	id := planID(t, plan)
	for n := 1; n < 20; n++ {
		w.proxy.arm(after, 1)
		args := []string{"fix", "resume", id}
		if n == 1 {
			args = []string{"fix", "apply", plan}
		}
		if r := w.live(args...); r.code != -1 {
			t.Fatal(r)
		}
		if w.poolStatus(t) != "" {
			return id
		}
	}
	t.Fatal("the pool's status was never written")
	return ""
}

func (w *world) client(t *testing.T) dynamic.Interface {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", strings.TrimSpace(w.lab("kubeconfig").out))
	if err != nil {
		t.Fatal(err)
	}
	c, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) poolStatus(t *testing.T) string {
	t.Helper()
	pool, err := w.client(t).Resource(poolResource).Get(t.Context(), "master", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := unstructured.NestedString(pool.Object, "status", "configuration", "name")
	return name
}

// setPoolStatus writes as somebody else would.
func (w *world) setPoolStatus(t *testing.T, patch string) {
	t.Helper()
	if !json.Valid([]byte(patch)) {
		t.Fatalf("no JSON: %s", patch)
	}
	_, err := w.client(t).Resource(poolResource).Patch(context.Background(), "master", types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: "somebody-else"}, "status")
	if err != nil {
		t.Fatal(err)
	}
}

// ignition signals the Ignition processes of this lab: a stopped one asks nothing.
func (w *world) ignition(t *testing.T, sig syscall.Signal) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil || !strings.Contains(string(cmdline), "--stage=fetch") {
			continue
		}
		if environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ")); err == nil && strings.Contains(string(cmdline)+string(environ), w.dir) {
			found = true
			if err := syscall.Kill(pid, sig); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !found {
		t.Fatal("no Ignition of this lab runs")
	}
}
