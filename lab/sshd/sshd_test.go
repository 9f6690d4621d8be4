package sshd

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// built is the directory with the programs, made once; "" where this machine has no sshd.
var built string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if missing() == "" {
		dir, err := os.MkdirTemp("", "rollcall-sshd-")
		if err == nil {
			defer os.RemoveAll(dir)
			err = buildAll(dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		built = dir
	}
	return m.Run()
}

// missing says what this machine lacks.
func missing() string {
	switch _, err := os.Stat("/usr/sbin/sshd"); {
	case err != nil:
		return "there is no sshd on this machine: apt-get install openssh-server"
	case os.Getuid() != 0:
		return "hosts are asked as root, and their programs run in another root directory"
	}
	return ""
}

func buildAll(dir string) error {
	for _, b := range []struct{ in, pkg string }{{"../..", "./cmd/rollcall"}, {"../..", "./cmd/rollcall-host"}, {".", "./testdata/printer"}} {
		build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", dir, b.pkg)
		build.Dir, build.Env = b.in, append(os.Environ(), "CGO_ENABLED=0") // as they are released
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", b.pkg, err, out)
		}
	}
	return nil
}

// machines are behind sshds of one test.
type machines struct {
	t     *testing.T
	dir   string
	run   string // stands for /run of the hosts
	known string // known_hosts
	bin   string // in front of the PATH: ssh with a configuration of its own
	hosts map[string]*machine
}

// machine is one root directory behind one sshd.
type machine struct {
	root, port string
	sshd       *exec.Cmd
}

func newMachines(t *testing.T) *machines {
	t.Helper()
	if why := missing(); why != "" {
		t.Skip(why)
	}
	dir := t.TempDir()
	m := &machines{t: t, dir: dir, run: filepath.Join(dir, "run"), known: filepath.Join(dir, "known_hosts"), bin: filepath.Join(dir, "bin"),
		hosts: map[string]*machine{}}
	for _, d := range []string{m.run, m.bin, "/run/sshd"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, "id"))
	m.put("config", fmt.Sprintf("Host *\n IdentityFile %s/id\n IdentitiesOnly yes\n UserKnownHostsFile %s\n GlobalKnownHostsFile /dev/null\n", dir, m.known))
	m.put("bin/ssh", fmt.Sprintf("#!/bin/sh\nexec /usr/bin/ssh -F %s/config \"$@\"\n", dir))
	return m
}

func (m *machines) must(name string, args ...string) string {
	m.t.Helper()
	out, err := exec.CommandContext(m.t.Context(), name, args...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (m *machines) put(name, content string) {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// add makes a control-plane machine whose kubelet has no certificate, and its sshd.
func (m *machines) add(name, offset string) *machine {
	m.t.Helper()
	in := func(path, content string) { m.put(name+path, content) }
	in("/etc/hostname", name+"\n")
	in("/etc/machine-id", fmt.Sprintf("%032x\n", len(m.hosts)+1))
	in("/etc/kubernetes/manifests/etcd-pod.yaml", "metadata: {name: etcd, namespace: openshift-etcd}\nspec: {containers: [{name: etcd}]}\n")
	in("/etc/ignition-machine-config-encapsulated.json.bak", "{}")
	in("/var/lib/kubelet/kubeconfig", `apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "https://api-int.lark.example.com:6443"}}]
contexts: [{name: kubelet, context: {cluster: local, user: kubelet}}]
current-context: kubelet
users: [{name: kubelet, user: {client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem,
  client-key: /var/lib/kubelet/pki/kubelet-client-current.pem}}]
`)
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		m.t.Fatal(err)
	}
	in("/proc/sys/kernel/random/boot_id", string(boot)) // the machine runs, and is no copy of files
	now := time.Now().Unix()
	in("/fake/chronyc", fmt.Sprintf("C0000278,192.0.2.120,3,%d.1,%s,0.000005,0.000012,1.1,0.0,0.01,0.002,0.0005,64.2,Normal\n", now, offset))
	in("/fake/sources", "^,*,192.0.2.120,2,6,377,35,0.000001,0.000001,0.0003\n")
	in("/fake/crictl", fmt.Sprintf(`{"containers":[{"metadata":{"name":"etcd","attempt":1},"state":"CONTAINER_RUNNING","createdAt":"%d000000000",`+
		`"labels":{"io.kubernetes.pod.namespace":"openshift-etcd","io.kubernetes.pod.name":"etcd-%s"}}]}`, now, name))
	in("/fake/systemctl", "Id=kubelet.service\nLoadState=loaded\nActiveState=active\nSubState=running\nResult=success\nUnitFileState=enabled\n\n")
	printer, err := os.ReadFile(filepath.Join(built, "printer"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, p := range []string{"systemctl", "journalctl", "chronyc", "crictl"} {
		in("/usr/bin/"+p, string(printer))
	}
	h := &machine{root: filepath.Join(m.dir, name), port: freePort(m.t)}
	m.hosts[name] = h
	m.serve(name, h)
	return h
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// serve starts the sshd of a machine. All share this machine's files: the command that is forced puts the root directory of the
// machine into what was asked for.
func (m *machines) serve(name string, h *machine) {
	m.t.Helper()
	key := filepath.Join(m.dir, name+".key")
	m.must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	m.put(name+".conf", fmt.Sprintf(`Port %s
ListenAddress 127.0.0.1
HostKey %s
AuthorizedKeysFile %s/id.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
ForceCommand exec sh -c "$(printf %%s "$SSH_ORIGINAL_COMMAND" | sed 's#/root-of-the-host#%s#g')"
`, h.port, key, m.dir, h.root))
	h.sshd = exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", filepath.Join(m.dir, name+".conf"))
	log, err := os.Create(filepath.Join(m.dir, name+".log"))
	if err != nil {
		m.t.Fatal(err)
	}
	h.sshd.Stderr, h.sshd.SysProcAttr = log, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := h.sshd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = h.sshd.Process.Kill()
		_ = h.sshd.Wait()
		log.Close()
	})
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		m.t.Fatal(err)
	}
	m.know(h, string(public))
	until(m.t, name+" listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+h.port)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// know adds a key to known_hosts.
func (m *machines) know(h *machine, public string) {
	m.t.Helper()
	f, err := os.OpenFile(m.known, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "[127.0.0.1]:%s %s\n", h.port, strings.TrimSpace(public)); err != nil {
		m.t.Fatal(err)
	}
}

// command is a call of `rollcall hosts`.
func (m *machines) command(args ...string) (cmd *exec.Cmd, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	words := append([]string{"hosts", "--root", "/root-of-the-host", "--remote-dir", m.run, "--no-network"}, args...)
	cmd = exec.Command(filepath.Join(built, "rollcall"), words...)
	cmd.Env = []string{"PATH=" + m.bin + ":/usr/bin:/bin", "HOME=" + m.dir, "LC_ALL=C.UTF-8"}
	cmd.Dir, cmd.Stdout, cmd.Stderr = m.dir, out, out
	return cmd, out
}

// say runs one to its end, and returns its exit code and all that it printed, on one line.
func (m *machines) say(args ...string) (code int, text string) {
	m.t.Helper()
	cmd, out := m.command(args...)
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), strings.Join(strings.Fields(out.String()), " ")
}

// left lists what is in the directory that stands for /run of the hosts.
func (m *machines) left() []string {
	m.t.Helper()
	list, err := filepath.Glob(filepath.Join(m.run, "*"))
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("not so within a minute: %s", what)
}

// TestHosts: a night without an API. Two hosts answer, one hangs, one was installed again, at one nobody listens.
func TestHosts(t *testing.T) {
	m := newMachines(t)
	zero, one, two, three := m.add("control0", "0.000013"), m.add("control1", "3.2"), m.add("control2", "0"), m.add("control3", "0")

	if err := two.sshd.Process.Signal(syscall.SIGSTOP); err != nil { // the kernel still takes connections for it
		t.Fatal(err)
	}
	m.must("ssh-keygen", "-R", "[127.0.0.1]:"+three.port, "-f", m.known)
	public, err := os.ReadFile(filepath.Join(m.dir, "control0.key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	m.know(three, string(public)) // as if it had been another one before

	at := func(name, port string) string { return name + "=root@127.0.0.1:" + port }
	all := strings.Join([]string{at("control0", zero.port), at("control1", one.port), at("control2", two.port), at("control3", three.port),
		at("control4", freePort(t))}, ",")
	code, text := m.say("--ssh", all, "--within", "60s", "--to", filepath.Join(m.dir, "kept"))
	for _, want := range []string{
		"control0: kubelet runs, no client certificate; etcd runs",
		"control1: kubelet runs, no client certificate; etcd runs; clock 3.2 s off",
		"control2: unknown: no answer", // ssh itself says so, or the time is over: who is first depends on the machine
		"control3: unknown: its host key is another one than known_hosts has",
		"control4: unknown: connection refused",
		"2 of 5 hosts answered over ssh",
		"host-clock-wrong · proven · error · host/control1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if code != 2 {
		t.Errorf("exit code %d", code)
	}
	if list := m.left(); len(list) > 0 {
		t.Errorf("left on the hosts: %q", list)
	}

	// The API is named and does not answer: one answer about both.
	m.put("kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: lark, cluster: {server: "https://127.0.0.1:%s"}}]
contexts: [{name: lark, context: {cluster: lark, user: x}}]
current-context: lark
users: [{name: x, user: {token: abc}}]
`, freePort(t)))
	code, text = m.say("--ssh", at("control1", one.port), "--kubeconfig", filepath.Join(m.dir, "kubeconfig"), "--to", filepath.Join(m.dir, "kept2"))
	if code != 2 || !strings.Contains(text, "host-clock-wrong · proven · error · host/control1") || !strings.Contains(text, "api-connection-refused") {
		t.Errorf("exit code %d\n%s", code, text)
	}
}

// TestKilled: kill -9 while rollcall-host runs on a host. Nothing stays there.
func TestKilled(t *testing.T) {
	m := newMachines(t)
	h := m.add("control0", "0")
	m.put("control0/fake/hang", "")
	cmd, out := m.command("--ssh", "root@127.0.0.1:"+h.port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "rollcall-host runs", func() bool {
		list, _ := filepath.Glob(filepath.Join(m.run, "rollcall-host.*", "err"))
		return len(list) > 0
	})
	info, err := os.Stat(m.left()[0])
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	until(t, "nothing is left: "+out.String(), func() bool { return len(m.left()) == 0 })
}
