package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// timePolicy is a MachineConfig for the masters with one server in a file of chrony.
func timePolicy(name, file, server string) string {
	return `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: ` + name + `
  labels: {machineconfiguration.openshift.io/role: master}
spec:
  config:
    ignition: {version: 3.4.0}
    storage:
      files:
      - path: ` + file + `
        mode: 420
        overwrite: true
        contents: {source: "data:,server%20` + server + `%20iburst%0A"}
`
}

// TestPreflightManifests: preflight names the manifest of which the two renders of the real
// controller will differ before anything boots. With it the install does not come up, and
// with what preflight asks for it does.
func TestPreflightManifests(t *testing.T) {
	const chrony, drop = "/etc/chrony.conf", "/etc/chrony.d/ntp.conf"
	first, again, second := timePolicy("99-master-time", chrony, "192.0.2.1"), timePolicy("99-master-time", chrony, "192.0.2.2"), timePolicy("99-master-ntp", drop, "192.0.2.2")
	for name, c := range map[string]struct {
		scenario string
		files    map[string]string
		code     int
		says     []string
	}{
		"two-manifests": {scenario: "bootstrap-desync", files: map[string]string{"98-time.yaml": first, "99-ntp.yaml": again}, code: 2,
			says: []string{"plan-manifest-twice", "99-ntp.yaml:4:9", chrony + " will differ"}},
		"two-documents": {scenario: "bootstrap-desync", files: map[string]string{"98-time.yaml": first + "---\n" + second}, code: 2,
			says: []string{"plan-manifest-documents-lost", "98-time.yaml:19:9", drop + " will differ"}},
		"mended": {scenario: "healthy", files: map[string]string{"98-time.yaml": first, "99-ntp.yaml": second}, says: []string{"NO MISTAKE FOUND SO FAR"}, code: 3},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "two-documents" && !inFull() {
				t.Skipf("set %s=1 for it", full)
			}
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "openshift"), 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, "openshift", file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if testing.Short() {
				t.Skip("brings a lab up")
			}
			t.Parallel()
			w := &world{t: t, dir: labs.take(t, false).dir, state: t.TempDir()}
			w.begin(t, append([]string{c.scenario, "--install-dir", dir}, anHour...)...)
			r := w.rollcall("preflight", "--install-dir", dir)
			if r.code != c.code {
				t.Errorf("preflight: %s, want exit %d", r, c.code)
			}
			for _, word := range c.says {
				if !strings.Contains(r.out, word) {
					t.Errorf("preflight does not name %q:\n%s", word, r.out)
				}
			}
			d := w.live("diagnose", "-o", "name")
			if desync := strings.Contains(d.out, "bootstrap-mc-mismatch"); desync != (c.scenario == "bootstrap-desync") {
				t.Errorf("diagnose: %s", d)
			}
			if c.scenario == "healthy" && d.code != 0 {
				t.Errorf("the mended install is not healthy: %s", d)
			}
		})
	}
}
