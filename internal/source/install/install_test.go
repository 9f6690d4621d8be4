package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func dir(t *testing.T, files map[string]string) string {
	t.Helper()
	path := t.TempDir()
	for name, content := range files {
		file := filepath.Join(path, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

const agentYAML = `
kind: AgentConfig
rendezvousIP: 192.0.2.10
hosts:
- hostname: m0
  interfaces: [{name: eno1, macAddress: "52:54:00:AA:00:00"}]
  networkConfig:
    interfaces: [{name: eno1, mac-address: "52:54:00:aa:00:00", ipv4: {address: [{ip: 192.0.2.10, prefix-length: 24}]}}]
- hostname: w0
  role: worker
  interfaces: [{name: eno1, macAddress: "52:54:00:aa:00:10"}]
  networkConfig: <TEMPLATE>
`

const installYAML = `
metadata: {name: lark}
baseDomain: example.com
controlPlane: {name: master, replicas: 3}
compute: [{name: worker, replicas: 2}]
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    hosts:
    - {name: m0, role: master, bootMACAddress: "52:54:00:aa:00:00", bmc: {address: "redfish://root:hunter2@192.0.2.100/redfish/v1/Systems/1", username: root, password: hunter2}}
pullSecret: '{"auths":{"quay.io":{"auth":"hunter2"}}}'
sshKey: hunter2
`

// state has a secret in every place that is not read.
const stateJSON = `{
 "*installconfig.InstallConfig": {"config": {"metadata": {"name": "other"}, "pullSecret": "hunter2"}},
 "*agent.OptionalInstallConfig": {"Supplied": true, "config": {"metadata": {"name": "lark"}, "baseDomain": "example.com",
   "controlPlane": {"replicas": 1}, "compute": [{"name": "worker", "replicas": 0}], "platform": {"none": {}}, "pullSecret": "hunter2"}},
 "*agentconfig.AgentConfig": {"Config": {"rendezvousIP": "192.0.2.10", "hosts": [{"hostname": "sno", "interfaces": [{"macAddress": "52:54:00:aa:00:00"}],
   "networkConfig": {"interfaces": [{"ipv4": {"address": [{"ip": "192.0.2.10"}]}}]}}]}},
 "*installconfig.ClusterID": {"UUID": "u-1", "InfraID": "lark-x7k2p"},
 "*gencrypto.AuthConfig": {"PublicKey": "hunter2", "AgentAuthToken": "agent-hunter2", "UserAuthToken": "user-hunter2", "WatcherAuthToken": "watcher"},
 "*tls.RootCA": {"KeyRaw": "hunter2"}
}`

func TestInstall(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  Install
	}{
		{"configs that are still there", map[string]string{"install-config.yaml": installYAML, "agent-config.yaml": agentYAML}, Install{
			Name: "lark", BaseDomain: "example.com", Platform: "baremetal", Method: methodAgent, RendezvousIP: "192.0.2.10",
			APIVIPs: []string{"192.0.2.5"}, IngressVIPs: []string{"192.0.2.6"}, Pools: []Pool{{"master", 3}, {"worker", 2}},
			Hosts: []Host{
				{Name: "m0", Role: "master", MACs: []string{"52:54:00:aa:00:00"}, Addresses: []string{"192.0.2.10"}, BMC: "redfish://192.0.2.100/redfish/v1/Systems/1"},
				{Name: "w0", Role: "worker", MACs: []string{"52:54:00:aa:00:10"}},
			},
			Files: []string{"install-config.yaml", "agent-config.yaml"}}},
		{"the state, when the configs were consumed", map[string]string{".openshift_install_state.json": stateJSON, "auth/kubeconfig": "x",
			"metadata.json": `{"clusterName":"lark","clusterID":"u-1","infraID":"lark-x7k2p"}`}, Install{
			Name: "lark", BaseDomain: "example.com", Platform: "none", Method: methodAgent, InfraID: "lark-x7k2p", ClusterID: "u-1", RendezvousIP: "192.0.2.10",
			Pools: []Pool{{"master", 1}, {"worker", 0}},
			Hosts: []Host{{Name: "sno", Role: "master", MACs: []string{"52:54:00:aa:00:00"}, Addresses: []string{"192.0.2.10"}}},
			Files: []string{".openshift_install_state.json", "metadata.json", "auth/kubeconfig"}}},
		{"the log alone", map[string]string{".openshift_install.log": "time=\"2026-03-01T11:00:00+01:00\" level=info msg=\"Install complete!\"\n"}, Install{Files: []string{".openshift_install.log"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := dir(t, tt.files)
			if !Is(path) {
				t.Error("it is not recognised")
			}
			d, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if diff := cmp.Diff(tt.want, d.Install); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			list, err := d.List(t.Context(), evidence.Installs, "")
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(list[0])
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(raw), "hunter2") || strings.Contains(string(raw), "watcher") {
				t.Errorf("a secret is in the object: %s", raw)
			}
			back, err := evidence.Decode[Install](list[0])
			if diff := cmp.Diff(tt.want, back); err != nil || diff != "" {
				t.Errorf("read back: %v\n%s", err, diff)
			}
		})
	}
}

func TestToken(t *testing.T) {
	tests := map[string]string{
		stateJSON: "Watcher-Authorization watcher",
		`{"*gencrypto.AuthConfig": {"AgentAuthToken": "one"}}`:                         "Authorization one",
		`{"*gencrypto.AuthConfig": {"AgentAuthToken": "one", "UserAuthToken": "two"}}`: " ", // neither may be lent
		`{}`: " ",
	}
	for content, want := range tests {
		d, err := Open(dir(t, map[string]string{".openshift_install_state.json": content}))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Token.Header + " " + d.Token.Value; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		d.Close()
	}
}

func TestLog(t *testing.T) {
	path := dir(t, map[string]string{".openshift_install.log": "time=\"2026-03-01T09:00:00Z\" level=debug msg=a\ntime=\"2026-03-01T11:00:00+01:00\" level=info msg=b\nrubbish\n",
		"must-gather.local.1/version": "x"})
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	desc, err := d.Describe(t.Context())
	if err != nil || !desc.Now.Equal(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)) || len(desc.Notes) != 1 || !strings.Contains(desc.Notes[0].Supply.Path, "must-gather.local.1") {
		t.Errorf("%+v, %v", desc, err)
	}
	texts, err := d.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Installer})
	if err != nil || len(texts) != 1 {
		t.Errorf("%v, %v", texts, err)
	}
	if _, err := d.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Console}); err == nil {
		t.Error("it has no console")
	}
	if _, err := d.List(t.Context(), evidence.Nodes, ""); err == nil {
		t.Error("it has no Nodes")
	}
}

func TestWrong(t *testing.T) {
	outside := dir(t, map[string]string{"secret": "{}"})
	tests := []struct {
		name  string
		files map[string]string
		link  string
		want  string
	}{
		{"empty", nil, "", "is not a directory of openshift-install"},
		{"a state that is cut off", map[string]string{".openshift_install_state.json": `{"*installconfig.ClusterID": {"UUID": "hunter2`}, "", "not a state of openshift-install"},
		{"a config that is no YAML", map[string]string{"install-config.yaml": "a: b: hunter2"}, "", "not YAML that fits"},
		{"a link that leads outside", map[string]string{".openshift_install.log": ""}, filepath.Join(outside, "secret"), "escapes"},
		{"a directory in the place of a file", map[string]string{"metadata.json/x": "", ".openshift_install.log": ""}, "", "is not a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := dir(t, tt.files)
			if tt.link != "" {
				if err := os.Symlink(tt.link, filepath.Join(path, "metadata.json")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// TestPipe: nothing waits for the writer of a pipe.
func TestPipe(t *testing.T) {
	for _, name := range []string{metadataFile, logFile} {
		path := dir(t, map[string]string{configFile: "apiVersion: v1\nbaseDomain: example.com\nmetadata: {name: c}\n"})
		if err := syscall.Mkfifo(filepath.Join(path, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "is not a file") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// FuzzState: a state that is foreign or broken is read within bounds or refused.
func FuzzState(f *testing.F) {
	f.Add([]byte(stateJSON))
	f.Add([]byte(`{"*agentconfig.AgentHosts": {"Hosts": [{"hostname": 1}], "RendezvousIP": ""}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Open(dir(t, map[string]string{".openshift_install_state.json": string(raw)}))
		if err != nil {
			return
		}
		defer d.Close()
		if len(d.Install.Hosts) > maxHosts || len(d.Install.Name) > maxWord {
			t.Errorf("%+v", d.Install)
		}
	})
}
