package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Bounds of a list.
const (
	pageSize = 500
	maxPages = 200
)

// Object is the content of one API object as it was read, not sanitized. It never
// leaves the process.
type Object = map[string]any

// Ref refers to one object of the API, or with an empty name to all of a resource.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Resource  string `json:"resource"`            // plural, lower case
	Namespace string `json:"namespace,omitempty"` // "" is cluster-scoped, in a list all namespaces
	Name      string `json:"name,omitempty"`
}

// String renders the reference as "machineconfigpools/master".
func (r Ref) String() string {
	if r.Namespace != "" {
		return r.Resource + "/" + r.Namespace + "/" + r.Name
	}
	return r.Resource + "/" + r.Name
}

// APIVersion is the apiVersion of the object: "v1", "apps/v1".
func (r Ref) APIVersion() string {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}.String()
}

func (c *Client) resource(r Ref) dynamic.ResourceInterface {
	gvr := schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
	if r.Namespace != "" {
		return c.objects.Resource(gvr).Namespace(r.Namespace)
	}
	return c.objects.Resource(gvr)
}

func dry(on bool) []string {
	if on {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// Get reads one object.
func (c *Client) Get(ctx context.Context, r Ref) (Object, error) {
	u, err := c.resource(r).Get(ctx, r.Name, metav1.GetOptions{})
	return c.answered(r, u, err)
}

// List reads all objects of a resource; r.Name is not used. A list is whole or an error.
func (c *Client) List(ctx context.Context, r Ref) ([]Object, error) {
	var out []Object
	next := ""
	var begun Begun
	for range maxPages {
		l, err := c.page(ctx, r, next)
		if err != nil {
			return nil, err
		}
		first := ""
		if len(l.Items) > 0 {
			first = l.Items[0].GetNamespace() + "/" + l.Items[0].GetName()
		}
		if begun.Again(first) {
			break
		}
		for i := range l.Items {
			one := r
			if one.Name = l.Items[i].GetName(); one.Name == "" {
				return nil, fmt.Errorf("list %s: the API answered with an object without a name", r.Resource)
			}
			if r.Namespace == "" {
				one.Namespace = l.Items[i].GetNamespace()
			}
			o, err := c.answered(one, &l.Items[i], nil)
			if err != nil {
				return nil, err
			}
			out = append(out, o)
		}
		last := next
		if next = l.GetContinue(); next == "" {
			// Only a part of a list has the count (kubernetes/kubernetes:staging/src/k8s.io/apimachinery/pkg/apis/meta/v1 ListMeta).
			if left := l.GetRemainingItemCount(); left != nil && *left > 0 {
				return nil, fmt.Errorf("list %s: the API counts %d more objects and does not lead to them", r.Resource, *left)
			}
			return out, nil
		}
		if next == last {
			break
		}
	}
	return nil, fmt.Errorf("list %s: the list does not end", r.Resource)
}

// page reads one page of a list. It refuses an answer that is no list of the resource: client-go's own
// client makes an empty one of whatever has no items.
func (c *Client) page(ctx context.Context, r Ref, next string) (*unstructured.UnstructuredList, error) {
	path := []string{"api", r.Version}
	if r.Group != "" {
		path = []string{"apis", r.Group, r.Version}
	}
	if r.Namespace != "" {
		path = append(path, "namespaces", r.Namespace)
	}
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if next != "" {
		query.Set("continue", next)
	}
	const retries = 10 // as client-go has it
	raw, _, err := c.Do(ctx, Request{Path: append(path, r.Resource), Query: query, Retries: retries})
	if err != nil {
		return nil, err
	}
	var head struct {
		Kind       string          `json:"kind"`
		APIVersion string          `json:"apiVersion"`
		Items      json.RawMessage `json:"items"`
	}
	l := &unstructured.UnstructuredList{}
	if err = json.Unmarshal(raw, &head); err == nil && head.Items != nil {
		err = l.UnmarshalJSON(raw)
	}
	switch {
	case err != nil:
		return nil, c.printable(fmt.Errorf("list %s: the API's answer is no list: %w", r.Resource, err))
	case !listOf(head.Kind, r.Resource) || head.Items == nil:
		return nil, fmt.Errorf("list %s: the API answered with a %.80q of %.80q that is no list of them", r.Resource, head.Kind, head.APIVersion)
	}
	return l, nil
}

// Begun remembers how the pages of one list begin: a server that never says that a list is complete sends
// the same objects, or none, again and again.
type Begun struct {
	first map[string]bool
	empty int // pages in a row without an object
}

// maxEmpty bounds the pages in a row that have no object.
const maxEmpty = 10

// Again reports whether a list does not end. first is the namespace and name of the page's first object, ""
// where it has none.
func (b *Begun) Again(first string) bool {
	if first == "" {
		b.empty++
		return b.empty > maxEmpty
	}
	b.empty = 0
	if b.first == nil {
		b.first = map[string]bool{}
	}
	seen := b.first[first]
	b.first[first] = true
	return seen
}

// listOf reports whether a kind is that of a list of a resource: NodeList of nodes, IngressList of ingresses, NetworkPolicyList of
// networkpolicies; a plain List may have anything.
func listOf(kind, resource string) bool {
	one, ok := strings.CutSuffix(kind, "List")
	if one = strings.ToLower(one); !ok || one == "" {
		return ok
	}
	return strings.HasPrefix(resource, strings.TrimSuffix(one, "y"))
}

// Patch applies a JSON patch (RFC 6902); subresource "" is the object itself.
func (c *Client) Patch(ctx context.Context, r Ref, subresource string, patch []byte, dryRun bool) (Object, error) {
	var sub []string
	if subresource != "" {
		sub = []string{subresource}
	}
	u, err := c.resource(r).Patch(ctx, r.Name, types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager, DryRun: dry(dryRun)}, sub...)
	return c.answered(r, u, err)
}

// Create makes an object and returns it as it was stored. A review (of access, of the
// caller) is answered and not stored.
func (c *Client) Create(ctx context.Context, r Ref, content Object, dryRun bool) (Object, error) {
	u, err := c.resource(r).Create(ctx, &unstructured.Unstructured{Object: content},
		metav1.CreateOptions{FieldManager: FieldManager, DryRun: dry(dryRun)})
	return c.answered(r, u, err)
}

// Update replaces the object in the version that content has.
func (c *Client) Update(ctx context.Context, r Ref, content Object, dryRun bool) (Object, error) {
	u, err := c.resource(r).Update(ctx, &unstructured.Unstructured{Object: content},
		metav1.UpdateOptions{FieldManager: FieldManager, DryRun: dry(dryRun)})
	return c.answered(r, u, err)
}

// Delete deletes exactly the object with the uid and resourceVersion.
func (c *Client) Delete(ctx context.Context, r Ref, uid, resourceVersion string, dryRun bool) error {
	id := types.UID(uid)
	return c.printable(c.resource(r).Delete(ctx, r.Name, metav1.DeleteOptions{
		DryRun: dry(dryRun), Preconditions: &metav1.Preconditions{UID: &id, ResourceVersion: &resourceVersion},
	}))
}

// Remove deletes the object of that uid in whatever version it has; one that is gone is no
// error. A Node's version changes with each heartbeat, and a pod's with its status, so that
// a conflict is tried again.
func (c *Client) Remove(ctx context.Context, r Ref, uid string) error {
	for range 5 {
		u, err := c.resource(r).Get(ctx, r.Name, metav1.GetOptions{})
		if _, err = c.answered(r, u, err); apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if have := string(u.GetUID()); have != uid {
			return fmt.Errorf("%s has uid %s now, not %s: it is another one", r, have, uid)
		}
		err = c.Delete(ctx, r, uid, u.GetResourceVersion(), false)
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsConflict(err) {
			return err
		}
	}
	return fmt.Errorf("%s changes all the time; try again", r)
}

// Evict asks for the eviction of one pod, of that UID. The API server answers 429 where a
// PodDisruptionBudget does not allow it now
// (kubernetes/kubernetes:pkg/registry/core/pod/storage/eviction.go, v1.22 on for policy/v1).
func (c *Client) Evict(ctx context.Context, namespace, name, uid string) error {
	eviction := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy/v1", "kind": "Eviction",
		"metadata":      map[string]any{"namespace": namespace, "name": name},
		"deleteOptions": map[string]any{"preconditions": map[string]any{"uid": uid}},
	}}
	_, err := c.resource(Ref{Version: "v1", Resource: "pods", Namespace: namespace}).
		Create(ctx, eviction, metav1.CreateOptions{FieldManager: FieldManager}, "eviction")
	return c.printable(err)
}

// kinds are the kinds of the resources that are read or written here; of others only the
// name, the namespace and the version can be compared.
var kinds = map[string]string{
	"machineconfigpools": "MachineConfigPool", "machineconfigs": "MachineConfig", "nodes": "Node",
	"certificatesigningrequests": "CertificateSigningRequest", "clusterversions": "ClusterVersion", "etcds": "Etcd",
	"configmaps": "ConfigMap", "baremetalhosts": "BareMetalHost", "machines": "Machine",
	"infrastructures": "Infrastructure", "kubecontrollermanagers": "KubeControllerManager", "kubeschedulers": "KubeScheduler",
	"kubeapiservers": "KubeAPIServer", "secrets": "Secret", "pods": "Pod",
	"daemonsets": "DaemonSet", "deployments": "Deployment", "hostedclusters": "HostedCluster", "nodepools": "NodePool",
}

// Kind is the kind of a resource that is read or written here, "" of others.
func Kind(resource string) string { return kinds[resource] }

// answered returns the content of an answer that is about the object asked for.
func (c *Client) answered(r Ref, u *unstructured.Unstructured, err error) (Object, error) {
	if err != nil {
		return nil, c.printable(err)
	}
	kind := Kind(r.Resource)
	switch {
	case u.GetName() != r.Name || u.GetNamespace() != r.Namespace:
		return nil, fmt.Errorf("read %s: the API answered with %.80q in namespace %.80q", r, u.GetName(), u.GetNamespace())
	case kind != "" && u.GetKind() != kind || u.GetAPIVersion() != r.APIVersion():
		return nil, fmt.Errorf("read %s: the API answered with a %.80q of %.80q", r, u.GetKind(), u.GetAPIVersion())
	}
	return u.Object, nil
}

// maxMessage bounds the message of a server in an error. Those of the API server's
// validation have some hundred bytes for each field.
const maxMessage = 8 << 10

// printable returns err with a text that can be printed: bounded, without secrets and without
// the control characters that move a terminal's cursor. It keeps its type.
func (c *Client) printable(err error) error {
	if err == nil {
		return nil
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		if clean := c.clean.Message(err.Error()); clean != err.Error() {
			return &cleaned{err, clean}
		}
		return err
	}
	text := status.ErrStatus.Message
	clean := strings.ToValidUTF8(c.clean.Message(text[:min(len(text), maxMessage)]), "")
	code := int(status.ErrStatus.Code)
	switch name := http.StatusText(code); {
	case strings.TrimSpace(clean) == "":
		clean = strings.TrimSpace(fmt.Sprintf("the API answered %d %s", code, name))
	case code == http.StatusTooManyRequests && !strings.Contains(clean, strconv.Itoa(code)):
		clean += fmt.Sprintf(" (%d %s)", code, name)
	}
	if clean == text {
		return err
	}
	copied := *status
	copied.ErrStatus.Message = clean
	return &copied
}

// cleaned is an error with another text.
type cleaned struct {
	err  error
	text string
}

// Error implements error.
func (c *cleaned) Error() string { return c.text }

// Unwrap returns the error as it was, for its type.
func (c *cleaned) Unwrap() error { return c.err }
