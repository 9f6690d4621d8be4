// Package trouble is the list of what can go wrong in the lab. Each trouble
// breaks one thing for the reason for which it breaks in the field, and leaves
// what follows to the real servers; see "Writing a scenario" in the lab's
// README.
package trouble

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// All lists every trouble, by area.
func All() []lab.Trouble {
	return slices.Concat(
		configServer,
		machineConfig,
		firstBoot,
		rollOut,
		identity,
		requests,
		provisioning,
		large,
		controlPlane,
		hosted,
		access,
	)
}

// Numbers of the machines that are added by troubles, one each, so that any of
// them go together. Those of the install end at 4.
const (
	oldCAWorker = 5 + iota
	expiredWorker
	earlyWorker
	refusedWorker
	pullWorker
	namelessWorker
	lateWorker
	addresslessWorker
	renamedWorker
	strangeWorker
	floodedWorker
	unsignedWorker
	firstSpare // and the next seven, which have no Machine

	configlessWorker = firstSpare + 8
)

// worker is the machine with that number.
func worker(index int) lab.Machine {
	return lab.Machine{Host: seed.NewHost(fmt.Sprintf("worker%d", index-3), "worker", index)}
}

var (
	secrets           = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	machines          = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}
	machineSets       = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machinesets"}
	bareMetal         = schema.GroupVersionResource{Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts"}
	configs           = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"}
	nodePools         = schema.GroupVersionResource{Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "nodepools"}
	controllerConfigs = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "controllerconfigs"}
	pools             = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}
)

const machineNamespace = "openshift-machine-api"

// addMachine scales the MachineSet up by one: a Machine, and the BareMetalHost
// that metal3 has written its image to.
func addMachine(ctx context.Context, l *lab.Lab, m lab.Machine) error {
	manifests, err := l.Values().WorkerYAML(m.Host)
	if err != nil {
		return err
	}
	if err := l.Create(ctx, manifests); err != nil {
		return err
	}
	set := l.Values().InfraName + "-worker"
	obj, err := l.Get(ctx, machineSets, machineNamespace, set)
	if err != nil {
		return err
	}
	spec, _ := obj.Object["spec"].(map[string]any)
	replicas, _ := spec["replicas"].(int64)
	return l.Patch(ctx, machineSets, machineNamespace, set, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas+1))
}

// addWorker adds a machine and switches it on.
func addWorker(ctx context.Context, l *lab.Lab, m lab.Machine) error {
	if err := addMachine(ctx, l, m); err != nil {
		return err
	}
	return l.PowerOn(ctx, m)
}

func machineName(l *lab.Lab, m lab.Machine) string { return l.Values().InfraName + "-" + m.Name }

// shows returns a check that a host's screen says something at least n times.
func shows(host, text string, n int) func(context.Context, *lab.Lab) (string, error) {
	return func(_ context.Context, l *lab.Lab) (string, error) {
		screen, err := l.Screen(host)
		if err != nil {
			return err.Error(), nil // not on yet
		}
		if got := bytes.Count(screen, []byte(text)); got < n {
			return fmt.Sprintf("the screen of %s says %q %d times, expected %d", host, text, got, n), nil
		}
		return "", nil
	}
}

// degraded says whether the machine-config-daemon of a node has given up.
func degraded(name string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		node, err := l.Kube().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if state := node.Annotations["machineconfiguration.openshift.io/state"]; state != "Degraded" {
			return fmt.Sprintf("%s is %q", name, state), nil
		}
		return "", nil
	}
}

// lost says whether the controller manager has lost these nodes.
func lost(names ...string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		for _, name := range names {
			node, err := l.Kube().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			i := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
			if i < 0 || node.Status.Conditions[i].Status != corev1.ConditionUnknown {
				return name + " is not lost yet", nil
			}
		}
		return "", nil
	}
}

// all joins checks.
func all(checks ...func(context.Context, *lab.Lab) (string, error)) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		for _, check := range checks {
			if why, err := check(ctx, l); why != "" || err != nil {
				return why, err
			}
		}
		return "", nil
	}
}
