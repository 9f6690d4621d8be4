package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// NetKind says which question about the network of a plan was asked.
type NetKind string

// The questions.
const (
	NetVantage  NetKind = "vantage"  // the networks of the machine that asks
	NetName     NetKind = "name"     // addresses of a name
	NetReverse  NetKind = "reverse"  // names of an address
	NetPort     NetKind = "port"     // who listens on a port, with its certificate
	NetRegistry NetKind = "registry" // GET /v2/ of a container registry
	NetTime     NetKind = "time"     // NTP
	NetNeighbor NetKind = "neighbor" // ARP or neighbor discovery
	NetDelay    NetKind = "delay"    // how long an answer of a host takes
	NetSize     NetKind = "size"     // how large packets to a host may be
)

// What the questions are about.
const (
	NetAPI        = "api"
	NetAPIInt     = "api-int"
	NetApps       = "apps"
	NetWildcard   = "wildcard"
	NetAPIVIP     = "api VIP"
	NetIngressVIP = "ingress VIP"
	NetHost       = "host" // a static address of a host
	NetGateway    = "gateway"
)

// NetAnswer is one answer about the network that a plan needs. No credential is sent, and
// no body is kept.
type NetAnswer struct {
	Kind    NetKind   `json:"question"`
	Target  string    `json:"target,omitempty"` // what of the plan it is about
	Host    string    `json:"host,omitempty"`   // the name or address that was asked about
	Port    int       `json:"port,omitempty"`
	Server  string    `json:"server,omitempty"` // the name server of the plan that was asked; "" is those of the machine
	Vantage string    `json:"vantage"`          // the machine that asked
	At      time.Time `json:"at"`
	Millis  float64   `json:"millis"`
	// NotRun says why the question was not asked; nothing below is set then.
	NotRun string `json:"notRun,omitempty"`

	Networks []string `json:"networks,omitempty"` // NetVantage: the networks that the machine has an address in
	MTU      int      `json:"mtu,omitempty"`      // NetVantage: the smallest of its interfaces in them; NetSize: that of the interface that leads to the host

	Addresses []string `json:"addresses,omitempty"` // NetName
	Names     []string `json:"names,omitempty"`     // NetReverse
	Resolver  []string `json:"resolver,omitempty"`  // name servers that were asked
	DNS       string   `json:"dns,omitempty"`       // why there is no address: DNSNoSuchName, DNSNoAnswer, DNSFailure

	Address    string     `json:"address,omitempty"` // ip:port that the connection went to
	Stage      Stage      `json:"stage,omitempty"`
	ErrorClass ErrorClass `json:"errorClass,omitempty"`
	Error      string     `json:"error,omitempty"`
	Chain      []string   `json:"chain,omitempty"` // the served certificates, leaf first, PEM
	Trust      Trust      `json:"trust,omitempty"`
	TrustError string     `json:"trustError,omitempty"`
	VerifiedBy string     `json:"verifiedBy,omitempty"`
	Status     int        `json:"status,omitempty"` // HTTP
	Proxy      string     `json:"proxy,omitempty"`  // the proxy of the plan that was gone through

	Neighbor  string `json:"neighbor,omitempty"` // NeighborAnswered or NeighborSilent
	MAC       string `json:"mac,omitempty"`
	Interface string `json:"interface,omitempty"`

	Method   string  `json:"method,omitempty"`   // NetDelay and NetSize: how it was measured
	Sent     int     `json:"sent,omitempty"`     // NetDelay: questions
	Lost     int     `json:"lost,omitempty"`     // NetDelay: those without an answer
	Median   float64 `json:"median,omitempty"`   // NetDelay: ms
	Max      float64 `json:"max,omitempty"`      // NetDelay: ms
	Size     int     `json:"size,omitempty"`     // NetSize: the packet that was tried, in bytes with its IP header
	Passed   int     `json:"passed,omitempty"`   // NetSize: the largest that arrived in one piece
	Reported int     `json:"reported,omitempty"` // NetSize: the largest that a router on the path forwards, as it reported

	Stratum      int     `json:"stratum,omitempty"`
	Synchronized bool    `json:"synchronized,omitempty"` // the time server calls itself synchronized
	Offset       float64 `json:"offset,omitempty"`       // seconds that the server is ahead of the machine that asked
	TimeError    string  `json:"timeError,omitempty"`    // why its time cannot be used
}

// The outcomes of NetNeighbor.
const (
	NeighborAnswered = "answered"
	NeighborSilent   = "silent"
)

// question is what was asked, as a person can ask it again.
func (a NetAnswer) question() string {
	switch a.Kind {
	case NetName, NetReverse:
		q := "dig " + a.Host
		if a.Kind == NetReverse {
			q = "dig -x " + a.Host
		}
		if a.Server != "" {
			q += " @" + a.Server
		}
		return q
	case NetTime:
		return "NTP " + a.Host
	case NetNeighbor:
		return "ARP/ND " + a.Host
	case NetDelay, NetSize:
		return string(a.Kind) + " to " + a.Host
	case NetVantage:
		return "addresses of " + a.Vantage
	}
	host := a.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return string(a.Kind) + " " + host + ":" + strconv.Itoa(a.Port)
}

// Name is the answer's name as an object: the same question from the same machine has the
// same one.
func (a NetAnswer) Name() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %q %q", a.Kind, a.Target, a.Host, a.Port, a.Server, a.Vantage))
	return string(a.Kind) + "-" + hex.EncodeToString(sum[:8])
}

// Object returns the answer as an object; evidence.Decode[NetAnswer] is the way back.
func (a NetAnswer) Object() (evidence.Object, error) {
	return object(a, evidence.NetProbes, "NetworkAnswer", a.Name(), a.question(), a.At)
}
