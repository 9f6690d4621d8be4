package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rollcall-project/rollcall/lab/host"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// Guest is what is not as it should be with a machine of the hosted cluster that boot-guest
// boots, in DIR/boot/HOST.json. Its zero value is a machine without a trouble.
type Guest struct {
	Hostname string        `json:"hostname,omitempty"` // what it calls itself; empty: its name
	Firmware time.Duration `json:"firmware,omitempty"` // from power-on to Ignition; 0: as long as others take
	Network  time.Duration `json:"network,omitempty"`  // until its network plugin is ready
	Unsigned bool          `json:"unsigned,omitempty"` // no one approves its network plugin's request
}

// MostGuests is how many machines boot-guest boots: guest0 to guest50.
const MostGuests = 50

// GuestIndex is the number of the machine with that name, for Net.Host.
func GuestIndex(name string) (int, error) {
	var n int
	if _, err := fmt.Sscanf(name, "guest%d", &n); err != nil || n < 0 || n > MostGuests || HostedWorkerName(HostedWorker+n) != name {
		return 0, fmt.Errorf("%q: want guest0 to guest%d", name, MostGuests)
	}
	return HostedWorker + n, nil
}

// Boot is the directory of the Ignition configs that boot-guest boots machines with.
func (d Dir) Boot() string { return d.file("boot") }

// bootGuest is the person who boots a machine with what `rollcall worker create` wrote.
func bootGuest(ctx context.Context, l *Lab, name string) error {
	h := l.Hosted()
	if h == nil {
		return errors.New("there is no hosted cluster in this scenario")
	}
	index, err := GuestIndex(name)
	if err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(l.opts.Dir.Boot(), name+".ign"))
	if err != nil {
		return err
	}
	var g Guest
	raw, err := os.ReadFile(filepath.Join(l.opts.Dir.Boot(), name+".json"))
	if err == nil {
		err = json.Unmarshal(raw, &g)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read what is wrong with %s: %w", name, err)
	}
	return h.PowerOn(ctx, index, HostedMachine{Pointer: config, Unknown: true, Firmware: g.Firmware, Network: g.Network, Hostname: g.Hostname,
		Unsigned: g.Unsigned})
}

// scrapGuest is the end of a machine. One that is off, or never was, is no error.
func scrapGuest(_ context.Context, l *Lab, name string) error {
	if _, err := GuestIndex(name); err != nil {
		return err
	}
	if l.isOn(name) {
		if err := l.PowerOff(name); err != nil {
			return err
		}
	}
	return os.RemoveAll(l.opts.Dir.Host(name))
}

func rotateToken(ctx context.Context, l *Lab, _ string) error {
	h := l.Hosted()
	if h == nil {
		return errors.New("there is no hosted cluster in this scenario")
	}
	return h.Rotate(ctx)
}

// reconfigurePool is the person who changes a NodePool's config. It returns when new machines
// get the new one.
func reconfigurePool(ctx context.Context, l *Lab, _ string) error {
	h := l.Hosted()
	if h == nil {
		return errors.New("there is no hosted cluster in this scenario")
	}
	const motd = "    storage: {files: [{path: /etc/motd, contents: {source: \"data:,changed\"}}]}\n"
	if err := h.Reconfigure(ctx, motd); err != nil {
		return err
	}
	if err := h.answerRegistry(ctx); err != nil {
		return err
	}
	return l.awaitWhy(ctx, 2*time.Minute, "the new config is not served", func(ctx context.Context, _ *Lab) (string, error) { return h.stands(ctx) })
}

// dropPackets has an address behind a firewall that drops what is sent to the node port.
func (h *Hosted) dropPackets(context.Context) error {
	_, err := plan.Silent(fmt.Sprintf("%s:%d", h.lab.net.Firewalled(), hostedPort))
	return err
}

// powerOn switches a worker on, as a host of the lab.
func (h *Hosted) powerOn(ctx context.Context, index int, m HostedMachine) error {
	return h.lab.PowerOn(ctx, Machine{
		Host: seed.NewHost(HostedWorkerName(index), "worker", index), Pointer: m.Pointer, Hostname: m.Hostname,
		Change: func(c *host.Config) {
			c.Labeler = func(ctx context.Context, node string, labels map[string]string) error {
				return setLabels(ctx, h.kube, node, labels)
			}
			c.DaemonKubeconfig = "" // no machine-config-daemon runs on workers of a hosted cluster
			c.Pace.Firmware, c.Pace.Network = m.Firmware, m.Network
			c.NetworkReady = func() bool {
				h.mu.Lock()
				defer h.mu.Unlock()
				return h.network[c.Name]
			}
		},
	})
}
