package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const (
	missing = "rendered-master-553d5d527988f8cd22e7791f6013fe42"
	target  = "rendered-master-9e786f4a442cb50f3dfeec92abb1675f"
	secret  = "c2VjcmV0LXB1bGwtc2VjcmV0LXZhbHVl" // planted: must appear nowhere but in the store and the cluster
)

var poolKey = fault.Subject{Kind: fault.Pool, Name: "master"}

// The faults of the test: one per remedy and the root over both.
var (
	rootFault   = fault.Key{Fault: "bootstrap-desync", Subject: poolKey}
	emptyFault  = fault.Key{Fault: "pool-config-empty", Subject: poolKey}
	renderFault = fault.Key{Fault: "render-missing", Subject: poolKey}
)

func renderObject(name, chrony string) Object {
	config := map[string]any{
		"ignition": map[string]any{"version": "3.4.0"},
		"storage": map[string]any{"files": []any{
			map[string]any{"path": "/var/lib/kubelet/config.json", "contents": map[string]any{"source": "data:," + secret}},
			map[string]any{"path": "/etc/chrony.conf", "contents": map[string]any{"source": "data:," + chrony}},
		}},
	}
	return Object{
		"apiVersion": openshift.MachineConfigGroup + "/v1", "kind": "MachineConfig",
		"metadata": map[string]any{"name": name, "creationTimestamp": nil,
			"annotations": map[string]any{openshift.GeneratedByControllerAnnotation: "abc123", openshift.ReleaseVersionAnnotation: "4.20.0"},
			"ownerReferences": []any{map[string]any{"apiVersion": openshift.MachineConfigGroup + "/v1", "kind": "MachineConfigPool", "name": "master", "uid": "",
				"controller": true, "blockOwnerDeletion": true}}},
		"spec": map[string]any{"config": config, "osImageURL": "quay.io/os@sha256:1", "kernelArguments": []any{}, "extensions": []any{}, "fips": false,
			"kernelType": ""},
	}
}

func master(name, config, state, ip string) Object {
	return Object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"labels": map[string]any{"node-role.kubernetes.io/master": ""},
			"annotations": map[string]any{openshift.CurrentConfigAnnotation: config, openshift.DesiredConfigAnnotation: config, openshift.ConfigStateAnnotation: state}},
		"spec": map[string]any{},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
			"addresses": []any{map[string]any{"type": "InternalIP", "address": ip}}},
	}
}

func etcdObject(members string) Object {
	c := func(kind, status, message string) any {
		return map[string]any{"type": kind, "status": status, "message": message}
	}
	return Object{"apiVersion": "operator.openshift.io/v1", "kind": "Etcd", "status": map[string]any{"conditions": []any{
		c("EtcdMembersAvailable", "True", members), c("EtcdMembersDegraded", "False", "No unhealthy members found"),
		c("EtcdMembersProgressing", "False", "No unstarted etcd members found"),
	}}}
}

// desync is the cluster of the incident.
func desync(t *testing.T) *world {
	w := newWorld(t)
	w.put(infrastructureRef(), Object{"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure",
		"status": map[string]any{"apiServerURL": "https://api.c.example.com:6443"}})
	w.put(Ref{Group: "config.openshift.io", Version: "v1", Resource: "networks", Name: "cluster"}, Object{"apiVersion": "config.openshift.io/v1", "kind": "Network",
		"status": map[string]any{"serviceNetwork": []any{"172.30.0.0/16"}, "clusterNetwork": []any{map[string]any{"cidr": "10.128.0.0/14"}}}})
	w.put(clusterVersionRef(), Object{"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
		"spec": map[string]any{"clusterID": "the-cluster"},
		"status": map[string]any{"history": []any{map[string]any{"state": "Partial", "version": "4.20.0"}},
			"conditions": []any{map[string]any{"type": "Progressing", "status": "True", "message": "Unable to apply 4.20.0"}}}})
	w.put(etcdRef(), etcdObject("2 members are available"))
	present := renderObject(target, "server-b")
	delete(present["metadata"].(map[string]any), "ownerReferences")
	w.put(configRef(target), present)
	w.put(poolRef("master"), Object{"apiVersion": openshift.MachineConfigGroup + "/v1", "kind": "MachineConfigPool",
		"spec": map[string]any{"configuration": map[string]any{"name": target, "source": []any{map[string]any{"kind": "MachineConfig", "name": "00-master"}}}},
		"status": map[string]any{"configuration": map[string]any{}, "machineCount": int64(2), "updatedMachineCount": int64(0),
			"readyMachineCount": int64(0), "unavailableMachineCount": int64(2), "degradedMachineCount": int64(2)}})
	w.put(nodeRef("control1"), master("control1", missing, "Degraded", "192.0.2.11"))
	w.put(nodeRef("control2"), master("control2", missing, "Degraded", "192.0.2.12"))
	return w
}

// tick lets one thing happen, in the order of life.
func (w *world) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.frozen {
		return
	}
	pool := w.objects[keyOf(poolRef("master"))]
	client, serving := w.objects[keyOf(csrRef("csr-client"))], w.objects[keyOf(csrRef("csr-serving"))]
	node := w.objects[keyOf(nodeRef("control0"))]
	switch {
	case client == nil && stringAt(pool, "status", "configuration", "name") != "":
		w.request("csr-client", "control0", "client")
	case client != nil && w.sign(client):
	case client != nil && issued(client) && node == nil:
		w.put(nodeRef("control0"), master("control0", target, "Done", "192.0.2.10"))
		w.request("csr-serving", "control0", "serving", "192.0.2.10")
	case serving != nil && w.sign(serving):
	case node != nil && !w.sick && w.objects[keyOf(etcdRef())] != nil && !strings.HasPrefix(w.etcdText(), "3"):
		w.put(etcdRef(), etcdObject("3 members are available"))
	default:
		w.daemons()
	}
	w.controller()
}

func (w *world) etcdText() string {
	s, _ := conditionOf(w.objects[keyOf(etcdRef())], "EtcdMembersAvailable")["message"].(string)
	return s
}

func issued(o Object) bool { return stringAt(o, "status", "certificate") != "" }

func (w *world) sign(o Object) bool {
	if c := conditionOf(o, "Approved"); c == nil || issued(o) {
		return false
	}
	w.edit(csrRef(stringAt(o, "metadata", "name")), "kube-controller-manager", func(o Object) { o["status"].(map[string]any)["certificate"] = "Y2VydA==" })
	return true
}

// daemons: a stuck daemon that finds its config says Done; then the controller
// moves one node at a time.
func (w *world) daemons() {
	for _, n := range []string{"control1", "control2"} {
		o := w.objects[keyOf(nodeRef(n))]
		config, state := stringAt(o, "metadata", "annotations", openshift.CurrentConfigAnnotation), stringAt(o, "metadata", "annotations", openshift.ConfigStateAnnotation)
		if w.objects[keyOf(configRef(config))] == nil {
			continue
		}
		set := func(key, v string) {
			w.edit(nodeRef(n), "machine-config-daemon", func(o Object) { o["metadata"].(map[string]any)["annotations"].(map[string]any)[key] = v })
		}
		switch {
		case state == "Degraded":
			set(openshift.ConfigStateAnnotation, "Done")
			return
		case config != target:
			set(openshift.DesiredConfigAnnotation, target)
			set(openshift.CurrentConfigAnnotation, target)
			return
		}
	}
}

// controller recounts the pool as calculateStatus does.
func (w *world) controller() {
	var all, updated, degraded int64
	for _, n := range []string{"control0", "control1", "control2"} {
		o := w.objects[keyOf(nodeRef(n))]
		if o == nil {
			continue
		}
		all++
		if stringAt(o, "metadata", "annotations", openshift.ConfigStateAnnotation) == "Degraded" {
			degraded++
		} else if stringAt(o, "metadata", "annotations", openshift.CurrentConfigAnnotation) == target {
			updated++
		}
	}
	w.edit(poolRef("master"), "machine-config-controller", func(o Object) {
		s := o["status"].(map[string]any)
		s["machineCount"], s["updatedMachineCount"], s["readyMachineCount"] = all, updated, updated
		s["degradedMachineCount"], s["unavailableMachineCount"] = degraded, degraded
		if all == updated {
			s["configuration"] = clone(o["spec"].(map[string]any))["configuration"]
		}
	})
}

// Evaluate implements Evaluator on the world as it is.
func (w *world) Evaluate(_ context.Context, k fault.Key) (diagnosis.Finding, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	empty := stringAt(w.objects[keyOf(poolRef("master"))], "status", "configuration", "name") == ""
	absent := false
	for _, n := range []string{"control1", "control2"} {
		config := stringAt(w.objects[keyOf(nodeRef(n))], "metadata", "annotations", openshift.CurrentConfigAnnotation)
		absent = absent || w.objects[keyOf(configRef(config))] == nil
	}
	present := map[string]bool{"pool-config-empty": empty, "render-missing": absent, "bootstrap-desync": absent}[k.Fault]
	f := diagnosis.Finding{Fault: k.Fault, Subject: k.Subject, Outcome: fault.Absent}
	if present {
		f.Outcome = fault.Present
	}
	return f, nil
}

// Diagnose implements Evaluator: the first of the faults that is present is the root.
func (w *world) Diagnose(ctx context.Context) (*diagnosis.Diagnosis, error) {
	d := &diagnosis.Diagnosis{Cluster: diagnosis.ClusterInfo{ID: "the-cluster"}, Verdict: diagnosis.Verdict{Class: diagnosis.Healthy}}
	for _, k := range []fault.Key{rootFault, emptyFault, renderFault} {
		f, err := w.Evaluate(ctx, k)
		if err != nil {
			return nil, err
		}
		f.Severity = fault.Error
		d.Findings = append(d.Findings, f)
		switch {
		case f.Outcome != fault.Present:
		case len(d.Roots) == 0:
			d.Roots = append(d.Roots, diagnosis.Root{Fault: k.Fault, Cases: []diagnosis.Case{{Key: k}}})
			d.Verdict.Class = diagnosis.RecoverableInPlace
		default:
			d.Roots[0].Cases[0].Explains = append(d.Roots[0].Cases[0].Explains, k)
		}
	}
	if w.diagnosed != nil {
		return w.diagnosed(d)
	}
	return d, nil
}

// clock advances only when someone waits, and then the world moves.
type clock struct{ w *world }

func (c clock) Now() time.Time { c.w.mu.Lock(); defer c.w.mu.Unlock(); return c.w.now }

func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.w.mu.Lock()
	c.w.now = c.w.now.Add(d)
	c.w.mu.Unlock()
	c.w.tick()
	return nil
}

func testCatalog(t *testing.T) *fault.Catalog {
	return loaded(t, "desync", func() fstest.MapFS { return desyncCatalog(t) })
}

// catalogs are those of the tests, each loaded once. No test changes one.
var catalogs sync.Map

// loaded returns the catalog of the tests with that name.
func loaded(t *testing.T, name string, files func() fstest.MapFS) *fault.Catalog {
	t.Helper()
	if c, ok := catalogs.Load(name); ok {
		return c.(*fault.Catalog)
	}
	c, err := fault.Load(files())
	if err != nil {
		t.Fatal(err)
	}
	kept, _ := catalogs.LoadOrStore(name, c)
	return kept.(*fault.Catalog)
}

func desyncCatalog(t *testing.T) fstest.MapFS {
	t.Helper()
	entry := func(id, remedy string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(fmt.Sprintf(
			"id: %s\ntitle: t\nlayer: l\nfor: pool\nseverity: error\ngiven: {}\nwhen: 'true'\nmeans: m\nremedies: [%s]\nrefs: [{repo: a/b}]\n", id, remedy))}
	}
	files := fstest.MapFS{
		"bootstrap-desync.yaml":  entry("bootstrap-desync", ""),
		"pool-config-empty.yaml": entry("pool-config-empty", "adopt-spec-config"),
		"render-missing.yaml":    entry("render-missing", "recreate-missing-render, align-annotations"),
	}
	for _, id := range RemedyIDs() {
		name := "remedies/" + id + ".yaml"
		data, err := catalog.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

func testDiagnosis() *diagnosis.Diagnosis {
	d := &diagnosis.Diagnosis{Roots: []diagnosis.Root{{Fault: rootFault.Fault, Cases: []diagnosis.Case{{Key: rootFault,
		Title: "two masters name a render that is not there", Confidence: diagnosis.Proven,
		Explains: []fault.Key{emptyFault, renderFault}}}}}}
	for _, k := range []fault.Key{rootFault, emptyFault, renderFault} {
		d.Findings = append(d.Findings, diagnosis.Finding{Fault: k.Fault, Subject: k.Subject, Outcome: fault.Present})
	}
	host := func(name string, stage fault.Stage) diagnosis.HostState {
		return diagnosis.HostState{Name: name, Role: "master", Expected: true, Stage: stage, State: diagnosis.StageFailed}
	}
	d.Hosts = []diagnosis.HostState{host("control0", fault.IgnitionFetched), host("control1", fault.ConfigDone), host("control2", fault.ConfigDone)}
	return d
}

// rig is a world with everything that repairs it.
type rig struct {
	*world
	dir  string
	exec *Executor
	said []string
}

func newRig(t *testing.T, w *world) *rig {
	r := &rig{world: w, dir: t.TempDir()}
	store := NewStore(r.dir)
	api := w.api()
	r.exec = &Executor{API: api, Eval: w, Catalog: testCatalog(t), Clock: clock{w}, StateDir: r.dir, Store: store, CA: "ca", Mirror: ConfigMapMirror{api},
		Say: func(step, text string) { r.said = append(r.said, step+": "+text) }, Poll: 10 * time.Second}
	return r
}

func (r *rig) held(t *testing.T, o Object) HeldConfigs {
	raw, err := json.MarshalIndent(o, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "held.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return HeldFiles{"control1": path}
}

func (r *rig) ask(t *testing.T) Ask {
	e, err := csr.ParseExpect("control0=192.0.2.10")
	if err != nil {
		t.Fatal(err)
	}
	return Ask{Diagnosis: testDiagnosis(), Catalog: testCatalog(t), Root: rootFault, Expect: []csr.Expectation{e},
		Cluster: ClusterID{ID: "the-cluster", Server: "https://api:6443", CA: "ca"}, Context: "admin"}
}

// reviewed makes an edited plan one that a person has read: its digest is named.
func (r *rig) reviewed(t *testing.T, p *Plan) {
	t.Helper()
	digest, err := p.FileDigest()
	if err != nil {
		t.Fatal(err)
	}
	r.exec.Reviewed = digest
}

// failure leaves out the outcome of a run.
func failure(_ *Outcome, err error) error { return err }

func (r *rig) plan(t *testing.T) *Plan {
	t.Helper()
	p, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock, Held: r.held(t, renderObject(missing, "server-a"))}).Plan(t.Context(), r.ask(t))
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	if _, err := p.Issue(r.dir, ".yaml"); err != nil {
		t.Fatal(err)
	}
	return p
}
