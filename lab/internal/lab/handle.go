package lab

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// What a trouble has to work with, besides PowerOn, PowerOff, Disk, Screen and
// Age.

// Parts of the world that a trouble may stop, see Stop.
const (
	PartMasters         = "masters"          // pods and machine config servers of masters
	PartWorkers         = "workers"          // pods of workers
	PartMachines        = "machines"         // status of Machines and MachineSets
	PartController      = "controller"       // machine-config-controller
	PartMachineApprover = "machine approver" // cluster-machine-approver
	PartMetal3          = "metal3"           // ironic and the baremetal-operator
	PartHosted          = "hosted"           // pods, ignition server, NodePool and requests of the hosted cluster
	PartWorkloads       = "workloads"        // status of DaemonSets and Deployments
	PartOperators       = "operators"        // status of ClusterOperators, Etcd, ClusterVersion
	PartVIP             = "vip"              // keepalived: the API address follows a serving master
)

// Kube is a client as system:admin.
func (l *Lab) Kube() kubernetes.Interface { return l.kube }

// Dynamic is a client as system:admin.
func (l *Lab) Dynamic() dynamic.Interface { return l.dyn }

// Config leads to the API server as system:admin.
func (l *Lab) Config() *rest.Config { return l.plane.AdminConfig() }

// Store is what the API server stores, below it.
func (l *Lab) Store() (*cluster.Store, error) { return l.plane.Store() }

// Net is the lab's network.
func (l *Lab) Net() plan.Net { return l.net }

// PKI is the cluster's certificates and keys.
func (l *Lab) PKI() *pki.Cluster { return l.pki }

// Values is what the manifests are rendered with.
func (l *Lab) Values() seed.Values { return l.values }

// Dir is the lab's directory.
func (l *Lab) Dir() Dir { return l.opts.Dir }

// Procs are the lab's servers.
func (l *Lab) Procs() *proc.Group { return l.procs }

// VIP is port 22623 of the API address.
func (l *Lab) VIP() *plan.Forwarder { return l.vip }

// Stop lets a part of the world stand still: what it keeps true stays as it is.
func (l *Lab) Stop(part string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off[part] = true
}

// works says whether a part of the world continues.
func (l *Lab) works(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.off[part]
}

// Create creates the objects of a YAML stream, each with its status; what is
// there already stays as it is.
func (l *Lab) Create(ctx context.Context, manifests string) error {
	objs, err := seed.Parse([]byte(manifests))
	if err != nil {
		return err
	}
	return l.applier.Apply(ctx, objs)
}

// Patch merges a JSON patch into an object; sub names a subresource, such as
// "status".
func (l *Lab) Patch(ctx context.Context, res schema.GroupVersionResource, namespace, name, patch string, sub ...string) error {
	_, err := l.resource(res, namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, sub...)
	if err != nil {
		return fmt.Errorf("change %s %s: %w", res.Resource, name, err)
	}
	return nil
}

// Get reads an object.
func (l *Lab) Get(ctx context.Context, res schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	obj, err := l.resource(res, namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", res.Resource, name, err)
	}
	return obj, nil
}

// Delete deletes an object.
func (l *Lab) Delete(ctx context.Context, res schema.GroupVersionResource, namespace, name string) error {
	if err := l.resource(res, namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete %s %s: %w", res.Resource, name, err)
	}
	return nil
}

func (l *Lab) resource(res schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return l.dyn.Resource(res)
	}
	return l.dyn.Resource(res).Namespace(namespace)
}

// RunPods creates the pods of a YAML stream. Each is bound to a node already, instead
// of by the scheduler, and runs there: something that is none of the platform's.
func (l *Lab) RunPods(ctx context.Context, manifests string) error {
	objs, err := seed.Parse([]byte(manifests))
	if err != nil {
		return err
	}
	for _, obj := range objs {
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &pod); err != nil {
			return fmt.Errorf("read pod %s: %w", obj.GetName(), err)
		}
		if err := l.silent(&pod); err != nil {
			return err
		}
	}
	return l.applier.Apply(ctx, objs)
}

// PodLog is what a container of a pod has logged so far.
func (l *Lab) PodLog(pod *corev1.Pod, container string) ([]byte, error) {
	data, err := os.ReadFile(l.containerLog(pod.Spec.NodeName, pod.Namespace, pod.Name, container))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has not started
	}
	return data, err
}

// AddUser writes a kubeconfig for a ServiceAccount that is there. `kubeconfig NAME`
// prints where it lies.
func (l *Lab) AddUser(ctx context.Context, namespace, name string) error {
	from, err := l.serviceAccountOf(ctx, namespace, name)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(l.opts.Dir.KubeconfigOf(name), data, 0o600)
}

// ConfigOf leads to the API server as a user of AddUser.
func (l *Lab) ConfigOf(name string) (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", l.opts.Dir.KubeconfigOf(name))
}

// Await polls until done, for at most limit.
func (l *Lab) Await(ctx context.Context, limit time.Duration, what string, done func(context.Context) (bool, error)) error {
	return l.await(ctx, limit, what, done)
}

// AwaitServed waits until the machine config server at the API address shows a
// certificate.
func (l *Lab) AwaitServed(ctx context.Context, cert []byte) error {
	want, _ := pem.Decode(cert)
	if want == nil {
		return errors.New("wait for a certificate to be served: it is no PEM")
	}
	return l.await(ctx, time.Minute, "the machine config server still shows another certificate", func(ctx context.Context) (bool, error) {
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // only looked at
		conn, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", l.net.API(), plan.MCSPort))
		if err != nil {
			return false, err
		}
		defer conn.Close()
		shown := conn.(*tls.Conn).ConnectionState().PeerCertificates
		return len(shown) > 0 && bytes.Equal(shown[0].Raw, want.Bytes), nil
	})
}
