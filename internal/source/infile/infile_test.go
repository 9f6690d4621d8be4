package infile

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipe: neither waits for who writes to a pipe, and what is written is read.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		f, err := Piped(pipe)
		if err == nil {
			if raw, wrong := io.ReadAll(f); wrong != nil || len(raw) != 0 {
				t.Errorf("a pipe without a writer: %q, %v", raw, wrong)
			}
			err = f.Close()
		}
		if err != nil {
			t.Error(err)
		}
		_, err = Regular(pipe)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "it is a pipe") {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for who writes to the pipe")
	}
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Piped(pipe)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("secret"); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if raw, err := io.ReadAll(f); string(raw) != "secret" || err != nil {
		t.Errorf("%q, %v", raw, err)
	}
	f.Close()
	for _, open := range []func(string) (*os.File, error){Regular, Piped} {
		if _, err := open(dir); err == nil || !strings.Contains(err.Error(), "directory") {
			t.Error(err)
		}
	}
}
