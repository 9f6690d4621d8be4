package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"
)

// Config is one simulated machine. All of Name, Role, Dir, Address, Pointer,
// IgnitionBin and KubeletBootstrapBin are required.
type Config struct {
	// Name is the host name and the Node's name.
	Name string
	// Role is "master", "worker" or "arbiter". It decides the labels, the taint
	// and whether static pods appear; the config that the host gets is decided
	// by the URL in Pointer.
	Role string
	// Dir is the machine's own directory, created with mode 0700 because the
	// fetched config carries the pull secret and the bootstrap credential.
	Dir string
	// Address is the InternalIP that the Node reports and that its kubelet
	// listens on; the lab's API server must be able to dial it.
	Address string
	// Pointer is the pointer Ignition config (JSON) as it lies on the disk.
	Pointer []byte
	// IgnitionBin is the Ignition binary.
	IgnitionBin string
	// KubeletBootstrapBin is the kubelet-bootstrap binary; it takes the
	// kubelet's flag names --kubeconfig, --bootstrap-kubeconfig, --cert-dir and
	// --node-name.
	KubeletBootstrapBin string
	// KubeletVersion is Node.status.nodeInfo.kubeletVersion.
	KubeletVersion string
	// BootImage is the osImageURL of the image that coreos-installer wrote. It
	// is compared with the MachineConfig's at first boot: equal, and nothing
	// else to do, means no reboot and no currentconfig file (the agent-based
	// skip-reboot path, whose desync message is another one). Empty stands for
	// an older boot image: first boot rebases and reboots.
	BootImage string
	// DaemonKubeconfig is a kubeconfig file of the service account
	// machine-config-daemon, which reads MachineConfigs and pools. Empty: the
	// daemon never starts, as when its image cannot be pulled.
	DaemonKubeconfig string
	// KubeletClientCAFile verifies clients of the kubelet endpoint when the
	// disk has no /etc/kubernetes/kubelet-ca.crt.
	KubeletClientCAFile string
	// ContainerLogs maps a container of this node to its log file; nil or !ok
	// means not found. The machine-config-daemon's container is known without it.
	ContainerLogs func(namespace, pod, container string) (path string, ok bool)
	// NetworkReady says whether the network plugin has what it waits for, beyond the time
	// in Pace. Nil: it waits for nothing else.
	NetworkReady func() bool
	// Labeler sets node-role labels after registration when the API server's
	// NodeRestriction refused them. OpenShift's API server admits
	// node-role.kubernetes.io/{master,control-plane,worker,etcd} when a kubelet
	// creates its Node (openshift/kubernetes:plugin/pkg/admission/noderestriction/admission.go
	// getForbiddenLabels), the upstream one does not; Labeler is that carried
	// patch done with the lab's administrator. Nil: the labels stay missing
	// and the reason is logged.
	Labeler func(ctx context.Context, node string, labels map[string]string) error
	// DaemonImage is the machine-config-daemon's image.
	DaemonImage string
	// Pull is the registry: what the pull of an image at first boot says when it
	// fails, nil when it works. Nil: every pull works.
	Pull func(image string) error
	// Resume says that the machine was suspended while it ran, as a virtual
	// machine whose snapshot is restored: the first boot of Run continues where
	// it was, without a new kernel. A machine that was not running boots.
	Resume bool
	// Pace holds the times between steps; zero fields take DefaultPace's.
	Pace Pace
	// Logger gets what the simulation itself has to say; nil discards.
	Logger *slog.Logger
}

// Pace is how fast a host goes through what takes a real machine longer. It
// never changes order, and the times on the console stay true.
type Pace struct {
	Firmware       time.Duration // power-on to Ignition
	StartJob       time.Duration // between systemd's "A start job is running" lines
	FirstBoot      time.Duration // pull and rebase of the OS at first boot
	FirstBootRetry time.Duration // between tries of a first boot that fails (1 minute in life)
	Hostname       time.Duration // node-valid-hostname.service's limit (5 minutes in life)
	Reboot         time.Duration // from the reboot command to the kernel being back
	KubeletStart   time.Duration // kernel to kubelet
	KubeletRestart time.Duration // systemd's RestartSec of kubelet.service
	Network        time.Duration // registered to a ready network plugin
	Status         time.Duration // kubelet nodeStatusUpdateFrequency
	Report         time.Duration // kubelet nodeStatusReportFrequency: status without a change
	Lease          time.Duration // renewal of the node's Lease
	StaticPods     time.Duration // registered to the installer pods having written the manifests
	DaemonStart    time.Duration // registered to the machine-config-daemon running
	DaemonSync     time.Duration // between syncs of the daemon without an error
	DaemonDrift    time.Duration // between looks at the disk
	DaemonRetryMin time.Duration // first back-off of the daemon after an error; doubles
	DaemonRetryMax time.Duration // last one (pkg/daemon/daemon.go maxUpdateBackoff is 60s)
	DaemonPoll     time.Duration // between looks at lastAppliedDrain (10s in life)
}

// DefaultPace lets an end-to-end test through in seconds and leaves the
// intervals that the control plane's own timeouts are built on (Status, Lease)
// as in life.
func DefaultPace() Pace {
	return Pace{
		Firmware:       500 * time.Millisecond,
		StartJob:       20 * time.Second,
		FirstBoot:      time.Second,
		FirstBootRetry: 10 * time.Second,
		Hostname:       5 * time.Second,
		Reboot:         2 * time.Second,
		KubeletStart:   500 * time.Millisecond,
		KubeletRestart: 2 * time.Second,
		Network:        3 * time.Second,
		Status:         10 * time.Second,
		Report:         5 * time.Minute,
		Lease:          10 * time.Second,
		StaticPods:     2 * time.Second,
		DaemonStart:    time.Second,
		DaemonSync:     2 * time.Second,
		DaemonDrift:    5 * time.Second,
		DaemonRetryMin: time.Second,
		DaemonRetryMax: 15 * time.Second,
		DaemonPoll:     500 * time.Millisecond,
	}
}

// withDefaults fills zero fields.
func (p Pace) withDefaults() Pace {
	d := DefaultPace()
	for _, f := range []struct {
		have *time.Duration
		def  time.Duration
	}{
		{&p.Firmware, d.Firmware}, {&p.StartJob, d.StartJob}, {&p.FirstBoot, d.FirstBoot}, {&p.FirstBootRetry, d.FirstBootRetry},
		{&p.Reboot, d.Reboot}, {&p.Hostname, d.Hostname}, {&p.KubeletStart, d.KubeletStart}, {&p.KubeletRestart, d.KubeletRestart},
		{&p.Network, d.Network}, {&p.Status, d.Status}, {&p.Report, d.Report}, {&p.Lease, d.Lease},
		{&p.StaticPods, d.StaticPods}, {&p.DaemonStart, d.DaemonStart}, {&p.DaemonSync, d.DaemonSync}, {&p.DaemonDrift, d.DaemonDrift},
		{&p.DaemonRetryMin, d.DaemonRetryMin}, {&p.DaemonRetryMax, d.DaemonRetryMax}, {&p.DaemonPoll, d.DaemonPoll},
	} {
		if *f.have <= 0 {
			*f.have = f.def
		}
	}
	return p
}

func (c Config) validate() error {
	var errs []error
	for _, f := range []struct{ name, value string }{
		{"Name", c.Name}, {"Role", c.Role}, {"Dir", c.Dir}, {"Address", c.Address},
		{"Pointer", string(c.Pointer)}, {"IgnitionBin", c.IgnitionBin}, {"KubeletBootstrapBin", c.KubeletBootstrapBin},
	} {
		if f.value == "" {
			errs = append(errs, fmt.Errorf("config of host %q: %s is empty", c.Name, f.name))
		}
	}
	if c.Address != "" && net.ParseIP(c.Address) == nil {
		errs = append(errs, fmt.Errorf("config of host %q: Address %q is not an IP address", c.Name, c.Address))
	}
	for _, bin := range []string{c.IgnitionBin, c.KubeletBootstrapBin} {
		if bin == "" {
			continue
		}
		if _, err := os.Stat(bin); err != nil {
			errs = append(errs, fmt.Errorf("config of host %q: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}
