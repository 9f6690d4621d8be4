package message

import (
	"strings"
	"testing"
)

// TestValidationResolved: a validation of the assisted service that passes later, or a host that may be
// installed, ends what the same host failed before. Another host, or a later failure, does not.
func TestValidationResolved(t *testing.T) {
	x := builtIn(t)
	line := func(level, host, says string) string {
		return `time="2026-03-01T08:00:00Z" level=` + level + ` msg="Host ` + host + says + `"` + "\n"
	}
	ntp := line("warning", "cp0", " validation: Host couldn't synchronize with any NTP server")
	images := line("warning", "cp0", " validation: Failed to fetch container images needed for installation from quay.io/a/b")
	known := line("info", "cp0", ": updated status from insufficient to known (Host is ready to be installed)")
	synced := line("info", "cp0", " validation: Host NTP is synced")
	for name, tt := range map[string]struct {
		text string
		want Result
	}{
		"it fails":                         {ntp, Present},
		"it passes later":                  {ntp + synced, Absent},
		"the host may be installed":        {ntp + images + known, Absent},
		"the host is being installed":      {ntp + line("info", "cp0", ": updated status from preparing-successful to installing (Installation is in progress)"), Absent},
		"and fails again":                  {ntp + synced + known + ntp, Present},
		"another host may be installed":    {ntp + strings.ReplaceAll(known, "cp0", "cp1"), Present},
		"another host passes":              {ntp + strings.ReplaceAll(synced, "cp0", "cp1"), Present},
		"it passed when it was first seen": {ntp + line("debug", "cp0", " validation: Host NTP is synced"), Present},
		"the host is insufficient":         {ntp + line("warning", "cp0", ": updated status from known to insufficient (Host cannot be installed due to following failing validation(s): x)"), Present},
		"on the terminal": {"WARNING Host cp0 validation: Host couldn't synchronize with any NTP server\n" +
			"INFO Host cp0 validation: Host NTP is synced \n", Absent},
	} {
		if r := readText(t, x, tt.text); r.Result != tt.want {
			t.Errorf("%s: %v, want %v", name, r.Result, tt.want)
		}
	}
}
