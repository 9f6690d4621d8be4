package crash

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFunc: a panic in a goroutine that nobody waits for ends the process with one line and exit code 1.
func TestFunc(t *testing.T) {
	if os.Getenv("ROLLCALL_CRASH") != "" {
		go Func(func() { panic(errors.New("password=hunter2")) })()
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestFunc$")
	cmd.Env = append(os.Environ(), "ROLLCALL_CRASH=1")
	var errs strings.Builder
	cmd.Stderr = &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("it ends with %v", err)
	}
	if line := errs.String(); strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "this is a defect of the program: ") || strings.Contains(line, "hunter2") {
		t.Errorf("it prints %q", line)
	}
	ran := false
	Func(func() { ran = true })()
	if !ran {
		t.Error("the function was not run")
	}
}
