package csr_test

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

// leastForged is how many forged requests are tried at least.
const leastForged = 80

func judge(t *testing.T, requests []*csrtest.Request) csr.Decision {
	t.Helper()
	p, err := csrtest.Scene(requests...)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := csrs.Find(p.Requests, requests[len(requests)-1].API.Name)
	if !ok {
		t.Fatal("the request is not in the scene")
	}
	return csr.Judge(r, csr.For(csrtest.Expected(), r.NodeName), p)
}

// TestForged: what an attacker files is refused, by the rule that is meant for it.
func TestForged(t *testing.T) {
	all := csrtest.Forged()
	if len(all) < leastForged {
		t.Errorf("%d forged requests, want %d", len(all), leastForged)
	}
	names := map[string]bool{}
	for _, f := range all {
		if names[f.Name] {
			t.Errorf("%s is twice in the list", f.Name)
		}
		names[f.Name] = true
		t.Run(f.Name, func(t *testing.T) {
			d := judge(t, f.Make())
			if d.Approve {
				t.Fatalf("approved: %s", d.Why)
			}
			if f.Rule != "" && !slices.ContainsFunc(d.Checks, func(c csr.Check) bool { return c.Name == f.Rule && c.Result != csrs.Passed }) {
				t.Errorf("rule %s does not refuse it: %s", f.Rule, d.Why)
			}
		})
	}
}

// TestHonest: the requests that the forged ones are made of are approved.
func TestHonest(t *testing.T) {
	for name, r := range map[string]*csrtest.Request{
		"first certificate":                      csrtest.Client("panda"),
		"serving certificate":                    csrtest.Serving("otter", "192.0.2.23"),
		"serving certificate of an old Node":     csrtest.Serving("koala", "192.0.2.22"),
		"serving certificate without an address": csrtest.Serving("otter"),
	} {
		if d := judge(t, []*csrtest.Request{r}); !d.Approve {
			t.Errorf("%s: refused: %s", name, d.Why)
		}
	}
}
