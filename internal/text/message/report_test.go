package message

import (
	"testing"
)

// What the installer reported before it was done is over; what another program says is not.
func TestOver(t *testing.T) {
	x := builtIn(t)
	const failed = `time="2026-06-01T10:10:00Z" level=error msg="Bootstrap failed to complete: timed out waiting for the condition"` + "\n"
	const done = `time="2026-06-01T11:00:00Z" level=info msg="Install complete!"` + "\n"
	const node = "Jun 01 10:30:00 w1 kubenswrapper[7]: E0601 10:30:00.1 7 kubelet_node_status.go:99] \"Unable to register node with API server\" err=\"dial tcp 10.0.0.5:6443: connect: connection refused\"\n"
	for _, tt := range []struct {
		name, text string
		want       Result
	}{
		{"failed", failed, Unknown},
		{"failed, then done", failed + done, Absent},
		{"as on the terminal", "ERROR Bootstrap failed to complete: timed out waiting for the condition\nINFO Install complete!\n", Absent},
		{"done, then failed", done + failed, Unknown},
		{"another program", node + done, Unknown},
	} {
		if r := readText(t, x, tt.text); r.Result != tt.want {
			t.Errorf("%s: %s, want %s: %+v", tt.name, r.Result, tt.want, r)
		}
	}
}
