package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// buildProvider builds a program of a provider's module next to the tool, where it is on the
// PATH of the programs under test.
func buildProvider(t *testing.T, module, pkg, name string) string {
	t.Helper()
	out := filepath.Join(filepath.Dir(rollcallBin), name)
	build := exec.Command("go", "build", "-o", out, pkg)
	build.Dir = filepath.Join("..", "..", "providers", module)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, text)
	}
	return out
}

// cloud is the emulated Compute Engine API, whose instances are machines of the lab.
type cloud struct {
	t   *testing.T
	url string
}

// cloudState is what it has; see emulator.State in providers/gcp.
type cloudState struct {
	Instances map[string]json.RawMessage
	Rules     map[string]json.RawMessage
	Begun     map[string]int
	Wrong     []string
}

func startCloud(t *testing.T, w *world) *cloud {
	t.Helper()
	buildProvider(t, "gcp", ".", "rollcall-provider-gcp")
	cmd := exec.Command(buildProvider(t, "gcp", "./cmd/gcp-emulator", "gcp-emulator"), "--machines", filepath.Join(filepath.Dir(rollcallBin), "rollcall-provider-lab"), "--options", "dir="+w.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the emulator: %v", err)
	}
	return &cloud{t, strings.TrimSpace(line)}
}

// behave changes it; see emulator.Behavior.
func (c *cloud) behave(change string) {
	c.t.Helper()
	resp, err := http.Post(c.url+"/emulator", "application/json", strings.NewReader(change))
	if err != nil {
		c.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		c.t.Fatalf("the emulator does not take %s: %s", change, resp.Status)
	}
}

func (c *cloud) state() cloudState {
	c.t.Helper()
	resp, err := http.Get(c.url + "/emulator")
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var s cloudState
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		c.t.Fatal(err)
	}
	for _, what := range s.Wrong {
		c.t.Errorf("the API would not take it: %s", what)
	}
	return s
}

// names are the instances as ZONE/NAME, the rules, and in front of an instance that has
// user-data a star.
func (c *cloud) names() string {
	c.t.Helper()
	s := c.state()
	var list []string
	for name, i := range s.Instances {
		mark := ""
		if bytes.Contains(i, []byte(`"user-data"`)) {
			mark = "*"
		}
		list = append(list, mark+strings.TrimPrefix(name, "europe-west1-"))
	}
	for name := range s.Rules {
		if strings.HasPrefix(name, "rollcall-") {
			name = "ours"
		}
		list = append(list, "rule "+name)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func (c *cloud) flags(more ...string) []string {
	return append([]string{"--hosted", "clusters/guest", "--provider", "gcp", "--option", "endpoint=" + c.url, "--option", "project=project1",
		"--option", "zones=europe-west1-b,europe-west1-c", "--option", "subnetwork=workers", "--option", "image=rhcos", "--option", "firewall=create", "--yes"}, more...)
}

// runID is the id of the run that a command has begun.
func runID(r result) string {
	_, run, _ := strings.Cut(r.out, "Run ")
	run, _, _ = strings.Cut(run, ".")
	return run
}

// TestWorkerGCP goes with the tool, the program of the provider and Google's library against
// the emulated API, whose instances boot through the real Ignition: quotas, a full zone, lost
// answers, a killed run, a worker that does not come, replace, delete and rollback. What is of
// others stays, and no user-data is left.
func TestWorkerGCP(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip(full)
	}
	w := up(t, "hosted", true)
	c := startCloud(t, w)
	c.behave(`{"slow":2,"plant":[{"name":"allow-ssh","description":"ours"},
		{"zone":"europe-west1-b","name":"guest50","labels":{"rollcall-run":"w-0000000000"},"description":"theirs"},
		{"zone":"europe-west1-c","name":"guest5-old","labels":{"rollcall-cluster":"other"},"description":"theirs"}]}`)
	const theirs = "*b/guest50 *c/guest5-old rule allow-ssh"
	create := func(more ...string) []string { return append([]string{"worker", "create"}, c.flags(more...)...) }

	c.behave(`{"limits":{"N2_CPUS":12}}`)
	r := w.live(create("--host", "guest5", "--host", "guest6")...)
	if r.code != 2 || !strings.Contains(r.out, "quota N2_CPUS") || !strings.Contains(r.out, "Nothing was made") || c.names() != theirs {
		t.Fatalf("a quota that does not suffice: %s: %s", c.names(), r)
	}

	// One zone has no room, and the answer to an insert is lost after it was carried out.
	c.behave(`{"limits":{"N2_CPUS":100},"exhausted":{"europe-west1-b":true},"lose":{"POST instances":"after"}}`)
	began := time.Now()
	r = w.live(create("--host", "guest5", "--host", "guest6", "--window", "6m")...)
	if r.code != 0 || !strings.Contains(r.out, "2 of 2 workers are Ready") {
		t.Fatal(r)
	}
	t.Logf("2 workers in %s", time.Since(began).Round(time.Second))
	if got := c.names(); got != "*b/guest50 *c/guest5-old c/guest5 c/guest6 rule allow-ssh rule ours" {
		t.Errorf("made: %s", got)
	}
	for target, n := range c.state().Begun {
		// An insert into each zone at most, and one change of the metadata.
		if most := 2; strings.Contains(target, "europe-west1-c/instances/guest") && n > most {
			t.Errorf("%d operations on %s", n, target)
		}
	}

	// A zone is gone; the tool is killed while the machine is being made.
	c.behave(`{"zones":{"europe-west1-b":""},"slow":60}`)
	kill := create("--host", "guest7", "--window", "6m", "--kubeconfig", w.kube)
	id := w.killed(t, kill, func() bool { return c.state().Begun[instanceLink("europe-west1-c", "guest7")] > 0 })
	c.behave(`{"slow":2}`)
	if r := w.live("worker", "resume", id, "--window", "6m"); r.code != 0 || !strings.Contains(r.out, "1 of 1 workers are Ready") {
		t.Fatalf("resumed: %s", r)
	}
	if n := c.state().Begun[instanceLink("europe-west1-c", "guest7")]; n != 2 { // insert, setMetadata
		t.Errorf("%d operations on guest7, want 2", n)
	}

	// One that cannot come next to one that can: its serial port has the cause.
	c.behave(`{"machines":{"guest8":"port-closed"}}`)
	r = w.live(create("--host", "guest8", "--host", "guest9", "--window", "5m")...)
	if r.code != 3 || !strings.Contains(r.out, "1 of 2 workers are Ready") || !strings.Contains(r.out, "cause (proven): guest8") || !strings.Contains(r.out, "(mcs-refused)") {
		t.Fatal(r)
	}
	if r := w.live("worker", "rollback", runID(r)); r.code != 0 || strings.Contains(c.names(), "guest8") || !strings.Contains(c.names(), "c/guest9") {
		t.Errorf("rollback: %s: %s", c.names(), r)
	}

	// The new one first, then the old one goes; the rule goes with the last of them.
	r = w.live(append([]string{"worker", "replace", "guest5"}, c.flags("--host", "guest10", "--window", "6m", "--force", "--delete-emptydir-data")...)...)
	if r.code != 0 || !strings.Contains(r.out, "guest5: drained, and its machine and its Node are deleted") || strings.Contains(c.names(), "c/guest5 ") || !strings.Contains(c.names(), "c/guest10") {
		t.Fatalf("replace: %s: %s", c.names(), r)
	}
	for _, name := range []string{"guest6", "guest7", "guest9", "guest10"} {
		if r := w.live("worker", "delete", name, "--hosted", "clusters/guest", "--yes", "--force", "--delete-emptydir-data"); r.code != 0 {
			t.Fatal(r)
		}
	}
	c.behave(`{"zones":{"europe-west1-b":"UP"}}`)
	if got := c.names(); got != theirs {
		t.Errorf("left: %s, want %s", got, theirs)
	}
}

func instanceLink(zone, name string) string {
	return fmt.Sprintf("https://www.googleapis.com/compute/v1/projects/project1/zones/%s/instances/%s", zone, name)
}

// killed runs the tool, kills it when now says so, and returns the id of the run that it began.
func (w *world) killed(t *testing.T, args []string, now func() bool) string {
	t.Helper()
	done := make(chan result, 1)
	var run string
	cmd := w.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait(); done <- result{} }()
	deadline := time.Now().Add(2 * time.Minute)
	for !now() {
		select {
		case <-done:
			t.Fatalf("it ended before it was killed: %s", out.String())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatal("it was not the time to kill it")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-done
	if run = runID(result{out: out.String()}); !strings.HasPrefix(run, "w-") {
		t.Fatalf("no run had begun: %s", out.String())
	}
	return run
}
