package message

import (
	"strings"
	"testing"
)

// TestHarmless: what is normal or has no effect is no trouble, and what looks the same and is trouble stays so.
func TestHarmless(t *testing.T) {
	x := builtIn(t)
	capi := `time="2026-03-01T08:00:00Z" level=debug msg="E0301 08:00:00.100000     900 controller.go:316] \"Reconciler error\" err=\"error creating client ` +
		`for remote cluster: cluster is not reachable: Get \\\"https://api.lab.example.org:6443/?timeout=5s\\\": LEAF\" controller=\"machine\""` + "\n"
	aligned := func(rows ...[]string) (text string) {
		for _, row := range rows {
			for _, cell := range row {
				text += cell + strings.Repeat(" ", max(2, 42-len(cell)))
			}
			text = strings.TrimRight(text, " ") + "\n"
		}
		return text + "\n"
	}
	pods := "$ oc get pods -A\n" + aligned([]string{"NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE"},
		[]string{"openshift-ingress", "router-extra-7c9d8b5f6-aaaaa", "1/1", "Running", "0", "3d"},
		[]string{"openshift-ingress", "router-extra-7c9d8b5f6-bbbbb", "0/1", "Pending", "0", "3d"})
	ports := "$ oc get events\n" + aligned([]string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"},
		[]string{"2m", "Normal", "Started", "pod/router-extra-7c9d8b5f6-aaaaa", "Started container router"},
		[]string{"2d", "Warning", "FailedScheduling", "pod/router-extra-7c9d8b5f6-bbbbb",
			"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."})
	unit := "× switch-target.service - Switch\n     Active: failed (Result: signal) since Sun 2026-03-01 08:00:00 UTC; 1h ago\n" +
		"    Process: 700 ExecStart=/usr/bin/systemctl --no-block isolate graphical.target (code=killed, signal=TERM)\n" +
		"   Main PID: 700 (code=killed, signal=TERM)\n" +
		"\nMar 01 08:00:00 boot0 systemd[1]: switch-target.service: Main process exited, code=killed, status=15/TERM\n" +
		"Mar 01 08:00:00 boot0 systemd[1]: switch-target.service: Failed with result 'signal'.\n"
	cidr := `time="2026-03-01T08:00:00Z" level=warning msg="Host cp0 validation: Machine Network CIDR is undefined; it can be defined by the VIPs"` + "\n"
	for name, tt := range map[string]struct {
		text string
		want Result
	}{
		"a controller of the installer waits for the API":    {strings.ReplaceAll(capi, "LEAF", "context deadline exceeded"), Absent},
		"it does not trust the API":                          {strings.ReplaceAll(capi, "LEAF", "tls: failed to verify certificate: x509: certificate signed by unknown authority"), Present},
		"a second replica on a single node":                  {pods + ports, Absent},
		"the first replica does not run":                     {strings.ReplaceAll(pods, "Running         ", "CrashLoopBackOff") + strings.ReplaceAll(ports, "Started", "Pulling"), Unknown},
		"two nodes without a port":                           {pods + strings.ReplaceAll(ports, "0/1 nodes are available: 1", "0/2 nodes are available: 2"), Unknown},
		"a unit that isolates another target":                {unit, Absent},
		"a unit that was killed":                             {strings.ReplaceAll(unit, "isolate graphical.target", "start other.service"), Unknown},
		"a validation of which nothing is known yet":         {cidr, Absent},
		"a validation that keeps the host from installation": {cidr + strings.ReplaceAll(cidr, "validation: ", "cannot be installed due to following failing validation(s): "), Unknown},
	} {
		if r := readText(t, x, tt.text); r.Result != tt.want {
			t.Errorf("%s: %v, want %v: %+v %+v %+v", name, r.Result, tt.want, r.Matches, r.Symptoms, r.Errors)
		}
	}
}

// TestOtherProducts: what only OpenShift has is not advised for a text of another product.
func TestOtherProducts(t *testing.T) {
	x := builtIn(t)
	for name, tt := range map[string]struct{ text, system string }{
		"podman": {"[WARN  netavark::dns::aardvark] aardvark-dns failed to start\n" +
			"Error starting server failed to bind udp listener on 10.90.0.1:53: IO error: Cannot assign requested address (os error 99)\n", podmanSystem},
		"kubeadm": {"[kubelet-check] The HTTP call failed\nkubelet[9]: F0301 08:00:00.1 9 server.go:271] failed to run Kubelet: misconfiguration: " +
			`kubelet cgroup driver: "systemd" is different from docker cgroup driver: "cgroupfs"` + "\n", "Kubernetes of kubeadm"},
		"Docker": {`kubelet[9]: F0301 08:00:00.1 9 server.go:271] failed to run Kubelet: misconfiguration: ` +
			`kubelet cgroup driver: "systemd" is different from docker cgroup driver: "cgroupfs"` + "\n", dockerSystem},
	} {
		r := readText(t, x, tt.text)
		if r.System != tt.system || r.Setting.System != tt.system || len(r.Symptoms) == 0 {
			t.Fatalf("%s: system %q, %q, %d symptoms", name, r.System, r.Setting.System, len(r.Symptoms))
		}
		for _, m := range r.Symptoms {
			if onlyOpenShift.MatchString(m.Next) || strings.Contains(m.Next, "crio") {
				t.Errorf("%s: next %q", name, m.Next)
			}
		}
	}
	for step, fits := range map[string]map[string]bool{
		"sudo iostat -xz 5 12":                        {podmanSystem: true, "K3s": true},
		"sudo crictl ps -a":                           {podmanSystem: false, "K3s": true},
		"journalctl -b -u nodeip-configuration":       {podmanSystem: false, "K3s": false},
		"oc -n openshift-monitoring get pods":         {"K3s": false, "": true},
		"sudo journalctl -b -u crio":                  {dockerSystem: false, "K3s": true},
		"the KubeletConfig of the pool has the value": {"K3s": false, "": true},
	} {
		for system, want := range fits {
			if got := (Setting{System: system}).Fits(step); got != want {
				t.Errorf("%q on %q: %v, want %v", step, system, got, want)
			}
		}
	}
}
