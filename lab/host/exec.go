package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	remotecommandconsts "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/tools/remotecommand"
	streaming "k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// exec answers as the kubelet does to the exec subresource of a pod, with the
// kubelet's own server of its streams. There are two containers in which something
// can be run: the machine-config-daemon's, and etcdctl's where etcd has several members.
func (k *kubelet) exec(w http.ResponseWriter, r *http.Request) {
	ns, pod, container := r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	var shell streaming.Executor
	switch {
	case ns == daemonNamespace && container == daemonContainer && strings.HasPrefix(pod, daemonContainer):
		shell = daemonShell{k.h.disk}
	case ns == etcdNamespace && container == etcdctlContainer && pod == "etcd-"+k.h.cfg.Name:
		shell = etcdctlShell{k.h.disk}
	default:
		http.Error(w, "pod does not exist", http.StatusNotFound)
		return
	}
	opts, err := streaming.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// The times are the kubelet's (k8s.io/kubernetes:pkg/kubelet/apis/config/v1beta1/defaults.go
	// StreamingConnectionIdleTimeout, k8s.io/kubelet:pkg/cri/streaming/server.go DefaultConfig).
	streaming.ServeExec(w, r, shell, pod, "", container, r.URL.Query()["command"], opts,
		4*time.Hour, remotecommandconsts.DefaultStreamCreationTimeout, remotecommandconsts.SupportedStreamingProtocols)
}

// daemonShell runs commands in the machine-config-daemon's container, which has the
// node's file system at /rootfs. `cat` of a file there prints it from the host's disk.
// A command after `chroot /rootfs` runs on this machine, in whose network namespace the
// lab's hosts are.
type daemonShell struct{ disk *disk }

// rootfs is what a command on the node begins with.
var rootfs = []string{"chroot", "/rootfs"}

// cat prints a file of the disk in the words and with the exit code of cat
// (coreutils:src/cat.c).
func (s daemonShell) cat(name string, out, errs io.Writer) error {
	data, err := s.disk.read(strings.TrimPrefix(name, rootfs[1]))
	if err != nil {
		why := err
		var pe *fs.PathError
		if errors.As(err, &pe) {
			why = pe.Err
		}
		if errs != nil {
			text := why.Error() // the C library's words begin with a capital
			fmt.Fprintf(errs, "cat: %s: %s\n", name, strings.ToUpper(text[:1])+text[1:])
		}
		return utilexec.CodeExitError{Err: err, Code: 1}
	}
	if out == nil {
		return nil
	}
	_, err = out.Write(data)
	return err
}

// ExecInContainer implements streaming.Executor.
func (s daemonShell) ExecInContainer(ctx context.Context, _ string, _ types.UID, _ string, argv []string, in io.Reader, out, errs io.WriteCloser,
	tty bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if !tty && len(argv) == 2 && argv[0] == "cat" && strings.HasPrefix(argv[1], rootfs[1]+"/") {
		return s.cat(argv[1], out, errs)
	}
	if tty || len(argv) <= len(rootfs) || !slices.Equal(argv[:len(rootfs)], rootfs) {
		return fmt.Errorf("the lab runs only %s COMMAND and cat %s/FILE in this container, and has no terminal", strings.Join(rootfs, " "), rootfs[1])
	}
	argv = argv[len(rootfs):]
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	return inContainer(cmd, in, writerOf(out), writerOf(errs))
}

// inContainer runs a command with the streams of an exec.
func inContainer(cmd *exec.Cmd, in io.Reader, out, errs io.Writer) error {
	cmd.WaitDelay = time.Second
	if out != nil {
		cmd.Stdout = out
	}
	if errs != nil {
		cmd.Stderr = errs
	}
	if in != nil {
		// Not cmd.Stdin: Wait would wait for the client to end its input.
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(stdin, in) // the command may end first
			_ = stdin.Close()
		}()
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &utilexec.ExitErrorWrapper{ExitError: exit}
	}
	return err
}
