package main

import (
	"net/http/httptest"
	"testing"

	"google.golang.org/api/option"

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
	c, err := newClients(t.Context(), option.WithEndpoint(server.URL), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return e, &gcp{api: c}
}
