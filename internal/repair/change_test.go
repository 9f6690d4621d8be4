package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// changeCase is a fault that a change of fields ends, on an object as it is then.
type changeCase struct {
	remedy  string
	subject fault.Subject
	object  Ref
	content func() Object
	broken  func(o Object) bool // the fault, as the test's evaluator sees it
	follow  func(o Object)      // what the controller does after the change; nil: nothing
	actions []ActionName
	value   string // what a person gives
	stays   bool   // it cannot be undone
}

func bareMetalHost(annotations map[string]any, spec, status map[string]any) func() Object {
	return func() Object {
		return clone(Object{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
			"metadata": map[string]any{"annotations": annotations}, "spec": spec, "status": status})
	}
}

func changeCases() []changeCase {
	onlyVerify := []ActionName{ChangeFields, Verify}
	host := fault.Subject{Kind: fault.Host, Name: "worker-1.example.com"}
	annotated := func(key string) func(Object) bool {
		return func(o Object) bool { _, there := fieldAt(o, pointer("metadata", "annotations", key)); return there }
	}
	return []changeCase{
		{
			remedy: "switch-host-on", subject: host, object: bareMetalHostRef("rack7-u12"),
			content: bareMetalHost(map[string]any{"other": "stays"}, map[string]any{"online": false, "consumerRef": map[string]any{"name": "worker-machine-1"}},
				map[string]any{"poweredOn": false, "provisioning": map[string]any{"state": "provisioned"}}),
			broken:  func(o Object) bool { return !boolAt(o, "status", "poweredOn") },
			follow:  func(o Object) { o["status"].(map[string]any)["poweredOn"] = boolAt(o, "spec", "online") },
			actions: onlyVerify,
		},
		{
			remedy: "unpause-host", subject: host, object: bareMetalHostRef("worker-1"),
			content: bareMetalHost(map[string]any{metal3.PausedAnnotation: "maintenance", "other": "stays"}, map[string]any{"online": true},
				map[string]any{"provisioning": map[string]any{"state": "available"}}),
			broken:  annotated(metal3.PausedAnnotation),
			actions: onlyVerify,
		},
		{
			remedy: "attach-host", subject: host, object: bareMetalHostRef("worker-1"),
			content: bareMetalHost(map[string]any{metal3.DetachedAnnotation: ""}, map[string]any{"online": true}, map[string]any{"operationalStatus": "detached"}),
			broken:  func(o Object) bool { return stringAt(o, "status", "operationalStatus") == "detached" },
			follow: func(o Object) {
				if !annotated(metal3.DetachedAnnotation)(o) {
					o["status"].(map[string]any)["operationalStatus"] = "OK"
				}
			},
			actions: onlyVerify,
		},
		{
			remedy: "unpause-pool", subject: fault.Subject{Kind: fault.Pool, Name: "worker"}, object: poolRef("worker"),
			content: func() Object {
				return clone(Object{"apiVersion": openshift.MachineConfigGroup + "/v1", "kind": "MachineConfigPool",
					"spec": map[string]any{"paused": true, "configuration": map[string]any{"name": "rendered-worker-b"}},
					"status": map[string]any{"configuration": map[string]any{"name": "rendered-worker-a"}, "machineCount": 2, "updatedMachineCount": 0,
						"readyMachineCount": 2, "unavailableMachineCount": 0, "degradedMachineCount": 0}})
			},
			broken: func(o Object) bool { return boolAt(o, "spec", "paused") },
			follow: func(o Object) {
				if !boolAt(o, "spec", "paused") {
					s := o["status"].(map[string]any)
					s["updatedMachineCount"], s["configuration"] = 2, map[string]any{"name": "rendered-worker-b"}
				}
			},
			actions: []ActionName{ChangeFields, WaitPool, Verify},
		},
		{
			remedy: "remove-etcd-override", subject: fault.Subject{Kind: fault.Cluster}, object: etcdRef(),
			content: func() Object {
				o := etcdObject("3 members are available")
				o["spec"] = map[string]any{"unsupportedConfigOverrides": map[string]any{"useUnsupportedUnsafeNonHANonProductionUnstableEtcd": true}}
				return clone(o)
			},
			broken: func(o Object) bool {
				return boolAt(o, "spec", "unsupportedConfigOverrides", "useUnsupportedUnsafeNonHANonProductionUnstableEtcd")
			},
			actions: onlyVerify,
		},
		{
			remedy: "correct-bmc-address", subject: host, object: bareMetalHostRef("worker-1"), value: "redfish-virtualmedia://192.0.2.7/redfish/v1/Systems/1",
			content: bareMetalHost(nil, map[string]any{"online": true, "bmc": map[string]any{"address": "redfish://192.0.2.7/redfish/v1/Managers/1",
				"credentialsName": "worker-1-bmc"}},
				map[string]any{"errorType": "registration error", "provisioning": map[string]any{"state": "registering"}}),
			broken:  func(o Object) bool { return stringAt(o, "status", "errorType") != "" },
			actions: []ActionName{ChangeFields, TouchSecret, Verify},
		},
		{
			remedy: "inspect-host-again", subject: host, object: bareMetalHostRef("worker-1"),
			content: bareMetalHost(nil, map[string]any{"online": true}, map[string]any{"errorType": "inspection error",
				"provisioning": map[string]any{"state": "inspecting"}}),
			broken: func(o Object) bool { return stringAt(o, "status", "errorType") != "" },
			follow: func(o Object) {
				if annotated(metal3.RebootAnnotationPrefix)(o) {
					delete(o["metadata"].(map[string]any)["annotations"].(map[string]any), metal3.RebootAnnotationPrefix)
					delete(o["status"].(map[string]any), "errorType")
				}
			},
			actions: onlyVerify,
		},
		{
			remedy: "append-machine-network", subject: fault.Subject{Kind: fault.Cluster}, object: infrastructureRef(), value: "198.51.100.0/24",
			content: func() Object {
				return clone(Object{"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "status": map[string]any{"platform": "BareMetal"},
					"spec": map[string]any{"platformSpec": map[string]any{"type": "BareMetal", "baremetal": map[string]any{"machineNetworks": []any{"192.0.2.0/24"}}}}})
			},
			broken: func(o Object) bool {
				v, _ := fieldAt(o, "/spec/platformSpec/baremetal/machineNetworks/1")
				return v != "198.51.100.0/24"
			},
			actions: onlyVerify,
		},
		redeployCase("redeploy-controller-manager", "kubecontrollermanagers", "KubeControllerManager"),
		redeployCase("redeploy-scheduler", "kubeschedulers", "KubeScheduler"),
		failedCase("etcd", etcdObject("3 members are available")),
		{
			remedy: leafRemedy, subject: fault.Subject{Kind: fault.Host, Name: "control0"}, object: secretRef("openshift-config-managed",
				"kube-scheduler-client-cert-key"),
			value:   "openshift-config-managed/kube-scheduler-client-cert-key",
			content: func() Object { return leafSecret(false) },
			broken:  func(o Object) bool { v, _ := fieldAt(o, certificateEnds); return v != "2026-06-01T00:00:00Z" },
			follow: func(o Object) {
				if v, _ := fieldAt(o, certificateEnds); v == forceRegeneration {
					o["metadata"].(map[string]any)["annotations"].(map[string]any)["auth.openshift.io/certificate-not-after"] = "2026-06-01T00:00:00Z"
				}
			},
			actions: onlyVerify,
		},
		{
			remedy: "allow-baseline-pods", subject: fault.Subject{Kind: fault.Cluster}, object: inHosted(hostedClusterRef("guest")),
			content: hostedCluster,
			broken:  func(o Object) bool { v, _ := fieldAt(o, podSecurity); return v != baseline },
			actions: onlyVerify,
		},
		{
			remedy: "resume-hosted-reconciliation", subject: fault.Subject{Kind: fault.Cluster}, object: inHosted(hostedClusterRef("guest")),
			content: func() Object {
				o := hostedCluster()
				o["spec"].(map[string]any)["pausedUntil"] = "true"
				return o
			},
			broken:  func(o Object) bool { return stringAt(o, "spec", "pausedUntil") != "" },
			actions: onlyVerify,
		},
		{
			remedy: "resume-nodepool", subject: fault.Subject{Kind: fault.NodePool, Name: "guest-b"}, object: inHosted(nodePoolRef("guest-b")),
			content: func() Object {
				return clone(Object{"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool", "spec": map[string]any{"clusterName": "guest",
					"pausedUntil": "2027-01-01T00:00:00Z"}})
			},
			broken:  func(o Object) bool { return stringAt(o, "spec", "pausedUntil") != "" },
			actions: onlyVerify,
		},
		{
			remedy: "start-hypershift-operator", subject: fault.Subject{Kind: fault.NodePool, Name: "guest-b"}, object: hypershiftOperatorRef(),
			content: func() Object {
				return clone(Object{"apiVersion": "apps/v1", "kind": "Deployment", "spec": map[string]any{"replicas": 0}, "status": map[string]any{}})
			},
			broken:  func(o Object) bool { return intAt(o, "status", "availableReplicas") == 0 },
			follow:  func(o Object) { o["status"] = clone(map[string]any{"availableReplicas": intAt(o, "spec", "replicas")}) },
			actions: onlyVerify,
		},
	}
}

const hostedName = "clusters/guest"

func inHosted(ref Ref) Ref {
	ref.Namespace = "clusters"
	return ref
}

func hostedCluster() Object {
	return clone(Object{"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster", "spec": map[string]any{"clusterID": "the-cluster"},
		"status": map[string]any{"version": map[string]any{"history": []any{map[string]any{"state": "Completed", "version": "4.20.4"}}}}})
}

// hosted reports whether the case is about a hosted cluster.
func (c changeCase) hosted() bool {
	change, _ := changeOf(c.remedy)
	return change.hosted
}

func redeployCase(remedy, resource, kind string) changeCase {
	return changeCase{
		remedy: remedy, subject: fault.Subject{Kind: fault.Cluster}, object: Ref{Group: "operator.openshift.io", Version: "v1", Resource: resource, Name: "cluster"},
		content: func() Object {
			return clone(Object{"apiVersion": "operator.openshift.io/v1", "kind": kind, "spec": map[string]any{},
				"status": map[string]any{"latestAvailableRevision": 7, "nodeStatuses": []any{map[string]any{"nodeName": "control0", "currentRevision": 7,
					"targetRevision": 0}}}})
		},
		broken: func(o Object) bool { return behindNewest(o) != "" || intAt(o, "status", "latestAvailableRevision") < 8 },
		follow: func(o Object) {
			if stringAt(o, "spec", "forceRedeploymentReason") != "" {
				o["status"] = clone(map[string]any{"latestAvailableRevision": 8, "nodeStatuses": []any{map[string]any{"nodeName": "control0",
					"currentRevision": 8, "targetRevision": 0}}})
			}
		},
		actions: []ActionName{ChangeFields, Verify}, stays: true,
	}
}

// failedCase is an operator whose newest revision could not be installed on one node.
func failedCase(operator string, o Object) changeCase {
	revisions := func(o Object, at int64, control1 map[string]any) {
		s := o["status"].(map[string]any)
		s["latestAvailableRevision"], s["nodeStatuses"] = at, []any{map[string]any{"nodeName": "control0", "currentRevision": at,
			"targetRevision": int64(0)}, control1}
	}
	return changeCase{
		remedy: "redeploy-operand", subject: fault.Subject{Kind: fault.Operator, Name: operator}, object: operandRef(operator),
		content: func() Object {
			o := clone(o)
			o["spec"] = map[string]any{}
			revisions(o, 7, map[string]any{"nodeName": "control1", "currentRevision": 6, "targetRevision": 7, "lastFailedRevision": 7, "lastFailedCount": 3})
			return clone(o)
		},
		broken: func(o Object) bool { return behindNewest(o) != "" },
		follow: func(o Object) {
			if stringAt(o, "spec", "forceRedeploymentReason") != "" {
				revisions(o, 8, map[string]any{"nodeName": "control1", "currentRevision": int64(8), "targetRevision": int64(0)})
			}
		},
		actions: []ActionName{ChangeFields, Verify}, stays: true,
	}
}

// changeRig is a small cluster with the object of one case.
type changeRig struct {
	*rig
	c     changeCase
	still bool // the controller does nothing
}

func newChangeRig(t *testing.T, c changeCase) *changeRig {
	w := newWorld(t)
	w.frozen = true
	w.put(clusterVersionRef(), Object{"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "spec": map[string]any{"clusterID": "the-cluster"},
		"status": map[string]any{"history": []any{map[string]any{"state": "Completed", "version": "4.20.4"}},
			"conditions": []any{map[string]any{"type": "Progressing", "status": "False"}}}})
	w.put(etcdRef(), etcdObject("3 members are available"))
	w.put(machineRef("worker-machine-1"), Object{"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
		"status": map[string]any{"nodeRef": map[string]any{"name": "worker-1.example.com"}}})
	w.put(bareMetalHostRef("somebody-else"), Object{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
		"spec": map[string]any{"consumerRef": map[string]any{"name": "worker-machine-2"}}})
	if c.hosted() { // the cluster of the kubeconfig is another one
		w.edit(clusterVersionRef(), "x", func(o Object) { o["spec"].(map[string]any)["clusterID"] = "management" })
		w.put(inHosted(hostedClusterRef("guest")), hostedCluster())
	}
	w.put(c.object, c.content())
	r := &changeRig{rig: newRig(t, w), c: c}
	if c.remedy == bmcAddressRemedy {
		r.touched(t)
	}
	r.exec.Clock, r.exec.Eval, r.exec.Catalog = r, r, r.catalog(t)
	return r
}

// touched lets metal3 take a new path of a BMC only when it has read the Secret again.
func (r *changeRig) touched(t *testing.T) {
	ref := secretRef(openshift.MachineAPINamespace, "worker-1-bmc")
	r.put(ref, newContent(t, "secrets", map[string]string{"username": "root", "password": "right"}))
	before := stringAt(r.objects[keyOf(ref)], "metadata", "resourceVersion")
	r.c.follow = func(o Object) {
		version := stringAt(r.objects[keyOf(ref)], "metadata", "resourceVersion")
		if version != before && strings.Contains(stringAt(o, "spec", "bmc", "address"), "Systems") {
			o["status"] = clone(map[string]any{"provisioning": map[string]any{"state": "inspecting"}, "goodCredentials": map[string]any{"credentialsVersion": version}})
		}
	}
}

func (r *changeRig) key() fault.Key { return fault.Key{Fault: "the-fault", Subject: r.c.subject} }

func (r *changeRig) catalog(t *testing.T) *fault.Catalog {
	return loaded(t, string(r.c.subject.Kind)+" "+r.c.remedy, func() fstest.MapFS { return r.catalogFiles(t) })
}

func (r *changeRig) catalogFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{"the-fault.yaml": &fstest.MapFile{Data: []byte(fmt.Sprintf(
		"id: the-fault\ntitle: t\nlayer: l\nfor: %s\nseverity: error\ngiven: {}\nwhen: 'true'\nmeans: m\nremedies: [%s]\nrefs: [{repo: a/b}]\n",
		r.c.subject.Kind, r.c.remedy))}}
	name := "remedies/" + r.c.remedy + ".yaml"
	data, err := catalog.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.NewReplacer("{bmh.name}", "{host}", "{at.", "{", "given: {at: {fact: hosted-names}}\n",
		"").Replace(string(data))) // facts of the real fault
	files[name] = &fstest.MapFile{Data: data}
	return files
}

// Now and Sleep implement Clock: while somebody waits, the controller works.
func (r *changeRig) Now() time.Time { return clock{r.world}.Now() }

func (r *changeRig) Sleep(ctx context.Context, d time.Duration) error {
	err := clock{r.world}.Sleep(ctx, d)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.c.follow != nil && !r.still {
		r.edit(r.c.object, "controller", r.c.follow)
	}
	return err
}

func (r *changeRig) Evaluate(_ context.Context, k fault.Key) (diagnosis.Finding, error) {
	f := diagnosis.Finding{Fault: k.Fault, Subject: k.Subject, Outcome: fault.Absent, Severity: fault.Error}
	if r.c.broken(r.get(r.c.object)) {
		f.Outcome = fault.Present
	}
	return f, nil
}

func (r *changeRig) Diagnose(ctx context.Context) (*diagnosis.Diagnosis, error) {
	d := &diagnosis.Diagnosis{Cluster: diagnosis.ClusterInfo{ID: "the-cluster"}, Verdict: diagnosis.Verdict{Class: diagnosis.Healthy}}
	f, err := r.Evaluate(ctx, r.key())
	if f.Outcome == fault.Present {
		d.Roots, d.Verdict.Class = []diagnosis.Root{{Fault: r.key().Fault, Cases: []diagnosis.Case{{Key: r.key(), Title: "t",
			Confidence: diagnosis.Proven}}}}, diagnosis.RecoverableInPlace
	}
	d.Findings = []diagnosis.Finding{f}
	return d, err
}

func (r *changeRig) planned(t *testing.T) (*Plan, error) {
	t.Helper()
	d, err := r.Diagnose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cluster := ClusterID{ID: "the-cluster", Server: "https://api:6443", CA: "ca"}
	if r.c.hosted() {
		cluster.Hosted = hostedName
	}
	p, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock}).Plan(t.Context(), Ask{Diagnosis: d, Catalog: r.exec.Catalog, Root: r.key(),
		Values: map[string]string{r.c.remedy: r.c.value}, Cluster: cluster, Context: "admin"})
	if err != nil {
		return nil, err
	}
	_, err = p.Issue(r.dir, ".yaml")
	return p, err
}

func (r *changeRig) mustPlan(t *testing.T) *Plan {
	t.Helper()
	p, err := r.planned(t)
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	return p
}

// patched is how often the object was written.
func (r *changeRig) patched() int {
	n := 0
	for _, w := range r.writes {
		if strings.HasPrefix(w, "patch "+r.c.object.String()) {
			n++
		}
	}
	return n
}

func TestChange(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range changeCases() {
		tried[c.remedy] = true
		t.Run(c.remedy, func(t *testing.T) {
			r := newChangeRig(t, c)
			p := r.mustPlan(t)
			if got := actionNames(p); fmt.Sprint(got) != fmt.Sprint(c.actions) || len(p.Open) > 0 {
				t.Fatalf("steps %v, open %v", got, p.Open)
			}
			if r.patched() > 0 {
				t.Errorf("planning wrote %v", r.writes)
			}
			o, err := r.exec.Apply(t.Context(), p)
			if err != nil || o.State != Repaired {
				t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(r.said, "\n"))
			}
			if r.patched() != 1 || c.broken(r.get(c.object)) {
				t.Errorf("written %d times, broken %t", r.patched(), c.broken(r.get(c.object)))
			}
			if _, there := fieldAt(c.content(), pointer("metadata", "annotations", "other")); there && stringAt(r.get(c.object), "metadata", "annotations",
				"other") != "stays" {
				t.Error("an annotation of somebody else is gone")
			}
		})
	}
	for _, c := range fieldChanges() {
		if !tried[c.remedy] {
			t.Errorf("%s is not tried", c.remedy)
		}
	}
}

// Killed at each point, a plan continues to its end with one write.
func TestChangeKilledThenResumed(t *testing.T) {
	for i, c := range changeCases() {
		var all []Point
		r := newChangeRig(t, c)
		r.exec.At = func(p Point) { all = append(all, p) }
		if _, err := r.exec.Apply(t.Context(), r.mustPlan(t)); err != nil {
			t.Fatal(err)
		}
		for n, at := range all {
			if !sample.Whole() && (i+n)%8 != 0 {
				continue // each repair at some of its points, each point with some repairs
			}
			t.Run(c.remedy+"/"+at.Step+"/"+at.At, func(t *testing.T) {
				r := newChangeRig(t, c)
				p := r.mustPlan(t)
				r.applyKilled(t.Context(), p, n)
				var refused *Refused
				_, err := r.exec.Resume(t.Context(), p.ID)
				if at == (Point{"", "before began"}) {
					if !errors.As(err, &refused) {
						t.Fatalf("Resume of a plan that was not begun: %v", err)
					}
					_, err = r.exec.Apply(t.Context(), p)
				}
				if err != nil || r.patched() != 1 || c.broken(r.get(c.object)) {
					t.Errorf("Resume: %v, written %d times", err, r.patched())
				}
			})
		}
	}
}

// Killed at each point before the controller follows, a plan is undone: the fields are as they were.
func TestChangeKilledThenUndone(t *testing.T) {
	for i, c := range changeCases() {
		var all []Point
		r := newChangeRig(t, c)
		r.exec.At = func(p Point) { all = append(all, p) }
		if _, err := r.exec.Apply(t.Context(), r.mustPlan(t)); err != nil {
			t.Fatal(err)
		}
		for n, at := range all {
			if at.At == "before began" || !sample.Whole() && (i+n)%8 != 0 {
				continue
			}
			t.Run(c.remedy+"/"+at.Step+"/"+at.At, func(t *testing.T) {
				r := newChangeRig(t, c)
				p := r.mustPlan(t)
				r.still = true
				r.applyKilled(t.Context(), p, n)
				r.exec.At = nil // it may have ended before this point, since nothing follows
				wrote := r.patched() > 0
				_, err := r.exec.Undo(t.Context(), p.ID)
				var person *NeedPerson
				if c.stays && wrote {
					if !errors.As(err, &person) || r.patched() != 1 {
						t.Fatalf("Undo of what stays: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatalf("Undo: %v", err)
				}
				ch, _ := changeOf(c.remedy)
				set, err := ch.set(c.content(), input{plan: p.ID, value: c.value})
				if err != nil {
					t.Fatal(err)
				}
				fields := slices.Sorted(maps.Keys(set))
				want, _ := digestFields(c.content(), fields)
				if have, _ := digestFields(r.get(c.object), fields); have != want {
					t.Errorf("the fields are not as they were: %v", shown(r.get(c.object), fields))
				}
			})
		}
	}
}
