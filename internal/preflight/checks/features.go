package checks

import "slices"

// featureSets of all releases (openshift/api: config/v1/types_feature.go). The installer has no
// answer for others, and crashes.
var featureSets = []string{"Default", "TechPreviewNoUpgrade", "DevPreviewNoUpgrade", "CustomNoUpgrade", "OKD", "LatencySensitive", "IPv6DualStackNoUpgrade"}

// preview reports whether features that are not for all are on.
func preview(c node) bool {
	return slices.Contains([]string{"TechPreviewNoUpgrade", "DevPreviewNoUpgrade", "CustomNoUpgrade"}, c.get("featureSet").text())
}

// features: what needs a feature or excludes another setting (pkg/types/validation:
// installconfig.go ValidateInstallConfig, validateArbiter, validateFencingForPlatform,
// validateOperatorPublishingStrategy). An arbiter and fencing are previews in 4.19.
func (f *fileArea) features(p plans) {
	c := p.install
	f.oneOf(c.get("featureSet"), featureSets...)
	strategy := c.get("operatorPublishingStrategy")
	if strategy.there() && c.get("publish").text() != "Mixed" {
		add(&f.Unsupported, strategy, strategy.path, "it goes with publish: Mixed only; remove it")
	}
	for _, key := range []string{"ingress", "apiserver"} {
		f.oneOf(strategy.get(key), "External", "Internal")
	}
	for _, pool := range append(c.get("compute").items(), c.get("arbiter")) {
		if n := pool.get("fencing"); n.there() {
			add(&f.Unsupported, n, n.path, "fencing is for the control plane only; remove it")
		}
	}
	minor, known := minorOf(p.release)
	f.fencing(c, known && minor == 19)
	arbiter := c.get("arbiter")
	if !arbiter.there() {
		return
	}
	if name := arbiter.get("name"); name.text() != "arbiter" {
		add(&f.Unsupported, name, name.path, "the pool of arbiters has the name arbiter")
	}
	masters, written := c.get("controlPlane", "replicas").number()
	switch platform := platformOf(c); {
	case known && minor < 19:
		add(&f.Unsupported, arbiter, arbiter.path, "releases before 4.19 have no arbiter: the installer ignores it, and the control plane has fewer "+
			"hosts; remove it")
	case known && minor == 19 && !preview(c):
		add(&f.Unsupported, arbiter, arbiter.path, "an arbiter is a technology preview in 4.19; write featureSet: TechPreviewNoUpgrade, or remove it")
	case platform != "" && platform != "baremetal":
		add(&f.Unsupported, arbiter, arbiter.path, "platform %s has no arbiter, only baremetal has one; remove it", platform)
	case written && masters < 2:
		n := c.get("controlPlane", "replicas")
		add(&f.Unsupported, n, n.path, "an arbiter needs at least 2 control-plane hosts; write 2, or remove the arbiter")
	case !arbiter.get("replicas").there():
		n := arbiter.get("replicas")
		add(&f.Missing, n, n.path, "an arbiter needs replicas; write 1")
	}
}

// fencing: each credential has all its fields, and a host and a BMC of its own. In its first
// release it is a preview, and hosts are not listed next to it (validateFencingCredentials).
func (f *fileArea) fencing(c node, first bool) {
	fencing := c.get("controlPlane", "fencing")
	if !fencing.there() {
		return
	}
	list := fencing.get("credentials")
	seen := map[string]bool{}
	for _, one := range list.items() {
		for _, key := range []string{"hostName", "username", "password", "address"} {
			n := one.get(key)
			id := key + " " + n.text()
			switch {
			case n.text() == "":
				add(&f.Missing, n, n.path, "each credential of fencing needs %s", key)
			case seen[id] && (key == "hostName" || key == "address"):
				add(&f.Unsupported, n, n.path, "another credential of fencing has this %s, too; write the one of the second host", key)
			}
			seen[id] = true
		}
	}
	if platform := platformOf(c); platform != "" && !slices.Contains([]string{"baremetal", "none", "external"}, platform) {
		add(&f.Unsupported, fencing, fencing.path, "fencing is for platform baremetal, none and external only; remove it")
	}
	masters, _ := c.get("controlPlane", "replicas").number()
	switch n := len(list.items()); {
	case masters == 2 && n != 2 && !c.get("arbiter").there():
		add(&f.Unsupported, list, list.path, "2 control-plane hosts need 2 credentials of fencing, there are %d", n)
	case masters != 2 && n > 0 && !c.get("arbiter").there():
		add(&f.Unsupported, list, list.path, "fencing is for 2 control-plane hosts only; remove it")
	}
	if first && !preview(c) {
		add(&f.Unsupported, fencing, fencing.path, "fencing is a technology preview in 4.19; write featureSet: TechPreviewNoUpgrade, or remove it")
	}
	if hosts := c.get("platform", "baremetal", "hosts"); first && len(hosts.items()) > 0 {
		add(&f.Unsupported, fencing, fencing.path, "fencing and platform.baremetal.hosts exclude one another; remove one of the two")
	}
}
