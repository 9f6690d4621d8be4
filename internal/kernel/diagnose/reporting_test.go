package diagnose

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestOfOtherNodes: a node is not behind what its pool reports of other nodes, as far as the pool names all of them.
func TestOfOtherNodes(t *testing.T) {
	const (
		drained = `NodeDegraded=True: 2 nodes are reporting degraded status on sync: Node w1 is reporting: "failed to drain node", ` +
			`Node w2.example.com is reporting: "failed to drain node"`
		cut = `NodeDegraded=True: 7 nodes are reporting degraded status on sync: Node w1 is reporting: "failed to drain node"`
		one = `Node w1 is reporting: "unexpected on-disk state"`
	)
	host, pool := fault.Subject{Kind: fault.Host, Name: "w0"}, fault.Subject{Kind: fault.Pool, Name: "worker"}
	for name, tt := range map[string]struct {
		cause, effect fault.Subject
		says          string
		want          bool
	}{
		"another node":      {host, pool, drained, true},
		"of one":            {host, pool, one, true},
		"this node":         {fault.Subject{Kind: fault.Host, Name: "w1"}, pool, drained, false},
		"this one, longer":  {fault.Subject{Kind: fault.Host, Name: "w2.example.com"}, pool, drained, false},
		"not all are named": {host, pool, cut, false},
		"none is named":     {host, pool, "RenderDegraded=True: no osImageURL", false},
		"of the pool":       {pool, pool, drained, false},
		"at an operator":    {host, fault.Subject{Kind: fault.Operator, Name: "machine-config"}, drained, false},
	} {
		t.Run(name, func(t *testing.T) {
			cause := diagnosis.Finding{Subject: tt.cause}
			effect := diagnosis.Finding{Subject: tt.effect, Evidence: []evidence.Item{{Excerpt: tt.says}}}
			if got := ofOtherNodes(cause, effect); got != tt.want {
				t.Errorf("%t, want %t", got, tt.want)
			}
			if effect.Evidence, effect.Title = nil, tt.says; ofOtherNodes(cause, effect) != tt.want {
				t.Errorf("of the title: want %t", tt.want)
			}
		})
	}
}
