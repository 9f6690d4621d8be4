package metalhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// world is a cluster in memory: the API, and what metal3, the Machine API and a kubelet do in it. Each write, and each
// reading of a host, is a step of theirs.
type world struct {
	mu      sync.Mutex
	objects map[string]kube.Object // "resource/name"
	version int
	now     time.Time
	writes  []string

	fail     func(n int, write string) (before, after error) // of the n-th write that stores
	writings int
	stay     string                   // a state that metal3 does not leave
	metal3   func(h kube.Object) bool // instead of the steps below; true: it did something
	noNode   bool
	held     bool             // the drain of a Machine does not end
	brokenBM bool             // the BMC of w0 does not answer
	refuse   map[string]error // "create baremetalhosts"
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newWorld() *world {
	w := &world{objects: map[string]kube.Object{}, now: start, refuse: map[string]error{}}
	put := func(text string) {
		var o kube.Object
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			panic(err)
		}
		resources := map[string]string{"ClusterVersion": "clusterversions", "Infrastructure": "infrastructures", "Provisioning": "provisionings",
			"Deployment": "deployments", "BareMetalHost": "baremetalhosts", "Machine": "machines", "MachineSet": "machinesets", "Node": "nodes", "Secret": "secrets", "MachineConfigPool": "machineconfigpools"}
		w.put(resources[o["kind"].(string)], o)
	}
	put(`{"kind":"ClusterVersion","metadata":{"name":"version"},"spec":{"clusterID":"c-1"},"status":{"desired":{"version":"4.20.4"}}}`)
	put(`{"kind":"Infrastructure","metadata":{"name":"cluster"},"status":{"platformStatus":{"type":"BareMetal"},"controlPlaneTopology":"HighlyAvailable"}}`)
	put(`{"kind":"Provisioning","metadata":{"name":"provisioning-configuration"},"spec":{"provisioningNetwork":"Disabled"}}`)
	put(`{"kind":"Deployment","metadata":{"name":"metal3"},"status":{"availableReplicas":1}}`)
	put(`{"kind":"Deployment","metadata":{"name":"machine-approver"},"status":{"availableReplicas":1}}`)
	put(`{"kind":"MachineSet","metadata":{"name":"lark-worker-0","uid":"uid-set","generation":4},"spec":{"replicas":1,"selector":{"matchLabels":{"set":"lark-worker-0"}},
		"template":{"metadata":{"labels":{"set":"lark-worker-0","machine.openshift.io/cluster-api-machine-role":"worker"}},
		"spec":{"providerSpec":{"value":{"kind":"BareMetalMachineProviderSpec","hostSelector":{},"userData":{"name":"worker-user-data-managed"}}}}}}}`)
	put(`{"kind":"Machine","metadata":{"name":"lark-worker-0-aaaaa","labels":{"set":"lark-worker-0"},"creationTimestamp":"2026-02-01T00:00:00Z",
		"ownerReferences":[{"kind":"MachineSet","name":"lark-worker-0","controller":true,"uid":"uid-set"}],"annotations":{"metal3.io/BareMetalHost":"openshift-machine-api/w0"}},"spec":{"providerSpec":{"value":{"kind":"BareMetalMachineProviderSpec"}}},
		"status":{"phase":"Running","nodeRef":{"name":"w0"}}}`)
	put(`{"kind":"BareMetalHost","metadata":{"name":"w0"},"spec":{"online":true,"bootMACAddress":"52:54:00:bb:00:00","bmc":{"address":
		"redfish-virtualmedia://198.51.100.20/redfish/v1/Systems/1","credentialsName":"w0-bmc-secret"},"customDeploy":{"method":"install_coreos"},"consumerRef":{"kind":"Machine","name":
		"lark-worker-0-aaaaa","namespace":"openshift-machine-api","apiVersion":"machine.openshift.io/v1beta1"}},"status":{"provisioning":{"state":"provisioned",
		"bootMode":"UEFI"},"hardware":{"hostname":"w0","nics":[{"ip":"192.0.2.20","mac":"52:54:00:bb:00:00","name":"eno1"}]}}}`)
	put(`{"kind":"MachineConfigPool","metadata":{"name":"worker"},"status":{"configuration":{"name":"rendered-worker-1"}}}`)
	put(`{"kind":"Secret","metadata":{"name":"worker-user-data-managed"},"data":{"userData":"e30="}}`)
	put(`{"kind":"Node","metadata":{"name":"w0","creationTimestamp":"2026-02-01T00:00:00Z","labels":{"node-role.kubernetes.io/worker":""}},"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.20"}],
		"conditions":[{"type":"Ready","status":"True"}]}}`)
	return w
}

func (w *world) put(resource string, o kube.Object) {
	w.version++
	meta := o["metadata"].(map[string]any)
	if meta["uid"] == nil {
		meta["uid"] = fmt.Sprintf("uid-%d", w.version)
	}
	if meta["creationTimestamp"] == nil {
		meta["creationTimestamp"] = w.now.Format(time.RFC3339)
	}
	meta["resourceVersion"] = fmt.Sprint(w.version)
	w.objects[resource+"/"+meta["name"].(string)] = o
}

func clone(o kube.Object) kube.Object {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var c kube.Object
	if err := json.Unmarshal(raw, &c); err != nil {
		panic(err)
	}
	return c
}

func notFound(r kube.Ref) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.Resource}, r.Name)
}

func (w *world) Get(ctx context.Context, r kube.Ref) (kube.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.refuse["get "+r.Resource]; err != nil {
		return nil, err
	}
	if r.Resource == "baremetalhosts" || r.Resource == "machines" {
		w.step()
	}
	o := w.objects[r.Resource+"/"+r.Name]
	if o == nil {
		return nil, notFound(r)
	}
	return clone(o), ctx.Err()
}

func (w *world) List(ctx context.Context, r kube.Ref) ([]kube.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.refuse["list "+r.Resource]; err != nil {
		return nil, err
	}
	var list []kube.Object
	for _, key := range slices.Sorted(maps.Keys(w.objects)) {
		if strings.HasPrefix(key, r.Resource+"/") {
			list = append(list, clone(w.objects[key]))
		}
	}
	return list, ctx.Err()
}

// store counts a write, and fails it before or after it is stored.
func (w *world) store(write string, dryRun bool, do func()) error {
	if dryRun {
		return nil
	}
	w.writings++
	var before, after error
	if w.fail != nil {
		before, after = w.fail(w.writings, write)
	}
	if before != nil {
		return before
	}
	w.writes = append(w.writes, write)
	do()
	return after
}

func (w *world) Create(ctx context.Context, r kube.Ref, content kube.Object, dryRun bool) (kube.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.refuse["create "+r.Resource]; err != nil {
		return nil, err
	}
	if w.objects[r.Resource+"/"+r.Name] != nil {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: r.Resource}, r.Name)
	}
	o := clone(content)
	err := w.store("create "+r.Resource+"/"+r.Name, dryRun, func() { w.put(r.Resource, o) })
	if err != nil {
		return nil, err
	}
	return clone(o), ctx.Err()
}

func (w *world) Patch(ctx context.Context, r kube.Ref, _ string, patch []byte, dryRun bool) (kube.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.objects[r.Resource+"/"+r.Name]
	if o == nil {
		return nil, notFound(r)
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	raw, _ := json.Marshal(o)
	changed, err := decoded.Apply(raw)
	if err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "x"}, r.Name, nil)
	}
	var next kube.Object
	if err := json.Unmarshal(changed, &next); err != nil {
		return nil, err
	}
	err = w.store("patch "+r.Resource+"/"+r.Name, dryRun, func() {
		if r.Resource == "machinesets" {
			next["metadata"].(map[string]any)["generation"] = number(evidence.Field(o, "metadata", "generation")) + 1
		}
		w.put(r.Resource, next)
	})
	if err != nil {
		return nil, err
	}
	return clone(next), ctx.Err()
}

func (w *world) Delete(ctx context.Context, r kube.Ref, uid, version string, dryRun bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.refuse["delete "+r.Resource]; err != nil {
		return err
	}
	key := r.Resource + "/" + r.Name
	o := w.objects[key]
	switch {
	case o == nil:
		return notFound(r)
	case evidence.String(o, "metadata", "uid") != uid || evidence.String(o, "metadata", "resourceVersion") != version:
		return apierrors.NewConflict(schema.GroupResource{Resource: r.Resource}, r.Name, errors.New("version"))
	}
	err := w.store("delete "+key, dryRun, func() {
		if r.Resource == "baremetalhosts" || r.Resource == "machines" { // the finalizer stays until metal3 has switched it off
			o["metadata"].(map[string]any)["deletionTimestamp"] = w.now.Format(time.RFC3339)
			return
		}
		delete(w.objects, key)
	})
	if err != nil {
		return err
	}
	return ctx.Err()
}

func (w *world) setState(o kube.Object, state string) {
	status, _ := o["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
		o["status"] = status
	}
	status["provisioning"] = map[string]any{"state": state}
	w.put("baremetalhosts", o)
}

// step lets metal3, the Machine API and a kubelet do one thing each.
func (w *world) step() {
	for _, key := range slices.Sorted(maps.Keys(w.objects)) {
		o := w.objects[key]
		switch {
		case strings.HasPrefix(key, "baremetalhosts/"):
			if w.metal3 == nil || !w.metal3(o) {
				w.stepHost(key, o)
			}
		case strings.HasPrefix(key, "machinesets/"):
			w.stepSet(o)
		case strings.HasPrefix(key, "machines/"):
			w.stepMachine(key, o)
		}
	}
}

func (w *world) stepHost(key string, o kube.Object) {
	h := hostOf(o)
	wanted := evidence.Field(o, "spec", "customDeploy") != nil
	if w.brokenBM && h.name == "w0" && (h.deleting || !wanted) {
		status := o["status"].(map[string]any)
		if h.deleting && h.errorCount > 3 {
			delete(w.objects, key)
			return
		}
		status["errorType"], status["errorMessage"], status["errorCount"] = "registration error", "no route to host", h.errorCount+1
		return
	}
	next := map[string]string{"": "registering", "registering": "inspecting", "inspecting": "available", "provisioning": "provisioned",
		"deprovisioning": "available"}[h.state]
	switch {
	case h.deleting && (h.state == "provisioned" || h.state == "provisioning"):
		next = "deprovisioning"
	case h.deleting:
		delete(w.objects, key)
		return
	case h.state == "available" && wanted:
		next = "provisioning"
	case (h.state == "provisioned" || h.state == "provisioning") && !wanted && h.consumer != "":
		next = "deprovisioning"
	}
	if next == "" || h.state == w.stay && w.stay != "" {
		return
	}
	w.setState(o, next)
	if next == "available" && evidence.Field(o, "status", "hardware") == nil {
		o["status"].(map[string]any)["hardware"] = map[string]any{"hostname": h.name, "nics": []any{map[string]any{"ip": "192.0.2.33",
			"mac": evidence.String(o, "spec", "bootMACAddress"), "name": "eno1"}}}
	}
}

func (w *world) stepSet(o kube.Object) {
	s := setOf(o)
	var all []machine
	for key, m := range w.objects {
		if strings.HasPrefix(key, "machines/") {
			all = append(all, machineOf(m))
		}
	}
	all = slices.DeleteFunc(inSet(s, all), func(m machine) bool { return m.deleting })
	switch {
	case len(all) < s.replicas:
		owner := map[string]any{"kind": "MachineSet", "name": s.name, "controller": true, "uid": s.uid}
		w.put("machines", kube.Object{"kind": "Machine", "metadata": map[string]any{"name": fmt.Sprintf("%s-m%d", s.name, w.version), "labels": map[string]any{
			"set": s.name}, "ownerReferences": []any{owner}}, "spec": map[string]any{"providerSpec": map[string]any{"value": map[string]any{"kind": "BareMetalMachineProviderSpec"}}},
			"status": map[string]any{"phase": "Provisioning"}})
	case len(all) > s.replicas:
		i := slices.IndexFunc(all, func(m machine) bool { return m.marked })
		victim := all[max(i, 0)]
		w.objects["machines/"+victim.name]["metadata"].(map[string]any)["deletionTimestamp"] = w.now.Format(time.RFC3339)
	}
}

func (w *world) stepMachine(key string, o kube.Object) {
	m := machineOf(o)
	var mine kube.Object
	for k, h := range w.objects {
		if strings.HasPrefix(k, "baremetalhosts/") && hostOf(h).consumer == m.name {
			mine = h
		}
	}
	switch {
	case m.deleting && w.held:
		o["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": "Drained", "status": "False", "message": "could not drain machine: pod db-0"}}
	case m.deleting && m.node != "" && !isTrue(o, "Drained"):
		o["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": "Drained", "status": "True"}}
	case m.deleting && mine == nil:
		delete(w.objects, "nodes/"+m.node)
		delete(w.objects, key)
	case m.deleting:
		spec := mine["spec"].(map[string]any)
		if spec["customDeploy"] != nil {
			delete(spec, "customDeploy")
			return
		}
		if s := hostOf(mine).state; s == "available" {
			delete(spec, "consumerRef")
		}
	case mine == nil && m.node == "":
		for _, k := range slices.Sorted(maps.Keys(w.objects)) {
			h := w.objects[k]
			if strings.HasPrefix(k, "baremetalhosts/") && hostOf(h).free() {
				spec := h["spec"].(map[string]any)
				spec["consumerRef"] = map[string]any{"kind": "Machine", "name": m.name, "namespace": Namespace, "apiVersion": "machine.openshift.io/v1beta1"}
				spec["customDeploy"] = map[string]any{"method": "install_coreos"}
				meta := o["metadata"].(map[string]any)
				meta["annotations"] = map[string]any{"metal3.io/BareMetalHost": Namespace + "/" + hostOf(h).name}
				return
			}
		}
	case mine != nil && hostOf(mine).state == "provisioned" && m.node == "" && !w.noNode:
		name := hostOf(mine).name
		w.put("nodes", kube.Object{"kind": "Node", "metadata": map[string]any{"name": name, "creationTimestamp": w.now.Add(time.Minute).Format(time.RFC3339)},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}})
		o["status"] = map[string]any{"phase": "Running", "nodeRef": map[string]any{"name": name}}
	}
}

var creds = Credentials{User: "admin", Password: "PLANTEDhunter2-bmc"}

func wanted() Want {
	return Want{Name: "w3", BMC: "redfish-virtualmedia://198.51.100.33/redfish/v1/Systems/1", MAC: "52:54:00:bb:00:03", Secret: "w3-bmc-secret"}
}

// begin makes a run with the plan that a person would get.
func begin(t *testing.T, w *world, dir string, want Want) *Runner {
	t.Helper()
	seen, err := Look(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	p, checks, ok := seen.Place(want)
	if !ok {
		t.Fatal(checks)
	}
	j, err := Begin(dir, Plan{Run: "h-0123456789", Made: start, Cluster: seen.ClusterID, Host: want, Set: p.Set, SetUID: p.UID, Scale: p.Scale},
		func() time.Time { return start.Add(time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return runner(w, j)
}

func runner(w *world, j *Journal) *Runner {
	return &Runner{Journal: j, API: w, Credentials: func() (Credentials, error) { return creds, nil }, Every: time.Millisecond, Stuck: 20 * time.Millisecond,
		Until: start.Add(time.Hour), Report: func(string) {}}
}

// add does all steps of a run.
func add(ctx context.Context, r *Runner) error {
	for _, step := range []func(context.Context) error{r.Make, r.Available, r.Scale, r.Taken, r.Node} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}
