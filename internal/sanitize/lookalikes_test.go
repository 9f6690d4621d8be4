package sanitize

// lookAlikes are random, or stand beside the name of a secret, and are none. TestHarmless reads
// them with the rest.
var lookAlikes = []string{
	// Digests, IDs and serial numbers.
	"imageID: quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:7c1e5f0a9b3d2846e5c7f19a0b8d6e4c2a1f3b5d7e9c8a6b4d2f0e1c3a5b7d9f", `"resourceVersion":"98765432109"`, "uid: 0242ac11-7c3d-4e8a-9f12-3b4c5d6e7f80",
	"currentConfig: rendered-worker-9f86d081884c7d659a2feaa0c55ad015", "machineconfiguration.openshift.io/desiredConfig: rendered-master-5d41402abc4b2a76b9719d911017c592",
	"hostID: 1b4e28ba-2fa1-11d2-883f-0016d3cca427", "infraID: lark-7h2kq", "clusterID: 7d793037-a076-4c5e-a1b2-0242ac110002", "providerID: baremetalhost:///openshift-machine-api/m0/6f1c2a7e-0c55-4f8d-9d0c-6c2f8f4f3a10",
	"SHA256 Fingerprint=3B:18:E5:12:DB:A7:9E:4C:83:00:DD:08:AE:B3:7F:8E:72:8B:8D:AD:3B:18:E5:12:DB:A7:9E:4C:83:00:DD:08", "X509v3 Subject Key Identifier: 4B:2A:76:B9:71:9D:91:10:17:C5:92", "issuer=CN = kube-csr-signer_@1764230400",
	"Serial Number: 4835703278459682885", "serialNumber: 7CZ9X13", "wwid: naa.600508b1001c8e5f9a1b2c3d4e5f6071", "eui.0025385b01b0a4c1", "/dev/disk/by-id/nvme-SAMSUNG_MZQL21T9HCJR-00A07_S64GNE0T123456", "rotational: false, serialNumber: PHYG1234005Q480BGN",
	"node-role.kubernetes.io/master: \"\"", "leader election: m0_9a7c6b5d-4e3f-2a1b-8c9d-0e1f2a3b4c5d became leader", "ovn chassis: 0e1f2a3b-4c5d-6e7f-8a9b-0c1d2e3f4a5b", "etcd member 8e9e05c52164694d is starting a new election at term 7", "raft: cdf818194e3a8c32 became leader",
	"goroutine 87 [running]: main.main() 0xc0007ade00", "map[cert-dir:0xc0006d7e00 cert-secrets:0xc0006d7c20]", "generation: 3, observedGeneration: 3", "csr-8x2lp", "system:node:m0", "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7",
	"aws:request-id 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "bootID: 5e6f7a8b-9c0d-1e2f-3a4b-5c6d7e8f9a0b, kernel 5.14.0-427.13.1.el9_4.x86_64", "systemd[1]: Created slice libcontainer container kubepods-burstable-pod0242ac117c3d4e8a9f123b4c5d6e7f80.slice.",
	// Names of Secrets and of what refers to one.
	"secret/node-bootstrapper-token", "secret: router-certs-x7k2p", "tlsSecret: ingress-certs-2024-q3", "userDataSecret: {name: worker-user-data-managed}", "credentialsSecret: aws-cloud-credentials", "pullSecret: {name: assisted-deployment-pull-secret}",
	"etcd-all-certs-12", "secretRef: bmc-m0-7h2kq", `secret "bmc-m0-7h2kq" in namespace "openshift-machine-api" has no key "password"`, "could not read secret openshift-config/htpass-secret", "token: node-bootstrapper-token", "tokenSecretName: token-workers-0a1b2c3d",
	"Failed to watch *v1.Secret: failed to list *v1.Secret: secrets is forbidden: User \"system:node:m0\" cannot list resource \"secrets\"", "Starting reflector *v1.Secret (10m37.636795318s) from k8s.io/client-go/informers/factory.go:150",
	"MountVolume.SetUp succeeded for volume \"secrets\" (UniqueName: \"kubernetes.io/host-path/586901c364e269dc76cbe66b309f7447-secrets\") pod \"586901c364e269dc76cbe66b309f7447\"",
	"(OuterVolumeSpecName: \"node-pullsecrets\") pod \"611f537f-21ac-4c6a-9866-b0f37864182e\"", "secrets: etcd-all-certs-0]\" to \"EtcdMembersControllerDegraded: node lister not synced\"", "reason: InvalidObjectStorageSecret",
	"while getting AWS credentials NoCredentialProviders: no valid providers in chain", "authEncryptionKey: HeatAuthEncryptionKey", "credential-provider: ecr", "credentialsMode: Manual", "secretType: kubernetes.io/service-account-token", "kind: Secret",
	"token: \"${SERVICEACCOUNT_TOKEN}\"", "password: $(BMC_PASSWORD)", "password: {{ .Values.password }}", "--token-ttl=24h0m0s", "tokenTTL: 86400", "accessTokenMaxAgeSeconds: 86400", "accessTokenInactivityTimeout: 10m0s",
	// Keys that are none.
	"key: node.kubernetes.io/unreachable", "- key: node-role.kubernetes.io/infra", "topologyKey: kubernetes.io/hostname", "keyID: 0x9a7c6b5d", "sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJmVhcXkGr0fQ1bZsTn4uLd8EoPp7wYxCvB5NmHkT2Qa core@lark", "publicKey: MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=",
	"signingKeyPath: /etc/kubernetes/sa.key", "sshKeyPath: /home/core/.ssh/id_ed25519", "privateKey: /etc/pki/tls/private/server.key", "keyFile: /var/lib/kubelet/pki/kubelet-server-current.pem", "tls-private-key-file: /etc/serving/tls.key", "client-key: /etc/kubernetes/static-pod-certs/tls.key",
	"gpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-redhat-release", "primaryKey: id", "hostKey: ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDc", "cacheKey: 9f86d081884c7d659a2feaa0c55ad015", "monkey: 42", "key-mgmt=wpa-psk", "missing key 'config.json' in ConfigMap", "foreignKey: hosts.id",
	"cipher suites: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "client-cert-auth = true, crl-file = , cipher-suites = [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]", "Key Usage: Digital Signature, Key Encipherment",
	// Sentences with such words.
	"Token Rotation: every 5.5 hours", "the token is no longer valid", "token lookup failed", "tokens are critical for the rotation", "token controller1 restarted", "no token in the request", "a token of node m0 was used", "password of user root is expired since 2026-03-01T08:00:00Z",
	"the password was changed 3 days ago", "password is required", "password must be set", "Failed password for root from 192.0.2.7 port 51234 ssh2", "Accepted publickey for core from 192.0.2.7 port 51234 ssh2: ED25519 SHA256:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE",
	"pam_unix(sudo:auth): authentication failure; logname= uid=1000", "sudo: a password is required", "credentials are not valid for BMC m0", "credentials expired", "passphrase: not set", "wrong password for admin", "password authentication is disabled on this host",
	"reset the password with ipmitool user set password", "(lark_API) received an invalid passwd!", "auth: rejected 3 times", "authentication: OIDC", "authorizationMode=Webhook", "authType: basic", "Unauthorized: token expired 2026-11-23T01:02:03Z", "secret key not found: tls.key", "api key is missing",
	"the key is too small", "no key found", "host key verification failed", "key exchange failed: kex_exchange_identification", "access denied: missing scope", "bypass: 10.0.0.1:8080", "compass rose", "HTTP/1.1 401 Unauthorized, WWW-Authenticate: Basic realm=\"iDRAC\"",
	// Conditions, versions, times, addresses, paths and commands.
	"AuthenticationDegraded: OAuthServerRouteEndpointAccessibleControllerDegraded", "KubeletConfigOK", "EtcdCertSignerControllerDegraded", "NodeControllerDegraded: The master nodes not ready: node \"m0\" not ready", "Reason: FailedDrain", "lastTransitionTime: 2026-11-23T01:02:03Z",
	"version: 4.20.4", "v1beta1", "OpenShift 4.20.0-rc.3", "kubelet v1.33.5+b8c1f9a", "10.128.0.0/14", "fd01:0:0:1::/64", "52:54:00:9a:7c:6b", "api-int.lark.example.com:22623", "registry.example.com:5000/ocp4/openshift4@sha256:abcd",
	"/var/lib/kubelet/pods/0242ac11-7c3d-4e8a-9f12-3b4c5d6e7f80/volumes/kubernetes.io~projected/kube-api-access-x7k2p", "/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/lb-int.kubeconfig", "/run/secrets/kubernetes.io/serviceaccount/token",
	"podman login --authfile /root/.docker/config.json quay.io", "oc extract secret/pull-secret -n openshift-config --to=-", "oc get secret -n openshift-machine-api -o name", "echo done | tee /tmp/log", "curl -s http://192.0.2.5:5050/v1/nodes/detail?limit=100", "ipmitool user list 1", "systemctl restart kubelet && journalctl -fu crio",
	"oc create secret generic bmc --from-file=password=/tmp/pw", "ssh-keygen -t ed25519 -f id", "openssl x509 -noout -text -in tls.crt", "chage -l core", "virsh list --all", "quick-brown-foxes-jumpy", "aaaaa-bbbbb-ccccc-ddddd", "NAME   TYPE                                  DATA   AGE\nbmc-m0   Opaque   2   3d1h", "| secret | data |\n|---|---|\n| pull-secret | 1 |",
	"data: 12 items", "metadata: {name: x}", "user-data: worker-user-data", "nextToken: none", "cookie: none", "proxy: proxy.example.com:3128", "httpsProxy: http://[fd00::7]:3128", "noProxy: .cluster.local,.svc,10.0.0.0/16", "dsn: file:/var/lib/ironic/ironic.db",
}
