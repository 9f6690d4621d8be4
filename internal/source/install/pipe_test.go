package install

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenPipe: what is no directory is refused, and a pipe is not waited for.
func TestOpenPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path+" is not a directory") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
