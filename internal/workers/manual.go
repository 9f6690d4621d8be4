package workers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// manual is the provider for machines that a person boots: it writes the user-data of each
// into a file.
type manual struct{ Dir string }

var _ provider.Provider = manual{}

// file is the name of a worker's file.
func (m manual) file(o provider.Order) string { return o.Worker.Name + ".ign" }

// Create implements Provider. A file that is there with other contents is somebody else's,
// or was edited, and stays.
func (m manual) Create(_ context.Context, o provider.Order, userData []byte) (provider.Machine, error) {
	path := filepath.Join(m.Dir, m.file(o))
	made := provider.Machine{ID: path, Next: "boot it with the Ignition config in " + path + ", under the host name " + o.Worker.Name}
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return made, fmt.Errorf("write user-data: %w", err)
	}
	dir, err := os.OpenRoot(m.Dir)
	if err != nil {
		return made, fmt.Errorf("write user-data: %w", err)
	}
	defer dir.Close()
	f, err := dir.OpenFile(m.file(o), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if mine, readErr := m.writtenByRun(dir, o); readErr == nil && mine {
			return made, nil
		}
		return made, fmt.Errorf("write user-data: %s is there and is not of this run: move it away or name another directory with --dir", path)
	}
	if err != nil {
		return made, fmt.Errorf("write user-data: %w", err)
	}
	_, err = io.Copy(f, bytes.NewReader(userData))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return made, errors.Join(fmt.Errorf("write user-data: %w", err), dir.Remove(m.file(o)))
	}
	return made, nil
}

// writtenByRun reports whether a file is what the run wrote.
func (m manual) writtenByRun(dir *os.Root, o provider.Order) (bool, error) {
	info, err := dir.Lstat(m.file(o))
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxUserData || o.Digest == "" {
		return false, nil
	}
	f, err := dir.Open(m.file(o))
	if err != nil {
		return false, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxUserData+1))
	return digest(raw) == o.Digest, errors.Join(err, f.Close())
}

// Find implements Provider.
func (m manual) Find(_ context.Context, o provider.Order) (provider.Machine, error) {
	dir, err := os.OpenRoot(m.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return provider.Machine{}, provider.ErrNone
	}
	if err != nil {
		return provider.Machine{}, fmt.Errorf("look for user-data: %w", err)
	}
	defer dir.Close()
	mine, err := m.writtenByRun(dir, o)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !mine:
		return provider.Machine{}, provider.ErrNone
	case err != nil:
		return provider.Machine{}, fmt.Errorf("look for user-data: %w", err)
	}
	path := filepath.Join(m.Dir, m.file(o))
	return provider.Machine{ID: path, Next: "boot it with the Ignition config in " + path + ", under the host name " + o.Worker.Name}, nil
}

// Clean implements Provider: the file has done its work.
func (m manual) Clean(ctx context.Context, o provider.Order) error { return m.Delete(ctx, o) }

// Delete implements Provider. It removes what the run wrote and nothing else; the machine
// itself is a person's.
func (m manual) Delete(_ context.Context, o provider.Order) error {
	dir, err := os.OpenRoot(m.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove user-data: %w", err)
	}
	defer dir.Close()
	mine, err := m.writtenByRun(dir, o)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("remove user-data: %w", err)
	case !mine:
		return fmt.Errorf("remove user-data: %s is not what this run wrote: it stays", filepath.Join(m.Dir, m.file(o)))
	}
	if err := dir.Remove(m.file(o)); err != nil {
		return fmt.Errorf("remove user-data: %w", err)
	}
	return nil
}

// ManualName is the name of the provider that writes files.
const ManualName = "manual"

// FindProvider returns the provider of a name: manual, or a program on the PATH.
func FindProvider(name, dir string) (provider.Provider, error) {
	if name == ManualName {
		return manual{Dir: dir}, nil
	}
	if name == "" || strings.ContainsAny(name, `/\.`) {
		return nil, fmt.Errorf("--provider %.40q: want manual, or the name of a program %sNAME on the PATH", name, provider.Prefix)
	}
	path, err := exec.LookPath(provider.Prefix + name)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("--provider %s: there is no program %s%s on the PATH", name, provider.Prefix, name)
	}
	if err != nil {
		return nil, fmt.Errorf("--provider %s: %w", name, err)
	}
	return provider.Program{Path: path}, nil
}
