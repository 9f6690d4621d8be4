package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// renderBootstrap runs the real controller in its bootstrap mode over the
// day-1 manifests, as the bootstrap host's static pod does
// (openshift/machine-config-operator:manifests/bootstrap-pod-v2.yaml).
func (l *Lab) renderBootstrap(ctx context.Context) error {
	in, out := l.opts.Dir.file("bootstrap", "mcc"), l.opts.Dir.file("bootstrap", "mcs")
	if err := os.MkdirAll(in, 0o700); err != nil {
		return err
	}
	if err := l.writeBootstrapManifests(in); err != nil {
		return fmt.Errorf("write bootstrap manifests: %w", err)
	}
	log, err := os.Create(filepath.Join(l.opts.Dir.Logs(), "machine-config-controller-bootstrap.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, l.opts.Artifacts.Bin["machine-config-controller"], "bootstrap",
		"--manifest-dir="+in, "--dest-dir="+out, "--templates="+l.opts.Artifacts.Templates,
		"--pull-secret="+filepath.Join(in, "machineconfigcontroller-pull-secret"), "--payload-version="+seed.Version)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run machine-config-controller bootstrap: %w (see %s)", err, log.Name())
	}
	data, err := os.ReadFile(filepath.Join(out, "machine-pools", "master.yaml"))
	if err != nil {
		return err
	}
	var pool struct {
		Status struct{ Configuration struct{ Name string } }
	}
	if err := yaml.Unmarshal(data, &pool); err != nil {
		return fmt.Errorf("read the bootstrap master pool: %w", err)
	}
	l.update(func(s *State) { s.FirstRender = pool.Status.Configuration.Name })
	return nil
}

// writeBootstrapManifests gives the bootstrap controller exactly what the
// cluster will be given, except what appears in the cluster later.
func (l *Lab) writeBootstrapManifests(dir string) error {
	files := map[string][]byte{}
	for _, name := range []string{"20-config.yaml", "60-machineconfig.yaml"} {
		data, err := l.values.YAML(name)
		if err != nil {
			return err
		}
		objs, err := seed.Parse(data)
		if err != nil {
			return err
		}
		for _, obj := range objs {
			file := obj.GetKind() + "-" + obj.GetName() + ".yaml"
			if obj.GetKind() == "Secret" {
				// The only Secret of these manifests; the controller
				// takes its name from the command line.
				file = "machineconfigcontroller-pull-secret"
			}
			if files[file], err = yaml.Marshal(obj.Object); err != nil {
				return err
			}
		}
	}
	gates, err := seed.FeatureGate(l.opts.Artifacts.FeatureGate)
	if err != nil {
		return err
	}
	if files["FeatureGate-cluster.yaml"], err = yaml.Marshal(gates.Object); err != nil {
		return err
	}
	extra, err := l.extraManifests()
	if err != nil {
		return err
	}
	maps.Copy(files, extra)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// serveBootstrap runs the real server in its bootstrap mode and gives it the
// API address' port 22623.
func (l *Lab) serveBootstrap(ctx context.Context) error {
	// The first masters get a client certificate, not a token
	// (openshift/installer:pkg/asset/tls/kubelet.go).
	kubeconfig, err := cluster.Kubeconfig(l.net.APIURL(), l.pki.KubeAPISigner.Cert, cluster.Credential{
		Cert: l.pki.NodeBootstrapper.Cert, Key: l.pki.NodeBootstrapper.Key,
	})
	if err != nil {
		return err
	}
	dir := l.opts.Dir.file("bootstrap", "server")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	files := map[string][]byte{"kubeconfig": kubeconfig, "tls.crt": l.pki.MCS.Cert, "tls.key": l.pki.MCS.Key}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	for try := 1; ; try++ {
		port, err := l.startBootstrapServer(ctx, dir)
		if err == nil {
			return l.vip.SetTargets(fmt.Sprintf("127.0.0.1:%d", port))
		}
		// Somebody may have taken a port between its choice and its use.
		if try == 3 || !errors.Is(err, proc.ErrEnded) {
			return err
		}
	}
}

func (l *Lab) startBootstrapServer(ctx context.Context, dir string) (int, error) {
	port, insecure, err := twoPorts()
	if err != nil {
		return 0, err
	}
	const name = "machine-config-server-bootstrap"
	err = l.procs.Start(proc.Spec{
		Name: name, Path: l.opts.Artifacts.Bin["machine-config-server"],
		Log: l.containerLog("control0", MCONamespace, "bootstrap-machine-config-operator-control0", "machine-config-server"),
		Args: []string{
			"bootstrap", "--payload-version=" + seed.Version, "--server-basedir=" + l.opts.Dir.file("bootstrap", "mcs"),
			"--bootstrap-kubeconfig=" + filepath.Join(dir, "kubeconfig"),
			"--cert=" + filepath.Join(dir, "tls.crt"), "--key=" + filepath.Join(dir, "tls.key"),
			fmt.Sprintf("--secure-port=%d", port), fmt.Sprintf("--insecure-port=%d", insecure),
		},
	})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return port, l.procs.Await(ctx, name, serves(insecure))
}

// serves returns a check of a machine config server's /healthz, which says that
// it listens and nothing more.
func serves(insecurePort int) func(context.Context) error {
	url := fmt.Sprintf("http://127.0.0.1:%d/healthz", insecurePort)
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s", url, resp.Status)
		}
		return nil
	}
}

func twoPorts() (int, int, error) {
	a, err := plan.FreePort()
	if err != nil {
		return 0, 0, err
	}
	for {
		b, err := plan.FreePort()
		if err != nil || b != a {
			return a, b, err
		}
	}
}

// installFirstMasters powers control1 and control2 on and waits until both are
// Nodes. Meanwhile the bootstrap host approves every request.
func (l *Lab) installFirstMasters(ctx context.Context) error {
	l.setApproves(true)
	l.follow(ctx, l.plane)
	l.hosts.Go(func() { l.world(ctx) })
	for _, i := range []int{1, 2} {
		if err := l.PowerOn(ctx, l.Master(i)); err != nil {
			return err
		}
	}
	return l.await(ctx, 3*time.Minute, "control1 and control2 are no Nodes yet", func(ctx context.Context) (bool, error) {
		nodes, err := l.nodes(ctx)
		return len(nodes) == 2, err
	})
}

// awaitWhy polls until check has nothing more to say is missing.
func (l *Lab) awaitWhy(ctx context.Context, limit time.Duration, what string, check func(context.Context, *Lab) (string, error)) error {
	why := ""
	err := l.await(ctx, limit, what, func(ctx context.Context) (bool, error) {
		var err error
		why, err = check(ctx, l)
		return why == "" && err == nil, err
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, why)
	}
	return nil
}

// await polls until done, for at most limit.
func (l *Lab) await(ctx context.Context, limit time.Duration, what string, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	for {
		ok, err := done(ctx)
		if ok && err == nil {
			return nil
		}
		if err != nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s after %s: %w (last error: %v)", what, limit, ctx.Err(), last)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func nested(obj *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(obj.Object, path...)
	return s
}

func nestedInt(obj *unstructured.Unstructured, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(obj.Object, path...)
	return n
}
