package host

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/google/go-cmp/cmp"
)

// unvalidated are files that the certificate writer owns
// (pkg/daemon/on_disk_validation.go getFilesToIgnore).
var unvalidated = []string{
	kubeletCAPath,
	"/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem",
	"/etc/mco/internal-registry-pull-secret.json",
}

// validate compares the machine with a config: booted image, expected kernel
// arguments, files, units (pkg/daemon/daemon.go validateOnDiskState and
// pkg/daemon/on_disk_validation.go). What the config does not name, for
// instance files of an older config, is not looked at.
func (d *daemon) validate(mc *machineConfig) error {
	if err := d.validateState(mc); err != nil {
		return fmt.Errorf("unexpected on-disk state validating against %s: %w", mc.Name, err)
	}
	return nil
}

func (d *daemon) validateState(mc *machineConfig) error {
	image, kargs := d.machine.booted()
	if image != mc.Spec.OSImageURL {
		return fmt.Errorf("expected target osImageURL %q, have %q", mc.Spec.OSImageURL, image)
	}
	var missing []string
	for _, k := range splitKernelArguments(mc.Spec.KernelArguments) {
		if !slices.Contains(kargs, k) {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing expected kernel arguments: %v", missing)
	}
	cfg, err := mc.ignition()
	if err != nil {
		return fmt.Errorf("failed to parse Ignition for validation: %w", err)
	}
	for _, f := range cfg.Storage.Files {
		if slices.Contains(unvalidated, f.Path) {
			continue
		}
		if len(f.Append) > 0 {
			return fmt.Errorf("found an append section when checking files. Append is not supported")
		}
		want, err := f.content()
		if err != nil {
			return fmt.Errorf("couldn't decode file %q: %w", f.Path, err)
		}
		if err := d.validateFile(f.Path, want, modeOr(f.Mode, defaultFileMode)); err != nil {
			return err
		}
	}
	for _, u := range cfg.Systemd.Units {
		if err := d.validateUnit(u); err != nil {
			return err
		}
	}
	return nil
}

func (d *daemon) validateUnit(u ignUnit) error {
	for _, dr := range u.Dropins {
		p := path.Join(systemdPath, u.Name+".d", dr.Name)
		var want string
		if dr.Contents != nil {
			want = *dr.Contents
		}
		if want == "" && !d.disk.exists(p) {
			continue
		}
		if err := d.validateFile(p, []byte(want), defaultFileMode); err != nil {
			return err
		}
	}
	if u.Contents == nil || *u.Contents == "" {
		return nil
	}
	p := path.Join(systemdPath, u.Name)
	if u.Mask == nil || !*u.Mask {
		return d.validateFile(p, []byte(*u.Contents), defaultFileMode)
	}
	link, err := d.disk.root.Readlink(rel(p))
	if err != nil {
		return fmt.Errorf("state validation: error while evaluation symlink for path %q: %w", p, hostError(p, err))
	}
	if link != "/dev/null" {
		return fmt.Errorf("state validation: invalid unit masked setting. path: %q; expected: %v; received: %v", p, "/dev/null", link)
	}
	return nil
}

func (d *daemon) validateFile(name string, want []byte, mode fs.FileMode) error {
	fi, err := d.disk.lstat(name)
	if err != nil {
		return fmt.Errorf("could not stat file %q: %w", name, err)
	}
	if fi.Mode() != mode {
		return fmt.Errorf("mode mismatch for file: %q; expected: %[2]v/%[2]d/%#[2]o; received: %[3]v/%[3]d/%#[3]o", name, mode, fi.Mode())
	}
	have, err := d.disk.read(name)
	if err != nil {
		return fmt.Errorf("could not read file %q: %w", name, err)
	}
	if !bytes.Equal(have, want) {
		d.log.errorf("on_disk_validation.go:251", "content mismatch for file %q (-want +got):\n%s", name, cmp.Diff(want, have))
		return fmt.Errorf("content mismatch for file %q", name)
	}
	return nil
}
