package answer

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

// A check of the catalog is written with the user's own files and flags, and with those that
// it needs more. One over something else stays as it is.
func TestPreflightCall(t *testing.T) {
	for _, c := range []struct{ own, line, want string }{
		{"rollcall preflight", "rollcall preflight DIR", "rollcall preflight"},
		{"rollcall preflight ./c --release 4.18", "rollcall preflight DIR", "rollcall preflight ./c --release 4.18"},
		{"rollcall preflight ./c", "rollcall preflight DIR --network", "rollcall preflight ./c --network"},
		{"rollcall preflight ./c --network-answers iso.json", "rollcall preflight DIR --network", "rollcall preflight ./c --network-answers iso.json    # first get new answers: rollcall-host preflight"},
		{"rollcall preflight --bmc-list b.txt", "rollcall preflight DIR --bmc", "rollcall preflight --bmc-list b.txt"},
		{"rollcall preflight --bmc-from cluster", "rollcall preflight DIR --bmc --bmc-ca CA.pem", "rollcall preflight --bmc-from cluster --bmc-ca CA.pem"},
		{"oc rollcall preflight ./c --bmc --bmc-ca my.pem", "rollcall preflight DIR --bmc --bmc-ca CA.pem", "oc rollcall preflight ./c --bmc --bmc-ca my.pem"},
		{"rollcall preflight -f a.yaml", "rollcall preflight -f install-config.yaml", "rollcall preflight -f a.yaml -f install-config.yaml"},
		{"rollcall preflight -f install-config.yaml", "rollcall preflight -f install-config.yaml", "rollcall preflight -f install-config.yaml"},
		{"rollcall preflight ./c", "rollcall preflight -f install-config.yaml", "rollcall preflight -f install-config.yaml"},
		{"rollcall preflight ./c", "rollcall preflight --bmc-list ONE_BMC_FILE --bmc-credentials FILE", "rollcall preflight --bmc-list ONE_BMC_FILE --bmc-credentials FILE"},
		{"rollcall preflight ./c", "rollcall diagnose", "rollcall diagnose"},
		{"", "rollcall preflight DIR", "rollcall preflight DIR"},
	} {
		d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: planSource}}
		if got := newText(d, Options{Call: c.own}).command(c.line); got != c.want {
			t.Errorf("%q over %q: %q, want %q", c.line, c.own, got, c.want)
		}
	}
}
