package command

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// runHost runs `rollcall host ARGS` against a cluster, and returns all that it printed.
func runHost(t *testing.T, c *clitest.Cluster, args ...string) (text string, code cmdutil.ExitCode) {
	t.Helper()
	server := httptest.NewServer(c)
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clitest.WriteKubeconfig(kubeconfig, server.URL); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	frame := cmdutil.New("rollcall", cmdutil.IO{Out: &out, Err: &out, In: strings.NewReader(""), Getenv: func(string) string { return "" },
		Clock: func() time.Time { return clitest.Now }})
	cmd := MetalHosts(frame)
	cmd.SetArgs(append(args, "--kubeconfig", kubeconfig))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	var exit *cmdutil.ExitError
	switch {
	case err == nil:
		return strings.Join(strings.Fields(out.String()), " "), 0
	case errors.As(err, &exit):
		code = exit.Code
	default:
		code = cmdutil.ExitFailed
	}
	return strings.Join(strings.Fields(out.String()+" "+err.Error()), " "), code
}

const (
	workerMachine = "machines/openshift-machine-api/lark-x7k2p-worker-0"
	workerSet     = "machinesets/openshift-machine-api/lark-x7k2p-worker-0"
)

// replaceCluster is the base of the fixtures, with what a Machine of a MachineSet has.
func replaceCluster(t *testing.T) *clitest.Cluster {
	t.Helper()
	c, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	uid := c.Objects[workerSet]["metadata"].(map[string]any)["uid"]
	change(t, c, workerMachine, map[string]any{"metadata": map[string]any{"ownerReferences": []any{map[string]any{"kind": "MachineSet", "controller": true,
		"name": "lark-x7k2p-worker-0", "uid": uid}}}})
	for _, name := range []string{"worker-user-data-managed", "master-user-data-managed"} {
		c.Put("secrets", clitest.Object{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": name, "namespace": "openshift-machine-api"}})
	}
	c.Put("configmaps", clitest.Object{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "etcd-endpoints", "namespace": "openshift-etcd"},
		"data": map[string]any{"8d5abe9669a39192": "192.0.2.11", "7a8197040a5126c8": "192.0.2.10", "cc3830a72fc357f9": "192.0.2.12"}})
	return c
}

func change(t *testing.T, c *clitest.Cluster, at string, patch map[string]any) {
	t.Helper()
	if err := c.Happen([]clitest.Change{{At: at, Patch: patch}}); err != nil {
		t.Fatal(err)
	}
}

// TestHostReplacePlan: the plan of a worker names all that goes, and nothing is written.
func TestHostReplacePlan(t *testing.T) {
	c := replaceCluster(t)
	change(t, c, "nodes/w0", map[string]any{"metadata": map[string]any{"labels": map[string]any{"rack": "a"}}})
	for _, name := range []string{"w0", "lark-x7k2p-worker-0"} {
		text, code := runHost(t, c, "replace", name, "--dry-run=server")
		for _, want := range []string{
			"replaces Machine lark-x7k2p-worker-0, BareMetalHost w0, Node w0, of a cluster of version 4.20.6",
			"makes MachineSet lark-x7k2p-worker-0 makes a new Machine at once", "the partition tables of all its disks are wiped",
			"takes the new Machine takes w0 again", "undo none from the deletion of the Machine on",
			"passed every PodDisruptionBudget lets what is evicted go now", "warning the new Node does not have: labels rack=a",
			"passed the API server would accept it (dry run): delete Machine lark-x7k2p-worker-0",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: want %q in %s", name, want, text)
			}
		}
		if code != 0 || len(c.Written) > 0 {
			t.Errorf("exit code %d, written: %v", code, c.Written)
		}
	}
}

// TestHostReplaceRefused: without a terminal nothing is done, and what cannot be done is said.
func TestHostReplaceRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(c *clitest.Cluster)
		args   []string
		code   cmdutil.ExitCode
		want   string
	}{
		{"no terminal", nil, []string{"w0"}, 1, "there is no terminal to ask at"},
		{"no such host", nil, []string{"w7"}, 1, "no Node, Machine or BareMetalHost is called w7. Nodes: m0, m1, m2, w0, w1"},
		{"no such other host", nil, []string{"w0", "--with", "w9"}, 2, "add it first, with `host add w9 --no-scale`"},
		{"without a Machine", func(c *clitest.Cluster) { delete(c.Objects, workerMachine) }, []string{"w0"}, 2,
			"oc adm drain w0 --ignore-daemonsets --delete-emptydir-data"},
		{"without a BareMetalHost", func(c *clitest.Cluster) { delete(c.Objects, "baremetalhosts/openshift-machine-api/w0") }, []string{"w0"}, 2,
			"oc -n openshift-machine-api delete machine lark-x7k2p-worker-0"},
		{"no list of Machines", func(c *clitest.Cluster) { c.Denied["machines"] = 403 }, []string{"w0"}, 1, "list the machines"},
	} {
		c := replaceCluster(t)
		if tt.change != nil {
			tt.change(c)
		}
		text, code := runHost(t, c, append(append([]string{"replace"}, tt.args...), "--state-dir", t.TempDir())...)
		if code != tt.code || !strings.Contains(text, tt.want) || len(c.Written) > 0 {
			t.Errorf("%s: exit code %d, want %d and %q in %s; written: %v", tt.name, code, tt.code, tt.want, text, c.Written)
		}
	}
}

// TestHostReplaceRun: copies are kept before the only write, and what is not ready in time can be resumed and not
// rolled back.
func TestHostReplaceRun(t *testing.T) {
	c, state := replaceCluster(t), t.TempDir()
	text, code := runHost(t, c, "replace", "w0", "--yes", "--timeout", "1s", "--state-dir", state)
	if code != cmdutil.ExitUndecided || !strings.Contains(text, "Machine lark-x7k2p-worker-0 and its Node are gone") ||
		!strings.Contains(text, "no Machine has taken the host") {
		t.Errorf("exit code %d: %s", code, text)
	}
	if len(c.Written) != 1 || c.Written[0] != "DELETE machines/lark-x7k2p-worker-0" {
		t.Errorf("written: %v", c.Written)
	}
	kept := map[string]bool{}
	err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		kept[d.Name()] = true
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
		_, err = os.ReadFile(path)
		return err
	})
	if err != nil || !kept["machine.yaml"] || !kept["baremetalhost.yaml"] || !kept["node.yaml"] {
		t.Errorf("%v %v", kept, err)
	}
	run := filepath.Base(filepath.Dir(findFile(t, state, "plan.json")))
	if text, code := runHost(t, c, "resume", run, "--timeout", "200ms", "--state-dir", state); code != cmdutil.ExitUndecided || !strings.Contains(text, "host resume "+run) {
		t.Errorf("resume: exit code %d: %s", code, text)
	}
	if text, code := runHost(t, c, "rollback", run, "--timeout", "1s", "--state-dir", state); code != cmdutil.ExitFault || !strings.Contains(text, "cannot be taken back") {
		t.Errorf("rollback: exit code %d: %s", code, text)
	}
	if len(c.Written) != 1 {
		t.Errorf("written: %v", c.Written)
	}
}

func findFile(t *testing.T, dir, name string) string {
	t.Helper()
	found := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("%s: %v", name, err)
	}
	return found
}

// TestHostMaster: of a control-plane host the plan is shown, and nothing is written, also with --yes.
func TestHostMaster(t *testing.T) {
	c := replaceCluster(t)
	text, code := runHost(t, c, "replace", "m1", "--yes")
	for _, want := range []string{
		"Plan only: Rollcall writes nothing here", "Node m1, Machine lark-x7k2p-master-1, BareMetalHost m1", "Step 1 do Back up etcd on m0",
		"etcdctl member remove 8d5abe9669a39192", "Step 10 do Turn the quorum guard on again", "address: redfish-virtualmedia://198.51.100.11/redfish/v1/Systems/1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in %s", want, text)
		}
	}
	if code != 0 || len(c.Written) > 0 || strings.Contains(text, "Not known") {
		t.Errorf("exit code %d, written: %v, %s", code, c.Written, text)
	}
	for _, tt := range []struct {
		args []string
		code cmdutil.ExitCode
		want string
	}{
		{[]string{"m1", "--with", "m9", "--delete-old-host"}, 1, "are for workers"},
		{[]string{"m1", "--bmc", "redfish://root:PLANTEDhunter2@192.0.2.1/x"}, 1, "user or password in it"},
		{[]string{"w0", "--bmc", "ipmi://192.0.2.1"}, 1, "host add NEW --bmc ADDRESS --boot-mac MAC --no-scale"},
	} {
		if text, code := runHost(t, c, append([]string{"replace"}, tt.args...)...); code != tt.code || !strings.Contains(text, tt.want) || strings.Contains(text, "PLANTED") {
			t.Errorf("%v: exit code %d: %s", tt.args, code, text)
		}
	}
	change(t, c, "etcds/cluster", map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "EtcdMembersAvailable", "status": "True",
		"message": "2 of 3 members are available, m2 is unhealthy"}}}})
	if text, code := runHost(t, c, "replace", "m1"); code != cmdutil.ExitFault || strings.Contains(text, "Step 1 do") || !strings.Contains(text, "m2 is not. Repair that one first") {
		t.Errorf("exit code %d: %s", code, text)
	}
}
