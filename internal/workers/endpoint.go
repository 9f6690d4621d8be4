package workers

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rollcall-project/rollcall/internal/outbound"
)

// Endpoint is the answer of the ignition endpoint, asked from this machine.
type Endpoint struct {
	OK      bool   // it is the ignition server, with the name and the CA of the user-data
	Reached bool   // something answered
	Detail  string // what happened, without a secret
}

const endpointTimeout = 10 * time.Second

// AskEndpoint asks the ignition endpoint with a token that does not exist. The answer 511
// proves the name, the network path, the certificate and the path of the URL, and no secret
// is sent (openshift/hypershift:ignition-server/cmd/start.go, 4.12 to 4.22). Its trace is one
// line in the server's log and a Warning event. A machine may stand in another network.
func AskEndpoint(ctx context.Context, u UserData) Endpoint {
	ctx, cancel := context.WithTimeout(ctx, endpointTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, u.Endpoint.String(), nil)
	if err != nil {
		return Endpoint{Detail: err.Error()}
	}
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return Endpoint{Detail: err.Error()}
	}
	request.Header.Set("Authorization", "Bearer "+base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "not-a-token-%x", token)))
	// No redirect is followed: Ignition drops the headers on one, so that the token would not arrive
	// (coreos/ignition:internal/resource/url.go).
	client := outbound.HTTP(outbound.Options{TLS: &tls.Config{RootCAs: u.CA, MinVersion: tls.VersionTLS12}, Dial: outbound.Dialer(endpointTimeout).DialContext})
	response, err := client.Do(request)
	if err != nil {
		var verify *tls.CertificateVerificationError
		return Endpoint{Reached: errors.As(err, &verify), Detail: err.Error()}
	}
	response.Body.Close()
	e := Endpoint{Reached: true, OK: response.StatusCode == http.StatusNetworkAuthenticationRequired, Detail: "HTTP " + response.Status}
	if !e.OK {
		e.Detail += ", want 511 for a token that does not exist"
	}
	return e
}
