package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Request is a request for a document of the API, for those who decode the answer
// themselves. It is a GET, and a POST where it has a body.
type Request struct {
	Path    []string   // "api", "v1", "nodes"
	Query   url.Values // of the URL
	Accept  string     // media types; "" is the client's, JSON
	Body    []byte     // of a POST, JSON
	Retries int        // how often it is sent again where the answer asks for it (Retry-After); 0 is never
}

func (c *Client) request(r Request) *rest.Request {
	req := c.raw.Get()
	if r.Body != nil {
		req = c.raw.Post().SetHeader("Content-Type", runtime.ContentTypeJSON).Body(r.Body)
	}
	req = req.AbsPath(r.Path...).MaxRetries(r.Retries)
	if r.Accept != "" {
		req.SetHeader("Accept", r.Accept)
	}
	for name, values := range r.Query {
		for _, v := range values {
			req.Param(name, v)
		}
	}
	return req
}

// URL is the address of a request.
func (c *Client) URL(r Request) *url.URL { return c.request(r).URL() }

// Do sends a request and returns the answer's body and media type.
func (c *Client) Do(ctx context.Context, r Request) (body []byte, media string, err error) {
	result := c.request(r).Do(ctx).ContentType(&media)
	if err := result.Error(); err != nil { // the API's own words; those of Raw are client-go's
		return nil, media, c.printable(err)
	}
	body, err = result.Raw()
	return body, media, c.printable(err)
}

// Open sends a request and returns the answer's body while it comes: a log, a watch.
func (c *Client) Open(ctx context.Context, r Request) (io.ReadCloser, error) {
	in, err := c.request(r).Stream(ctx)
	return in, c.printable(err)
}

// AskPod requests / of a port of a pod through the API server's proxy, and returns the
// first 4 KiB of the answer: of the pod, and of the API server where it does not reach it.
func (c *Client) AskPod(ctx context.Context, namespace, pod, port string) (string, error) {
	u := c.base.JoinPath("api", "v1", "namespaces", namespace, "pods", pod+":"+port, "proxy", "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	const enough = 4096 // one line is expected
	raw, err := io.ReadAll(io.LimitReader(resp.Body, enough))
	switch {
	case err != nil:
		return "", err
	case resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusUnauthorized:
		return "", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, fmt.Errorf("HTTP %d", resp.StatusCode))
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("HTTP %d: %.200q", resp.StatusCode, raw)
	}
	return string(raw), nil
}
