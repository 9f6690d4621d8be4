// Package podexec finds pods and runs commands in them.
package podexec

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// Client reaches the pods of one cluster. It is safe for concurrent use.
type Client struct {
	cfg *rest.Config // protected: of the connections of commands, which are not api's
	api *kube.Client
}

// New returns a client over the API that cfg leads to, protected as every client is
// (kube.Protect). It sends nothing yet, and cfg is not changed.
func New(cfg *rest.Config) (*Client, error) {
	api, err := kube.New(cfg, kube.Limits{})
	if err != nil {
		return nil, err
	}
	return &Client{cfg: kube.Protect(cfg, kube.Limits{}), api: api}, nil
}

// retries is how often a read is sent again where the API server asks for it.
const retries = 10

// OnNode returns at most limit pods of a namespace with a label that run on a node;
// limit 0 is all. Errors are those of k8s.io/apimachinery/pkg/api/errors.
func (c *Client) OnNode(ctx context.Context, namespace, label, node string, limit int64) ([]corev1.Pod, error) {
	query := url.Values{"labelSelector": {label}, "fieldSelector": {"spec.nodeName=" + node}}
	if limit > 0 {
		query.Set("limit", strconv.FormatInt(limit, 10))
	}
	var list podList
	err := c.read(ctx, kube.Request{Path: []string{"api", "v1", "namespaces", namespace, "pods"}, Query: query}, &list)
	return list.Items, err
}

// podList is a list of pods as the API sends it.
type podList struct {
	Items []corev1.Pod `json:"items"`
}

// Node reads a node, to learn whether there is one of that name.
func (c *Client) Node(ctx context.Context, name string) (*corev1.Node, error) {
	var node corev1.Node
	if err := c.read(ctx, kube.Request{Path: []string{"api", "v1", "nodes", name}}, &node); err != nil {
		return nil, err
	}
	return &node, nil
}

func (c *Client) read(ctx context.Context, r kube.Request, into any) error {
	r.Accept, r.Retries = "application/json", retries
	body, _, err := c.api.Do(ctx, r)
	if err != nil {
		return err
	}
	var content map[string]any
	if err := json.Unmarshal(body, &content); err != nil {
		return fmt.Errorf("decode the API's answer: %w", err)
	}
	return apitypes.Decode(content, into)
}
