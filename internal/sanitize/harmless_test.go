package sanitize

import (
	"slices"
	"strings"
	"testing"
)

// harmless are texts that look as if they carried a secret and carry none. What a
// diagnosis goes by is among them.
var harmless = []string{
	// Digests, names and numbers of objects.
	"quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"image: registry.example.com:5000/ocp/release@sha256:fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210",
	"rendered-master-0123456789abcdef0123456789abcdef", "uid: 6f1c2a7e-0c55-4f8d-9d0c-6c2f8f4f3a10", `resourceVersion: "1234567890"`,
	"containerID: cri-o://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "pod openshift-etcd/etcd-m0 started", "node-bootstrapper-token-x7k2p", "SHA256 Fingerprint=AB:CD:EF:01:23:45:67:89",
	"serial number: 3A:7F:00:11:22:33:44:55", "boot id 0f8a1b2c3d4e5f60718293a4b5c6d7e8", "machine-id: 0f8a1b2c3d4e5f60718293a4b5c6d7e8", "wwn: 0x5000c500a1b2c3d4", "serial: S3Z8NX0M123456", "MAC 52:54:00:ab:cd:ef",
	"rotation-hash: 5d41402abc4b2a76b9719d911017c592", "pod-template-hash=7d9c6b5f4", "checksum/config: 9f86d081884c7d659a2feaa0c55ad015", "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
	// Messages about credentials.
	"token expired", "the token has expired", "invalid bearer token", "Unable to authenticate the request: invalid bearer token", "password authentication failed for user", "Password authentication is disabled",
	"error: You must be logged in to the server (Unauthorized)", "unauthorized: authentication required", "401 Unauthorized", "failed to refresh token for service account", "secret \"pull-secret\" not found",
	"secrets \"machine-config-server-tls\" not found", "MountVolume.SetUp failed for volume \"certs\" : secret \"machine-config-server-tls\" not found", "couldn't find key password in Secret openshift-machine-api/bmc-0", "Credentials are valid",
	"BMC credentials validated", "secret: bmc-credentials-0 is missing", "Authorization mode RBAC", "no credentials found for registry", "waiting for secret kube-system/bootstrap-token", "bootstrap token is gone",
	"the password is wrong", "password: required", "error: --password is not set", "spec.pullSecret: Required value", "Forbidden: user cannot get secrets", "authentication handshake failed: x509: certificate signed by unknown authority",
	// Keys of objects that hold no secret.
	"secretName: machine-config-server-tls", "credentialsName: bmc-0-secret", "pullSecretRef: {name: pull-secret}", "passwordFile=/etc/ironic/password", "tokenReview: true", "automountServiceAccountToken: false", "imagePullSecrets: [{name: default-dockercfg-x7k2p}]",
	"valueFrom: {secretKeyRef: {name: bmc-0, key: password}}", "kind: SecretList", "PasswordAuthentication no", "ChallengeResponseAuthentication no", "serviceAccountName: node-bootstrapper", "keyFile: /etc/kubernetes/pki/tls.key",
	"--kubeconfig=/etc/kubernetes/kubeconfig", "--tls-private-key-file=/etc/kubernetes/static-pod-resources/secrets/serving-certkey/tls.key", "--service-account-signing-key-file=/etc/sa.key", "tls.crt", "authorizationMode: Webhook",
	"EnvVar{Name:NODE_NAME,Value:m0,ValueFrom:nil,}", "EnvVar{Name:BMC_PASSWORD,Value:,ValueFrom:&EnvVarSource{FieldRef:nil,}", `{"name":"KUBERNETES_SERVICE_HOST","value":"172.30.0.1"}`, "- name: PORT\n  value: \"8080\"", "<name>value</name>", "<state>provisioned</state>",
	"<boot mode=\"uefi\"/>", "<memory unit='KiB'>8388608</memory>",
	// Addresses and command lines.
	"https://api-int.lark.example.com:22623/config/master", `GET error: Get "https://192.0.2.10:22623/config/worker": dial tcp 192.0.2.10:22623: connect: connection refused`, "https://api.lark.example.com:6443/healthz?timeout=5s", "git@github.com:openshift/origin.git",
	"ssh core@192.0.2.20", "redfish-virtualmedia://192.0.2.40/redfish/v1/Systems/1", "HTTP_PROXY=http://proxy.example.com:3128", "NO_PROXY=.cluster.local,.svc,10.0.0.0/16,192.0.2.0/24", "proxy: proxy.example.com:3128", "mailto:admin@example.com",
	"podman run -p 8080:80 registry.example.com/web", "oc get pods -n openshift-etcd -o wide", "curl -k -u https://192.0.2.40/redfish/v1", "ssh -p 2222 core@192.0.2.20", "oc adm node-logs m0 -u kubelet", "podman pull --authfile /var/lib/kubelet/config.json quay.io/x/y", "mysql -u root -h db ironic",
	"ipmitool -I lanplus -H 192.0.2.40 -U admin power status", "docker ps -a --no-trunc", "kubectl logs -p etcd-m0",
	// Lines of the programs that a diagnosis reads.
	"I0301 08:01:00.000001       1 render_controller.go:530] Generated machineconfig rendered-master-0123456789abcdef0123456789abcdef from 2 configs",
	"E0301 11:30:01.000000       1 csr_check.go:274] csr-w2: machine for node &ObjectReference{Kind:Node,Name:w2-old,} already has node ref, cannot approve",
	"ignition[751]: GET https://api-int.lark.example.com:22623/config/worker: attempt #12", "ignition[751]: GET result: Internal Server Error", "Unable to attach or mount volumes: unmounted volumes=[kube-api-access-x7k2p]",
	`certificate_manager.go:356] "Rotating certificates" logger="kubernetes.io/kube-apiserver-client-kubelet"`, "bootstrap.go:266] part of the existing bootstrap client certificate in /var/lib/kubelet/kubeconfig is expired: 2026-03-01 11:00:00 +0000 UTC",
	`E0301 10:00:05.000001       1 drain_controller.go:161] error when evicting pods/"cart-5d9f7" -n "shop" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.`,
	"Keepalived_vrrp[12]: (lark_API) Entering MASTER STATE", "(lark_API) received an invalid passwd!", "chronyd[900]: Selected source 192.0.2.5", "time.go:17:5: message", "host.example.com:6443:tcp:open", "etcd-m0: {\"level\":\"warn\",\"msg\":\"rejected connection\",\"error\":\"tls: bad certificate\"}",
	"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUfakecertificate0123456789abcdefghijklmnopqrs\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE REQUEST-----\nMIHkMIGLAgEAMCkxFTATBgNVBAoMDHN5c3RlbTpub2Rlcw0123456789abcdefgh\n-----END CERTIFICATE REQUEST-----",
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFakePublicKeyFakePublicKeyFakePublicKey core@lark",
}

// TestHarmless: what carries no secret is still there to be read.
func TestHarmless(t *testing.T) {
	texts := slices.Concat(harmless, lookAlikes, alikes, tabled)
	t.Logf("%d texts", len(texts))
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if got := s.Text(text); got != text {
			t.Errorf("Text: %q\nbecame %q", text, got)
		}
		stream := s.Lines()
		var out []string
		for _, line := range strings.Split(text, "\n") {
			out = append(out, stream.Line(line))
		}
		if got := strings.Join(out, "\n"); got != text {
			t.Errorf("Lines: %q\nbecame %q", text, got)
		}
	}
}

// stays wants that nothing is hidden in texts, as a whole and line by line.
func stays(t *testing.T, texts ...string) {
	t.Helper()
	s := sanitizer(t, "a")
	for _, text := range texts {
		if got := s.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		var lines []string
		of := s.Lines()
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, of.Line(line))
		}
		if got := strings.Join(lines, "\n"); got != text {
			t.Errorf("in lines %q became %q", text, got)
		}
	}
}
