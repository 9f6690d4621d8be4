package checks

import (
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
)

// nmstateFields are the fields of the blocks that are read here (nmstate/nmstate: rust/src/lib
// net_state.rs, dns.rs, route.rs, ip.rs, ifaces/base.rs and the types of interfaces; 2.2.38).
// nmstate refuses each other field.
var nmstateFields = map[string][]string{
	"networkConfig":       strings.Fields("description hostname dns-resolver route-rules routes interfaces ovs-db ovn"),
	"dns-resolver":        strings.Fields("running config"),
	"dns-resolver.config": strings.Fields("server search options"),
	"routes":              strings.Fields("running config"),
	"a route":             strings.Fields("state destination next-hop-interface next-hop-address metric table-id weight route-type cwnd source"),
	"an interface": strings.Fields("name profile-name description type driver state identifier mac-address permanent-mac-address mtu min-mtu max-mtu " +
		"wait-ip ipv4 ipv6 mptcp " +
		"controller accept-all-mac-addresses copy-mac-from ovs-db 802.1x lldp ethtool dispatch alt-names pci-address ethernet veth vlan vxlan bridge " +
		"link-aggregation mac-vlan " +
		"mac-vtap vrf infiniband loopback macsec libreswan xfrm hsr ipvlan patch dpdk wifi"),
	"ipv4 or ipv6": strings.Fields("enabled dhcp autoconf dhcp-client-id dhcp-duid address auto-dns auto-gateway auto-routes auto-route-table-id " +
		"auto-route-metric addr-gen-mode " +
		"allow-extra-address token dhcp-send-hostname dhcp-custom-hostname forwarding"),
	"an address":       strings.Fields("ip prefix-length mptcp-flags valid-life-time valid-left valid-lft preferred-life-time preferred-left preferred-lft"),
	"vlan":             strings.Fields("base-iface id protocol registration-protocol reorder-headers loose-binding"),
	"link-aggregation": strings.Fields("mode options port ports ports-config slaves"),
	"options": strings.Fields("ad_actor_sys_prio ad_actor_system ad_select ad_user_port_key all_slaves_active arp_all_targets arp_interval " +
		"arp_ip_target arp_validate " +
		"arp_missed_max downdelay fail_over_mac lacp_rate lacp_active lp_interval miimon min_links num_grat_arp num_unsol_na packets_per_slave " +
		"primary primary_reselect resend_igmp " +
		"tlb_dynamic_lb updelay use_carrier xmit_hash_policy balance_slb balance-slb peer_notif_delay"),
}

// misspelled: nmstate refuses a field that it does not know. A later release can have more of
// them, so a mistake is only one that looks like a known field, or is one of another block.
func (f *addressArea) misspelled(h host) {
	check := func(n node, block string) { f.fieldsOf(h, n, block) }
	f.forms(h)
	check(h.config, "networkConfig")
	check(h.config.get("dns-resolver"), "dns-resolver")
	check(h.config.get("dns-resolver", "config"), "dns-resolver.config")
	check(h.config.get("routes"), "routes")
	for _, r := range h.config.get("routes", "config").items() {
		check(r, "a route")
	}
	for _, i := range h.links() {
		if i.get("state").text() == "absent" {
			continue
		}
		check(i, "an interface")
		check(i.get("vlan"), "vlan")
		check(i.get("link-aggregation"), "link-aggregation")
		check(i.get("link-aggregation", "options"), "options")
		if n := i.get("ipv4", "autoconf"); n.there() {
			add(&f.Refused, n, h.title(), "autoconf is a field of ipv6 and not of ipv4; write dhcp")
		}
		f.portForms(h, i)
		for _, family := range []string{"ipv4", "ipv6"} {
			check(i.get(family), "ipv4 or ipv6")
			f.switches(h, i.get(family))
			for _, a := range i.get(family, "address").items() {
				check(a, "an address")
			}
		}
	}
}

func (f *addressArea) fieldsOf(h host, n node, block string) {
	m, _ := n.v.(map[string]any)
	for _, key := range sorted(m) {
		if slices.Contains(nmstateFields[block], key) {
			continue
		}
		at := node{n.doc, n.path + "." + key, m[key]}
		if near := suggest.Nearest(key, nmstateFields[block]); near != "" {
			add(&f.Refused, at, h.title(), "%s is no field of %s; write %s", key, block, near)
			continue
		}
		for _, other := range sortedKeys(nmstateFields) {
			if slices.Contains(nmstateFields[other], key) {
				add(&f.Refused, at, h.title(), "%s is a field of %s and not of %s; compare the indentation", key, other, block)
				break
			}
		}
	}
}

// forms: what has to be a list or a block.
func (f *addressArea) forms(h host) {
	for _, key := range []string{"routes", "dns-resolver"} {
		if n := h.config.get(key); n.there() {
			if _, ok := n.v.(map[string]any); !ok {
				add(&f.Refused, n, h.title(), "%s has to be a block with config", key)
			}
		}
	}
	lists := []node{h.config.get("interfaces"), h.config.get("routes", "config"), h.config.get("dns-resolver", "config", "server"),
		h.config.get("dns-resolver", "config", "search")}
	for _, i := range h.links() {
		lists = append(lists, i.get("ipv4", "address"), i.get("ipv6", "address"))
	}
	for _, n := range lists {
		if _, ok := n.v.([]any); n.there() && !ok {
			add(&f.Refused, n, h.title(), "%s has to be a list; write a dash before each element", n.path[strings.LastIndexByte(n.path, '.')+1:])
		}
	}
}

// switches are the fields of ipv4 and ipv6 that are on or off.
func (f *addressArea) switches(h host, ip node) {
	for _, key := range []string{"enabled", "dhcp", "autoconf", "auto-dns", "auto-gateway", "auto-routes"} {
		if n := ip.get(key); n.there() && !on(n) && !slices.Contains([]string{"false", "no", "off", "n", "0"}, strings.ToLower(n.text())) {
			add(&f.Refused, n, h.title(), "%s has to be true or false, and not %q", key, n.text())
		}
	}
}

// portForms: ports of a bond are names, those of a bridge blocks.
func (f *addressArea) portForms(h host, i node) {
	for _, n := range i.get("link-aggregation").first("port", "ports").items() {
		if _, block := n.v.(map[string]any); block {
			add(&f.Refused, n, h.title(), "a port of a bond is a name, and not a block; write - %s", nameOf(n))
		}
	}
	for _, n := range i.get("bridge").first("port", "ports").items() {
		if _, block := n.v.(map[string]any); !block {
			add(&f.Refused, n, h.title(), "a port of a bridge is a block; write - name: %s", n.text())
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
