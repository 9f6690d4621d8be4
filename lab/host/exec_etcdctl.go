package host

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/remotecommand"
)

const (
	etcdNamespace    = "openshift-etcd"
	etcdctlContainer = "etcdctl"
	// EtcdctlFile is the lab's, on a host's disk: the path of etcdctl on this machine, and in
	// the further lines what its container has in the environment. Without it etcdctl cannot
	// be run there.
	EtcdctlFile = "/run/rollcall-lab/etcdctl"
)

// etcdctlShell runs etcdctl, and nothing else, in the container of that name.
type etcdctlShell struct{ disk *disk }

// ExecInContainer implements streaming.Executor.
func (s etcdctlShell) ExecInContainer(ctx context.Context, _ string, _ types.UID, _ string, argv []string, in io.Reader, out, errs io.WriteCloser,
	tty bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	file, err := s.disk.read(EtcdctlFile)
	if err != nil {
		return errors.New("the lab runs etcdctl only where etcd has several members")
	}
	if tty || len(argv) == 0 || argv[0] != etcdctlContainer {
		return errors.New("the lab runs only etcdctl in this container, and has no terminal")
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	cmd := exec.CommandContext(ctx, lines[0], argv[1:]...)
	cmd.Env = lines[1:]
	return inContainer(cmd, in, writerOf(out), writerOf(errs))
}

// writerOf keeps a stream that is not there from being a writer that is not nil.
func writerOf(w io.WriteCloser) io.Writer {
	if w == nil {
		return nil
	}
	return w
}
