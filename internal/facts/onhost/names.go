package onhost

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// names is the fact host-names.
type names struct {
	Failed facts.Field[[]string] `cel:"failed"`
	First  facts.Field[string]   `cel:"first"` // the first that failed
	Why    facts.Field[string]   `cel:"why"`
}

var namesFact = facts.Define("host-names", fault.Host, "whether the machine itself resolves the names that its kubelet needs",
	needs(evidence.HostResolutions), readNames)

func readNames(ctx context.Context, w *facts.World, s fault.Subject) (names, error) {
	var f names
	r, loc, err := readPart[onhost.Resolutions](ctx, w, evidence.HostResolutions, s)
	if err != nil {
		return f, err
	}
	if len(r.Names) == 0 {
		return f, facts.NotApplicable("no kubeconfig of the machine names a server by a name")
	}
	var failed []string
	first := onhost.Resolution{}
	for _, n := range r.Names {
		said := n.Name + ", " + n.Why + ": " + strings.Join(n.Addresses, ", ")
		if n.Class != "" {
			said = n.Name + ", " + n.Why + ": " + n.Error
			failed = append(failed, n.Name)
			if first.Name == "" {
				first = n
			}
		}
		if n.From != "" {
			said += fmt.Sprintf(" (asked %s)", n.From)
		}
		facts.Prove(shows(loc, "/etc/resolv.conf", said, r.At), &f.Failed, &f.First, &f.Why)
	}
	f.Failed.Set(failed)
	f.First.Set(first.Name)
	f.Why.Set(first.Error)
	return f, nil
}
