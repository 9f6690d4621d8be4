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

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
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

// TestCutInALine: an object whose last line has no end is not read: its last name may be the
// beginning of another.
func TestCutInALine(t *testing.T) {
	const pool = "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata:\n  name: master\nspec:\n  configuration:\n    name: " +
		"rendered-master-93488773\n"
	for _, cut := range []int{0, 1, 5} {
		s, err := FS(fstest.MapFS{"cluster-scoped-resources/machineconfiguration.openshift.io/machineconfigpools/" +
			"master.yaml": {Data: []byte(pool[:len(pool)-cut])}}, "mg")
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context(), evidence.MachineConfigPools, "")
		if cut == 0 && (err != nil || len(list) != 1) || cut > 0 && (len(list) != 0 || why(t, err) != evidence.Damaged) {
			t.Errorf("without %d bytes: %d pools, %v", cut, len(list), err)
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
