package live

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-project/rollcall/internal/evidence"
)

// Lean drops what of the objects that a cluster has most of says nothing about a
// host's way to Ready: how the containers of a pod are to be run, and which images a
// node holds. It is done before the conversion to maps, which is what takes the time
// and the memory (BenchmarkList). No fact may read what is dropped here: the grid of
// internal/fixture evaluates every fault without it, too.
func Lean(o runtime.Object) {
	switch o := o.(type) {
	case *corev1.Pod:
		o.Spec = corev1.PodSpec{
			NodeName: o.Spec.NodeName, HostNetwork: o.Spec.HostNetwork, ServiceAccountName: o.Spec.ServiceAccountName,
			InitContainers: leanContainers(o.Spec.InitContainers), Containers: leanContainers(o.Spec.Containers),
		}
	case *corev1.Node:
		o.Status.Images = nil
	}
}

func leanContainers(all []corev1.Container) []corev1.Container {
	if all == nil {
		return nil
	}
	list := make([]corev1.Container, 0, len(all))
	for _, c := range all {
		list = append(list, corev1.Container{Name: c.Name, Image: c.Image})
	}
	return list
}

// leanable are the resources that Lean knows.
func leanable(r evidence.Resource) bool { return r == evidence.Pods || r == evidence.Nodes }
