package hosts

import (
	"context"
	"net/netip"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// namedHosts takes the hosts that the user, or a text, names. One of an object's name or
// address is the same host. Only the user's own word makes a host expected that the
// cluster does not expect: a spare one, or one that is being deleted.
func (b *builder) namedHosts(ctx context.Context, w *facts.World, need evidence.Need) error {
	list, err := w.List(ctx, need.Resource, need.Namespace)
	if err != nil {
		return err
	}
	for _, o := range list {
		n, err := namedhost.Of(o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			continue
		}
		b.nameHost(o, n)
	}
	return nil
}

func (b *builder) nameHost(o evidence.Object, n namedhost.Host) {
	if _, err := netip.ParseAddr(n.Name); err == nil { // somebody knows the host by its address
		n.Addresses = append([]string{n.Name}, n.Addresses...)
	}
	h := b.match(named(n.Name), b.shortNamed(n.Name), addressed(n.Addresses))
	if n.Role == namedhost.Bootstrap {
		h = b.match(func(h *Host) bool { return h.Role == namedhost.Bootstrap })
	}
	if h == nil {
		h = b.add(n.Name)
		h.Expected = n.Role != namedhost.Bootstrap
		h.Role = n.Role
	}
	if n.By == namedhost.Expect {
		h.Expected, h.Spare = true, false
	}
	if h.Named == nil || n.By == namedhost.Expect {
		h.Named = &Named{Loc: o.Loc, By: n.By}
	}
	h.alias(n.Name)
	h.addresses(n.Addresses...)
}
