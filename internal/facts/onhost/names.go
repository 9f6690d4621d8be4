package onhost

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Names is the fact host-names.
type Names struct {
	Asked   int64    `cel:"asked"`
	Failed  []string `cel:"failed"`
	First   string   `cel:"first"` // the first that failed
	Why     string   `cel:"why"`
	Silent  bool     `cel:"silent"` // no name server answered, or none is named
	Servers []string `cel:"servers"`
}

var namesFact = facts.DefinePlain("host-names", fault.Host, "whether the machine itself resolves the names that its kubelet needs", needs(evidence.HostResolutions), readNames)

func readNames(ctx context.Context, w *facts.World, s fault.Subject) (Names, facts.Proof, error) {
	var f Names
	var p facts.Proof
	r, loc, err := look[onhost.Resolutions](ctx, w, evidence.HostResolutions, s)
	if err != nil {
		return f, p, err
	}
	f.Asked, f.Servers = int64(len(r.Names)), r.Servers
	for _, n := range r.Names {
		said := n.Name + ", " + n.Why + ": " + strings.Join(n.Addresses, ", ")
		if n.Class != "" {
			said = n.Name + ", " + n.Why + ": " + n.Error
			f.Failed = append(f.Failed, n.Name)
			if f.First == "" {
				f.First, f.Why, f.Silent = n.Name, n.Error, n.Class != onhost.NoSuchName
			}
		}
		if n.From != "" {
			said += fmt.Sprintf(" (asked %s)", n.From)
		}
		p.Add(at(loc, "/etc/resolv.conf"), said, r.At, "asked", "failed", "first", "why", "silent", "servers")
	}
	if f.Asked == 0 {
		return f, p, facts.NotApplicable("no kubeconfig of the machine names a server by a name")
	}
	return f, p, nil
}
