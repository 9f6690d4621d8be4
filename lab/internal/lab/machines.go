package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rollcall-project/rollcall/lab/host"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// machine is a host that is switched on.
type machine struct {
	spec Machine
	off  context.CancelFunc
	done chan struct{}
}

// Machine is a host to switch on. Its zero values are those of a machine that
// was installed as the cluster wants it.
type Machine struct {
	seed.Host // Name is also that of its directory
	// Hostname is what it calls itself; empty: Name.
	Hostname string
	// Pointer is the pointer config on its disk; nil: what the cluster hands
	// out for its role.
	Pointer []byte
	// BootImage is the OS image that was written to its disk; empty: the
	// release's, so that the first boot needs no pull.
	BootImage string
	// Resume continues where a snapshot was made.
	Resume bool
	// Change, where set, changes what the simulation is given.
	Change func(*host.Config)
}

// Master is the master with that number, as it was installed.
func (l *Lab) Master(i int) Machine { return Machine{Host: l.values.Hosts[i]} }

// Worker is the worker with that number, as it was installed.
func (l *Lab) Worker(i int) Machine { return Machine{Host: l.values.Workers[i]} }

// PowerOn switches a host on; it boots from its disk, or into Ignition if
// nothing is on it yet. It stays on until PowerOff or until the lab goes down.
func (l *Lab) PowerOn(ctx context.Context, m Machine) error {
	asked := m
	if m.Pointer == nil {
		pointer, err := l.values.Pointer(m.Role)
		if err != nil {
			return err
		}
		m.Pointer = []byte(pointer)
	}
	cfg := l.hostConfig(m)
	if m.Change != nil {
		m.Change(&cfg)
	}
	ctx, cancel := context.WithCancel(ctx)
	running := &machine{spec: m, off: cancel, done: make(chan struct{})}
	l.mu.Lock()
	_, on := l.machines[m.Name]
	if !on {
		l.machines[m.Name], l.lastOn[m.Name] = running, asked
	}
	l.mu.Unlock()
	if on {
		cancel()
		return fmt.Errorf("power on %s: it is on", m.Name)
	}
	l.update(func(s *State) {
		if !slices.Contains(s.Hosts, m.Name) {
			s.Hosts = append(s.Hosts, m.Name)
		}
		s.Addresses[m.Name] = l.net.Host(m.Index)
	})
	h := host.New(cfg)
	l.hosts.Go(func() {
		defer close(running.done)
		if err := h.Run(ctx); err != nil {
			l.log.Error("host stopped", "host", m.Name, "err", err)
		}
	})
	return nil
}

func (l *Lab) hostConfig(m Machine) host.Config {
	if m.BootImage == "" {
		m.BootImage = l.values.OSImage
	}
	if m.Hostname == "" {
		m.Hostname = m.Name
	}
	return host.Config{
		Name: m.Hostname, Role: m.Role, Dir: l.opts.Dir.Host(m.Name), Address: l.net.Host(m.Index),
		Pointer:             m.Pointer,
		IgnitionBin:         l.tied["ignition"],
		KubeletBootstrapBin: l.tied["kubelet-bootstrap"],
		KubeletVersion:      kubeletVersion,
		BootImage:           m.BootImage,
		DaemonImage:         l.values.MCOImage,
		Resume:              m.Resume,
		DaemonKubeconfig:    l.opts.Dir.file("service-accounts", "machine-config-daemon.kubeconfig"),
		ContainerLogs: func(namespace, pod, container string) (string, bool) {
			path := l.containerLog(m.Name, namespace, pod, container)
			if !filepath.IsLocal(filepath.Join(namespace, pod, container)) {
				return "", false
			}
			_, err := os.Stat(path)
			return path, err == nil
		},
		Labeler: l.label,
		Logger:  l.log.With("host", m.Name),
	}
}

// PowerOff cuts a host's power and returns when it is off. What was on it stays
// on its disk.
func (l *Lab) PowerOff(name string) error {
	l.mu.Lock()
	m := l.machines[name]
	delete(l.machines, name)
	l.mu.Unlock()
	if m == nil {
		return fmt.Errorf("power off %s: it is not on", name)
	}
	m.off()
	<-m.done
	return nil
}

// isOn says whether a host has power.
func (l *Lab) isOn(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machines[name] != nil
}

// Disk is the directory that holds a host's file system.
func (l *Lab) Disk(name string) string { return filepath.Join(l.opts.Dir.Host(name), "root") }

// Screen is what a host has shown so far.
func (l *Lab) Screen(name string) ([]byte, error) { return os.ReadFile(l.opts.Dir.Console(name)) }
