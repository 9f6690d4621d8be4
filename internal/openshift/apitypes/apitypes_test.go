package apitypes

import (
	"math/rand"
	"reflect"
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"

	ownCertificates "github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	ownCore "github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	ownMetal3 "github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
	ownMeta "github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"
)

// pair is a type of ours and the original.
type pair struct{ ours, theirs any }

func pairs() []pair {
	return []pair{
		{&Machine{}, &machinev1beta1.Machine{}}, {&MachineSet{}, &machinev1beta1.MachineSet{}}, {&MachineConfigPool{}, &mcfgv1.MachineConfigPool{}},
		{&Deployment{}, &appsv1.Deployment{}}, {&ReplicaSet{}, &appsv1.ReplicaSet{}},
		{&ownCore.Pod{}, &corev1.Pod{}}, {&ownCore.Node{}, &corev1.Node{}},
		{&ownCertificates.CertificateSigningRequest{}, &certificatesv1.CertificateSigningRequest{}},
		{&ownMetal3.BareMetalHost{}, &metal3.BareMetalHost{}}, {&ownMetal3.HardwareData{}, &metal3.HardwareData{}},
	}
}

// TestConstants: a name of ours has the original's value.
func TestConstants(t *testing.T) {
	for ours, theirs := range map[any]any{
		ownCore.ConditionTrue: corev1.ConditionTrue, ownCore.ConditionFalse: corev1.ConditionFalse, ownCore.ConditionUnknown: corev1.ConditionUnknown,
		ownCore.NamespaceNodeLease: corev1.NamespaceNodeLease, ownCore.NodeReady: corev1.NodeReady, ownCore.TaintNodeUnschedulable: corev1.TaintNodeUnschedulable,
		ownCore.NodeHostName: corev1.NodeHostName, ownCore.NodeInternalIP: corev1.NodeInternalIP, ownCore.NodeExternalIP: corev1.NodeExternalIP,
		ownCore.NodeInternalDNS: corev1.NodeInternalDNS, ownCore.NodeExternalDNS: corev1.NodeExternalDNS, ownCore.PodPending: corev1.PodPending,
		ownCore.PodRunning: corev1.PodRunning, ownCore.PodScheduled: corev1.PodScheduled, ownCore.PodReady: corev1.PodReady,
		ownCertificates.UsageDigitalSignature: certificatesv1.UsageDigitalSignature, ownCertificates.UsageKeyEncipherment: certificatesv1.UsageKeyEncipherment,
		ownCertificates.UsageClientAuth: certificatesv1.UsageClientAuth, ownCertificates.UsageServerAuth: certificatesv1.UsageServerAuth,
		ownCertificates.CertificateApproved: certificatesv1.CertificateApproved, ownCertificates.CertificateDenied: certificatesv1.CertificateDenied,
		ownCertificates.CertificateFailed: certificatesv1.CertificateFailed, ownCertificates.KubeAPIServerClientSignerName: certificatesv1.KubeAPIServerClientSignerName,
		ownCertificates.KubeAPIServerClientKubeletSignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
		ownCertificates.KubeletServingSignerName:             certificatesv1.KubeletServingSignerName,
		ownMetal3.PausedAnnotation:                           metal3.PausedAnnotation, ownMetal3.DetachedAnnotation: metal3.DetachedAnnotation,
		ownMetal3.RebootAnnotationPrefix: metal3.RebootAnnotationPrefix, ownMetal3.InspectionModeDisabled: metal3.InspectionModeDisabled,
		ownMetal3.OperationalStatusOK: metal3.OperationalStatusOK, ownMetal3.OperationalStatusError: metal3.OperationalStatusError,
		ownMetal3.OperationalStatusDetached: metal3.OperationalStatusDetached, ownMetal3.ProvisionedRegistrationError: metal3.ProvisionedRegistrationError,
		ownMetal3.RegistrationError: metal3.RegistrationError, ownMetal3.InspectionError: metal3.InspectionError, ownMetal3.PreparationError: metal3.PreparationError,
		ownMetal3.ProvisioningError: metal3.ProvisioningError, ownMetal3.PowerManagementError: metal3.PowerManagementError, ownMetal3.StateNone: metal3.StateNone,
		ownMetal3.StateUnmanaged: metal3.StateUnmanaged, ownMetal3.StateRegistering: metal3.StateRegistering, ownMetal3.StateMatchProfile: metal3.StateMatchProfile,
		ownMetal3.StatePreparing: metal3.StatePreparing, ownMetal3.StateReady: metal3.StateReady, ownMetal3.StateAvailable: metal3.StateAvailable,
		ownMetal3.StateProvisioning: metal3.StateProvisioning, ownMetal3.StateProvisioned: metal3.StateProvisioned, ownMetal3.StateInspecting: metal3.StateInspecting,
		ownMetal3.StateExternallyProvisioned: metal3.StateExternallyProvisioned, ownMetal3.StateDeprovisioning: metal3.StateDeprovisioning,
		ownMetal3.StatePoweringOffBeforeDelete: metal3.StatePoweringOffBeforeDelete, ownMetal3.StateDeleting: metal3.StateDeleting,
	} {
		if a, b := reflect.ValueOf(ours).String(), reflect.ValueOf(theirs).String(); a != b {
			t.Errorf("%q, the original is %q", a, b)
		}
	}
}

// TestFields: each field has the name, the tag and the type of the original's, but for
// structs of our own, whose fields are compared in turn.
func TestFields(t *testing.T) {
	for _, p := range pairs() {
		compare(t, reflect.TypeOf(p.ours).Elem(), reflect.TypeOf(p.theirs).Elem())
	}
	for ours, theirs := range map[MachineConfigPoolConditionType]mcfgv1.MachineConfigPoolConditionType{
		MachineConfigPoolUpdated: mcfgv1.MachineConfigPoolUpdated, MachineConfigPoolUpdating: mcfgv1.MachineConfigPoolUpdating,
		MachineConfigPoolNodeDegraded:   mcfgv1.MachineConfigPoolNodeDegraded,
		MachineConfigPoolRenderDegraded: mcfgv1.MachineConfigPoolRenderDegraded,
	} {
		if string(ours) != string(theirs) {
			t.Errorf("condition %q, the original is %q", ours, theirs)
		}
	}
	if DeploymentAvailable != string(appsv1.DeploymentAvailable) || ReplicaSetReplicaFailure != string(appsv1.ReplicaSetReplicaFailure) {
		t.Error("conditions of Deployments and ReplicaSets have other names")
	}
}

func compare(t *testing.T, ours, theirs reflect.Type) {
	t.Helper()
	for i := range ours.NumField() {
		f := ours.Field(i)
		g, ok := theirs.FieldByName(f.Name)
		tag := strings.TrimPrefix(f.Tag.Get("json"), ",inline")
		if !ok || strings.TrimPrefix(g.Tag.Get("json"), ",inline") != tag || g.Anonymous != f.Anonymous {
			t.Errorf("%v.%s `%s`: the original has `%s`", ours, f.Name, f.Tag, g.Tag)
			continue
		}
		a, b := f.Type, g.Type
		for a.Kind() == b.Kind() && (a.Kind() == reflect.Slice || a.Kind() == reflect.Pointer || a.Kind() == reflect.Map) && a != b {
			a, b = a.Elem(), b.Elem()
		}
		switch {
		case a == b, a == reflect.TypeFor[any](), a.Kind() == reflect.String && b.Kind() == reflect.String, a.Kind() == reflect.Int64 && b.Kind() == reflect.Int64:
		case a == reflect.TypeFor[ownMeta.Time]() && b == reflect.TypeFor[metav1.Time](), a == reflect.TypeFor[IntOrString]() && b == reflect.TypeFor[intstr.IntOrString]():
		case a.Kind() == reflect.Struct && b.Kind() == reflect.Struct:
			compare(t, a, b)
		default:
			t.Errorf("%v.%s is %v, the original %v", ours, f.Name, a, b)
		}
	}
}

// TestDecode fills the originals with seeded random values: what is decoded of their JSON
// has their values.
func TestDecode(t *testing.T) {
	known := runtime.NewScheme()
	metav1.AddToGroupVersion(known, schema.GroupVersion{Version: "v1"})
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(known))
	for _, p := range pairs() {
		for range 40 {
			fill.Fill(p.theirs)
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p.theirs)
			if err != nil {
				t.Fatal(err)
			}
			ours := reflect.New(reflect.TypeOf(p.ours).Elem())
			if err := Decode(content, ours.Interface()); err != nil {
				t.Fatalf("%T: %v", p.ours, err)
			}
			equal(t, ours.Elem(), reflect.ValueOf(p.theirs).Elem())
			if t.Failed() {
				return
			}
		}
	}
}

// equal compares what both have.
func equal(t *testing.T, ours, theirs reflect.Value) {
	t.Helper()
	switch a := ours.Interface().(type) {
	case ownMeta.Time:
		if b := theirs.Interface().(metav1.Time); a.Unix() != b.Unix() {
			t.Errorf("%v, the original %v", a, b)
		}
		return
	case IntOrString:
		if b := theirs.Interface().(intstr.IntOrString); a.Text != b.StrVal && b.Type == intstr.String || a.Int != int64(b.IntVal) && b.Type == intstr.Int {
			t.Errorf("%v, the original %v", a, b)
		}
		return
	}
	switch ours.Kind() {
	case reflect.Struct:
		for i := range ours.NumField() {
			equal(t, ours.Field(i), theirs.FieldByName(ours.Type().Field(i).Name))
		}
	case reflect.Pointer:
		if ours.IsNil() != theirs.IsNil() {
			t.Errorf("%v is nil: %t, the original %t", ours.Type(), ours.IsNil(), theirs.IsNil())
		} else if !ours.IsNil() {
			equal(t, ours.Elem(), theirs.Elem())
		}
	case reflect.Slice:
		if ours.Len() != theirs.Len() {
			t.Errorf("%v has %d elements, the original %d", ours.Type(), ours.Len(), theirs.Len())
			return
		}
		for i := range ours.Len() {
			equal(t, ours.Index(i), theirs.Index(i))
		}
	case reflect.Map:
		if ours.Len() != theirs.Len() {
			t.Errorf("%v has %d entries, the original %d", ours.Type(), ours.Len(), theirs.Len())
			return
		}
		for _, k := range ours.MapKeys() {
			equal(t, ours.MapIndex(k), theirs.MapIndex(k))
		}
	case reflect.Interface: // foreign content, which fillers leave out
	case reflect.String:
		if ours.String() != theirs.String() {
			t.Errorf("%q, the original %q", ours, theirs)
		}
	default:
		if !ours.Equal(theirs.Convert(ours.Type())) {
			t.Errorf("%v, the original %v", ours, theirs)
		}
	}
}

// TestMisfit: a value of another type is an error that says where; null is no value.
func TestMisfit(t *testing.T) {
	spec := func(k string, v any) map[string]any { return map[string]any{"spec": map[string]any{k: v}} }
	for name, c := range map[string]struct {
		content map[string]any
		into    any
		want    string // "" for none
	}{
		"string":            {spec("providerID", int64(3)), &ownCore.Node{}, "spec.providerID: int64 instead of string"},
		"bool":              {spec("unschedulable", "yes"), &ownCore.Node{}, "spec.unschedulable: string instead of bool"},
		"list":              {spec("taints", "no"), &ownCore.Node{}, "spec.taints: string instead of a list"},
		"element":           {spec("taints", []any{map[string]any{"key": "a"}, 7}), &ownCore.Node{}, "spec.taints[1]: int instead of an object"},
		"fraction":          {spec("replicas", 1.5), &Deployment{}, "spec.replicas: float64 instead of int32"},
		"too large":         {spec("replicas", int64(1)<<40), &Deployment{}, "spec.replicas: 1099511627776 is out of range"},
		"whole as float":    {spec("replicas", 3.0), &Deployment{}, ""},
		"no base64":         {spec("request", "%"), &ownCertificates.CertificateSigningRequest{}, "spec.request: illegal base64 data at input byte 0"},
		"time":              {map[string]any{"metadata": map[string]any{"creationTimestamp": "today"}}, &ownCore.Node{}, "metadata.creationTimestamp: parsing time"},
		"label":             {map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": 1}}}, &ownCore.Node{}, "metadata.labels.a: int instead of string"},
		"null":              {map[string]any{"spec": nil, "status": map[string]any{"conditions": nil}}, &ownCore.Node{}, ""},
		"unknown":           {spec("new", "x"), &ownCore.Node{}, ""},
		"another spelling":  {spec("providerid", 7), &ownCore.Node{}, ""},
		"object for object": {map[string]any{"spec": "x"}, &ownCore.Node{}, "spec: string instead of an object"},
	} {
		err := Decode(c.content, c.into)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestSelector: a selector chooses as the original's does.
func TestSelector(t *testing.T) {
	sets := []map[string]string{nil, {"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": "1", "b": "1"}}
	for _, theirs := range []metav1.LabelSelector{
		{}, {MatchLabels: map[string]string{"a": "1"}}, {MatchLabels: map[string]string{"a": "1", "b": "1"}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In", Values: []string{"1", "3"}}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "NotIn", Values: []string{"1"}}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists"}, {Key: "b", Operator: "DoesNotExist"}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists", Values: []string{"1"}}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Gt", Values: []string{"1"}}}},
	} {
		want, wantErr := metav1.LabelSelectorAsSelector(&theirs)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&theirs)
		if err != nil {
			t.Fatal(err)
		}
		var ours ownMeta.LabelSelector
		if err := Decode(content, &ours); err != nil {
			t.Fatal(err)
		}
		for _, set := range sets {
			got, err := ours.Matches(set)
			if (err != nil) != (wantErr != nil) {
				t.Errorf("%v: %v, the original %v", theirs, err, wantErr)
			}
			if wantErr == nil && got != want.Matches(labels.Set(set)) {
				t.Errorf("%v of %v: %t", theirs, set, got)
			}
		}
	}
}
