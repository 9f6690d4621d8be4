package checks

import "slices"

// vcenters: what the installer checks of vCenters before it talks to one
// (pkg/types/vsphere/validation/platform.go validateFailureDomains; of an agent-based
// installation pkg/asset/agent/installconfig.go validateVSpherePlatform).
func (f *fileArea) vcenters(p plans) {
	v := p.install.get("platform", "vsphere")
	list := v.get("vcenters").items()
	var servers []string
	credentials := false
	for _, c := range list {
		servers = append(servers, c.get("server").text())
		given := 0
		fields := []node{c.get("server"), c.get("user"), c.get("password"), c.get("datacenters")}
		for _, n := range fields {
			if n.text() != "" || len(n.items()) > 0 {
				given++
			}
		}
		if given == 0 && p.agentBased() {
			continue // none is needed then
		}
		credentials = true
		for _, n := range fields {
			if n.text() == "" && len(n.items()) == 0 {
				add(&f.Missing, n, n.path, "a vCenter needs server, user, password and datacenters")
			}
		}
	}
	for _, d := range v.get("failureDomains").items() {
		switch n := d.get("server"); {
		case len(list) == 0:
		case n.text() == "":
			add(&f.Missing, n, n.path, "each failure domain needs the server of its vCenter")
		case !slices.Contains(servers, n.text()):
			add(&f.Unsupported, n, n.path, "%q is none of the servers in vcenters", n.text())
		}
		if n := d.get("topology", "folder"); p.agentBased() && credentials && n.text() == "" {
			add(&f.Missing, n, n.path, "an agent-based installation needs the folder of each failure domain")
		}
	}
}
