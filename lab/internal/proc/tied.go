package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// TiedTo is the first argument with which the lab's own program is started
// again to become a program that dies with its parent, see BecomeTied.
const TiedTo = "tied-to-parent"

// Tied writes a script into dir that runs program so that the kernel kills it
// when its parent dies, and returns the script's path. It serves parents that
// are given only a path, such as a host that starts Ignition.
func Tied(dir, program string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(program))
	script := fmt.Sprintf("#!/bin/sh\nexec %s %s %s %d \"$@\"\n", quote(self), TiedTo, quote(program), os.Getpid())
	return path, os.WriteFile(path, []byte(script), 0o700)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// BecomeTied asks the kernel for SIGKILL at the parent's death and becomes the
// program. It returns only an error; one of them is that the parent died
// before it was asked.
func BecomeTied(program, parent string, args []string) error {
	// The request belongs to the thread, which exec must keep.
	runtime.LockOSThread()
	const prSetPdeathsig = 1 // prctl(2) PR_SET_PDEATHSIG
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetPdeathsig, uintptr(syscall.SIGKILL), 0); errno != 0 {
		return fmt.Errorf("tie %s to its parent: %w", program, errno)
	}
	if fmt.Sprint(os.Getppid()) != parent {
		return errors.New("the parent is gone")
	}
	if err := syscall.Exec(program, append([]string{program}, args...), os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", program, err)
	}
	return nil
}
