package shellcommand

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	bmh "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machine/v1beta1"
	mcv1 "github.com/openshift/api/machineconfiguration/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/jsonpath"
)

// typesOfKinds are the types of the kinds whose fields the remedies read. The fields of
// kinds that are not here are not checked: hosted clusters, Agents and Provisioning have
// no types in this module.
var typesOfKinds = map[string]any{
	"node": corev1.Node{}, "nodes": corev1.Node{}, "secret": corev1.Secret{}, "secrets": corev1.Secret{}, "configmap": corev1.ConfigMap{},
	"pods": corev1.Pod{}, "namespace": corev1.Namespace{}, "lease": coordinationv1.Lease{}, "csr": certificatesv1.CertificateSigningRequest{},
	"deployment": appsv1.Deployment{}, "clusteroperator": configv1.ClusterOperator{}, "clusterversion": configv1.ClusterVersion{},
	"infrastructure": configv1.Infrastructure{}, "network.config": configv1.Network{}, "image.config.openshift.io": configv1.Image{},
	"proxy": configv1.Proxy{}, "featuregate": configv1.FeatureGate{}, "apiserver": configv1.APIServer{},
	"etcd": operatorv1.Etcd{}, "kubeapiserver": operatorv1.KubeAPIServer{}, "kubecontrollermanager": operatorv1.KubeControllerManager{},
	"kubescheduler": operatorv1.KubeScheduler{}, "network.operator": operatorv1.Network{},
	"mcp": mcv1.MachineConfigPool{}, "mc": mcv1.MachineConfig{}, "controllerconfig": mcv1.ControllerConfig{},
	"machines.machine.openshift.io": machinev1.Machine{}, "machinesets.machine.openshift.io": machinev1.MachineSet{},
	"bmh": bmh.BareMetalHost{}, "hardwaredata": bmh.HardwareData{}, "preprovisioningimage": bmh.PreprovisioningImage{},
}

// checkFields checks that one of the kinds has the fields that these paths read.
func checkFields(kinds []string, paths ...string) error {
	var types []reflect.Type
	for _, k := range kinds {
		k, _, _ = strings.Cut(k, "/")
		t, ok := typesOfKinds[k]
		if !ok {
			return nil
		}
		types = append(types, reflect.TypeOf(t))
	}
	for _, p := range paths {
		types := types
		if strings.HasPrefix(p, "{.items") {
			types = lists(types)
		}
		parsed, err := jsonpath.Parse("", p)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(types, func(t reflect.Type) bool { return reads(t, parsed.Root.Nodes) == nil }) && len(types) > 0 {
			return fmt.Errorf("%s: %w", strings.Join(kinds, ","), reads(types[0], parsed.Root.Nodes))
		}
	}
	return nil
}

// lists returns the types of lists of these types.
func lists(types []reflect.Type) []reflect.Type {
	var of []reflect.Type
	for _, t := range types {
		of = append(of, reflect.StructOf([]reflect.StructField{{Name: "Items", Type: reflect.SliceOf(t), Tag: `json:"items"`}}))
	}
	return of
}

// reads follows the nodes of a path from a type, and returns the first that leads nowhere.
func reads(t reflect.Type, nodes []jsonpath.Node) error {
	at := t
	for _, n := range nodes {
		for at != nil && at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		switch n := n.(type) {
		case *jsonpath.ListNode:
			if err := reads(t, n.Nodes); err != nil {
				return err
			}
		case *jsonpath.FieldNode:
			if n.Value == "" {
				continue
			}
			next, err := field(at, n.Value)
			if err != nil {
				return err
			}
			at = next
		case *jsonpath.ArrayNode, *jsonpath.WildcardNode, *jsonpath.FilterNode:
			if at == nil {
				continue
			}
			if at.Kind() == reflect.Slice {
				at = at.Elem()
			} else if _, ok := n.(*jsonpath.ArrayNode); !ok || at.Kind() != reflect.Struct {
				return fmt.Errorf("%s is no list", at)
			}
			if f, ok := n.(*jsonpath.FilterNode); ok {
				if err := reads(at, f.Left.Nodes); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// field returns the type of a field by its name in JSON; nil for what a type leaves open.
func field(t reflect.Type, name string) (reflect.Type, error) {
	switch {
	case t == nil || t.Name() == "RawExtension" || t.Name() == "MicroTime":
		return nil, nil
	case t.Kind() == reflect.Map:
		return t.Elem(), nil
	case t.Kind() != reflect.Struct:
		return nil, fmt.Errorf("%s has no field %s", t, name)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return f.Type, nil
		}
		if f.Anonymous && (options == "inline" || tag == "") {
			if inner, err := field(f.Type, name); err == nil {
				return inner, nil
			}
		}
	}
	return nil, fmt.Errorf("%s has no field %s", t, name)
}
