package probe

import (
	"crypto/x509"
	"encoding/pem"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// The targets of the API's checks besides TargetNode, TargetAPIInt and TargetVIP.
const (
	TargetAPI    = "api"    // the server of the kubeconfig, or of the archive's Infrastructure
	TargetClient = "client" // the same, asked with the kubeconfig's credentials over a verified connection
)

// Trust is what a served chain is worth to a client of the kubeconfig.
type Trust string

// The outcomes of the verification. "" means that there is nothing to verify
// with, or that nothing was served.
const (
	TrustVerified    Trust = "verified"
	TrustExpired     Trust = "expired"
	TrustNotYetValid Trust = "not-yet-valid"
	TrustUnknownCA   Trust = "unknown-authority"
	TrustWrongName   Trust = "wrong-name"
	TrustOther       Trust = "other"
)

// The CAs that a chain is held against.
const (
	ByKubeconfig = "the CA of the kubeconfig"
	BySystem     = "the CAs of the system"
)

// What became of the kubeconfig's credentials.
const (
	CredentialAccepted = "accepted"
	CredentialRefused  = "refused" // 401
	CredentialNotTold  = "unknown" // no answer got so far
)

// Why a name has no address.
const (
	DNSNoSuchName = "no-such-name" // a name server said so
	DNSNoAnswer   = "no-answer"    // no name server answered, or none knows the way
	DNSFailure    = "failure"      // the name server answers that it fails or refuses: SERVFAIL, REFUSED
)

// Bounds of what is kept of a foreign answer.
const (
	maxChecks    = 40
	maxCheckName = 120
)

// APIAnswer is one check of the network path to the API: one address and port, with all
// steps that were taken there. No credential is sent, except by the client's own
// request (TargetClient), which goes over a verified connection only.
type APIAnswer struct {
	Target  string    `json:"target"`  // "api", "api-int", "vip", "node/control0" or "client"
	Host    string    `json:"host"`    // the name or address that was asked
	Port    int       `json:"port"`    // openshift.APIPort, MCSPort or that of the kubeconfig
	Vantage string    `json:"vantage"` // the machine that asked
	At      time.Time `json:"at"`
	Millis  int64     `json:"millis"`

	Addresses []string `json:"addresses,omitempty"` // what the name resolves to
	Resolver  []string `json:"resolver,omitempty"`  // name servers that were asked
	DNS       string   `json:"dns,omitempty"`       // why the name has no address: DNSNoSuchName or DNSNoServer
	Proxy     string   `json:"proxy,omitempty"`     // host of the proxy that was gone through

	Address    string     `json:"address,omitempty"`    // ip:port that the connection went to
	Stage      Stage      `json:"stage,omitempty"`      // the last step that was completed
	ErrorClass ErrorClass `json:"errorClass,omitempty"` // why it ended before an HTTP status
	Error      string     `json:"error,omitempty"`

	Chain      []string `json:"chain,omitempty"`      // the served certificates, leaf first, PEM
	ServerName string   `json:"serverName,omitempty"` // the name that was asked for and verified
	Trust      Trust    `json:"trust,omitempty"`
	TrustError string   `json:"trustError,omitempty"`
	VerifiedBy string   `json:"verifiedBy,omitempty"` // which CAs the chain was held against

	Paths      []PathAnswer `json:"paths,omitempty"`
	ServerTime time.Time    `json:"serverTime,omitzero"` // the Date header
	Server     string       `json:"server,omitempty"`    // the Server header; an API server sends none
	Version    string       `json:"version,omitempty"`   // gitVersion of /version

	Credential      string    `json:"credential,omitempty"`     // TargetClient: CredentialOK, CredentialRefused or CredentialNotTold
	CredentialKind  string    `json:"credentialKind,omitempty"` // "client certificate", "token", "exec", "none"
	CredentialUntil time.Time `json:"credentialUntil,omitzero"` // notAfter of the client certificate
	OK              bool      `json:"ok,omitempty"`             // TargetClient: the API gave a usable answer
}

// PathAnswer is the answer to one path.
type PathAnswer struct {
	Path   string   `json:"path"`
	Status int      `json:"status"`           // 0: none came
	Error  string   `json:"error,omitempty"`  // why none came
	Failed []string `json:"failed,omitempty"` // names of the checks that a health endpoint calls failed
}

// Status returns the HTTP status of a path, 0 where none came.
func (a APIAnswer) Status(path string) int {
	for _, p := range a.Paths {
		if p.Path == path {
			return p.Status
		}
	}
	return 0
}

// Failed returns the failed checks of a path.
func (a APIAnswer) Failed(path string) []string {
	for _, p := range a.Paths {
		if p.Path == path {
			return p.Failed
		}
	}
	return nil
}

// Node returns the name of the node whose own address was asked, "" for all others.
func (a APIAnswer) Node() string {
	name, _ := strings.CutPrefix(a.Target, TargetNode)
	if name == a.Target {
		return ""
	}
	return name
}

// Leaf returns the served certificate, nil where none was served.
func (a APIAnswer) Leaf() *x509.Certificate {
	if len(a.Chain) == 0 {
		return nil
	}
	block, _ := pem.Decode([]byte(a.Chain[0]))
	if block == nil {
		return nil
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil // a hostile server may show anything
	}
	return c
}

// Name is the answer's name as an object, unique within one run.
func (a APIAnswer) Name() string {
	r := strings.NewReplacer("/", "-", ":", "-", "%", "-")
	return r.Replace(strings.ToLower(a.Target + "-" + a.Host + "-" + strconv.Itoa(a.Port)))
}

// Where is the address and port that was asked.
func (a APIAnswer) Where() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// Object returns the answer as an object; evidence.Decode[APIAnswer] is the way back.
func (a APIAnswer) Object() (evidence.Object, error) {
	return object(a, evidence.APIProbes, "APIAnswer", a.Name(), "https://"+a.Where(), a.At)
}

// FailedChecks reads the names of failed checks from the answer of /readyz or
// /livez: lines such as "[-]etcd failed: reason withheld"
// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/server/healthz/healthz.go
// handleRootHealth). The text is foreign: names are bounded in length and number.
func FailedChecks(body string) []string {
	var list []string
	for line := range strings.Lines(body) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "[-]")
		if !ok || len(list) == maxChecks {
			continue
		}
		if name, _, _ = strings.Cut(name, " "); name != "" && len(name) <= maxCheckName {
			list = append(list, name)
		}
	}
	return list
}
