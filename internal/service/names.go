package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rollcall-project/rollcall/internal/kube"
)

// ObjectRef reads NAMESPACE/NAME of an object of the kind of base.
func ObjectRef(base kube.Ref, text string) (kube.Ref, error) {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return base, fmt.Errorf("%q: want NAMESPACE/NAME", text)
	}
	base.Namespace, base.Name = namespace, name
	return base, nil
}

// ReplicaName is different for each process: a pod that is restarted keeps its host name.
func ReplicaName() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read the name of this machine: %w", err)
	}
	suffix := make([]byte, 4)
	if _, err := rand.Read(suffix); err != nil {
		return "", fmt.Errorf("name this replica: %w", err)
	}
	return host + "_" + hex.EncodeToString(suffix), nil
}

// Objects are the objects of a cluster as a Lease needs them.
type Objects struct{ Client *kube.Client }

// Get implements LeaseAPI.
func (o Objects) Get(ctx context.Context, r kube.Ref) (kube.Object, error) {
	return o.Client.Get(ctx, r)
}

// Create implements LeaseAPI.
func (o Objects) Create(ctx context.Context, r kube.Ref, content kube.Object) error {
	_, err := o.Client.Create(ctx, r, content, false)
	return err
}

// Update implements LeaseAPI.
func (o Objects) Update(ctx context.Context, r kube.Ref, content kube.Object) error {
	_, err := o.Client.Update(ctx, r, content, false)
	return err
}
