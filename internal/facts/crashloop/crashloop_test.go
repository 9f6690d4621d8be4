package crashloop

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const podOf = `-- namespaces/openshift-kube-controller-manager/pods/kube-controller-manager-m1/kube-controller-manager-m1.yaml --
apiVersion: v1
kind: Pod
metadata: {name: kube-controller-manager-m1, namespace: openshift-kube-controller-manager}
spec: {nodeName: m1}
status:
  containerStatuses:
  - {name: kube-controller-manager, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error, message: "E0301 11:58:10.000001       1 controllermanager.go:302] leaderelection lost"}}}
`

const currentLog = "-- namespaces/openshift-kube-controller-manager/pods/kube-controller-manager-m1/kube-controller-manager/kube-controller-manager/logs/current.log --\n"

func TestLoop(t *testing.T) {
	tests := []struct{ name, log, cause, said string }{
		{"the log says more than the status", "E0301 11:58:00.000001       1 leaderelection.go:429] error retrieving resource lock kube-system/kube-controller-manager: etcdserver: request timed out\n", "storage",
			"error retrieving resource lock kube-system/kube-controller-manager: etcdserver: request timed out"},
		{"the last cause counts", "E0301 11:57:00.000001       1 leaderelection.go:429] error retrieving resource lock kube-system/kube-controller-manager: etcdserver: leader changed\n" +
			`E0301 11:58:00.000001       1 leaderelection.go:429] error retrieving resource lock kube-system/kube-controller-manager: Get "https://api-int:6443/apis": dial tcp: lookup api-int: no such host` + "\n", "api",
			`error retrieving resource lock kube-system/kube-controller-manager: Get "https://api-int:6443/apis": dial tcp: lookup api-int: no such host`},
		{"no cause", "I0301 11:58:00.000001       1 main.go:1] starting\n", "other", "leaderelection lost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := factstest.Fields[loop](t, factstest.World(t, factstest.Metal, podOf+currentLog+tt.log), fact, factstest.Host("m1"))
			if l.Container.Value() != "kube-controller-manager" || l.Cause.Value() != tt.cause || l.Said.Value() != tt.said {
				t.Errorf("%s: %s, %s; want %s: %s", l.Container, l.Cause, l.Said, tt.cause, tt.said)
			}
		})
	}
}

func TestLoopUnread(t *testing.T) {
	w := factstest.World(t, factstest.Metal, podOf)
	if v := w.Compute(t.Context(), fact, factstest.Host("m1")); v.Why("cause") == nil || v.Why("container") != nil {
		t.Errorf("without a log: container %v, cause %v", v.Why("container"), v.Why("cause"))
	}
	w = factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Pods, "openshift-etcd"))
	if err := factstest.Err(t, w, fact, factstest.Host("m1")); err == nil {
		t.Error("without the pods of etcd nothing crash-loops")
	}
	w = factstest.World(t, factstest.Metal, "")
	if l := factstest.Fields[loop](t, w, fact, factstest.Host("m1")); !l.Container.Equal(facts.Known("")) {
		t.Errorf("healthy: container %s", l.Container)
	}
}

// TestLoopOfAnotherName: the pods of a host are those of its Node, whatever the host is called.
func TestLoopOfAnotherName(t *testing.T) {
	const renamed = "-- delete:cluster-scoped-resources/core/nodes/m1.yaml --\n-- cluster-scoped-resources/core/nodes/cp-7.yaml --\napiVersion: v1\nkind: Node\n" +
		"metadata: {name: cp-7, uid: cp-7, labels: {node-role.kubernetes.io/master: \"\"}, annotations: {machine.openshift.io/machine: openshift-machine-api/lark-x7k2p-master-1}}\n" +
		"status: {conditions: [{type: Ready, status: \"True\"}]}\n"
	pod := strings.ReplaceAll(podOf, "nodeName: m1", "nodeName: cp-7")
	l := factstest.Fields[loop](t, factstest.World(t, factstest.Metal, renamed+pod), fact, factstest.Host("m1"))
	if l.Container.Value() != "kube-controller-manager" {
		t.Errorf("container %s", l.Container)
	}
}

// TestLoopOfSilentKubelet: what a kubelet wrote that was given up is not how its pods are now.
func TestLoopOfSilentKubelet(t *testing.T) {
	const silent = "-- patch:cluster-scoped-resources/core/nodes/m1.yaml --\nstatus: {conditions: [{type: Ready, status: Unknown, lastHeartbeatTime: \"2026-03-01T10:00:00Z\"}]}\n"
	err := factstest.Err(t, factstest.World(t, factstest.Metal, silent+podOf), fact, factstest.Host("m1"))
	if u, ok := evidence.AsUnavailable(err); !ok || !strings.Contains(u.Detail, "2026-03-01T10:00:00Z") {
		t.Errorf("%v", err)
	}
}

func TestLoops(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	run := func(restarts int64, lasted, ago time.Duration) status {
		return status{restarts: restarts, started: now.Add(-ago - lasted), ended: now.Add(-ago), running: true}
	}
	tests := []struct {
		name string
		s    status
		want bool
	}{
		{"waits", status{waiting: "CrashLoopBackOff"}, true},
		{"waits for something else", status{waiting: "ContainerCreating"}, false},
		{"runs again", run(5, time.Minute, 2*time.Minute), true},
		{"ran for a day", run(5, 24*time.Hour, 2*time.Minute), false},
		{"hours ago", run(5, time.Minute, 2*time.Hour), false},
		{"once", run(1, time.Minute, 2*time.Minute), false},
		{"never", status{}, false},
	}
	for _, tt := range tests {
		if got := tt.s.loops(now); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestCauses(t *testing.T) {
	tests := map[string]cause{
		`F0301 11:58:00.000001       1 server.go:1] Unable to create storage backend: config (&{ }), err (context deadline exceeded)`:    storage,
		`{"level":"panic","ts":"x","msg":"tocommit(5) is out of range [lastIndex(3)]. Was the raft log corrupted, truncated, or lost?"}`: storage,
		`{"level":"fatal","ts":"x","msg":"discovery failed","error":"member count is unequal"}`:                                          configuration,
		`Error: unknown flag: --a`: configuration,
		`Error: failed to create listener: failed to listen on 0.0.0.0:10257: listen tcp 0.0.0.0:10257: bind: address already in use`:      configuration,
		`F0301 1 1 a.go:1] error retrieving resource lock kube-system/kube-controller-manager: Unauthorized`:                               certificates,
		`Error: unable to load client CA provider: open /etc/kubernetes/a: no such file or directory`:                                      certificates,
		`Failed to update lock: Internal error occurred: failed calling webhook "a": x509: certificate signed by unknown authority`:        webhook,
		`error retrieving resource lock kube-system/kube-controller-manager: Get "https://a:6443/apis/b": net/http: TLS handshake timeout`: api,
		`leaderelection lost`: other,
	}
	for line, want := range tests {
		if got := causeOf(line); got != want {
			t.Errorf("causeOf(%q) = %s, want %s", line, got, want)
		}
	}
}

func TestErrorLines(t *testing.T) {
	for line, want := range map[string]bool{
		`E0301 11:58:00.000001       1 a.go:1] x`:                                                 true,
		`2026-03-01T11:58:00.1Z F0301 11:58:00.000001       1 a.go:1] x`:                          true,
		`I0301 11:58:00.000001       1 a.go:1] x`:                                                 false,
		`E0301 11:58:00.000001       1 authentication.go:1] "Unable to authenticate the request"`: false,
		`{"level":"warn","msg":"x"}`:                                                              false,
	} {
		if got := isError(line); got != want {
			t.Errorf("isError(%q) = %t", line, got)
		}
	}
	if got := plain(`2026-03-01T11:58:00.1Z {"level":"fatal","msg":"a","error":"b"}`); got != "a: b" {
		t.Errorf("plain: %q", got)
	}
}
