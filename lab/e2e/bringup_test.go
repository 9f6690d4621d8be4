package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// full is the variable that lets the tests of this package take as long as they need:
// `.ci/run full`.
const full = "ROLLCALL_LAB_FULL"

func inFull() bool { return os.Getenv(full) != "" }

// bringUp is a scenario that is watched from the API's first second to its steady
// state.
type bringUp struct {
	scenario string
	flags    []string
	// calm is the beginning of the step from which on something is wrong; empty: never.
	calm string
	// truths are the proofs that are true, and since when.
	truths []truth
	always bool // in .ci/run, too; else only in full
}

// Steps of the lab from which on something is wrong.
const (
	inCluster = "starting the in-cluster machine-config-controller" // of bootstrap-desync: the other render appears
	breaking  = "breaking: "
)

var bringUps = []bringUp{
	{scenario: "healthy", always: true},
	{scenario: "install-in-progress"},
	{scenario: "bootstrap-desync", flags: anHour, calm: inCluster, truths: []truth{{"bootstrap-mc-mismatch pool/master", inCluster}}},
	{scenario: "worker-old-ca", calm: breaking, truths: []truth{{"ignition-tls-untrusted host/worker2", breaking}}},
	{scenario: "kubelet-certificate-lost", calm: breaking, truths: []truth{
		{"kubelet-certificate-missing host/control2", breaking}, {"kubelet-client-cert-missing host/control2", breaking},
		{"node-lease-stale host/control2", breaking}, {"csr-node-exists csr/?", breaking},
	}},
	{scenario: "bmc-password-wrong", calm: breaking, truths: []truth{{"bmc-credentials-refused host/?", breaking}}},
	{scenario: "config-drift", calm: breaking, truths: []truth{{"config-drift host/worker0", breaking}}},
	{scenario: "csr-machine-no-addresses", calm: breaking, truths: []truth{{"csr-machine-no-addresses csr/?", breaking}}},
}

// TestBringUp asks every second while a cluster comes up, from the first answer of its
// API server on: nothing is proven that is false at its moment, and as long as nothing
// is wrong the exit code is neither 2 nor 3.
func TestBringUp(t *testing.T) {
	if testing.Short() {
		t.Skip("brings labs up")
	}
	t.Parallel()
	for _, b := range bringUps {
		t.Run(b.scenario, func(t *testing.T) {
			if !b.always && !inFull() {
				t.Skipf("set %s=1 for it", full)
			}
			t.Parallel()
			s := labs.take(t, true)
			w := &world{t: t, dir: s.dir, state: t.TempDir()}
			asked := w.sampling(time.Second)
			w.begin(t, append([]string{b.scenario}, b.flags...)...)
			time.Sleep(5 * time.Second) // a few answers about the steady state
			list := asked.end()
			check(t, b.scenario, list, b.truths, b.calm)
		})
	}
}

// check judges a timeline.
func check(t *testing.T, name string, list []sample, truths []truth, calm string) {
	t.Helper()
	write(t, name, list)
	t.Logf("%d answers:\n%s", len(list), summary(list))
	if len(list) < 5 {
		t.Errorf("only %d answers", len(list))
	}
	settle(t, wrong(list, truths, calm))
}

// TestRollOut: a MachineConfig goes over both pools. Nothing is wrong at any time, and
// as long as it lasts that is said: settling, with exit code 0.
func TestRollOut(t *testing.T) {
	if testing.Short() {
		t.Skip("brings a lab up")
	}
	t.Parallel()
	s := labs.take(t, true)
	w := &world{t: t, dir: s.dir, state: t.TempDir()}
	every := 5 * time.Second
	if inFull() {
		every = time.Second
	}
	w.begin(t, "roll-out", "--from", s.cluster(w))
	asked := w.sampling(every)
	eventually(t, 5*time.Minute, func() string { return w.rolledOut(t) })
	time.Sleep(2 * every)
	list := asked.end()
	check(t, "roll-out", list, nil, "")
	if len(list) > 0 {
		if last := list[len(list)-1]; last.d.Verdict.Class != "healthy" {
			t.Errorf("at the end the answer is %s", last)
		}
	}
}

// rolledOut says what is missing from the end of a rollout over both pools.
func (w *world) rolledOut(t *testing.T) string {
	t.Helper()
	for pool, part := range map[string]string{"master": "99-master-sysctl", "worker": "99-worker-sysctl"} {
		obj, err := w.client(t).Resource(poolResource).Get(t.Context(), pool, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		source, _, _ := unstructured.NestedSlice(obj.Object, "status", "configuration", "source")
		merged := false
		for _, s := range source {
			m, _ := s.(map[string]any)
			merged = merged || m["name"] == part
		}
		count := func(field string) int64 {
			n, _, _ := unstructured.NestedInt64(obj.Object, "status", field)
			return n
		}
		if !merged || count("updatedMachineCount") != count("machineCount") || count("readyMachineCount") != count("machineCount") {
			return "pool " + pool + " is not updated yet"
		}
	}
	return ""
}

// TestWrong: what counts as false.
func TestWrong(t *testing.T) {
	proven := func(fault string, steps ...string) sample {
		s := sample{steps: steps, code: 2}
		s.d.Roots = []root{{Fault: fault, Subject: subject{"host", "w1"}, Confidence: "proven"}}
		return s
	}
	list := []sample{
		{steps: []string{"a"}}, proven("f", "a"), {steps: []string{"a", "b: something"}, code: 2}, proven("f", "a", "b: something"),
		proven("f", "a", "b: something", "c"), proven("g", "a", "b: something", "c"),
		{code: 1}, {code: 3, torn: true},
	}
	var ids []string
	for _, v := range wrong(list, []truth{{"f host/?", "b: "}}, "b: ") {
		ids = append(ids, v.id)
	}
	want := "exit 2: f host/w1; proven f host/w1; proven g host/w1; exit 1"
	if got := strings.Join(ids, "; "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
