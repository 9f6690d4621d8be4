package message

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func TestHints(t *testing.T) {
	x, err := New(&fault.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		hint bool
	}{
		"a sentence":                      {"The host failed to get its config, and we do not know why.", true},
		"a level below error":             {`I0104 16:52:24.776285 1 manager.go:1702] "msg"="error while reading" "machine"="w1"`, true},
		"a state of DHCP":                 {"Jun 30 21:23:56 w1 NetworkManager[1210]: <info> dhcp4 (eth0): state changed timeout -> done", true},
		"no error":                        {"Everything works. There is no error in the log, and nothing has failed without reason.", true},
		"not one word of trouble":         {"The host has joined. All members are well.", false},
		"negated":                         {"I0104 16:52:24.776285 1 manager.go:1702] finished with 0 errors, not failed", false},
		"values that say that it is well": {`{"level":"info","msg":"done","failed":0,"error":null,"timeout":"30s"}`, false},
		"options":                         {"[    1.2] EXT4-fs (sda4): mounted, Opts: errors=remount-ro, --fail-fast, /var/log/error.log", false},
		"a state that was left":           {`Host m2: updated status from "insufficient" to "known"`, false},
		"a heading":                       {"=== Failed", false},
		"a condition":                     {"SCAAvailable=False NonHTTPError: Failed to pull certs", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, c.text)
			if got := len(r.Errors) > 0 && r.Errors[0].Hint; got != c.hint || got != (r.Result == Unknown) {
				t.Errorf("hint %v, result %s", got, r.Result)
			}
		})
	}
}

// A hint is no error: beside anything that the text shows, it is not mentioned.
func TestHintBesideAnError(t *testing.T) {
	x, err := New(&fault.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	r := readText(t, x, "it failed for some reason\nE0104 16:52:24.776285 1 manager.go:1702] no such machine\n")
	if len(r.Errors) != 1 || r.Errors[0].Hint || r.ErrorLines != 1 {
		t.Errorf("%+v", r.Errors)
	}
}
