package serve

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/service"
	"github.com/rollcall-project/rollcall/internal/session/readerrole"
)

// Monitoring is the Prometheus that reads the metrics.
type Monitoring string

// Which Prometheus.
const (
	UserWorkload Monitoring = "user-workload" // that of users, which an administrator switches on
	Platform     Monitoring = "platform"      // that of OpenShift's own components
	NoMonitoring Monitoring = "none"          // no ServiceMonitor and no PrometheusRule are written
)

// Manifests are what runs a server in a cluster.
type Manifests struct {
	Namespace  string
	Image      string // of this program
	Replicas   int
	Monitoring Monitoring
	ReadOnly   bool // it writes no Events and keeps no records
}

type object = map[string]any

// Names of what is made, and the port.
const (
	name   = "rollcall"
	scrape = "rollcall-prometheus"
	secret = "rollcall-tls"
	port   = 8386
)

// check refuses what is not a name: it is written into manifests.
func (m Manifests) check() error {
	if len(validation.IsDNS1123Label(m.Namespace)) > 0 {
		return fmt.Errorf("--namespace %q is not a name that Kubernetes takes", m.Namespace)
	}
	if m.Image == "" || strings.ContainsAny(m.Image, " \t\n\"'\\{}") {
		return fmt.Errorf("--image %q: name the image of this program as REGISTRY/NAME@sha256:... or REGISTRY/NAME:TAG", m.Image)
	}
	if m.Replicas < 1 || m.Replicas > 3 {
		return fmt.Errorf("--replicas %d: write 1 to 3; one of them reads the cluster, the others wait", m.Replicas)
	}
	return nil
}

// document is one object, with what a reader has to know.
type document struct {
	about  string
	object any
}

// Write writes all manifests as one file, in the order in which they are applied.
func (m Manifests) Write(w io.Writer) error {
	if err := m.check(); err != nil {
		return err
	}
	var out bytes.Buffer
	for i, d := range m.documents() {
		if i > 0 {
			out.WriteString("---\n")
		}
		if d.about != "" {
			out.WriteString("# " + strings.ReplaceAll(d.about, "\n", "\n# ") + "\n")
		}
		raw, err := yaml.Marshal(d.object)
		if err != nil {
			return fmt.Errorf("encode a manifest: %w", err)
		}
		out.Write(raw)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write the manifests: %w", err)
	}
	return nil
}

func (m Manifests) documents() []document {
	list := []document{
		{"Rollcall as a service: docs/operate.md. Remove all of it with: oc delete -f THIS-FILE", m.namespace()},
		{"", m.object("v1", "ServiceAccount", name, object{})},
	}
	list = append(list, m.rights()...)
	list = append(list,
		document{"The service CA of OpenShift writes the Secret with the certificate.", m.service()},
		document{"", m.deployment()},
		document{"Only Prometheus and the kubelet reach the pods, and the pods reach only the ports of API servers.", m.networkPolicy()})
	if m.Monitoring == NoMonitoring {
		return list
	}
	list = append(list, m.scraping()...)
	return append(list,
		document{"", m.object("monitoring.coreos.com/v1", "PrometheusRule", name, object{"spec": rules(m.Namespace)})},
		document{"Five series for a hub that collects them from many clusters: rollcall serve hub.", m.hubRules()})
}

// object is an object in the namespace.
func (m Manifests) object(version, kind, as string, rest object) object {
	o := object{"apiVersion": version, "kind": kind, "metadata": object{"name": as, "namespace": m.Namespace, "labels": labels()}}
	for k, v := range rest {
		o[k] = v
	}
	return o
}

func labels() object { return object{openshift.NameLabel: name} }

func (m Manifests) namespace() object {
	own := labels()
	own["pod-security.kubernetes.io/enforce"] = "restricted"
	if m.Monitoring == Platform {
		own["openshift.io/cluster-monitoring"] = "true"
	}
	return object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": m.Namespace, "labels": own}}
}

// rights are all that the server may do.
func (m Manifests) rights() []document {
	account := readerrole.Subject{Kind: "ServiceAccount", Name: name, Namespace: m.Namespace}
	var list []document
	add := func(about string, objects []readerrole.Object) {
		for i, o := range objects {
			if i > 0 {
				about = ""
			}
			list = append(list, document{about, o})
		}
	}
	add("What a diagnosis reads: no Secret, no command in pods, no kubelet.", readerrole.Roles(name, account))
	reviews := readerrole.Meta{Name: name + "-reviews"}
	add("To ask the API server who reads the metrics. Such a review stores nothing.", readerrole.Bound(reviews, []readerrole.Rule{
		{APIGroups: []string{openshift.AuthenticationGroup}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{openshift.AuthorizationGroup}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	}, account))
	lease := readerrole.Meta{Name: name + "-lease", Namespace: m.Namespace}
	reader := readerrole.Bound(readerrole.Meta{Name: name + "-reader"}, []readerrole.Rule{
		{URLs: []string{StatusPath, ReportPath}, Verbs: []string{"get"}}}, account)
	add("For people who may see the page. It is bound to no one: oc adm policy add-cluster-role-to-user "+name+"-reader USER", reader[:1])
	add("The lease between replicas. `create` cannot be bound to a name.", readerrole.Bound(lease, []readerrole.Rule{
		{APIGroups: []string{openshift.CoordinationGroup}, Resources: []string{"leases"}, ResourceNames: []string{name}, Verbs: []string{"get", "update"}},
		{APIGroups: []string{openshift.CoordinationGroup}, Resources: []string{"leases"}, Verbs: []string{"create"}},
	}, account))
	if m.ReadOnly {
		return list
	}
	add("Events on Nodes, pools and operators are in the namespace default. It may make them, and not change one.",
		readerrole.Bound(readerrole.Meta{Name: name + "-events", Namespace: service.EventsNamespace}, []readerrole.Rule{
			{APIGroups: []string{openshift.EventsGroup}, Resources: []string{"events"}, Verbs: []string{"create"}}}, account))
	add("The records of incidents, as ConfigMaps in its own namespace.", readerrole.Bound(readerrole.Meta{Name: name + "-records", Namespace: m.Namespace},
		[]readerrole.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "create", "update", "delete"}}}, account))
	return list
}

func (m Manifests) args() []any {
	args := []any{"serve", fmt.Sprintf("--listen=:%d", port), "--tls-dir=/etc/rollcall/tls", "--lease=" + m.Namespace + "/" + name, "--log-format=json"}
	if !m.ReadOnly {
		args = append(args, "--events", "--records="+m.Namespace)
	}
	return args
}

func (m Manifests) service() object {
	ports := []any{object{"name": "https", "port": port, "targetPort": "https"}}
	s := m.object("v1", "Service", name, object{"spec": object{"selector": labels(), "ports": ports}})
	s["metadata"].(object)["annotations"] = object{"service.beta.openshift.io/serving-cert-secret-name": secret}
	return s
}

func (m Manifests) deployment() object {
	tolerations := []any{}
	for _, role := range []string{"master", "control-plane"} {
		tolerations = append(tolerations, object{"key": openshift.NodeRolePrefix + role, "operator": "Exists", "effect": "NoSchedule"})
	}
	probe := func(path string) object {
		return object{"httpGet": object{"path": path, "port": "https", "scheme": "HTTPS"}, "periodSeconds": 20, "timeoutSeconds": 5, "failureThreshold": 6}
	}
	container := object{
		"name": name, "image": m.Image, "command": []any{"rollcall"},
		"args": m.args(),
		// The Go runtime collects garbage more often before it reaches the limit.
		"env":            []any{object{"name": "GOMEMLIMIT", "value": "230MiB"}},
		"ports":          []any{object{"name": "https", "containerPort": port}},
		"livenessProbe":  probe("/healthz"),
		"readinessProbe": probe("/readyz"),
		"resources":      object{"requests": object{"cpu": "20m", "memory": "128Mi"}, "limits": object{"memory": "512Mi"}},
		"securityContext": object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
			"capabilities": object{"drop": []any{"ALL"}}},
		"volumeMounts": []any{object{"name": "tls", "mountPath": "/etc/rollcall/tls", "readOnly": true}},
	}
	pod := object{
		"serviceAccountName": name,
		// The hosts that do not join must not be the ones that it needs. A hosted cluster has no others.
		"affinity": object{"nodeAffinity": object{"preferredDuringSchedulingIgnoredDuringExecution": []any{object{"weight": 100,
			"preference": object{"matchExpressions": []any{object{"key": openshift.MasterLabel, "operator": "Exists"}}}}}},
			"podAntiAffinity": object{"preferredDuringSchedulingIgnoredDuringExecution": []any{object{"weight": 100,
				"podAffinityTerm": object{"topologyKey": "kubernetes.io/hostname", "labelSelector": object{"matchLabels": labels()}}}}}},
		"tolerations":     tolerations,
		"securityContext": object{"runAsNonRoot": true, "seccompProfile": object{"type": "RuntimeDefault"}},
		"containers":      []any{container},
		"volumes":         []any{object{"name": "tls", "secret": object{"secretName": secret}}},
	}
	return m.object("apps/v1", "Deployment", name, object{"spec": object{"replicas": m.Replicas, "selector": object{"matchLabels": labels()},
		"template": object{"metadata": object{"labels": labels()}, "spec": pod}}})
}

func (m Manifests) networkPolicy() object {
	tcp := func(ports ...int) []any {
		var list []any
		for _, p := range ports {
			list = append(list, object{"port": p, "protocol": "TCP"})
		}
		return list
	}
	from := func(namespace string) object {
		return object{"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": namespace}}}
	}
	spec := object{"podSelector": object{"matchLabels": labels()}, "policyTypes": []any{"Ingress", "Egress"},
		"egress": []any{object{"ports": tcp(443, 6443)}}, "ingress": []any{}}
	if m.Monitoring != NoMonitoring {
		spec["ingress"] = []any{object{"from": []any{from(m.prometheusNamespace())}, "ports": tcp(port)}}
	}
	return m.object("networking.k8s.io/v1", "NetworkPolicy", name, object{"spec": spec})
}

func (m Manifests) prometheusNamespace() string {
	if m.Monitoring == Platform {
		return "openshift-monitoring"
	}
	return "openshift-user-workload-monitoring"
}

// scraping is what lets Prometheus read the metrics. The one of OpenShift has the right to read /metrics, and finds what is in
// namespaces where it may look (openshift/cluster-monitoring-operator:assets/prometheus-k8s/cluster-role.yaml). That of users
// looks everywhere, and takes no token of its own files to a ServiceMonitor (the same repository:
// assets/prometheus-user-workload/prometheus.yaml arbitraryFSAccessThroughSMs): it gets one that may read /metrics alone.
func (m Manifests) scraping() []document {
	endpoint := object{"port": "https", "scheme": "https", "interval": "30s"}
	monitor := m.object("monitoring.coreos.com/v1", "ServiceMonitor", name, object{"spec": object{
		"selector": object{"matchLabels": labels()}, "endpoints": []any{endpoint}}})
	serverName := name + "." + m.Namespace + ".svc"
	if m.Monitoring == Platform {
		endpoint["bearerTokenFile"] = "/var/run/secrets/kubernetes.io/serviceaccount/token"
		endpoint["tlsConfig"] = object{"serverName": serverName, "caFile": "/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt"}
		rights := readerrole.Bound(readerrole.Meta{Name: scrape, Namespace: m.Namespace}, []readerrole.Rule{
			{APIGroups: []string{""}, Resources: []string{"endpoints", "pods", "services"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"get", "list", "watch"}},
		}, readerrole.Subject{Kind: "ServiceAccount", Name: "prometheus-k8s", Namespace: "openshift-monitoring"})
		return []document{{"Prometheus finds the pods.", rights[0]}, {"", rights[1]}, {"", monitor}}
	}
	endpoint["authorization"] = object{"type": "Bearer", "credentials": object{"name": scrape, "key": "token"}}
	endpoint["tlsConfig"] = object{"serverName": serverName,
		"ca": object{"configMap": object{"name": "openshift-service-ca.crt", "key": "service-ca.crt"}}}
	token := m.object("v1", "Secret", scrape, object{"type": "kubernetes.io/service-account-token"})
	token["metadata"].(object)["annotations"] = object{"kubernetes.io/service-account.name": scrape}
	rights := readerrole.Bound(readerrole.Meta{Name: scrape}, []readerrole.Rule{{URLs: []string{"/metrics"}, Verbs: []string{"get"}}},
		readerrole.Subject{Kind: "ServiceAccount", Name: scrape, Namespace: m.Namespace})
	return []document{
		{"With this account Prometheus reads /metrics, and nothing else.", m.object("v1", "ServiceAccount", scrape, object{})},
		{"", rights[0]}, {"", rights[1]},
		{"OpenShift writes the token into it.", token}, {"", monitor},
	}
}
