package archivetest

import (
	"fmt"
	"strings"
)

// Lines and objects, as the programs print them.

// container appends a line of a container's log, as the kubelet hands it out.
func (w *writer) container(b []byte) []byte {
	r := w.r
	s, ns := r.UintN(60), r.UintN(1e9)
	b = fmt.Appendf(b, "2026-02-27T10:%02d:%02d.%09dZ ", r.UintN(60), s, ns)
	switch r.UintN(5) {
	case 0:
		return fmt.Appendf(b, "I0227 10:11:%02d.%06d %7d reconciler_common.go:218] \"operationExecutor.MountVolume started for volume \\\"config\\\" "+
			"(UniqueName: \\\"kubernetes.io/configmap/%08x-%04x-config\\\")\" pod=\"openshift-noise/pod-%d\"\n",
			s, ns/1000, r.UintN(1e5), r.Uint32(), r.UintN(1<<16), r.UintN(100))
	case 1:
		return fmt.Appendf(b, "E0227 10:11:%02d.%06d       1 reflector.go:147] k8s.io/client-go/informers/factory.go:150: failed to list *v1.Node: Get "+
			"\"https://172.30.0.1:443/api/v1/nodes?limit=500&resourceVersion=%d\": dial tcp 172.30.0.1:443: connect: connection refused\n",
			s, ns/1000, r.Uint32())
	case 2:
		return fmt.Appendf(b, "{\"level\":\"info\",\"ts\":\"2026-02-27T10:11:%02d.%06dZ\",\"caller\":\"mvcc/kvstore_compaction.go:66\",\"msg\":\"finished "+
			"scheduled compaction\",\"compact-revision\":%d,\"took\":\"%dms\",\"hash\":%d}\n",
			s, ns/1000, r.Uint32(), r.UintN(900), r.Uint32())
	case 3:
		return fmt.Appendf(b, "I0227 10:11:%02d.%06d       1 httplog.go:132] \"HTTP\" verb=\"GET\" URI=\"/apis/config.openshift.io/v1/"+
			"clusteroperators?resourceVersion=%d\" latency=\"%d.%06dms\" userAgent=\"cluster-version-operator/v0.0.0\" audit-ID=\"%08x-%04x\" "+
			"srcIP=\"192.0.2.%d:%d\" resp=200\n",
			s, ns/1000, r.Uint32(), r.UintN(100), r.UintN(1e6), r.Uint32(), r.UintN(1<<16), r.UintN(256), r.UintN(65536))
	}
	return fmt.Appendf(b, "W0227 10:11:%02d.%06d       1 warnings.go:70] unknown field \"spec.template.spec.containers[%d].resources.claims\" in revision "+
		"%d\n", s, ns/1000, r.UintN(9), r.UintN(1e6))
}

// journal returns what appends a line of a unit, as `oc adm node-logs` prints it.
func (w *writer) journal(unit string) func(b []byte) []byte {
	name := map[string]string{"kubelet": "kubenswrapper"}[unit]
	if name == "" {
		name = unit
	}
	return func(b []byte) []byte {
		r := w.r
		m, s, us := r.UintN(60), r.UintN(60), r.UintN(1e6)
		b = fmt.Appendf(b, "Feb 27 10:%02d:%02d.%06d m%d %s[%d]: ", m, s, us, r.UintN(3), name, 1000+r.UintN(2000))
		switch r.UintN(4) {
		case 0:
			return fmt.Appendf(b, "I0227 10:%02d:%02d.%06d    2312 kubelet.go:2453] \"SyncLoop (PLEG): event for pod\" pod=\"openshift-noise-%d/pod-%d\" "+
				"event={\"ID\":\"%08x\",\"Type\":\"ContainerStarted\",\"Data\":\"%016x%016x\"}\n",
				m, s, us, r.UintN(90), r.UintN(40), r.Uint32(), r.Uint64(), r.Uint64())
		case 1:
			return fmt.Appendf(b, "time=\"2026-02-27 10:%02d:%02d.%06dZ\" level=info msg=\"Checking image status: quay.io/openshift-release-dev/"+
				"ocp-v4.0-art-dev@sha256:%016x%016x\" id=%08x name=/runtime.v1.ImageService/ImageStatus\n",
				m, s, us, r.Uint64(), r.Uint64(), r.Uint32())
		case 2:
			return fmt.Appendf(b, "E0227 10:%02d:%02d.%06d    2312 pod_workers.go:1300] \"Error syncing pod, skipping\" err=\"failed to "+
				"\\\"StartContainer\\\" "+
				"for \\\"main\\\" with CrashLoopBackOff: \\\"back-off 5m0s restarting failed container\\\"\" pod=\"openshift-noise-%d/pod-%d\" "+
				"podUID=\"%08x\"\n",
				m, s, us, r.UintN(90), r.UintN(40), r.Uint32())
		}
		return fmt.Appendf(b, "I0227 10:%02d:%02d.%06d    2312 prober.go:107] \"Probe failed\" probeType=\"Readiness\" pod=\"openshift-noise-%d/pod-%d\" "+
			"containerName=\"main\" probeResult=\"failure\" output=\"HTTP probe failed with statuscode: %d\"\n",
			m, s, us, r.UintN(90), r.UintN(40), 500+r.UintN(4))
	}
}

func (w *writer) meta(b []byte, name string) []byte {
	r := w.r
	return fmt.Appendf(b, "  metadata:\n    creationTimestamp: \"2026-02-%02dT10:%02d:00Z\"\n    name: %s\n    namespace: openshift-noise\n    "+
		"resourceVersion: \"%d\"\n    uid: %08x-%04x-4000-8000-%012x\n",
		1+r.UintN(27), r.UintN(60), name, r.Uint32(), r.Uint32(), r.UintN(1<<16), r.Uint64()>>16)
}

func (w *writer) pod(b []byte, i int) []byte {
	r := w.r
	b = w.meta(b, fmt.Sprintf("pod-%d", i))
	b = append(b, "  spec:\n    containers:\n"...)
	for c := range 3 {
		b = fmt.Appendf(b, "    - args:\n      - --secure-listen-address=0.0.0.0:%d\n      - --upstream=http://127.0.0.1:%d/\n      - --v=2\n      "+
			"env:\n      "+
			"- name: POD_NAME\n        valueFrom:\n          fieldRef:\n            apiVersion: v1\n            fieldPath: metadata.name\n      "+
			"image: quay.io/"+
			"openshift-release-dev/ocp-v4.0-art-dev@sha256:%016x%016x\n      imagePullPolicy: IfNotPresent\n      name: c%d\n      ports:\n      - "+
			"containerPort: "+
			"%d\n        name: https\n        protocol: TCP\n      resources:\n        requests:\n          cpu: 10m\n          memory: 50Mi\n      "+
			"terminationMessagePath: /dev/termination-log\n      terminationMessagePolicy: FallbackToLogsOnError\n      volumeMounts:\n      - "+
			"mountPath: /etc/"+
			"config\n        name: config\n      - mountPath: /var/run/secrets/kubernetes.io/serviceaccount\n        name: kube-api-access-%05x\n        "+
			"readOnly: true\n",
			r.UintN(65536), r.UintN(65536), r.Uint64(), r.Uint64(), c, r.UintN(65536), r.UintN(1<<20))
	}
	b = fmt.Appendf(b, "    nodeName: m%d\n    priorityClassName: system-cluster-critical\n  status:\n    conditions:\n", r.UintN(3))
	for _, t := range []string{"Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		b = fmt.Appendf(b, "    - lastProbeTime: null\n      lastTransitionTime: \"2026-02-27T09:%02d:%02dZ\"\n      status: \"True\"\n      type: %s\n",
			r.UintN(60), r.UintN(60), t)
	}
	return fmt.Appendf(b, "    hostIP: 192.0.2.%d\n    phase: Running\n    podIP: 10.128.%d.%d\n    qosClass: Burstable\n    startTime: "+
		"\"2026-02-27T08:%02d:00Z\"\n", r.UintN(256), r.UintN(8), r.UintN(256), r.UintN(60))
}

func (w *writer) event(b []byte, i int) []byte {
	r := w.r
	b = fmt.Appendf(b, "  count: %d\n  eventTime: null\n  firstTimestamp: \"2026-02-27T09:%02d:%02dZ\"\n  involvedObject:\n    apiVersion: v1\n    "+
		"fieldPath: spec.containers{main}\n    kind: Pod\n    name: pod-%d\n    namespace: openshift-noise\n    uid: %08x\n  lastTimestamp: "+
		"\"2026-02-27T10:%02d:%02dZ\"\n  message: 'Readiness probe failed: Get \"https://10.128.0.%d:8443/healthz\": context deadline exceeded'\n",
		r.UintN(900), r.UintN(60), r.UintN(60), r.UintN(40), r.Uint32(), r.UintN(60), r.UintN(60), r.UintN(256))
	b = w.meta(b, fmt.Sprintf("pod-%d.%016x", i, r.Uint64()))
	return fmt.Appendf(b, "  reason: Unhealthy\n  reportingComponent: kubelet\n  reportingInstance: m%d\n  source:\n    component: kubelet\n    host: m%d\n "+
		" type: Warning\n", r.UintN(3), r.UintN(3))
}

func (w *writer) secret(b []byte, i int) []byte {
	b = append(b, "  data:\n"...)
	for _, k := range []string{"service-ca.crt", "token", "ca.crt"} {
		if k == "token" {
			b = append(b, "    token: MTA1MSBieXRlcyBsb25n\n"...)
			continue
		}
		b = fmt.Appendf(b, "    %s: %s\n", k, w.base64(1600))
	}
	b = w.meta(b, fmt.Sprintf("secret-%d", i))
	return append(b, "  type: kubernetes.io/service-account-token\n"...)
}

func (w *writer) configMap(b []byte, i int) []byte {
	b = append(b, "  data:\n    ca-bundle.crt: |\n"...)
	for range 40 {
		b = append(b, "      -----BEGIN CERTIFICATE-----\n"...)
		for range 20 {
			b = fmt.Appendf(b, "      %s\n", w.base64(64))
		}
		b = append(b, "      -----END CERTIFICATE-----\n"...)
	}
	return w.meta(b, fmt.Sprintf("bundle-%d", i))
}

// base64 is as random as keys are in a tenth of its signs: the bundles of all
// namespaces are the same certificates.
func (w *writer) base64(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString("MIIDsTCCApmgAwIBAgIBATANBgkqhkiG9w0BAQsFADA2")
		fmt.Fprintf(&b, "%06x", w.r.UintN(1<<24))
	}
	return b.String()[:n]
}
