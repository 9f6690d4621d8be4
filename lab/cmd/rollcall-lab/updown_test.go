package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// TestStopWaits: whoever holds the lock and does not say who it is has just begun or is about to end.
func TestStopWaits(t *testing.T) {
	e := env{dir: lab.Dir(t.TempDir() + "/lab")}
	if err := stop(t.Context(), e); err != nil {
		t.Fatalf("there is no lab: %v", err)
	}
	release, ok, err := e.dir.Lock()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := stop(short, e); err == nil {
		t.Error("it is still held")
	}
	time.AfterFunc(300*time.Millisecond, release)
	if err := stop(t.Context(), e); err != nil {
		t.Errorf("it ended: %v", err)
	}
	if release, ok, err = e.dir.Lock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer release()
	if err := e.dir.Create("healthy"); err != nil {
		t.Fatal(err)
	}
	if err := e.dir.Claim(); err != nil { // this test is no supervisor
		t.Fatal(err)
	}
	if err := stop(t.Context(), e); err == nil || !strings.Contains(err.Error(), "is no supervisor") {
		t.Errorf("another process: %v", err)
	}
}
