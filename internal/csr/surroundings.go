package csr

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// surroundings reads what a certificate of one host may not have: the names and VIPs of the API and of the applications, and the
// networks of pods and services (openshift/api:config/v1 Infrastructure, Network and Ingress, operator/v1 IngressController).
// What is missing, empty or cannot be read is a gap: the rules would pass without having looked.
func (p *Snapshot) surroundings(ctx context.Context, from Lister) error {
	infras, err := optional(ctx, from, openshift.ConfigGroup, "v1", "infrastructures", "")
	if err != nil {
		return err
	}
	for _, o := range clusters(infras) {
		for _, field := range []string{"apiServerURL", "apiServerInternalURI"} {
			p.endpoint(field, p.text("infrastructures", o, "status", field))
		}
		if len(p.Names)+len(p.VIPs) == 0 {
			continue // without the address of the API it is not one that was read
		}
		for _, path := range [][]string{{"status", "platformStatus"}, {"spec", "platformSpec"}} { // the spec may name one that is not in the status yet
			v := evidence.Field(o, path...)
			if _, ok := v.(map[string]any); !ok && v != nil {
				p.gap("infrastructures: %s is not an object", strings.Join(path, "."))
			}
			p.virtual(v)
		}
	}
	if len(p.Names)+len(p.VIPs) == 0 {
		p.gap("infrastructures: there is none with the address of the API in its status")
	}
	networks, err := optional(ctx, from, openshift.ConfigGroup, "v1", "networks", "")
	if err != nil {
		return err
	}
	haveServices, havePods := false, false
	for _, o := range clusters(networks) {
		for _, part := range []string{"spec", "status"} {
			services, ofServices := listOf(evidence.Field(o, part, "serviceNetwork"))
			pods, ofPods := listOf(evidence.Field(o, part, "clusterNetwork"))
			if !ofServices || !ofPods {
				p.gap("networks: %s has a network that is not a list", part)
			}
			haveServices, havePods = haveServices || len(services) > 0, havePods || len(pods) > 0
			cidrs := texts(services)
			for _, e := range pods {
				m, _ := e.(map[string]any)
				cidrs = append(cidrs, texts([]any{m["cidr"]})...)
			}
			if len(cidrs) != len(services)+len(pods) {
				p.gap("networks: %s has a network that is not text", part)
			}
			if err := p.prefixes(cidrs); err != nil {
				return err
			}
		}
	}
	if !haveServices || !havePods {
		p.gap("networks: there is none with the networks of pods and services")
	}
	return p.applications(ctx, from)
}

// endpoint takes the URL of the API: its host is a name, or an address that is no host's.
func (p *Snapshot) endpoint(field, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		p.gap("infrastructures: %s %s has no host", field, quoted(text))
		return
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		p.VIPs = append(p.VIPs, ip.Unmap().String())
		return
	}
	if isAddress(host) { // an address to some readers, and a name to others
		p.gap("infrastructures: %s %s has an address that is not read alike everywhere", field, quoted(text))
		return
	}
	p.Names = append(p.Names, host)
}

// virtual takes the addresses of a platform's part: each field that is an IP or a list of them is one that
// the platform or its load balancer holds: apiServerInternalIPs, ingressIPs, nodeDNSIP, apiLoadBalancerIPs.
func (p *Snapshot) virtual(v any) {
	m, _ := v.(map[string]any)
	for _, field := range slices.Sorted(keys(m)) {
		switch {
		case strings.HasSuffix(field, "IP"):
			p.vips(field, []any{m[field]})
		case strings.HasSuffix(field, "IPs"):
			all, ok := listOf(m[field])
			if !ok {
				p.gap("infrastructures: %s is not a list of addresses", field)
			}
			p.vips(field, all)
		default:
			p.virtual(m[field])
		}
	}
}

func (p *Snapshot) vips(field string, all []any) {
	for _, v := range all {
		text, ok := v.(string)
		if ok && text == "" || v == nil {
			continue
		}
		ip, err := netip.ParseAddr(text)
		if err != nil || ip.Zone() != "" {
			p.gap("infrastructures: %s %s is not an address", field, quoted(fmt.Sprint(v)))
			continue
		}
		p.VIPs = append(p.VIPs, ip.Unmap().String())
	}
}

// applications reads under which domains applications are reached. Where nothing says it, it is apps and the domain of the API
// (openshift/installer:pkg/asset/manifests/ingress.go).
func (p *Snapshot) applications(ctx context.Context, from Lister) error {
	ingresses, err := optional(ctx, from, openshift.ConfigGroup, "v1", "ingresses", "")
	if err != nil {
		return err
	}
	controllers, err := optional(ctx, from, openshift.OperatorGroup, "v1", "ingresscontrollers", openshift.IngressOperatorNamespace)
	if err != nil {
		return err
	}
	for _, o := range slices.Concat(ingresses, controllers) {
		for _, path := range [][]string{{"spec", "domain"}, {"spec", "appsDomain"}, {"status", "domain"}} {
			if domain := strings.Trim(strings.ToLower(p.text("ingresses", o, path...)), ".*"); domain != "" {
				p.Apps = append(p.Apps, domain)
			}
		}
		for _, part := range []string{"spec", "status"} {
			if _, ok := listOf(evidence.Field(o, part, "componentRoutes")); !ok {
				p.gap("ingresses: %s.componentRoutes is not a list", part)
			}
		}
		p.Apps = append(p.Apps, routesOf(o)...)
	}
	for _, name := range p.Names {
		if _, domain, ok := strings.Cut(strings.ToLower(name), "."); ok {
			p.Apps = append(p.Apps, "apps."+domain)
		}
	}
	return nil
}

// routesOf are the names that an administrator gave to routes of the cluster itself, such as the console's
// (openshift/api:config/v1 ComponentRouteSpec, ComponentRouteStatus).
func routesOf(ingress map[string]any) (names []string) {
	for _, part := range []string{"spec", "status"} {
		routes, _ := evidence.Field(ingress, part, "componentRoutes").([]any)
		for _, r := range routes {
			route, _ := r.(map[string]any)
			for _, name := range append(texts(route["currentHostnames"]), texts([]any{route["hostname"], route["defaultHostname"]})...) {
				names = append(names, strings.Trim(strings.ToLower(name), "."))
			}
		}
	}
	return names
}

func (p *Snapshot) prefixes(cidrs []string) error {
	for _, c := range cidrs {
		prefix, err := netip.ParsePrefix(c)
		if err != nil {
			return fmt.Errorf("read network of the cluster: %w", err)
		}
		if a := prefix.Addr(); a.Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(a.Unmap(), prefix.Bits()-96)
		}
		p.CIDRs = append(p.CIDRs, prefix)
	}
	return nil
}

// text is a field that has text, or is missing. Another one is a gap: what it means is not known.
func (p *Snapshot) text(resource string, o map[string]any, path ...string) string {
	v := evidence.Field(o, path...)
	text, ok := v.(string)
	if !ok && v != nil {
		p.gap("%s: %s is not text", resource, strings.Join(path, "."))
	}
	return text
}

// gap notes what could not be read.
func (p *Snapshot) gap(format string, args ...any) {
	p.Gaps = append(p.Gaps, fmt.Sprintf(format, args...))
}

// clusters are the objects of a kind of which a cluster has one, which is called cluster: others do not describe it
// (openshift/api:config/v1 types_infrastructure.go Infrastructure, types_network.go Network).
func clusters(objects []map[string]any) []map[string]any {
	return slices.DeleteFunc(slices.Clone(objects), func(o map[string]any) bool { return evidence.String(o, "metadata", "name") != "cluster" })
}

// listOf is a field that has a list, or is missing.
func listOf(v any) (list []any, ok bool) {
	list, ok = v.([]any)
	return list, ok || v == nil
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func texts(v any) []string {
	var out []string
	l, _ := v.([]any)
	for _, e := range l {
		if s, ok := e.(string); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}

// isAddress reports whether a name is an address, or is one for some readers: to inet_aton 3221225999, 0xc0000211 and 192.0.2
// are addresses. No name of a host ends in a number (url.spec.whatwg.org, ends-in-a-number checker).
func isAddress(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	last := strings.TrimSuffix(name, ".")
	last = last[strings.LastIndexByte(last, '.')+1:]
	if last == "" {
		return false
	}
	if digits := strings.Trim(last, "0123456789"); digits == "" {
		return true
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(last), "0x"); ok {
		_, err := strconv.ParseUint("0"+hex, 16, 64)
		return err == nil || len(hex) > 15 && strings.Trim(hex, "0123456789abcdef") == ""
	}
	return false
}

// readings are the addresses that any reader takes a text for: with blanks, brackets, a zone, a port, a prefix length or a dot behind it,
// with parts that are missing, octal or hexadecimal (inet_aton), with zeros in front of decimal ones (kubernetes/kubernetes:
// staging/src/k8s.io/apimachinery/third_party/forked/golang/net ParseIPSloppy), and what one of IPv6 stands for. It is for what can only refuse.
func readings(text string) []netip.Addr {
	text = strings.TrimSpace(text)
	if inside, _, ok := strings.Cut(strings.TrimPrefix(text, "["), "]"); ok {
		text = inside
	}
	text, _, _ = strings.Cut(text, "/")
	text, _, _ = strings.Cut(text, "%")
	if strings.Count(text, ":") == 1 {
		text, _, _ = strings.Cut(text, ":")
	}
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	var list []netip.Addr
	if ip, err := netip.ParseAddr(text); err == nil {
		list = append(list, ip.Unmap())
		if v4, ok := standsFor(ip); ok {
			list = append(list, v4)
		}
	}
	for _, base := range []int{0, 10} { // a number with a zero in front is octal, or is not
		if ip, ok := aton(text, base); ok && !slices.Contains(list, ip) {
			list = append(list, ip)
		}
	}
	return list
}

// standsFor is the address of IPv4 in one of IPv6 that is not of a host of its own.
func standsFor(ip netip.Addr) (netip.Addr, bool) {
	if !ip.Is6() || ofOneHost(ip) || ip.IsLoopback() || ip.IsUnspecified() {
		return netip.Addr{}, false
	}
	raw := ip.As16()
	at := 12
	if netip.MustParsePrefix("2002::/16").Contains(ip) {
		at = 2
	}
	return netip.AddrFrom4([4]byte(raw[at : at+4])), true
}

// aton reads an address of IPv4 of one to four numbers, of which the last fills what is left; base 0 takes them as C does.
func aton(text string, base int) (netip.Addr, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var all uint64
	for i, part := range parts {
		if base == 0 && len(part) > 1 && part[0] == '0' && part[1] >= '0' && part[1] <= '9' {
			part = "0o" + part[1:]
		}
		n, err := strconv.ParseUint(strings.ReplaceAll(part, "_", "x"), base, 32)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || n >= 1<<bits {
			return netip.Addr{}, false
		}
		all = all<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)}), true
}
