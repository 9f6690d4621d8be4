package seed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Parse splits a YAML stream into objects; empty documents are skipped.
func Parse(stream []byte) ([]*unstructured.Unstructured, error) {
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream)))
	var out []*unstructured.Unstructured
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("split manifests: %w", err)
		}
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &obj.Object); err != nil {
			return nil, fmt.Errorf("parse manifest: %w\n%s", err, doc)
		}
		if len(obj.Object) > 0 {
			out = append(out, obj)
		}
	}
}

// Applier creates objects as the administrator.
type Applier struct {
	client dynamic.Interface
	disco  discovery.DiscoveryInterface
	mapper meta.RESTMapper
}

// NewApplier makes an applier for the cluster of cfg.
func NewApplier(cfg *rest.Config) (*Applier, error) {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &Applier{client: client, disco: disco}, nil
}

// Discover reads which kinds there are; it is to be called after new
// definitions were created.
func (a *Applier) Discover() error {
	groups, err := restmapper.GetAPIGroupResources(a.disco)
	if err != nil {
		return fmt.Errorf("discover kinds: %w", err)
	}
	a.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	return nil
}

// Apply creates the objects in order, each with its status. An object that is
// there already is left as it is.
func (a *Applier) Apply(ctx context.Context, objs []*unstructured.Unstructured) error {
	for _, obj := range objs {
		if err := a.create(ctx, obj); err != nil {
			return fmt.Errorf("create %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
	}
	return nil
}

func (a *Applier) create(ctx context.Context, obj *unstructured.Unstructured) error {
	gvk := obj.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	var client dynamic.ResourceInterface = a.client.Resource(mapping.Resource)
	if ns := obj.GetNamespace(); ns != "" {
		client = a.client.Resource(mapping.Resource).Namespace(ns)
	}
	made, err := client.Create(ctx, obj, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return err
	}
	status, has := obj.Object["status"]
	if !has {
		return nil
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		made.Object["status"] = status
		_, err := client.UpdateStatus(ctx, made, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) { // a controller has written to the object since
			if now, gone := client.Get(ctx, made.GetName(), metav1.GetOptions{}); gone == nil {
				made = now
			}
		}
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil // the kind has no status subresource: Create took it all
	}
	return err
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// CRDs creates the definitions in a directory and waits until the API server
// serves them all.
func (a *Applier) CRDs(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		objs, err := Parse(data)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		for _, obj := range objs {
			delete(obj.Object, "status")
			if _, err := a.client.Resource(crdResource).Create(ctx, obj, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("create definition of %s: %w", file, err)
			}
		}
	}
	return a.awaitCRDs(ctx)
}

func (a *Applier) awaitCRDs(ctx context.Context) error {
	for {
		list, err := a.client.Resource(crdResource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list definitions: %w", err)
		}
		waiting := ""
		for _, crd := range list.Items {
			if !established(&crd) {
				waiting = crd.GetName()
			}
		}
		if waiting == "" {
			return a.Discover()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for definition %s: %w", waiting, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
			return true
		}
	}
	return false
}
