package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// timelines is the variable of the environment that names a directory for the raw
// timelines of what was sampled.
const timelines = "ROLLCALL_LAB_TIMELINES"

// sample is one answer of the tool about a lab that changes.
type sample struct {
	at   time.Time
	took time.Duration
	step string // of the lab, when it was asked
	// steps is what the lab had begun until then: some steps are shorter than a question.
	steps []string
	// torn: time was moved meanwhile (Lab.Age). What was read is of two times, which no
	// cluster ever is.
	torn bool
	code int
	err  string
	d    diagnosis
	raw  string // the whole answer
}

// sampler asks the tool about a lab again and again, from the first moment at which its
// API answers.
type sampler struct {
	dir, state string
	every      time.Duration

	stop chan struct{}
	done sync.WaitGroup
	list []sample
}

// sampling begins to ask. Every question is a process of its own, as a person asks.
func (w *world) sampling(every time.Duration) *sampler {
	s := &sampler{dir: w.dir, state: w.state, every: every, stop: make(chan struct{})}
	s.done.Go(s.run)
	return s
}

// end stops asking and returns the answers.
func (s *sampler) end() []sample {
	close(s.stop)
	s.done.Wait()
	return s.list
}

// sampledLab is what the sampler looks at of lab.json.
type sampledLab struct {
	Step  string
	Steps []string
	Aging bool
	Aged  int
}

func (s *sampler) look() (sampledLab, error) {
	var lab sampledLab
	data, err := os.ReadFile(filepath.Join(s.dir, "lab.json"))
	if err != nil {
		return lab, err
	}
	return lab, json.Unmarshal(data, &lab)
}

func (s *sampler) run() {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		kubeconfig := filepath.Join(s.dir, "kubeconfig")
		if _, err := os.Stat(kubeconfig); err != nil {
			continue // the API server has not started
		}
		before, err := s.look()
		if err != nil {
			continue
		}
		one := s.ask(kubeconfig)
		after, err := s.look()
		one.step, one.steps, one.torn = before.Step, after.Steps, err != nil || before.Aging || after.Aging || before.Aged != after.Aged
		s.list = append(s.list, one)
	}
}

func (s *sampler) ask(kubeconfig string, flags ...string) sample {
	one := sample{at: time.Now()}
	cmd := exec.Command(rollcallBin, append([]string{"diagnose", "-o", "json", "--kubeconfig", kubeconfig}, flags...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.state, "KUBECONFIG=", "NO_COLOR=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code says how it ended
	one.took, one.code, one.err = time.Since(one.at), cmd.ProcessState.ExitCode(), strings.TrimSpace(errs.String())
	one.raw = out.String()
	if err := json.Unmarshal([]byte(one.raw), &one.d); err != nil && one.err == "" {
		one.err = "the output is no JSON: " + err.Error()
	}
	return one
}

// truth is what may be said as proven of a lab, from the moment on at which a step of it
// begins.
type truth struct {
	root  string // FAULT KIND/NAME; "?" at the end matches any name
	since string // beginning of the step; empty: always
}

// wrong says what of the answers is false at its moment: a proof of something that is
// not so, and, in a lab in which nothing is wrong, an answer that is no "nothing wrong".
// calm is the beginning of the step from which on something may be wrong; empty: never.
func wrong(list []sample, truths []truth, calm string) []violation {
	var bad []violation
	for _, s := range list {
		begun := func(since string) bool {
			return since == "" || slices.ContainsFunc(s.steps, func(step string) bool { return strings.HasPrefix(step, since) })
		}
		if s.torn {
			continue
		}
		if s.code == 1 || s.code < 0 {
			bad = append(bad, violation{id: fmt.Sprintf("exit %d", s.code), of: s})
		}
		if (calm == "" || !begun(calm)) && (s.code == 2 || s.code == 3) {
			for _, why := range s.why() {
				bad = append(bad, violation{id: fmt.Sprintf("exit %d: %s", s.code, why), of: s})
			}
		}
		for _, r := range s.d.Roots {
			if r.Confidence != "proven" || holds(truths, r.name(), begun) {
				continue
			}
			bad = append(bad, violation{id: "proven " + r.name(), of: s})
		}
	}
	return bad
}

// why is the reason for an answer, the same each time: its roots, else that it is
// undecided.
func (s sample) why() []string {
	var list []string
	for _, r := range s.d.Roots {
		list = append(list, r.name())
	}
	if len(list) == 0 {
		return []string{s.d.Verdict.Class}
	}
	return list
}

// name is FAULT KIND/NAME, without the name that a kubelet has chosen.
func (r root) name() string {
	return r.Fault + " " + madeUp.ReplaceAllString(r.Subject.String(), "csr/?")
}

func holds(truths []truth, root string, begun func(string) bool) bool {
	for _, t := range truths {
		prefix, open := strings.CutSuffix(t.root, "?")
		if (t.root == root || open && strings.HasPrefix(root, prefix)) && begun(t.since) {
			return true
		}
	}
	return false
}

func (s sample) String() string {
	mark := ""
	if s.torn {
		mark = " [time is being moved]"
	}
	text := fmt.Sprintf("%s +%4.1fs exit %d %s: roots [%s]; reason: %s; hosts %s; step: %s%s", s.at.UTC().Format("15:04:05.0"), s.took.Seconds(),
		s.code, s.d.Verdict.Class, s.d.roots(), s.d.Verdict.Reason, s.d.hosts(), s.step, mark)
	if s.d.Verdict.Class == "" {
		text += "; stderr: " + s.err
	}
	return text
}

// write keeps the raw timeline where somebody wants it.
func write(t *testing.T, name string, list []sample) {
	t.Helper()
	dir := os.Getenv(timelines)
	if dir == "" {
		return
	}
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintln(&b, s)
	}
	if err := os.WriteFile(filepath.Join(dir, "lab-timeline-"+name+".txt"), []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// summary is what a timeline holds, in runs of equal answers.
func summary(list []sample) string {
	var b strings.Builder
	last, n := "", 0
	flush := func() {
		if n > 0 {
			fmt.Fprintf(&b, "  %3d x %s\n", n, last)
		}
		n = 0
	}
	for _, s := range list {
		if s.torn {
			continue
		}
		line := fmt.Sprintf("exit %d %s [%s]", s.code, s.d.Verdict.Class, s.d.roots())
		if line != last {
			flush()
		}
		last, n = line, n+1
	}
	flush()
	return b.String()
}
