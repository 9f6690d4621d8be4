package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The programs under test, built once.
var rollcallBin, labBin string

// labs are the places in which labs run side by side: as many as tests would
// (go test -parallel). Most of a scenario's time is waiting.
var labs slots

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "rollcall-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	rollcallBin, labBin = filepath.Join(dir, "rollcall"), filepath.Join(dir, "rollcall-lab")
	for _, b := range []struct{ in, out, pkg string }{
		{"../..", rollcallBin, "./cmd/rollcall"},
		{"..", labBin, "./cmd/rollcall-lab"},
		{"..", filepath.Join(dir, "rollcall-provider-lab"), "./cmd/rollcall-provider-lab"},
	} {
		build := exec.Command("go", "build", "-o", b.out, b.pkg)
		build.Dir = b.in
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", b.pkg, err, out)
			return 1
		}
	}
	flag.Parse()
	if !testing.Short() { // once, and not by the first labs all at the same time
		build := exec.Command(labBin, "--source", "../servers", "build")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "build the lab's programs: %v\n", err)
			return 1
		}
	}
	parallel := flag.Lookup("test.parallel")
	labs = newSlots(dir, parallel.Value.(flag.Getter).Get().(int))
	if err := parallel.Value.Set("1000"); err != nil { // they wait for a place: see slots
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// world is one lab and what a test does with it.
type world struct {
	t     *testing.T
	dir   string // of the lab
	state string // of the tool: plans, journals
	kube  string // kubeconfig that the tool uses
	proxy *proxy
}

// up starts a scenario as soon as there is a place for it, side by side with
// other tests, and takes it down at the end.
func up(t *testing.T, scenario string, long bool, flags ...string) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("brings a lab up")
	}
	t.Parallel()
	return labs.take(t, long).up(t, scenario, flags...)
}

// source is the directory lab/servers.
func source(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../servers")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// begin brings the lab up and takes it down at the end of the test.
func (w *world) begin(t *testing.T, args ...string) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("lab at the end:\n" + w.lab("status").out + w.supervisorLog())
		}
		if r := w.lab("down"); r.code != 0 {
			t.Errorf("lab down: %s", r)
		}
	})
	r := w.lab(append([]string{"--source", source(t), "up"}, args...)...)
	if r.code != 0 {
		t.Fatalf("lab up %v: %s", args, r)
	}
	w.kube = strings.TrimSpace(w.lab("kubeconfig").out)
	w.proxy = newProxy(t, w.kube)
	w.kube = w.proxy.config
}

// supervisorLog is the end of what the lab's owner had to say.
func (w *world) supervisorLog() string {
	data, err := os.ReadFile(filepath.Join(w.dir, "supervisor.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.SplitAfter(string(data), "\n")
	return strings.Join(lines[max(0, len(lines)-60):], "")
}

// result is how a process exited.
type result struct {
	args     []string
	out, err string
	code     int // -1: killed
	took     time.Duration
}

// String is all that the process said. Of a long text the end comes first: who keeps a record
// of a failure cuts it, and the end says why.
func (r result) String() string {
	end := ""
	const many = 40
	if lines := strings.SplitAfter(strings.TrimRight(r.out, "\n"), "\n"); len(lines) > 2*many {
		end = "… " + strings.Join(lines[len(lines)-many:], "") + "\nThe whole:\n"
	}
	return fmt.Sprintf("%s: exit %d\n%s%s\n%s", strings.Join(r.args, " "), r.code, end, r.out, r.err)
}

func (w *world) lab(args ...string) result {
	w.t.Helper()
	return w.start(labBin, nil, append([]string{"--dir", w.dir}, args...)...)
}

// rollcall runs the tool as a user would.
func (w *world) rollcall(args ...string) result {
	w.t.Helper()
	return w.start(rollcallBin, w.proxy, args...)
}

// live adds what makes the tool look at the lab's cluster. A repair ends when what its plan
// is for is gone: hardly a scenario's cluster has been at rest for five minutes by then.
func (w *world) live(args ...string) result {
	w.t.Helper()
	if len(args) > 1 && args[0] == "fix" && slices.Contains([]string{"apply", "resume"}, args[1]) {
		args = append(slices.Clone(args), "--until", "plan")
	}
	return w.rollcall(append(args, "--kubeconfig", w.kube)...)
}

func (w *world) start(bin string, p *proxy, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = w.environment()
	if bin == labBin {
		cmd.Env = os.Environ()
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	if p != nil {
		p.watch(cmd.Process)
	}
	err := cmd.Wait()
	r := result{args: append([]string{filepath.Base(bin)}, args...), out: out.String(), err: errs.String(), took: time.Since(began)}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		r.code = exit.ExitCode()
	default:
		w.t.Fatalf("%s: %v", r, err)
	}
	return r
}

// environment is that of the tool.
func (w *world) environment() []string {
	return append(os.Environ(), "XDG_STATE_HOME="+w.state, "PATH="+filepath.Dir(rollcallBin)+string(filepath.ListSeparator)+os.Getenv("PATH"), "KUBECONFIG=", "NO_COLOR=1")
}

// command is the tool, for a test that does more with its process than to wait for it.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(rollcallBin, args...)
	cmd.Env = w.environment()
	return cmd
}

// diagnosis is what the tests look at in the JSON contract, with each case of a root as one.
type diagnosis struct {
	Verdict     struct{ Class, Reason string }
	Roots       []root
	Deadlocks   []struct{ Members []struct{ Fault string } }
	Unexplained []struct {
		Fault   string
		Subject subject
	}
	Findings []finding
	Hosts    []struct {
		Name, Stage, State string
	}
}

type root struct {
	Fault      string
	Subject    subject
	Confidence string
	Deadlock   int
	Remedies   []struct{ ID string }
	Evidence   []struct{ Excerpt string }
	Explains   []struct {
		Fault   string
		Subject subject
	}
}

type finding struct {
	Fault    string
	Subject  subject
	Outcome  string
	Severity string
}

type subject struct{ Kind, Name string }

func (s subject) String() string { return s.Kind + "/" + s.Name }

// UnmarshalJSON takes the cases of the contract's roots as the roots that the tests compare.
func (d *diagnosis) UnmarshalJSON(raw []byte) error {
	type plain diagnosis
	var doc struct {
		plain
		Roots []struct {
			Deadlock int
			Cases    []root
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return err
	}
	*d = diagnosis(doc.plain)
	for _, r := range doc.Roots {
		for _, c := range r.Cases {
			c.Deadlock = r.Deadlock
			d.Roots = append(d.Roots, c)
		}
	}
	return nil
}

func parse(t *testing.T, r result) diagnosis {
	t.Helper()
	var d diagnosis
	if err := json.Unmarshal([]byte(r.out), &d); err != nil {
		t.Fatalf("the output is no JSON: %v\n%s", err, r)
	}
	return d
}

// roots renders the roots for comparison: fault, subject, confidence.
func (d diagnosis) roots() string {
	var list []string
	for _, r := range d.Roots {
		list = append(list, r.Fault+" "+r.Subject.String()+" "+r.Confidence)
	}
	return strings.Join(list, ", ")
}

func (d diagnosis) hosts() string {
	var list []string
	for _, h := range d.Hosts {
		list = append(list, h.Name+":"+h.Stage+":"+h.State)
	}
	return strings.Join(list, " ")
}

// present lists the present findings.
func (d diagnosis) present() string {
	var list []string
	for _, f := range d.Findings {
		if f.Outcome == "present" {
			list = append(list, f.Fault+" "+f.Subject.String())
		}
	}
	return strings.Join(list, ", ")
}

// eventually repeats a question until it is answered with "" or the time is over.
func eventually(t *testing.T, within time.Duration, ask func() string) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		why := ask()
		if why == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", within, why)
		}
		time.Sleep(time.Second)
	}
}
