package inventory

import (
	"context"
	"net/netip"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
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
	others := namedhost.Others(list)
	for _, o := range list {
		n, err := namedhost.Of(o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			continue
		}
		other := slices.ContainsFunc(others, func(o namedhost.Other) bool { return o.Name == n.Name })
		if n.Role != namedhost.Bootstrap && (n.By != namedhost.Journal || !other) {
			b.nameHost(o, n)
		}
	}
	return nil
}

// Bootstrap returns the bootstrap host of the installation, where something of it was
// read. It is not in the inventory: it starts the cluster and never joins it.
func Bootstrap(ctx context.Context, w *facts.World) (Named, bool, error) {
	list, err := w.List(ctx, evidence.NamedHosts, "")
	if _, ok := evidence.AsUnavailable(err); ok {
		return Named{}, false, nil
	}
	if err != nil {
		return Named{}, false, err
	}
	for _, o := range list {
		if n, err := namedhost.Of(o); err == nil && n.Role == namedhost.Bootstrap {
			return Named{Loc: o.Loc, By: n.By, Console: n.Console}, true, nil
		}
	}
	return Named{}, false, nil
}

func (b *builder) nameHost(o evidence.Object, n namedhost.Host) {
	if _, err := netip.ParseAddr(n.Name); err == nil { // somebody knows the host by its address
		n.Addresses = append([]string{n.Name}, n.Addresses...)
	}
	h := b.match(named(n.Name), b.shortNamed(n.Name), addressed(n.Addresses))
	if h == nil {
		h = b.add(n.Name)
	}
	if namedhost.Expected(n) {
		h.Expected, h.Spare = true, false
	}
	if h.Named == nil || namedhost.Expected(n) {
		before := h.Named
		h.Named = &Named{Loc: o.Loc, By: n.By}
		if before != nil {
			h.Named.Console, h.Named.Seen, h.Named.Kubelet = before.Console, before.Seen, before.Kubelet
		}
	}
	h.Named.Seen = firstLine(h.Named.Seen, o.Loc, n.Seen)
	h.Named.Kubelet = firstLine(h.Named.Kubelet, o.Loc, n.Kubelet)
	h.Named.Console = h.Named.Console || n.Console
	h.alias(n.Name)
	h.addresses(n.Addresses...)
}

// firstLine is a line that is known, or the one of a file.
func firstLine(known *evidence.Item, file evidence.Locator, line *namedhost.Line) *evidence.Item {
	if known != nil || line == nil {
		return known
	}
	file.Line = line.Number
	return &evidence.Item{Locator: file, Excerpt: line.Head}
}

// OnlyNamed reports whether nothing of the cluster names the host.
func (h *Host) OnlyNamed() bool {
	return h.Named != nil && h.Node == nil && h.Machine == nil && h.BMH == nil && h.Assisted == nil && h.Planned == nil &&
		h.Hosted == nil && h.Provider == nil && h.Agent == nil && h.OnHost == "" && len(h.Claims) == 0
}

// ConsoleGiven reports whether a text of the host's console was given, also one that
// shows nothing of its boot.
func ConsoleGiven(h Host) bool { return h.Console != "" || h.Named != nil && h.Named.Console }

// NoBoot says what a console that was given does not show.
func NoBoot(h Host) string { return noBoot(h.Name) }

func noBoot(name string) string {
	return "the console of " + name + " was given, and no line in it is of Ignition: it shows nothing of the first boot. Keep the screen from " +
		"power-on, or give the journal; do not restart a running host"
}

// NoConsole is why nothing is known of a host's first boot: its console was not given, or
// shows nothing of it. It needs evidence.NamedHosts.
func NoConsole(ctx context.Context, w *facts.World, name, detail string) *evidence.Unavailable {
	u := &evidence.Unavailable{
		Need:   evidence.Texts(Consoles),
		Why:    evidence.NotCollected,
		Detail: detail,
		Supply: evidence.Supply{Kind: evidence.SupplyConsole, Host: name},
	}
	list, err := w.List(ctx, evidence.NamedHosts, "")
	if err != nil {
		return u
	}
	for _, o := range list {
		if n, err := namedhost.Of(o); err == nil && n.Console && SameName(o.Name, name) {
			u.Detail, u.Supply = noBoot(name), evidence.Supply{}
		}
	}
	return u
}
