// Package podexec finds pods and runs commands in them. Its client knows no kinds:
// client-go's own scheme and typed clients link the types of every group of
// Kubernetes, a third of the program.
package podexec

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// Client reaches the pods of one cluster. It is safe for concurrent use.
type Client struct {
	cfg  *rest.Config
	core *rest.RESTClient
}

// New returns a client over the API that cfg leads to. It sends nothing yet, and cfg
// is not changed.
func New(cfg *rest.Config) (*Client, error) {
	core := rest.CopyConfig(cfg)
	core.GroupVersion, core.APIPath = &schema.GroupVersion{Version: "v1"}, "/api"
	core.NegotiatedSerializer = live.Codecs()
	if core.UserAgent == "" {
		core.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.RESTClientFor(core)
	if err != nil {
		return nil, fmt.Errorf("make the API's client: %w", err)
	}
	return &Client{cfg: cfg, core: client}, nil
}

// OnNode returns at most limit pods of a namespace with a label that run on a node;
// limit 0 is all. Errors are those of k8s.io/apimachinery/pkg/api/errors.
func (c *Client) OnNode(ctx context.Context, namespace, label, node string, limit int64) ([]corev1.Pod, error) {
	request := c.core.Get().Namespace(namespace).Resource("pods").Param("labelSelector", label).Param("fieldSelector", "spec.nodeName="+node)
	if limit > 0 {
		request.Param("limit", strconv.FormatInt(limit, 10))
	}
	var list podList
	return list.Items, read(ctx, request, &list)
}

// podList is a list of pods as the API sends it.
type podList struct {
	Items []corev1.Pod `json:"items"`
}

// Node reads a node, to learn whether there is one of that name.
func (c *Client) Node(ctx context.Context, name string) (*corev1.Node, error) {
	var node corev1.Node
	if err := read(ctx, c.core.Get().Resource("nodes").Name(name), &node); err != nil {
		return nil, err
	}
	return &node, nil
}

func read(ctx context.Context, request *rest.Request, into any) error {
	result := request.SetHeader("Accept", "application/json").Do(ctx)
	if err := result.Error(); err != nil { // the API's own words; those of Raw are client-go's
		return err
	}
	body, err := result.Raw()
	if err != nil {
		return err
	}
	var content map[string]any
	if err := json.Unmarshal(body, &content); err != nil {
		return fmt.Errorf("decode the API's answer: %w", err)
	}
	return apitypes.Decode(content, into)
}
