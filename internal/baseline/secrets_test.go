package baseline_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/baseline"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/page"
)

// planter makes up secrets and keeps those that it gave.
type planter struct {
	series string
	given  []string
}

func (p *planter) secret() string {
	s := fmt.Sprintf("Wq7z%s%03dmPx4RtKe", p.series, len(p.given))
	p.given = append(p.given, s)
	return s
}

func (p *planter) key() string {
	body := strings.Repeat(base64.StdEncoding.EncodeToString([]byte(p.secret())), 3)
	p.given = append(p.given, body)
	return "-----BEGIN RSA PRIVATE KEY-----\n" + body + "\n-----END RSA PRIVATE KEY-----\n"
}

func (p *planter) pull() string {
	auth := base64.StdEncoding.EncodeToString([]byte("puller:" + p.secret()))
	p.given = append(p.given, auth)
	return fmt.Sprintf(`{"auths":{"quay.example.com":{"auth":%q,"email":"x@example.com"}}}`, auth)
}

func (p *planter) url(rest string) string { return "https://proxyuser:" + p.secret() + "@" + rest }

func (p *planter) kubeconfig() string {
	data := base64.StdEncoding.EncodeToString([]byte(p.key()))
	p.given = append(p.given, data)
	return "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    client-key-data: " + data + "\n    token: sha256~" + p.secret() + "\n"
}

func (p *planter) dataURL(text string) string {
	return "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(text))
}

func (p *planter) ignition() map[string]any {
	return map[string]any{
		"ignition": map[string]any{"version": "3.4.0", "proxy": map[string]any{"httpsProxy": p.url("proxy.example.com:3128")}},
		"passwd":   map[string]any{"users": []any{map[string]any{"name": "core", "passwordHash": "$6$salt$" + p.secret() + "abcdefghijklmnopqrstuvwxyz0123456789"}}},
		"storage": map[string]any{"files": []any{
			map[string]any{"path": "/var/lib/kubelet/config.json", "contents": map[string]any{"source": p.dataURL(p.pull())}},
			map[string]any{"path": "/etc/kubernetes/kubeconfig", "contents": map[string]any{"source": p.dataURL(p.kubeconfig())}},
			map[string]any{"path": "/etc/proxy.env", "contents": map[string]any{"source": "data:," + url.PathEscape("HTTPS_PROXY="+p.url("proxy.example.com:3128"))}},
		}},
	}
}

// applied is what `oc apply` keeps of an object.
func (p *planter) applied() string {
	raw, err := json.Marshal(map[string]any{"kind": "Secret", "stringData": map[string]any{"password": p.secret(), "username": "admin", "token": p.secret()},
		"spec": map[string]any{"config": p.ignition(), "bmc": map[string]any{"address": "redfish://admin:" + p.secret() + "@192.0.2.40/redfish/v1/Systems/1"}}})
	if err != nil {
		panic(err) // it is of texts
	}
	return string(raw)
}

func set(o map[string]any, value any, path ...string) {
	for _, key := range path[:len(path)-1] {
		next, ok := o[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			o[key] = next
		}
		o = next
	}
	o[path[len(path)-1]] = value
}

// plant puts secrets where people and programs put them: in each object that a baseline reads
// in annotations and in the messages of its conditions, and in fields of its kind.
func (p *planter) plant(o map[string]any) {
	set(o, p.applied(), "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	set(o, p.secret(), "metadata", "annotations", "example.com/bmc-password")
	set(o, "x", "metadata", "labels", "token") // labels hold no secrets; one of this name changes nothing
	status, _ := o["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		c.(map[string]any)["message"] = fmt.Sprintf("Get %q: Authorization: Bearer %s: proxy said no", p.url("api.example.com:6443"), p.secret())
	}
	switch o["kind"] {
	case "ClusterVersion":
		set(o, p.url("updates.example.com/graph?token="+p.secret()), "spec", "upstream")
		set(o, p.url("registry.example.com/release"), "status", "desired", "image")
		set(o, "stable-4.20?access_token="+p.secret(), "spec", "channel")
	case "Node":
		set(o, p.kubeconfig(), "metadata", "annotations", "machineconfiguration.openshift.io/reason")
		set(o, "baremetalhost:///openshift-machine-api/m0/"+p.url("x"), "spec", "providerID")
	case "MachineConfig":
		set(o, p.ignition(), "spec", "config")
	case "ControllerConfig":
		set(o, p.pull(), "spec", "internalRegistryPullSecret")
		set(o, p.url("proxy.example.com:3128"), "spec", "proxy", "httpsProxy")
		set(o, p.key(), "spec", "additionalTrustBundle")
		set(o, []any{map[string]any{"bundleFile": "KubeAPIServerServingCAData", "subject": "CN=a password=" + p.secret(), "notAfter": "2036-01-01T00:00:00Z"}}, "status", "controllerCertificates")
	case "Infrastructure":
		set(o, p.url("api.lark.example.com:6443"), "status", "apiServerURL")
		set(o, p.url("api-int.lark.example.com:6443"), "status", "apiServerInternalURI")
	case "BareMetalHost":
		set(o, "redfish-virtualmedia+https://admin:"+p.secret()+"@192.0.2.40/redfish/v1/Systems/1", "spec", "bmc", "address")
		set(o, p.secret(), "spec", "bmc", "password")
		set(o, "Failed to log in with password "+p.secret(), "status", "errorMessage")
		set(o, map[string]any{"hostname": "m0.example.com", "systemVendor": map[string]any{"manufacturer": "Dell", "productName": "password=" + p.secret()},
			"nics": []any{map[string]any{"mac": "52:54:00:00:00:01", "name": "eno1", "model": "token: " + p.secret()}}}, "status", "hardware")
	}
}

// planted is a base with secrets in all that a baseline reads, and in files that are cut.
func planted(t *testing.T, p *planter) fstest.MapFS {
	t.Helper()
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range files {
		var o map[string]any
		if yaml.Unmarshal(f.Data, &o) != nil || o["kind"] == nil || !strings.HasSuffix(name, ".yaml") {
			continue
		}
		p.plant(o)
		raw, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/m2.yaml") || strings.HasSuffix(name, "networks/cluster.yaml") { // a line that is no YAML
			raw = append(raw, []byte("password: "+p.secret()+"\n  - "+p.url("x.example.com")+": {{ "+p.secret()+"\n\t"+p.key())...)
		}
		files[name] = &fstest.MapFile{Data: raw}
	}
	return files
}

// TestNoSecrets: neither a baseline, nor what compare and its formats show, has any of them.
func TestNoSecrets(t *testing.T) {
	then, now := &planter{series: "Then"}, &planter{series: "Now"}
	was, _ := of(t, planted(t, then))
	is, _ := of(t, planted(t, now))
	var file bytes.Buffer
	if err := was.Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := baseline.Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	c := baseline.Compare(read, is)
	if !c.Certain() || len(was.Entries) < 150 || len(was.Missing) == 0 {
		t.Fatalf("not what is compared otherwise: %+v, %d values, missing %+v", c.Identity, len(was.Entries), was.Missing)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var text, saved bytes.Buffer
	if err := c.Print(&text, page.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := (baseline.Saved{File: "good.json", Saved: was, Reason: "x"}).Print(&saved, page.Style{}); err != nil {
		t.Fatal(err)
	}
	for where, out := range map[string]string{"the file": file.String(), "JSON": string(raw), "text": text.String(), "what save shows": saved.String()} {
		flat := strings.Join(strings.Fields(out), "") // a text is wrapped anywhere
		for _, s := range append(then.given, now.given...) {
			if i := strings.Index(flat, s); i >= 0 {
				t.Errorf("%s has a secret: ...%s", where, flat[max(0, i-150):i+len(s)])
			}
		}
	}
}

// TestSameSecret: a secret in a value is no change while it is the same, though each run has a
// digest of its own for it, also against a file of a version that kept those.
func TestSameSecret(t *testing.T) {
	was, _ := of(t, planted(t, &planter{series: "Same"}))
	is, _ := of(t, planted(t, &planter{series: "Same"}))
	if c := baseline.Compare(was, is); len(c.Changes) != 0 || c.Compared < 150 {
		t.Errorf("nothing has changed: %+v", c)
	}
	for i, e := range was.Entries {
		for _, text := range []*string{&e.Subject, &e.Name, &e.Value} {
			*text = strings.ReplaceAll(*text, "[redacted]", "[redacted 763e18e2ff047f19, 20 bytes]")
		}
		was.Entries[i] = e
	}
	var file bytes.Buffer
	if err := was.Write(&file); err != nil {
		t.Fatal(err)
	}
	former, err := baseline.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if c := baseline.Compare(former, is); len(c.Changes) != 0 {
		t.Errorf("a file with digests: %+v", c.Changes)
	}
}
