package trouble

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// machineConfig are the troubles of rendered configs and of what lies on the
// hosts' disks.
var machineConfig = []lab.Trouble{
	{
		Name:   "config-drift",
		About:  "somebody edited a file on worker0 that a MachineConfig manages",
		Break:  editManagedFile,
		Steady: degraded("worker0"),
	},
	{
		Name:   "rendered-config-pruned",
		About:  "somebody deleted the old rendered worker config while nodes were still on it",
		Break:  pruneInUse,
		Steady: all(degraded("worker1"), observed("worker")),
	},
	{
		Name:   "pool-paused",
		About:  "the worker pool was paused and forgotten; a new config waits behind it, the renewed CA of the kubelets' clients does not",
		Break:  pauseAndChange,
		Steady: all(heldBack, observed("worker"), kubeletCAWritten),
	},
}

const managedFile = "etc/kubernetes/kubelet.conf"

func editManagedFile(_ context.Context, l *lab.Lab) error {
	path := filepath.Join(l.Disk("worker0"), managedFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read what to edit: %w", err)
	}
	return os.WriteFile(path, append(data, "\n# maxPods raised by hand\n"...), 0o644)
}

// pause pauses the worker pool or lets it continue.
func pause(ctx context.Context, l *lab.Lab, on bool) error {
	return l.Patch(ctx, pools, "", "worker", fmt.Sprintf(`{"spec":{"paused":%t}}`, on))
}

// motd is a harmless MachineConfig for the workers.
const motd = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-worker-motd
  labels: {machineconfiguration.openshift.io/role: worker}
spec:
  config:
    ignition: {version: 3.4.0}
    storage:
      files:
      - {path: /etc/motd.d/owner, mode: 420, overwrite: true, contents: {source: "data:,team%20blue%0A"}}
`

// changeWorkers gives the workers one MachineConfig more and waits until the
// controller has rendered with it. It returns the render before.
func changeWorkers(ctx context.Context, l *lab.Lab) (string, error) {
	before, err := rendered(ctx, l)
	if err != nil {
		return "", err
	}
	err = l.Create(ctx, motd)
	if err != nil {
		return "", err
	}
	return before, l.Await(ctx, time.Minute, "the worker pool was not rendered again", func(ctx context.Context) (bool, error) {
		now, err := rendered(ctx, l)
		return now != before, err
	})
}

// rendered is the config that the worker pool is to have.
func rendered(ctx context.Context, l *lab.Lab) (string, error) {
	pool, err := l.Get(ctx, pools, "", "worker")
	if err != nil {
		return "", err
	}
	name, _, err := unstructured.NestedString(pool.Object, "spec", "configuration", "name")
	return name, err
}

// pruneInUse: a rollout is held back by a pause, the render that the nodes are
// still on is taken for an old one and deleted, and the pause ends.
func pruneInUse(ctx context.Context, l *lab.Lab) error {
	if err := pause(ctx, l, true); err != nil {
		return err
	}
	old, err := changeWorkers(ctx, l)
	if err != nil {
		return err
	}
	if err := l.Delete(ctx, configs, "", old); err != nil {
		return err
	}
	if err := l.Await(ctx, 2*time.Minute, "the workers have not noticed", func(ctx context.Context) (bool, error) {
		why, err := all(degraded("worker0"), degraded("worker1"))(ctx, l)
		return why == "", err
	}); err != nil {
		return err
	}
	return pause(ctx, l, false)
}

func pauseAndChange(ctx context.Context, l *lab.Lab) error {
	if err := pause(ctx, l, true); err != nil {
		return err
	}
	if err := newKubeletCA(ctx, l); err != nil {
		return err
	}
	_, err := changeWorkers(ctx, l)
	return err
}

// newKubeletCA does what the machine config operator does when the CA of the API
// server's client certificates for kubelets was renewed: the ControllerConfig holds both
// (openshift/machine-config-operator:pkg/operator/sync.go syncRenderConfig).
func newKubeletCA(ctx context.Context, l *lab.Lab) error {
	renewed, err := pki.NewCA(pki.Name{CN: "kube-apiserver-to-kubelet-signer"}, 365*24*time.Hour)
	if err != nil {
		return err
	}
	both := base64.StdEncoding.EncodeToString(slices.Concat(l.PKI().ToKubeletSigner.Cert, renewed.Cert))
	return l.Patch(ctx, controllerConfigs, "", "machine-config-controller", fmt.Sprintf(`{"spec":{"kubeAPIServerServingCAData":%q}}`, both))
}

// kubeletCAWritten says whether the workers have the CA of the ControllerConfig on their
// disks, as they do under a pause, too.
func kubeletCAWritten(ctx context.Context, l *lab.Lab) (string, error) {
	config, err := l.Get(ctx, controllerConfigs, "", "machine-config-controller")
	if err != nil {
		return "", err
	}
	encoded, _, err := unstructured.NestedString(config.Object, "spec", "kubeAPIServerServingCAData")
	if err != nil {
		return "", err
	}
	want, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("decode the kubelets' CA: %w", err)
	}
	if bytes.Count(want, []byte("BEGIN CERTIFICATE")) < 2 {
		return "the ControllerConfig has not the renewed CA", nil
	}
	for _, w := range l.Values().Workers {
		have, err := os.ReadFile(filepath.Join(l.Disk(w.Name), "etc/kubernetes/kubelet-ca.crt"))
		if err != nil {
			return "", err
		}
		if !bytes.Equal(have, want) {
			return w.Name + " has the old CA of the kubelet's clients", nil
		}
	}
	return "", nil
}

// observed says whether the controller has seen the newest spec of a pool, which takes
// it some seconds (openshift/machine-config-operator:pkg/controller/node/node_controller.go
// defaultUpdateDelay).
func observed(name string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		pool, err := l.Get(ctx, pools, "", name)
		if err != nil {
			return "", err
		}
		seen, _, err := unstructured.NestedInt64(pool.Object, "status", "observedGeneration")
		if want := pool.GetGeneration(); seen < want {
			return fmt.Sprintf("of pool %s generation %d was observed, it has %d", name, seen, want), err
		}
		return "", err
	}
}

// heldBack says whether the paused pool is behind.
func heldBack(ctx context.Context, l *lab.Lab) (string, error) {
	pool, err := l.Get(ctx, pools, "", "worker")
	if err != nil {
		return "", err
	}
	updated, _, err := unstructured.NestedInt64(pool.Object, "status", "updatedMachineCount")
	if updated != 0 {
		return fmt.Sprintf("%d workers are updated", updated), nil
	}
	return "", err
}
