package inventory

import (
	"context"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// machinesSeen joins what machines told of themselves with the hosts that are known.
// A machine is the one whose Node has its machine ID or system UUID; else the one of
// its name, of its addresses or of its MACs. A machine that nothing else names is on
// the inventory: somebody stood in front of it.
func (b *builder) machinesSeen(ctx context.Context, w *facts.World, need evidence.Need) error {
	list, err := w.List(ctx, need.Resource, need.Namespace)
	if err != nil {
		return err
	}
	for _, o := range list {
		id, err := evidence.Decode[onhost.Identity](o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			continue
		}
		free := func(test func(*Host) bool) func(*Host) bool {
			return func(h *Host) bool { return h.OnHost == "" && test(h) }
		}
		h := b.match(
			free(func(h *Host) bool {
				return h.Node != nil && (same(h.Node.API.Status.NodeInfo.MachineID, id.MachineID) || same(h.Node.API.Status.NodeInfo.SystemUUID, id.SystemUUID))
			}),
			free(named(o.Name)), free(b.shortNamed(o.Name)), free(addressed(id.Addresses)),
			free(func(h *Host) bool {
				return slices.ContainsFunc(h.MACs, func(m string) bool { return slices.Contains(id.MACs, m) })
			}),
		)
		if h == nil {
			h = b.add(o.Name)
		}
		h.OnHost = o.Name
		h.alias(o.Name)
		h.addresses(id.Addresses...)
		h.mac(id.MACs...)
	}
	return nil
}

// same compares identifiers, which are written with and without dashes and in either
// case. Two that are not known, or were obfuscated, are not the same.
func same(a, b string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "") }
	return a != "" && plain(a) == plain(b) && !obfuscation.Found(a)
}
