package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kube/podexec"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// HeldPath is the file in which a host keeps the MachineConfig that the machine
// config server sent it at first boot
// (openshift/machine-config-operator:pkg/server/server.go machineConfigContentPath).
const HeldPath = "/etc/mcs-machine-config-content.json"

// HeldConfigs fetches the MachineConfig that a host holds. What it returns is
// secret. An error that is fs.ErrNotExist means that this source has none for
// the host.
type HeldConfigs interface {
	Fetch(ctx context.Context, host string) (io.ReadCloser, error)
}

// HeldFiles are files that the user named, by host.
type HeldFiles map[string]string

// Fetch implements HeldConfigs.
func (h HeldFiles) Fetch(_ context.Context, host string) (io.ReadCloser, error) {
	p, ok := h[host]
	if !ok {
		return nil, fmt.Errorf("held config of %s: no file was named: %w", host, fs.ErrNotExist)
	}
	f, err := infile.Regular(p)
	if err != nil {
		return nil, fmt.Errorf("held config of %s: %w", host, err)
	}
	return f, nil
}

// HeldMustGather finds held configs in an unpacked must-gather: it has them for
// nodes whose state is Degraded
// (openshift/must-gather:collection-scripts/gather_machineconfig_ondisk).
type HeldMustGather struct{ Root fs.FS }

// Fetch implements HeldConfigs.
func (h HeldMustGather) Fetch(_ context.Context, host string) (io.ReadCloser, error) {
	if strings.ContainsAny(host, `/\*?[`) {
		return nil, fmt.Errorf("held config of %q: that is not a host name", host)
	}
	name := path.Join("machine_config_ondisk", host, path.Base(HeldPath))
	for _, pattern := range []string{name, path.Join("*", name), path.Join("*", "*", name)} {
		found, err := fs.Glob(h.Root, pattern)
		if err != nil {
			return nil, fmt.Errorf("held config of %s: %w", host, err)
		}
		if len(found) == 0 {
			continue
		}
		f, err := h.Root.Open(found[0])
		if err != nil {
			return nil, fmt.Errorf("held config of %s: %w", host, err)
		}
		return f, nil
	}
	return nil, fmt.Errorf("held config of %s: the must-gather has no %s: %w", host, name, fs.ErrNotExist)
}

// HeldLive reads the file through the machine-config-daemon's pod on the host,
// which mounts the host's root at /rootfs
// (openshift/machine-config-operator:manifests/machineconfigdaemon/daemonset.yaml).
type HeldLive struct{ client *podexec.Client }

// NewHeldLive returns the held configs of the hosts of a running cluster.
func NewHeldLive(cfg *rest.Config) (HeldLive, error) {
	c, err := podexec.New(cfg)
	return HeldLive{client: c}, err
}

// heldTimeout is how long a host may take to hand out the file, which has a few
// hundred KiB.
const heldTimeout = time.Minute

// Fetch implements HeldConfigs.
func (h HeldLive) Fetch(ctx context.Context, host string) (io.ReadCloser, error) {
	const namespace = openshift.MachineConfigNamespace
	pods, err := h.client.OnNode(ctx, namespace, "k8s-app=machine-config-daemon", host, 0)
	if err != nil {
		return nil, fmt.Errorf("held config of %s: find its machine-config-daemon: %w", host, err)
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("held config of %s: no machine-config-daemon runs on it: %w", host, fs.ErrNotExist)
	}
	command := podexec.Command{Container: openshift.MachineConfigDaemon, Argv: []string{"cat", "/rootfs" + HeldPath}}
	run := func(to podexec.Streams) error {
		return h.client.Run(ctx, namespace, pods[0].Name, command, to, podexec.NoWebSocket)
	}
	return stream(host, run), nil
}

func stream(host string, run func(podexec.Streams) error) io.ReadCloser {
	out, in := io.Pipe()
	go crash.Func(func() {
		var complaint limited
		err := run(podexec.Streams{Out: in, Err: &complaint})
		if err != nil {
			err = fmt.Errorf("read %s on %s: %w (%s)", HeldPath, host, err, complaint.text)
		}
		_ = in.CloseWithError(err) // never fails; nil ends the stream
	})()
	return out
}

// limited keeps the first bytes of what a command complains about.
type limited struct{ text string }

func (l *limited) Write(p []byte) (int, error) {
	const most = 300
	if room := most - len(l.text); room > 0 {
		l.text += strings.Join(strings.Fields(string(p[:min(room, len(p))])), " ")
	}
	return len(p), nil
}

// HeldAny asks several sources in turn; the first that has it wins.
type HeldAny []HeldConfigs

// Fetch implements HeldConfigs.
func (h HeldAny) Fetch(ctx context.Context, host string) (io.ReadCloser, error) {
	var all []error
	for _, one := range h {
		r, err := one.Fetch(ctx, host)
		if err == nil {
			return r, nil
		}
		all = append(all, err)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("held config of %s: no source: %w", host, fs.ErrNotExist)
	}
	return nil, errors.Join(all...)
}

// fetchHeld reads a held config within bounds.
func fetchHeld(ctx context.Context, from HeldConfigs, host string) (raw []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, heldTimeout)
	defer cancel()
	in, err := from.Fetch(ctx, host)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	raw, err = io.ReadAll(io.LimitReader(in, maxHeldFile+1))
	if err != nil {
		return nil, fmt.Errorf("read held config of %s: %w", host, err)
	}
	if len(raw) > maxHeldFile {
		return nil, fmt.Errorf("read held config of %s: more than %d bytes", host, maxHeldFile)
	}
	return raw, nil
}
