package inventory

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// settleGaps counts which of the hosts that are only counted have a name by now, and keeps
// the gaps in which some are left.
func (b *builder) settleGaps() {
	// A host without a role is one of those that are counted, of whichever role.
	anyRole := 0
	for _, h := range b.inventory.Hosts {
		if h.Expected && !h.Spare && h.Role == "" {
			anyRole++
		}
	}
	counted := map[string]bool{}
	for _, g := range b.gaps {
		for _, h := range b.inventory.Hosts {
			if g.Of == "" && h.Expected && !h.Spare && h.Role == g.Role && (g.NodePool == "" || h.NodePool == g.NodePool) {
				g.Named++
			}
		}
		if more := min(anyRole, g.Wanted-g.Named); g.Of == "" && g.NodePool == "" && more > 0 {
			g.Named, anyRole = g.Named+more, anyRole-more
		}
		if g.Unread != nil {
			g.Named += b.nodesOf(g, counted)
		}
		if g.Named < g.Wanted {
			b.inventory.Gaps = append(b.inventory.Gaps, g)
		}
	}
}

// nodesOf counts the Nodes of a MachineSet whose Machines were not read: those that name a
// Machine of the set, and of its role those that name none of any set, each for one set.
func (b *builder) nodesOf(g Gap, counted map[string]bool) int {
	n := 0
	for _, h := range b.inventory.Hosts {
		if h.Node == nil || h.Machine != nil || counted[h.Name] {
			continue
		}
		of := b.setOf(h)
		if of == g.Of || of == "" && h.Role == g.Role && g.Named+n < g.Wanted {
			counted[h.Name] = true
			n++
		}
	}
	return n
}

// setOf is the MachineSet whose Machine a Node names: the controller makes a Machine's name
// of the set's and a suffix. "" where there is no such set.
func (b *builder) setOf(h Host) string {
	name := h.Node.API.Annotations[openshift.MachineOnNodeAnnotation]
	dash := strings.LastIndex(name, "-")
	if dash < 0 {
		return ""
	}
	for _, g := range b.gaps {
		if g.Of != "" && name[:dash] == openshift.MachineAPINamespace+"/"+g.Of {
			return g.Of
		}
	}
	return ""
}

// Unread returns why a kind was not read, nil where it was, or where there is no such kind.
func (r *Inventory) Unread(of evidence.Resource) *evidence.Unavailable {
	for _, u := range r.Missing {
		if u.Need.Resource == of {
			return u
		}
	}
	return nil
}

// ForeignNodes returns why the Nodes say nothing of the Machines, nil where they do: two or more
// Machines name a Node, there are Nodes, and none of those that are named is among them. Then
// the lists are of two clusters, or the names in one of them were replaced.
func (r *Inventory) ForeignNodes() *evidence.Unavailable {
	nodes, named := 0, 0
	for _, h := range r.Hosts {
		if h.Node != nil {
			nodes++
		}
		if h.Machine == nil || h.Machine.API.Status.NodeRef == nil {
			continue
		}
		if named++; h.Node != nil && h.Node.API.Name == h.Machine.API.Status.NodeRef.Name {
			return nil
		}
	}
	if nodes == 0 || named < 2 {
		return nil
	}
	return &evidence.Unavailable{Need: evidence.Objects(evidence.Nodes, ""), Why: evidence.Damaged,
		Detail: fmt.Sprintf("none of the %d Nodes that Machines name is among the %d Nodes: they are of another cluster, or names were replaced", named, nodes)}
}
