package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// TestWorkerUserData: the file is new and closed to others, its token's life is shown, and what it asks
// without TLS.
func TestWorkerUserData(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   []string
		change func(string) string
		code   cmdutil.ExitCode
		want   []string
		file   bool
	}{
		{"written", nil, nil, cmdutil.ExitOK, []string{"(mode 0600): user-data of config 1badd00d, NodePool np-a", "It leads to https://127.0.0.1:1/ignition",
			"Its token is 3h48m0s old and accepted until about 2026-03-01T19:12:00Z (in 7h12m0s)", "rollcall csr list --hosted guests/edge.one"}, true},
		{"through a proxy", nil, func(s string) string {
			return strings.Replace(s, `{"ignition":{`, `{"ignition":{"proxy":{"httpsProxy":"http://joe:hunter2@proxy.example.com:3128"},`, 1)
		}, cmdutil.ExitOK, []string{"http:// in it: httpsProxy http://proxy.example.com:3128 (with a user name and password)"}, true},
		{"without TLS", nil, func(s string) string { return strings.ReplaceAll(s, "https://", "http://") }, cmdutil.ExitFailed, []string{"its source is http://127.0.0.1:1", "without TLS"}, false},
		{"an old token", nil, func(s string) string { return strings.Replace(s, "Bearer NmIxZjBmMGUt", "Bearer AAAAAAAAAAAA", 1) }, cmdutil.ExitFailed, []string{"just rotated"}, false},
		{"a NodePool that is not there", []string{"--nodepool", "x"}, nil, cmdutil.ExitFailed, []string{"there is no NodePool x"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newGuests(t, tt.change)
			file := filepath.Join(t.TempDir(), "w.ign")
			args := append([]string{"worker", "user-data", "--hosted", "guests/edge.one", "--to", file}, tt.args...)
			out, errs, code := p.run(t, args...)
			all := strings.Join(strings.Fields(out+errs), " ")
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, all)
			}
			for _, w := range tt.want {
				if !strings.Contains(all, w) {
					t.Errorf("want %q\n%s", w, all)
				}
			}
			if strings.Contains(all, "hunter2") || strings.Contains(all, "NmIxZjBm") {
				t.Errorf("a secret is on the screen: %s", all)
			}
			info, err := os.Stat(file)
			if (err == nil) != tt.file || tt.file && info.Mode().Perm() != 0o600 {
				t.Fatalf("the file: %v, %v", info, err)
			}
			if !tt.file {
				return
			}
			if _, errs, code := p.run(t, args...); code != cmdutil.ExitFailed || !strings.Contains(errs, "is there already") {
				t.Errorf("a second time: %d %s", code, errs)
			}
		})
	}
	if _, errs, code := newGuests(t, nil).run(t, "worker", "user-data", "--hosted", "guests/edge.one"); code != cmdutil.ExitFailed || !strings.Contains(errs, "--to FILE is missing") {
		t.Errorf("%d %s", code, errs)
	}
}
