package command

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
)

// TestChooseRoot: never a guess among several, and where there is none, what to do.
func TestChooseRoot(t *testing.T) {
	root := func(id string, pools ...string) diagnosis.Root {
		r := diagnosis.Root{Fault: id}
		for _, p := range pools {
			r.Cases = append(r.Cases, diagnosis.Case{Key: fault.Key{Fault: id, Subject: fault.Subject{Kind: fault.Pool, Name: p}}})
		}
		return r
	}
	paused, mismatch := root("pool-paused", "worker"), root("bootstrap-mc-mismatch", "master")
	young := diagnosis.Verdict{
		Class: diagnosis.Settling, Reason: "in progress: bootstrap-mc-mismatch of pool/master",
		Until: time.Date(2026, 3, 1, 8, 24, 0, 0, time.UTC),
	}
	for _, c := range []struct {
		name    string
		roots   []diagnosis.Root
		verdict diagnosis.Verdict
		want    string
		chosen  string
		says    string // of the error
		usage   bool
	}{
		{name: "the only one", roots: []diagnosis.Root{paused}, chosen: "pool-paused"},
		{name: "by its fault", roots: []diagnosis.Root{paused, mismatch}, want: "bootstrap-mc-mismatch", chosen: "bootstrap-mc-mismatch"},
		{name: "by its subject", roots: []diagnosis.Root{root("pool-paused", "infra", "worker")}, want: "pool-paused@pool/worker", chosen: "pool-paused"},
		{name: "several", roots: []diagnosis.Root{paused, mismatch}, says: "choose one with --root: pool-paused@pool/worker, bootstrap-mc-mismatch@pool/master", usage: true},
		{name: "one at several", roots: []diagnosis.Root{root("pool-paused", "infra", "worker")}, want: "pool-paused", says: "choose one with --root: pool-paused@pool/infra, pool-paused@pool/worker", usage: true},
		{name: "another", roots: []diagnosis.Root{paused}, want: "x", says: "--root x: the causes are pool-paused@pool/worker", usage: true},
		{name: "too early", verdict: young, says: "nothing to repair yet: in progress: bootstrap-mc-mismatch of pool/master; ask again after 2026-03-01T08:24:00Z"},
		{name: "healthy", verdict: diagnosis.Verdict{Class: diagnosis.Healthy, Reason: "all answered"}, says: "names no cause (healthy: all answered)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := chooseRoot(&diagnosis.Diagnosis{Roots: c.roots, Verdict: c.verdict}, c.want, nil)
			if got.Fault != c.chosen {
				t.Errorf("chose %q, want %q", got.Fault, c.chosen)
			}
			var usage *session.UsageError
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || errors.As(err, &usage) != c.usage {
				t.Errorf("error %v, want one with %q", err, c.says)
			}
		})
	}
}

// TestChooseRootMeant: a flag that only some causes can use chooses among them, and among symptoms
// whose cause is not known.
func TestChooseRootMeant(t *testing.T) {
	root := func(id, host string) diagnosis.Root {
		return diagnosis.Root{Fault: id, Cases: []diagnosis.Case{{Key: hostKey(id, host)}}}
	}
	known, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	d := &diagnosis.Diagnosis{
		Roots: []diagnosis.Root{root("node-lease-stale", "m1"), root("etcd-member-unhealthy", ""), root("bmc-address-wrong", "w0"), root("bmc-address-wrong", "w1")},
		Unexplained: []diagnosis.Unexplained{
			{Key: hostKey("bmh-inspection-stuck", "w2")}, {Key: hostKey("bmh-inspection-stuck", "w3")},
		},
	}
	d.Roots[0].Cases[0].Explains = []fault.Key{hostKey("node-not-ready", "m1")}
	for name, c := range map[string]struct {
		ask    repair.Ask
		chosen fault.Key
		says   string
	}{
		"a dead member":         {repair.Ask{Member: repair.MemberAsk{Name: "m1"}}, hostKey("etcd-member-unhealthy", ""), ""},
		"a new inspection":      {repair.Ask{Inspect: "w3"}, hostKey("bmh-inspection-stuck", "w3"), ""},
		"a value of two causes": {repair.Ask{Values: map[string]string{"correct-bmc-address": "x"}}, fault.Key{}, "--root: bmc-address-wrong@host/w0, bmc-address-wrong@host/w1"},
		"of none":               {repair.Ask{Inspect: "m1"}, fault.Key{}, "several causes"},
	} {
		got, err := chooseRoot(d, "", meant(known, c.ask))
		if got.Key != c.chosen || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, got.Key, err)
		}
	}
}

func hostKey(id, host string) fault.Key {
	s := fault.Subject{Kind: fault.Host, Name: host}
	if host == "" {
		s = fault.Subject{Kind: fault.Cluster}
	}
	return fault.Key{Fault: id, Subject: s}
}

// TestByName: who knows why a host was not inspected is told how a new inspection is planned without that proof; for
// another cause there is no such way.
func TestByName(t *testing.T) {
	root := diagnosis.Case{Key: fault.Key{Fault: "x", Subject: fault.Subject{Kind: fault.Host, Name: "spare2"}}}
	for id, want := range map[string]string{
		"inspect-host-again": "rollcall fix plan --inspect-again spare2", "correct-bmc-address": "",
	} {
		root.Remedies = []fault.Advice{{ID: id}}
		if got := byName(root, "rollcall"); !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}
