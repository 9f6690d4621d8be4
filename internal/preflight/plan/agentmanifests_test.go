package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const (
	anInstall = `apiVersion: extensions.hive.openshift.io/v1beta1
kind: AgentClusterInstall
metadata:
  annotations:
    agent-install.openshift.io/install-config-overrides: '{"fips": true, "platform": {"baremetal": {"hosts": [{"bmc": {"username": "planted-1", "password": "planted-2"}}]}}}'
    kubectl.kubernetes.io/last-applied-configuration: planted-3
spec:
  apiVIP: 192.0.2.5
  networking:
    machineNetwork:
    - cidr: 192.0.2.0/24
  proxy: {httpProxy: "http://planted-4:planted-5@proxy.example.com:3128"}
  provisionRequirements: {controlPlaneAgents: 3, workerAgents: 2}
  sshPublicKey: ssh-rsa planted-6
`
	anInfraEnv = `kind: InfraEnv
spec:
  additionalNTPSources: [192.0.2.3]
  ignitionConfigOverride: '{"passwd": "planted-7"}'
  sshAuthorizedKey: ssh-rsa planted-8
`
	aSecret   = "kind: Secret\nstringData:\n  .dockerconfigjson: '{\"auths\":{\"quay.io\":{\"auth\":\"cGxhbnRlZC05\"}}}'\n  other: planted-10\ndata: {x: planted-11}\n"
	anNMState = `kind: NMStateConfig
metadata: {name: m0}
spec:
  interfaces: [{name: eno1, macAddress: "52:54:00:00:00:01"}]
---
kind: NMStateConfig
metadata: {name: m1}
spec:
  interfaces:
  - {name: eno1, macAddress: "52:54:00:00:00:02"}
  config:
    interfaces: [{name: eno1, 802.1x: {password: planted-12}}]
`
)

func objectsOf(t *testing.T, files map[string]string) map[any]evidence.Object {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o600}
	}
	s, err := FS(fsys, ".", "dir", now)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context(), evidence.Plans, "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[any]evidence.Object{}
	for _, o := range list {
		kind := o.Content["type"]
		if file, ok := o.Content["file"]; ok {
			kind = file
		}
		out[kind] = o
	}
	return out
}

// TestAgentManifests: the objects of cluster-manifests are a plan, of which each value has the
// place in its own file, and no credential leaves them.
func TestAgentManifests(t *testing.T) {
	files := map[string]string{
		"cluster-manifests/agent-cluster-install.yaml": anInstall, "cluster-manifests/infraenv.yaml": anInfraEnv,
		"cluster-manifests/pull-secret.yaml": aSecret, "cluster-manifests/nmstateconfig.yaml": anNMState,
		"cluster-manifests/cluster-deployment.yaml": "kind: ClusterDeployment\nspec:\n  clusterName: prod\n  baseDomain: example.com\n",
	}
	all := objectsOf(t, files)
	raw, err := json.Marshal(all[InstallConfig].Content)
	if err != nil {
		t.Fatal(err)
	}
	for kind, o := range all {
		text, err := json.Marshal(o.Content)
		if err != nil {
			t.Fatal(err)
		}
		if i := strings.Index(string(text), "planted"); i >= 0 || strings.Contains(string(text), "cGxhbnRlZ") {
			t.Errorf("a secret leaves %v: %s", kind, text[max(0, i-60):])
		}
	}
	install, agent := all[InstallConfig].Content, all[AgentConfig].Content
	for path, want := range map[string]any{
		"metadata.name": "prod", "baseDomain": "example.com", "platform.baremetal.apiVIP": "192.0.2.5", "networking.machineNetwork[0].cidr": "192.0.2.0/24",
		"controlPlane.replicas": int64(3), "compute[0].replicas": int64(2), "fips": true, "proxy.httpProxy": "http://proxy.example.com:3128",
	} {
		if got := dig(install["config"], path); got != want {
			t.Errorf("%s is %v, want %v: %s", path, got, want, raw)
		}
	}
	for path, want := range map[string]any{"hosts[1].nmStateConfig": "m1", "hosts[0].interfaces[0].macAddress": "52:54:00:00:00:01", "additionalNTPSources[0]": "192.0.2.3"} {
		if got := dig(agent["config"], path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	at, from := agent["at"].(map[string]any), agent["from"].(map[string]any)
	if at["hosts[1].interfaces[0].macAddress"] != place(10, 30) {
		t.Errorf("the MAC address is at %v", at["hosts[1].interfaces[0].macAddress"])
	}
	if f, _ := from["hosts[1].interfaces"].(map[string]any); f["file"] != "dir/cluster-manifests/nmstateconfig.yaml" || f["field"] != "documents[1].spec.interfaces" {
		t.Errorf("the interfaces are from %v", f)
	}
	if at := install["at"].(map[string]any); at["networking.machineNetwork[0].cidr"] != place(11, 13) {
		t.Errorf("the machine network is at %v", at["networking.machineNetwork[0].cidr"])
	}
}

// TestAgentManifestsBeside: a file install-config.yaml is the plan, and not the objects.
func TestAgentManifestsBeside(t *testing.T) {
	all := objectsOf(t, map[string]string{"cluster-manifests/agent-cluster-install.yaml": anInstall, "install-config.yaml": "baseDomain: example.org\n"})
	if got := dig(all[InstallConfig].Content["config"], "baseDomain"); got != "example.org" {
		t.Errorf("the plan is of %v", got)
	}
	if _, ok := all[AgentConfig]; ok {
		t.Error("an agent-config is made of objects that the installer makes again")
	}
	for name, text := range map[string]string{"infraenv.yaml": anInfraEnv, "agent-cluster-install.yaml": "spec: {platformType: Other}\nmetadata: {annotations: {agent-install.openshift.io/install-config-overrides: planted}}"} {
		all := objectsOf(t, map[string]string{"infraenv.yaml": anInfraEnv, name: text}) // the directory itself
		if _, ok := all[name]; !ok {
			t.Errorf("%s is not read", name)
		}
	}
}

func FuzzManifestTree(f *testing.F) {
	for _, text := range []string{anInstall, anInfraEnv, aSecret, anNMState, "a: &a [*a]\n", "spec: [1]\n---\n: x", "documents: {documents: 1}\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := &Source{now: now}
		all := clusterManifests{}
		for _, file := range []string{clusterInstall, deployment, infraEnv, nmState, pullSecretFile} {
			tree, err := manifestTree(file, raw, file == nmState)
			if err != nil {
				return
			}
			all[file] = tree
		}
		s.project(all, "dir")
		for _, o := range s.objects {
			if _, err := json.Marshal(o.Content); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestFormsOfSecrets: of what is hidden in an object its kind stays, and whether it is base64.
func TestFormsOfSecrets(t *testing.T) {
	all := objectsOf(t, map[string]string{
		"cluster-manifests/infraenv.yaml":    "kind: InfraEnv\nmetadata: {annotations: {a: {planted: 1}}}\nspec:\n  sshAuthorizedKey: [planted-1]\n  ignitionConfigOverride: planted-2\n",
		"cluster-manifests/pull-secret.yaml": "kind: Secret\nstringData: {a: [planted-3]}\ndata: {good: cGxhbnRlZA==, text: planted-4, number: 7, none: null, list: [x]}\n",
	})
	env, secret := all["infraenv.yaml"].Content, all["pull-secret.yaml"].Content
	for path, want := range map[string]any{"metadata.annotations.a": map[string]any{}, "spec.sshAuthorizedKey": []any{}, "spec.ignitionConfigOverride": hidden} {
		if got := dig(env["config"], path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	notes, _ := secret["form"].(map[string]any)
	if want := []any{"data.text", "data.number", "data.list"}; !reflect.DeepEqual(notes["data"], want) {
		t.Errorf("not base64: %v, want %v", notes["data"], want)
	}
	if at := env["at"].(map[string]any); at["spec.sshAuthorizedKey"] != place(4, 21) {
		t.Errorf("the key is at %v", at["spec.sshAuthorizedKey"])
	}
}

// TestBrokenProxy: a password that breaks the URL of a proxy is known of an AgentClusterInstall, too.
func TestBrokenProxy(t *testing.T) {
	text := strings.Replace(anInstall, "planted-5@", "planted#5@", 1)
	form := objectsOf(t, map[string]string{"cluster-manifests/agent-cluster-install.yaml": text})[InstallConfig].Content["form"]
	raw, err := json.Marshal(form)
	if err != nil || !strings.Contains(string(raw), `"users":["proxy.httpProxy"]`) || strings.Contains(string(raw), "planted") {
		t.Errorf("%s, %v", raw, err)
	}
}
