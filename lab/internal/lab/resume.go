package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// CopyTo copies a lab that does not run: its snapshot.
func (d Dir) CopyTo(to Dir) error {
	if err := copyTree(string(d), string(to)); err != nil {
		return fmt.Errorf("copy %s to %s: %w", d, to, err)
	}
	return nil
}

// copyTree copies files, directories and links with their modes.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return writeFile(target, data, info)
		}
		return nil // sockets
	})
}

func writeFile(path string, data []byte, like fs.FileInfo) error {
	if err := os.WriteFile(path, data, like.Mode().Perm()); err != nil {
		return err
	}
	if err := os.Chmod(path, like.Mode().Perm()); err != nil { // the umask
		return err
	}
	return os.Chtimes(path, like.ModTime(), like.ModTime())
}

// Restore fills d with a snapshot that was made in this or another directory,
// and makes paths on the hosts' disks point here.
func (d Dir) Restore(from Dir) error {
	state, err := from.ReadState()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no snapshot in %s", from)
	}
	if err != nil {
		return err
	}
	if state.Snapshot == "" {
		return fmt.Errorf("%s holds a lab and no snapshot", from)
	}
	if err := from.CopyTo(d); err != nil {
		return err
	}
	// The state's own file is there at every moment: without it the directory is no one's.
	data, err := os.ReadFile(d.file(stateFile))
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.file(snapshotFile), data, 0o600); err != nil {
		return err
	}
	if err := d.writeState(State{Scenario: state.Scenario, Stage: Starting, Started: time.Now().UTC()}); err != nil {
		return err
	}
	here, err := filepath.Abs(string(d))
	if err != nil {
		return err
	}
	return d.repoint(state.Snapshot, here)
}

// repoint replaces one directory by another where the hosts' kubelets have
// written absolute paths of the lab's files: in their kubeconfig, and in the
// link to the current certificate.
func (d Dir) repoint(was, is string) error {
	if was == is {
		return nil
	}
	links, err := filepath.Glob(d.file("hosts", "*", "root", "var", "lib", "kubelet", "pki", "*-current.pem"))
	if err != nil {
		return err
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil {
			return err
		}
		rest, ok := strings.CutPrefix(target, was)
		if !ok {
			continue
		}
		if err := os.Remove(link); err != nil {
			return err
		}
		if err := os.Symlink(is+rest, link); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(d.file("hosts", "*", "root", "var", "lib", "kubelet", "kubeconfig"))
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(data), was+"/", is+"/")), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// MarkSnapshot says in a lab's state that it was stopped to be continued with, and
// which directory its files name.
func (d Dir) MarkSnapshot(dir string) error {
	s, err := d.ReadState()
	if err != nil {
		return err
	}
	s.Snapshot, s.PID = dir, 0
	return d.writeState(s)
}

// restore reads what a snapshot knows of itself.
func (l *Lab) restore(context.Context) error {
	saved, err := readState(l.opts.Dir.file(snapshotFile))
	if err != nil {
		return err
	}
	if !saved.Net.Free() {
		return fmt.Errorf("go on with a snapshot: its network %s is in use; stop the lab that uses it", saved.Net.CIDR())
	}
	if l.pki, err = pki.Load(l.opts.Dir.file(pkiFile)); err != nil {
		return err
	}
	if until := l.pki.KubeletSigner.NotAfter(); time.Now().After(until) {
		return fmt.Errorf("go on with a snapshot: the signer of its kubelets ended at %s, a day after its install; make "+
			"another one", until.UTC().Format(time.RFC3339))
	}
	l.net = saved.Net
	l.update(func(s *State) {
		s.Net, s.Installed = saved.Net, saved.Installed
		s.FirstRender, s.ClusterRender = saved.FirstRender, saved.ClusterRender
	})
	return l.equip(saved.Installed)
}

// resume lets the hosts continue and waits until everything that ran runs again.
func (l *Lab) resume(ctx context.Context) error {
	if err := l.applier.Discover(); err != nil {
		return err
	}
	if err := l.freeLeases(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	l.controllerOn, l.handedOver, l.metal3Shown = true, true, true
	l.mu.Unlock()
	l.follow(ctx, l.plane)
	l.hosts.Go(func() { l.world(ctx) })
	for _, h := range append(l.values.Hosts, l.values.Workers...) {
		if err := l.PowerOn(ctx, Machine{Host: h, Resume: true}); err != nil {
			return err
		}
	}
	return l.awaitWhy(ctx, 2*time.Minute, "the cluster does not go on", func(ctx context.Context, _ *Lab) (string, error) {
		if len(l.vip.Targets()) == 0 {
			return "no machine config server serves", nil
		}
		if !l.procs.Running(controllerProc) {
			return "the machine-config-controller does not run", nil
		}
		return l.Complete(ctx)
	})
}

// freeLeases takes the leader leases from the processes that ended with the
// snapshot, as they do themselves when they are stopped in order. Their
// successors would wait for two minutes.
func (l *Lab) freeLeases(ctx context.Context) error {
	for _, name := range []struct{ namespace, name string }{
		{MCONamespace, "machine-config-controller"}, {approverDeployment.namespace, approverLease},
	} {
		if err := cluster.FreeLease(ctx, l.kube, name.namespace, name.name); err != nil {
			return err
		}
	}
	return nil
}
