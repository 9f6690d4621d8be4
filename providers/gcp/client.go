package main

import (
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/httptransport"
	compute "cloud.google.com/go/compute/apiv1"

	"github.com/rollcall-project/rollcall/internal/outbound"
)

const (
	headersTime = time.Minute     // from a request to the headers of its answer
	requestTime = 2 * time.Minute // of a request with its answer
)

// newClient is the client for an endpoint that parseOptions has let through, "" for Google's: one of internal/outbound,
// so that answers are bounded and no redirection gets the credential. A credential goes to Google only, and only over
// HTTPS. What gives tokens is asked by the same client; only the metadata server of an instance is asked by the library's
// own (cloud.google.com/go/auth, credentials.DetectDefault), always at 169.254.169.254.
func newClient(endpoint string) (*http.Client, error) {
	client := outbound.HTTP(outbound.Options{Proxy: http.ProxyFromEnvironment, Headers: headersTime, Request: requestTime, Reuse: true})
	if endpoint != "" && !strings.HasPrefix(endpoint, "https://") {
		return client, nil
	}
	with, err := authenticated(client, endpoint)
	if err != nil {
		return nil, err
	}
	client.Transport = with
	return client, nil
}

// authenticated is the transport of a client with the application default credentials.
func authenticated(c *http.Client, endpoint string) (http.RoundTripper, error) {
	asks := *c // the one that is answered with a token; the other is given the token
	found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: compute.DefaultAuthScopes(), UseSelfSignedJWT: true, Client: &asks})
	if err != nil {
		return nil, err
	}
	with, err := httptransport.NewClient(&httptransport.Options{Credentials: found, BaseRoundTripper: c.Transport, Endpoint: endpoint, DisableTelemetry: true})
	if err != nil {
		return nil, err
	}
	return with.Transport, nil
}
