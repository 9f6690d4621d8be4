package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/kube/podexec"
)

// Object is the content of one API object as it was read, not sanitized: the
// repair compares configs, so it must see them. It never leaves the process.
type Object = kube.Object

// Ref refers to one object, or with an empty name to all of a resource. Plans and
// journals have it in JSON.
type Ref = kube.Ref

// Reader reads the cluster as it is now. Errors are those of
// k8s.io/apimachinery/pkg/api/errors.
type Reader interface {
	Get(ctx context.Context, r Ref) (Object, error)
	List(ctx context.Context, r Ref) ([]Object, error) // r.Name is not used
}

// writer writes to the cluster. With dryRun the server does everything but keep it.
type writer interface {
	// Patch applies a JSON patch; subresource "" is the object itself.
	Patch(ctx context.Context, r Ref, subresource string, patch []byte, dryRun bool) (Object, error)
	Create(ctx context.Context, r Ref, content Object, dryRun bool) (Object, error)
	// Delete deletes exactly the object with the uid and resourceVersion.
	Delete(ctx context.Context, r Ref, uid, resourceVersion string, dryRun bool) error
}

// API is a cluster that can be read and written.
type API interface {
	Reader
	writer
}

// Kube is the API of a cluster, with the members of its etcd as objects of group "etcd".
type Kube struct {
	*kube.Client
	members memberClient
}

// NewKube returns the API that cfg leads to.
func NewKube(cfg *rest.Config) (*Kube, error) {
	client, err := kube.New(cfg, kube.Limits{})
	if err != nil {
		return nil, err
	}
	exec, err := podexec.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Kube{Client: client, members: memberClient{run: etcdctlInPod(client, exec)}}, nil
}

// Get implements Reader.
func (k *Kube) Get(ctx context.Context, r Ref) (Object, error) {
	if r.Group == memberGroup {
		return k.members.Get(ctx, r.Name)
	}
	return k.Client.Get(ctx, r)
}

// List implements Reader.
func (k *Kube) List(ctx context.Context, r Ref) ([]Object, error) {
	if r.Group == memberGroup {
		return k.members.List(ctx)
	}
	return k.Client.List(ctx, r)
}

// Delete implements writer.
func (k *Kube) Delete(ctx context.Context, r Ref, uid, resourceVersion string, dryRun bool) error {
	if r.Group == memberGroup {
		return k.members.Delete(ctx, r.Name, uid, resourceVersion, dryRun)
	}
	return k.Client.Delete(ctx, r, uid, resourceVersion, dryRun)
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

// lastManager names who last wrote one of the fields, by managedFields: the newest manager whose fieldsV1 holds the first one or two steps of a
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
