package collect

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// The planted values. None of them, in no spelling, may be in a collection.
const (
	pullAuth    = "b3BlbnNoaWZ0OnBsYW50ZWQtcHVsbC1zZWNyZXQ="
	jwt         = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.c2lnbmF0dXJlLXBsYW50ZWQ"
	keyBody     = "MIIEpAIBAAKCAQEAplantedplantedplantedplanted"
	bmcPassword = "planted-calvin-1"
	bootToken   = "07401b.f395accdplanted1"
	sshKey      = "AAAAC3NzaC1lZDI1NTE5AAAAIplantedplanted"
	// A PKCS#8 key and a PKCS#12 store in base64, without PEM around them.
	derKey   = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgplantedplantedplantedplantedplanted0000"
	keyStore = "MIIKQQIBAzCCCgcGCSqGSIb3DQEHAaCCCfgJplantedplantedplantedplantedplantedplantedplanted00"
)

const privateKey = "-----BEGIN RSA PRIVATE KEY-----\n" + keyBody + "\n-----END RSA PRIVATE KEY-----\n"

const pullSecret = `{"auths":{"quay.io":{"auth":"` + pullAuth + `","email":"a@b.c"}}}`

const certificate = "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUstays\n-----END CERTIFICATE-----\n"

func b64(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }

func gzipOf(v string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(v)) // a buffer takes everything
	_ = z.Close()
	return b.String()
}

func leaky() *fake {
	f := &fake{objects: map[evidence.Need][]evidence.Object{}, missing: map[string]*evidence.Unavailable{}}
	add := func(r evidence.Resource, ns, name string, content map[string]any) {
		o := object(r, ns, name, content)
		n := evidence.Objects(r, ns)
		f.objects[n] = append(f.objects[n], o)
	}
	file := func(path, source string) map[string]any {
		return map[string]any{"path": path, "contents": map[string]any{"source": source}}
	}
	add(evidence.MachineConfigs, "", "rendered-master-0123456789abcdef0123456789abcdef", map[string]any{"spec": map[string]any{"config": map[string]any{
		"storage": map[string]any{"files": []any{
			file("/var/lib/kubelet/config.json", "data:,"+url.QueryEscape(pullSecret)),
			file("/etc/a", "data:text/plain;charset=utf-8;base64,"+b64(pullSecret)),
			file("/etc/gzip", "data:;base64,"+b64(gzipOf(pullSecret))),
			file("/etc/kubernetes/kubeconfig", "data:,"+url.PathEscape("token: "+bootToken)),
		}},
		"systemd": map[string]any{"units": []any{map[string]any{"name": "x.service", "contents": "Environment=BMC_PASSWORD=" + bmcPassword}}},
		"passwd":  map[string]any{"users": []any{map[string]any{"name": "core", "sshAuthorizedKeys": []any{"ssh-ed25519 " + sshKey}, "passwordHash": "$6$planted"}}},
	}}})
	add(evidence.ConfigMaps, "ns1", "cm", map[string]any{"data": map[string]any{
		"key.pem": privateKey, "ca-bundle.crt": certificate, "install-config": "pullSecret: '" + pullSecret + "'\nbmc:\n  username: root\n  password: " + bmcPassword + "\n",
	}})
	add(evidence.ConfigMaps, "ns1", "binary", map[string]any{
		"data":       map[string]any{"userData": "#cloud-config", "content": b64(gzipOf("password: " + bmcPassword + "\n" + strings.Repeat("x: y\n", 40))), "key.der": derKey},
		"binaryData": map[string]any{"keystore.p12": keyStore},
	})
	add(evidence.BareMetalHosts, "", "h", map[string]any{"spec": map[string]any{
		"bmc":      map[string]any{"address": "redfish://root:" + bmcPassword + "@192.0.2.9/redfish/v1/Systems/1", "credentialsName": "h-bmc-secret"},
		"userData": map[string]any{"name": "worker-user-data", "namespace": "openshift-machine-api"},
	}})
	f.objects[evidence.Objects(evidence.BareMetalHosts, "")][0].Content["metadata"].(map[string]any)["annotations"] = map[string]any{
		"example.com/bmc": `{"username":"root","password":"` + bmcPassword + `"}`,
	}
	add(evidence.Secrets, "ns1", "bmc", map[string]any{"data": map[string]any{
		"password": b64(bmcPassword), "tls.key": b64(privateKey), "tls.crt": b64(certificate + privateKey), "token": b64(jwt), ".dockerconfigjson": b64(pullSecret),
	}})
	add(evidence.Secrets, "ns1", "strings", map[string]any{"stringData": map[string]any{"password": bmcPassword}})
	add(evidence.Nodes, "", "n", map[string]any{"status": map[string]any{"message": "GET https://root:" + bmcPassword + "@10.0.0.1/redfish: 401; Authorization: Bearer " + jwt}})
	o := f.objects[evidence.Objects(evidence.Nodes, "")][0]
	o.Content["metadata"].(map[string]any)["annotations"] = map[string]any{
		"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"password":"` + bmcPassword + `"}}`,
		"example.com/credentials":                          "password=" + bmcPassword,
		"example.com/kept":                                 "token not found",
	}
	f.texts = []fakeText{
		{Text: evidence.Text{Kind: evidence.ContainerLog, Namespace: "ns1", Pod: "p", Container: "c1", Path: "p"}, content: strings.Join([]string{
			"failed: bearer " + jwt, "failed with token=" + bootToken, `failed {"auth":"` + pullAuth + `"}`, "failed kubeadmin password: \"" + bmcPassword + "\"",
			"failed " + strings.TrimSuffix(privateKey, "\n"), "failed %7B%22auth%22%3A%22" + pullAuth + "%22", "failed: POST https://u:" + bmcPassword + "@bmc", "", "status 500: token not found",
			"failed to load " + derKey, "failed: ipmitool -I lanplus -H 192.0.2.9 -U root -P " + bmcPassword + " power status",
		}, "\n")},
		{Text: evidence.Text{Kind: evidence.Console, Host: "h2", Path: "c"}, open: os.ErrPermission},
	}
	q := evidence.Objects(evidence.CSRs, "")
	f.missing[q.String()] = &evidence.Unavailable{Need: q, Why: evidence.Forbidden, Detail: "GET with bearer " + jwt + " is forbidden", Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: "pods"}}
	return f
}

func TestNoSecretIsCollected(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	record(t, dir, leaky())
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(dir, p))
		all.WriteString(p + "\n" + string(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := all.String()
	for name, secret := range map[string]string{
		"pull secret": pullAuth, "JWT": jwt, "JWT's claims": strings.Split(jwt, ".")[1], "private key": keyBody, "BMC password": bmcPassword,
		"bootstrap token": bootToken, "SSH key": sshKey, "password hash": "$6$planted",
		"key in DER": derKey[20:], "key store": keyStore[30:], "gzip": b64(gzipOf(pullSecret))[12:60],
	} {
		for how, spelled := range map[string]string{
			"plain": secret, "base64": strings.TrimRight(b64(secret), "="), "url": url.QueryEscape(secret), "in base64": b64("x" + secret + "yyy")[4:20],
		} {
			if i := strings.Index(text, spelled); i >= 0 {
				t.Errorf("the %s (%s) is in the collection: ...%s...", name, how, text[max(0, i-60):i+len(spelled)])
			}
		}
	}
	for _, kept := range []string{"token not found", "MIIBszCCAVmgAwIBAgIUstays", "rendered-master-0123456789abcdef0123456789abcdef", "worker-user-data", "h-bmc-secret"} {
		if !strings.Contains(text, kept) {
			t.Errorf("%q is not in the collection", kept)
		}
	}
}
