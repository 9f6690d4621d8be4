package proc

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStopEndsChildren(t *testing.T) {
	g := NewGroup(slog.New(slog.DiscardHandler))
	log := filepath.Join(t.TempDir(), "sleep.log")
	if err := g.Start(Spec{Name: "sleep", Path: "/bin/sleep", Args: []string{"600"}, Log: log}); err != nil {
		t.Fatal(err)
	}
	if !g.Running("sleep") {
		t.Fatal("not running after Start")
	}
	g.StopAll()
	if g.Running("sleep") {
		t.Fatal("running after StopAll")
	}
	if got := g.List(); len(got) != 1 || !strings.Contains(got[0].Exit, "terminated") {
		t.Fatalf("List() = %+v, want one child ended by SIGTERM", got)
	}
}

func TestAwaitReportsEndAndLog(t *testing.T) {
	g := NewGroup(slog.New(slog.DiscardHandler))
	log := filepath.Join(t.TempDir(), "sh.log")
	if err := g.Start(Spec{Name: "sh", Path: "/bin/sh", Args: []string{"-c", "echo cannot bind; exit 3"}, Log: log}); err != nil {
		t.Fatal(err)
	}
	err := g.Await(context.Background(), "sh", func(context.Context) error { return os.ErrDeadlineExceeded })
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "cannot bind") {
		t.Fatalf("Await = %v, want ErrEnded with the log's end", err)
	}
}
