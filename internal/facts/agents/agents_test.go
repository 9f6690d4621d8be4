package agents

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
)

// TestFill: what a host's status and sentence mean. The sentences are shaped like the
// service's (openshift/assisted-service:internal/host/common.go, transition.go).
func TestFill(t *testing.T) {
	type flags struct {
		Blocked, Failed, TookTooLong, WithCluster, BootedImage, NotBack, Gone, MediaLost, Rejected bool
	}
	tests := []struct {
		name string
		host assisted.Host
		want flags
	}{
		{"known", assisted.Host{Status: "known"}, flags{}},
		{"insufficient", assisted.Host{Status: "insufficient"}, flags{Blocked: true}},
		{"insufficient on a hub", assisted.Host{Status: "insufficient-unbound"}, flags{Blocked: true}},
		{"waits for input", assisted.Host{Status: "pending-for-input"}, flags{Blocked: true}},
		{"not prepared", assisted.Host{Status: "preparing-failed"}, flags{Blocked: true}},
		{"gone", assisted.Host{Status: "disconnected"}, flags{Gone: true}},
		{"gone on a hub", assisted.Host{Status: "disconnected-unbound"}, flags{Gone: true}},
		{"its image is lost", assisted.Host{Status: "known", Media: "disconnected"}, flags{MediaLost: true}},
		{"nobody approved it", assisted.Host{Status: "known", Rejected: true}, flags{Rejected: true}},
		{"a stage took too long", assisted.Host{Status: "error", StatusInfo: "Host failed to install because its installation stage Writing image to disk took longer than expected 30m0s"}, flags{Failed: true, TookTooLong: true}},
		{"the same words of a host that goes on", assisted.Host{Status: "installing-in-progress", StatusInfo: "it took longer than expected"}, flags{}},
		{"with its cluster", assisted.Host{Status: "error", StatusInfo: "Host is part of a cluster that failed to install"}, flags{Failed: true, WithCluster: true}},
		{"the image again", assisted.Host{Status: "installing-pending-user-action", StatusInfo: "Expected the host to boot from disk, but it booted the installation image - please reboot and fix boot order"}, flags{BootedImage: true}},
		{"the image again, an hour ago", assisted.Host{Status: "error", StatusInfo: "Host failed to boot from the installation disk within the expected time. The host had wrong boot order and did not recover"}, flags{Failed: true, BootedImage: true}},
		{"never back", assisted.Host{Status: "installing-in-progress", StatusInfo: "Host timed out when pulling the configuration files. Verify in the host console that the host boots from the OpenShift installation disk"}, flags{NotBack: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f host
			f.fill(tt.host, evidence.Locator{})
			got := flags{f.Blocked.Value(), f.Failed.Value(), f.TookTooLong.Value(), f.WithCluster.Value(), f.BootedImage.Value(), f.NotBack.Value(),
				f.Gone.Value(), f.MediaLost.Value(), f.Rejected.Value()}
			if got != tt.want || !f.Registered.Value() || f.Status.Value() != tt.host.Status {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestGroups: every validation that is known says something somewhere, one that is not
// known is not lost, and those that passed or that the status says already say nothing.
func TestGroups(t *testing.T) {
	for id, group := range groups {
		var f host
		f.fill(assisted.Host{Validations: []assisted.Validation{{ID: id, Status: assisted.Failure, Message: "m"}}}, evidence.Locator{})
		if to := f.group(group); group != "" && (to == nil || to.Value() != "m") {
			t.Errorf("%s: nothing is said about %s", id, group)
		}
		if len(f.Failing.Value()) != 1 {
			t.Errorf("%s: failing %v", id, f.Failing)
		}
	}
	var f host
	f.fill(assisted.Host{Validations: []assisted.Validation{
		{ID: "made-up-tomorrow", Status: assisted.Failure}, {ID: "ntp-synced", Status: "success", Message: "fine"}, {ID: "mtu-valid", Status: "pending"},
		{ID: "hostname-valid", Status: assisted.Faulty, Message: "first"}, {ID: "hostname-unique", Status: assisted.Failure, Message: "second"},
	}}, evidence.Locator{})
	if f.Other.Value() != "made-up-tomorrow" || f.Clock.Value() != "" || f.Peers.Value() != "" || f.Hostname.Value() != "first; second" || len(f.Failing.Value()) != 3 {
		t.Errorf("%+v", f)
	}
}

// TestShort: a sentence of the service ends at its first line, and where it is long at
// a whole character.
func TestShort(t *testing.T) {
	if got := short("  one\ntwo "); got != "one" {
		t.Errorf("%q", got)
	}
	got := short(strings.Repeat("é", 400))
	if !strings.HasSuffix(got, "…") || strings.ContainsRune(got, '\uFFFD') || utf8.RuneCountInString(got) > 301 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
