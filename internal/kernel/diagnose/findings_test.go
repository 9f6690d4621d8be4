package diagnose

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestUnnamedTitle: a title of a subject whose name is not known is a sentence, without a gap.
func TestUnnamedTitle(t *testing.T) {
	for _, c := range []struct {
		kind        fault.Kind
		title, want string
	}{
		{fault.Pool, "the config of pool {pool} cannot be converted", "the config of a pool cannot be converted"},
		{fault.Operator, "operator {operator} is degraded", "an operator is degraded"},
		{fault.CSR, "no one approves {csr}", "no one approves a request"},
		{fault.CSR, "the request {csr} was denied", "a request was denied"},
		{fault.NodePool, "NodePool {nodepool} is paused", "a NodePool is paused"},
		{fault.Host, "the disk of {host} is full", "the disk of a host whose name is not known is full"},
		{fault.Cluster, "the API is unreachable", "the API is unreachable"},
	} {
		if got := unnamedTitle(&fault.Fault{ID: "x", Title: c.title, For: c.kind}); got != c.want {
			t.Errorf("%s: %q, want %q", c.title, got, c.want)
		}
	}
}
