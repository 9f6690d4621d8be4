package message

import (
	"strings"
	"testing"
)

// TestNewStatusOfHost: of each host its newest status counts. What an older one gave as reason is over, and hosts that
// recovered are no evidence.
func TestNewStatusOfHost(t *testing.T) {
	x := builtIn(t)
	const (
		at    = `time="2024-05-06T07:0`
		bad   = `:00Z" level=warning msg="Host NAME: updated status from discovering to insufficient (Host cannot be installed due to following failing validation(s): Host couldn't synchronize with any NTP server ; Hostname localhost is forbidden)"` + "\n"
		gone  = `:00Z" level=warning msg="Host NAME: updated status from insufficient to disconnected (Host has stopped communicating with the installation service)"` + "\n"
		known = `:00Z" level=info msg="Host NAME: updated status from insufficient to known (Host is ready to be installed)"` + "\n"
		wrong = `:00Z" level=warning msg="Host NAME: updated status from installing-in-progress to installing-pending-user-action (Expected the host to boot from disk, but it booted the installation image - please reboot and fix boot order to boot from disk QEMU_HARDDISK 1 (sda, /dev/disk/by-id/x))"` + "\n"
		err   = `:00Z" level=error msg="Host NAME: updated status from installing-pending-user-action to error (Host failed to install because its installation stage Rebooting took longer than expected 70m0s)"` + "\n"
	)
	line := func(minute, text, name string) string { return at + minute + strings.ReplaceAll(text, "NAME", name) }
	for name, c := range map[string]struct{ text, first, not string }{
		"all of them are gone":          {line("1", bad, "rack-a1") + line("2", bad, "rack-a2") + line("3", gone, "rack-a1") + line("4", gone, "rack-a2"), "agent-host-disconnected", ""},
		"gone, and back with a failure": {line("1", gone, "rack-a1") + line("2", bad, "rack-a1"), "agent-hostname-unusable", ""},
		"one recovers":                  {line("1", bad, "rack-a1") + line("1", bad, "rack-a2") + line("2", known, "rack-a1"), "agent-hostname-unusable", "rack-a1"},
		"no reason is said again":       {line("1", wrong, "rack-a1") + line("9", err, "rack-a1"), "agent-wrong-boot-order", ""},
	} {
		r := readText(t, x, c.text)
		if got := firstOf(r); got != c.first {
			t.Errorf("%s: first is %s, want %s", name, got, c.first)
		}
		for _, m := range r.Matches {
			for _, l := range m.Lines {
				if c.not != "" && strings.Contains(l.Text, c.not) {
					t.Errorf("%s: %s has a line of %s: %s", name, m.Fault, c.not, l.Text)
				}
			}
		}
	}
}
