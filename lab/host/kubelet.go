package host

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Paths of kubelet.service's flags
// (openshift/machine-config-operator:templates/master/01-master-kubelet/_base/units/kubelet.service.yaml).
const (
	bootstrapKubeconfigPath = "/etc/kubernetes/kubeconfig"
	kubeconfigPath          = "/var/lib/kubelet/kubeconfig"
	pkiPath                 = "/var/lib/kubelet/pki"
	manifestsPath           = "/etc/kubernetes/manifests"
)

// kubelet is what of a kubelet can be seen from the API: its requests, its
// Node, its Lease, its mirror pods and its endpoint. It starts no container.
type kubelet struct {
	h       *Host
	log     *klogger
	unit    *journal
	labels  map[string]string
	started time.Time
	resumed bool // the kubelet has run in this boot before; see Config.Resume

	// registered is closed once the Node is there; client and listener are set
	// before.
	registered chan struct{}
	client     kubernetes.Interface
	listener   net.Listener

	mu       sync.Mutex
	node     *corev1.Node // as last written
	networkA time.Time    // since when the network plugin is ready; zero: not yet
}

func newKubelet(h *Host) (*kubelet, error) {
	labels, err := roleLabels(h.cfg.Role)
	if err != nil {
		return nil, err
	}
	unit := &journal{path: h.journalPath("kubelet"), host: h.cfg.Name, ident: "kubenswrapper", pid: os.Getpid(), now: h.now}
	return &kubelet{
		h: h, unit: unit, labels: labels, started: h.now(), resumed: h.resuming,
		log:        &klogger{w: io.Discard, now: h.now, pid: os.Getpid(), also: unit.log},
		registered: make(chan struct{}),
	}, nil
}

// run is kubelet.service until the boot ends.
func (k *kubelet) run(ctx context.Context) error {
	if err := k.bootstrap(ctx); err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", k.h.disk.hostPath(kubeconfigPath))
	if err != nil {
		return fmt.Errorf("load runtime kubeconfig: %w", err)
	}
	cfg.UserAgent = "kubelet/" + k.h.cfg.KubeletVersion + " (linux/amd64)"
	cfg.QPS, cfg.Burst = 50, 100 // kubeAPIQPS and kubeAPIBurst of a kubelet
	if k.client, err = kubernetes.NewForConfig(cfg); err != nil {
		return fmt.Errorf("make client from runtime kubeconfig: %w", err)
	}
	if err := k.listen(ctx); err != nil {
		return err
	}
	defer k.listener.Close()
	if !k.register(ctx) {
		return ctx.Err()
	}
	if err := k.h.update(func(s *State) { s.Registered = true }); err != nil {
		return err
	}
	close(k.registered)
	var wg sync.WaitGroup
	for _, part := range []func(context.Context){k.renewLease, k.reportStatus, k.serve, k.installStaticPods, k.syncPods} {
		wg.Go(func() { part(ctx) })
	}
	wg.Wait()
	return nil
}

// bootstrap runs the real TLS bootstrap until it has a client certificate; it
// decides itself whether a request is needed. As under systemd, a kubelet that
// exits is started again.
func (k *kubelet) bootstrap(ctx context.Context) error {
	if err := k.forgetKey(); err != nil {
		return err
	}
	for {
		err := k.bootstrapOnce(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		k.log.errorf("run.go:72", "\"command failed\" err=%q", "failed to run Kubelet: "+err.Error())
		k.h.log.Warn("kubelet bootstrap exited, will restart", "error", err)
		if !k.h.sleep(ctx, k.h.pace.KubeletRestart) {
			return ctx.Err()
		}
	}
}

// forgetKey lets a kubelet that starts ask with another key, and so under another name: with
// rotateCertificates, which OpenShift sets, the key is only in the certificate manager's
// memory (k8s.io/client-go:util/certificate/certificate_manager.go rotateCerts). The
// LoadClientCert that runs here keeps it in a file and would find its old request again.
func (k *kubelet) forgetKey() error {
	name := path.Join(pkiPath, "kubelet-client.key.tmp")
	if k.h.cfg.Resume || !k.h.disk.exists(name) {
		return nil
	}
	return k.h.disk.remove(name)
}

func (k *kubelet) bootstrapOnce(ctx context.Context) error {
	d := k.h.disk
	if err := d.mkdir(pkiPath, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, k.h.cfg.KubeletBootstrapBin,
		"--kubeconfig="+d.hostPath(kubeconfigPath),
		"--bootstrap-kubeconfig="+d.hostPath(bootstrapKubeconfigPath),
		"--cert-dir="+d.hostPath(pkiPath),
		"--node-name="+k.h.cfg.Name,
		"--v=2")
	cmd.WaitDelay = outputDelay
	var last lastLine
	cmd.Stdout = k.unit
	cmd.Stderr = io.MultiWriter(k.unit, &last)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %s", err, last.text)
	}
	return nil
}

// lastLine keeps the last line that was written to it.
type lastLine struct{ text string }

func (l *lastLine) Write(p []byte) (int, error) {
	if t := strings.TrimSpace(string(p)); t != "" {
		l.text = t[strings.LastIndexByte(t, '\n')+1:]
	}
	return len(p), nil
}

// every runs do at once and then each d until ctx ends.
func (h *Host) every(ctx context.Context, d time.Duration, do func()) {
	for {
		do()
		if !h.sleep(ctx, d) {
			return
		}
	}
}
