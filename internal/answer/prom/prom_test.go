package prom

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestWrite: the text is what Prometheus reads, each metric with its help and type, and a hostile name breaks no line.
func TestWrite(t *testing.T) {
	d := &diagnosis.Diagnosis{Now: time.Unix(1777636800, 0), Verdict: diagnosis.Verdict{Class: diagnosis.Healthy},
		Hosts: []diagnosis.HostState{
			{Name: "w0\"} 1\n# x", Role: "worker", Expected: true, Stage: fault.Registered, State: diagnosis.StageFailed},
			{Name: "w1", Role: "worker", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed},
		}}
	var out bytes.Buffer
	if err := Write(&out, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# TYPE rollcall_hosts gauge\n",
		`rollcall_host_stage_info{host="w0\"} 1?# x",role="worker",stage="registered",state="failed"} 1` + "\n",
		`rollcall_hosts{role="worker",stage="config-done",state="passed"} 1` + "\n",
		"rollcall_last_run_timestamp_seconds 1.7776368e+09\n",
		`rollcall_verdict_info{class="healthy"} 1` + "\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not on this machine; CI has it")
	}
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = bytes.NewReader(out.Bytes())
	if text, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, text)
	}
}
