package lookup_test

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/lookup"
)

func pages(list ...lookup.Page) *lookup.Index { return lookup.New(list) }

func page(id, title string, more ...string) lookup.Page {
	p := lookup.Page{Kind: "fault", ID: id, Title: title, Fields: []lookup.Field{{Weight: 4, Text: id}, {Weight: 3, Text: title}}}
	for _, text := range more {
		p.Fields = append(p.Fields, lookup.Field{Weight: 1, Text: text})
	}
	return p
}

var few = []lookup.Page{
	page("pool-paused", "the MachineConfigPool is paused", "A paused pool holds its config back."),
	page("pool-render-degraded", "the MachineConfigs of the pool cannot be merged", "The pool is degraded."),
	page("host-clock-wrong", "the clock of the host is wrong", "chronyd has no time source."),
	page("node-not-ready", "the node is not Ready", "The kubelet does not report."),
	page("drain-blocked", "the host waits to be drained", "A PodDisruptionBudget refuses the eviction of a pod."),
	page("csr-approved-not-issued", "a request was approved and no certificate was issued", "The signer does not run."),
	page("host-file-system-full", "a file system of the host is full", "No space left on device."),
}

// TestWords holds that the words of people find the words of pages: case, plurals, endings,
// CamelCase, short names and words that stand for others.
func TestWords(t *testing.T) {
	ix := pages(few...)
	for question, want := range map[string]string{
		"mcp degraded": "pool-render-degraded", "MachineConfigPool pause": "pool-paused", "machine-config-pools pausing": "pool-paused",
		"nodes NotReady": "node-not-ready", "node unready": "node-not-ready", "ntp drift": "host-clock-wrong", "PDBs": "drain-blocked",
		"SchedulingDisabled": "drain-blocked", "evicted": "drain-blocked", "ENOSPC": "host-file-system-full", "disk full": "host-file-system-full",
		"certificate signing request issued": "csr-approved-not-issued", "CSRs": "csr-approved-not-issued", "degr": "pool-render-degraded",
	} {
		hits := ix.Search(question)
		if len(hits) == 0 || hits[0].ID != want {
			t.Errorf("%q: %+v, want %s first", question, hits, want)
		}
	}
	for _, question := range []string{"", "the", "xyzzy", "??"} {
		if hits := ix.Search(question); len(hits) > 0 && hits[0].Met > 0.9 {
			t.Errorf("%q finds %+v", question, hits[0])
		}
	}
}

// TestNamed: a question that is a page's name in other words, and none that only has its words.
func TestNamed(t *testing.T) {
	advice := page("approve-all-csrs", "approving every request in a loop")
	advice.Phrases = []string{"approve all pending csrs"}
	ix := pages(append(slices.Clone(few), advice)...)
	for question, want := range map[string]string{
		"node NotReady": "node-not-ready", "is the pool paused?": "pool-paused", "approve all the pending CSRs": "approve-all-csrs",
		"csr approved": "", "csr approved not issued": "csr-approved-not-issued", "pool": "", "pool is not paused": "", "approve csr": "",
	} {
		got := ""
		if hits := ix.Search(question); len(hits) > 0 && hits[0].Named {
			got = hits[0].ID
		}
		if got != want {
			t.Errorf("%q is %q, want %q", question, got, want)
		}
	}
}

// TestSame holds that the order does not change from one search to the next.
func TestSame(t *testing.T) {
	ix := pages(few...)
	first := ix.Search("the host waits for the pool of the node")
	for range 20 {
		if again := ix.Search("the host waits for the pool of the node"); !slices.Equal(first, again) {
			t.Fatalf("%v\n%v", first, again)
		}
	}
}

// TestNear: lines that no message of the catalog knows, and the pages that have their words
// more than by chance.
func TestNear(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	ix := lookup.New(lookup.FaultPages(c))
	for line, want := range map[string]string{
		"bootstrap.go:195] Part of the existing bootstrap client certificate is expired: 2020-04-11 10:12:00 +0000 UTC": "kubelet-client-cert-expired",
		"May 02 11:20:31 w1 systemd[1]: Failed to start Machine Config Daemon Firstboot.":                               "firstboot-",
		`level=error msg="something that no catalog knows went wrong with the machines"`:                                "",
		"[81022.110991] Kernel panic - not syncing: Fatal exception in interrupt":                                       "",
		"E1106 14:39:39.989826 136240 reconcile.go:261] failed to reconcile the thing: exit status 1":                   "",
		"Error: could not do that": "",
		"panic: runtime error: invalid memory address or nil pointer dereference":                                            "",
		"base_controller.go:268] ThingController reconciliation failed: giving up getting a cached client after 3 tries":     "",
		"ERROR The cluster should be accessible for troubleshooting as detailed in the documentation linked below,":          "",
		"conmon 1b2c <error>: Failed to write to cgroup.event_control Operation not supported":                               "",
		"error: the server doesn't have a resource type \"widgets\"":                                                         "",
		"Traceback (most recent call last):\n  File \"/usr/lib/x.py\", line 3, in main\nKeyError: 'nics'":                    "",
		"dbus-broker-launch[812]: Service file '/usr/share/x.service' is not named after the D-Bus name 'org.example.Thing'": "",
	} {
		got := ix.Near(line)
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%q: %+v is near by chance", line, got[0])
		case want != "" && (len(got) == 0 || len(got[0].ID) < len(want) || got[0].ID[:len(want)] != want):
			t.Errorf("%q: %+v, want %s", line, got, want)
		case len(got) > 3:
			t.Errorf("%q: %d pages", line, len(got))
		}
	}
}
