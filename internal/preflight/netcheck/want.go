package netcheck

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// The bounds of what one plan may make us ask.
const (
	maxServers    = 8
	maxTimes      = 16
	maxRegistries = 16
	maxGateways   = 16
	maxHosts      = 512
)

// want is what a plan needs of the network.
type want struct {
	names         []question
	servers       []string // name servers of the hosts
	api, ingress  []string // VIPs
	balanced      bool     // a load balancer of the user is in front of the cluster
	hosts         []question
	mtus          map[string]int // of the interfaces of hosts, by address, where the plan has one
	gateways      []string
	times         []string
	registries    []string
	proxy         string
	noProxy       []string
	agent         bool
	machine       []string
	sawInstallCfg bool
}

// question is a host that is asked about, and what of the plan it is.
type question struct{ target, host string }

// get follows fields in any letters, as the installer's decoder does.
func get(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		child, ok := m[key]
		for name, c := range m {
			if !ok && strings.EqualFold(name, key) {
				child = c
			}
		}
		v = child
	}
	return v
}

func word(v any, keys ...string) string {
	s, _ := get(v, keys...).(string)
	return strings.TrimSpace(s)
}

func list(v any, keys ...string) []any {
	l, _ := get(v, keys...).([]any)
	return l
}

func words(v any, keys ...string) []string {
	var all []string
	for _, item := range list(v, keys...) {
		if s, _ := item.(string); strings.TrimSpace(s) != "" {
			all = append(all, strings.TrimSpace(s))
		}
	}
	return all
}

// addTo adds what is not there yet, up to a bound.
func addTo(to *[]string, most int, values ...string) {
	for _, v := range values {
		if v != "" && len(*to) < most && !slices.Contains(*to, v) {
			*to = append(*to, v)
		}
	}
}

// wanted reads plans.
func wanted(plans []evidence.Object) want {
	var w want
	for _, o := range plans {
		config := o.Content["config"]
		switch o.Content["type"] {
		case "InstallConfig":
			w.sawInstallCfg = true
			w.install(config)
		case "AgentConfig":
			w.agent = true
			addTo(&w.times, maxTimes, words(config, "additionalNTPSources")...)
			w.addHosts(list(config, "hosts"), "hostname")
		}
	}
	return w
}

func (w *want) install(c any) {
	domain := strings.Trim(word(c, "metadata", "name")+"."+word(c, "baseDomain"), ".")
	if word(c, "metadata", "name") != "" && word(c, "baseDomain") != "" {
		// The names that the assisted-service looks up (openshift/assisted-service:
		// internal/constants/constants.go).
		w.names = []question{
			{probe.NetAPI, "api." + domain}, {probe.NetAPIInt, "api-int." + domain},
			{probe.NetApps, "console-openshift-console.apps." + domain}, {probe.NetWildcard, "validateNoWildcardDNS." + domain},
		}
	}
	platforms, _ := get(c, "platform").(map[string]any)
	for name, p := range platforms {
		switch strings.ToLower(name) {
		case "none", "external":
			w.balanced = true
		case "baremetal", "vsphere", "nutanix", "openstack":
			w.balanced = word(p, "loadBalancer", "type") == "UserManaged"
			addTo(&w.api, 2, append(words(p, "apiVIPs"), word(p, "apiVIP"))...)
			addTo(&w.ingress, 2, append(words(p, "ingressVIPs"), word(p, "ingressVIP"))...)
		}
	}
	if n, ok := get(c, "controlPlane", "replicas").(int64); ok && n == 1 {
		w.balanced = false // the one host has the addresses itself
	}
	metal := get(c, "platform", "baremetal")
	addTo(&w.times, maxTimes, words(metal, "additionalNTPServers")...)
	w.addHosts(list(metal, "hosts"), "name")
	for _, m := range list(c, "networking", "machineNetwork") {
		addTo(&w.machine, 16, word(m, "cidr"))
	}
	for _, key := range []string{"imageDigestSources", "imageContentSources"} {
		for _, source := range list(c, key) {
			for _, m := range words(source, "mirrors") {
				host, _, _ := strings.Cut(m, "/")
				addTo(&w.registries, maxRegistries, host)
			}
		}
	}
	if len(w.registries) == 0 {
		addTo(&w.registries, maxRegistries, "quay.io") // where releases are without a mirror
	}
	w.proxy = word(c, "proxy", "httpsProxy")
	w.noProxy = strings.FieldsFunc(word(c, "proxy", "noProxy"), func(r rune) bool { return r == ',' || r == ' ' })
}

// addHosts takes addresses, gateways and name servers of the hosts' nmstate documents.
func (w *want) addHosts(hosts []any, nameKey string) {
	for _, h := range hosts {
		config := get(h, "networkConfig")
		addTo(&w.servers, maxServers, addresses(words(config, "dns-resolver", "config", "server"))...)
		for _, r := range list(config, "routes", "config") {
			addTo(&w.gateways, maxGateways, addresses([]string{word(r, "next-hop-address")})...)
		}
		for _, i := range list(config, "interfaces") {
			for _, family := range []string{"ipv4", "ipv6"} {
				for _, a := range list(i, family, "address") {
					for _, ip := range addresses([]string{word(a, "ip")}) {
						if len(w.hosts) < maxHosts {
							w.hosts = append(w.hosts, question{strings.TrimSuffix(probe.NetHost+" "+word(h, nameKey), " "), ip})
							w.addMTU(ip, get(i, "mtu"))
						}
					}
				}
			}
		}
	}
}

// addMTU keeps the MTU of the interface that will have an address. 576 bytes is what each IPv4
// host takes (RFC 791), 65535 the largest packet.
func (w *want) addMTU(ip string, mtu any) {
	if n, ok := mtu.(int64); ok && 576 <= n && n <= 65535 {
		if w.mtus == nil {
			w.mtus = map[string]int{}
		}
		w.mtus[ip] = int(n)
	}
}

// addresses keeps what is an address of a network: what is none is a mistake of the plan
// that its own checks name.
func addresses(all []string) []string {
	var good []string
	for _, s := range all {
		a, err := netip.ParseAddr(s)
		if err == nil && !a.IsLinkLocalUnicast() && !a.IsLoopback() && !a.IsUnspecified() && !a.IsMulticast() {
			good = append(good, a.String())
		}
	}
	return good
}
