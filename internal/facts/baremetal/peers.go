package baremetal

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Peers is the fact bmh-peers.
type Peers struct {
	MAC        string    `cel:"mac"`
	SameMAC    []string  `cel:"sameMAC"` // other hosts with the same boot MAC
	BMC        string    `cel:"bmc"`     // endpoint and system path, as far as the address tells
	SameBMC    []string  `cel:"sameBMC"` // other hosts with the same one
	SaidTaken  bool      `cel:"saidTaken"`
	TakenBy    string    `cel:"takenBy"` // who has the MAC, as the error says it
	Registered bool      `cel:"registered"`
	Since      time.Time `cel:"since"`
}

// PeersFact is the fact bmh-peers.
func PeersFact() facts.Fact {
	return facts.DefinePlain("bmh-peers", fault.Host, "whether another BareMetalHost has the same boot MAC or the same BMC", needs(), readPeers)
}

// taken is ironic's message about a MAC; the name may be an ID or "namespace~host".
var taken = regexp.MustCompile(`(?i)conflicts with existing node\s+(\S+)`)

func readPeers(ctx context.Context, w *facts.World, s fault.Subject) (Peers, facts.Proof, error) {
	var f Peers
	var p facts.Proof
	own, err := find(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	known, err := identities(ctx, w)
	if err != nil {
		return f, p, err
	}
	api := &own.BMH.API
	f.MAC, f.BMC, f.Since = mac(api.Spec.BootMACAddress), endpoint(api.Spec.BMC.Address), api.CreationTimestamp.UTC()
	f.Registered = api.Status.Provisioning.ID != ""
	p.Add(own.BMH.Loc.At("spec"), fmt.Sprintf("bootMACAddress %s, bmc %s", f.MAC, f.BMC), f.Since, "mac", "bmc", "sameMAC", "sameBMC", "since", "registered")
	for _, h := range known.mac[f.MAC] {
		if o := &h.BMH.API; h.Name != own.Name {
			f.SameMAC = append(f.SameMAC, o.Name)
			p.Add(h.BMH.Loc.At("spec.bootMACAddress"), o.Spec.BootMACAddress, o.CreationTimestamp.UTC(), "sameMAC")
		}
	}
	for _, h := range known.bmc[f.BMC] {
		if o := &h.BMH.API; h.Name != own.Name {
			f.SameBMC = append(f.SameBMC, o.Name)
			p.Add(h.BMH.Loc.At("spec.bmc.address"), o.Spec.BMC.Address, o.CreationTimestamp.UTC(), "sameBMC")
		}
	}
	if f.SaidTaken = Means(api.Status.ErrorMessage) == MACConflict; f.SaidTaken {
		if m := taken.FindStringSubmatch(api.Status.ErrorMessage); m != nil {
			f.TakenBy = m[1]
		}
		p.Add(own.BMH.Loc.At("status.errorMessage"), short(api.Status.ErrorMessage), time.Time{}, "saidTaken", "takenBy")
	}
	return f, p, nil
}

// byIdentity finds hosts by what should be one host's alone.
type byIdentity struct {
	mac, bmc map[string][]hosts.Host
}

// identities indexes the hosts once per run: each host is compared with all others.
func identities(ctx context.Context, w *facts.World) (byIdentity, error) {
	return facts.Memo(ctx, w, "baremetal.identities", func(ctx context.Context, w *facts.World) (byIdentity, error) {
		known := byIdentity{map[string][]hosts.Host{}, map[string][]hosts.Host{}}
		list, err := all(ctx, w)
		if err != nil {
			return known, err
		}
		for _, h := range list {
			if m := mac(h.BMH.API.Spec.BootMACAddress); m != "" {
				known.mac[m] = append(known.mac[m], h)
			}
			if b := endpoint(h.BMH.API.Spec.BMC.Address); b != "" {
				known.bmc[b] = append(known.bmc[b], h)
			}
		}
		return known, nil
	})
}

// mac is a MAC address in one spelling; "" for what is none.
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
	Peers   int      `cel:"peers"`   // hosts of the same role whose hardware is known
	Differs []string `cel:"differs"` // properties in which it is not as most others are
	First   string   `cel:"first"`   // the first of them, in words
}

// HardwareFact is the fact hardware-peers.
func HardwareFact() facts.Fact {
	return facts.DefinePlain("hardware-peers", fault.Host, "in which properties a host's hardware differs from that of all others of its role",
		needs(hardwareNeed), readHardware)
}

func readHardware(ctx context.Context, w *facts.World, s fault.Subject) (Hardware, facts.Proof, error) {
	var f Hardware
	var p facts.Proof
	own, err := find(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	mine, err := inventory(ctx, w, own)
	if err != nil {
		return f, p, err
	}
	if mine.Properties == nil {
		return f, p, facts.NotApplicable("the hardware of %s is not known: it was never inspected", s.Name)
	}
	kinds, err := inventories(ctx, w)
	if err != nil {
		return f, p, err
	}
	kin := kinds[own.Role]
	f.Peers = kin.hosts - 1 // it is one of them
	p.Add(mine.Loc, fmt.Sprintf("compared with %d hosts of role %s", f.Peers, own.Role), time.Time{}, "peers", "differs", "first")
	f.compare(mine, kin, &p)
	return f, p, nil
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
			inv, err := inventory(ctx, w, h)
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

// theirs returns the commonest value of a property among the others than one with the
// value mine, and how many have it; of equally common ones the first in the alphabet.
func (k kind) theirs(property, mine string) (value string, count int) {
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
func (f *Hardware) compare(mine Inventory, kin kind, p *facts.Proof) {
	if f.Peers < 2 {
		return
	}
	for _, property := range properties {
		theirs, count := kin.theirs(property, mine.Properties[property])
		if count*2 <= f.Peers || theirs == "" || mine.Properties[property] == "" || mine.Properties[property] == theirs {
			continue
		}
		text := fmt.Sprintf("%s: %s, %d of %d others: %s", property, mine.Properties[property], count, f.Peers, theirs)
		if f.First == "" {
			f.First = text
		}
		f.Differs = append(f.Differs, property)
		p.Add(mine.Loc, text, time.Time{}, "differs", "first")
	}
}
