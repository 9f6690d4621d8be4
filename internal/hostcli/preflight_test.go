package hostcli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/preflight/netcheck"
)

// TestPreflight: what this machine finds out is what rollcall reads, without the secrets of
// the plan. Nothing listens at the mirror of this one, and it has no names.
func TestPreflight(t *testing.T) {
	dir := t.TempDir()
	plan := "apiVersion: v1\nmetadata: {name: prod}\nplatform: {none: {}}\npullSecret: '{\"auths\":{\"127.0.0.1:1\":{\"auth\":\"cGxhbnRlZDpzZWNyZXQ=\"}}}'\n" +
		"imageDigestSources: [{source: quay.io/a, mirrors: ['127.0.0.1:1/a']}]\n"
	if err := os.WriteFile(filepath.Join(dir, "install-config.yaml"), []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"preflight", dir}, IO{Out: &out, Err: &errs, Clock: time.Now, Getenv: os.Getenv}); code != exitOK {
		t.Fatalf("code %d\n%s", code, errs.String())
	}
	for _, secret := range []string{"planted", "cGxhbnRlZDpzZWNyZXQ="} {
		if strings.Contains(out.String()+errs.String(), secret) {
			t.Errorf("%q is in the output", secret)
		}
	}
	if !strings.Contains(out.String(), `"errorClass": "refused"`) {
		t.Error(out.String())
	}
	list, err := netcheck.Read(&out)
	if err != nil || len(list) != 2 {
		t.Errorf("%d answers, %v", len(list), err)
	}
	for _, args := range [][]string{{"preflight", "-f", "x", dir}, {"preflight", dir, dir}, {"preflight", filepath.Join(dir, "none")}, {"preflight", "--colour"}} {
		if code := Main(t.Context(), args, IO{Out: &out, Err: &errs, Clock: time.Now, Getenv: os.Getenv}); code != exitFailed {
			t.Errorf("%q: code %d", args, code)
		}
	}
}
