// Package bmc emulates the management controllers of a lab's machines: Redfish
// over HTTPS with a self-signed certificate, basic and session authentication,
// and as much of it writable as metal3 writes: power, boot override, virtual
// media. What a controller does wrong is a plain option that can be changed
// while it runs.
//
// Invariants:
//   - Without a valid login only the service root, /redfish and the creation of
//     a session answer; everything else is 401 (DMTF DSP0266, "Authentication").
//   - The trees are small and made by hand. Where vendors differ in shape (names
//     of the resources, where virtual media lies, how it is inserted, how a MAC
//     address and a time are written) they differ here in the same way; the
//     figures in them are invented.
//   - Every request is remembered with its method, path and user, so that a test
//     can tell who talked to a controller and who did not.
//   - A captured tree of a real server (Config.Tree) is served as it is: it can be read and
//     not written.
//   - It listens on loopback only and never opens what it is told to mount.
package bmc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// Config is a controller and the machine behind it.
type Config struct {
	Name    string // of the machine, for its certificate
	Address string // loopback address and port; port 0 takes a free one
	Vendor  Vendor
	Serial  string
	MACs    []string // of the machine's network cards
	User    string
	Pass    string
	On      bool // the machine runs

	// Tree, where set, is what a real service was captured as: the resource of a path is in
	// PATH/index.json (DMTF/Redfish-Mockup-Creator). Vendor is not looked at then.
	Tree fs.FS
	// Sign, where set, signs the certificate; else it signs itself. Names are those in the
	// certificate; none: the address.
	Sign  pki.Pair
	Names []string
	// Pair, where set, is the certificate itself.
	Pair *pki.Pair
	// Gauge, where set, counts the requests that are being answered.
	Gauge *Gauge

	// HTTPBoot lets the system fetch what it boots from a URL, in Boot.HttpBootUri. Of the
	// trees in NVIDIA/libredfish:tests/mockups those of Dell, HPE and Supermicro list the boot
	// source UefiHttp, Lenovo's does not; only NVIDIA's have the property itself.
	HTTPBoot bool
	// ClockOff is how far the controller's clock is ahead of ours; negative: behind.
	ClockOff time.Duration
	// NTP lets the controller take its time from time servers: it cannot be set then
	// (openbmc phosphor-time-manager: "NTP: Fail to set").
	NTP bool
	// MaxFailures locks the account after as many refused logins in a row;
	// 0 never does.
	MaxFailures int
	// PowerChanged, where set, is told that the machine was switched on or off,
	// and from what it will boot next.
	PowerChanged func(on bool, boot Boot)
	// Log, where set, gets a line for each request that arrives.
	Log io.Writer
}

// Boot is from what a machine that is switched on now would boot.
type Boot struct {
	Target string // Redfish's BootSourceOverrideTarget, "None" without override
	Image  string // in the virtual drive, or the URL of target UefiHttp; "" for none
}

// Trouble is what a controller does wrong. The zero value is a good one.
type Trouble struct {
	// Locked refuses every login, the right one too, as after too many wrong
	// ones. The answer is the same 401.
	Locked bool
	// PowerStuck accepts a reset and leaves the power as it is.
	PowerStuck bool
	// Unavailable answers 503 to everything.
	Unavailable bool
	// ReadOnly lets the account read and answers 403 to what changes anything: its role is
	// Redfish's ReadOnly (DSP0266, "Redfish standard roles").
	ReadOnly bool
	// Forbidden answers 403 to reads, but for the service root.
	Forbidden bool
	// ForbidBelow answers 403 to reads of paths that contain one of these.
	ForbidBelow []string
	// ClockStuck accepts a time and keeps its own.
	ClockStuck bool
	// Delay is waited before every answer.
	Delay time.Duration
	// Hang accepts requests and never answers.
	Hang bool
	// Half sends the first half of each resource.
	Half bool
	// HTML answers 200 with a web page to everything.
	HTML bool
	// Endless sends a resource that does not end.
	Endless bool
	// Redirect sends everybody to the same path of this server, https://HOST:PORT.
	Redirect string
	// Late does the troubles from Hang on, and Redirect, to requests with a credential only.
	Late bool
	// Deep answers with JSON that is nested far deeper than any resource.
	Deep bool
	// Same answers 200 with one object to everything, as some web servers do.
	Same bool
	// GoneAfter closes each connection without an answer from this request on, counted since
	// the start; 0 never does.
	GoneAfter int
	// Echo refuses every login, and repeats what was sent in the text and the header of the
	// answer.
	Echo bool
}

// Request is one call that reached a controller.
type Request struct {
	Method, Path, User, Agent string
	Status                    int
}

// BMC is a running controller.
type BMC struct {
	cfg    Config
	server *http.Server
	url    string
	cert   []byte

	mu       sync.Mutex
	on       bool
	trouble  Trouble
	failures int
	locked   bool
	override override
	clockOff time.Duration
	media    map[string]string // slot: image
	sessions map[string]string // token: path of the session
	nextID   int
	requests []Request
}

type override struct{ enabled, target, mode, uri string }

// maxRequests bounds what is remembered.
const maxRequests = 10_000

// Start makes a certificate, opens the port and serves.
func Start(cfg Config) (*BMC, error) {
	if _, ok := shapes[cfg.Vendor]; !ok && cfg.Tree == nil {
		return nil, fmt.Errorf("start BMC of %s: no such vendor %q", cfg.Name, cfg.Vendor)
	}
	host, _, err := net.SplitHostPort(cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("start BMC of %s: %w", cfg.Name, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("start BMC of %s: %s is no loopback address", cfg.Name, host)
	}
	// A certificate that signs itself, as controllers leave the factory.
	names := cfg.Names
	if len(names) == 0 {
		names = []string{host}
	}
	pair := cfg.Pair
	if pair == nil {
		made, err := cfg.Sign.Server(pki.Name{CN: cfg.Name + "-bmc"}, names, pki.TenYears)
		if err != nil {
			return nil, fmt.Errorf("start BMC of %s: %w", cfg.Name, err)
		}
		pair = &made
	}
	key, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, fmt.Errorf("start BMC of %s: %w", cfg.Name, err)
	}
	listener, err := net.Listen("tcp", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("start BMC of %s: %w", cfg.Name, err)
	}
	b := &BMC{
		cfg: cfg, url: "https://" + listener.Addr().String(), cert: pair.Cert, on: cfg.On, clockOff: cfg.ClockOff,
		override: override{enabled: "Disabled", target: "None", mode: "UEFI"}, media: map[string]string{}, sessions: map[string]string{},
	}
	b.server = &http.Server{
		Handler: b, ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{key}, MinVersion: tls.VersionTLS12},
		// Clients that do not trust the certificate are no news.
		ErrorLog: log.New(discard{}, "", 0),
	}
	go func() {
		if err := b.server.ServeTLS(listener, "", ""); err != nil && !errors.Is(err, http.ErrServerClosed) {
			listener.Close()
		}
	}()
	return b, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Close stops serving; the machine continues.
func (b *BMC) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := b.server.Shutdown(ctx); err != nil {
		return b.server.Close()
	}
	return nil
}

// URL is https://ADDRESS:PORT.
func (b *BMC) URL() string { return b.url }

// SystemPath is the path of the one system, as a BareMetalHost's address has it.
func (b *BMC) SystemPath() string { return "/redfish/v1/Systems/" + b.shape().system }

// Certificate is the controller's own, PEM.
func (b *BMC) Certificate() []byte { return b.cert }

// On says whether the machine runs.
func (b *BMC) On() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.on
}

// Behave changes what the controller does wrong.
func (b *BMC) Behave(t Trouble) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trouble = t
	if !t.Locked {
		b.locked, b.failures = false, 0
	}
}

// SetPassword changes the account's password on the controller alone, as a
// person at its web page does.
func (b *BMC) SetPassword(pass string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cfg.Pass = pass
	clear(b.sessions)
}

// ClockOff is how far the controller's clock is ahead of ours.
func (b *BMC) ClockOff() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clockOff
}

// SetClockOff changes it, as a person at the controller's web page does.
func (b *BMC) SetClockOff(off time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clockOff = off
}

// SetPower switches the machine at its button, past the controller.
func (b *BMC) SetPower(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on = on
}

// Requests returns what reached the controller so far, oldest first.
func (b *BMC) Requests() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

func (b *BMC) remember(r Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) < maxRequests {
		b.requests = append(b.requests, r)
	}
	if b.cfg.Log != nil {
		fmt.Fprintf(b.cfg.Log, "%s %s %s %q %d %q\n", time.Now().UTC().Format(time.RFC3339), r.Method, r.Path, r.User, r.Status, r.Agent)
	}
}

func (b *BMC) shape() shape { return shapes[b.cfg.Vendor] }
