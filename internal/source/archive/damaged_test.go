package archive

import (
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// TestChecksum: a packed tar that is well-formed and not what was packed is damaged.
// What stands behind its end is not of it.
func TestChecksum(t *testing.T) {
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: m0, creationTimestamp: '2026-03-01T12:00:00Z'}\n"
	whole := gz(t, packTar(t, fstest.MapFS{"cluster-scoped-resources/core/nodes/m0.yaml": {Data: []byte(node)}}, "mg/"))
	changed := append([]byte{}, whole...)
	at := len(changed) - 8
	binary.LittleEndian.PutUint32(changed[at:], ^binary.LittleEndian.Uint32(changed[at:]))
	for name, tt := range map[string]struct {
		raw  []byte
		says string
	}{
		"whole":            {whole, ""},
		"something behind": {append(append([]byte{}, whole...), "trailing bytes"...), ""},
		"changed":          {changed, "checksum"},
		"checksum cut off": {whole[:len(whole)-6], "checksum"},
	} {
		s, err := openFile(t, "mg.tar.gz", tt.raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if (tt.says == "") != (s.cut == "") || !strings.Contains(s.cut, tt.says) {
			t.Errorf("%s: %q", name, s.cut)
		}
	}
}

// TestPipeWithoutWriter: no one has to write to a named pipe for a signal to be heard.
func TestPipeWithoutWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := Open(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
