package provider

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
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

// TestHideSecretsInside: what is a secret in the user-data is not shown in any form in which a program may write it.
func TestHideSecretsInside(t *testing.T) {
	const token, password, hash, pull, nested, key = "kestrel77WallQuarry19", "moss/Lantern+42?Fern", "$6$salt7$Qw9xYzLm3nB5vC7xZ1aSdF",
		"tundra55Harbor88Pine", "inner31Cobalt64Reef", "MHcCAQEEIIx9s8d7f6Ab3dEf5hIj7lMn9pQr1tUvWxYz0123456789abcdoAoGCC"
	b64 := base64.StdEncoding.EncodeToString
	zipped := func(v string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(v))
		_ = z.Close()
		return b.String()
	}
	file := func(v string) string { return "data:text/plain;charset=utf-8;base64," + b64([]byte(v)) }
	inner := `{"ignition":{"config":{"replace":{"source":"https://u:` + nested + `@a.example.com/x"}}}}`
	data := []byte(`{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://api-int.example.com:22623/config/worker",` +
		`"httpHeaders":[{"name":"Authorization","value":"Bearer ` + b64([]byte(token)) + `"},{"name":"X","value":"Basic ` +
		b64([]byte("puller:"+password)) + `"}]},{"source":"` + file(inner) + `"}]}},` +
		`"passwd":{"users":[{"name":"core","passwordHash":"` + hash + `"}]},"storage":{"files":[` +
		`{"path":"/var/lib/kubelet/config.json","contents":{"compression":"gzip","source":"` +
		file(zipped(`{"auths":{"quay.io":{"auth":"`+b64([]byte("a:"+pull))+`"}}}`)) + `"}},` +
		`{"path":"/etc/key","contents":{"source":"` + file("-----BEGIN EC PRIVATE KEY-----\n"+key+"\n-----END EC PRIVATE KEY-----\n") + `"}}]}}`)
	broken := func(v, with string) string {
		var b strings.Builder
		for i := range len(v) {
			if i > 0 && i%8 == 0 {
				b.WriteString(with)
			}
			b.WriteByte(v[i])
		}
		return b.String()
	}
	percent := func(v string) string {
		var b strings.Builder
		for i := range len(v) {
			fmt.Fprintf(&b, "%%%02X", v[i])
		}
		return b.String()
	}
	escaped := func(v string) string {
		var b strings.Builder
		for i := range len(v) {
			fmt.Fprintf(&b, `\u%04x`, v[i])
		}
		return b.String()
	}
	colored := func(v string) string { return v[:4] + "\x1b[31m" + v[4:9] + "\x1b[0m" + v[9:] }
	for name, secret := range map[string]string{"token": token, "password": password, "hash": hash, "pull secret": pull, "nested": nested, "key": key} {
		for form, write := range map[string]func(string) string{
			"plain": func(v string) string { return v }, "upper": strings.ToUpper, "percent": percent, "query": url.QueryEscape, "path": url.PathEscape,
			"percent twice": func(v string) string { return url.QueryEscape(percent(v)) }, "escapes": escaped, "colors": colored,
			"hex": func(v string) string { return hex.EncodeToString([]byte(v)) }, "HEX": func(v string) string { return fmt.Sprintf("%X", v) },
			"hex of base64": func(v string) string { return hex.EncodeToString([]byte(b64([]byte(v)))) },
			"bytes":         func(v string) string { return fmt.Sprint([]byte(v)) }, "go": func(v string) string { return fmt.Sprintf("%#v", []byte(v)) },
			"base64": func(v string) string { return b64([]byte(v)) }, "base64 URL": func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) },
			"base64 behind a": func(v string) string { return b64([]byte("a" + v + "z")) }, "base64 behind ab": func(v string) string { return b64([]byte("ab" + v)) },
			"base64 twice": func(v string) string { return b64([]byte(b64([]byte(v)))) }, "base32": func(v string) string { return base32.StdEncoding.EncodeToString([]byte(v)) },
			"broken": func(v string) string { return broken(v, "\n") }, "broken by blanks": func(v string) string { return broken(v, "\r\n   ") },
			"broken in JSON": func(v string) string { return broken(v, `\n`) }, "broken base64": func(v string) string { return broken(b64([]byte(v)), "\n") },
			"broken hex": func(v string) string { return broken(hex.EncodeToString([]byte(v)), " ") }, "cut": func(v string) string { return v[:len(v)-4] },
			"one by one": func(v string) string { return strings.Join(strings.Split(v, ""), " ") },
		} {
			text := "the server refused " + write(secret) + " of the host"
			if got := hide(text, data); strings.Contains(got, "refused") {
				t.Errorf("%s, %s: %q", name, form, got)
			}
		}
	}
	for _, text := range []string{
		"no quota in zone europe-west1-b for 3 machines of type n2-standard-8", "user core has no right to make disks", "kubelet did not answer in 2m0s",
		"quay.io answered 401 unauthorized", "POST https://compute.example.com/v1/instances: 503 Service Unavailable", "puller was refused",
	} {
		if got := hide(text, data); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	begin := time.Now()
	long := hide(strings.Repeat("no quota ", 1<<16), []byte(`{"storage":{"files":[`+strings.Repeat(`{"contents":{"source":"data:,password=`+token+`"}},`, 1<<13)+`{}]}}`))
	if took := time.Since(begin); took > 20*time.Second || len(long) > 1<<12 {
		t.Errorf("%d bytes after %s", len(long), took)
	}
}
