package ssh

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestMain is also the rollcall-host of these tests: the test's own program is what is copied to the hosts.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == ProgramName {
		os.Exit(onHost(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// onHost writes what it was called with where it is to write.
func onHost(args []string) int {
	if slices.Contains(args, "--hang") {
		time.Sleep(time.Minute)
	}
	if slices.Contains(args, "--fail") {
		fmt.Fprintln(os.Stderr, "rollcall-host: read /: it is not a root directory of an OpenShift machine")
		return 1
	}
	to := args[slices.Index(args, "--collect")+1]
	if err := os.WriteFile(to, []byte(strings.Join(args, " ")+strings.Repeat("x", 200_000)), 0o600); err != nil {
		return 1
	}
	return 2 // a fault was found
}

// program is a fake ssh: each host has its own behaviour. A command runs in a shell here.
const fakeSSH = `#!/bin/sh
echo "$*" >>"$FAKE/calls"
while [ "$1" != -- ]; do shift; done
host=$2
export PATH="$FAKE/bin:/usr/bin:/bin"
case $host in
changed) printf '@@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n' >&2; exit 255 ;;
unknown) echo 'No ED25519 host key is known for unknown and you have requested strict checking.
Host key verification failed.' >&2; exit 255 ;;
denied) echo 'core@denied: Permission denied (publickey).' >&2; exit 255 ;;
nowhere) echo 'ssh: Could not resolve hostname nowhere: Name or service not known' >&2; exit 255 ;;
off) echo 'ssh: connect to host off port 22: No route to host' >&2; exit 255 ;;
refused) echo 'ssh: connect to host refused port 22: Connection refused' >&2; exit 255 ;;
lost) echo 'kex_exchange_identification: read: Connection reset by peer password=hunter2' >&2; exit 255 ;;
hang) exec sleep 60 ;;
stops) echo 'rollcall-ssh ready x86_64 0'; exec sleep 60 ;;
nosudo) printf '#!/bin/sh\necho 1000\n' >"$FAKE/bin/id"; printf '#!/bin/sh\necho sudo: a password is required >&2; exit 1\n' >"$FAKE/bin/sudo"
  chmod 755 "$FAKE/bin/id" "$FAKE/bin/sudo" ;;
readonly) set -- "$1" "$2" "$(printf %s "$3" | sed "s#'*$FAKE/run'*#/proc/none#")" ;;
s390) set -- "$1" "$2" "$(printf %s "$3" | sed 's/uname -m/echo riscv64/')" ;;
arm) set -- "$1" "$2" "$(printf %s "$3" | sed 's/uname -m/echo aarch64/')" ;;
noisy) echo 'Welcome to this host'; echo rollcall ready x ;;
chatty) exec yes 'a line of a login shell' ;;
big) echo 'rollcall-ssh ready x86_64 0'; echo 'rollcall-ssh result 99999999999'; exec cat >/dev/null ;;
short) echo 'rollcall-ssh ready x86_64 0'; cat >/dev/null & echo 'rollcall-ssh result 1000'; echo few; exit 0 ;;
esac
exec sh -c "$3"
`

// fake makes the surroundings of a run: a fake ssh, this program as rollcall-host, and directories.
func fake(t *testing.T) Options {
	t.Helper()
	for _, tool := range []string{"sh", "timeout", "gzip", "sha256sum", "mktemp", "head"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here: %v", tool, err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("the script of a host runs as root")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the fake host is an x86_64")
	}
	dir := t.TempDir()
	for _, d := range []string{"run", "to", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(fakeSSH), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKE", dir)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs, err := FindPrograms([]string{own}, "")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Ssh: filepath.Join(dir, "ssh"), Programs: programs, To: filepath.Join(dir, "to"), Dir: filepath.Join(dir, "run"), Clock: time.Now}
}

func targets(t *testing.T, texts ...string) []Target {
	t.Helper()
	var list []Target
	for _, text := range texts {
		x, err := ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

// left lists what runs left on the hosts.
func left(t *testing.T, o Options) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(o.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAnswers: a host gives what rollcall-host collected there, whatever its shell prints before, and nothing stays.
func TestAnswers(t *testing.T) {
	o := fake(t)
	o.Args = []string{"--root", "/a b'c"}
	results, err := Run(t.Context(), targets(t, "m1=h1", "noisy"), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"-q -o name --name m1 --root /a b'c --collect ", "-q -o name --root /a b'c --collect "} {
		r := results[i]
		if r.Problem != nil {
			t.Fatalf("%s: %v", r.Target.Label(), r.Problem)
		}
		raw, err := os.ReadFile(r.Path)
		if err != nil || !bytes.HasPrefix(raw, []byte(want)) || len(raw) < 200_000 {
			t.Errorf("%s: %d bytes, %.80q, %v", r.Path, len(raw), raw, err)
		}
		if r.Ahead.Abs() > time.Minute || r.AheadWithin <= 0 {
			t.Errorf("its clock is %s ahead, within %s", r.Ahead, r.AheadWithin)
		}
	}
	if list := left(t, o); len(list) > 0 {
		t.Errorf("left on the host: %q", list)
	}
	calls, err := os.ReadFile(filepath.Join(filepath.Dir(o.Ssh), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "-l core -- h1 "} {
		if !strings.Contains(string(calls), want) {
			t.Errorf("ssh is called without %q", want)
		}
	}
}

// TestProblems: each trouble is a sentence with the way out, and holds no other host up.
func TestProblems(t *testing.T) {
	o := fake(t)
	want := []struct{ host, what, do string }{
		{"changed:2222", "host key is another one", "ssh-keygen -R '[changed]:2222'"},
		{"unknown", "known_hosts has no key", "--accept-new-host-keys"},
		{"denied", "permission denied", "ssh-add"},
		{"nowhere", "no host of the name nowhere", "NAME=IP"},
		{"off", "no route to host", "BMC"},
		{"refused", "connection refused", "console"},
		{"lost", "Connection reset by peer", "ssh core@lost"},
		{"s390", "its processor is riscv64, and there is no rollcall-host", ""},
		{"arm", "no rollcall-host for arm64 here, only for amd64", "--binary"},
		{"readonly", "no directory can be made in", "--remote-dir"},
		{"chatty", "login shell prints more", "bashrc"},
		{"big", "99999999999 bytes", "--journal-since"},
		{"short", "the connection ended without an answer", "by hand"},
		{"good", "", ""},
	}
	var names []string
	for _, w := range want {
		names = append(names, w.host)
	}
	results, err := Run(t.Context(), targets(t, names...), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		p := results[i].Problem
		switch {
		case w.what == "" && p != nil:
			t.Errorf("%s: %v", w.host, p)
		case w.what == "":
		case p == nil:
			t.Errorf("%s: it answered", w.host)
		case !strings.Contains(p.What, w.what) || !strings.Contains(p.Do, w.do) || strings.Contains(p.Error(), "hunter2"):
			t.Errorf("%s: %q, %q", w.host, p.What, p.Do)
		}
	}
	files, err := filepath.Glob(filepath.Join(o.To, "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("kept: %q, %v", files, err)
	}
	if list := left(t, o); len(list) > 0 {
		t.Errorf("left on the hosts: %q", list)
	}
}

// TestSilent: a host that says nothing, before or in the middle, ends in time.
func TestSilent(t *testing.T) {
	o := fake(t)
	o.Within = time.Second
	results, err := Run(t.Context(), targets(t, "hang", "stops"), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if p := r.Problem; p == nil || p.What != "no answer in 1s" || !strings.Contains(p.Do, "ssh core@"+r.Target.Host) || !strings.Contains(p.Do, "--within") {
			t.Errorf("%s: %v", r.Target.Label(), p)
		}
	}
}

func TestNoSudo(t *testing.T) {
	o := fake(t)
	results, err := Run(t.Context(), targets(t, "nosudo"), o)
	if err != nil {
		t.Fatal(err)
	}
	if p := results[0].Problem; p == nil || !strings.Contains(p.What, "root without a password: sudo: a password is required") {
		t.Errorf("%v", p)
	}
}

func TestFails(t *testing.T) {
	o := fake(t)
	o.Args = []string{"--fail"}
	results, err := Run(t.Context(), targets(t, "h1"), o)
	if err != nil {
		t.Fatal(err)
	}
	if p := results[0].Problem; p == nil || !strings.Contains(p.What, "gave no answer: read /: it is not a root directory") {
		t.Errorf("%v", p)
	}
}

// TestKilled: the connection ends while rollcall-host runs. The host removes what it had, and so does a further run what
// a shell left that was killed.
func TestKilled(t *testing.T) {
	o := fake(t)
	if err := os.Mkdir(filepath.Join(o.Dir, "rollcall-host.2147483647.abcdefgh"), 0o700); err != nil { // no process has this number
		t.Fatal(err)
	}
	o.Args = []string{"--hang"}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Run(ctx, targets(t, "h1"), o)
		ended <- err
	}()
	until(t, "the program runs", func() bool {
		list, _ := filepath.Glob(filepath.Join(o.Dir, "rollcall-host.*", "err"))
		return len(list) > 0
	})
	if list := left(t, o); len(list) != 1 {
		t.Errorf("on the host: %q", list)
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("it is not interrupted")
	}
	until(t, "nothing is left", func() bool { return len(left(t, o)) == 0 })
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 300 {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("not so: %s", what)
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]Target{
		"192.0.2.1":              {User: "core", Host: "192.0.2.1"},
		"root@m1.example.com:22": {User: "root", Host: "m1.example.com", Port: 22},
		"m1=[2001:db8::1]:2222":  {Name: "m1", User: "core", Host: "2001:db8::1", Port: 2222},
		"core@2001:db8::1":       {User: "core", Host: "2001:db8::1"},
		"core@[2001:db8::1]":     {User: "core", Host: "2001:db8::1"},
	} {
		if got, err := ParseTarget(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-oProxyCommand=x", "a=-oProxyCommand", "core@-x", "@h", "=h", "h:0", "h:x", "h;id", "$(id)", "a b", "core@h\n", "a=b=c",
		"h/.."} {
		if got, err := ParseTarget(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestFindPrograms(t *testing.T) {
	dir := t.TempDir()
	if _, err := FindPrograms(nil, dir); err == nil || !strings.Contains(err.Error(), "--binary FILE") {
		t.Error(err)
	}
	elf := func(name string, machine byte, order byte) {
		head := make([]byte, 64)
		copy(head, "\x7fELF\x02")
		head[5], head[18] = order, machine
		if order == 2 {
			head[18], head[19] = 0, machine
		}
		if err := os.WriteFile(filepath.Join(dir, name), head, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	elf("rollcall-host", 62, 1)
	elf("rollcall-host-s390x", 22, 2)
	elf("rollcall-host-arm64", 183, 1)
	p, err := FindPrograms(nil, dir)
	if err != nil || strings.Join(p.Architectures(), " ") != "amd64 arm64 s390x" {
		t.Errorf("%v, %v", p, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("#!/bin/sh\necho this is no program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FindPrograms([]string{filepath.Join(dir, "text")}, ""); err == nil || !strings.Contains(err.Error(), "not a program for Linux") {
		t.Error(err)
	}
}

// TestSource: a silent host is in the coverage, and takes nothing away from what the others show.
func TestSource(t *testing.T) {
	s := NewSource([]Result{{Target: Target{Host: "h1"}, Problem: &Problem{What: "no answer in 30s"}}, {Machine: "m1"}})
	d, err := s.Describe(t.Context())
	if err != nil || len(d.Notes) != 1 || d.Notes[0].Need != evidence.RunOnHost+"h1" || d.Notes[0].Reason != "no answer in 30s" || d.Name != "h1, m1" {
		t.Errorf("%+v, %v", d, err)
	}
	_, err = s.List(t.Context(), evidence.HostIdentities, "")
	if missing, ok := evidence.AsUnavailable(err); !ok || missing.Why.MayHideObjects() {
		t.Error(err)
	}
}

func TestShellcheck(t *testing.T) {
	tool, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not on this machine")
	}
	for name, script := range map[string]string{"remote.sh": remote, "asRoot": asRoot} {
		cmd := exec.CommandContext(t.Context(), tool, "--shell=sh", "-")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
