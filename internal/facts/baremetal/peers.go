package baremetal

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Peers is the fact bmh-peers.
type Peers struct {
	MAC        facts.Field[string]    `cel:"mac"`
	SameMAC    facts.Field[[]string]  `cel:"sameMAC"` // other hosts with the same boot MAC
	BMC        facts.Field[string]    `cel:"bmc"`     // endpoint and system path, as far as the address tells
	SameBMC    facts.Field[[]string]  `cel:"sameBMC"` // other hosts with the same one
	SaidTaken  facts.Field[bool]      `cel:"saidTaken"`
	Registered facts.Field[bool]      `cel:"registered"`
	Since      facts.Field[time.Time] `cel:"since"`
}

// PeersFact is the fact bmh-peers.
func PeersFact() facts.Fact {
	return facts.Define("bmh-peers", fault.Host, "whether another BareMetalHost has the same boot MAC or the same BMC", needs(), readPeers)
}

func readPeers(ctx context.Context, w *facts.World, s fault.Subject) (Peers, error) {
	var f Peers
	own, err := Find(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	known, err := identities(ctx, w)
	if err != nil {
		return f, err
	}
	api := &own.BMH.API
	address, bmc, since := mac(api.Spec.BootMACAddress), endpoint(api.Spec.BMC.Address), api.CreationTimestamp.UTC()
	item := shown(own, "spec", fmt.Sprintf("bootMACAddress %s, bmc %s", address, bmc), since)
	f.MAC.Set(address, item)
	f.BMC.Set(bmc, item)
	f.Since.Set(since, item)
	f.Registered.Set(api.Status.Provisioning.ID != "", item)
	f.SameMAC.Prove(item)
	f.SameBMC.Prove(item)
	f.SameMAC.Set(shares(&f.SameMAC, own, known.mac[address], func(h inventory.Host) (string, string) {
		return "spec.bootMACAddress",
			h.BMH.API.Spec.BootMACAddress
	}))
	f.SameBMC.Set(shares(&f.SameBMC, own, known.bmc[bmc], func(h inventory.Host) (string, string) { return "spec.bmc.address", h.BMH.API.Spec.BMC.Address }))
	hidden := func(what string) error {
		return obfuscation.Unavailable(evidence.Objects(evidence.BareMetalHosts, openshift.MachineAPINamespace), what)
	}
	if obfuscation.Found(api.Spec.BootMACAddress) {
		f.MAC.Miss(hidden("the MAC address"))
		f.SameMAC.Miss(hidden("the MAC address"))
	} else if known.hiddenMAC && len(f.SameMAC.Value()) == 0 {
		f.SameMAC.Miss(hidden("the MAC address of another host"))
	}
	if obfuscation.Found(api.Spec.BMC.Address) {
		f.BMC.Miss(hidden("the BMC's address"))
		f.SameBMC.Miss(hidden("the BMC's address"))
	} else if known.hiddenBMC && len(f.SameBMC.Value()) == 0 {
		f.SameBMC.Miss(hidden("the BMC's address of another host"))
	}
	message := errorMessage(own)
	f.SaidTaken.Set(means(api.Status.ErrorMessage) == macConflict, message)
	return f, nil
}

// errorMessage is what the status says of a failure.
func errorMessage(h inventory.Host) evidence.Item {
	text := short(h.BMH.API.Status.ErrorMessage)
	if text == "" {
		text = "no error message"
	}
	return shown(h, "status.errorMessage", text, time.Time{})
}

// shares returns the names of the other hosts of a list, and proves each.
func shares(f facts.Setter, own inventory.Host, list []inventory.Host, field func(inventory.Host) (path, value string)) []string {
	var names []string
	for _, h := range list {
		if h.Name != own.Name {
			path, value := field(h)
			names = append(names, h.BMH.API.Name)
			f.Prove(shown(h, path, value, h.BMH.API.CreationTimestamp.UTC()))
		}
	}
	return names
}

// byIdentity finds hosts by what should be one host's alone.
type byIdentity struct {
	mac, bmc             map[string][]inventory.Host
	hiddenMAC, hiddenBMC bool // one of a host was obfuscated
}

// identities indexes the hosts once per run: each host is compared with all others.
func identities(ctx context.Context, w *facts.World) (byIdentity, error) {
	return facts.Memo(ctx, w, "baremetal.identities", func(ctx context.Context, w *facts.World) (byIdentity, error) {
		known := byIdentity{mac: map[string][]inventory.Host{}, bmc: map[string][]inventory.Host{}}
		list, err := all(ctx, w)
		if err != nil {
			return known, err
		}
		for _, h := range list {
			spec := &h.BMH.API.Spec
			if obfuscation.Found(spec.BootMACAddress) {
				known.hiddenMAC = true
			} else if m := mac(spec.BootMACAddress); m != "" {
				known.mac[m] = append(known.mac[m], h)
			}
			if obfuscation.Found(spec.BMC.Address) {
				known.hiddenBMC = true
			} else if b := endpoint(spec.BMC.Address); b != "" {
				known.bmc[b] = append(known.bmc[b], h)
			}
		}
		return known, nil
	})
}

// mac is a MAC address in one spelling; "" for what is not one.
func mac(s string) string {
	hw, err := net.ParseMAC(strings.TrimSpace(s))
	if err != nil {
		return ""
	}
	return hw.String()
}

// endpoint is the host, port and path of a BMC address, without what two
// spellings of one BMC differ in: the driver, the case, the default port
// (metal3-io/baremetal-operator:pkg/hardwareutils/bmc). Emulators serve several
// hosts under one address, each under a path of its own.
func endpoint(address string) string {
	if !strings.Contains(address, "://") {
		address = "ipmi://" + address
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" {
		return ""
	}
	scheme, transport, _ := strings.Cut(strings.ToLower(u.Scheme), "+")
	port := u.Port()
	switch {
	case port != "":
	case scheme == "ipmi" || scheme == "libvirt":
		port = "623"
	case transport == "http":
		port = "80"
	default:
		port = "443"
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port)) + strings.TrimRight(u.Path, "/")
}

// Hardware is the fact hardware-peers.
type Hardware struct {
	Differs facts.Field[[]string] `cel:"differs"` // properties in which it is not as most others are
	First   facts.Field[string]   `cel:"first"`   // the first of them, in words
}

// hardwareFact is the fact hardware-peers.
func hardwareFact() facts.Fact {
	return facts.Define("hardware-peers", fault.Host, "in which properties a host's hardware differs from that of all others of its role",
		needs(hardwareNeed), readHardware)
}

func readHardware(ctx context.Context, w *facts.World, s fault.Subject) (Hardware, error) {
	var f Hardware
	own, err := Find(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	mine, err := hardware(ctx, w, own)
	if err != nil {
		return f, err
	}
	if mine.Properties == nil {
		return f, facts.NotApplicable("the hardware of %s is not known: it was never inspected", s.Name)
	}
	kinds, err := inventories(ctx, w)
	if err != nil {
		return f, err
	}
	kin := kinds[own.Role]
	peers := kin.hosts - 1 // it is one of them
	item := evidence.Item{Locator: mine.Loc, Excerpt: fmt.Sprintf("compared with %d hosts of role %s", peers, own.Role)}
	facts.Prove(item, &f.Differs, &f.First)
	f.compare(mine, kin, peers)
	return f, nil
}

// kind counts, over the hosts of a role, the values of each property.
type kind struct {
	hosts  int
	values map[string]map[string]int // property -> value -> hosts
}

// inventories counts once per run: each host is compared with all others of its role.
func inventories(ctx context.Context, w *facts.World) (map[string]kind, error) {
	return facts.Memo(ctx, w, "baremetal.inventories", func(ctx context.Context, w *facts.World) (map[string]kind, error) {
		list, err := all(ctx, w)
		if err != nil {
			return nil, err
		}
		kinds := map[string]kind{}
		for _, h := range list {
			inv, err := hardware(ctx, w, h)
			if err != nil {
				return nil, err
			}
			if inv.Properties == nil {
				continue
			}
			k, ok := kinds[h.Role]
			if !ok {
				k.values = map[string]map[string]int{}
				for _, property := range properties {
					k.values[property] = map[string]int{}
				}
			}
			k.hosts++
			for _, property := range properties {
				k.values[property][inv.Properties[property]]++
			}
			kinds[h.Role] = k
		}
		return kinds, nil
	})
}

// commonest returns the commonest value of a property among the other hosts than one with the
// value mine, and how many have it; of equally common ones the first in the alphabet.
func (k kind) commonest(property, mine string) (value string, count int) {
	for v, n := range k.values[property] {
		if v == mine {
			n-- // its own
		}
		if n > count || n == count && v < value {
			value, count = v, n
		}
	}
	return value, count
}

// compare looks for properties in which more than half of the others agree on
// something else. With one other there is no majority.
func (f *Hardware) compare(mine Inventory, kin kind, peers int) {
	var differs []string
	first, hidden := "", ""
	for _, property := range properties {
		own := mine.Properties[property]
		theirs, count := kin.commonest(property, own)
		if obfuscation.Found(own) || obfuscation.Found(theirs) {
			hidden = property
			continue
		}
		if peers < 2 || count*2 <= peers || theirs == "" || own == "" || own == theirs {
			continue
		}
		text := fmt.Sprintf("%s: %s, %d of %d others: %s", property, own, count, peers, theirs)
		if first == "" {
			first = text
		}
		differs = append(differs, property)
		facts.Prove(evidence.Item{Locator: mine.Loc, Excerpt: text}, &f.Differs, &f.First)
	}
	f.Differs.Set(differs)
	f.First.Set(first)
	if hidden != "" && len(differs) == 0 {
		_ = facts.Miss(obfuscation.Unavailable(hardwareNeed, "the "+hidden), &f.Differs, &f.First)
	}
}
