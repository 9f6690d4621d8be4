package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/source/fromnode/fromnodetest"
)

// probesOf runs a command against the API of a test.
func probesOf(t *testing.T, server string, args ...string) (out, errs string, code cmdutil.ExitCode) {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, "kubeconfig")
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"sha256~a-secret"}}]}`, server)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code = Main(t.Context(), append([]string{"rollcall", "--kubeconfig", file}, args...), cmdutil.IO{Cache: shared,
		In: strings.NewReader(""), Out: &stdout, Err: &stderr,
		Getenv: func(name string) string { return map[string]string{"HOME": home, "LC_ALL": "C.UTF-8"}[name] }, Clock: time.Now})
	return stdout.String(), stderr.String(), code
}

// TestProbeFrom: the API is probed from the node, and the answer shows that; this server
// has nothing else of a cluster.
func TestProbeFrom(t *testing.T) {
	s := fromnodetest.New(t)
	out, errs, code := probesOf(t, s.URL, "diagnose", "--probe-from", "node/"+fromnodetest.Node, "--master", "m0=127.0.0.1:1", "-o", "wide")
	if code == cmdutil.ExitFailed || !strings.Contains(out, "asked from node/control1") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	if len(s.Runs()) < 3 || strings.Contains(s.Sent(), "a-secret") {
		t.Errorf("ran %q", s.Runs())
	}
}

func TestProbeFromErrors(t *testing.T) {
	archive := t.TempDir()
	cases := map[string]struct {
		set  func(*fromnodetest.Server)
		args []string
		want string
	}{
		"no kind":     {args: []string{"--probe-from", "control1"}, want: "write it as node/NAME"},
		"no name":     {args: []string{"--probe-from", "node/"}, want: "write it as node/NAME"},
		"a selector":  {args: []string{"--probe-from", "node/a,spec.nodeName=b"}, want: "write it as node/NAME"},
		"beside from": {args: []string{"--probe-from", "node/control1", "--from", archive}, want: "goes through the API of a live cluster"},
		"no node":     {args: []string{"--probe-from", "node/control9"}, want: "no node of this name"},
		"no right":    {set: func(s *fromnodetest.Server) { s.Forbidden = "exec" }, args: []string{"--probe-from", "node/control1"}, want: "create pods/exec"},
		"no API":      {set: func(s *fromnodetest.Server) { s.Close() }, args: []string{"--probe-from", "node/control1"}, want: "run rollcall-host on the machine"},
	}
	if err := os.WriteFile(filepath.Join(archive, "install-config.yaml"), []byte("apiVersion: v1\nbaseDomain: example.com\nmetadata: {name: c}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := fromnodetest.New(t)
			if c.set != nil {
				c.set(s)
			}
			out, errs, code := probesOf(t, s.URL, append([]string{"diagnose"}, c.args...)...)
			if code != cmdutil.ExitFailed || !strings.Contains(errs, c.want) || out != "" {
				t.Errorf("code %d\n%s\n%s", code, out, errs)
			}
		})
	}
}

func TestProbeFromRights(t *testing.T) {
	s := fromnodetest.New(t)
	for _, asked := range []bool{false, true} {
		args := []string{"can-i"}
		if asked {
			args = append(args, "--probe-from", "node/control1")
		}
		out, errs, _ := probesOf(t, s.URL, args...)
		if strings.Contains(out, "create pods/exec") != asked {
			t.Errorf("asked %v:\n%s%s", asked, out, errs)
		}
	}
}
