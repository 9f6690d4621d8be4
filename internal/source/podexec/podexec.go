// Package podexec finds pods and runs commands in them. Its client knows the core
// group alone: client-go's own scheme and typed clients link the types of every group
// of Kubernetes, a third of the program.
package podexec

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
)

// Client reaches the pods of one cluster. It is safe for concurrent use.
type Client struct {
	cfg        *rest.Config
	core       *rest.RESTClient
	parameters runtime.ParameterCodec
}

// New returns a client over the API that cfg leads to. It sends nothing yet, and cfg
// is not changed.
func New(cfg *rest.Config) (*Client, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register core/v1: %w", err)
	}
	core := rest.CopyConfig(cfg)
	core.GroupVersion, core.APIPath = &corev1.SchemeGroupVersion, "/api"
	core.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	if core.UserAgent == "" {
		core.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.RESTClientFor(core)
	if err != nil {
		return nil, fmt.Errorf("make the API's client: %w", err)
	}
	return &Client{cfg: cfg, core: client, parameters: runtime.NewParameterCodec(scheme)}, nil
}

// OnNode returns at most limit pods of a namespace with a label that run on a node;
// limit 0 is all. Errors are those of k8s.io/apimachinery/pkg/api/errors.
func (c *Client) OnNode(ctx context.Context, namespace, label, node string, limit int64) ([]corev1.Pod, error) {
	var pods corev1.PodList
	which := &metav1.ListOptions{LabelSelector: label, FieldSelector: "spec.nodeName=" + node, Limit: limit}
	err := c.core.Get().Namespace(namespace).Resource("pods").VersionedParams(which, c.parameters).Do(ctx).Into(&pods)
	return pods.Items, err
}

// Node reads a node, to learn whether there is one of that name.
func (c *Client) Node(ctx context.Context, name string) (*corev1.Node, error) {
	node := &corev1.Node{}
	if err := c.core.Get().Resource("nodes").Name(name).Do(ctx).Into(node); err != nil {
		return nil, err
	}
	return node, nil
}

// Executor returns what runs a command in a pod: over a web socket, and where
// fallback takes that one's error over SPDY, as kubectl does. API servers before
// Kubernetes 1.30 (OpenShift 4.17), and some proxies, speak SPDY only.
func (c *Client) Executor(namespace, pod string, o *corev1.PodExecOptions, fallback func(error) bool) (remotecommand.Executor, error) {
	target := c.core.Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").VersionedParams(o, c.parameters).URL()
	spdy, err := remotecommand.NewSPDYExecutor(c.cfg, "POST", target)
	if err != nil {
		return nil, err
	}
	socket, err := remotecommand.NewWebSocketExecutor(c.cfg, "GET", target.String())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(socket, spdy, fallback)
}
