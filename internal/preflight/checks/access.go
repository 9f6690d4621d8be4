package checks

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// accessArea is the area plan-access: SSH key, pull secret, trust bundle and mirrors in the plan; their values are not kept.
type accessArea struct {
	SSHKey      problems // SSH keys that are refused
	NoSSHKey    problems // that there is none
	PullSecret  problems // parts of the pull secret that cannot be used
	Registries  problems // registries that images come from and the pull secret lacks
	Bundle      problems // parts of the trust bundle that are refused
	BundleEnded problems // authorities of the trust bundle that have expired, or will within a day
	Mirrors     problems // mirror settings that are refused
	SelfMirror  problems // sources that are their own mirror
	Unmirrored  problems // repositories of the release that have no mirror, though another one of them has
}

var accessChecks = check.Area("plan-access", needs, readAccess, check.Fields[accessArea]{
	"plan-ssh-key-refused":             func(f *accessArea) *problems { return &f.SSHKey },
	"plan-ssh-key-missing":             func(f *accessArea) *problems { return &f.NoSSHKey },
	"plan-pull-secret-refused":         func(f *accessArea) *problems { return &f.PullSecret },
	"plan-registry-credential-missing": func(f *accessArea) *problems { return &f.Registries },
	"plan-trust-bundle-refused":        func(f *accessArea) *problems { return &f.Bundle },
	"plan-trust-bundle-expired":        func(f *accessArea) *problems { return &f.BundleEnded },
	"plan-mirror-refused":              func(f *accessArea) *problems { return &f.Mirrors },
	"plan-mirror-of-itself":            func(f *accessArea) *problems { return &f.SelfMirror },
	"plan-mirror-incomplete":           func(f *accessArea) *problems { return &f.Unmirrored },
})

func readAccess(ctx context.Context, w *facts.World) (accessArea, error) {
	var f accessArea
	p, err := installConfig(ctx, w)
	if err != nil {
		return f, err
	}
	form, _ := p.install.doc.object.Content["form"].(map[string]any)
	f.ssh(p, form)
	f.bundle(w, p, form)
	mirrors := f.mirrors(p)
	f.pulls(p, form, mirrors)
	return f, nil
}

// ssh: pkg/validate SSHPublicKey; with FIPS validateFIPSconfig.
func (f *accessArea) ssh(p plans, form map[string]any) {
	n := p.install.get("sshKey")
	list, _ := form["ssh"].([]any)
	if len(list) == 0 {
		add(&f.NoSSHKey, n, "sshKey", "there is no SSH key: you cannot log in to a host that does not join; write the public key")
	}
	for _, v := range list {
		switch kind, _ := v.(string); {
		case kind == "private":
			add(&f.SSHKey, n, "sshKey", "it is a private key: take it out of the file, make another one, and write the public key")
		case kind == "unreadable":
			add(&f.SSHKey, n, "sshKey", "it is no public key; write one line as ssh-ed25519 AAAA... NAME")
		case kind == "ssh-dss":
			add(&f.SSHKey, n, "sshKey", "keys of the type ssh-dss are not supported; write one of type ssh-ed25519, or ecdsa")
		case p.install.get("fips").yes() && kind != "ssh-rsa" && !strings.HasPrefix(kind, "ecdsa-sha2-nistp"):
			add(&f.SSHKey, n, "sshKey", "%s is not possible with fips: true; write a key of type rsa or ecdsa", kind)
		}
	}
}

func (f *accessArea) bundle(w *facts.World, p plans, form map[string]any) {
	n := p.install.get("additionalTrustBundle")
	list, _ := form["bundle"].([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		subject := evidence.String(m, "subject")
		switch state := evidence.String(m, "state"); state {
		case "ok", "not a CA": // the installer takes a server's own one (pkg/validate CABundle), and Go trusts it
		default:
			add(&f.Bundle, n, "additionalTrustBundle", "it holds what is no certificate (%s)", state)
			continue
		}
		end, ok := timeOf(m["notAfter"])
		if ok && end.Before(w.Now.AddDate(0, 0, 1)) {
			add(&f.BundleEnded, n, subject, "%s expires at %s; write its successor", subject, end.Format("2006-01-02T15:04:05Z"))
		}
	}
}

// mirrors returns the registries of the mirrors. validateImageDigestSources.
func (f *accessArea) mirrors(p plans) []string {
	c := p.install
	old, now := c.get("imageContentSources"), c.get("imageDigestSources")
	if len(old.items()) > 0 && len(now.items()) > 0 {
		add(&f.Mirrors, old, old.path, "imageContentSources and imageDigestSources cannot both be set; join them in imageDigestSources")
	}
	var registries []string
	f.unmirrored(slices.Concat(old.items(), now.items()))
	for _, group := range slices.Concat(old.items(), now.items()) {
		source := group.get("source")
		switch policy := group.get("sourcePolicy"); {
		case policy.text() == "":
		case policy.text() != "NeverContactSource" && policy.text() != "AllowContactingSource":
			add(&f.Mirrors, policy, policy.path, "%q is no policy; write NeverContactSource or AllowContactingSource", policy.text())
		case len(group.get("mirrors").items()) == 0:
			add(&f.Mirrors, policy, policy.path, "a sourcePolicy needs mirrors; add them or remove it")
		}
		f.repository(source)
		for _, m := range group.get("mirrors").items() {
			f.repository(m)
			if m.text() == source.text() && m.text() != "" {
				add(&f.SelfMirror, m, m.text(), "%s is named as its own mirror; write the repository of the mirror", m.text())
			}
			if r, _, _ := strings.Cut(m.text(), "/"); r != "" && !strings.Contains(m.text(), "://") && !slices.Contains(registries, r) {
				registries = append(registries, r)
			}
		}
	}
	return registries
}

// releaseRepositories are those that a release of OpenShift comes from: the first one has the
// release image, and all images that it names are in the second one
// (openshift/oc: pkg/cli/admin/release/mirror.go prints both).
var releaseRepositories = []string{"quay.io/openshift-release-dev/ocp-release", "quay.io/openshift-release-dev/ocp-v4.0-art-dev"}

func (f *accessArea) unmirrored(groups []node) {
	mirrored := func(repository string) (node, bool) {
		for _, g := range groups {
			if s := g.get("source"); s.text() != "" && (s.text() == repository || strings.HasPrefix(repository, s.text()+"/")) {
				return s, true
			}
		}
		return node{}, false
	}
	for i, other := range []int{1, 0} {
		with, has := mirrored(releaseRepositories[other])
		if _, also := mirrored(releaseRepositories[i]); has && !also {
			add(&f.Unmirrored, with, releaseRepositories[i], "the release has images in %s, too, and no mirror is named for it: hosts pull those from "+
				"quay.io; add it as a source", releaseRepositories[i])
		}
	}
}

func (f *accessArea) repository(n node) {
	v := n.text()
	name := v[strings.LastIndexByte(v, '/')+1:]
	switch {
	case v == "":
		add(&f.Mirrors, n, n.path, "a repository has to be written")
	case strings.Contains(v, "://"):
		add(&f.Mirrors, n, v, "%s has a scheme; write HOST:PORT/REPOSITORY", v)
	case strings.Contains(v, "@") || strings.Contains(v, "/") && strings.Contains(name, ":"):
		add(&f.Mirrors, n, v, "%s names an image and not a repository; leave out what follows the name", v)
	case strings.Contains(v, "/") && !isRegistry(v[:strings.IndexByte(v, '/')]):
		add(&f.Mirrors, n, v, "%s has no host of a registry; write HOST/REPOSITORY or HOST:PORT/REPOSITORY", v)
	case strings.ContainsAny(v, " \t") || v != strings.ToLower(v):
		add(&f.Mirrors, n, v, "%s is no name of a repository; it has no blanks and no capital letters", v)
	}
}

// isRegistry tells a host from the first part of a path (github.com/distribution/reference
// splitDockerDomain).
func isRegistry(part string) bool { return strings.ContainsAny(part, ".:") || part == "localhost" }

// public are the registries that an installation with the public release pulls from.
var public = []string{"quay.io", "registry.redhat.io"}

func (f *accessArea) pulls(p plans, form map[string]any, mirrors []string) {
	n := p.install.get("pullSecret")
	m, _ := form["pulls"].(map[string]any)
	switch evidence.String(m, "state") {
	case "", "empty":
		return // plan-file says that it is not there
	case "not JSON":
		add(&f.PullSecret, n, "pullSecret", "it is not JSON; write it in single quotes on one line, as it was downloaded")
		return
	}
	registries, _ := m["registries"].(map[string]any)
	if len(registries) == 0 {
		add(&f.PullSecret, n, "pullSecret", "it has no auths; write {\"auths\": {REGISTRY: {\"auth\": BASE64}}}")
		return
	}
	for _, name := range sorted(registries) {
		switch state, _ := registries[name].(string); state {
		case "not base64":
			add(&f.PullSecret, n, name, "auth of %s is not base64 of user:password", name)
		case "no user:password":
			add(&f.PullSecret, n, name, "auth of %s is base64, but not of user:password", name)
		case "no credential":
			add(&f.PullSecret, n, name, "there is no auth for %s", name)
		}
	}
	wanted := public
	if len(mirrors) > 0 {
		wanted = mirrors
	}
	for _, r := range wanted {
		if !covers(registries, r) {
			add(&f.Registries, n, r, "there is no credential for %s: if it asks for one, no image can be pulled from there", r)
		}
	}
}

// covers: a credential is for a registry, or for a part of it
// (containers/image: pkg/docker/config findCredentialsInFile).
func covers(registries map[string]any, registry string) bool {
	for name := range registries {
		host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://"), "/")
		if strings.EqualFold(host, registry) {
			return true
		}
	}
	return false
}

// proxyArea is the area plan-proxy: proxy of the plan, and what is reached without it.
type proxyArea struct {
	Invalid problems // settings that are refused
	Through problems // addresses that would be asked for over the proxy
}

var proxyChecks = check.Area("plan-proxy", needs, readProxy, check.Fields[proxyArea]{
	"plan-proxy-refused":    func(f *proxyArea) *problems { return &f.Invalid },
	"plan-proxy-in-the-way": func(f *proxyArea) *problems { return &f.Through },
})

func readProxy(ctx context.Context, w *facts.World) (proxyArea, error) {
	var f proxyArea
	p, err := installConfig(ctx, w)
	if err != nil {
		return f, err
	}
	proxy := p.install.get("proxy")
	if !proxy.there() {
		return f, check.NotApplicable("the plan has no proxy")
	}
	f.settings(p, proxy)
	f.through(p, proxy.get("noProxy"))
	return f, nil
}

// settings: validateProxy, validateIPProxy.
func (f *proxyArea) settings(p plans, proxy node) {
	if proxy.get("httpProxy").text() == "" && proxy.get("httpsProxy").text() == "" {
		add(&f.Invalid, proxy, "proxy", "neither httpProxy nor httpsProxy is set")
	}
	for _, key := range []string{"httpProxy", "httpsProxy"} {
		n := proxy.get(key)
		if n.text() == "" {
			continue
		}
		scheme, rest, _ := strings.Cut(n.text(), "://")
		if scheme != "http" && (key == "httpProxy" || scheme != "https") || rest == "" {
			add(&f.Invalid, n, key, "%s is no URL of a proxy; write http://HOST:PORT", key)
			continue
		}
		if n.userBreaks() {
			add(&f.Invalid, n, key, "the user or password of %s breaks the URL; write # / ? %% of the password as %%23 %%2F %%3F %%25, a blank as %%20", key)
			continue
		}
		if _, err := url.ParseRequestURI(n.text()); err != nil {
			add(&f.Invalid, n, key, "%s is no URL of a proxy that can be read; write http://HOST:PORT", key)
			continue
		}
		host, _, _ := strings.Cut(rest, "/")
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if join, ok := p.install.get("networking", "ovnKubernetesConfig", "ipv4", "internalJoinSubnet").prefix(); err == nil && ok && join.Contains(addr) {
			add(&f.Invalid, n, key, "the proxy %s is in the internalJoinSubnet %s", addr, join)
		}
		for _, net := range p.networks(nil) {
			if err == nil && net.prefix.Contains(addr) && (net.kind == "clusterNetwork" || net.kind == "serviceNetwork") {
				add(&f.Invalid, n, key, "the proxy %s is in %s %s", addr, net.kind, net.prefix)
			}
		}
	}
	n := proxy.get("noProxy")
	if strings.Contains(n.text(), " ") {
		add(&f.Invalid, n, "noProxy", "noProxy has blanks; write the names with commas alone")
	}
	for v := range strings.SplitSeq(n.text(), ",") {
		if v = strings.TrimSpace(v); strings.Contains(v, "*") && n.text() != "*" {
			add(&f.Invalid, n, "noProxy", "%q has a wildcard; write .example.com for all names below it", v)
			continue
		}
		if n.text() != "" && n.text() != "*" && !noProxyEntry(v) {
			add(&f.Invalid, n, "noProxy", "%q is neither an address, a network nor a name", v)
		}
	}
}

// noProxyEntry: pkg/types/validation/installconfig.go validateProxy, pkg/validate NoProxyDomainName.
func noProxyEntry(v string) bool {
	_, errAddr := netip.ParseAddr(v)
	_, _, errNet := net.ParseCIDR(v)
	return errAddr == nil || errNet == nil || subdomain.MatchString(strings.TrimSuffix(strings.TrimPrefix(v, "."), "."))
}

// through: the installer adds the cluster's own networks and names to noProxy
// (pkg/asset/manifests/proxy.go createNoProxy), but not what else is asked for.
func (f *proxyArea) through(p plans, noProxy node) {
	if noProxy.text() == "*" {
		return
	}
	var names []string
	for v := range strings.SplitSeq(noProxy.text(), ",") {
		names = append(names, strings.TrimSpace(v))
	}
	check := func(n node, what, host string) {
		host = strings.Trim(host, "[]")
		if host == "" || exempt(names, host) {
			return
		}
		if addr, err := netip.ParseAddr(host); err == nil && slices.ContainsFunc(p.networks(nil), func(net network) bool { return net.prefix.Contains(addr) }) {
			return // the installer adds the machine, cluster and service networks
		}
		add(&f.Through, n, host, "%s %s is not in noProxy: it would be asked for over the proxy; add it, or its network", what, host)
	}
	for _, h := range p.hosts() {
		if n := h.bmc.get("address"); n.text() != "" {
			check(n, "the BMC of "+h.title(), hostOf(n.text()))
		}
	}
	if n := p.agent.get("rendezvousIP"); n.text() != "" {
		check(n, "the rendezvous host", n.text())
	}
	c := p.install
	for _, group := range slices.Concat(c.get("imageContentSources").items(), c.get("imageDigestSources").items()) {
		for _, m := range group.get("mirrors").items() {
			if host := hostOf(m.text()); !strings.HasPrefix(m.text(), "quay.io/") {
				check(m, "the mirror", host)
			}
		}
	}
	metal := p.install.get("platform", "baremetal")
	if n := metal.get("provisioningNetworkCIDR"); n.text() != "" && metal.get("provisioningNetwork").text() != "Disabled" {
		if prefix, ok := n.prefix(); ok && !exempt(names, prefix.Addr().Next().String()) {
			add(&f.Through, n, n.text(), "the provisioning network %s is not in noProxy; add it", n.text())
		}
	}
}

func hostOf(address string) string {
	_, rest := schemeOf(address)
	host, _, _ := strings.Cut(rest, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return host
}

// exempt: as Go's own proxies read noProxy (golang.org/x/net/http/httpproxy).
func exempt(names []string, host string) bool {
	addr, errAddr := netip.ParseAddr(host)
	for _, n := range names {
		if prefix, err := netip.ParsePrefix(n); err == nil && errAddr == nil && prefix.Contains(addr) {
			return true
		}
		bare := strings.TrimPrefix(strings.ToLower(n), ".")
		if bare != "" && (strings.EqualFold(bare, host) && !strings.HasPrefix(n, ".") || strings.HasSuffix(strings.ToLower(host), "."+bare)) {
			return true
		}
	}
	return false
}
