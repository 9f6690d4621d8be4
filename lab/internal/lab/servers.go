package lab

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

type seedHost = seed.Host

const kubeletVersion = seed.KubeletVersion

// suffix makes the five characters at the end of a pod's name, the same each
// time. The alphabet is the API server's (k8s.io/apimachinery:pkg/util/rand).
func suffix(parts ...string) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	out := make([]byte, 5)
	for i := range out {
		out[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(out)
}

// serviceAccount writes a kubeconfig with a token of a ServiceAccount of the
// machine config operator, as a pod would have, and returns its path.
func (l *Lab) serviceAccount(ctx context.Context, name string) (string, error) {
	return l.serviceAccountOf(ctx, MCONamespace, name)
}

func (l *Lab) serviceAccountOf(ctx context.Context, namespace, name string) (string, error) {
	path := l.opts.Dir.file("service-accounts", name+".kubeconfig")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	week := int64(7 * 24 * time.Hour / time.Second)
	token, err := l.kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &week}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token for %s: %w", name, err)
	}
	data, err := cluster.Kubeconfig(l.net.APIURL(), l.pki.KubeAPISigner.Cert, cluster.Credential{Token: token.Status.Token})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, data, 0o600)
}

func mcsProc(node string) string { return "machine-config-server-" + node }

// ensureServer runs the machine config server of a master. All of them listen
// on ports of their own on every address, because the program has no flag for
// an address; the master's own address forwards to it.
func (l *Lab) ensureServer(ctx context.Context, node string, m *master) error {
	name := mcsProc(node)
	if m.mcsRunning && l.procs.Running(name) {
		return nil
	}
	m.mcsRunning = false
	if _, err := os.Stat(filepath.Join(l.mcsEtc(), "mcs", "bootstrap-token", "token")); err != nil {
		return fmt.Errorf("mount of %s: %w", m.pod, err)
	}
	if _, err := os.Stat(l.mcsCerts(node)); err != nil {
		if err := l.mount(ctx, "machine-config-server-tls", l.mcsCerts(node)); err != nil {
			return errors.Join(err, l.failedMount(ctx, node, m.pod, "certs", "machine-config-server-tls"))
		}
	}
	kubeconfig, err := l.serviceAccount(ctx, "machine-config-server")
	if err != nil {
		return err
	}
	port, insecure, err := twoPorts()
	if err != nil {
		return err
	}
	args := []string{
		"start", "--kubeconfig=" + kubeconfig, "--apiserver-url=" + l.net.APIURL(),
		"--cert=" + filepath.Join(l.mcsCerts(node), "tls.crt"), "--key=" + filepath.Join(l.mcsCerts(node), "tls.key"),
		fmt.Sprintf("--secure-port=%d", port), fmt.Sprintf("--insecure-port=%d", insecure),
	}
	bin := "machine-config-server-4.14"
	if l.opts.MCS != "4.14" {
		bin = "machine-config-server"
		args = append(args, "--payload-version="+seed.Version, "--tls-min-version=VersionTLS12")
	}
	l.procs.Stop(name)
	err = l.procs.Start(proc.Spec{
		Name: name, Path: l.opts.Artifacts.Bin[bin], Args: args, Etc: l.mcsEtc(),
		Log: l.containerLog(node, MCONamespace, m.pod, "machine-config-server"),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := l.procs.Await(ctx, name, serves(insecure)); err != nil {
		return err
	}
	m.port, m.mcsRunning = port, true
	return m.mcs.SetTargets(fmt.Sprintf("127.0.0.1:%d", port))
}

// RestartServerPod deletes the pod of a master's machine config server; the
// DaemonSet makes another one, which mounts its volumes again.
func (l *Lab) RestartServerPod(ctx context.Context, node string) error {
	l.worldMu.Lock()
	defer l.worldMu.Unlock()
	m := l.masters[node]
	if m == nil {
		return fmt.Errorf("restart the machine config server of %s: it runs none", node)
	}
	if err := l.kube.CoreV1().Pods(MCONamespace).Delete(ctx, m.pod, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete pod %s: %w", m.pod, err)
	}
	l.procs.Stop(mcsProc(node))
	m.restarts++
	m.pod = "machine-config-server-" + suffix(node, "mcs", fmt.Sprint(m.restarts))
	m.mcsRunning = false
	if err := os.RemoveAll(l.mcsCerts(node)); err != nil {
		return err
	}
	return m.mcs.SetTargets()
}

// RefuseServer closes port 22623 of a master, on its own address and where it
// holds the API address, while its machine config server runs on. Nothing moves
// the API address from then on.
func (l *Lab) RefuseServer(node string) error {
	l.Stop(PartVIP)
	l.worldMu.Lock()
	defer l.worldMu.Unlock()
	m := l.masters[node]
	if m == nil {
		return fmt.Errorf("refuse port %d of %s: it runs no machine config server", plan.MCSPort, node)
	}
	return errors.Join(m.mcs.SetTargets(), l.vip.SetTargets())
}

// failedMount is the kubelet's event about a Secret that is not there
// (k8s.io/kubernetes:pkg/volume/util/operationexecutor/operation_generator.go GenerateMountVolumeFunc).
func (l *Lab) failedMount(ctx context.Context, node, pod, volume, secret string) error {
	now := metav1.Now()
	name := pod + "." + suffix(pod, volume, secret)
	events := l.kube.CoreV1().Events(MCONamespace)
	event, err := events.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		if now.Sub(event.LastTimestamp.Time) < time.Minute {
			return nil
		}
		event.Count, event.LastTimestamp = event.Count+1, now
		_, err = events.Update(ctx, event, metav1.UpdateOptions{})
		return err
	}
	_, err = events.Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: MCONamespace, Name: pod},
		Source:         corev1.EventSource{Component: "kubelet", Host: node},
		Type:           corev1.EventTypeWarning, Reason: "FailedMount", Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Message: fmt.Sprintf("MountVolume.SetUp failed for volume %q : secret %q not found", volume, secret),
	}, metav1.CreateOptions{})
	return err
}

// RestartController ends the machine-config-controller; its pod starts it again,
// and it looks again at what it decides once, at its start.
func (l *Lab) RestartController(ctx context.Context) error {
	l.procs.Stop(controllerProc)
	if err := l.freeLeases(ctx); err != nil {
		return err
	}
	return l.await(ctx, time.Minute, "the machine-config-controller has not started again", func(context.Context) (bool, error) {
		return l.procs.Running(controllerProc), nil
	})
}

const controllerProc = "machine-config-controller"

// controllerWanted says whether the story has come to the in-cluster parts.
func (l *Lab) controllerWanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.controllerOn
}

// startController creates what the in-cluster controller renders from and
// starts it; it returns when the master pool has a render that stays.
func (l *Lab) startController(ctx context.Context) error {
	if err := l.apply(ctx, "60-machineconfig.yaml"); err != nil {
		return err
	}
	if err := l.createExtraManifests(ctx); err != nil {
		return err
	}
	if l.opts.Scenario.LateInput && l.opts.InstallDir == "" {
		if err := l.apply(ctx, "70-late-input.yaml"); err != nil {
			return err
		}
	}
	for _, sa := range []string{"machine-config-daemon", "machine-config-controller"} {
		if _, err := l.serviceAccount(ctx, sa); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.controllerOn = true
	l.mu.Unlock()
	var name string
	var since time.Time
	err := l.await(ctx, 3*time.Minute, "the controller has not rendered the master pool", func(ctx context.Context) (bool, error) {
		pool, err := l.pool(ctx, "master")
		if err != nil {
			return false, err
		}
		if got := nested(pool, "spec", "configuration", "name"); got != name {
			name, since = got, time.Now()
		}
		// The first renders may lack what the sub-controllers generate a
		// moment later.
		return name != "" && time.Since(since) > 6*time.Second, nil
	})
	if err != nil {
		return err
	}
	l.update(func(s *State) { s.ClusterRender = name })
	return nil
}

// syncController keeps the in-cluster controller running as a pod of the
// first schedulable master, and moves it when the pod was evicted.
func (l *Lab) syncController(ctx context.Context) error {
	if !l.controllerWanted() {
		return nil
	}
	nodes, err := l.nodes(ctx)
	if err != nil {
		return err
	}
	pod, err := l.deployedPod(ctx, controllerDeployment, nodes)
	if err != nil {
		return err
	}
	if pod == nil {
		l.procs.Stop(controllerProc)
		return errors.New("no master runs the machine-config-controller")
	}
	if l.procs.Running(controllerProc) && l.controllerIn == pod.Name {
		return nil
	}
	l.procs.Stop(controllerProc)
	kubeconfig, err := l.serviceAccount(ctx, "machine-config-controller")
	if err != nil {
		return err
	}
	port, err := plan.FreePort()
	if err != nil {
		return err
	}
	l.controllerIn = pod.Name
	return l.procs.Start(proc.Spec{
		Name: controllerProc, Path: l.opts.Artifacts.Bin["machine-config-controller"],
		Log: l.containerLog(pod.Spec.NodeName, MCONamespace, pod.Name, "machine-config-controller"),
		Env: []string{"POD_NAME=" + pod.Name},
		Args: []string{
			"start", "--kubeconfig=" + kubeconfig, "--templates=" + l.opts.Artifacts.Templates,
			"--resourcelock-namespace=" + MCONamespace, "--v=2", "--payload-version=" + seed.Version,
			fmt.Sprintf("--metrics-listen-address=127.0.0.1:%d", port),
		},
	})
}

// handOver ends the bootstrap host's part: its server stops, the API address
// goes to the masters, and it approves nothing after that
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/approve-csr.sh
// ends with .bootkube.done).
func (l *Lab) handOver(ctx context.Context) error {
	err := l.await(ctx, 2*time.Minute, "the masters run no machine config server", func(context.Context) (bool, error) {
		running := 0
		for _, p := range l.procs.List() {
			if p.Running && slices.Contains([]string{mcsProc("control1"), mcsProc("control2")}, p.Name) {
				running++
			}
		}
		return running == 2, nil
	})
	if err != nil {
		return err
	}
	if err := l.awaitServingCertificates(ctx); err != nil {
		return err
	}
	l.setApproves(l.opts.Scenario.InstallerApproves)
	l.procs.Stop("machine-config-server-bootstrap")
	l.mu.Lock()
	l.handedOver = true
	l.mu.Unlock()
	return nil
}

func (l *Lab) setApproves(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.approves = on
}
