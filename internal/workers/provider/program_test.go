package provider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestProgram: user-data reaches a program on standard input only, and what it repeats of it
// is not shown.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	script := func(body string) Program {
		path := filepath.Join(dir, fmt.Sprintf("p%d", time.Now().UnixNano()))
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
			t.Fatal(err)
		}
		return Program{Path: path}
	}
	secret := []byte(`{"ignition":{"token":"0123456789-abcdef-0123456789"}}`)
	o := Order{Run: "w-0123456789", Worker: Worker{Name: "guest0"}}
	ok := script(`cat >"` + dir + `/in"; echo "$@" >"` + dir + `/args"; echo '{"apiVersion":"rollcall.dev/provider/v1alpha1","machine":{"id":"vm-1","ips":["192.0.2.7"]}}'`)
	m, err := ok.Create(t.Context(), o, secret)
	if err != nil || m.ID != "vm-1" {
		t.Fatalf("%+v, %v", m, err)
	}
	if args, _ := os.ReadFile(dir + "/args"); strings.TrimSpace(string(args)) != "" {
		t.Errorf("arguments: %s", args)
	}
	for _, c := range []struct{ name, body, want string }{
		{"it fails", "echo no quota >&2; exit 1", "no quota"},
		{"it answers something else", "cat >/dev/null; echo hello", "not a response"},
		{"it reports an error", `cat >/dev/null; echo '{"apiVersion":"rollcall.dev/provider/v1alpha1","error":"zone is gone"}'`, "zone is gone"},
		{"it repeats the secret", "cat >&2; exit 1", "not shown"},
		{"it never ends its answer", "cat >/dev/null; exec yes", "create of guest0"},
	} {
		limit := time.Minute
		if strings.Contains(c.body, "yes") {
			limit = time.Second // it ends in no other way
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := script(c.body).Create(ctx, o, secret)
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "abcdef") || strings.Contains(err.Error(), "eyJpZ25")) {
			t.Errorf("%s: the secret is in %v", c.name, err)
		}
	}
	none := script(`cat >/dev/null; echo '{"apiVersion":"rollcall.dev/provider/v1alpha1","none":true}'`)
	if _, err := none.Find(t.Context(), o); !errors.Is(err, ErrNone) {
		t.Errorf("Find: %v", err)
	}
}

// TestHideOwnCredentials: what a program quotes of its own logins is not shown.
func TestHideOwnCredentials(t *testing.T) {
	for _, text := range []string{
		"POST https://root:kestrel77wall@192.0.2.1/redfish/v1 401", "password: kestrel77wall", "password:\x1b[1m kestrel77wall", "\x1b]0;title\x07",
	} {
		if got := hide(text, []byte("{}")); strings.Contains(got, "kestrel77wall") || strings.Contains(got, "\x1b") {
			t.Errorf("%q: %q", text, got)
		}
	}
}
