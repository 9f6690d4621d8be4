package message

import (
	"strings"
	"testing"
)

// TestStartOfPrograms: what programs print while they start, or skip by themselves, is no fault alone.
func TestStartOfPrograms(t *testing.T) {
	x := builtIn(t)
	const (
		once   = "E1203 17:40:58.188196    3214 kubelet.go:1244] Image garbage collection failed once. Stats initialization may not have completed yet: fa"
		begins = "I1203 17:40:58.188803    3214 kubelet.go:1741] Starting kubelet main sync loop."
		down   = "I1203 17:40:58.188837    3214 kubelet.go:1758] skipping pod synchronization - [container runtime is down PLEG is not healthy: " +
			"pleg was last seen active 2562047h47m16.854775807s ago; threshold is 3m0s]"
		other  = "I1203 17:40:59.100000    3214 server.go:129] Starting to listen on 0.0.0.0:10250\n"
		preset = "I0525 20:24:41.871735    3459 update.go:2277] Could not reset unit preset for a.service, skipping. (Error msg: error running preset " +
			"on unit: Failed to preset unit: Unit file a.service does not exist.\n)"
		missing = "Jul 01 10:00:00 w0 systemctl[12]: Failed to enable unit: Unit file a.service does not exist."
	)
	for text, want := range map[string]Result{
		once:                               Absent,
		begins + "\n" + down:               Absent,
		once + "\n" + begins + "\n" + down: Absent,
		down:                               Unknown,
		begins + "\n" + strings.Repeat(other, startLines) + down: Unknown,
		preset:  Absent,
		missing: Unknown,
	} {
		if r := readText(t, x, text+"\n"); r.Result != want {
			t.Errorf("%s\n%s, want %s: %v %v %v", text, r.Result, want, r.Matches, r.Symptoms, r.Errors)
		}
	}
}
