package onhost

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Identity is the fact host-identity.
type Identity struct {
	Hostname facts.Field[string] `cel:"hostname"`
	Nameless facts.Field[bool]   `cel:"nameless"` // it is called localhost

	Server     facts.Field[string]    `cel:"server"`     // whom the kubelet's kubeconfig speaks to
	Local      facts.Field[bool]      `cel:"local"`      // that is the machine itself
	AsNode     facts.Field[bool]      `cel:"asNode"`     // the credential that it uses is a node's
	Who        facts.Field[string]    `cel:"who"`        // whose credential it is: "system:node:m0 of system:nodes"
	CertFound  facts.Field[bool]      `cel:"certFound"`  // there is a client certificate
	CertUsable facts.Field[bool]      `cel:"certUsable"` // it is there with its key
	CertWhy    facts.Field[string]    `cel:"certWhy"`    // why it is not
	CertNode   facts.Field[string]    `cel:"certNode"`   // whose node certificate it is
	OtherNode  facts.Field[bool]      `cel:"otherNode"`  // it is another machine's than this one is called
	NotBefore  facts.Field[time.Time] `cel:"notBefore"`
	NotAfter   facts.Field[time.Time] `cel:"notAfter"`
	Expired    facts.Field[bool]      `cel:"expired"`
	NotYet     facts.Field[bool]      `cel:"notYet"`   // it is not valid yet by the machine's clock
	NeedsNew   facts.Field[bool]      `cel:"needsNew"` // without a new certificate the kubelet cannot speak to the API as its node

	Bootstrap        facts.Field[bool]      `cel:"bootstrap"`       // there is a bootstrap kubeconfig
	BootstrapUsable  facts.Field[bool]      `cel:"bootstrapUsable"` // it names a server and holds a credential
	BootstrapWhy     facts.Field[string]    `cel:"bootstrapWhy"`    // why it is not
	BootstrapKind    facts.Field[string]    `cel:"bootstrapKind"`   // of its credential
	BootstrapExpired facts.Field[bool]      `cel:"bootstrapExpired"`
	BootstrapEnd     facts.Field[time.Time] `cel:"bootstrapEnd"` // of a certificate
	BootstrapAdmin   facts.Field[bool]      `cel:"bootstrapAdmin"`
	BootstrapLocal   facts.Field[bool]      `cel:"bootstrapLocal"` // it speaks to the machine itself
	ForeignCA        facts.Field[bool]      `cel:"foreignCA"`      // the two kubeconfigs believe in no common CA
}

var identityFact = facts.Define("host-identity", fault.Host, "the machine's name and the credentials of its kubelet, as they lie on its disk",
	needs(evidence.HostIdentities), readIdentity)

func readIdentity(ctx context.Context, w *facts.World, s fault.Subject) (Identity, error) {
	var f Identity
	id, loc, err := readPart[onhost.Identity](ctx, w, evidence.HostIdentities, s)
	if err != nil {
		return f, err
	}
	name := shows(loc, "/proc/sys/kernel/hostname", fmt.Sprintf("the machine is called %q (by %s; /etc/hostname: %q)", id.Hostname, id.NameFrom,
		id.StaticName), id.At)
	f.Hostname.Set(id.Hostname, name)
	f.Nameless.Set(strings.HasPrefix(strings.ToLower(id.Hostname), "localhost"), name)
	if id.Hostname == "" {
		unread(evidence.HostIdentities, "/proc/sys/kernel/hostname", "the container has a name of its own", &f.Hostname, &f.Nameless)
	}
	f.server(&id, loc)
	f.credential(&id, loc)
	f.bootstrap(&id, loc)
	foreign := len(id.Runtime.Authorities) > 0 && len(id.Bootstrap.Authorities) > 0 && !common(id.Runtime.Authorities, id.Bootstrap.Authorities)
	f.ForeignCA.Set(foreign, shows(loc, id.Bootstrap.Path, fmt.Sprintf("CAs in %s: %s; in %s: %s", id.Runtime.Path,
		authorities(id.Runtime.Authorities), id.Bootstrap.Path, authorities(id.Bootstrap.Authorities)),
		id.Bootstrap.Modified))
	for _, k := range []onhost.Kubeconfig{id.Runtime, id.Bootstrap} {
		if k.Error != "" {
			unread(evidence.HostIdentities, k.Path, k.Error, &f.ForeignCA)
		}
	}
	return f, nil
}

// server sets whom the kubelet's kubeconfig speaks to.
func (f *Identity) server(id *onhost.Identity, loc evidence.Locator) {
	k := id.Runtime
	item := shows(loc, k.Path, "there is no such file", time.Time{})
	if k.Exists {
		item = shows(loc, k.Path, fmt.Sprintf("server %s, user: %s", k.Server, k.UserKind), k.Modified)
	}
	f.Server.Set(k.Server, item)
	f.Local.Set(local(k.Server), item)
	switch {
	case k.Error != "":
		unread(evidence.HostIdentities, k.Path, k.Error, &f.Server, &f.Local)
	case obfuscation.Found(k.Server):
		f.Local.Miss(obfuscation.Unavailable(evidence.Objects(evidence.HostIdentities, ""), "the server's address"))
	}
}

// credential judges what the kubelet speaks to the API with: what its kubeconfig
// leads to, and that is a file with a certificate and its key unless somebody gave it
// another kubeconfig.
func (f *Identity) credential(id *onhost.Identity, loc evidence.Locator) {
	k, pair := id.Runtime, id.Client
	leaf, place := pair.Leaf, pair.Path
	if k.UserKind == onhost.UserEmbedded && k.User != nil {
		leaf, place = k.User, k.Path
	}
	switch {
	case leaf == nil && pair.NotCopied != "":
		notCopied(id, &pair.File, f.ofCredential()...)
		return
	case pair.Error != "":
		unread(evidence.HostIdentities, pair.Path, pair.Error, f.ofCredential()...)
		return
	case leaf == nil:
		why := "there is no such file"
		if pair.Exists {
			why = pair.Problem
		}
		facts.Prove(shows(loc, place, why, pair.Modified), f.ofCredential()...)
		f.CertFound.Set(pair.Exists)
		f.CertWhy.Set(why)
		f.NeedsNew.Set(true)
		f.AsNode.Set(true)
		facts.Complete(f)
	default:
		f.certificate(id, leaf, loc, place)
	}
	if k.Error != "" {
		unread(evidence.HostIdentities, k.Path, k.Error, &f.AsNode, &f.Who)
	}
}

// ofCredential are the fields that a certificate tells.
func (f *Identity) ofCredential() []facts.Setter {
	return []facts.Setter{&f.CertFound, &f.CertUsable, &f.CertWhy, &f.CertNode, &f.OtherNode, &f.NotBefore, &f.NotAfter, &f.Expired, &f.NotYet,
		&f.NeedsNew, &f.AsNode, &f.Who}
}

// certificate sets what the client certificate says.
func (f *Identity) certificate(id *onhost.Identity, leaf *onhost.Certificate, loc evidence.Locator, place string) {
	usable, why := leaf == id.Runtime.User || id.Client.KeyFits, ""
	if !usable {
		why = "its private key is missing or another certificate's"
	}
	who := leaf.CommonName + " of " + strings.Join(leaf.Organization, ", ")
	node, asNode := strings.CutPrefix(leaf.CommonName, openshift.NodeUserPrefix)
	asNode = asNode && slices.Contains(leaf.Organization, openshift.NodesGroup)
	expired := id.At.After(leaf.NotAfter)
	said := fmt.Sprintf("certificate of %s, valid from %s to %s", who, excerpt.Time(leaf.NotBefore), excerpt.Time(leaf.NotAfter))
	if why != "" {
		said += "; " + why
	}
	facts.Prove(shows(loc, place, said, id.Client.Modified), f.ofCredential()...)
	f.CertFound.Set(true)
	f.CertUsable.Set(usable)
	f.CertWhy.Set(why)
	f.CertNode.Set(node)
	f.NotBefore.Set(leaf.NotBefore)
	f.NotAfter.Set(leaf.NotAfter)
	f.Expired.Set(expired)
	f.NotYet.Set(id.At.Before(leaf.NotBefore))
	f.NeedsNew.Set(expired || !usable || !asNode)
	f.AsNode.Set(asNode)
	f.Who.Set(who)
	f.OtherNode.Set(asNode && id.Hostname != "" && !f.Nameless.Value() && !inventory.SameName(node, id.Hostname))
	if obfuscation.Found(node) || obfuscation.Found(id.Hostname) {
		f.OtherNode.Miss(obfuscation.Unavailable(evidence.Objects(evidence.HostIdentities, ""), "the machine's name"))
	}
}

// bootstrap judges what the kubelet asks for its first certificate with.
func (f *Identity) bootstrap(id *onhost.Identity, loc evidence.Locator) {
	b := id.Bootstrap
	fields := []facts.Setter{&f.Bootstrap, &f.BootstrapUsable, &f.BootstrapWhy, &f.BootstrapKind, &f.BootstrapExpired, &f.BootstrapEnd,
		&f.BootstrapAdmin, &f.BootstrapLocal}
	if b.Error != "" {
		unread(evidence.HostIdentities, b.Path, b.Error, fields...)
		return
	}
	if b.NotCopied != "" {
		notCopied(id, &b.File, fields...)
		return
	}
	why, said := "", fmt.Sprintf("server %s, user: %s", b.Server, b.UserKind)
	switch {
	case !b.Exists:
		why = "there is no such file"
	case b.Problem != "":
		why = b.Problem
	case b.UserKind == onhost.UserNone:
		why = "it holds no credential"
	}
	if why != "" {
		said = why
	}
	var end time.Time
	expired, admin := false, false
	if b.User != nil {
		end, expired = b.User.NotAfter, id.At.After(b.User.NotAfter)
		admin = slices.Contains(b.User.Organization, openshift.MastersGroup)
		said += fmt.Sprintf(" of %s, valid to %s", b.User.CommonName, excerpt.Time(end))
		if why == "" && expired {
			why = "its client certificate ended " + excerpt.Time(end)
		}
	}
	facts.Prove(shows(loc, b.Path, said, b.Modified), fields...)
	f.Bootstrap.Set(b.Exists)
	f.BootstrapUsable.Set(why == "")
	f.BootstrapWhy.Set(why)
	f.BootstrapKind.Set(b.UserKind)
	f.BootstrapExpired.Set(expired)
	f.BootstrapEnd.Set(end)
	f.BootstrapAdmin.Set(admin)
	f.BootstrapLocal.Set(local(b.Server))
	if obfuscation.Found(b.Server) {
		f.BootstrapLocal.Miss(obfuscation.Unavailable(evidence.Objects(evidence.HostIdentities, ""), "the server's address"))
	}
}

// local reports whether a kubeconfig's server is the machine itself.
func local(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return ip.IsLoopback()
	}
	return strings.HasPrefix(u.Hostname(), "localhost")
}

func common(a, b []onhost.Certificate) bool {
	return slices.ContainsFunc(a, func(x onhost.Certificate) bool {
		return slices.ContainsFunc(b, func(y onhost.Certificate) bool { return x.SHA256 == y.SHA256 })
	})
}

func authorities(list []onhost.Certificate) string {
	if len(list) == 0 {
		return "none"
	}
	var names []string
	for i, c := range list {
		if i == 3 {
			names = append(names, "...")
			break
		}
		names = append(names, c.CommonName)
	}
	return strings.Join(names, ", ")
}
