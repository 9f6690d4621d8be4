package message

import (
	"slices"
	"testing"
)

// systemd says every few seconds that it starts a unit. What came of the start ends that, whatever else
// stands in the same line of the console.
func TestStartOfUnitEnds(t *testing.T) {
	x := builtIn(t)
	const (
		waits   = "[***   ] A start job is running for Ignition (fetch) (13min 24s / no limit)"
		counted = "[   ***] (2 of 3) A start job is running for Ignition (fetch) (2min 4s / no limit)\n"
		named   = "[   ***] A start job is running for ignition-fetch.service - Ignition (fetch) (2min 4s / no limit)\n"
		mixed   = "[  810.714233] ignition[879]: error at line 1, column 792\n[  810.714233] no filesystem specified\n"
		invalid = "[  810.714233] ignition[879]: failed to fetch config: config is not valid\n"
		failed  = "[FAILED] Failed to start Ignition (fetch).\n"
		other   = "[FAILED] Failed to start Load Kernel Modules.\n"
		byUnit  = "[  810.774830] systemd[1]: ignition-fetch.service: Main process exited, code=exited, status=1/FAILURE\n"
		started = "[  OK  ] Started Ignition (fetch).\n"
		online  = "[ *** ] A start job is running for NetworkManager Wait Online (4min 59s / no limit)\n"
		offline = "[FAILED] Failed to start NetworkManager Wait Online.\n"
	)
	const waiting = "Ignition waits for its config"
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"it goes on":                          {waits + "\n", true},
		"it failed":                           {waits + "\n" + failed, false},
		"it failed, with a counter":           {counted + failed, false},
		"it failed, with the name and words":  {named + byUnit, false},
		"another unit failed":                 {waits + "\n" + other, true},
		"it is started again":                 {waits + "\n" + failed + counted, true},
		"it was started":                      {counted + started, false},
		"a message of the kernel in its line": {waits + mixed, false},
		"the config is refused":               {counted + invalid, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			if got := slices.ContainsFunc(r.Symptoms, func(m Match) bool { return m.Failure == waiting }); got != tt.want {
				t.Errorf("waits %v, want %v: %+v", got, tt.want, r)
			}
		})
	}
	r := readText(t, x, online+offline)
	if len(r.Matches) == 0 || r.Matches[0].Fault != "host-network-missing" {
		t.Errorf("the failed unit ends the fault that its long start shows: %+v", r)
	}
}
