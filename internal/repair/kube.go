package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kube/podexec"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// FieldManager is the name under which the API's managedFields show our writes.
const FieldManager = "rollcall"

// Object is the content of one API object as it was read, not sanitized: the
// repair compares configs, so it must see them. It never leaves the process.
type Object = map[string]any

// Reader reads the cluster as it is now. Errors are those of
// k8s.io/apimachinery/pkg/api/errors.
type Reader interface {
	Get(ctx context.Context, r Ref) (Object, error)
	List(ctx context.Context, r Ref) ([]Object, error) // r.Name is not used
}

// Writer writes to the cluster. With dryRun the server does everything but keep it.
type Writer interface {
	// Patch applies a JSON patch; subresource "" is the object itself.
	Patch(ctx context.Context, r Ref, subresource string, patch []byte, dryRun bool) (Object, error)
	Create(ctx context.Context, r Ref, content Object, dryRun bool) (Object, error)
	// Delete deletes exactly the object with the uid and resourceVersion.
	Delete(ctx context.Context, r Ref, uid, resourceVersion string, dryRun bool) error
}

// API is a cluster that can be read and written.
type API interface {
	Reader
	Writer
}

// Kube is the API through client-go. An answer that is not about the object that
// was asked for is an error: a proxy, a cache or a server that means harm must not
// make one object's fields pass for another's.
type Kube struct {
	client  dynamic.Interface
	members *memberClient // of group "etcd"; nil: the API is asked for them, too
}

// NewKube returns the API that cfg leads to, protected as live.Protect says:
// no redirection is followed, answers and requests are bounded.
func NewKube(cfg *rest.Config) (*Kube, error) {
	c, err := dynamic.NewForConfig(Protected(cfg))
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	exec, err := podexec.New(Protected(cfg))
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	k := &Kube{client: c}
	k.members = &memberClient{run: k.etcdctlInPod(exec)}
	return k, nil
}

// Bounds of a client that repairs. etcd bounds an object at 1.5 MiB, and no list
// of a repair holds MachineConfigs.
const (
	maxAnswer      = 64 << 20
	requestTimeout = 20 * time.Second
	pageSize       = 500
	maxPages       = 200
)

// Protected returns a copy of cfg for clients that write to the cluster or fetch
// what hosts hold.
func Protected(cfg *rest.Config) *rest.Config {
	return live.Protect(cfg, live.Limits{Answer: maxAnswer, Request: requestTimeout})
}

func (k *Kube) resource(r Ref) dynamic.ResourceInterface {
	gvr := schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
	if r.Namespace != "" {
		return k.client.Resource(gvr).Namespace(r.Namespace)
	}
	return k.client.Resource(gvr)
}

func dry(on bool) []string {
	if on {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// Get implements Reader.
func (k *Kube) Get(ctx context.Context, r Ref) (Object, error) {
	if r.Group == memberGroup && k.members != nil {
		return k.members.Get(ctx, r.Name)
	}
	u, err := k.resource(r).Get(ctx, r.Name, metav1.GetOptions{})
	return answered(r, u, err)
}

// List implements Reader. A list is whole or an error.
func (k *Kube) List(ctx context.Context, r Ref) ([]Object, error) {
	if r.Group == memberGroup && k.members != nil {
		return k.members.List(ctx)
	}
	var out []Object
	next := ""
	for range maxPages {
		l, err := k.resource(r).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: next})
		if err != nil {
			return nil, err
		}
		for i := range l.Items {
			one := r
			if one.Name = l.Items[i].GetName(); one.Name == "" {
				return nil, fmt.Errorf("list %s: the API answered with an object without a name", r.Resource)
			}
			if r.Namespace == "" {
				one.Namespace = l.Items[i].GetNamespace()
			}
			o, err := answered(one, &l.Items[i], nil)
			if err != nil {
				return nil, err
			}
			out = append(out, o)
		}
		last := next
		if next = l.GetContinue(); next == "" {
			return out, nil
		}
		if next == last {
			break
		}
	}
	return nil, fmt.Errorf("list %s: the list does not end", r.Resource)
}

// Patch implements Writer.
func (k *Kube) Patch(ctx context.Context, r Ref, subresource string, patch []byte, dryRun bool) (Object, error) {
	var sub []string
	if subresource != "" {
		sub = []string{subresource}
	}
	u, err := k.resource(r).Patch(ctx, r.Name, types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager, DryRun: dry(dryRun)}, sub...)
	return answered(r, u, err)
}

// Create implements Writer.
func (k *Kube) Create(ctx context.Context, r Ref, content Object, dryRun bool) (Object, error) {
	u, err := k.resource(r).Create(ctx, &unstructured.Unstructured{Object: content},
		metav1.CreateOptions{FieldManager: FieldManager, DryRun: dry(dryRun)})
	return answered(r, u, err)
}

// kinds are the kinds of the resources that a repair touches; of others only the
// name, the namespace and the version can be compared.
var kinds = map[string]string{
	"machineconfigpools": "MachineConfigPool", "machineconfigs": "MachineConfig", "nodes": "Node",
	"certificatesigningrequests": "CertificateSigningRequest", "clusterversions": "ClusterVersion", "etcds": "Etcd",
	"configmaps": "ConfigMap", "baremetalhosts": "BareMetalHost", "machines": "Machine",
	"infrastructures": "Infrastructure", "kubecontrollermanagers": "KubeControllerManager", "kubeschedulers": "KubeScheduler", "kubeapiservers": "KubeAPIServer", "secrets": "Secret", "pods": "Pod",
	"daemonsets": "DaemonSet", "deployments": "Deployment", "hostedclusters": "HostedCluster", "nodepools": "NodePool",
}

// answered returns the content of an answer that is about the object asked for.
func answered(r Ref, u *unstructured.Unstructured, err error) (Object, error) {
	if err != nil {
		return nil, err
	}
	version := r.Version
	if r.Group != "" {
		version = r.Group + "/" + r.Version
	}
	kind, known := kinds[r.Resource]
	switch {
	case u.GetName() != r.Name || u.GetNamespace() != r.Namespace:
		return nil, fmt.Errorf("read %s: the API answered with %.80q in namespace %.80q", r, u.GetName(), u.GetNamespace())
	case known && u.GetKind() != kind || u.GetAPIVersion() != version:
		return nil, fmt.Errorf("read %s: the API answered with a %.80q of %.80q", r, u.GetKind(), u.GetAPIVersion())
	}
	return u.Object, nil
}

// Delete implements Writer.
func (k *Kube) Delete(ctx context.Context, r Ref, uid, resourceVersion string, dryRun bool) error {
	if r.Group == memberGroup && k.members != nil {
		return k.members.Delete(ctx, r.Name, uid, resourceVersion, dryRun)
	}
	id := types.UID(uid)
	return k.resource(r).Delete(ctx, r.Name, metav1.DeleteOptions{
		DryRun: dry(dryRun), Preconditions: &metav1.Preconditions{UID: &id, ResourceVersion: &resourceVersion},
	})
}

// CADigest digests the CA that a client verifies the API server with. A client
// that uses the system's pool has the digest "system".
func CADigest(c *rest.Config) (string, error) {
	ca := c.TLSClientConfig.CAData
	if len(ca) == 0 && c.TLSClientConfig.CAFile != "" {
		raw, err := os.ReadFile(c.TLSClientConfig.CAFile)
		if err != nil {
			return "", fmt.Errorf("read CA of the API server: %w", err)
		}
		ca = raw
	}
	if len(ca) == 0 {
		return "system", nil
	}
	return digestBytes(ca), nil
}

// op is one operation of a JSON patch (RFC 6902).
type op struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// guarded puts the tests that every patch of ours begins with before the
// operations: it is the object that was read, and in the version that was read.
func guarded(content Object, ops ...op) ([]byte, error) {
	all := []op{
		{Op: "test", Path: "/metadata/uid", Value: stringAt(content, "metadata", "uid")},
		{Op: "test", Path: "/metadata/resourceVersion", Value: stringAt(content, "metadata", "resourceVersion")},
	}
	raw, err := json.Marshal(append(all, ops...))
	if err != nil {
		return nil, fmt.Errorf("encode patch: %w", err)
	}
	return raw, nil
}

// lastManager names who last wrote one of the fields, as far as managedFields
// tell: the newest manager whose fieldsV1 holds the first one or two steps of a
// field's path.
func lastManager(content Object, fields []string) string {
	entries, _ := fieldAt(content, "/metadata/managedFields")
	list, _ := entries.([]any)
	who, when := "", ""
	for _, e := range list {
		m, _ := e.(map[string]any)
		owned, _ := m["fieldsV1"].(map[string]any)
		at := stringAt(m, "time")
		for _, f := range fields {
			if owns(owned, f) && at >= when {
				who, when = stringAt(m, "manager"), at
			}
		}
	}
	if who == "" {
		return "a writer that managedFields do not name"
	}
	return fmt.Sprintf("%s at %s", who, when)
}

// owns reports whether fieldsV1 covers the pointer, or stops above it.
func owns(owned map[string]any, ptr string) bool {
	at := owned
	for i, p := range splitPointer(ptr) {
		next, ok := at["f:"+p].(map[string]any)
		if !ok {
			return i > 0 && len(at) == 0
		}
		at = next
	}
	return true
}
