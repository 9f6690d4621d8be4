package apitypes

import (
	"reflect"
	"testing"

	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	appsv1 "k8s.io/api/apps/v1"
)

// TestFields: each field has the name, the tag and the type of the original's, but for
// structs of our own, whose fields are compared in turn.
func TestFields(t *testing.T) {
	compare(t, reflect.TypeFor[Machine](), reflect.TypeFor[machinev1beta1.Machine]())
	compare(t, reflect.TypeFor[MachineSet](), reflect.TypeFor[machinev1beta1.MachineSet]())
	compare(t, reflect.TypeFor[MachineConfigPool](), reflect.TypeFor[mcfgv1.MachineConfigPool]())
	compare(t, reflect.TypeFor[Deployment](), reflect.TypeFor[appsv1.Deployment]())
	compare(t, reflect.TypeFor[ReplicaSet](), reflect.TypeFor[appsv1.ReplicaSet]())
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
		if !ok || g.Tag.Get("json") != f.Tag.Get("json") || g.Anonymous != f.Anonymous {
			t.Errorf("%v.%s `%s`: the original has `%s`", ours, f.Name, f.Tag, g.Tag)
			continue
		}
		a, b := f.Type, g.Type
		for a.Kind() == b.Kind() && (a.Kind() == reflect.Slice || a.Kind() == reflect.Pointer) && a != b {
			a, b = a.Elem(), b.Elem()
		}
		switch {
		case a == b:
		case a.Kind() == reflect.Struct && a.PkgPath() == ours.PkgPath():
			compare(t, a, b)
		case a.Kind() == reflect.String && b.Kind() == reflect.String:
		default:
			t.Errorf("%v.%s is %v, the original %v", ours, f.Name, a, b)
		}
	}
}
