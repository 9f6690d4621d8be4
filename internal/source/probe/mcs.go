// Package probe defines the answers of probes: what Rollcall asked a server
// itself, besides reading the cluster's API.
//
// An answer is an evidence.Object of the pseudo group rollcall.dev, so that it
// is listed, recorded and replayed like any object. The package holds the
// schema only; internal/source/live and internal/source/apipath do the asking.
//
// Invariants:
//   - An answer says from where it was asked. The same question asked from
//     elsewhere may have another answer.
//   - An answer holds no body: what the machine config server serves carries the
//     pull secret and a bootstrap token. Of an API's health only the names of the
//     failed checks are kept.
package probe

import (
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// MCSAccept is the Accept header of every MCS probe. 3.4.0 is accepted on every
// branch from 4.14 to main. Below 3.3.0 the server changes an object of its own
// cache, and without the header it converts to 2.2.0, which fails for healthy
// pools (openshift/machine-config-operator:pkg/server/api.go
// detectSpecVersionFromAcceptHeader, pkg/server/server.go MigrateKernelArgsIfNecessary).
const MCSAccept = "application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1"

// The targets of MCS probes. A node is TargetNode followed by its name.
const (
	TargetNode   = "node/"   // the node's InternalIP: that one server, past every load balancer
	TargetAPIInt = "api-int" // the host of Infrastructure.status.apiServerInternalURI: what a booting host asks
	TargetVIP    = "vip"     // one of Infrastructure's apiServerInternalIPs: past DNS, through the load balancer
)

// ErrorClass says at which step a probe ended without an HTTP answer.
type ErrorClass string

// The classes, in the order of the steps. An answer with an HTTP status has none.
const (
	ErrDNS     ErrorClass = "dns"      // the host has no address
	ErrNoRoute ErrorClass = "no-route" // no network path to the host or network
	ErrRefused ErrorClass = "refused"  // the host answers, nothing listens on the port
	ErrTimeout ErrorClass = "timeout"  // no answer in time; Stage tells at which step
	ErrTLS     ErrorClass = "tls"      // connected, no TLS session
	ErrClosed  ErrorClass = "closed"   // connected, then closed or reset without an answer
	ErrHTTP    ErrorClass = "http"     // what came back is not HTTP
	ErrOther   ErrorClass = "other"
)

// Stage is the last step that a probe completed.
type Stage string

// The steps of a probe.
const (
	StageNone      Stage = ""          // not even a connection
	StageConnected Stage = "connected" // TCP
	StageTLS       Stage = "tls"       // the server showed a certificate and the session is established
	StageAnswered  Stage = "answered"  // an HTTP status came back
)

// MCSAnswer is the answer of one machine config server to one question:
// HEAD https://host:port/config/<pool>. HEAD runs the server's whole GetConfig
// and sends no body. The certificate is recorded as served and is not verified
// by the probe; that is a fact's work.
type MCSAnswer struct {
	Target     string     `json:"target"`               // "node/control0", "api-int" or "vip"
	Host       string     `json:"host"`                 // the name or address that was asked
	Address    string     `json:"address,omitempty"`    // ip:port that the connection went to
	Port       int        `json:"port"`                 // usually openshift.MCSPort
	Pool       string     `json:"pool"`                 // the last element of the path
	Vantage    string     `json:"vantage"`              // the machine that asked
	At         time.Time  `json:"at"`                   // when the question was sent
	Millis     int64      `json:"millis"`               // how long until the answer or the error
	Stage      Stage      `json:"stage,omitempty"`      // the last step that was completed
	Status     int        `json:"status"`               // HTTP status, 0 when none came
	ErrorClass ErrorClass `json:"errorClass,omitempty"` // "" when Status is set
	Error      string     `json:"error,omitempty"`      // what happened, as the machine put it
	Chain      []string   `json:"chain,omitempty"`      // the served certificates, leaf first, PEM
	Server     string     `json:"server,omitempty"`     // the Server header; the MCS sends none, proxies and load balancers do
}

// Node returns the name of the node whose own address was asked, "" for api-int and the VIPs.
func (a MCSAnswer) Node() string {
	name, ok := strings.CutPrefix(a.Target, TargetNode)
	if !ok {
		return ""
	}
	return name
}

// Name is the answer's name as an object, unique within one run.
func (a MCSAnswer) Name() string {
	r := strings.NewReplacer("/", "-", ":", "-", "%", "-")
	return r.Replace(strings.ToLower(a.Target + "-" + a.Host + "-" + a.Pool))
}

// question is what was asked, as a person can ask it again.
func (a MCSAnswer) Question() string {
	host := a.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("HEAD https://%s:%d/config/%s", host, a.Port, a.Pool)
}

// Object returns the answer as an object. Its content has the fields of
// MCSAnswer besides apiVersion, kind and metadata, so evidence.Decode[MCSAnswer]
// is the way back.
func (a MCSAnswer) Object() (evidence.Object, error) {
	return object(a, evidence.MCSProbes, "MCSAnswer", a.Name(), a.Question(), a.At)
}
