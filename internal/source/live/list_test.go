package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/source/lean"
)

const poolsPath = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools"

// richPod has fields of every sort that a conversion may get wrong.
func richPod(i int) *corev1.Pod {
	at := metav1.NewTime(epoch)
	grace := int64(30)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(i), Namespace: fmt.Sprintf("ns-%d", i%7), CreationTimestamp: at, UID: "0b9fa4f4", ResourceVersion: "4711",
			Labels: map[string]string{"app": "x", "tier": "y"}, Annotations: map[string]string{"a": "b", "k8s.ovn.org/pod-networks": `{"default":{}}`},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "1"}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1",
				FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:status":{}}}}}`)}}},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%d", i%500), TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{
				Name: "main", Image: "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:0123", Command: []string{"/bin/sh", "-c"},
				Env:          []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "N", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}},
				Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("50Mi")}},
				VolumeMounts: []corev1.VolumeMount{{Name: "c", MountPath: "/etc/c"}, {Name: "t", MountPath: "/etc/t", ReadOnly: true}},
			}, {Name: "proxy", Image: "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:4567"}},
			Volumes:     []corev1.Volume{{Name: "c", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}},
			Tolerations: []corev1.Toleration{{Operator: "Exists"}},
		},
		Status: corev1.PodStatus{
			Phase: "Running", PodIP: "10.0.0.1", HostIP: "10.0.0.2", StartTime: &at,
			Conditions: []corev1.PodCondition{{Type: "Ready", Status: "True", LastTransitionTime: at}, {Type: "Initialized", Status: "True", LastTransitionTime: at}},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "main", RestartCount: 2, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}},
				{Name: "proxy", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}},
			},
		},
	}
}

// TestListSameInBothForms: an object that came as protobuf is the object that
// came as JSON, field by field and type by type.
func TestListSameInBothForms(t *testing.T) {
	lists := map[bool][]evidence.Object{}
	for _, jsonOnly := range []bool{false, true} {
		f := newFakeAPI()
		f.jsonOnly = jsonOnly
		f.typed["/api/v1/pods"] = numbered(3, func(i int) runtime.Object { return richPod(i) })
		got, err := f.source(t, Options{Whole: true}).List(t.Context(), evidence.Pods, "")
		if err != nil {
			t.Fatal(err)
		}
		lists[jsonOnly] = got
	}
	if d := cmp.Diff(lists[true], lists[false]); d != "" {
		t.Errorf("protobuf differs from JSON (-json +protobuf):\n%s", d)
	}
	o := lists[false][0]
	if o.Content["kind"] != "Pod" || o.Content["apiVersion"] != "v1" {
		t.Errorf("an object is %v %v", o.Content["apiVersion"], o.Content["kind"])
	}
	if evidence.Field(o.Content, "metadata", "managedFields") != nil {
		t.Error("managedFields were kept")
	}
	if got := evidence.Field(o.Content, "spec", "terminationGracePeriodSeconds"); got != int64(30) {
		t.Errorf("a whole number is %T %v", got, got)
	}
	if o.Loc != (evidence.Locator{Source: "live", Path: "-n ns-0 pods/pod-00000"}) || !o.ReadAt.Equal(epoch) {
		t.Errorf("locator %+v, read at %v", o.Loc, o.ReadAt)
	}
}

// TestLean: a diagnosis gets of a pod who it is, where it runs and how it is; what
// its containers are told, an environment with passwords included, it does not.
func TestLean(t *testing.T) {
	f := newFakeAPI()
	f.typed["/api/v1/pods"] = numbered(1, func(i int) runtime.Object { return richPod(i) })
	kept, err := f.source(t, Options{}).List(t.Context(), evidence.Pods, "")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := f.source(t, Options{Whole: true}).List(t.Context(), evidence.Pods, "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(lean.NewDecoder().Object(evidence.Pods, whole[0].Content), kept[0].Content); d != "" {
		t.Errorf("-whole +lean:\n%s", d)
	}
	want := map[string]any{"nodeName": "node-0", "containers": []any{
		map[string]any{"name": "main", "image": "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:0123"},
		map[string]any{"name": "proxy", "image": "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:4567"},
	}}
	if d := cmp.Diff(want, kept[0].Content["spec"]); d != "" {
		t.Errorf("spec (-want +got):\n%s", d)
	}
}

func TestListPagesAreJoinedAndSorted(t *testing.T) {
	f := newFakeAPI()
	f.typed["/api/v1/pods"] = numbered(23, func(i int) runtime.Object { return richPod(i) })
	for i := range 12 {
		f.custom[poolsPath] = append(f.custom[poolsPath], pool(fmt.Sprintf("pool-%02d", 11-i)))
	}
	s := f.source(t, Options{PageSize: 5})
	pods, err := s.List(t.Context(), evidence.Pods, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) != 23 || !slices.IsSortedFunc(pods, func(a, b evidence.Object) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	}) {
		t.Errorf("got %d pods, or not sorted", len(pods))
	}
	if n := len(f.requests("/api/v1/pods")); n != 5 {
		t.Errorf("%d requests for 23 pods in pages of 5", n)
	}
	pools, err := s.List(t.Context(), evidence.MachineConfigPools, "")
	if err != nil || len(pools) != 12 || pools[0].Name != "pool-00" {
		t.Fatalf("pools: %d, %v", len(pools), err)
	}
	if got := evidence.Field(pools[0].Content, "status", "machineCount"); got != int64(3) {
		t.Errorf("a whole number of a custom resource is %T", got)
	}
	if pools[0].Loc.Path != "machineconfigpools/pool-00" || evidence.Field(pools[0].Content, "metadata", "managedFields") == nil {
		t.Errorf("pool: %+v", pools[0])
	}
	if n := len(f.requests("/apis")) - len(f.requests("/apis/")); n != 1 {
		t.Errorf("discovery was asked %d times", n)
	}
}

func TestListOfOneNamespaceAndEmpty(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		f := newFakeAPI()
		f.legacy = legacy
		f.typed["/api/v1/pods"] = numbered(14, func(i int) runtime.Object { return richPod(i) })
		s := f.source(t, Options{})
		pods, err := s.List(t.Context(), evidence.Pods, "ns-3")
		if err != nil || len(pods) != 2 {
			t.Errorf("legacy %v: pods of ns-3: %d, %v", legacy, len(pods), err)
		}
		empty, err := s.List(t.Context(), evidence.BareMetalHosts, "openshift-machine-api")
		if err != nil || len(empty) != 0 {
			t.Errorf("legacy %v: no hosts: %d, %v", legacy, len(empty), err)
		}
		_, err = s.List(t.Context(), evidence.Nodes, "ns-3")
		if _, ok := evidence.AsUnavailable(err); err == nil || ok {
			t.Errorf("legacy %v: nodes of a namespace: %v, want a defect", legacy, err)
		}
	}
}

func TestListLocatorNamesTheGroupWhereTwoGroupsShareAName(t *testing.T) {
	f := newFakeAPI()
	f.custom["/apis/machine.openshift.io/v1beta1/machines"] = []map[string]any{{"metadata": map[string]any{"name": "m0", "namespace": "n"}}}
	got, err := f.source(t, Options{}).List(t.Context(), evidence.Machines, "n")
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Loc.Path != "-n n machines.machine.openshift.io/m0" || got[0].Content["kind"] != "Machine" {
		t.Errorf("got %+v", got[0])
	}
}

func TestSecretsAreMetadataUnlessAllowed(t *testing.T) {
	f := newFakeAPI()
	f.typed["/api/v1/secrets"] = []runtime.Object{secretNamed("open", "s"), secretNamed("shut", "s")}
	s := f.source(t, Options{SecretNamespaces: []string{"open"}})
	for _, namespace := range []string{"shut", ""} {
		list, err := s.List(t.Context(), evidence.Secrets, namespace)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(list)
		if strings.Contains(string(raw), "planted") || strings.Contains(string(raw), `"data"`) || strings.Contains(string(raw), "cGxhbnRlZC1rZXk") {
			t.Errorf("namespace %q: contents were read: %s", namespace, raw)
		}
		o := list[0]
		if o.Content[contentKey] != contentMetadata || o.Content["kind"] != "Secret" || o.Content["type"] != nil {
			t.Errorf("namespace %q: %v", namespace, o.Content)
		}
		if got := o.Annotation("auth.openshift.io/certificate-not-after"); got != "2027-01-01T00:00:00Z" {
			t.Errorf("the end of the certificate is %q", got)
		}
		if got := o.Annotation("openshift.io/token-secret.value"); got != "[redacted unread, 13 bytes]" || !sanitize.Redacted(got) {
			t.Errorf("the token is %q", got)
		}
	}
	open, err := s.List(t.Context(), evidence.Secrets, "open")
	if err != nil {
		t.Fatal(err)
	}
	if len(open) != 1 || evidence.String(open[0].Content, "data", "tls.crt") == "" || open[0].Content[contentKey] != nil {
		t.Errorf("allowed namespace: %v", open)
	}
	for _, r := range f.requests("/api/v1/namespaces/shut") {
		for _, want := range strings.Split(r.Header.Get("Accept"), ",") {
			if !strings.Contains(want, "as=PartialObjectMetadataList") {
				t.Errorf("asked for %q", want)
			}
		}
	}
}

// TestSecretsOfServerThatSendsEverything: an answer with contents is not taken.
func TestSecretsOfServerThatSendsEverything(t *testing.T) {
	f := newFakeAPI()
	f.handle["/api/v1/namespaces/shut/secrets"] = func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept", mediaProto)
		f.typedPage(w, r, corev1.SchemeGroupVersion.WithKind("Secret"), []runtime.Object{secretNamed("shut", "s")}, "")
	}
	list, err := f.source(t, Options{}).List(t.Context(), evidence.Secrets, "shut")
	wantUnavailable(t, list, err, evidence.Unreachable, "not an answer of a Kubernetes API")
	if strings.Contains(err.Error(), "planted") {
		t.Errorf("the error carries the contents: %v", err)
	}
}

func wantUnavailable(t *testing.T, list []evidence.Object, err error, why evidence.Why, detail string) {
	t.Helper()
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		t.Fatalf("got %d objects and error %v, want Unavailable", len(list), err)
	}
	if len(list) != 0 {
		t.Errorf("%d objects beside the error", len(list))
	}
	if u.Why != why || !strings.Contains(u.Detail, detail) {
		t.Errorf("got %s: %s, want %s: %s", u.Why, u.Detail, why, detail)
	}
}

func TestListForbidden(t *testing.T) {
	f := newFakeAPI()
	f.denied = func(verb, resource, _, namespace string) bool { return verb == "list" && resource == "pods" }
	s := f.source(t, Options{})
	list, err := s.List(t.Context(), evidence.Pods, "openshift-etcd")
	wantUnavailable(t, list, err, evidence.Forbidden, "missing right: list pods in namespace openshift-etcd")
	u, _ := evidence.AsUnavailable(err)
	if u.Supply != (evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: "pods", Namespace: "openshift-etcd"}) || u.Need != evidence.Objects(evidence.Pods, "openshift-etcd") {
		t.Errorf("supply %s, need %s", u.Supply, u.Need)
	}
	f.handle[poolsPath] = func(w http.ResponseWriter, _ *http.Request) {
		answerStatus(w, 401, metav1.StatusReasonUnauthorized, "Unauthorized")
	}
	list, err = s.List(t.Context(), evidence.MachineConfigPools, "")
	wantUnavailable(t, list, err, evidence.Forbidden, "401")
}

func TestListNotServed(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		f := newFakeAPI()
		f.legacy = legacy
		s := f.source(t, Options{})
		list, err := s.List(t.Context(), evidence.EtcdOperators, "")
		wantUnavailable(t, list, err, evidence.NotServed, "the API has no etcds.operator.openshift.io")
		list, err = s.List(t.Context(), evidence.Deployments, "x")
		wantUnavailable(t, list, err, evidence.NotServed, "deployments.apps")
		list, err = s.List(t.Context(), evidence.PointerUserDataHints, "")
		wantUnavailable(t, list, err, evidence.NotCollected, "")
	}
}
