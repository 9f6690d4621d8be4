package main

import (
	"net/http/httptest"
	"testing"

	emu "github.com/rollcall-project/rollcall/providers/gcp/emulator"
)

// emulator is the emulated API, with what the tests ask it.
type emulator struct{ *emu.Emulator }

func newEmulator(t *testing.T) (*emulator, *gcp) {
	t.Helper()
	e := &emulator{emu.New()}
	e.Wrong = func(what string) { t.Error(what) }
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	client, err := newClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newClients(t.Context(), client, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return e, &gcp{api: c}
}
