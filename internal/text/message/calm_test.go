package message

import (
	"strings"
	"testing"
)

// TestNamesOfTrouble: a word of trouble in the name of a thing, and a line that says that trouble
// ended, are no trouble.
func TestNamesOfTrouble(t *testing.T) {
	x := builtIn(t)
	for line, want := range map[string]Result{
		"I0504 10:00:02.112233       1 drain_controller.go:121] Cleaning up MCCDrain error for node(w0) as drain was completed": Absent,
		"Wed Aug  7 05:08:24 2024: (VI_0) Receive advertisement timeout":                                                        Absent,
		"# HELP etcd_server_proposals_failed_total The total number of failed proposals seen.":                                  Absent,
		`kubelet_runtime_operations_errors_total{operation_type="container_status"} 12`:                                         Absent,
		`time="2024-05-05T10:00:00Z" level=info msg="Registering error handler"`:                                                Absent,
		`time="2024-05-05T10:00:00Z" level=debug msg="timeout set to 30s, failure threshold 3"`:                                 Absent,
		`{"level":"info","ts":"2024-05-05T10:00:01Z","logger":"setup","msg":"starting manager with panic recovery"}`:            Absent,
		`{"level":"info","ts":"2024-05-05T10:00:02Z","msg":"cleared error message","host":"worker-0"}`:                          Absent,
		"Jul 01 10:00:02 w0 kernel: ERST: Error Record Serialization Table (ERST) support is initialized.":                      Absent,
		"Jul 01 10:00:01 w0 kernel: Kernel command line: BOOT_IMAGE=(hd0,gpt3) panic=30 nmi_watchdog=panic":                     Absent,
		"Jul 01 10:00:00 w0 systemd[1]: Started Reset failed units.":                                                            Absent,
		"I0610 08:00:00.000003       1 healthcheck.go:55] unhealthy nodes: 0, failed: 0":                                        Absent,
		"I0504 10:00:02.112233       1 sync.go:121] Successfully recovered from a failed state of the pool":                     Absent,
		"I0504 10:00:02.112233       1 sync.go:121] Recovered, but the update failed again on the host":                         Unknown,
		"I0504 10:00:02.112233       1 sync.go:121] Registering the host was rejected: it cannot be used":                       Unknown,
		`time="2024-05-05T10:00:00Z" level=info msg="the disk of the host failed and is not used"`:                              Unknown,
		"I0504 10:00:02.112233       1 sync.go:121] Failed to write the file of the host, successfully skipped":                 Unknown,
		"Jul 01 10:00:02 w0 kernel: ERST: Error record of a previous crash":                                                     Unknown,
		"Jul 01 10:00:02 w0 kernel: thing: error: it does not answer":                                                           Unknown,
	} {
		if r := readText(t, x, line+"\n"); r.Result != want {
			t.Errorf("%s: %s, want %s: %v %v", line, r.Result, want, r.Errors, r.Symptoms)
		}
	}
}

// TestMissingObjectIsLast: that an object does not exist is mostly an effect of what else failed.
func TestMissingObjectIsLast(t *testing.T) {
	x := builtIn(t)
	missing := `E1012 10:00:00.000000    1 machine.go:100] failed to get node "w1": nodes "w1" not found`
	for _, cause := range []string{
		`E1012 10:00:01.000000    1 reflector.go:140] Get "https://10.0.0.21:10250/healthz": dial tcp 10.0.0.21:10250: connect: connection refused`,
		"Error: invalid reference format: repository name must be lowercase",
	} {
		r := readText(t, x, strings.Join([]string{missing, cause}, "\n")+"\n")
		if len(r.Symptoms) != 2 || r.Symptoms[1].Failure != "nodes w1 does not exist" {
			t.Errorf("%s: %v", cause, r.Symptoms)
		}
	}
	if r := readText(t, x, missing+"\n"); len(r.Symptoms) != 1 {
		t.Errorf("alone: %v", r.Symptoms)
	}
}
