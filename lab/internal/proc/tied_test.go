package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parentOf is the first argument with which the test program plays the parent
// of a tied program.
const parentOf = "parent-of"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 3 && os.Args[1] == TiedTo:
		fmt.Fprintln(os.Stderr, BecomeTied(os.Args[2], os.Args[3], os.Args[4:]))
		os.Exit(1)
	case len(os.Args) > 2 && os.Args[1] == parentOf:
		playParent(os.Args[2])
	}
	os.Exit(m.Run())
}

// playParent starts a tied sleep, tells its number and waits to be killed.
func playParent(dir string) {
	script, err := Tied(dir, "/bin/sleep")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cmd := exec.Command(script, "600")
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(cmd.Process.Pid)
	time.Sleep(time.Hour) // a select without cases would be a deadlock of the only goroutine
}

// TestTiedDiesWithItsParent kills the parent in the way that leaves it no
// chance to clean up.
func TestTiedDiesWithItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self, parentOf, t.TempDir())
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 32)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tied program runs", func() bool { return program(pid) == "sleep" })
	if err := parent.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed
	eventually(t, "the tied program is gone", func() bool { return program(pid) == "" })
}

// program returns the name of a living process, or nothing.
func program(pid int) string {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	name, rest, ok := bytes.Cut(stat, []byte(") "))
	if !ok || rest[0] == 'Z' {
		return ""
	}
	_, after, _ := bytes.Cut(name, []byte("("))
	return string(after)
}

// eventually waits for something that another process does; the limit is only
// there so that a failure ends.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 12000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within 2 minutes: %s", what)
}
