// Package ironic emulates the part of the Bare Metal API (openstack/ironic) that
// the baremetal-operator uses: registration, verification, inspection, cleaning,
// deployment, adoption, power and ports. Ironic itself is a Python service with
// a database and cannot run here.
//
// What a BMC says is never made up: every verification, power change and mount
// of an image is a Redfish request to the BMC that the node names, and an error
// is the BMC's answer in the words that sushy and ironic put around it. A
// ramdisk is a call of the machine to /v1/lookup, /v1/continue_inspection or
// /v1/heartbeat, as the real agent makes; a machine that does not call is what
// a timeout is.
//
// Invariants:
//   - An operation holds the node's reservation; whoever wants to change the node
//     meanwhile gets 409, as from openstack/ironic:ironic/conductor/task_manager.py.
//   - A failed operation keeps its words in last_error until the next one begins.
//   - Passwords in driver_info are never given out
//     (openstack/ironic:ironic/api/controllers/v1/node.py node_sanitize).
//   - The database is in memory, as OpenShift's is in its pod: a restart forgets
//     every node, and the operator registers and adopts them again.
package ironic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Config is how an Ironic behaves. The limits are options of ironic.conf; the
// real defaults are in the comments, a lab shortens them.
type Config struct {
	Address string // loopback address and port
	// ImageURL is where the web server of metal3 would serve images from. What
	// lies there is never read.
	ImageURL string

	PowerTimeout   time.Duration // [conductor]power_state_change_timeout, 120 s in OpenShift
	CallTimeout    time.Duration // [conductor]inspect_wait_timeout, 30 min; deploy_callback_timeout, 80 min in OpenShift
	SyncInterval   time.Duration // [conductor]sync_power_state_interval, 120 s in OpenShift
	ConnectRetries int           // [redfish]connection_attempts, 5
	ConnectWait    time.Duration // [redfish]connection_retry_interval, 4 s

	// Log is what the container metal3-ironic writes.
	Log io.Writer
}

// Ironic is a running service.
type Ironic struct {
	cfg    Config
	url    string
	server *http.Server
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup

	logMu sync.Mutex

	mu    sync.Mutex
	nodes map[string]*node // by UUID
	ports []port
}

// Start opens the port and serves until Close.
func Start(cfg Config) (*Ironic, error) {
	host, _, err := net.SplitHostPort(cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("start ironic: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("start ironic: %s is no loopback address", host)
	}
	for _, d := range []time.Duration{cfg.PowerTimeout, cfg.CallTimeout, cfg.SyncInterval} {
		if d <= 0 {
			return nil, errors.New("start ironic: every limit must be longer than nothing")
		}
	}
	listener, err := net.Listen("tcp", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("start ironic: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	i := &Ironic{cfg: cfg, url: "http://" + listener.Addr().String(), ctx: ctx, stop: stop, nodes: map[string]*node{}}
	i.server = &http.Server{Handler: i.routes(), ReadHeaderTimeout: 10 * time.Second}
	i.work.Go(func() {
		if err := i.server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			i.logf("ERROR", "ironic.common.wsgi_service", "%v", err)
		}
	})
	i.work.Go(i.syncPower)
	return i, nil
}

// URL is http://ADDRESS:PORT.
func (i *Ironic) URL() string { return i.url }

// Close ends what is under way and stops serving.
func (i *Ironic) Close() error {
	i.stop()
	err := i.server.Close()
	i.work.Wait()
	return err
}

// logf writes a line in oslo.log's form.
func (i *Ironic) logf(level, module, format string, args ...any) {
	if i.cfg.Log == nil {
		return
	}
	i.logMu.Lock()
	defer i.logMu.Unlock()
	fmt.Fprintf(i.cfg.Log, "%s 1 %s %s [-] %s\n", time.Now().UTC().Format("2006-01-02 15:04:05.000"), level, module, fmt.Sprintf(format, args...))
}

// wait returns false when the service ends before the time is over.
func (i *Ironic) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-i.ctx.Done():
		return false
	}
}
