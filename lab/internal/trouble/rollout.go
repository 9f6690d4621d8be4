package trouble

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// rollOut are a change of the machine configs that goes well, and the ways in which one
// does not.
var rollOut = []lab.Trouble{
	{
		Name:   "roll-out",
		About:  "nothing is wrong: a MachineConfig for masters and workers was created a moment ago, and every node drains and reboots in turn",
		Break:  func(ctx context.Context, l *lab.Lab) error { return changeBoth(ctx, l) },
		Stands: -1, // it is looked at while it continues
	},
	{
		Name:   "render-degraded",
		About:  "somebody created a MachineConfig for the workers whose Ignition version nobody knows; the pool cannot be rendered",
		Break:  unreadableConfig,
		Steady: all(poolSays("worker", "RenderDegraded"), observed("worker")),
	},
	{
		Name:   "drain-held-by-budget",
		About:  "a MachineConfig for the workers waits: a PodDisruptionBudget allows no eviction of the application on the node that is to be drained",
		Break:  holdDrain,
		Steady: evictionRefused,
		Stands: 40 * time.Minute, // after an hour the daemon gives up, which no one waits for here
	},
	{
		Name: "controller-config-missing",
		About: "somebody deleted the ControllerConfig while the machine-config-operator and the cluster-version-operator are scaled down: nothing is " +
			"rendered, and a worker that boots gets no config",
		Break:  deleteControllerConfig,
		Steady: shows(worker(configlessWorker).Name, "GET result: Internal Server Error", 3),
	},
	{
		Name:   "controller-down",
		About:  "somebody scaled the machine-config-controller down, so that it changes no node; a MachineConfig for the workers is never rendered",
		Break:  scaleControllerDown,
		Steady: controllerGone,
	},
}

// changeBoth gives both pools one MachineConfig more.
func changeBoth(ctx context.Context, l *lab.Lab) error {
	var both strings.Builder
	for _, role := range []string{"master", "worker"} {
		fmt.Fprintf(&both, `---
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-%[1]s-sysctl
  labels: {machineconfiguration.openshift.io/role: %[1]s}
spec:
  config:
    ignition: {version: 3.4.0}
    storage:
      files:
      - {path: /etc/sysctl.d/90-arp.conf, mode: 420, overwrite: true, contents: {source: "data:,net.ipv4.conf.all.arp_ignore%%3D1%%0A"}}
`, role)
	}
	return l.Create(ctx, both.String())
}

// unreadableConfig: the controller merges all of a role's MachineConfigs and cannot parse
// this one (openshift/machine-config-operator:pkg/controller/common/helpers.go ParseAndConvertConfig).
func unreadableConfig(ctx context.Context, l *lab.Lab) error {
	return l.Create(ctx, `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-worker-chrony
  labels: {machineconfiguration.openshift.io/role: worker}
spec:
  config:
    ignition: {version: 9.9.9}
    storage:
      files:
      - {path: /etc/chrony.conf, mode: 420, overwrite: true, contents: {source: "data:,server%20ntp.example.com%0A"}}
`)
}

// poolSays says whether a condition of a pool is True.
func poolSays(pool, kind string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		obj, err := l.Get(ctx, pools, "", pool)
		if err != nil {
			return "", err
		}
		conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		for _, c := range conditions {
			if m, ok := c.(map[string]any); ok && m["type"] == kind && m["status"] == "True" {
				return "", nil
			}
		}
		return "pool " + pool + " does not say " + kind, nil
	}
}

// application is somebody's, with a pod on each worker and a budget that wants both.
// No controller re-creates its pods: none is ever gone.
const application = `---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: shop}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: cart, namespace: shop}
spec:
  minAvailable: 2
  selector: {matchLabels: {app: cart}}
`

const applicationPod = `---
apiVersion: v1
kind: Pod
metadata: {name: cart-%[1]d, namespace: shop, labels: {app: cart}}
spec:
  nodeName: %[2]s
  containers:
  - {name: cart, image: registry.example.com/shop/cart:1.4}
`

func holdDrain(ctx context.Context, l *lab.Lab) error {
	if err := l.Create(ctx, application); err != nil {
		return err
	}
	var pods strings.Builder
	for i, w := range l.Values().Workers {
		fmt.Fprintf(&pods, applicationPod, i, w.Name)
	}
	if err := l.RunPods(ctx, pods.String()); err != nil {
		return err
	}
	err := l.Await(ctx, time.Minute, "the budget does not count its pods", func(ctx context.Context) (bool, error) {
		pdb, err := l.Kube().PolicyV1().PodDisruptionBudgets("shop").Get(ctx, "cart", metav1.GetOptions{})
		return err == nil && pdb.Status.CurrentHealthy == 2 && pdb.Status.DisruptionsAllowed == 0, err
	})
	if err != nil {
		return err
	}
	_, err = changeWorkers(ctx, l)
	return err
}

// evictionRefused says whether the controller has tried to drain a worker and was
// refused by the budget.
func evictionRefused(ctx context.Context, l *lab.Lab) (string, error) {
	asked := false
	for _, w := range l.Values().Workers {
		node, err := l.Kube().CoreV1().Nodes().Get(ctx, w.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		want, have := node.Annotations["machineconfiguration.openshift.io/desiredDrain"], node.Annotations["machineconfiguration.openshift.io/lastAppliedDrain"]
		asked = asked || want != have && node.Spec.Unschedulable
	}
	if !asked {
		return "no worker waits to be drained", nil
	}
	return controllerLogs(ctx, l, "Cannot evict pod as it would violate the pod's disruption budget")
}

// controllerLogs says whether the machine-config-controller has logged something.
func controllerLogs(ctx context.Context, l *lab.Lab, text string) (string, error) {
	pods, err := l.Kube().CoreV1().Pods(lab.MCONamespace).List(ctx, metav1.ListOptions{LabelSelector: "k8s-app=machine-config-controller"})
	if err != nil {
		return "", err
	}
	for _, pod := range pods.Items {
		log, err := l.PodLog(&pod, "machine-config-controller")
		if err != nil {
			return "", err
		}
		if strings.Contains(string(log), text) {
			return "", nil
		}
	}
	return fmt.Sprintf("the machine-config-controller has not logged %q", text), nil
}

// operatorsDown are the Deployments of the two operators that would write it again, scaled
// to nothing (openshift/machine-config-operator:install/0000_80_machine-config_04_deployment.yaml,
// openshift/cluster-version-operator:install/0000_00_cluster-version-operator_30_deployment.yaml).
const operatorsDown = `---
apiVersion: v1
kind: Namespace
metadata: {name: openshift-cluster-version}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cluster-version-operator, namespace: openshift-cluster-version}
spec:
  replicas: 0
  selector: {matchLabels: {k8s-app: cluster-version-operator}}
  template:
    metadata: {labels: {k8s-app: cluster-version-operator}}
    spec:
      containers:
      - {name: cluster-version-operator, image: registry.example.com/release:4.20}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: machine-config-operator, namespace: openshift-machine-config-operator}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: machine-config-operator
  namespace: openshift-machine-config-operator
  labels: {k8s-app: machine-config-operator}
spec:
  replicas: 0
  selector: {matchLabels: {k8s-app: machine-config-operator}}
  template:
    metadata: {labels: {k8s-app: machine-config-operator}}
    spec:
      containers:
      - {name: machine-config-operator, image: registry.example.com/machine-config-operator:4.20}
      serviceAccountName: machine-config-operator
      nodeSelector: {node-role.kubernetes.io/master: ""}
      priorityClassName: system-cluster-critical
      tolerations:
      - {key: node-role.kubernetes.io/master, operator: Exists, effect: NoSchedule}
`

func deleteControllerConfig(ctx context.Context, l *lab.Lab) error {
	if err := l.Create(ctx, operatorsDown); err != nil {
		return err
	}
	if err := l.Delete(ctx, controllerConfigs, "", "machine-config-controller"); err != nil {
		return err
	}
	return addWorker(ctx, l, worker(configlessWorker))
}

// scaleControllerDown: no one scales it up again, as where the operator is scaled down
// as well.
func scaleControllerDown(ctx context.Context, l *lab.Lab) error {
	if err := l.Patch(ctx, deployments, lab.MCONamespace, "machine-config-controller", `{"spec":{"replicas":0}}`); err != nil {
		return err
	}
	err := l.Await(ctx, time.Minute, "the machine-config-controller runs on", func(ctx context.Context) (bool, error) {
		why, err := controllerGone(ctx, l)
		return why == "", err
	})
	if err != nil {
		return err
	}
	if err := runOut(ctx, l, lab.MCONamespace, "machine-config-controller"); err != nil {
		return err
	}
	return l.Create(ctx, motd)
}

// controllerGone says whether no pod of the machine-config-controller is left.
func controllerGone(ctx context.Context, l *lab.Lab) (string, error) {
	pods, err := l.Kube().CoreV1().Pods(lab.MCONamespace).List(ctx, metav1.ListOptions{LabelSelector: "k8s-app=machine-config-controller"})
	if err != nil {
		return "", err
	}
	if len(pods.Items) > 0 {
		return pods.Items[0].Name + " is still there", nil
	}
	return "", nil
}
