package logline

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		host, program string
		level         Level
		form          Form
		message       string
	}{
		`E1106 14:39:39.989826  136240 reconcile.go:261] failed to do it`:             {"", "", Error, Log, "failed to do it"},
		`I1106 14:39:39.989826       1 reconcile.go:261] failed to do it: retrying`:   {"", "", Info, Log, "failed to do it: retrying"},
		`level=error msg="it broke"`:                                                  {"", "", Error, Log, "it broke"},
		`time="2026-05-01 07:45:35.2940Z" level=fatal msg="no runtime"`:               {"", "", Fatal, Log, "no runtime"},
		`time="2026-05-01T07:45:35Z" level=info msg="an error is handled"`:            {"", "", Info, Log, "an error is handled"},
		`Mar 01 11:30:40 m1 thing.sh[2578]: Error: could not do that`:                 {"m1", "thing.sh", Error, Log, "Error: could not do that"},
		`Mar 01 11:30:40 m1 kubenswrapper[9]: E0301 11:30:40.000001 9 a.go:1] no pod`: {"m1", "kubenswrapper", Error, Log, "no pod"},
		`2026-03-01T11:30:40+0000 m1 podman[2578]: Error: no image`:                   {"m1", "podman", Error, Log, "Error: no image"},
		`2026-03-01T11:30:40.123Z stderr F E0301 11:30:40.000001 9 a.go:1] no pod`:    {"", "", Error, Log, "no pod"},
		`2026-03-01 11:30:40.123 1 ERROR ironic.conductor [-] it broke`:               {"", "", Error, Log, "it broke"},
		`2026-03-01 11:30:40.123456 E | etcdserver: publish error`:                    {"", "", Error, Log, "etcdserver: publish error"},
		`ERROR Cluster operator etcd Degraded is True`:                                {"", "", Error, Log, "Cluster operator etcd Degraded is True"},
		`FATAL failed to initialize the cluster`:                                      {"", "", Fatal, Log, "failed to initialize the cluster"},
		`INFO Waiting up to 40m0s for the cluster`:                                    {"", "", Info, Log, "Waiting up to 40m0s for the cluster"},
		`[  702.131808] ignition[791]: GET result: OK`:                                {"", "ignition", NoLevel, Log, "GET result: OK"},
		`[ERROR] plugin/errors: 2 a. AAAA: i/o timeout`:                               {"", "", Error, Log, "plugin/errors: 2 a. AAAA: i/o timeout"},
		`error: unable to upgrade connection`:                                         {"", "", Error, Plain, "error: unable to upgrade connection"},
		`bash: oc: command not found`:                                                 {"", "", Error, Plain, "bash: oc: command not found"},
		`Mar 01 11:30:40 m1 bootkube.sh[3]: /usr/local/bin/bootkube.sh: line 81: oc: command not found`: {"m1", "bootkube.sh", Error, Log,
			"/usr/local/bin/bootkube.sh: line 81: oc: command not found"},
		`curl: (35) error:0A000086:SSL routines`:                               {"", "", Error, Plain, "curl: (35) error:0A000086:SSL routines"},
		`Mar 01 11:30:40 m1 systemd[1]: crio.service: Failed with result 'x'.`: {"m1", "systemd", Error, Log, "crio.service: Failed with result 'x'."},
		`Mar 01 11:30:40 m1 systemd[1]: Started Kubernetes Kubelet.`:           {"m1", "systemd", NoLevel, Log, "Started Kubernetes Kubelet."},
		`  errorMessage: the host failed`:                                      {"", "", NoLevel, State, "errorMessage: the host failed"},
		`Status:       Running`:                                                {"", "", NoLevel, State, "Status:       Running"},
		`etcd   4.17.0   True   True   True   22h   EtcdDegraded: no member`:   {"", "", NoLevel, State, "etcd   4.17.0   True   True   True   22h   EtcdDegraded: no member"},
		`{"level":"error","ts":"2026-02-24T13:52:32Z","msg":"no"}`:             {"", "", Error, Log, `{"level":"error","ts":"2026-02-24T13:52:32Z","msg":"no"}`},
		`{"kind":"Node","level":3}`:                                            {"", "", NoLevel, Plain, `{"kind":"Node","level":3}`},
		`The installation took long`:                                           {"", "", NoLevel, Plain, "The installation took long"},
		``:                                                                     {"", "", NoLevel, Plain, ""},
		`> Error: no`:                                                          {"", "", Error, Plain, "Error: no"},
	} {
		l := Parse([]byte(text + "\r\n"))
		if string(l.Host) != want.host || string(l.Program) != want.program || l.Level != want.level || l.Form != want.form || string(l.Message) != want.message {
			t.Errorf("%s\n got %q %q %d %d %q\nwant %q %q %d %d %q", text, l.Host, l.Program, l.Level, l.Form, l.Message,
				want.host, want.program, want.level, want.form, want.message)
		}
	}
}

func TestModule(t *testing.T) {
	for text, want := range map[string]string{
		`E0301 11:30:40.000001       9 ovnkube.go:130] failed`:                                   "ovnkube.go",
		`Mar 01 11:30:40 m1 kubenswrapper[9]: E0301 11:30:40.000001 9 kubelet.go:1] no`:          "kubelet.go",
		`2026-03-01 11:30:40.123 1 ERROR ironic.conductor.utils [req-1 - - - - -] it broke`:      "ironic.conductor.utils",
		`2026-03-01 11:30:40.123 1 ERROR it broke`:                                               "",
		`{"level":"error","ts":"2026-03-01T13:52:32Z","logger":"provisioner.ironic","msg":"no"}`: "provisioner.ironic",
		`error: no`: "",
	} {
		if l := Parse([]byte(text)); string(l.Module) != want {
			t.Errorf("%s: module %q, want %q", text, l.Module, want)
		}
	}
}

func TestJob(t *testing.T) {
	for text, want := range map[string]Unit{
		"Started Kubernetes Kubelet.":                                                {Words: "Kubernetes Kubelet", Done: true},
		"Started kubelet.service - Kubernetes Kubelet.":                              {Name: "kubelet.service", Words: "Kubernetes Kubelet", Done: true},
		"Finished machine-config-daemon-pull.service - Machine Config Pull.":         {Name: "machine-config-daemon-pull.service", Words: "Machine Config Pull", Done: true},
		"Failed to start Open Container Initiative Daemon.":                          {Words: "Open Container Initiative Daemon", Failed: true},
		"crio.service: Failed with result 'exit-code'.":                              {Name: "crio.service", Failed: true},
		"crio.service: Main process exited, code=exited, status=1/FAILURE":           {Name: "crio.service", Failed: true},
		"node-valid-hostname.service: Deactivated successfully.":                     {Name: "node-valid-hostname.service", Done: true},
		"Dependency failed for Kubernetes Kubelet.":                                  {Words: "Kubernetes Kubelet", Failed: true},
		"crio.service: Main process exited, code=exited, status=0/SUCCESS":           {},
		"Stopping Kubernetes Kubelet...":                                             {},
		"kubelet.service: Scheduled restart job, restart counter is at 5.":           {},
		"something else: Failed with result 'x', which is no unit of systemd at all": {},
	} {
		got, ok := Job([]byte(text))
		if ok != (want != Unit{}) || ok && got != want {
			t.Errorf("%s: %+v %t, want %+v", text, got, ok, want)
		}
	}
}

func TestUnitOf(t *testing.T) {
	for _, tt := range []struct {
		unit, program string
		want          bool
	}{
		{"bootkube.service", "bootkube.sh", true}, {"crio.service", "crio", true}, {"kubelet.service", "kubenswrapper", true},
		{"machine-config-daemon-firstboot.service", "machine-config-daemon", true}, {"crio.service", "crio-wipe", false}, {"", "crio", false},
		{"kubelet.service", "", false},
	} {
		if got := (Unit{Name: tt.unit}).Of(tt.program); got != tt.want {
			t.Errorf("%s of %s: %t", tt.program, tt.unit, got)
		}
	}
}

// A calm line is none that Parse calls an error, or that is about a unit or a boot.
func TestCalm(t *testing.T) {
	for _, text := range []string{
		"Mar 01 11:30:40 m1 kubenswrapper[9]: I0301 11:30:40.000001 9 a.go:1] no pod", "I1106 14:39:39.989826       1 a.go:261] failed to do it",
		`time="2026-05-01T07:45:35Z" level=info msg="an error"`, `{"level":"info","msg":"x"}`, `Mar 01 11:30:40 m1 crio[9]: time="2026-05-01 07:45:35Z" level=warning msg="x"`,
	} {
		if !Calm([]byte(text)) {
			t.Errorf("not calm: %s", text)
		}
	}
	for _, text := range []string{
		"Mar 01 11:30:40 m1 kubenswrapper[9]: E0301 11:30:40.000001 9 a.go:1] no pod", `time="2026-05-01T07:45:35Z" level=error msg="level=info"`,
		"Mar 01 11:30:40 m1 systemd[1]: Started Kubernetes Kubelet.", "Installing: failed", `{"kind":"x"}`, "", "I", "INFO x", `time="`, "Mar 01 11:30:40 m1 x[1]:",
	} {
		if Calm([]byte(text)) {
			t.Errorf("calm: %s", text)
		}
	}
}

// Foreign bytes are read without a panic, and what is kept is part of the line.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"E1106 14:39:39.98", `time="`, "2026-03-01T", "[ 1.2", `{"level":"`, "May 01 07:45:35 a b[", "a[", "ERROR", "- :", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l := Parse([]byte(line))
		for _, part := range [][]byte{l.Host, l.Program, l.Message} {
			if !strings.Contains(line, string(part)) {
				t.Errorf("%q is no part of %q", part, line)
			}
		}
		Boot([]byte(line), l)
		Job(l.Message)
		Failing(l.Message)
		if Calm([]byte(line)) && l.Level >= Error {
			t.Errorf("%q is calm, and an error", line)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	line := []byte("Nov 20 03:11:01 worker-3 kubenswrapper[2112]: I1120 03:11:01.123456    2112 reconciler_common.go:245] \"operationExecutor.VerifyControllerAttachedVolume started for volume\" pod=\"openshift-dns/dns-default-x7x2k\"\n")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Parse(line)
	}
}

func TestCommand(t *testing.T) {
	for line, want := range map[string]string{
		"$ oc get nodes":                                   "oc get nodes",
		"sh-5.1# chronyc -n sources":                       "chronyc -n sources",
		"[core@w1 ~]$ sudo crictl ps -a":                   "crictl ps -a",
		"[root@bastion install-dir]# curl -kI https://a:1": "curl -kI https://a:1",
		"core@w1:~$ ls":                                    "ls",
		"`$ oc get bmh`":                                   "oc get bmh",
		"# a comment of YAML":                              "",
		"cost: 5 $ a day":                                  "",
		"$":                                                "",
		"+ for x in $ y":                                   "",
		"":                                                 "",
	} {
		got, ok := Command([]byte(line))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q: %q %t, want %q", line, got, ok, want)
		}
	}
}

// TestLocalTime: a journal of another language has the same header.
func TestLocalTime(t *testing.T) {
	for line, want := range map[string]string{
		"5월 03 17:40:32 kite kubelet[549]: E0503 17:40:32.221354    5493 kite.go:72] it is odd": "kubelet",
		"févr. 03 17:40:32 kite crio[1]: ok":                                                    "crio",
		"mai  3 17:40:32 kite systemd[1]: ok":                                                   "systemd",
		"it was 03 17:40:32 kite crio[1]: ok":                                                   "",
		"pod 03 17:40:32":                                                                       "",
	} {
		if l := Parse([]byte(line)); string(l.Program) != want || want == "kubelet" && l.Level != Error {
			t.Errorf("%s: program %q, level %d", line, l.Program, l.Level)
		}
	}
}
