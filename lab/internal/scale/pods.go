package scale

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
)

// app is a pod that every worker has.
type app struct {
	namespace, name string
	label, value    string // by which it is selected
	host            bool   // on the host's network
	static          bool   // named after the node
	containers      []string
}

const mcoNamespace = "openshift-machine-config-operator"

// platform is what OpenShift runs on each worker of a bare metal cluster
// (openshift/cluster-network-operator:bindata/network, machine-config-operator:manifests and
// templates/common/on-prem,
// cluster-monitoring-operator:assets/node-exporter, cluster-dns-operator:assets,
// cluster-node-tuning-operator:assets/tuned, cluster-image-registry-operator).
var platform = []app{
	{"openshift-kni-infra", "keepalived", "app", "kni-infra-vrrp", true, true, []string{"keepalived", "keepalived-monitor"}},
	{"openshift-kni-infra", "coredns", "app", "kni-infra-mdns", true, true, []string{"coredns", "coredns-monitor"}},
	{mcoNamespace, "machine-config-daemon", "k8s-app", "machine-config-daemon", true, false, []string{"machine-config-daemon", "kube-rbac-proxy"}},
	{"openshift-ovn-kubernetes", "ovnkube-node", "app", "ovnkube-node", true, false,
		[]string{"ovn-controller", "ovn-acl-logging", "kube-rbac-proxy-node", "kube-rbac-proxy-ovn-metrics", "northd", "nbdb", "sbdb", "ovnkube-controller"}},
	{"openshift-multus", "multus", "app", "multus", true, false, []string{"kube-multus"}},
	{"openshift-multus", "multus-additional-cni-plugins", "app", "multus-additional-cni-plugins", true, false, []string{"kube-multus-additional-cni-plugins"}},
	{"openshift-multus", "network-metrics-daemon", "app", "network-metrics-daemon", false, false, []string{"network-metrics-daemon", "kube-rbac-proxy"}},
	{"openshift-monitoring", "node-exporter", "app.kubernetes.io/name", "node-exporter", true, false, []string{"node-exporter", "kube-rbac-proxy"}},
	{"openshift-dns", "dns-default", "dns.operator.openshift.io/daemonset-dns", "default", false, false, []string{"dns", "kube-rbac-proxy"}},
	{"openshift-dns", "node-resolver", "dns.operator.openshift.io/daemonset-node-resolver", "", true, false, []string{"dns-node-resolver"}},
	{"openshift-cluster-node-tuning-operator", "tuned", "openshift-app", "tuned", true, false, []string{"tuned"}},
	{"openshift-image-registry", "node-ca", "name", "node-ca", true, false, []string{"node-ca"}},
	{"openshift-ingress-canary", "ingress-canary", "ingresscanary.operator.openshift.io/daemonset-ingresscanary", "canary_controller", false, false,
		[]string{"serve-healthcheck-canary"}},
	{"openshift-network-diagnostics", "network-check-target", "app", "network-check-target", false, false, []string{"network-check-target-container"}},
}

// everywhere are those of the platform's pods without which a diagnosis would ask
// why the nodes that were there before, and only those, have none.
var everywhere = map[string]bool{"ovnkube-node": true, "multus": true}

// teams is how many namespaces the applications are spread over.
const teams = 25

func (c *Cluster) namespaces(ctx context.Context) error {
	names := map[string]bool{}
	for _, a := range platform {
		names[a.namespace] = true
	}
	for i := range teams {
		names[fmt.Sprintf("team-%02d", i)] = true
	}
	for name := range names {
		_, err := c.core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		// Admission wants it, and the lab runs no controller that makes it.
		_, err = c.core.CoreV1().ServiceAccounts(name).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
			metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// appOf is the i-th pod of a worker.
func appOf(w worker, i int) app {
	if i < len(platform) {
		return platform[i]
	}
	n := w.i*PodsPerWorker + i
	name := fmt.Sprintf("service-%03d", n%997)
	return app{fmt.Sprintf("team-%02d", n%teams), name + "-" + suffix("replicaset", name), "app", name, false, false, []string{"app", "istio-proxy"}}
}

func podKey(w worker, i int) string { return fmt.Sprintf("%s-%d", w.name, i) }

func (c *Cluster) makePods(ctx context.Context, w worker, m *model) error {
	for i := range PodsPerWorker {
		made, err := c.makePod(ctx, appOf(w, i), w.name, w.address, podKey(w, i))
		if err != nil {
			return err
		}
		m.pods = append(m.pods, made)
	}
	return nil
}

// makePodsOfOthers gives the nodes that are there already what the lab has no use for.
func (c *Cluster) makePodsOfOthers(ctx context.Context) error {
	nodes, err := c.core.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		for _, a := range platform {
			if !everywhere[a.name] {
				continue
			}
			if _, err := c.makePod(ctx, a, node.Name, node.Status.Addresses[0].Address, node.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) makePod(ctx context.Context, a app, node, address, key string) (*corev1.Pod, error) {
	pods := c.core.CoreV1().Pods(a.namespace)
	made, err := pods.Create(ctx, c.pod(a, node, key), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("pod of %s: %w", a.name, err)
	}
	at := made
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
		at.Status = running(at, address)
		made, err = pods.UpdateStatus(ctx, at, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			// The stand-in for the kubelet of a node that was there before has said
			// that the containers are being created.
			if now, gone := pods.Get(ctx, at.Name, metav1.GetOptions{}); gone == nil {
				at = now
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("status of a pod of %s: %w", a.name, err)
	}
	return made, nil
}

// pod has no owner: the owners are not made, and the garbage collector would
// take their pods.
func (c *Cluster) pod(a app, node, key string) *corev1.Pod {
	hash, name := suffix("hash", a.name), a.name+"-"+suffix(a.name, key)
	if a.static {
		name = a.name + "-" + node
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: a.namespace,
			Labels: map[string]string{a.label: a.value, "controller-revision-hash": "6b" + hash + "8d9", "pod-template-generation": "1",
				"openshift.io/component": a.name},
			Annotations: map[string]string{
				"openshift.io/required-scc": "privileged", "target.workload.openshift.io/management": `{"effect": "PreferredDuringScheduling"}`,
				"cluster-autoscaler.kubernetes.io/enable-ds-eviction": "false",
			},
		},
		Spec: corev1.PodSpec{
			NodeName: node, HostNetwork: a.host, RestartPolicy: corev1.RestartPolicyAlways, ServiceAccountName: "default",
			PriorityClassName: "", NodeSelector: map[string]string{"kubernetes.io/os": "linux"}, DNSPolicy: corev1.DNSClusterFirst,
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		},
	}
	for _, v := range []string{"host-slash", "host-run-ovn", "host-var-lib", "env-overrides"} {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: v,
			VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/" + v}}})
	}
	for _, name := range a.containers {
		p.Spec.Containers = append(p.Spec.Containers, c.container(name))
	}
	return p
}

// container has about as much in it as those of the platform.
func (c *Cluster) container(name string) corev1.Container {
	out := corev1.Container{
		Name: name, Image: c.spec.Image(name), ImagePullPolicy: corev1.PullIfNotPresent,
		Command: []string{"/bin/bash", "-c", "set -xe\n[[ -f /env/_master ]] && source /env/_master\n. /ovnkube-lib/ovnkube-lib.sh || " +
			"exit 1\nstart-" + name + " ${OVN_KUBE_LOG_LEVEL} --log-format=json --metrics-port 29103 --conf /etc/" + name + "/config.yaml\n"},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("60Mi"),
		}},
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(9155), Scheme: corev1.URISchemeHTTPS}},
			PeriodSeconds: 10, TimeoutSeconds: 5, FailureThreshold: 3,
		},
		SecurityContext: &corev1.SecurityContext{Privileged: new(true), ReadOnlyRootFilesystem: new(true)},
	}
	for i, e := range []string{"OVN_KUBE_LOG_LEVEL", "KUBERNETES_SERVICE_PORT", "KUBERNETES_SERVICE_HOST", "OVN_CONTROLLER_INACTIVITY_PROBE", "OVN_NODE_MODE"} {
		out.Env = append(out.Env, corev1.EnvVar{Name: e, Value: fmt.Sprint(i * 1000)})
	}
	out.Env = append(out.Env, corev1.EnvVar{Name: "K8S_NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1",
		FieldPath: "spec.nodeName"}}})
	for _, v := range []string{"host-slash", "host-run-ovn", "host-var-lib", "env-overrides"} {
		out.VolumeMounts = append(out.VolumeMounts, corev1.VolumeMount{Name: v, MountPath: "/mnt/" + v})
	}
	return out
}

// running is the status that a kubelet posts of a pod that is well.
func running(p *corev1.Pod, address string) corev1.PodStatus {
	at := p.CreationTimestamp
	s := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: address, PodIP: address, StartTime: &at, QOSClass: corev1.PodQOSBurstable,
		HostIPs: []corev1.HostIP{{IP: address}}, PodIPs: []corev1.PodIP{{IP: address}},
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady,
		corev1.PodScheduled} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: true, Started: new(true),
			ContainerID: "cri-o://" + id(p.Namespace, p.Name, c.Name),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
		})
	}
	return s
}
