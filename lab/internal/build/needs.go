package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// need is something that a lab has to find on the machine.
type need struct {
	what    string
	install string // how a person gets it
	check   func(context.Context) error
}

// Check says what the machine lacks to build what is not in the cache yet, and to run a
// lab. It takes less than a second, and the builds before the one that fails for want of
// a header take minutes. All that is missing is in one error, with what to install.
func (b Builder) Check(ctx context.Context) error {
	var missing []error
	for _, n := range b.needs() {
		if err := n.check(ctx); err != nil {
			missing = append(missing, fmt.Errorf("%s: %w\n  %s", n.what, err, n.install))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the lab needs what this machine has not:\n%w", errors.Join(missing...))
}

// needs lists what has to be there. A program that is in the cache needs no compiler.
func (b Builder) needs() []need {
	list := []need{
		{"Linux", "run the lab on a Linux machine", onLinux},
		{"a mount namespace of its own", "run the lab as root, or allow user namespaces (sysctl user.max_user_namespaces, " +
			"kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)", ownNamespace},
	}
	compile, cgo := false, false
	for _, t := range targets {
		file, err := b.file(t)
		if err != nil {
			continue // the build says what is wrong with the source
		}
		if _, err := os.Stat(file); err != nil {
			compile, cgo = true, cgo || t.CGO
		}
	}
	if compile {
		list = append(list, need{"the go command", "install Go, see go.mod for the version", found("go")})
	}
	if cgo {
		list = append(list, need{
			"a C compiler, pkg-config and libblkid's headers, for Ignition",
			"Debian, Ubuntu: apt-get install gcc libc6-dev pkg-config libblkid-dev; Fedora, RHEL: dnf install gcc pkgconf-pkg-config libblkid-devel",
			compilesBlkid,
		})
	}
	return list
}

func onLinux(context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("this is %s", runtime.GOOS)
	}
	return nil
}

func found(program string) func(context.Context) error {
	return func(context.Context) error {
		_, err := exec.LookPath(program)
		return err
	}
}

// ownNamespace tries what the machine config server is started in (package proc).
func ownNamespace(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return cmd.Run()
}

// compilesBlkid compiles and links the smallest program that uses libblkid, with the
// programs that the go command would use.
func compilesBlkid(ctx context.Context) error {
	pkgConfig, cc := cmp.Or(os.Getenv("PKG_CONFIG"), "pkg-config"), cmp.Or(os.Getenv("CC"), "gcc")
	compiler := strings.Fields(cc)
	for _, program := range []string{compiler[0], pkgConfig} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	flags, err := output(exec.CommandContext(ctx, pkgConfig, "--cflags", "--libs", "blkid"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "rollcall-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	source := filepath.Join(dir, "blkid.c")
	if err := os.WriteFile(source, []byte("#include <stdio.h>\n#include <blkid/blkid.h>\nint main(void) { return puts(blkid_get_library_version(0, 0) "+
		"? \"\" : \"\"); }\n"), 0o600); err != nil {
		return err
	}
	args := append(compiler[1:], "-o", filepath.Join(dir, "blkid"), source)
	_, err = output(exec.CommandContext(ctx, compiler[0], append(args, strings.Fields(flags)...)...))
	return err
}

// output is what a command prints; its error holds the first line of its complaint.
func output(cmd *exec.Cmd) (string, error) {
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, line)
	}
	return out.String(), nil
}
