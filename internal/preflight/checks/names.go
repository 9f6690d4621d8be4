package checks

import (
	"context"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Names is the fact plan-names.
type Names struct {
	Invalid   problems `cel:"invalid"`   // names that are no DNS names
	TooLong   problems `cel:"tooLong"`   // host names that the kernel does not take
	Twice     problems `cel:"twice"`     // host names that two hosts have
	Localhost problems `cel:"localhost"` // host names that are localhost
	FromDNS   problems `cel:"fromDNS"`   // hosts without a name and without DHCP, which ask DNS for theirs
}

var nameFact = facts.Define("plan-names", fault.Cluster, "names of the cluster and of the hosts in the plan", needs, readNames)

var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// maxHostname is the longest name that sethostname(2) takes on Linux (HOST_NAME_MAX).
const maxHostname = 64

func readNames(ctx context.Context, w *facts.World, _ fault.Subject) (Names, error) {
	var f Names
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
			add(&f.FromDNS, h.name, h.title(), "%s has no hostname and no DHCP: its name is what DNS has for %s, else localhost; write a hostname, or see to the record", h.title(), h.addresses()[0].addr)
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
	facts.NoProblems(&f.Invalid, &f.TooLong, &f.Twice, &f.Localhost, &f.FromDNS)
	return f, nil
}

// cluster: pkg/validate/validate.go ClusterName, OnPremClusterName, DomainName.
func (f *Names) cluster(c node) {
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
