package installer

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rollcall is the program of this working tree. It is run and not linked: the libraries of
// the installer are of other versions.
func rollcall(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("ROLLCALL"); p != "" {
		return p
	}
	p := filepath.Join(t.TempDir(), "rollcall")
	cmd := exec.Command("go", "build", "-o", p, "./cmd/rollcall")
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build rollcall: %v\n%s", err, out)
	}
	return p
}

// answer is what preflight says.
type answer struct {
	mistakes, warnings []string
	failed             string // it could not read the plan: a refusal, too
	undecided          bool   // no mistake was found, and not all could be checked
}

// judged is the release whose installer is the judge.
const judged = "4.19"

// preflightSays runs preflight over a plan.
func preflightSays(program string, p plan, args ...string) (answer, error) {
	dir, err := os.MkdirTemp("", "plan")
	if err != nil {
		return answer{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory for temporary files
	if err := p.write(dir); err != nil {
		return answer{}, err
	}
	cmd := exec.Command(program, append([]string{"preflight", "--install-dir", dir, "--release", judged, "-o", "json"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return answer{}, err
	} else if exit != nil && exit.ExitCode() == 1 {
		return answer{failed: stderr.String()}, nil
	}
	var d struct {
		Findings []struct{ Fault, Outcome, Severity string } `json:"findings"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return answer{}, errors.Join(err, errors.New(stderr.String()))
	}
	a := answer{undecided: cmd.ProcessState.ExitCode() == 3}
	for _, f := range d.Findings {
		switch {
		case f.Outcome != "present":
		case f.Severity == "error":
			a.mistakes = append(a.mistakes, f.Fault)
		default:
			a.warnings = append(a.warnings, f.Fault)
		}
	}
	slices.Sort(a.mistakes)
	return a, nil
}

func (a answer) refuses() bool { return len(a.mistakes) > 0 || a.failed != "" }
