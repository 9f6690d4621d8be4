package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	defaultFileMode = fs.FileMode(0o644)
	defaultDirMode  = fs.FileMode(0o755)
	systemdPath     = "/etc/systemd/system"
	presetPath      = "/etc/systemd/system-preset/20-ignition.preset"
)

// disk is a machine's file system below Dir/root. Names are absolute as the
// machine sees them; os.Root keeps every one of them inside, symbolic links
// included.
type disk struct {
	root *os.Root
	base string // Dir/root, for programs that are given a path
}

func openDisk(base string) (*disk, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, fmt.Errorf("create disk: %w", err)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, fmt.Errorf("open disk: %w", err)
	}
	return &disk{root: root, base: base}, nil
}

// rel turns a machine's absolute path into one below the root. It does not
// clean ".." away: os.Root must see and refuse it.
func rel(name string) string {
	if r := strings.TrimLeft(name, "/"); r != "" {
		return r
	}
	return "."
}

// hostError gives an error of the disk the path as the machine sees it, because
// such errors end up in annotations and logs.
func hostError(name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		op, _ := strings.CutSuffix(pe.Op, "at")
		return &fs.PathError{Op: op, Path: name, Err: pe.Err}
	}
	return err
}

// write replaces a file in one step and makes the directories above it.
func (d *disk) write(name string, data []byte, mode fs.FileMode) error {
	p := rel(name)
	if err := d.root.MkdirAll(path.Dir(p), defaultDirMode); err != nil {
		return fmt.Errorf("create directory of %s: %w", name, err)
	}
	tmp := path.Join(path.Dir(p), "."+path.Base(p)+".new")
	if err := d.root.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := d.root.Chmod(tmp, mode.Perm()); err != nil {
		return fmt.Errorf("set mode of %s: %w", name, err)
	}
	if err := d.root.Rename(tmp, p); err != nil {
		return fmt.Errorf("replace %s: %w", name, err)
	}
	return nil
}

func (d *disk) read(name string) ([]byte, error) {
	data, err := d.root.ReadFile(rel(name))
	if err != nil {
		return nil, hostError(name, err)
	}
	return data, nil
}

func (d *disk) lstat(name string) (fs.FileInfo, error) {
	fi, err := d.root.Lstat(rel(name))
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: pe.Err}
	}
	return fi, err
}

// exists says whether name is there; an error other than absence counts as there.
func (d *disk) exists(name string) bool {
	_, err := d.root.Lstat(rel(name))
	return !errors.Is(err, fs.ErrNotExist)
}

func (d *disk) rename(from, to string) error {
	if err := d.root.Rename(rel(from), rel(to)); err != nil {
		return hostError(from, err)
	}
	return nil
}

// remove deletes a file; that it is gone already is no error.
func (d *disk) remove(name string) error {
	if err := d.root.Remove(rel(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return hostError(name, err)
	}
	return nil
}

func (d *disk) mkdir(name string, mode fs.FileMode) error {
	if err := d.root.MkdirAll(rel(name), defaultDirMode); err != nil {
		return fmt.Errorf("create directory %s: %w", name, err)
	}
	return d.root.Chmod(rel(name), mode.Perm())
}

func (d *disk) symlink(target, name string) error {
	if err := d.root.MkdirAll(path.Dir(rel(name)), defaultDirMode); err != nil {
		return fmt.Errorf("create directory of %s: %w", name, err)
	}
	if err := d.remove(name); err != nil {
		return err
	}
	if err := d.root.Symlink(target, rel(name)); err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	return nil
}

// hostPath is where a program outside finds the machine's file.
func (d *disk) hostPath(name string) string {
	return d.base + "/" + rel(path.Clean("/"+name))
}

// install does the work of Ignition's files stage
// (coreos/ignition:internal/exec/stages/files): directories, files, links,
// units and the preset file that says which units are enabled. Owners, file
// systems, users and SELinux labels have no counterpart here.
func (d *disk) install(c ignConfig) error {
	for _, dir := range c.Storage.Directories {
		if err := d.mkdir(dir.Path, modeOr(dir.Mode, defaultDirMode)); err != nil {
			return err
		}
	}
	for _, f := range c.Storage.Files {
		if err := d.writeFile(f); err != nil {
			return err
		}
	}
	for _, l := range c.Storage.Links {
		if err := d.writeLink(l); err != nil {
			return err
		}
	}
	var preset []string
	for _, u := range c.Systemd.Units {
		if err := d.writeUnit(u); err != nil {
			return err
		}
		if u.Enabled != nil {
			preset = append(preset, map[bool]string{true: "enable ", false: "disable "}[*u.Enabled]+u.Name)
		}
	}
	if len(preset) == 0 {
		return nil
	}
	return d.write(presetPath, []byte(strings.Join(preset, "\n")+"\n"), defaultFileMode)
}

func modeOr(mode *int, def fs.FileMode) fs.FileMode {
	if mode == nil {
		return def
	}
	return fs.FileMode(*mode)
}

func (d *disk) writeFile(f ignFile) error {
	data, err := f.content()
	if err != nil {
		return fmt.Errorf("decode file %q: %w", f.Path, err)
	}
	return d.write(f.Path, data, modeOr(f.Mode, defaultFileMode))
}

func (d *disk) writeLink(l ignLink) error {
	switch {
	case l.Target == nil || *l.Target == "":
		return fmt.Errorf("link %s has no target", l.Path)
	case l.Hard != nil && *l.Hard:
		if err := d.root.Link(rel(*l.Target), rel(l.Path)); err != nil {
			return fmt.Errorf("link %s: %w", l.Path, err)
		}
		return nil
	default:
		return d.symlink(*l.Target, l.Path)
	}
}

// writeUnit writes a unit and its drop-ins. A name is one path element; the
// separator in it is refused by os.Root only when it leaves the root, so it is
// refused here.
func (d *disk) writeUnit(u ignUnit) error {
	names := []string{u.Name}
	for _, dr := range u.Dropins {
		names = append(names, dr.Name)
	}
	if i := slices.IndexFunc(names, func(n string) bool { return n == "" || n != path.Base(n) || n == ".." }); i >= 0 {
		return fmt.Errorf("unit name %q is not a file name", names[i])
	}
	for _, dr := range u.Dropins {
		if dr.Contents == nil || *dr.Contents == "" {
			continue
		}
		if err := d.write(path.Join(systemdPath, u.Name+".d", dr.Name), []byte(*dr.Contents), defaultFileMode); err != nil {
			return err
		}
	}
	unit := path.Join(systemdPath, u.Name)
	if u.Mask != nil && *u.Mask {
		return d.symlink("/dev/null", unit)
	}
	if u.Contents == nil || *u.Contents == "" {
		return nil
	}
	return d.write(unit, []byte(*u.Contents), defaultFileMode)
}

// readJSON decodes a file of the machine.
func (d *disk) readJSON(name string, into any) error {
	raw, err := d.read(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
