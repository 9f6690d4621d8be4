package certs

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

const (
	mcoNamespace = "openshift-machine-config-operator"
	mcsSecret    = "machine-config-server-tls" //nolint:gosec // the name of a Secret
	mcsCA        = "machine-config-server-ca"
)

// MCS is the certificate of the machine config server, which a booting host's
// Ignition verifies with the authority in its pointer config. That pointer lies in
// user-data Secrets, which are not read: whether a given host's pointer has the
// right authority cannot be told from here.
type MCS struct {
	SecretExists bool      `cel:"secretExists"`
	From         string    `cel:"from"` // where it was read: "secret", "served", or only its "annotations"
	Subject      string    `cel:"subject"`
	Issuer       string    `cel:"issuer"`
	Authority    string    `cel:"authority"` // the issuer's common name, which Ignition prints of an authority
	NotBefore    time.Time `cel:"notBefore"`
	NotAfter     time.Time `cel:"notAfter"`
	Names        []string  `cel:"names"`
	Asked        []string  `cel:"asked"`      // under which names and addresses hosts ask for it
	Uncovered    []string  `cel:"uncovered"`  // those of asked that the certificate is not for
	Published    string    `cel:"published"`  // the ConfigMap with the authority that pointers are made with
	Trusted      bool      `cel:"trusted"`    // the published authority signed it
	RootCAData   bool      `cel:"rootCAData"` // ControllerConfig.spec.rootCAData signed it
	ServedBy     []string  `cel:"servedBy"`   // the probed servers
	Stale        []string  `cel:"stale"`      // servers that serve another certificate than the Secret holds
}

// MCSFact is the fact mcs-certificate.
func MCSFact() facts.Fact {
	return facts.DefinePlain("mcs-certificate", fault.Cluster, "the machine config server's certificate: names, validity, who signed it",
		[]evidence.Need{
			evidence.Objects(evidence.Secrets, mcoNamespace),
			evidence.Objects(evidence.MCSProbes, ""),
			evidence.Objects(evidence.Infrastructures, ""),
			evidence.Objects(evidence.ConfigMaps, mcoNamespace),
			evidence.Objects(evidence.ConfigMaps, "kube-system"),
			evidence.Objects(evidence.ControllerConfigs, ""),
		}, readMCS)
}

func readMCS(ctx context.Context, w *facts.World, _ fault.Subject) (MCS, facts.Proof, error) {
	var m MCS
	var p facts.Proof
	kept, loc, unread, err := m.secret(ctx, w, &p)
	if err != nil {
		return m, p, err
	}
	served, err := m.served(ctx, w, &p, kept)
	if err != nil {
		return m, p, err
	}
	chain, from := kept, "secret"
	if len(served.chain) > 0 { // what hosts meet; the Secret is what they will meet after a restart
		chain, from, loc = served.chain, "served", served.loc
	}
	if len(chain) == 0 {
		m.unread(loc, unread, &p)
		return m, p, nil
	}
	m.From = from
	m.leaf(chain[0], loc, &p)
	if err := m.names(ctx, w, chain[0], &p); err != nil {
		return m, p, err
	}
	err = m.authorities(ctx, w, chain, &p)
	return m, p, err
}

// unread marks what only the certificate itself tells.
func (m *MCS) unread(loc evidence.Locator, why error, p *facts.Proof) {
	fields := []string{"subject", "issuer", "authority", "names", "uncovered", "trusted", "rootCAData"}
	if m.From == "" {
		fields = append(fields, "from", "notBefore", "notAfter")
	} else {
		p.Add(loc.At("metadata.annotations"), fmt.Sprintf("valid from %s to %s", m.NotBefore.Format(time.RFC3339), m.NotAfter.Format(time.RFC3339)),
			time.Time{}, "notBefore", "notAfter")
	}
	for _, f := range fields {
		p.Miss(f, why)
	}
}

var errNoSecret = &evidence.Unavailable{
	Need: evidence.Objects(evidence.Secrets, mcoNamespace), Why: evidence.NotCollected,
	Detail: "there is no Secret " + mcsSecret + ", and no server showed a certificate",
}

var notRead = &evidence.Unavailable{
	Need: evidence.Objects(evidence.Secrets, mcoNamespace), Why: evidence.NotAsked,
	Detail: "neither the Secret " + mcsSecret + " nor what the servers serve could be read",
	Supply: "--read-secrets " + mcoNamespace + " (certificates are kept, keys are not)",
}

// secret reads the certificate of the Secret. Where there is none to read, unread
// says why.
func (m *MCS) secret(ctx context.Context, w *facts.World, p *facts.Proof) (chain []*x509.Certificate, loc evidence.Locator, unread, err error) {
	o, ok, err := w.Get(ctx, evidence.Secrets, mcoNamespace, mcsSecret)
	if err != nil {
		return nil, loc, err, miss(p, err, "secretExists", "stale")
	}
	m.SecretExists = ok
	if !ok {
		p.Add(evidence.Locator{Path: "secrets -n " + mcoNamespace}, "no Secret "+mcsSecret, time.Time{}, "secretExists")
		return nil, loc, errNoSecret, nil
	}
	p.Add(o.Loc, "Secret "+mcsSecret+" exists", o.Created(), "secretExists")
	text := evidence.String(o.Content, "data", "tls.crt")
	if text == "" || sanitize.Redacted(text) {
		p.Miss("stale", notRead)
		m.annotations(o)
		return nil, o.Loc, notRead, nil
	}
	chain, err = fromBase64(o, text)
	return chain, o.Loc.At("data.tls.crt"), err, miss(p, err, "stale")
}

// annotations takes what the rotation noted on the Secret; it is shown even where
// the Secret's contents are not read (from 4.19,
// openshift/library-go:pkg/operator/certrotation/annotations.go).
func (m *MCS) annotations(o evidence.Object) {
	before, err1 := time.Parse(time.RFC3339, o.Annotation("auth.openshift.io/certificate-not-before"))
	after, err2 := time.Parse(time.RFC3339, o.Annotation("auth.openshift.io/certificate-not-after"))
	if err1 == nil && err2 == nil {
		m.From, m.NotBefore, m.NotAfter = "annotations", before.UTC(), after.UTC()
	}
}

type servedChain struct {
	chain []*x509.Certificate
	loc   evidence.Locator
}

// served reads what probes saw; of several certificates that of a server that
// runs on an old copy, for hosts meet that one too. Servers that serve another leaf than the Secret
// holds run on an old copy: up to 4.18 nothing reloads it
// (openshift/machine-config-operator:pkg/server/api.go).
func (m *MCS) served(ctx context.Context, w *facts.World, p *facts.Proof, kept []*x509.Certificate) (servedChain, error) {
	var out servedChain
	answers, err := w.List(ctx, evidence.MCSProbes, "")
	if err != nil {
		return out, miss(p, err, "servedBy", "stale")
	}
	for _, o := range answers {
		a, err := evidence.Decode[probe.MCSAnswer](o)
		if err != nil {
			return out, err
		}
		chain, err := ParseBundle([]byte(strings.Join(a.Chain, "\n")))
		if err != nil || slices.Contains(m.ServedBy, a.Target) {
			continue // the probe did not come as far as a certificate, or was asked for another pool
		}
		m.ServedBy = append(m.ServedBy, a.Target)
		if out.chain == nil {
			out = servedChain{chain, o.Loc}
		}
		if len(kept) > 0 && !chain[0].Equal(kept[0]) {
			if len(m.Stale) == 0 {
				out = servedChain{chain, o.Loc}
			}
			m.Stale = append(m.Stale, a.Target)
			p.Add(o.Loc, fmt.Sprintf("%s serves certificate %s, the Secret holds %s", a.Target, serial(chain[0]), serial(kept[0])), a.At, "stale")
		}
	}
	slices.Sort(m.ServedBy)
	slices.Sort(m.Stale)
	return out, nil
}

func serial(c *x509.Certificate) string { return c.SerialNumber.Text(16) }

func (m *MCS) leaf(c *x509.Certificate, loc evidence.Locator, p *facts.Proof) {
	m.Subject, m.Issuer, m.Authority = c.Subject.String(), c.Issuer.String(), c.Issuer.CommonName
	m.NotBefore, m.NotAfter, m.Names = c.NotBefore.UTC(), c.NotAfter.UTC(), Names(c)
	p.Add(loc, fmt.Sprintf("valid from %s to %s", m.NotBefore.Format(time.RFC3339), m.NotAfter.Format(time.RFC3339)), time.Time{}, "notBefore", "notAfter")
	p.Add(loc, "signed by "+m.Issuer, time.Time{}, "issuer", "authority", "trusted", "rootCAData")
	p.Add(loc, "is for "+strings.Join(m.Names, ", "), time.Time{}, "names", "uncovered")
}

// onPrem are the platforms whose pointer names the API VIP itself instead of
// api-int (openshift/machine-config-operator:pkg/operator/sync.go getIgnitionHost).
var onPrem = map[string]string{"BareMetal": "baremetal", "OpenStack": "openstack", "VSphere": "vsphere", "oVirt": "ovirt", "Nutanix": "nutanix"}

func (m *MCS) names(ctx context.Context, w *facts.World, leaf *x509.Certificate, p *facts.Proof) error {
	infra, ok, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err != nil {
		return miss(p, err, "asked", "uncovered")
	}
	if host := hostOf(evidence.String(infra.Content, "status", "apiServerInternalURI")); ok && host != "" {
		m.Asked = append(m.Asked, host)
	}
	if vip := firstVIP(infra); vip != "" {
		m.Asked = append(m.Asked, vip)
	}
	for _, host := range m.Asked {
		if !Covers(leaf, host) {
			m.Uncovered = append(m.Uncovered, host)
		}
	}
	if len(m.Uncovered) > 0 {
		p.Add(infra.Loc.At("status"), "hosts ask for "+strings.Join(m.Asked, " and "), time.Time{}, "asked", "uncovered")
	}
	return nil
}

func firstVIP(infra evidence.Object) string {
	status, _ := evidence.Field(infra.Content, "status", "platformStatus").(map[string]any)
	section := onPrem[evidence.String(status, "type")]
	if section == "" {
		return ""
	}
	if list, _ := evidence.Field(status, section, "apiServerInternalIPs").([]any); len(list) > 0 {
		s, _ := list[0].(string)
		return s
	}
	return evidence.String(status, section, "apiServerInternalIP")
}

// authorities compares the leaf with the authority that pointers are made with:
// the ConfigMap machine-config-server-ca where it exists (from 4.19, or after a
// regeneration), else kube-system/root-ca
// (openshift/machine-config-operator:pkg/operator/sync.go syncRenderConfig).
func (m *MCS) authorities(ctx context.Context, w *facts.World, chain []*x509.Certificate, p *facts.Proof) error {
	cc, ok, err := w.Get(ctx, evidence.ControllerConfigs, "", "machine-config-controller")
	if err == nil && ok {
		var list []*x509.Certificate
		if list, err = fromBase64(cc, evidence.String(cc.Content, "spec", "rootCAData")); err == nil {
			m.RootCAData = ChainSignedBy(chain, list)
			p.Add(cc.Loc.At("spec.rootCAData"), "authorities "+subjects(list), time.Time{}, "rootCAData")
		}
	} else if err == nil {
		err = &evidence.Unavailable{Need: evidence.Objects(evidence.ControllerConfigs, ""), Why: evidence.NotCollected, Detail: "there is no ControllerConfig"}
	}
	if err := miss(p, err, "rootCAData"); err != nil {
		return err
	}
	bundle, o, err := published(ctx, w)
	if err != nil {
		return miss(p, err, "published", "trusted")
	}
	m.Published = o.Namespace + "/" + o.Name
	m.Trusted = ChainSignedBy(chain, bundle)
	p.Add(o.Loc.At("data"), "authorities "+subjects(bundle), time.Time{}, "published", "trusted")
	return nil
}

// published returns the authorities that new pointers are made with.
func published(ctx context.Context, w *facts.World) ([]*x509.Certificate, evidence.Object, error) {
	for _, at := range []struct{ namespace, name, key string }{
		{mcoNamespace, mcsCA, "ca-bundle.crt"},
		{"kube-system", "root-ca", "ca.crt"},
	} {
		o, ok, err := w.Get(ctx, evidence.ConfigMaps, at.namespace, at.name)
		if err != nil {
			return nil, o, err
		}
		if !ok {
			continue
		}
		list, err := ParseBundle([]byte(evidence.String(o.Content, "data", at.key)))
		if err != nil {
			return nil, o, damaged(o, err)
		}
		return list, o, nil
	}
	return nil, evidence.Object{}, &evidence.Unavailable{Need: evidence.Objects(evidence.ConfigMaps, "kube-system"), Why: evidence.NotCollected,
		Detail: "neither " + mcoNamespace + "/" + mcsCA + " nor kube-system/root-ca is there"}
}

func subjects(list []*x509.Certificate) string {
	var names []string
	for _, c := range list {
		names = append(names, cmp.Or(c.Subject.CommonName, c.Subject.String()))
	}
	return strings.Join(names, ", ")
}

// miss marks fields unknown when err says that they could not be read, and
// returns err when it is a defect.
func miss(p *facts.Proof, err error, fields ...string) error {
	if err == nil {
		return nil
	}
	if _, ok := evidence.AsUnavailable(err); !ok {
		return err
	}
	for _, f := range fields {
		p.Miss(f, err)
	}
	return nil
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{MCSFact(), SignerFact()} }
