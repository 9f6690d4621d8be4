package onhost

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Identity is the fact host-identity.
type Identity struct {
	Hostname string `cel:"hostname"`
	Nameless bool   `cel:"nameless"` // it is called localhost

	Server     string    `cel:"server"`     // whom the kubelet's kubeconfig speaks to
	Local      bool      `cel:"local"`      // that is the machine itself
	AsNode     bool      `cel:"asNode"`     // the credential that it uses is a node's
	Who        string    `cel:"who"`        // whose credential it is: "system:node:m0 of system:nodes"
	CertFound  bool      `cel:"certFound"`  // there is a client certificate
	CertUsable bool      `cel:"certUsable"` // it is there with its key
	CertWhy    string    `cel:"certWhy"`    // why it is not
	CertNode   string    `cel:"certNode"`   // whose node certificate it is
	OtherNode  bool      `cel:"otherNode"`  // it is another machine's than this one is called
	NotBefore  time.Time `cel:"notBefore"`
	NotAfter   time.Time `cel:"notAfter"`
	Expired    bool      `cel:"expired"`
	NotYet     bool      `cel:"notYet"`   // it is not valid yet by the machine's clock
	NeedsNew   bool      `cel:"needsNew"` // without a new certificate the kubelet cannot speak to the API as its node

	Bootstrap        bool      `cel:"bootstrap"`       // there is a bootstrap kubeconfig
	BootstrapUsable  bool      `cel:"bootstrapUsable"` // it names a server and holds a credential
	BootstrapWhy     string    `cel:"bootstrapWhy"`    // why it is not
	BootstrapKind    string    `cel:"bootstrapKind"`   // of its credential
	BootstrapExpired bool      `cel:"bootstrapExpired"`
	BootstrapEnd     time.Time `cel:"bootstrapEnd"` // of a certificate
	BootstrapAdmin   bool      `cel:"bootstrapAdmin"`
	BootstrapLocal   bool      `cel:"bootstrapLocal"` // it speaks to the machine itself
	ForeignCA        bool      `cel:"foreignCA"`      // the two kubeconfigs believe in no common authority
	At               time.Time `cel:"at"`
}

var identityFact = facts.DefinePlain("host-identity", fault.Host, "the machine's name and the credentials of its kubelet, as they lie on its disk",
	needs(evidence.HostIdentities), readIdentity)

// The names that credentials carry (openshift/cluster-kube-apiserver-operator:
// bindata/assets/kube-apiserver/node-kubeconfigs.yaml, kubernetes/kubernetes:
// pkg/apis/certificates/helpers.go ValidateKubeletClientCSR).
const (
	nodePrefix = "system:node:"
	nodesGroup = "system:nodes"
)

func readIdentity(ctx context.Context, w *facts.World, s fault.Subject) (Identity, facts.Proof, error) {
	var f Identity
	var p facts.Proof
	id, loc, err := look[onhost.Identity](ctx, w, evidence.HostIdentities, s)
	if err != nil {
		return f, p, err
	}
	f.At = id.At
	f.Hostname, f.Nameless = id.Hostname, strings.HasPrefix(strings.ToLower(id.Hostname), "localhost")
	p.Add(at(loc, "/proc/sys/kernel/hostname"), fmt.Sprintf("the machine is called %q (by %s; /etc/hostname: %q)", id.Hostname, id.NameFrom, id.StaticName), id.At, "hostname", "nameless")
	if id.Hostname == "" {
		unread(&p, evidence.HostIdentities, "/proc/sys/kernel/hostname", "the container has a name of its own", "hostname", "nameless")
	}
	f.credential(&id, loc, &p)
	f.bootstrap(&id, loc, &p)
	f.ForeignCA = len(id.Runtime.Authorities) > 0 && len(id.Bootstrap.Authorities) > 0 && !common(id.Runtime.Authorities, id.Bootstrap.Authorities)
	p.Add(at(loc, id.Bootstrap.Path), fmt.Sprintf("authorities in %s: %s; in %s: %s", id.Runtime.Path, authorities(id.Runtime.Authorities), id.Bootstrap.Path, authorities(id.Bootstrap.Authorities)),
		id.Bootstrap.Modified, "foreignCA")
	return f, p, nil
}

// credential judges what the kubelet speaks to the API with: what its kubeconfig
// leads to, and that is a file with a certificate and its key unless somebody gave it
// another kubeconfig.
func (f *Identity) credential(id *onhost.Identity, loc evidence.Locator, p *facts.Proof) {
	k, pair := id.Runtime, id.Client
	leaf := pair.Leaf
	place, said := at(loc, pair.Path), ""
	if k.UserKind == onhost.UserEmbedded && k.User != nil {
		leaf, place = k.User, at(loc, k.Path)
	}
	f.Server, f.Local = k.Server, local(k.Server)
	if k.Error != "" {
		unread(p, evidence.HostIdentities, k.Path, k.Error, "server", "local", "asNode", "who")
	} else if k.Exists {
		p.Add(at(loc, k.Path), fmt.Sprintf("server %s, user: %s", k.Server, k.UserKind), k.Modified, "server", "local")
	} else {
		p.Add(at(loc, k.Path), "there is no such file", time.Time{}, "server", "local")
	}
	switch {
	case pair.Error != "":
		unread(p, evidence.HostIdentities, pair.Path, pair.Error, "certFound", "certUsable", "certWhy", "certNode", "otherNode", "notBefore", "notAfter", "expired", "notYet", "needsNew", "asNode", "who")
		return
	case leaf == nil:
		f.CertWhy, f.NeedsNew, f.AsNode = "there is no such file", true, true
		if pair.Exists {
			f.CertFound, f.CertWhy = true, pair.Problem
		}
		p.Add(place, f.CertWhy, pair.Modified, "certFound", "certUsable", "certWhy", "certNode", "otherNode", "notBefore", "notAfter", "expired", "notYet", "needsNew", "asNode", "who")
		return
	}
	f.CertFound, f.CertUsable = true, leaf == k.User || pair.KeyFits
	if !f.CertUsable {
		f.CertWhy = "its private key is missing or another certificate's"
	}
	f.Who = leaf.CommonName + " of " + strings.Join(leaf.Organization, ", ")
	f.CertNode, f.AsNode = strings.CutPrefix(leaf.CommonName, nodePrefix)
	f.AsNode = f.AsNode && slices.Contains(leaf.Organization, nodesGroup)
	f.OtherNode = f.AsNode && id.Hostname != "" && !f.Nameless && !hosts.SameName(f.CertNode, id.Hostname)
	f.NotBefore, f.NotAfter = leaf.NotBefore, leaf.NotAfter
	f.Expired, f.NotYet = id.At.After(leaf.NotAfter), id.At.Before(leaf.NotBefore)
	f.NeedsNew = f.Expired || !f.CertUsable || !f.AsNode
	said = fmt.Sprintf("certificate of %s, valid from %s to %s", f.Who, stamp(f.NotBefore), stamp(f.NotAfter))
	if f.CertWhy != "" {
		said += "; " + f.CertWhy
	}
	p.Add(place, said, pair.Modified, "certFound", "certUsable", "certWhy", "certNode", "otherNode", "notBefore", "notAfter", "expired", "notYet", "needsNew", "asNode", "who")
}

// bootstrap judges what the kubelet asks for its first certificate with.
func (f *Identity) bootstrap(id *onhost.Identity, loc evidence.Locator, p *facts.Proof) {
	b := id.Bootstrap
	fields := []string{"bootstrap", "bootstrapUsable", "bootstrapWhy", "bootstrapKind", "bootstrapExpired", "bootstrapEnd", "bootstrapAdmin", "bootstrapLocal"}
	if b.Error != "" {
		unread(p, evidence.HostIdentities, b.Path, b.Error, fields...)
		return
	}
	f.Bootstrap, f.BootstrapKind, f.BootstrapLocal = b.Exists, b.UserKind, local(b.Server)
	switch {
	case !b.Exists:
		f.BootstrapWhy = "there is no such file"
	case b.Problem != "":
		f.BootstrapWhy = b.Problem
	case b.UserKind == onhost.UserNone:
		f.BootstrapWhy = "it holds no credential"
	default:
		f.BootstrapUsable = true
	}
	said := f.BootstrapWhy
	if f.BootstrapUsable {
		said = fmt.Sprintf("server %s, user: %s", b.Server, b.UserKind)
	}
	if b.User != nil {
		f.BootstrapEnd, f.BootstrapExpired = b.User.NotAfter, id.At.After(b.User.NotAfter)
		f.BootstrapAdmin = slices.Contains(b.User.Organization, "system:masters")
		said += fmt.Sprintf(" of %s, valid to %s", b.User.CommonName, stamp(b.User.NotAfter))
		if f.BootstrapUsable && f.BootstrapExpired {
			f.BootstrapUsable, f.BootstrapWhy = false, "its client certificate ended "+stamp(b.User.NotAfter)
		}
	}
	p.Add(at(loc, b.Path), said, b.Modified, fields...)
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
