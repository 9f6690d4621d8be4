package csr

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"
)

// TestInWindow: a BareMetalHost from which nothing boots opens no window, however it was provisioned before.
func TestInWindow(t *testing.T) {
	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		state metal3.ProvisioningState
		open  bool
	}{
		{metal3.StateProvisioned, true}, {metal3.StateProvisioning, true}, {metal3.StateExternallyProvisioned, false}, {metal3.StateUnmanaged, false},
		{metal3.StateNone, false},
		{metal3.StateAvailable, false}, {metal3.StateReady, false}, {metal3.StateDeprovisioning, false}, {metal3.StatePreparing, false},
		{metal3.StateInspecting, false}, {metal3.StateRegistering, false}, {metal3.StateDeleting, false}, {metal3.StatePoweringOffBeforeDelete, false},
		{"a state of a later release", false},
	} {
		var host metal3.BareMetalHost
		host.Status.Provisioning.State = c.state
		host.Status.OperationHistory.Provision.Start = metav1.Time{Time: began}
		list := InWindow([]inventory.Host{{Name: "fern", Expected: true, BMH: &inventory.BMH{API: host}}}, time.Hour)
		if len(list) != 1 {
			t.Fatalf("%s: %+v", c.state, list)
		}
		if got := list[0]; got.NotBefore.Equal(began) != c.open || got.NotAfter.Equal(began.Add(time.Hour)) != c.open || got.Boot == "" {
			t.Errorf("%s: from %s until %s, %s", c.state, got.NotBefore, got.NotAfter, got.Boot)
		}
	}
}

// TestInWindowWithoutStart: metal3 does not record when it began to write the disk: it is not known since when the host can ask,
// and when its Machine was created does not tell.
func TestInWindowWithoutStart(t *testing.T) {
	var host metal3.BareMetalHost
	host.Status.Provisioning.State = metal3.StateProvisioned
	machine := &inventory.Machine{}
	machine.API.CreationTimestamp = metav1.Time{Time: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	list := InWindow([]inventory.Host{{Name: "fern", Expected: true, BMH: &inventory.BMH{API: host}, Machine: machine}}, time.Hour)
	if len(list) != 1 || !list[0].NotBefore.IsZero() || !list[0].NotAfter.IsZero() || list[0].Boot == "" {
		t.Errorf("%+v", list)
	}
}

// TestInWindowOfAnotherHost: a Machine that names another BareMetalHost than the one that names it opens no window.
func TestInWindowOfAnotherHost(t *testing.T) {
	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	machine := &inventory.Machine{}
	var host metal3.BareMetalHost
	host.Namespace, host.Name = openshift.MachineAPINamespace, "rack-9"
	host.Status.Provisioning.State = metal3.StateProvisioned
	host.Status.OperationHistory.Provision.Start = metav1.Time{Time: began}
	for named, open := range map[string]bool{"openshift-machine-api/rack-9": true, "elsewhere/rack-9": false, "openshift-machine-api/rack-8": false} {
		machine.API.Annotations = map[string]string{openshift.HostOnMachineAnnotation: named}
		list := InWindow([]inventory.Host{{Name: "fern", Expected: true, Machine: machine, BMH: &inventory.BMH{API: host}}}, time.Hour)
		if len(list) != 1 || list[0].NotBefore.IsZero() == open {
			t.Errorf("BareMetalHost %s: %+v", named, list)
		}
	}
}

// TestInWindowWithoutHost: a Machine whose BareMetalHost is gone opens no window, whenever it was created.
func TestInWindowWithoutHost(t *testing.T) {
	machine := &inventory.Machine{}
	machine.API.CreationTimestamp = metav1.Time{Time: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	for _, c := range []struct {
		host string
		open bool
	}{{"", true}, {"openshift-machine-api/rack-9", false}} {
		machine.API.Annotations = map[string]string{openshift.HostOnMachineAnnotation: c.host}
		list := InWindow([]inventory.Host{{Name: "fern", Expected: true, Machine: machine}}, time.Hour)
		if len(list) != 1 || list[0].NotBefore.IsZero() == c.open || strings.Contains(list[0].NotInstalled, "rack-9") == c.open {
			t.Errorf("BareMetalHost %q: %+v", c.host, list)
		}
	}
}
