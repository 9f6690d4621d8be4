package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// model is what the API server made of the first worker of a fate.
type model struct {
	of            string // the worker
	host, machine *unstructured.Unstructured
	node          *corev1.Node
	lease         *coordinationv1.Lease
	pods          []*corev1.Pod
}

// makeModels makes the first worker of each fate through the API server.
func (c *Cluster) makeModels(ctx context.Context) error {
	for _, w := range c.workers {
		if c.models[w.fate] != nil {
			continue
		}
		m := &model{of: w.name}
		c.models[w.fate] = m
		steps := []func(context.Context, worker, *model) error{c.makeMachine}
		if w.fate.node() {
			steps = append(steps, c.makeNode, c.makeLease, c.makePods)
		}
		for _, step := range steps {
			if err := step(ctx, w, m); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

// copies writes for every worker what makes of its model. The models are written
// once more, too: what the API server made is as young as the lab.
func (c *Cluster) copies(makes func(w worker, m *model, add adder) error) func(context.Context) error {
	return func(ctx context.Context) error {
		values := map[string][]byte{}
		for _, w := range c.workers {
			err := makes(w, c.models[w.fate], func(key string, o runtime.Object, kind schema.GroupVersionKind) (err error) {
				values[key], err = stored(o, kind)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if len(values) > 1000 {
				if err := c.spec.Store.Put(ctx, values); err != nil {
					return err
				}
				clear(values)
			}
		}
		return c.spec.Store.Put(ctx, values)
	}
}

// adder takes an object and its key in the store.
type adder func(key string, o runtime.Object, kind schema.GroupVersionKind) error

// own makes a copy of a model's object that of w.
func (c *Cluster) own(o metav1.Object, w worker, m *model, kind, name string) {
	if w.name != m.of {
		o.SetUID(uid(w, m, kind, name, o.GetUID()))
	}
	o.SetName(name)
	o.SetResourceVersion("") // the store's revision
	o.SetCreationTimestamp(metav1.NewTime(c.began))
}

func uid(w worker, m *model, kind, name string, models types.UID) types.UID {
	if w.name == m.of {
		return models
	}
	return types.UID(id("uid", kind, name))
}

func (c *Cluster) copyMachine(w worker, m *model, add adder) error {
	hostUID := uid(w, m, "BareMetalHost", w.name, m.host.GetUID())
	host := m.host.DeepCopy()
	c.own(host, w, m, "BareMetalHost", w.name)
	host.Object["spec"], host.Object["status"] = c.bareMetalHost(w)["spec"], w.hostStatus(c.began)
	if err := add("/registry/metal3.io/baremetalhosts/"+machineAPI+"/"+w.name, host, host.GroupVersionKind()); err != nil {
		return err
	}
	fresh := &unstructured.Unstructured{Object: c.machineOf(w, hostUID)}
	machine := m.machine.DeepCopy()
	c.own(machine, w, m, "Machine", w.machine)
	machine.SetAnnotations(fresh.GetAnnotations())
	machine.Object["spec"], machine.Object["status"] = fresh.Object["spec"], w.machineStatus(c.began)
	if w.fate.node() {
		linkMachine(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.name, UID: uid(w, m, "Node", w.name, m.node.UID)}})(machine.Object)
	}
	return add("/registry/machine.openshift.io/machines/"+machineAPI+"/"+w.machine, machine, machine.GroupVersionKind())
}

func (c *Cluster) copyNode(w worker, m *model, add adder) error {
	if !w.fate.node() {
		return nil
	}
	node := m.node.DeepCopy()
	c.own(node, w, m, "Node", w.name)
	fresh := c.node(w, uid(w, m, "BareMetalHost", w.name, m.host.GetUID()))
	node.Labels, node.Annotations, node.Spec, node.Status = fresh.Labels, fresh.Annotations, fresh.Spec, c.nodeStatus(w)
	if err := add("/registry/minions/"+w.name, node, corev1.SchemeGroupVersion.WithKind("Node")); err != nil {
		return err
	}
	lease := c.lease(w, node.UID)
	lease.ManagedFields, lease.UID = m.lease.ManagedFields, m.lease.UID
	c.own(lease, w, m, "Lease", w.name)
	if err := add(leaseKey(w.name), lease, coordinationv1.SchemeGroupVersion.WithKind("Lease")); err != nil {
		return err
	}
	c.hold(w, lease)
	return nil
}

func leaseKey(node string) string {
	return "/registry/leases/" + corev1.NamespaceNodeLease + "/" + node
}

func (c *Cluster) copyPods(w worker, m *model, add adder) error {
	if !w.fate.node() {
		return nil
	}
	for i, of := range m.pods {
		fresh := c.pod(appOf(w, i), w.name, podKey(w, i))
		pod := of.DeepCopy()
		c.own(pod, w, m, "Pod", fresh.Name)
		pod.Namespace, pod.Labels, pod.Annotations, pod.Spec.NodeName = fresh.Namespace, fresh.Labels, fresh.Annotations, w.name
		pod.Status = running(pod, w.address)
		if err := add("/registry/pods/"+pod.Namespace+"/"+pod.Name, pod, corev1.SchemeGroupVersion.WithKind("Pod")); err != nil {
			return err
		}
	}
	return nil
}

// stored is an object as the API server stores it: its own kinds in protobuf,
// those of definitions in JSON.
func stored(o runtime.Object, kind schema.GroupVersionKind) ([]byte, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return json.Marshal(u.Object)
	}
	o.GetObjectKind().SetGroupVersionKind(kind)
	var out bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(o, &out); err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind.Kind, err)
	}
	return out.Bytes(), nil
}
