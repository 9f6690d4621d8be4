package firstboot

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

func play(t testing.TB, text string) FirstBoot {
	t.Helper()
	set, err := fixture.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	for i, s := range strings.Split(text, "\n") {
		for _, h := range set.Find([]byte(s)) {
			if !slices.Contains(messages, h.ID) {
				continue
			}
			lines = append(lines, line{id: h.ID, Match: evidence.Match{Groups: h.Groups, Line: evidence.Line{Text: s, Loc: evidence.Locator{Path: "x", Line: i + 1}}}})
		}
	}
	return readBoot(lines).fields()
}

func TestFollow(t *testing.T) {
	const fail = `podman[1204]: Error: initializing source docker://quay.example.com/mco@sha256:1: `
	tests := []struct {
		name, text string
		want       FirstBoot
	}{
		{"waits", "[ ***  ] A start job is running for Machine Config Daemon Pull (3min 2s / no limit)", FirstBoot{Waiting: facts.Known("pull")}},
		{"waits, newer systemd", "[ ***  ] A start job is running for machine-config-daemon-firstboot.service - Machine Config Daemon Firstboot (1min / no limit)", FirstBoot{Waiting: facts.Known("firstboot")}},
		{"another job", "[ ***  ] A start job is running for Ignition (fetch) (3min 2s / no limit)", FirstBoot{}},
		{"refused by the registry", fail + "reading manifest sha256:1: unauthorized: authentication required", FirstBoot{Failures: facts.Known[int64](1), Class: facts.Known("unauthorized"), Registry: facts.Known("quay.example.com")}},
		{"name", fail + `pinging container registry quay.example.com: Get "https://quay.example.com/v2/": dial tcp: lookup quay.example.com on 192.0.2.53:53: no such host`, FirstBoot{Failures: facts.Known[int64](1), Class: facts.Known("dns"), Registry: facts.Known("quay.example.com")}},
		{"certificate", fail + `pinging container registry: Get "https://quay.example.com/v2/": x509: certificate signed by unknown authority`, FirstBoot{Failures: facts.Known[int64](1), Class: facts.Known("tls"), Registry: facts.Known("quay.example.com")}},
		{"policy", "podman[1]: Error: Source image rejected: A signature was required, but no signature exists", FirstBoot{Failures: facts.Known[int64](1), Class: facts.Known("policy")}},
		{"disk", `podman[1204]: Error: copying system image from manifest list: writing blob: storing blob to file "/var/tmp/storage1/1": write /var/tmp/storage1/1: no space left on device`, FirstBoot{Failures: facts.Known[int64](1), Class: facts.Known("disk-full")}},
		{"rpm-ostree, once though the line has two signatures", `error running rpm-ostree rebase --experimental ostree-unverified-registry:quay.example.com/os@sha256:1: error: Creating importer: Failed to invoke skopeo proxy method OpenImage: remote error: unauthorized`, FirstBoot{Failures: facts.Known[int64](1), Class: facts.Known("unauthorized"), Registry: facts.Known("quay.example.com")}},
		{"went on", fail + "EOF\n[  OK  ] Finished Machine Config Daemon Pull.", FirstBoot{}},
		{"done", fail + "EOF\n[  OK  ] Finished machine-config-daemon-firstboot.service - Machine Config Daemon Firstboot.", FirstBoot{Done: facts.Known(true)}},
		{"done without a reboot", "skipping reboot since no changes were detected from a to b", FirstBoot{Done: facts.Known(true)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts.Complete(&tt.want)
			if diff := cmp.Diff(tt.want, play(t, tt.text), cmpopts.IgnoreFields(FirstBoot{}, "Error", "Said")); diff != "" {
				t.Errorf("first boot (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzFollow(f *testing.F) {
	f.Add("A start job is running for Machine Config Daemon Pull\ninitializing source docker://x: y")
	f.Fuzz(func(t *testing.T, text string) {
		if b := play(t, text); b.Failures.Value() > 0 && b.Class.Value() == "" {
			t.Error("a failure without a class")
		}
	})
}
