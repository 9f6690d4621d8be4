package certs

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// mcs is the certificate of the machine config server, which a booting host's
// Ignition verifies with the CA in its pointer config. That pointer lies in
// user-data Secrets, which are not read: whether a given host's pointer has the
// right authority cannot be told from here.
type mcs struct {
	Issuer     facts.Field[string]    `cel:"issuer"`
	Authority  facts.Field[string]    `cel:"authority"` // the issuer's common name, which Ignition prints of a CA
	NotBefore  facts.Field[time.Time] `cel:"notBefore"`
	NotAfter   facts.Field[time.Time] `cel:"notAfter"`
	Uncovered  facts.Field[[]string]  `cel:"uncovered"`  // those of asked that the certificate is not for
	Trusted    facts.Field[bool]      `cel:"trusted"`    // the published CA signed it
	RootCAData facts.Field[bool]      `cel:"rootCAData"` // ControllerConfig.spec.rootCAData signed it
	ServedBy   facts.Field[[]string]  `cel:"servedBy"`   // the probed servers
	Stale      facts.Field[[]string]  `cel:"stale"`      // servers that serve another certificate than the Secret holds
}

// mcsFact is the fact mcs-certificate.
func mcsFact() facts.Fact {
	return facts.Define("mcs-certificate", fault.Cluster, "the machine config server's certificate: names, validity, who signed it",
		[]evidence.Need{
			evidence.Objects(evidence.Secrets, openshift.MachineConfigNamespace),
			evidence.Objects(evidence.MCSProbes, ""),
			evidence.Objects(evidence.Infrastructures, ""),
			evidence.Objects(evidence.ConfigMaps, openshift.MachineConfigNamespace),
			evidence.Objects(evidence.ConfigMaps, openshift.SystemNamespace),
			evidence.Objects(evidence.ControllerConfigs, ""),
		}, readMCS)
}

func readMCS(ctx context.Context, w *facts.World, _ fault.Subject) (mcs, error) {
	var m mcs
	kept, err := m.secret(ctx, w)
	if err != nil {
		return m, err
	}
	served, err := m.served(ctx, w, kept.chain)
	if err != nil {
		return m, err
	}
	shown := kept
	if len(served.chain) > 0 { // what hosts meet; the Secret is what they will meet after a restart
		shown = served
	}
	if len(shown.chain) == 0 {
		m.missLeaf(kept)
		facts.Complete(&m)
		return m, nil
	}
	m.leaf(shown)
	if err := facts.Miss(m.askedNames(ctx, w, shown.chain[0]), &m.Uncovered); err != nil {
		return m, err
	}
	if err := m.authorities(ctx, w, shown.chain); err != nil {
		return m, err
	}
	facts.Complete(&m)
	return m, nil
}

// missLeaf marks what only the certificate itself tells. The Secret's annotations may
// have its validity.
func (m *mcs) missLeaf(kept shownChain) {
	_ = facts.Miss(kept.why, &m.Issuer, &m.Authority, &m.Uncovered, &m.Trusted, &m.RootCAData)
	if kept.validity.ok {
		item := kept.validity.item
		m.NotBefore.Set(kept.validity.before, item)
		m.NotAfter.Set(kept.validity.after, item)
		return
	}
	_ = facts.Miss(kept.why, &m.NotBefore, &m.NotAfter)
}

var errNoSecret = &evidence.Unavailable{
	Need: evidence.Objects(evidence.Secrets, openshift.MachineConfigNamespace), Why: evidence.NotCollected,
	Detail: "there is no Secret " + openshift.MCSCertificate + ", and no server showed a certificate",
}

var notRead = &evidence.Unavailable{
	Need: evidence.Objects(evidence.Secrets, openshift.MachineConfigNamespace), Why: evidence.NotAsked,
	Detail: "neither the Secret " + openshift.MCSCertificate + " nor what the servers serve could be read",
	Supply: evidence.Supply{Kind: evidence.SupplySecrets, Namespace: openshift.MachineConfigNamespace},
}

// shownChain is a certificate with its chain, and where it was read; else why it could
// not be read, and the validity that the Secret's annotations have.
type shownChain struct {
	chain    []*x509.Certificate
	loc      evidence.Locator
	why      error
	validity validity
}

type validity struct {
	ok            bool
	before, after time.Time
	item          evidence.Item
}

// secret reads the certificate of the Secret.
func (m *mcs) secret(ctx context.Context, w *facts.World) (shownChain, error) {
	o, ok, err := w.Get(ctx, evidence.Secrets, openshift.MachineConfigNamespace, openshift.MCSCertificate)
	if err != nil {
		return shownChain{why: err}, facts.Miss(err, &m.Stale)
	}
	if !ok {
		return shownChain{why: errNoSecret}, nil
	}
	text := evidence.String(o.Content, "data", "tls.crt")
	if text == "" || sanitize.Redacted(text) {
		m.Stale.Miss(notRead)
		return shownChain{loc: o.Loc, why: notRead, validity: noted(o)}, nil
	}
	chain, err := fromBase64(o, text)
	return shownChain{chain: chain, loc: o.Loc.At("data.tls.crt"), why: err}, facts.Miss(err, &m.Stale)
}

// noted returns what the rotation noted on the Secret; it is shown even where
// the Secret's contents are not read (from 4.19,
// openshift/library-go:pkg/operator/certrotation/annotations.go).
func noted(o evidence.Object) validity {
	before, err1 := time.Parse(time.RFC3339, o.Annotation(openshift.CertificateNotBeforeAnnotation))
	after, err2 := time.Parse(time.RFC3339, o.Annotation(openshift.CertificateNotAfterAnnotation))
	v := validity{ok: err1 == nil && err2 == nil, before: before.UTC(), after: after.UTC()}
	v.item = o.Shows("metadata.annotations", valid(v.before, v.after), time.Time{})
	return v
}

func valid(before, after time.Time) string {
	return fmt.Sprintf("valid from %s to %s", excerpt.Time(before), excerpt.Time(after))
}

// served reads what probes saw; of several certificates that of a server that
// runs on an old copy, because hosts meet that one too. Servers that serve another leaf
// than the Secret holds run on an old copy: up to 4.18 nothing reloads it
// (openshift/machine-config-operator:pkg/server/api.go).
func (m *mcs) served(ctx context.Context, w *facts.World, kept []*x509.Certificate) (shownChain, error) {
	var out shownChain
	answers, err := w.List(ctx, evidence.MCSProbes, "")
	if err != nil {
		return out, facts.Miss(err, &m.ServedBy, &m.Stale)
	}
	var by, stale []string
	for _, o := range answers {
		a, err := evidence.Decode[probe.MCSAnswer](o)
		if err != nil {
			return out, err
		}
		chain, err := ParseBundle([]byte(strings.Join(a.Chain, "\n")))
		if err != nil || slices.Contains(by, a.Target) {
			continue // the probe did not come as far as a certificate, or was asked for another pool
		}
		by = append(by, a.Target)
		m.ServedBy.Prove(evidence.Item{Locator: o.Loc, Excerpt: fmt.Sprintf("%s serves certificate %s", a.Target, serial(chain[0])), Time: a.At})
		if out.chain == nil {
			out = shownChain{chain: chain, loc: o.Loc}
		}
		if len(kept) > 0 && !chain[0].Equal(kept[0]) {
			if len(stale) == 0 {
				out = shownChain{chain: chain, loc: o.Loc}
			}
			stale = append(stale, a.Target)
			m.Stale.Prove(evidence.Item{
				Locator: o.Loc,
				Excerpt: fmt.Sprintf("%s serves certificate %s, the Secret holds %s", a.Target, serial(chain[0]), serial(kept[0])),
				Time:    a.At,
			})
		}
	}
	slices.Sort(by)
	slices.Sort(stale)
	m.ServedBy.Set(by)
	if len(kept) > 0 {
		m.Stale.Set(stale)
	}
	return out, nil
}

func serial(c *x509.Certificate) string { return c.SerialNumber.Text(16) }

func (m *mcs) leaf(shown shownChain) {
	c := shown.chain[0]
	validity := evidence.Item{Locator: shown.loc, Excerpt: valid(c.NotBefore, c.NotAfter)}
	signed := evidence.Item{Locator: shown.loc, Excerpt: "signed by " + c.Issuer.String()}
	names := evidence.Item{Locator: shown.loc, Excerpt: "is for " + strings.Join(Names(c), ", ")}
	m.Issuer.Set(c.Issuer.String(), signed)
	m.Authority.Set(c.Issuer.CommonName, signed)
	m.NotBefore.Set(c.NotBefore.UTC(), validity)
	m.NotAfter.Set(c.NotAfter.UTC(), validity)
	m.Uncovered.Prove(names)
	facts.Prove(signed, &m.Trusted, &m.RootCAData)
}

// onPrem are the platforms whose pointer names the API VIP itself instead of
// api-int (openshift/machine-config-operator:pkg/operator/sync.go getIgnitionHost,
// openshift/installer:pkg/asset/ignition/machine/node.go pointerIgnitionConfig).
var onPrem = map[string]string{"BareMetal": "baremetal", "OpenStack": "openstack", "VSphere": "vsphere", "oVirt": "ovirt", "Nutanix": "nutanix"}

func (m *mcs) askedNames(ctx context.Context, w *facts.World, leaf *x509.Certificate) error {
	infra, ok, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err != nil {
		return err
	}
	var asked, uncovered []string
	vip, only := firstVIP(infra)
	if host := hostOf(evidence.String(infra.Content, "status", "apiServerInternalURI")); ok && host != "" && !only {
		asked = append(asked, host)
	}
	if vip != "" {
		asked = append(asked, vip)
	}
	var hidden error
	for _, host := range asked {
		switch covers, known := Covers(leaf, host); {
		case !known:
			hidden = obfuscation.Unavailable(evidence.Objects(evidence.Infrastructures, ""), "the name "+host)
		case !covers:
			uncovered = append(uncovered, host)
		}
	}
	item := infra.Shows("status", "hosts ask for "+strings.Join(asked, " and "), time.Time{})
	m.Uncovered.Set(uncovered, item)
	if hidden != nil && len(uncovered) == 0 {
		m.Uncovered.Miss(hidden)
	}
	return nil
}

// firstVIP returns the address that pointers lead to, if there is one. only reports that
// none leads to api-int then: on Nutanix the installer's do not, and those that the
// operator makes do.
func firstVIP(infra evidence.Object) (vip string, only bool) {
	status, _ := evidence.Field(infra.Content, "status", "platformStatus").(map[string]any)
	platform := evidence.String(status, "type")
	section := onPrem[platform]
	if section == "" {
		return "", false
	}
	if list, _ := evidence.Field(status, section, "apiServerInternalIPs").([]any); len(list) > 0 {
		vip, _ = list[0].(string)
	} else {
		vip = evidence.String(status, section, "apiServerInternalIP")
	}
	return vip, vip != "" && platform != "Nutanix"
}

// authorities compares the leaf with the CA that pointers are made with:
// the ConfigMap machine-config-server-ca where it exists (from 4.19, or after a
// regeneration), else kube-system/root-ca
// (openshift/machine-config-operator:pkg/operator/sync.go syncRenderConfig).
func (m *mcs) authorities(ctx context.Context, w *facts.World, chain []*x509.Certificate) error {
	if err := facts.Miss(m.rootCAData(ctx, w, chain), &m.RootCAData); err != nil {
		return err
	}
	bundle, o, err := published(ctx, w)
	if err != nil {
		return facts.Miss(err, &m.Trusted)
	}
	item := o.Shows("data", "CAs "+subjects(bundle), time.Time{})
	m.Trusted.Set(ChainSignedBy(chain, bundle), item)
	return nil
}

func (m *mcs) rootCAData(ctx context.Context, w *facts.World, chain []*x509.Certificate) error {
	cc, ok, err := w.Get(ctx, evidence.ControllerConfigs, "", openshift.MachineConfigController)
	if err != nil {
		return err
	}
	if !ok {
		return &evidence.Unavailable{Need: evidence.Objects(evidence.ControllerConfigs, ""), Why: evidence.NotCollected, Detail: "there is no ControllerConfig"}
	}
	list, err := fromBase64(cc, evidence.String(cc.Content, "spec", "rootCAData"))
	if err != nil {
		return err
	}
	m.RootCAData.Set(ChainSignedBy(chain, list), cc.Shows("spec.rootCAData", "CAs "+subjects(list), time.Time{}))
	return nil
}

// published returns the CAs that new pointers are made with.
func published(ctx context.Context, w *facts.World) ([]*x509.Certificate, evidence.Object, error) {
	for _, at := range []struct{ namespace, name, key string }{
		{openshift.MachineConfigNamespace, openshift.MCSCA, "ca-bundle.crt"},
		{openshift.SystemNamespace, openshift.RootCAMap, "ca.crt"},
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
	return nil, evidence.Object{}, &evidence.Unavailable{Need: evidence.Objects(evidence.ConfigMaps, openshift.SystemNamespace), Why: evidence.NotCollected,
		Detail: "neither " + openshift.MachineConfigNamespace + "/" + openshift.MCSCA + " nor kube-system/root-ca is there"}
}

func subjects(list []*x509.Certificate) string {
	var names []string
	for _, c := range list {
		names = append(names, cmp.Or(c.Subject.CommonName, c.Subject.String()))
	}
	return strings.Join(names, ", ")
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{mcsFact(), SignerFact(), inputsFact()} }
