package seed

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FeatureGate reads openshift/api's default FeatureGate object and enters the
// lab's version, as the config operator does before it renders the object
// (openshift/api:payload-command/render).
func FeatureGate(file string) (*unstructured.Unstructured, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	objs, err := Parse(data)
	if err != nil || len(objs) != 1 {
		return nil, fmt.Errorf("read %s: %d objects, %v", file, len(objs), err)
	}
	gates, found, err := unstructured.NestedSlice(objs[0].Object, "status", "featureGates")
	if err != nil || !found || len(gates) != 1 {
		return nil, fmt.Errorf("read %s: no single status.featureGates entry (%v)", file, err)
	}
	gate, ok := gates[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read %s: status.featureGates is not a list of objects", file)
	}
	gate["version"] = Version
	return objs[0], unstructured.SetNestedSlice(objs[0].Object, gates, "status", "featureGates")
}
