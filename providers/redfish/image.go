package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The live ISO of RHCOS has a place for the Ignition config of the live system; a header in
// the system area of the ISO says where (coreos/coreos-installer: src/live.rs, "coreiso+").
const (
	headerAt = 32768 - 24
	magic    = "coreiso+"
	mostArea = 64 << 20
)

// area is that place, in bytes.
type area struct{ at, size int64 }

func findArea(iso io.ReaderAt) (area, error) {
	var h [24]byte
	if _, err := iso.ReadAt(h[:], headerAt); err != nil {
		return area{}, fmt.Errorf("read its header: %w", err)
	}
	a := area{int64(binary.LittleEndian.Uint64(h[8:16])), int64(binary.LittleEndian.Uint64(h[16:24]))}
	if string(h[:8]) != magic || a.at <= headerAt || a.size <= 0 || a.size > mostArea {
		return area{}, errors.New("it is not a live ISO of RHCOS: it has no place for an Ignition config")
	}
	return a, nil
}

// build writes a copy of the live ISO with the config of a live system that installs with the
// user-data. The copy holds a secret: no one but its group may read it, which is for the web
// server's.
func build(iso, to string, userData []byte, disk string) (err error) {
	in, err := os.Open(filepath.Clean(iso))
	if err != nil {
		return fmt.Errorf("open the live ISO: %w", err)
	}
	defer in.Close()
	a, err := findArea(in)
	if err != nil {
		return fmt.Errorf("open the live ISO %s: %w", iso, err)
	}
	config, err := live(userData, disk)
	if err != nil {
		return err
	}
	packed, err := pack(config)
	if err != nil {
		return fmt.Errorf("pack the config: %w", err)
	}
	if int64(len(packed)) > a.size {
		return fmt.Errorf("the config takes %d bytes, the live ISO has room for %d", len(packed), a.size)
	}
	tmp := to + partSuffix
	out, err := createNew(tmp, 0o640)
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp))
		}
	}()
	_, err = io.Copy(out, in)
	if err == nil {
		_, err = out.WriteAt(append(packed, make([]byte, a.size-int64(len(packed)))...), a.at)
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	return os.Rename(tmp, to)
}

// partSuffix is behind the name of a file that is being written.
const partSuffix = ".part"

// createNew makes a file that was not there. What a killed run, or whoever else may write to the
// directory, left under the name is removed: a link is not followed, a file is not taken over.
func createNew(name string, mode os.FileMode) (*os.File, error) {
	if err := ignore(os.Remove(name), fs.ErrNotExist); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// live is the config of the live system: it installs to the disk and restarts, as what
// `coreos-installer iso customize --dest-ignition` makes does.
func live(userData []byte, disk string) ([]byte, error) {
	const unit = `[Unit]
Description=Install RHCOS for rollcall
ConditionPathExists=/run/ostree-live
Before=getty@tty1.service

[Service]
Type=oneshot
ExecStart=/usr/bin/coreos-installer install %s --ignition-file /etc/rollcall-worker.ign
ExecStart=/usr/bin/systemctl --no-block reboot
StandardOutput=journal+console
StandardError=journal+console

[Install]
RequiredBy=default.target
`
	return json.Marshal(map[string]any{
		"ignition": map[string]any{"version": "3.2.0"},
		"storage": map[string]any{"files": []any{map[string]any{
			"path": "/etc/rollcall-worker.ign", "mode": 0o600,
			"contents": map[string]any{"source": "data:;base64," + base64.StdEncoding.EncodeToString(userData)},
		}}},
		"systemd": map[string]any{"units": []any{map[string]any{"name": "rollcall-install.service", "enabled": true, "contents": fmt.Sprintf(unit, disk)}}},
	})
}

// pack makes a gzipped cpio archive (newc) of one file, config.ign
// (https://www.kernel.org/doc/Documentation/early-userspace/buffer-format.txt).
func pack(config []byte) ([]byte, error) {
	var b bytes.Buffer
	entry := func(name string, mode int, data []byte) {
		fmt.Fprintf(&b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", 0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
		b.WriteString(name + "\x00")
		pad(&b)
		b.Write(data)
		pad(&b)
	}
	entry("config.ign", 0o100600, config)
	entry("TRAILER!!!", 0, nil)
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b.Bytes())
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

func pad(b *bytes.Buffer) {
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
}
