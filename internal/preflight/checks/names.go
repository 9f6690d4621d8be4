package checks

import (
	"context"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// nameArea is the area plan-names: names of the cluster and of the hosts in the plan.
type nameArea struct {
	Invalid   problems // names that are no DNS names
	TooLong   problems // host names that the kernel does not take
	Twice     problems // host names that two hosts have
	Localhost problems // host names that are localhost
	FromDNS   problems // hosts without a name and without DHCP, which ask DNS for theirs
}

var nameChecks = check.Area("plan-names", needs, readNames, check.Fields[nameArea]{
	"plan-name-invalid":       func(f *nameArea) *problems { return &f.Invalid },
	"plan-hostname-too-long":  func(f *nameArea) *problems { return &f.TooLong },
	"plan-hostname-twice":     func(f *nameArea) *problems { return &f.Twice },
	"plan-hostname-localhost": func(f *nameArea) *problems { return &f.Localhost },
	"plan-hostname-from-dns":  func(f *nameArea) *problems { return &f.FromDNS },
})

var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// maxHostname is the longest name that sethostname(2) takes on Linux (HOST_NAME_MAX).
const maxHostname = 64

func readNames(ctx context.Context, w *facts.World) (nameArea, error) {
	var f nameArea
	p, err := read(ctx, w)
	if err != nil {
		return f, err
	}
	if p.install.there() {
		f.cluster(p.install)
	}
	seen := map[string]string{}
	for _, h := range p.hosts() {
		name := h.name.text()
		lower := strings.ToLower(name)
		switch {
		case name == "" && h.agent && !h.get("nmStateConfig").there() && !h.dynamic() && len(h.addresses()) > 0 && !h.config.get("hostname").there():
			add(&f.FromDNS, h.name, h.title(), "%s has no hostname and no DHCP: its name is what DNS has for %s, else localhost; write a hostname, or "+
				"see to the record", h.title(), h.addresses()[0].addr)
			continue
		case name == "":
			continue
		case lower == "localhost" || strings.HasPrefix(lower, "localhost."):
			add(&f.Localhost, h.name, name, "%q is the name of no host: the kubelet would register it; write the host's own name", name)
		case name != lower:
			add(&f.Invalid, h.name, name, "%q has capital letters, and the name of a Node has none; write %s", name, lower)
		case !subdomain.MatchString(name):
			add(&f.Invalid, h.name, name, "%q is no DNS name; use a-z, 0-9, - and .", name)
		}
		if len(name) > maxHostname {
			add(&f.TooLong, h.name, name, "%q has %d characters, Linux takes %d", name, len(name), maxHostname)
		} else if first, _, _ := strings.Cut(name, "."); len(first) > 63 {
			add(&f.TooLong, h.name, name, "%q has more than 63 characters before the first dot", name)
		}
		if other, again := seen[lower]; again {
			add(&f.Twice, h.name, lower, "%s has the name of %s", h.name.path, other)
		}
		seen[lower] = h.name.path
	}
	return f, nil
}

// cluster: pkg/validate/validate.go ClusterName, OnPremClusterName, DomainName.
func (f *nameArea) cluster(c node) {
	name, domain := c.get("metadata", "name"), c.get("baseDomain")
	onPrem := false
	switch platformOf(c) {
	case "baremetal", "vsphere", "openstack", "nutanix":
		onPrem = true
	}
	switch v := name.text(); {
	case v == "":
	case onPrem && strings.Contains(v, "."):
		add(&f.Invalid, name, v, "%q has a dot, which a cluster name on this platform must not have; move it to baseDomain", v)
	case onPrem && len(v) > 54 || len(v) > 63:
		add(&f.Invalid, name, v, "%q has %d characters; write a shorter one (54 at most)", v, len(v))
	case !subdomain.MatchString(v):
		add(&f.Invalid, name, v, "%q is no DNS name; use a-z, 0-9 and -", v)
	}
	if v := strings.TrimSuffix(domain.text(), "."); v != "" && !subdomain.MatchString(v) {
		add(&f.Invalid, domain, domain.text(), "%q is no DNS name; use a-z, 0-9, - and .", domain.text())
	} else if whole := name.text() + "." + v; v != "" && len(whole) > 253-len("oauth-openshift.apps.") {
		add(&f.Invalid, domain, domain.text(), "%q is too long for names such as api.%s", whole, whole)
	}
}
