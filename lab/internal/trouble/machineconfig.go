package trouble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// machineConfig are the troubles of rendered configs and of what lies on the
// hosts' disks.
var machineConfig = []lab.Trouble{
	{
		Name:   "config-drift",
		About:  "somebody edited a file on worker0 that a MachineConfig manages",
		Break:  editManagedFile,
		Steady: func(ctx context.Context, l *lab.Lab) (string, error) { return degraded(ctx, l, "worker0") },
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

// degraded says whether the machine-config-daemon of a node has given up.
func degraded(ctx context.Context, l *lab.Lab, name string) (string, error) {
	node, err := l.Kube().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if state := node.Annotations["machineconfiguration.openshift.io/state"]; state != "Degraded" {
		return fmt.Sprintf("%s is %q", name, state), nil
	}
	return "", nil
}

// notReady says whether the controller manager has lost a node.
func notReady(ctx context.Context, l *lab.Lab, name string) (string, error) {
	node, err := l.Kube().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			if c.Status == corev1.ConditionUnknown {
				return "", nil
			}
			return fmt.Sprintf("%s is Ready=%s", name, c.Status), nil
		}
	}
	return "", errors.New(name + " has no condition Ready")
}
