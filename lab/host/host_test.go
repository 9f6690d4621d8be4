package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// script writes a program for the test; it stands in for a binary that a lab
// builds.
func script(t *testing.T, body string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(p, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// fastPace takes all waiting out of a host.
func fastPace() Pace {
	ms := time.Millisecond
	return Pace{
		Firmware: ms, StartJob: time.Hour, FirstBoot: ms, FirstBootRetry: ms, Reboot: ms, KubeletStart: ms,
		KubeletRestart: ms, Network: ms, StaticPods: ms, DaemonStart: ms, DaemonSync: ms,
	}
}

func testHost(t *testing.T, ignition string) *Host {
	t.Helper()
	return New(Config{
		Name: node, Role: "master", Dir: t.TempDir(), Address: "127.0.0.1", Pointer: []byte(`{"ignition":{"version":"3.4.0"}}`),
		IgnitionBin: ignition, KubeletBootstrapBin: script(t, "exec sleep 1000\n"), BootImage: osA, Pace: fastPace(),
	})
}

// runUntil runs a host until its console or state satisfies done.
func runUntil(t *testing.T, h *Host, done func(console string, s State) bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	finished := make(chan error, 1)
	go func() { finished <- h.Run(ctx) }()
	for {
		console, _ := os.ReadFile(filepath.Join(h.cfg.Dir, "console.log"))
		s, _ := ReadState(h.cfg.Dir)
		if done(string(console), s) {
			cancel()
			if err := <-finished; err != nil {
				t.Fatalf("Run: %v", err)
			}
			return string(console)
		}
		select {
		case err := <-finished:
			t.Fatalf("Run ended with %v; the console shows\n%s", err, console)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ignitionScript is a program with Ignition's flags that prints lines and
// writes config to --config-cache.
func ignitionScript(t *testing.T, lines []string, config string, exit int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("for a in \"$@\"; do case $a in --config-cache=*) cache=${a#*=};; esac; done\n")
	b.WriteString("test -s \"$IGNITION_CONFIG_FILE\" || exit 9\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "cat <<'EOF'\n%s\nEOF\n", l)
	}
	fmt.Fprintf(&b, "cat >\"$cache\" <<'EOF'\n%s\nEOF\nexit %d\n", config, exit)
	return script(t, b.String())
}

// served is the config of a machine config server around mc.
func served(t *testing.T, mc *machineConfig) string {
	t.Helper()
	enc, err := json.Marshal(encapsulated(mc))
	if err != nil {
		t.Fatal(err)
	}
	return string(rendered("x", "", "/etc/a", "a", encapsulatedPath, string(enc)).Spec.Config)
}

func TestIgnitionOutputReachesTheConsoleUnchanged(t *testing.T) {
	lines := []string{
		"INFO     : GET https://api-int.lab.test:22623/config/master: attempt #1",
		"INFO     : GET result: Internal Server Error",
		"  \ttext with  spaces, %d and \\n",
		strings.Repeat("long ", 40000) + "end",
	}
	h := testHost(t, ignitionScript(t, lines, served(t, rendered("rendered-master-1", osA)), 0))
	console := runUntil(t, h, func(_ string, s State) bool { return s.Phase == PhaseRunning })
	for _, l := range lines {
		if !strings.Contains(console, "]: "+l+"\n") {
			t.Errorf("the console does not show %.80q", l)
		}
	}
	if !strings.Contains(console, "] ignition[") {
		t.Error("no line is marked as ignition's")
	}
	if got, err := os.ReadFile(filepath.Join(h.cfg.Dir, "root/etc/a")); err != nil || string(got) != "a" {
		t.Errorf("file of the config holds %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(h.cfg.Dir, "run")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the fetched config was left behind: %v", err)
	}
}

// TestIgnitionOutputComesLate: the end of the output takes longer than the exit of Ignition, as
// on a machine that stands still for some seconds. The machine boots, and no line is lost.
func TestIgnitionOutputComesLate(t *testing.T) {
	t.Parallel()
	ignition := ignitionScript(t, nil, served(t, rendered("rendered-master-1", osA)), 0)
	late := script(t, "(sleep 6; echo the last line) &\nexec "+ignition+" \"$@\"\n")
	console := runUntil(t, testHost(t, late), func(_ string, s State) bool { return s.Phase == PhaseRunning })
	if !strings.Contains(console, "]: the last line\n") {
		t.Errorf("the last line is lost:\n%s", console)
	}
}

// TestIgnitionRetries lets Ignition fetch from a server that fails first. The
// real binary runs where ROLLCALL_LAB_IGNITION names it, else the test binary
// acts as one.
func TestIgnitionRetries(t *testing.T) {
	bin := os.Getenv("ROLLCALL_LAB_IGNITION")
	if bin == "" {
		bin = retryingIgnition(t)
	}
	config := served(t, rendered("rendered-master-1", osA))
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, config)
	}))
	defer srv.Close()
	h := testHost(t, bin)
	h.cfg.Pointer = []byte(`{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"` + srv.URL + `/config/master"}]}}}`)
	console := runUntil(t, h, func(_ string, s State) bool { return s.Phase == PhaseRunning })
	for _, want := range []string{
		"INFO     : GET " + srv.URL + "/config/master: attempt #1\n", "INFO     : GET result: Internal Server Error\n",
		"/config/master: attempt #3\n", "INFO     : GET result: OK\n",
	} {
		if !strings.Contains(console, want) {
			t.Errorf("the console does not show %q:\n%s", want, console)
		}
	}
}

// retryingIgnition is the test binary itself, acting as a client that retries
// and speaks like Ignition.
func retryingIgnition(t *testing.T) string {
	t.Helper()
	return script(t, fmt.Sprintf("ROLLCALL_ACT_AS_IGNITION=1 exec '%s' \"$@\"\n", os.Args[0]))
}

func TestMain(m *testing.M) {
	if os.Getenv("ROLLCALL_ACT_AS_IGNITION") != "" {
		os.Exit(actAsIgnition(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func actAsIgnition(args []string) int {
	var cache string
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "--config-cache="); ok {
			cache = v
		}
	}
	var pointer struct {
		Ignition struct {
			Config struct {
				Merge []struct{ Source string }
			}
		}
	}
	raw, err := os.ReadFile(os.Getenv("IGNITION_CONFIG_FILE"))
	if err == nil {
		err = json.Unmarshal(raw, &pointer)
	}
	if err != nil {
		fmt.Println("CRITICAL :", err)
		return 1
	}
	url := pointer.Ignition.Config.Merge[0].Source
	for n := 1; ; n++ {
		fmt.Printf("INFO     : GET %s: attempt #%d\n", url, n)
		resp, err := http.Get(url)
		if err != nil {
			fmt.Println("CRITICAL :", err)
			return 1
		}
		fmt.Println("INFO     : GET result:", http.StatusText(resp.StatusCode))
		config, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return 1
		}
		if resp.StatusCode == http.StatusOK {
			if err := os.WriteFile(cache, config, 0o600); err != nil {
				return 1
			}
			return 0
		}
	}
}

func TestIgnitionFailureIsTheEmergencyShell(t *testing.T) {
	h := testHost(t, ignitionScript(t, []string{"CRITICAL : Ignition failed: unsupported config version"}, "", 1))
	console := runUntil(t, h, func(_ string, s State) bool { return s.Phase == PhaseFailed })
	for _, want := range []string{"CRITICAL : Ignition failed: unsupported config version\n", "emergency.target", "Press Enter for emergency shell"} {
		if !strings.Contains(console, want) {
			t.Errorf("the console does not show %q", want)
		}
	}
	s, err := ReadState(h.cfg.Dir)
	if err != nil || s.Reason != "ignition exited with status 1: CRITICAL : Ignition failed: unsupported config version" {
		t.Errorf("state is %+v, %v", s, err)
	}
	// Power off and on: Ignition runs again, and this time it has a config.
	again := New(h.cfg)
	again.cfg.IgnitionBin = ignitionScript(t, nil, served(t, rendered("rendered-master-1", osA)), 0)
	runUntil(t, again, func(_ string, s State) bool { return s.Phase == PhaseRunning })
}

func TestInstalledHostBootsFromDisk(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	ign := ignitionScript(t, nil, served(t, rendered("rendered-master-1", osA)), 0)
	h := testHost(t, script(t, fmt.Sprintf("echo x >>%s\nexec %s \"$@\"\n", count, ign)))
	running := func(_ string, s State) bool { return s.Phase == PhaseRunning }
	runUntil(t, h, running)
	first, _ := ReadState(h.cfg.Dir)
	if first.Since.IsZero() {
		t.Error("the phase has no time")
	}
	runUntil(t, New(h.cfg), func(_ string, s State) bool { return s.Phase == PhaseRunning && s.Boots > first.Boots })
	second, _ := ReadState(h.cfg.Dir)
	if runs, _ := os.ReadFile(count); string(runs) != "x\n" {
		t.Errorf("ignition ran as often as %q", runs)
	}
	if first.BootID == second.BootID || first.MachineID != second.MachineID || first.SystemUUID != second.SystemUUID {
		t.Errorf("before %+v\nafter  %+v", first, second)
	}
}

func TestFirstBoot(t *testing.T) {
	for name, c := range map[string]struct {
		image   string
		reboots bool
		says    string
	}{
		"same image":  {osA, false, `"skipping reboot since no changes were detected from mco-empty-mc to rendered-master-1"`},
		"other image": {osB, true, `"initiating reboot: Completing firstboot provisioning to rendered-master-1"`},
	} {
		t.Run(name, func(t *testing.T) {
			h := testHost(t, ignitionScript(t, nil, served(t, rendered("rendered-master-1", c.image)), 0))
			console := runUntil(t, h, func(_ string, s State) bool { return s.Phase == PhaseRunning })
			if !strings.Contains(console, c.says) {
				t.Errorf("the console does not show %s", c.says)
			}
			s, err := ReadState(h.cfg.Dir)
			if err != nil || s.OSImage != c.image || s.Boots != map[bool]int{false: 1, true: 2}[c.reboots] {
				t.Errorf("state is %+v, %v", s, err)
			}
			for file, want := range map[string]bool{encapsulatedPath: false, encapsulatedBakPath: c.reboots, currentConfigPath: c.reboots} {
				_, err := os.Stat(filepath.Join(h.cfg.Dir, "root", file))
				if got := err == nil; got != want {
					t.Errorf("%s is there: %v, want %v", file, got, want)
				}
			}
		})
	}
}

func TestDaemonWaitsForItsKubeconfig(t *testing.T) {
	k, _, _ := testKubelet(t)
	close(k.registered)
	k.h.pace = fastPace()
	k.h.pace.DaemonRetryMax = time.Millisecond
	k.h.cfg.DaemonKubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.h.runDaemon(ctx, k) }()
	config := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
	if err := os.WriteFile(k.h.cfg.DaemonKubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for {
		if raw, _ := os.ReadFile(k.h.daemonLogPath()); strings.Contains(string(raw), "Starting MachineConfigDaemon") {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("the daemon ended with %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	<-done
}

func TestConfigIsChecked(t *testing.T) {
	h := New(Config{Name: "x", Address: "not an address"})
	err := h.Run(t.Context())
	if err == nil {
		t.Fatal("an empty configuration was accepted")
	}
	for _, want := range []string{"Role is empty", "Dir is empty", "Pointer is empty", "IgnitionBin is empty", `"not an address"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q: %v", want, err)
		}
	}
}

func TestStartJobLinesWhileIgnitionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &strings.Builder{}
		h := New(Config{})
		h.console = newConsole(out, time.Now)
		done := make(chan struct{})
		go func() { time.Sleep(65 * time.Second); close(done) }()
		h.startJobLines(done)
		want := startJob(ignitionUnit, 20*time.Second) + "\n" + startJob(ignitionUnit, 40*time.Second) + "\n" + startJob(ignitionUnit, time.Minute) + "\n"
		if out.String() != want {
			t.Errorf("console shows %q, want %q", out, want)
		}
	})
}
