package sanitize

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// logLines are as a node and an operator write them; one in ten carries a mark.
const logLines = `2026-11-20T12:00:00.123456789Z I1120 12:00:00.123456       1 reconciler_common.go:218] "operationExecutor.MountVolume started for volume \"config\" (UniqueName: \"kubernetes.io/configmap/0f0e-config\") pod \"machine-config-server-abcde\"" pod="openshift-machine-config-operator/machine-config-server-abcde"
2026-11-20T12:00:01.123456789Z I1120 12:00:01.123456       1 status.go:240] Pool master: 2 machines updated, 1 updating to rendered-master-0123456789abcdef0123456789abcdef
2026-11-20T12:00:02.123456789Z E1120 12:00:02.123456       1 reflector.go:147] failed to list *v1.Node: Get "https://api-int.example.com:6443/api/v1/nodes?limit=500": dial tcp 192.0.2.5:6443: connect: connection refused
2026-11-20T12:00:03.123456789Z W1120 12:00:03.123456       1 authentication.go:73] Unable to authenticate the request err="[invalid bearer token, token lookup failed]"
2026-11-20T12:00:04.123456789Z I1120 12:00:04.123456       1 image.go:12] pulling quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c7c12
2026-11-20T12:00:05.123456789Z I1120 12:00:05.123456       1 sync.go:99] nothing to do
2026-11-20T12:00:06.123456789Z I1120 12:00:06.123456       1 sync.go:99] nothing to do for node control2
2026-11-20T12:00:07.123456789Z I1120 12:00:07.123456       1 leader.go:1] successfully acquired lease openshift-machine-config-operator/machine-config-controller
2026-11-20T12:00:08.123456789Z E1120 12:00:08.123456       1 bmc.go:44] redfish://root:calvin@192.0.2.9/redfish/v1 answered 401
2026-11-20T12:00:09.123456789Z I1120 12:00:09.123456       1 csr.go:7] csr-8x2lp: approving node client certificate for control1
`

// BenchmarkLines sanitizes a log line by line, as a collection does.
func BenchmarkLines(b *testing.B) {
	s := sanitizer(b, "salt").Lines()
	lines := strings.Split(strings.Repeat(logLines, 100), "\n")
	b.SetBytes(int64(100 * len(logLines)))
	for b.Loop() {
		for _, l := range lines {
			s.Line(l)
		}
	}
}

// BenchmarkText sanitizes a bundle of certificates with a password behind it.
func BenchmarkText(b *testing.B) {
	s := sanitizer(b, "salt")
	cert := "-----BEGIN CERTIFICATE-----\n" + strings.Repeat(strings.Repeat("MIIBszCCAVmgAwIB", 4)+"\n", 20) + "-----END CERTIFICATE-----\n"
	text := strings.Repeat(cert, 20) + "password: calvin\n"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Text(text)
	}
}

// BenchmarkObject sanitizes a pod, which a cluster has ten thousand of.
func BenchmarkObject(b *testing.B) {
	s, err := New()
	if err != nil {
		b.Fatal(err)
	}
	env := []any{}
	for _, name := range []string{"POD_NAME", "POD_IP", "KUBERNETES_SERVICE_HOST", "OPERATOR_IMAGE_VERSION"} {
		env = append(env, map[string]any{"name": name, "valueFrom": map[string]any{"fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": "metadata.name"}}})
	}
	state := map[string]any{"name": "dns", "ready": true, "restartCount": int64(0), "started": true, "imageID": "quay.io/x@sha256:" + strings.Repeat("0a", 32),
		"state": map[string]any{"running": map[string]any{"startedAt": "2026-01-01T00:00:00Z"}}}
	o := evidence.Object{Resource: evidence.Pods, Namespace: "openshift-dns", Name: "dns-default-x7k2p", Content: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "dns-default-x7k2p", "namespace": "openshift-dns", "uid": "b51fbd5b-4c4f-4b0d-a1c0-0242ac110002", "labels": map[string]any{"dns.operator.openshift.io/daemonset-dns": "default"}},
		"spec": map[string]any{"nodeName": "worker1", "containers": []any{map[string]any{"name": "dns", "env": env, "command": []any{"coredns", "-conf", "/etc/coredns/Corefile"},
			"terminationMessagePolicy": "FallbackToLogsOnError", "imagePullPolicy": "IfNotPresent"}}, "serviceAccountName": "dns", "priorityClassName": "system-node-critical"},
		"status": map[string]any{"phase": "Running", "podIP": "10.128.0.9", "containerStatuses": []any{state, state}},
	}}
	b.ReportAllocs()
	for b.Loop() {
		s.Object(o.Resource.Group, o.Resource.Name, o.Content)
	}
}

// longLines are lines that are made, or happen, to be slow.
var longLines = map[string]string{
	"base64":   strings.Repeat("c2VjcmV0", 1<<17),
	"zeros":    strings.Repeat("A", 1<<20),
	"paths":    strings.Repeat("/usr/lib", 1<<17),
	"quotes":   strings.Repeat(`"`, 1<<20),
	"password": strings.Repeat("password=", 1<<20/9),
	"flags":    strings.Repeat("--password ", 1<<20/11),
	"words":    strings.Repeat("curl -u x ", 1<<20/10),
	"queries":  strings.Repeat("?token=&", 1<<20/8),
	"tags":     strings.Repeat("</token>", 1<<20/8),
	"pairs":    strings.Repeat("name:token,value:x,", 1<<20/19),
}

// BenchmarkLongLine sanitizes lines of 1 MB.
func BenchmarkLongLine(b *testing.B) {
	s := sanitizer(b, "salt")
	for name, v := range longLines {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(v)))
			for b.Loop() {
				s.Text(v)
			}
		})
	}
}
