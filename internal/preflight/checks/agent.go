package checks

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// agentArea is the area plan-agent: rendezvous host and settings of an agent-based installation.
type agentArea struct {
	Invalid    problems // values of agent-config that are refused
	OfWorker   problems // that the rendezvous IP is a worker's
	Unassigned problems // that no host has the rendezvous IP, though all have static addresses
	Outside    problems // that it is in none of the machine networks, or a VIP
	Ignored    problems // settings of install-config that an agent-based installation ignores
	Balancer   problems // that there has to be a load balancer
	NoTime     problems // that no time server is named though the hosts have static addresses
}

var agentChecks = check.Area("plan-agent", needs, readAgent, check.Fields[agentArea]{
	"plan-agent-config-refused":   func(f *agentArea) *problems { return &f.Invalid },
	"plan-rendezvous-of-worker":   func(f *agentArea) *problems { return &f.OfWorker },
	"plan-rendezvous-unassigned":  func(f *agentArea) *problems { return &f.Unassigned },
	"plan-rendezvous-outside":     func(f *agentArea) *problems { return &f.Outside },
	"plan-setting-without-effect": func(f *agentArea) *problems { return &f.Ignored },
	"plan-needs-load-balancer":    func(f *agentArea) *problems { return &f.Balancer },
	"plan-time-source-missing":    func(f *agentArea) *problems { return &f.NoTime },
})

func readAgent(ctx context.Context, w *facts.World) (agentArea, error) {
	var f agentArea
	p, err := read(ctx, w)
	if err != nil {
		return f, err
	}
	if !p.agentBased() {
		return f, check.NotApplicable("there is no agent-config: the installation is not agent-based")
	}
	f.rendezvous(p)
	f.sources(p)
	if p.install.there() {
		f.install(p)
	} else {
		for _, to := range []*problems{&f.Outside, &f.Ignored, &f.Balancer} {
			to.Miss(missing("no install-config.yaml was given", "install-config.yaml"))
		}
	}
	return f, nil
}

func (f *agentArea) rendezvous(p plans) {
	n := p.agent.get("rendezvousIP")
	if n.text() == "" {
		static := slices.ContainsFunc(p.hosts(), func(h host) bool { return len(h.addresses()) > 0 })
		if env := p.objects["infraenv.yaml"]; p.agent.doc.from != nil && p.install.there() && env.there() && !static {
			add(&f.Invalid, env, "rendezvous IP", "no NMStateConfig has a static address, of which the installer takes the first as that of the "+
				"rendezvous host; add cluster-manifests/nmstateconfig.yaml with it")
		}
		return
	}
	addr, ok := n.addr()
	if !ok {
		add(&f.Invalid, n, n.text(), "%q is no address", n.text())
		return
	}
	list := p.hosts()
	static := 0
	for _, h := range list {
		has := slices.ContainsFunc(h.addresses(), func(a address) bool { return a.addr == addr })
		if len(h.addresses()) > 0 && !h.dynamic() {
			static++
		}
		if !has {
			continue
		}
		if role := h.role.text(); role == "worker" || role == "arbiter" {
			add(&f.OfWorker, n, addr.String(), "%s is the address of %s, which is a %s; the first host has to be one of the "+
				"control plane", addr, h.title(), role)
		}
		return
	}
	if len(list) > 0 && static == len(list) {
		add(&f.Unassigned, n, addr.String(), "no host of the plan has %s, and all of them have static addresses: no host would start the "+
			"installation; write the address of a control-plane host", addr)
	}
}

func (f *agentArea) sources(p plans) {
	list := p.agent.get("additionalNTPSources")
	for _, n := range list.items() {
		if _, err := netip.ParseAddr(n.text()); looksLikeAddress(n.text()) || err != nil && !subdomain.MatchString(strings.TrimSuffix(n.text(), ".")) {
			add(&f.Invalid, n, n.text(), "%q is neither an address nor a name, which has no capital letters", n.text())
		}
	}
	if n := p.agent.get("bootArtifactsBaseURL"); n.text() != "" && !strings.HasPrefix(n.text(), "http://") && !strings.HasPrefix(n.text(), "https://") {
		add(&f.Invalid, n, n.text(), "%q is no URL; write http://HOST/PATH", n.text())
	}
	if len(list.items()) > 0 {
		return
	}
	for _, h := range p.hosts() {
		if len(h.addresses()) > 0 && !h.dynamic() {
			add(&f.NoTime, list, "additionalNTPSources", "no time server is named, and hosts with static addresses get none by DHCP: they ask those "+
				"of the image, in the Internet; name yours")
			return
		}
	}
}

// ignored are fields of platform baremetal that an agent-based installation warns of and does
// not use (pkg/asset/agent/installconfig.go warnUnusedConfig).
var ignored = []string{
	"provisioningNetwork", "provisioningNetworkCIDR", "provisioningDHCPRange", "provisioningNetworkInterface", "provisioningBridge", "provisioningMACAddress",
	"clusterProvisioningIP", "bootstrapProvisioningIP", "externalBridge", "externalMACAddress", "libvirtURI", "bootstrapOSImage", "clusterOSImage",
	"bootstrapExternalStaticIP", "bootstrapExternalStaticGateway", "bootstrapExternalStaticDNS",
}

func (f *agentArea) install(p plans) {
	c := p.install
	n := p.agent.get("rendezvousIP")
	if addr, ok := n.addr(); ok {
		machine := machineNetworks(p)
		inside := slices.ContainsFunc(machine, func(m network) bool { return m.prefix.Contains(addr) })
		if written := c.get("networking", "machineNetwork").there(); !inside && written && len(machine) > 0 {
			add(&f.Outside, n, addr.String(), "%s is in none of the machine networks (%s)", addr, prefixes(machine))
		}
		if platform := platformOf(c); platform != "" {
			at := c.get("platform", platform)
			for _, vip := range slices.Concat(vipsOf(at, "apiVIPs", "apiVIP"), vipsOf(at, "ingressVIPs", "ingressVIP")) {
				if v, ok := vip.addr(); ok && v == addr && at.get("loadBalancer", "type").text() != "UserManaged" {
					add(&f.Outside, n, addr.String(), "%s is a VIP (%s), too; the rendezvous host needs an address of its own", addr, vip.path)
				}
			}
		}
	}
	metal := c.get("platform", "baremetal")
	for _, key := range ignored {
		v := metal.get(key)
		if v.text() == "" || key == "provisioningNetwork" && v.text() == "Disabled" {
			continue
		}
		add(&f.Ignored, v, v.path, "an agent-based installation ignores it; remove it")
	}
	if v := c.get("bootstrapInPlace", "installationDisk"); v.text() != "" {
		add(&f.Ignored, v, v.path, "an agent-based installation ignores it; write rootDeviceHints of the host")
	}
	if len(p.agent.get("hosts").items()) > 0 && len(metal.get("hosts").items()) > 0 {
		v := metal.get("hosts")
		add(&f.Ignored, v, v.path, "agent-config has hosts: these are ignored; keep one list")
	}
	if n := p.objects["agent-cluster-install.yaml"]; n.there() && c.doc.from == nil {
		add(&f.Ignored, n, "cluster-manifests", "the installer regenerates cluster-manifests from install-config.yaml and agent-config.yaml; what was "+
			"changed there is lost. Keep one of the two")
	}
	for _, file := range p.manifests {
		for _, n := range file.get("documents").items() {
			group, _, _ := strings.Cut(n.get("apiVersion").text(), "/")
			if !readByAgent(file.doc.object.Name) && slices.Contains(rendered[group], n.get("kind").text()) {
				add(&f.Ignored, n, file.doc.object.Name, "an agent-based installation reads extra manifests from openshift/*.yaml only, and not this "+
					"%s; move the file there", n.get("kind").text())
			}
		}
	}
	masters, ok := c.get("controlPlane", "replicas").number()
	if !ok {
		masters = 3
	}
	if platform := platformOf(c); masters > 1 && (platform == "none" || platform == "external") {
		v := c.get("platform", platform)
		add(&f.Balancer, v, platform, "platform %s has no VIPs: api and api-int (6443, 22623) and *.apps (443, 80) need a load balancer and DNS "+
			"records before the first boot", platform)
	}
}
