package proc

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// InEtc is the first argument with which the lab's own program is started
// again as the entrance to a mount namespace, see EnterEtc.
const InEtc = "in-etc"

// ownEtc turns cmd into one that starts in a mount namespace of its own in
// which dir lies over /etc. The machine config server reads its token from the
// fixed path /etc/mcs/bootstrap-token
// (openshift/machine-config-operator:pkg/server/cluster_server.go
// bootstrapTokenDir), and the lab writes nowhere outside its own directory.
// Who is not root gets a user namespace as well, in which that is allowed.
func ownEtc(cmd *exec.Cmd, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd.Args = append([]string{self, InEtc, dir, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return nil
}

// EnterEtc binds dir over /etc in the mount namespace that the process was
// started in and becomes the program. It returns only an error.
func EnterEtc(dir, path string, args []string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount(dir, "/etc", "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s over /etc: %w", dir, err)
	}
	if err := syscall.Exec(path, append([]string{path}, args...), os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", path, err)
	}
	return nil
}
