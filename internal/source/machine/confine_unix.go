//go:build unix

package machine

import (
	"os/exec"
	"syscall"
)

// confine runs a program in the machine's root directory, with its own libraries.
func confine(cmd *exec.Cmd, root string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	return nil
}
