// Package kube is the one client of the Kubernetes API: whoever reads, watches, writes or
// runs a command in a cluster gets it here, with the same protections.
//
// Invariants:
//   - No other package calls a constructor of client-go (TestOnlyHere holds it). The TLS
//     verification of the rest.Config is never changed.
//   - No redirection is followed: client-go adds the bearer token to whatever host a
//     redirection names.
//   - A credential plugin that waits is waited for as long as a request, and not left behind (EndPlugins; on Linux).
//     What it writes to its stderr is shown without secrets and escape sequences, bounded.
//   - One request ends in time, one answer in bytes, one list in pages. Limits say how many.
//   - An answer about another object than the one that was asked for is an error: a proxy,
//     a cache or a server that means harm must not make one object's fields pass for
//     another's.
//   - A message of a server is one that is safe to print: bounded, without control
//     characters and secrets. The error keeps its type (k8s.io/apimachinery/pkg/api/errors).
//   - Every write names FieldManager, and can be tried first on the server (dryRun), which
//     then does everything but store it.
//   - New sends nothing, and no rest.Config that is passed in is changed.
//
// It knows no kinds: client-go's own scheme and typed clients link the types of every
// group of Kubernetes, a third of the program. Consumers own small interfaces of what they
// use of a Client.
package kube

import (
	"fmt"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// FieldManager is the name under which the API's managedFields show our writes.
const FieldManager = "rollcall"

// Client is the API of one cluster. It is safe for concurrent use.
type Client struct {
	host    string
	base    *url.URL
	http    *http.Client
	objects dynamic.Interface
	raw     rest.Interface
	clean   *sanitize.Sanitizer // of messages
}

// New returns a client of the API that cfg leads to, within the limits.
func New(cfg *rest.Config, limits Limits) (*Client, error) {
	cfg, bound := protect(cfg, limits)
	cfg.WarningHandler, cfg.WarningHandlerWithContext = rest.NoWarnings{}, nil
	cfg.NegotiatedSerializer = codecs()
	cfg.GroupVersion, cfg.APIPath = nil, ""
	cfg.ContentConfig.ContentType = runtime.ContentTypeJSON
	cfg.ContentConfig.AcceptContentTypes = runtime.ContentTypeJSON
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("make the API's HTTP client: %w", err)
	}
	client.Transport = bound(client.Transport)
	clean, err := sanitize.New()
	if err != nil {
		return nil, err
	}
	c := &Client{host: cfg.Host, http: client, clean: clean}
	if c.objects, err = dynamic.NewForConfigAndClient(cfg, client); err != nil {
		return nil, fmt.Errorf("make the API's client: %w", err)
	}
	if c.raw, err = rest.UnversionedRESTClientForConfigAndClient(cfg, client); err != nil {
		return nil, fmt.Errorf("make the API's client: %w", err)
	}
	if c.base, _, err = rest.DefaultServerUrlFor(cfg); err != nil {
		return nil, fmt.Errorf("read the address of the API server: %w", err)
	}
	return c, nil
}

// Host is the API server as the configuration names it.
func (c *Client) Host() string { return c.host }

// Close closes idle connections. The client may still be used.
func (c *Client) Close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// codecs are those of clients that read errors as objects and everything else as bytes.
// No kind is registered: k8s.io/api links the codecs of all of them.
func codecs() runtime.NegotiatedSerializer {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(s).WithoutConversion()
}
