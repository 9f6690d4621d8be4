package sanitize

import (
	"encoding/base64"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func sanitizer(t testing.TB, salt string) *Sanitizer {
	t.Helper()
	s, err := newSanitizer([]byte(salt))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func b64(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }

const (
	testJWT  = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl-_x"
	testKey  = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIplanted\n-----END EC PRIVATE KEY-----\n"
	testCert = "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUplanted\n-----END CERTIFICATE-----\n"
)

// wrap breaks a text into lines of 64 characters, as base64 does.
func wrap(v, with string) string {
	var lines []string
	for part := range slices.Chunk([]byte(v), 64) {
		lines = append(lines, string(part))
	}
	return strings.Join(lines, with)
}

// TestSecretsVanish holds the texts that secrets come in: the secret goes, the
// rest of the text stays readable.
func TestSecretsVanish(t *testing.T) {
	s := sanitizer(t, "salt")
	for text, secret := range map[string]string{
		"Bearer " + testJWT:                                                                   testJWT,
		"token: " + testJWT + " is expired":                                                   testJWT,
		"x_" + testJWT:                                                                        "eyJpc3MiOiJrdWJlcm5ldGVzIn0",
		"Authorization: Basic cm9vdDpjYWx2aW4=":                                               "cm9vdDpjYWx2aW4=",
		`"Authorization":["Bearer abcdefgh.ijk"]`:                                             "abcdefgh.ijk",
		"with basic cm9vdDpjYWx2aW4=":                                                         "cm9vdDpjYWx2aW4=",
		`{"auths":{"quay.io":{"auth":"b3BlbnNoaWZ0OnB1bGw=","email":""}}`:                     "b3BlbnNoaWZ0OnB1bGw=",
		`{\"auths\":{\"quay.io\":{\"auth\":\"b3BlbnNoaWZ0OnB1bGw=\"}}`:                        "b3BlbnNoaWZ0OnB1bGw=",
		`{\\\"auth\\\":\\\"b3BlbnNoaWZ0OnB1bGw=\\\"}`:                                         "b3BlbnNoaWZ0OnB1bGw=",
		"data:,%7B%22auths%22%3A%7B%22quay.io%22%3A%7B%22auth%22%3A%22b3BlbnNoaWZ0OnB1bGw=":   "b3BlbnNoaWZ0OnB1bGw=",
		"x%22auth%22%3A%22b3BlbnNoaWZ0%22":                                                    "b3BlbnNoaWZ0",
		"config: " + b64(`{"auths":{"q":{"auth":"x"}}}`):                                      b64(`{"auths":{"q":{"auth":"x"}}}`),
		"source: data:text/plain;charset=utf-8;base64,c2VjcmV0IGNvbnRlbnRz":                   "c2VjcmV0IGNvbnRlbnRz",
		"source: data:text/plain;charset=UTF-8;base64,c2VjcmV0IGNvbnRlbnRz":                   "c2VjcmV0IGNvbnRlbnRz",
		`source: DATA:text/plain;charset="utf-8";base64,c2VjcmV0IGNvbnRlbnRz`:                 "c2VjcmV0IGNvbnRlbnRz",
		`"source":"data:text/plain;charset=\"utf-8\";base64,c2VjcmV0IGNvbnRlbnRz"`:            "c2VjcmV0IGNvbnRlbnRz",
		`user: "kubeadmin", and password: "AbCdE-FgHiJ-KlMnO-PqRsT"`:                          "AbCdE-FgHiJ-KlMnO-PqRsT",
		`user: \"kubeadmin\", and password: \"AbCdE-FgHiJ-KlMnO\"`:                            "AbCdE-FgHiJ-KlMnO",
		"bmc:\n  username: root\n  password: calvin\n":                                        "calvin",
		"password: |\n    calvin\n":                                                           "calvin",
		"--bmc-password=calvin --verbose":                                                     "calvin",
		"IRONIC_PASSWORD=calvin":                                                              "calvin",
		"bootstrap token=07401b.f395accd246ae52d":                                             "07401b.f395accd246ae52d",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfi":                                "wJalrXUtnFEMI/K7MDENG+bPxRfi",
		"redfish://root:calvin@10.0.0.1/redfish/v1":                                           "calvin",
		"GET https://u:p%40ss@bmc.example.com: 401":                                           "p%40ss",
		"oauth sha256~Xp4ahqAbCdEfGhIjKlMnOpQrStUvWxYz012345678":                              "Xp4ahqAbCdEfGhIjKlMnOpQrStUvWxYz012345678",
		`core:$6$rounds=4096$salt$abcdefghijklmnop.qrstuv`:                                    "abcdefghijklmnop.qrstuv",
		`pullSecret: Required value: {"auths":{"q":{"auth":"hunter2"}}}`:                      "hunter2",
		`pullSecret: Invalid value: "hunter2-hunter2": must be JSON`:                          "hunter2",
		"pullSecret: Required value, pullSecret: hunter2hunter2":                              "hunter2",
		"pullSecret: Required value: dXNlcjpodW50ZXIyCg":                                      "dXNlcjpodW50ZXIyCg",
		"pullSecret: Required values-hunter2":                                                 "hunter2",
		"pullSecret: '{not even json at all}'":                                                "not even json",
		"client-key-data: LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0t":                           "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0t",
		"key: " + b64(testKey) + " end":                                                       b64("MHcCAQEEIplan")[4:12],
		testCert + testKey:                                                                    "MHcCAQEEIplanted",
		"-----BEGIN PRIVATE KEY-----\\nMIIEplanted and cut":                                   "MIIEplanted",
		"cmd --password s3cr3t -v":                                                            "s3cr3t",
		`cmd --bmc-password "two words" -v`:                                                   "words",
		"cmd --token abc-def-S3cr3t":                                                          "S3cr3t",
		"ipmitool -I lanplus -U root -P calvin power":                                         "calvin",
		"curl -k -u root:calvin https://192.0.2.1":                                            "calvin",
		"curl --user :calvin https://192.0.2.1":                                               "calvin",
		"data:,before%22auth%22%3A%22b3BlbnNoaWZ0%22after":                                    "after",
		"data:,x=password=abcdefgh&the-rest":                                                  "the-rest",
		`pullSecret: {"auths":{"q":{"auth":"abcdefgh"},"r":{"identitytoken":"t0ken-t0ken"}}}`: "t0ken-t0ken",
		"pull_secret=aaaa [redacted x] hunter2-hunter2":                                       "hunter2",
		"password: [redacted hunter2":                                                         "hunter2",
		"password: [redacted 0123456789abcdef, hunter2 bytes]":                                "hunter2",
		"cfg " + b64(`{ "auths": {"quay.io":{"auth":"b3BlbnNoaWZ0"}}}`):                       b64("quay.io")[:6],
		"cfg " + b64(`{"registry.svc:5000":{"username":"x","password":"calvin"}}`):            b64("registry")[:6],
		"path/" + b64("users:\n- user:\n    token: abc123def456ghi\n"):                        b64("users:\n- user:\n")[4:],
		"value " + b64(testJWT):                                                               b64(testJWT)[:20],
		"value " + b64("sha256~Xp4ahqAbCdEfGhIjKlMnOpQrStU"):                                  b64("sha256~Xp4ahqAbCdEf")[:20],
		"tls " + b64("\n"+testKey):                                                            b64("\n" + testKey)[:20],
		"tls " + b64(testCert+testKey):                                                        b64(testCert + testKey)[:20],
		"tls:\n  " + wrap(b64(testCert+strings.Repeat("x", 90)+testKey), "\n  ") + "\nclient-key-data: c2VjcmV0IGNvbnRlbnRz": b64(testKey)[len(b64(testKey))-8:],
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nplanted\n-----END PGP PRIVATE KEY BLOCK-----":                                "planted",
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4\n-----END X\nplanted\n-----END RSA PRIVATE KEY-----":                  "planted",
		"-----BEGIN RSA PRIVATE KEY-----\n" + testCert + "planted2\n-----END RSA PRIVATE KEY-----":                           "planted2",
		"redfish://admin:a/calvin@192.0.2.1/redfish/v1":                                                                      "calvin",
		"redfish://admin:p@calvin@192.0.2.1/redfish/v1":                                                                      "calvin",
		"redfish://admin:calvin:p@192.0.2.1/redfish/v1":                                                                      "calvin",
		"redfish://:calvin@192.0.2.1/redfish/v1":                                                                             "calvin",
		"clone https://ghp0abcDEF123456@github.com/x":                                                                        "ghp0abcDEF123456",
		"from https://10.0.0.1:2379,https://root:calvin@10.0.0.2":                                                            "calvin",
		`password: "two calvin"`:                                         "calvin",
		"password: ab,calvin":                                            "calvin",
		"password='a;calvin'":                                            "calvin",
		"user: kubeadmin, password is AbCdE-FgH1J-KlMnO-PqRsT":           "AbCdE-FgH1J",
		"auth: b3BlbnNoaWZ0OnB1bGw=":                                     "b3BlbnNoaWZ0OnB1bGw=",
		"map[auths:map[quay.io:map[auth:b3BlbnNoaWZ0OnB1bGw= email:x]]]": "b3BlbnNoaWZ0OnB1bGw=",
		`{\u0022auth\u0022:\u0022b3BlbnNoaWZ0\u0022}`:                    "b3BlbnNoaWZ0",
		"Cookie: session=abcdef123456":                                   "abcdef123456",
		"Set-Cookie: ssn=S3cr3tS3cr3t; path=/":                           "S3cr3tS3cr3t",
		"https://s3/x?X-Amz-Signature=abcdef123456&x=y":                  "abcdef123456",
		"map[X-Auth-Token:[abcdef123456]]":                               "abcdef123456",
		"token: abc-def-S3cr3tS3cr3t":                                    "S3cr3t",
		"use token 07401b.f395accd246ae52d to join":                      "f395accd246ae52d",
		"password: |-\n    calvin\n    second\nnext: x":                  "second",
		"\"password\":\n  \"calvin\"":                                    "calvin",
	} {
		got := s.Text(text)
		if strings.Contains(got, secret) || !strings.Contains(got, redactedPrefix) {
			t.Errorf("Text(%q) = %q", text, got)
		}
		if again := sanitizer(t, "other").Text(got); again != got {
			t.Errorf("sanitising twice changes %q to %q", got, again)
		}
	}
}

// TestLookAlikesStay holds what a person needs to read.
func TestLookAlikesStay(t *testing.T) {
	s := sanitizer(t, "salt")
	for _, text := range []string{
		"ignition server: 511 Token not found", "token: expired", "Unable to authenticate the request: invalid bearer token, the token has expired",
		`failed to get secret node-bootstrapper-token: secrets "node-bootstrapper-token" is forbidden`,
		`MountVolume.SetUp failed for volume "kube-api-access": secret "node-bootstrapper-token-x7k2p" not found`,
		"secret: openshift-machine-config-operator/node-bootstrapper-token-x7k2p",
		`machineconfig.machineconfiguration.openshift.io "rendered-master-0123456789abcdef0123456789abcdef" not found`,
		"secret: rendered-master-0123456789abcdef0123456789abcdef",
		"quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c7c12",
		"digest sha256:415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c7c12",
		testCert, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIplanted core@host", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n",
		"GET https://api-int.example.com:22623/config/master", "Get \"https://[fd00::1]:6443/api?timeout=32s\": dial tcp [fd00::1]:6443: connect: connection refused",
		"authorization mode Node,RBAC", "basic authentication is off", "x509: certificate signed by unknown authority",
		"system:serviceaccount:openshift-machine-config-operator:node-bootstrapper", "userDataSecret:\n  name: master-user-data-managed",
		"tokens: 5, passwords were not asked for", "credentialsName: control1-bmc-secret", "metadata: x", "the data: none", "volumes:\n- secret:\n    secretName: etcd-serving-cert-1",
		"pulled quay.io/openshift-release-dev/ocp-release:4.16.3-x86_64 by docker://quay.io/ns/img@sha256:415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c7c12",
		"docker://registry.example.com:5000/ns/img@sha256:415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c7c12", "ssh://core@192.0.2.1", "qemu+ssh://root@192.0.2.1/system",
		"https://api.example.com:6443/readyz?verbose, ask admin@example.com", "https://10.0.0.1:2379,https://10.0.0.2:2379",
		"token: /var/run/secrets/kubernetes.io/serviceaccount/token", "bootstrap token secret not found", "the --token flag is needed", "with --password flag", "scp -P 22 x core@h:", "mkdir -p /etc/kubernetes",
		"curl -s https://192.0.2.1:6443/healthz", "password is required", "password:\n  secretRef: bmc-0", "token:\n    expirationSeconds: 3600", "secret: some-name", "secret:\n  name: some-name",
		"auth: failed", "auth:\n  mode: x", "cookie: none", "credentials: bmc-secret-1", "token: https://api.example.com/x1 is not answering", "caBundle: " + b64(testCert+testCert),
		"sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709 of /usr/lib/modules/5.14.0-427.el9.x86_64/kernel/drivers/net/ethernet", "text " + b64("only a note about what was done yesterday"),
		"pullSecret: Required value", `level=fatal msg="failed to load: invalid \"install-config.yaml\" file: pullSecret: Required value"`, "pullSecret: Forbidden: may not be set here",
		"[pullSecret: Required value: it is needed to pull images, sshKey: Required value]",
		"imagePullSecrets:\n- name: pull-secret", "machineConfigDiff{osUpdate:true kargs:false fips:false passwd:false files:true}",
	} {
		if got := s.Text(text); got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}

func TestDigestsCompare(t *testing.T) {
	s := sanitizer(t, "salt")
	a, b, c := s.Text("password: one11"), s.Text("x password=one11"), s.Text("password: two22")
	value := func(v string) string { return v[strings.Index(v, redactedPrefix):] }
	if value(a) != value(b) || value(a) == value(c) {
		t.Errorf("equal secrets must have equal digests and others not: %q, %q, %q", a, b, c)
	}
	if value(sanitizer(t, "another").Text("password: one11")) == value(a) {
		t.Error("a digest does not depend on the salt")
	}
	one, err := New()
	if err != nil {
		t.Fatal(err)
	}
	two, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if one.Text("password: one11") == two.Text("password: one11") {
		t.Error("two sanitizers have the same salt")
	}
}

func TestLines(t *testing.T) {
	s := sanitizer(t, "salt").Lines()
	var got []string
	for line := range strings.Lines("a\nkey: -----BEGIN RSA PRIVATE KEY-----\n2026-01-01T00:00:00Z MIIE\nMIIF\n-----END RSA PRIVATE KEY-----\nb\n" +
		strings.ReplaceAll(testCert, "\n", " ") + "-----BEGIN PRIVATE KEY-----\nMIIG\n-----END PRIVATE KEY-----\n" + testCert) {
		got = append(got, s.Line(strings.TrimSuffix(line, "\n")))
	}
	line := "[redacted line of a private key]"
	want := []string{"a", "key: [redacted private key]", line, line, line, "b",
		strings.ReplaceAll(testCert, "\n", " ") + "[redacted private key]", line, line,
		"-----BEGIN CERTIFICATE-----", "MIIBszCCAVmgAwIBAgIUplanted", "-----END CERTIFICATE-----"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := sanitizer(t, "other").Lines()
	for _, v := range got {
		if r := again.Line(v); r != v {
			t.Errorf("a replayed line changes from %q to %q", v, r)
		}
	}
	s = s.Lines()
	s.Line("-----BEGIN PRIVATE KEY-----")
	lines := 0
	for s.Line("evidence") != "evidence" {
		if lines++; lines > 10*maxKeyLines {
			t.Fatal("a key without an end hides the rest of the log")
		}
	}
}

func TestSanitizeObjects(t *testing.T) {
	s := sanitizer(t, "salt")
	for name, c := range map[string]struct {
		r       evidence.Resource
		content map[string]any
		gone    []string
		kept    []string
	}{
		"secret": {evidence.Secrets, map[string]any{"data": map[string]any{
			"password": b64("calvin"), "tls.crt": b64(testCert), "ca.crt": b64("calvin"), "service-ca.crt": b64(testCert + testKey), "elided": b64("1704 bytes long")},
			"stringData": map[string]any{"x": "calvin-two"}},
			[]string{b64("calvin"), b64(testKey)[:20], "calvin"}, []string{b64(testCert), "by the collector, 1704 bytes"}},
		"machine config": {evidence.MachineConfigs, map[string]any{"metadata": map[string]any{"name": "rendered-master-0123"}, "spec": map[string]any{"kernelArguments": []any{"quiet"}, "config": map[string]any{
			"storage": map[string]any{"files": []any{map[string]any{"path": "/etc/x", "contents": map[string]any{"source": "data:,short"}}}},
			"passwd":  map[string]any{"users": []any{map[string]any{"name": "core", "passwordHash": "hash", "sshAuthorizedKeys": []any{"ssh-rsa AAAA"}}}},
			"systemd": map[string]any{"units": []any{map[string]any{"name": "a.service", "contents": "[Unit]", "dropins": []any{map[string]any{"contents": "[Service]"}}}}}}}},
			[]string{"short", `"hash"`, "ssh-rsa", "[Unit]", "[Service]"}, []string{"/etc/x", "core", "a.service", "quiet", "rendered-master-0123"}},
		"config map": {evidence.ConfigMaps, map[string]any{"data": map[string]any{"ca": testCert, "key": testKey, "token": "abc", "kubeconfig": "users:\n- user:\n    token: abc123def456\n"}},
			[]string{"MHcCAQEEIplanted", "abc123def456", `"abc"`}, []string{"MIIBszCCAVmgAwIBAgIUplanted", "users:"}},
		"controller config": {evidence.ControllerConfigs, map[string]any{"spec": map[string]any{"internalRegistryPullSecret": "eyJpbWFnZSI6", "pullSecret": map[string]any{"name": "pull-secret"}}},
			[]string{"eyJpbWFnZSI6"}, []string{"pull-secret"}},
		"pod": {evidence.Pods, map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"env": []any{map[string]any{"name": "IPMI_PASSWORD", "value": "calvin"}, map[string]any{"name": "TOKEN_NAME", "value": "kept-one"},
				map[string]any{"name": "DB_PASSWORD", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "kept-two", "key": "kept-key"}}}},
			"args":    []any{"--password", "calvin", "--token", "abc123DEF456", "--v", "4", "--auth-token=calvin1calvin1"},
			"command": []any{"ipmitool", "-U", "root", "-P", "calvin"}, "curl": []any{"/usr/bin/curl", "-u", "root:calvin"}}},
			"volumes": []any{map[string]any{"secret": map[string]any{"secretName": "kept-three"}}}, "serviceAccountToken": map[string]any{"path": "token", "audience": "kept-four"}}},
			[]string{"calvin", "abc123DEF456"}, []string{"IPMI_PASSWORD", "kept-one", "kept-two", "kept-key", "kept-three", "kept-four", "ipmitool", `"4"`, "root:"}},
		"names": {evidence.ConfigMaps, map[string]any{"data": map[string]any{"bmc-password": "calvin", "passwordFile": "/etc/kept", "tokenSecret": "kept-five"},
			"spec": map[string]any{"bmcPassword": "calvin", "ipmiPassword": "calvin", "admin_password": "calvin", "password": map[string]any{"value": "calvin", "secretRef": map[string]any{"name": "kept-six"}},
				"more": map[string]any{"password": []any{"calvin", int64(4711)}, "passwd": false}, "auth": "failed", "secret": "node-bootstrapper-token-x7k2p"},
			"binaryData": map[string]any{"key": b64("x\n" + testKey), "ca": b64(testCert)}},
			[]string{"calvin", "4711", b64("x\n" + testKey)[:20]}, []string{"/etc/kept", "kept-five", "kept-six", "failed", "node-bootstrapper-token-x7k2p", b64(testCert)}},
		"secret's notes": {evidence.Secrets, map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"openshift.io/token-secret.value": "calvin", "x/y": "calvin", "auth.openshift.io/certificate-not-after": "2036-01-01T00:00:00Z"}},
			"data": map[string]any{"ca.crt": b64(testCert + "calvin"), "tls.crt": b64("# root of x\n" + testCert), "service-ca.crt": b64("# password: calvin\n" + testCert), "a": map[string]any{"b": "calvin"}}},
			[]string{"calvin", b64(testCert + "calvin")}, []string{"2036-01-01T00:00:00Z", b64("# root of x\n" + testCert), "token-secret.value"}},
		"headers and kernel arguments": {evidence.MachineConfigs, map[string]any{"spec": map[string]any{"kernelArguments": []any{"rd.password=calvin", "ip=dhcp", "coreos.token=calvin", "quiet"}, "config": map[string]any{
			"storage": map[string]any{"files": []any{map[string]any{"contents": map[string]any{"httpHeaders": []any{map[string]any{"name": "X-Kept", "value": "calvin"}}}}}}}}},
			[]string{"calvin"}, []string{"X-Kept", "ip=dhcp", "quiet", "rd.password="}},
		"names, in a list and short": {evidence.Pods, map[string]any{"env": []any{map[string]any{"name": "DB_PASS", "value": "hunter2"}, map[string]any{"name": "DB_PWD", "value": "hunter2"},
			map[string]any{"name": "PWD", "value": "/kept/dir1"}}, "passwords": []any{"hunter2", "calvin"}, "accessToken": []any{"hunter2"}, "X-Auth-Token": []any{"hunter2", "kept-word"},
			"wifi": map[string]any{"psk": "calvin"}, "AccountKey": "calvin", "bypass": "kept1", "tokens": int64(5)},
			[]string{"hunter2", "calvin"}, []string{"DB_PASS", "/kept/dir1", "kept-word", "kept1"}},
		"secrets under another name": {evidence.ConfigMaps, map[string]any{"kind": "List", "items": []any{
			map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"key": b64("hunter2")}},
			map[string]any{"kind": "Secret", "metadata": map[string]any{"annotations": map[string]any{"x/y": "calvin"}}, "stringData": map[string]any{"x": "calvin"}},
			map[string]any{"kind": "SecretList", "items": []any{map[string]any{"data": map[string]any{"tls.crt": b64(testCert), "x": b64("calvin")}}, nil, "kept-eight"}},
			map[string]any{"kind": "MachineConfig", "spec": map[string]any{"config": map[string]any{"storage": map[string]any{"files": []any{
				map[string]any{"path": "/etc/x", "contents": map[string]any{"source": "data:,calvin"}}}}}}},
			map[string]any{"kind": "Event", "involvedObject": map[string]any{"kind": "Secret", "name": "kept-seven"}}}},
			[]string{b64("hunter2"), "calvin", b64("calvin")}, []string{b64(testCert), "/etc/x", "kept-seven", "kept-eight"}},
		"a secret filed as a config map":         {evidence.ConfigMaps, map[string]any{"kind": "Secret", "data": map[string]any{"key": b64("hunter2")}}, []string{b64("hunter2")}, nil},
		"a secret that says to be something":     {evidence.Secrets, map[string]any{"kind": "MachineConfig", "data": map[string]any{"key": b64("hunter2")}}, []string{b64("hunter2")}, nil},
		"a machine config filed as a config map": {evidence.ConfigMaps, map[string]any{"kind": "MachineConfig", "spec": map[string]any{"config": "calvin"}}, []string{"calvin"}, nil},
		"config as a string":                     {evidence.MachineConfigs, map[string]any{"spec": map[string]any{"config": "calvin"}}, []string{"calvin"}, nil},
		"annotations": {evidence.Nodes, map[string]any{"metadata": map[string]any{"managedFields": []any{"mf"}, "annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": "applied", "machineconfiguration.openshift.io/state": "Done"}}},
			[]string{`"applied"`, "mf"}, []string{"Done"}},
		"writes": {evidence.MachineConfigPools, map[string]any{"metadata": map[string]any{"managedFields": []any{"mf", map[string]any{"fieldsV1": "calvin"}, map[string]any{
			"manager": "oc", "operation": "Update", "time": "2026-03-01T11:00:00Z", "fieldsV1": map[string]any{"f:spec": map[string]any{"calvin": "x"}}}}}},
			[]string{"calvin", "mf", "fieldsV1"}, []string{"2026-03-01T11:00:00Z", "oc"}},
		"no object at all": {evidence.Secrets, map[string]any{"data": "x", "stringData": []any{"y"}, "metadata": []any{}}, []string{`"x"`, `"y"`}, nil},
	} {
		o := evidence.Object{Resource: c.r, Content: c.content}
		s.Object(o.Resource.Group, o.Resource.Name, o.Content)
		text := dump(o.Content)
		for _, secret := range c.gone {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q is left in %s", name, secret, text)
			}
		}
		for _, kept := range c.kept {
			if !strings.Contains(text, kept) {
				t.Errorf("%s: %q is gone from %s", name, kept, text)
			}
		}
		before := dump(o.Content)
		sanitizer(t, "other").Object(o.Resource.Group, o.Resource.Name, o.Content)
		if after := dump(o.Content); after != before {
			t.Errorf("%s: sanitising twice changes %s to %s", name, before, after)
		}
	}
}

func TestRedacted(t *testing.T) {
	for v, want := range map[string]bool{
		"[redacted 0123456789abcdef, 5 bytes]": true, "[redacted by the collector, 1704 bytes]": true, "[redacted unread, 13 bytes]": true,
		"[redacted line of a private key]": true, "[redacted private key]": true, "[redacted hunter2": false, "[redacted hunter2]": false,
		"[redacted unread, 13 bytes] hunter2": false, "x [redacted private key]": false, "": false,
	} {
		if got := Redacted(v); got != want {
			t.Errorf("Redacted(%q) = %t", v, got)
		}
	}
}

// TestSecretsOverLines holds secrets whose name stands on a line before, and what
// must not be taken for such a one.
func TestSecretsOverLines(t *testing.T) {
	for in, want := range map[string]string{
		"password: |\n  calvin\n  second\nend: x":                                                              "password: |\n  #\n  #\nend: x",
		"\"password\":\n  \"calvin\"\n\"end\"":                                                                 "\"password\":\n  \"#\"\n\"end\"",
		"2026-11-20T12:00:00Z stderr F password: |\n2026-11-20T12:00:00Z stderr F   calvin\nend":               "2026-11-20T12:00:00Z stderr F password: |\n2026-11-20T12:00:00Z stderr F   #\nend",
		"-----BEGIN RSA PRIVATE KEY-----\nx\n-----END CERTIFICATE-----\ny\n-----END RSA PRIVATE KEY-----\nend": "[redacted private key]\n!\n!\n!\n!\nend",
		"password:\n  it's-hunter2\nend":                                                                       "password:\n  #\nend",
		"password:\n  ab}hunter2,x\nend":                                                                       "password:\n  #\nend",
		"password:\n  \"a\\\"hunter2\"\nend":                                                                   "password:\n  \"#\"\nend",
		"password:\n  'it''s hunter2'\nend":                                                                    "password:\n  '#'\nend",
		"password:\n  {name: x}\nend":                                                                          "password:\n  {name: x}\nend",
		"invalid password:\nI1120 sync.go:99] nothing to do":                                                   "invalid password:\nI1120 sync.go:99] nothing to do",
		"token:\n  expirationSeconds: 3600":                                                                    "token:\n  expirationSeconds: 3600",
		"- secret:\n    some-name":                                                                             "- secret:\n    some-name",
		"password:\n  secretRef:\n    name: x":                                                                 "password:\n  secretRef:\n    name: x",
		"password: |\nnot deeper":                                                                              "password: |\nnot deeper",
	} {
		s := sanitizer(t, "salt").Lines()
		var got []string
		for line := range strings.SplitSeq(in, "\n") {
			s.Spans([]byte(line))
			got = append(got, s.Line(line))
		}
		again := sanitizer(t, "other").Lines()
		for i, line := range got {
			if r := again.Line(line); r != line {
				t.Errorf("a replayed line changes from %q to %q", line, r)
			}
			got[i] = digests.ReplaceAllString(strings.ReplaceAll(line, "[redacted line of a private key]", "!"), "#")
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}

var digests = regexp.MustCompile(`\[redacted [0-9a-f]{16}, \d+ bytes\]`)

// dump prints strings as they are, with quotes around them.
func dump(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(`"` + k + `": ` + dump(v[k]) + " ")
		}
		return b.String()
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(dump(e) + " ")
		}
		return b.String()
	case string:
		return `"` + v + `"`
	}
	return reflect.ValueOf(v).String()
}

func FuzzSanitize(f *testing.F) {
	f.Add("password: x1234567, token=abcdefgh12 https://a:b@c "+testJWT, "-----BEGIN PRIVATE KEY-----")
	f.Fuzz(func(t *testing.T, text, line string) {
		once := sanitizer(t, "a").Text(text)
		if twice := sanitizer(t, "b").Text(once); twice != once {
			t.Errorf("sanitising %q twice changes %q to %q", text, once, twice)
		}
		l := sanitizer(t, "a").Lines()
		l.Line(line)
		l.Line(text)
	})
}

// TestHexDigestHidesNothing proves what hexDigest says: in no alignment do four digits
// in hexadecimal, read as base64, give a character that every secret looked for has.
func TestHexDigestHidesNothing(t *testing.T) {
	const digits = "0123456789abcdef"
	for i := range len(digits) * len(digits) * len(digits) * len(digits) {
		four := string([]byte{digits[i&15], digits[i>>4&15], digits[i>>8&15], digits[i>>12&15]})
		raw, err := base64.StdEncoding.DecodeString(four)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(raw), `aepP"/`) {
			t.Fatalf("%s is %q", four, raw)
		}
	}
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	digest := "quay.io/a/b@sha256:" + strings.Repeat("0123456789abcdef", 4)
	secret := base64.StdEncoding.EncodeToString([]byte(`{"auths":{"quay.io":{"auth":"dXNlcjpwYXNzd29yZA=="}}}`))
	if got := s.Text(digest); got != digest {
		t.Errorf("a digest became %s", got)
	}
	if got := s.Text(digest + " " + secret); strings.Contains(got, secret) || !strings.HasPrefix(got, digest) {
		t.Errorf("beside a digest: %s", got)
	}
}
