package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/hostcli"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/source/machine/machinetest"
)

// answeringSSH stands for ssh: each host that has a collection in the directory of this script sends it, as the script on
// a host does (internal/source/ssh has the tests of that one); the others refuse the login.
const answeringSSH = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
file="$(dirname "$0")/$2.tar.gz"
[ -f "$file" ] || { echo "core@$2: Permission denied (publickey)." >&2; exit 255; }
echo "rollcall-ssh ready x86_64 1772366400"
read -r size sum
head -c "$size" >/dev/null
echo rollcall-ssh alive
echo "rollcall-ssh result $(wc -c <"$file")"
cat "$file"
`

// sshHosts makes a directory with ssh, a rollcall-host and the collection of each machine.
func sshHosts(t *testing.T, machines map[string]*machinetest.Machine) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	dir = t.TempDir()
	for host, m := range machines {
		var out, errs bytes.Buffer
		code := hostcli.Main(t.Context(), []string{"--root", m.Root, "--skip", "host-file-system-full", "--collect", filepath.Join(dir, host+".tar.gz"), "-q"},
			hostcli.IO{Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Clock: func() time.Time { return machinetest.Now },
				Runner: m.Commands, CanReadSecret: true})
		if code == 1 {
			t.Fatal(errs.String())
		}
	}
	elf := make([]byte, 64)
	copy(elf, "\x7fELF\x02\x01")
	elf[18] = 62
	for name, content := range map[string][]byte{"ssh": []byte(answeringSSH), "rollcall-host": elf} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return dir
}

// hostsSay runs a command line and returns what it prints.
func hostsSay(t *testing.T, args ...string) (cmdutil.ExitCode, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := Main(t.Context(), append([]string{"rollcall"}, args...), cmdutil.IO{
		Cache: shared,
		Out:   &out, Err: &errs, In: strings.NewReader(""), Getenv: func(string) string { return "" }, Clock: func() time.Time { return machinetest.Now },
	})
	return code, out.String(), errs.String()
}

// oneLine undoes the breaks of lines.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// lostCertificate is a machine whose kubelet has lost its certificate, and whose clock is wrong.
func lostCertificate(t *testing.T) *machinetest.Machine {
	m := machinetest.New(t)
	m.Remove("/var/lib/kubelet/pki")
	m.Commands["/usr/bin/chronyc tracking"] = "C0000278,192.0.2.120,3,1772366380.1,3.200000000,0.000005,0.000012,1.1,0.0,0.01,0.002,0.0005,64.2,Normal\n"
	return m
}

// TestHosts: what a host shows is evidence as that of an archive, one that is silent is unknown, and the same is read
// again from what was kept.
func TestHosts(t *testing.T) {
	dir := sshHosts(t, map[string]*machinetest.Machine{"192.0.2.21": lostCertificate(t)})
	to := filepath.Join(t.TempDir(), "kept")
	asked := []string{"hosts", "--ssh", "192.0.2.21,control2=192.0.2.22", "--binary", filepath.Join(dir, "rollcall-host"), "--to", to}
	code, out, errs := hostsSay(t, asked...)
	if code != cmdutil.ExitFault {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errs)
	}
	for _, want := range []string{
		"192.0.2.21 (m1): kubelet runs, no client certificate; etcd runs; clock 3.2 s off", "? control2: unknown: permission denied",
		"1 of 2 hosts answered over ssh; kept in " + to, "host-clock-wrong", "control2 unknown at powered: it was asked over ssh and gave no answer",
	} {
		if !strings.Contains(oneLine(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if !strings.Contains(errs, "[2/2] ") || !strings.Contains(errs, "asking 2 hosts over ssh") {
		t.Errorf("the progress is %s", errs)
	}
	if _, _, errs := hostsSay(t, asked...); !strings.Contains(errs, "--to "+to+": it exists") {
		t.Errorf("the directory is written over: %s", errs)
	}
	code, again, errs := hostsSay(t, "diagnose", "--from", to)
	if code != cmdutil.ExitFault || !strings.Contains(again, "host-clock-wrong · proven") {
		t.Errorf("%d\n%s\n%s", code, again, errs)
	}
}

// TestHealthyHosts: where each is well the answer is healthy, and one that is silent makes it undecided, in each format.
func TestHealthyHosts(t *testing.T) {
	dir := sshHosts(t, map[string]*machinetest.Machine{"192.0.2.21": machinetest.New(t)})
	binary := filepath.Join(dir, "rollcall-host")
	for _, c := range []struct {
		hosts string
		code  cmdutil.ExitCode
		class diagnosis.VerdictClass
	}{
		{"192.0.2.21", cmdutil.ExitOK, diagnosis.Healthy},
		{"192.0.2.21,192.0.2.22", cmdutil.ExitUndecided, diagnosis.Undetermined},
		{"192.0.2.22", cmdutil.ExitUndecided, diagnosis.Undetermined},
	} {
		code, out, errs := hostsSay(t, "hosts", "--ssh", c.hosts, "--binary", binary, "--to", filepath.Join(t.TempDir(), "kept"), "-o", "json",
			"--skip", "host-file-system-full") // the disk is that of the machine with the tests
		var d diagnosis.Diagnosis
		if err := json.Unmarshal([]byte(out), &d); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, errs)
		}
		if code != c.code || d.Verdict.Class != c.class {
			t.Errorf("%s: exit code %d, %+v", c.hosts, code, d.Verdict)
		}
	}
}

// TestHostsOfTwoClusters: a host of another cluster is left out, with the reason, and holds no other up.
func TestHostsOfTwoClusters(t *testing.T) {
	one, other := machinetest.New(t), machinetest.New(t) // each has a CA of its own
	dir := sshHosts(t, map[string]*machinetest.Machine{"192.0.2.21": one, "192.0.2.22": other})
	_, out, errs := hostsSay(t, "hosts", "--ssh", "192.0.2.21,192.0.2.22", "--binary", filepath.Join(dir, "rollcall-host"), "--to",
		filepath.Join(t.TempDir(), "kept"))
	if !strings.Contains(out, "192.0.2.21 (m1): kubelet runs; etcd runs") ||
		!strings.Contains(oneLine(out), "? 192.0.2.22: unknown: it answered, and is not of this cluster") {
		t.Errorf("%s\n%s", out, errs)
	}
}

// TestPlannedHosts: the hosts of a plan are asked at their addresses; --ssh names others for them.
func TestPlannedHosts(t *testing.T) {
	dir := t.TempDir()
	plan := `apiVersion: v1beta1
kind: AgentConfig
metadata: {name: lark}
rendezvousIP: 192.0.2.20
hosts:
- hostname: control0
  networkConfig: {interfaces: [{name: eno1, ipv4: {enabled: true, address: [{ip: 192.0.2.20, prefix-length: 24}]}}]}
- hostname: control1
`
	if err := os.WriteFile(filepath.Join(dir, "agent-config.yaml"), []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	f := hostsFlags{plan: dir, ssh: []string{"control1=root@192.0.2.99"}}
	list, err := f.targets()
	if err != nil || fmt.Sprint(list) != "[{control1 root 192.0.2.99 0} {control0 core 192.0.2.20 0}]" {
		t.Errorf("%v, %v", list, err)
	}
}

// TestWrongHosts: mistakes are said before anything is asked.
func TestWrongHosts(t *testing.T) {
	dir := sshHosts(t, nil)
	binary := filepath.Join(dir, "rollcall-host")
	for _, c := range []struct{ args, says string }{
		{"", "no host is named"},
		{"--ssh -oProxyCommand=x", "[NAME=][USER@]HOST[:PORT]"},
		{"--ssh h1", "--binary FILE"}, // none is next to the program
		{"--ssh h1 --binary " + filepath.Join(dir, "ssh"), "not a program for Linux"},
		{"--ssh h1 --within 1ms --binary " + binary, "--within"},
		{"--ssh h1 --at-once 99 --binary " + binary, "--at-once"},
		{"--ssh h1 --remote-dir run --binary " + binary, "--remote-dir"},
		{"--ssh h1 --hosted a/b --binary " + binary, "--hosted"},
		{"--from-plan " + t.TempDir() + " --binary " + binary, "--from-plan"},
	} {
		code, out, errs := hostsSay(t, append([]string{"hosts", "--to", filepath.Join(t.TempDir(), "kept")}, strings.Fields(c.args)...)...)
		if code != cmdutil.ExitFailed || !strings.Contains(errs, c.says) || out != "" {
			t.Errorf("%s: exit code %d, %s%s", c.args, code, out, errs)
		}
	}
}
