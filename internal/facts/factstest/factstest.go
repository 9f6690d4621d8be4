// Package factstest computes single facts over small archives, for the tests of the
// packages below internal/kernel/facts. It is imported by tests only.
package factstest

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// The bases, see internal/fixture.
const (
	Metal = "ocp-4.20-baremetal"
	None  = "ocp-4.14-none"
)

// World is a base with changes, written as an overlay without its header. Needs in
// without are missing from it.
func World(t *testing.T, base, changes string, without ...evidence.Need) *facts.World {
	t.Helper()
	o, err := fixture.ParseOverlay("facts/testdata/test.txtar", []byte("base: "+base+"\nsubject: cluster\n"+changes))
	if err != nil {
		t.Fatal(err)
	}
	files, err := o.FS()
	if err != nil {
		t.Fatal(err)
	}
	r, err := fixture.Reader(files, without...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := fixture.World(t.Context(), r, o.Now)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Fields computes a fact that must be known as a whole; single fields may not be.
func Fields[T any](t *testing.T, w *facts.World, f facts.Fact, s fault.Subject) T {
	t.Helper()
	v := w.Compute(t.Context(), f, s)
	if v.Err != nil {
		t.Fatalf("fact %s of %s: %v", f.Name, s, v.Err)
	}
	value, ok := facts.As[T](v)
	if !ok {
		t.Fatalf("fact %s is no %T", f.Name, value)
	}
	return value
}

// Err returns why a fact could not be computed.
func Err(t *testing.T, w *facts.World, f facts.Fact, s fault.Subject) error {
	t.Helper()
	v := w.Compute(t.Context(), f, s)
	if v.Err == nil {
		t.Fatalf("fact %s of %s is known, want an error", f.Name, s)
	}
	return v.Err
}

// Host is a host.
func Host(name string) fault.Subject { return fault.Subject{Kind: fault.Host, Name: name} }

// Operator is an operator.
func Operator(name string) fault.Subject { return fault.Subject{Kind: fault.Operator, Name: name} }

// Cluster is the cluster.
func Cluster() fault.Subject { return fault.Subject{Kind: fault.Cluster} }
