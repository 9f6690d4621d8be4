package baremetal

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
)

func TestMeans(t *testing.T) {
	for message, want := range map[string]cause{
		"":                                      "",
		"a message that no release has written": "",
		"Failed to inspect hardware. Reason: unable to start inspection: 'System' object has no attribute 'x'":                          "",
		"Failed to get power state for node n. Error: IPMI call failed: power status.":                                                  unreachable,
		"Redfish exception occurred. Error: HTTP GET https://b/redfish/v1 returned code 401. unauthorized":                              refused,
		"Redfish exception occurred. Error: HTTP GET https://b/redfish/v1/Systems/9 returned code 404.":                                 address,
		"Redfish connection failed for node n: SSLError(CERTIFICATE_VERIFY_FAILED)":                                                     certificate,
		"Redfish connection failed for node n: Unable to connect to https://b/redfish/v1/":                                              unreachable,
		"Redfish exception occurred. Error: Setting boot mode to uefi failed for node n. Error: HTTP PATCH https://b returned code 500": bootMode,
		"Virtual media mount failed for node n with image https://i. First error: HTTP POST returned code 403":                          refused,
		"MAC address 52:54:00:aa:00:01 conflicts with existing node ns~other":                                                           macConflict,
		"Timeout reached while inspecting the node. Please check if the ramdisk is running":                                             ramdiskSilent,
		"Error finding the disk or partition device to deploy the image onto: No suitable device was found":                             noRootDevice,
		"The deploying state can't be resumed by conductor metal3":                                                                      interrupted,
	} {
		if got := means(message); got != want {
			t.Errorf("Means(%q) = %q, want %q", message, got, want)
		}
	}
}

func TestBackoff(t *testing.T) {
	for failures, want := range map[int][2]time.Duration{
		-1: {30 * time.Second, time.Minute},
		1:  {time.Minute, 2 * time.Minute},
		9:  {256 * time.Minute, 512 * time.Minute},
		40: {256 * time.Minute, 512 * time.Minute},
	} {
		if least, most := backoff(failures); least != want[0] || most != want[1] {
			t.Errorf("backoff(%d) = %s, %s, want %v", failures, least, most, want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	same := []string{
		"redfish-virtualmedia://10.0.0.1/redfish/v1/Systems/1",
		"idrac-virtualmedia+https://10.0.0.1:443/redfish/v1/Systems/1/",
		"Redfish+HTTPS://10.0.0.1/redfish/v1/Systems/1",
	}
	for _, a := range same {
		if endpoint(a) != endpoint(same[0]) {
			t.Errorf("endpoint(%q) = %q, want %q", a, endpoint(a), endpoint(same[0]))
		}
	}
	others := map[string]bool{endpoint(same[0]): true}
	for _, a := range []string{"10.0.0.1", "ipmi://10.0.0.1:6230", "redfish+http://10.0.0.1/redfish/v1/Systems/1", "redfish://10.0.0.1/redfish/v1/Systems/2", "redfish://[2001:db8::1]/redfish/v1/Systems/1"} {
		if e := endpoint(a); e == "" || others[e] {
			t.Errorf("endpoint(%q) = %q: empty or taken", a, e)
		} else {
			others[e] = true
		}
	}
	for _, a := range []string{"", "redfish://", "redfish://%zz/"} {
		if e := endpoint(a); e != "" {
			t.Errorf("endpoint(%q) = %q, want none", a, e)
		}
	}
}

func TestMAC(t *testing.T) {
	if a, b := mac("52-54-00-AA-00-01"), mac(" 52:54:00:aa:00:01 "); a != b || a == "" {
		t.Errorf("two spellings of one MAC: %q and %q", a, b)
	}
	if m := mac("none"); m != "" {
		t.Errorf("mac(none) = %q", m)
	}
}

// TestOverdue: a host is overdue when neither a try nor the pause before one can
// still be continuing.
func TestOverdue(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	host := func(state metal3.ProvisioningState, ago time.Duration, errors int, change func(*metal3.BareMetalHost)) hostStatus {
		at := metav1.NewTime(now.Add(-ago))
		api := metal3.BareMetalHost{}
		api.Spec.BMC.Address = "redfish://10.0.0.1/redfish/v1/Systems/1"
		api.Status.Provisioning.State, api.Status.LastUpdated, api.Status.ErrorCount = state, &at, errors
		if errors > 0 {
			api.Status.ErrorType, api.Status.ErrorMessage = metal3.InspectionError, "x"
		}
		if change != nil {
			change(&api)
		}
		return statusOf(inventory.Host{BMH: &inventory.BMH{API: api}}, now)
	}
	none := func(*metal3.BareMetalHost) {}
	for _, c := range []struct {
		name   string
		host   hostStatus
		change bool
	}{
		{"a try of 34 minutes", host(metal3.StateInspecting, 34*time.Minute, 0, none), false},
		{"a try of 36 minutes", host(metal3.StateInspecting, 36*time.Minute, 0, none), true},
		{"the pause after nine failures", host(metal3.StateInspecting, 9*time.Hour, 9, none), false},
		{"long after it", host(metal3.StateInspecting, 10*time.Hour, 9, none), true},
		{"a deployment of 80 minutes", host(metal3.StateProvisioning, 80*time.Minute, 0, none), false},
		{"nothing to do", host(metal3.StateProvisioned, 900*time.Hour, 0, none), false},
		{"paused", host(metal3.StateInspecting, 90*time.Hour, 0, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{metal3.PausedAnnotation: ""}
		}), false},
		{"without a BMC", host(metal3.StateUnmanaged, 90*time.Hour, 0, func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "" }), false},
	} {
		if c.host.overdue != c.change {
			t.Errorf("%s: overdue %t, want %t", c.name, c.host.overdue, c.change)
		}
	}
}

// TestGoesOn: a failure continues while the host is in the state in which that is tried
// again. A registration tells nothing.
func TestGoesOn(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)) }
	host := func(state metal3.ProvisioningState, change func(*metal3.OperationHistory)) *metal3.BareMetalHostStatus {
		var st metal3.BareMetalHostStatus
		st.Provisioning.State = state
		st.OperationHistory.Register = metal3.OperationMetric{Start: at(1), End: at(5)}
		st.OperationHistory.Inspect.Start = at(5)
		if change != nil {
			change(&st.OperationHistory)
		}
		return &st
	}
	began := func(h *metal3.OperationHistory) { h.Register = metal3.OperationMetric{Start: at(20)} }
	ended := func(h *metal3.OperationHistory) { h.Register = metal3.OperationMetric{Start: at(20), End: at(22)} }
	for _, c := range []struct {
		name string
		st   *metal3.BareMetalHostStatus
		kind metal3.ErrorType
		at   int
		goes bool
		only metal3.ErrorType
	}{
		{"inspected again", host(metal3.StateInspecting, nil), metal3.InspectionError, 9, true, metal3.InspectionError},
		{"inspected once more after another inspection had failed", host(metal3.StateInspecting, nil), metal3.InspectionError, 4, false, metal3.InspectionError},
		{"registered again while it was inspected", host(metal3.StateInspecting, ended), metal3.RegistrationError, 19, false, ""},
		{"being registered while it is inspected", host(metal3.StateInspecting, began), metal3.RegistrationError, 19, false, ""},
		{"being registered", host(metal3.StateRegistering, began), metal3.RegistrationError, 19, false, ""},
		{"prepared after its inspection had failed", host(metal3.StatePreparing, nil), metal3.InspectionError, 9, false, ""},
		{"deprovisioned after its provisioning had failed", host(metal3.StateDeprovisioning, nil), metal3.ProvisioningError, 9, true, ""},
		{"provisioned once more", host(metal3.StateProvisioning, nil), metal3.ProvisioningError, 9, false, ""},
	} {
		if got := inProgress(c.st, failure{kind: c.kind, at: at(c.at).Time}); got != c.goes {
			t.Errorf("%s: goes on %t, want %t", c.name, got, c.goes)
		}
		if got := only(c.st); got != c.only {
			t.Errorf("%s: only %q, want %q", c.name, got, c.only)
		}
	}
}

func TestHints(t *testing.T) {
	spinning, yes := false, metal3.Storage{Name: "/dev/disk/by-path/p1", AlternateNames: []string{"/dev/sda"}, Vendor: "EXAMPLE", Model: "Fast Disk 9", SerialNumber: "S1",
		SizeBytes: 960197124096, WWN: "0xABC"}
	for name, c := range map[string]struct {
		hints metal3.RootDeviceHints
		fits  bool
	}{
		"an alternate name":    {metal3.RootDeviceHints{DeviceName: "/dev/sda"}, true},
		"a part of the model":  {metal3.RootDeviceHints{Model: "disk 9", Vendor: "example"}, true},
		"another serial":       {metal3.RootDeviceHints{SerialNumber: "S2"}, false},
		"a part of the serial": {metal3.RootDeviceHints{SerialNumber: "S"}, false},
		"WWN in another case":  {metal3.RootDeviceHints{WWN: "0xabc"}, true},
		"large enough":         {metal3.RootDeviceHints{MinSizeGigabytes: 800, Rotational: &spinning}, true},
		"too small":            {metal3.RootDeviceHints{MinSizeGigabytes: 1000}, false},
	} {
		if got := fits(&c.hints, yes); got != c.fits {
			t.Errorf("%s: fits %t, want %t", name, got, c.fits)
		}
	}
}
