package csrs_test

import (
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const (
	approverPod = "namespaces/openshift-cluster-machine-approver/pods/machine-approver-5f6d7c8b9-fedcb/"
	approverLog = approverPod + "machine-approver-controller/machine-approver-controller/logs/current.log"
	requests    = "cluster-scoped-resources/certificates.k8s.io/certificatesigningrequests/"
	config      = "namespaces/openshift-cluster-machine-approver/core/configmaps/machine-approver-config.yaml"
)

func logs(t evidence.Text) bool { return t.Kind == evidence.ContainerLog }

func unknown[T any](f facts.Field[T]) bool { _, err := f.Get(); return err != nil }

func is[T comparable](t *testing.T, name string, f facts.Field[T], want T) {
	t.Helper()
	if got, err := f.Get(); err != nil || got != want {
		t.Errorf("%s is %v (%v), want %v", name, got, err, want)
	}
}

func TestApprover(t *testing.T) {
	read := func(w *facts.World) csrs.Approver {
		return factstest.Fields[csrs.Approver](t, w, csrs.ApproverFact(), factstest.Cluster())
	}
	a := read(factstest.World(t, factstest.Metal, ""))
	is(t, "running", a.Running, true)
	is(t, "leaseStale", a.LeaseStale, false)
	is(t, "flowDisabled", a.FlowDisabled, false)
	is(t, "refusals", a.Refusals, 0)

	a = read(factstest.World(t, factstest.Metal, "-- "+config+" --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: machine-approver-config, namespace: openshift-cluster-machine-approver}\n"+
		"data: {config.yaml: \"nodeClientCert: {disabled: true}\"}\n"))
	is(t, "flowDisabled", a.FlowDisabled, true)

	for name, w := range map[string]*facts.World{
		"taken away": factstest.World(t, factstest.Metal, "-- delete:"+approverLog+" --\n"),
		"empty":      factstest.World(t, factstest.Metal, "-- "+approverLog+" --\n"),
		"broken off": factstest.Broken(t, factstest.Metal, "", logs),
	} {
		if a := read(w); !unknown(a.Refusals) || unknown(a.Running) || unknown(a.FlowDisabled) {
			t.Errorf("log %s: %+v", name, a)
		}
	}
	is(t, "refusals", read(factstest.World(t, factstest.Metal, "-- append:"+approverLog+
		" --\nE0301 11:50:00.000000       1 csr_check.go:377] csr-x: node w9 already exists, cannot approve\n")).Refusals, 1)

	for need, missing := range map[evidence.Need]func(csrs.Approver) bool{
		evidence.Objects(evidence.Pods, openshift.MachineApproverNamespace):       func(a csrs.Approver) bool { return unknown(a.Pods) && unknown(a.Running) && unknown(a.Waiting) },
		evidence.Objects(evidence.Leases, openshift.MachineApproverNamespace):     func(a csrs.Approver) bool { return unknown(a.LeaseFound) && unknown(a.LeaseStale) },
		evidence.Objects(evidence.Leases, "kube-node-lease"):                      func(a csrs.Approver) bool { return unknown(a.LeaseStale) && !unknown(a.LeaseFound) },
		evidence.Objects(evidence.ConfigMaps, openshift.MachineApproverNamespace): func(a csrs.Approver) bool { return unknown(a.FlowDisabled) },
	} {
		if a := read(factstest.World(t, factstest.Metal, "", need)); !missing(a) {
			t.Errorf("without %s: %+v", need, a)
		}
	}
}

// TestApproverStopped holds since when the approver does not run: a moment ago while a drain
// moves it, whatever is left of it and however old the rest is.
func TestApproverStopped(t *testing.T) {
	const pods = "namespaces/openshift-cluster-machine-approver/pods/"
	pod := func(name, more, status string) string {
		return "-- " + pods + name + "/" + name + ".yaml --\napiVersion: v1\nkind: Pod\n" +
			"metadata: {name: " + name + ", namespace: openshift-cluster-machine-approver, creationTimestamp: \"2026-03-01T08:03:00Z\", labels: {app: machine-approver}" + more + "}\n" +
			"spec: {nodeName: m0}\nstatus: " + status + "\n"
	}
	const gone = "machine-approver-5f6d7c8b9-fedcb"
	none := "-- delete:" + pods + gone + "/" + gone + ".yaml --\n" +
		"-- namespaces/openshift-cluster-machine-approver/core/pods.yaml --\napiVersion: v1\nkind: PodList\nitems: []\n"
	led := none + "-- patch:namespaces/openshift-cluster-machine-approver/coordination.k8s.io/leases/cluster-machine-approver-leader.yaml --\n" +
		"spec: {renewTime: \"2026-03-01T11:58:40.000000Z\"}\n"
	leaves := pod(gone, `, deletionTimestamp: "2026-03-01T11:59:30Z", deletionGracePeriodSeconds: 30`,
		`{phase: Running, conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-03-01T08:03:30Z"}], containerStatuses: [{name: machine-approver-controller, ready: false}]}`)
	evicted := pod("machine-approver-5f6d7c8b9-older", "",
		`{phase: Failed, reason: Evicted, conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-03-01T09:00:00Z"}]}`)
	for name, c := range map[string]struct{ changes, since string }{
		"no pod":                     {led, "2026-03-01T11:58:40Z"},
		"one leaves":                 {leaves, "2026-03-01T11:59:00Z"},
		"one leaves, one is evicted": {leaves + evicted, "2026-03-01T11:59:00Z"},
	} {
		a := factstest.Fields[csrs.Approver](t, factstest.World(t, factstest.Metal, c.changes), csrs.ApproverFact(), factstest.Cluster())
		is(t, name+": running", a.Running, false)
		since, err := a.Since.Get()
		if err != nil || since.UTC().Format(time.RFC3339) != c.since {
			t.Errorf("%s: since %s (%v), want %s", name, since, err, c.since)
		}
	}
	a := factstest.Fields[csrs.Approver](t, factstest.World(t, factstest.Metal, none, evidence.Objects(evidence.Leases, openshift.MachineApproverNamespace)),
		csrs.ApproverFact(), factstest.Cluster())
	if !unknown(a.Since) {
		t.Errorf("without pod and leases: since %s", a.Since.Value())
	}
}

// broken is a request whose PKCS #10 part cannot be read.
var broken = "-- " + requests + "csr-broken.yaml --\napiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\n" +
	"metadata: {name: csr-broken, creationTimestamp: \"2026-03-01T11:50:00Z\"}\nspec: {signerName: kubernetes.io/kube-apiserver-client-kubelet, username: x, usages: [client auth], request: " +
	base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte("x")})) + "}\n"

func TestHost(t *testing.T) {
	read := func(changes string) csrs.HostRequests {
		return factstest.Fields[csrs.HostRequests](t, factstest.World(t, factstest.Metal, changes), csrs.HostFact(), factstest.Host("w1"))
	}
	h := read("")
	is(t, "client", h.Client, "none")
	is(t, "asAdmin", h.AsAdmin, 0)
	if h = read(broken); !unknown(h.Client) || !unknown(h.FirstAsked) || !unknown(h.AsAdmin) {
		t.Errorf("a request that cannot be read may be the host's: %+v", h)
	}
	w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.CSRs, ""))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, csrs.HostFact(), factstest.Host("w1"))); !ok {
		t.Error("requests that could not be read are no Unavailable")
	}
}

func TestFlood(t *testing.T) {
	read := func(without ...evidence.Need) csrs.FloodSeen {
		return factstest.Fields[csrs.FloodSeen](t, factstest.World(t, factstest.Metal, "", without...), csrs.FloodFact(), factstest.Cluster())
	}
	is(t, "exceeded", read().Exceeded, false)
	for _, need := range []evidence.Need{evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.Machines, csrs.MachineNamespace)} {
		f := read(need)
		is(t, "exceeded, below every limit", f.Exceeded, false)
		if !unknown(f.Limit) {
			t.Errorf("without %s the limit is %v", need, f.Limit)
		}
	}
	w := factstest.Broken(t, factstest.Metal, "", logs)
	if f := factstest.Fields[csrs.FloodSeen](t, w, csrs.FloodFact(), factstest.Cluster()); !unknown(f.Logged) || unknown(f.Exceeded) {
		t.Errorf("the log breaks off: %+v", f)
	}
}

func TestRequest(t *testing.T) {
	read := func(w *facts.World) csrs.Asked {
		return factstest.Fields[csrs.Asked](t, w, csrs.RequestFact(), fault.Subject{Kind: fault.CSR, Name: "csr-broken"})
	}
	a := read(factstest.World(t, factstest.Metal, broken))
	is(t, "state", a.State, "pending")
	is(t, "waits", a.Waits, string(csrs.WaitsShape))
	is(t, "nodeExists", a.NodeExists, false)
	is(t, "logged", a.Logged, "")
	if proof := a.Waits.Proof(); len(proof) == 0 || !strings.Contains(proof[0].Locator.Path, "csr-broken") {
		t.Errorf("what it waits for is shown by %v", proof)
	}
	a = read(factstest.Broken(t, factstest.Metal, broken, logs))
	if !unknown(a.Logged) || unknown(a.NodeExists) || unknown(a.ApprovedReason) {
		t.Errorf("the approver's log breaks off: %+v", a)
	}
	for need, missing := range map[evidence.Need]func(csrs.Asked) bool{
		evidence.Objects(evidence.Nodes, ""):                       func(a csrs.Asked) bool { return unknown(a.NodeExists) && unknown(a.AliveSince) },
		evidence.Objects(evidence.Machines, csrs.MachineNamespace): func(a csrs.Asked) bool { return unknown(a.Machines) && unknown(a.StrangeIPs) },
	} {
		if a := read(factstest.World(t, factstest.Metal, broken, need)); !missing(a) {
			t.Errorf("without %s: %+v", need, a)
		}
	}
}
