package command

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
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
			got, err := chooseRoot(&diagnosis.Diagnosis{Roots: c.roots, Verdict: c.verdict}, c.want)
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
