package certs

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// inputs are the objects of the installation that operators continue reading: the root
// authority, the install-config, and the address of the internal API.
type inputs struct {
	Published   facts.Field[string] `cel:"published"`   // the ConfigMap with the CA that pointers are made with
	RootDiffers facts.Field[bool]   `cel:"rootDiffers"` // ControllerConfig.spec.rootCAData has none of its certificates
	ConfigGone  facts.Field[bool]   `cel:"configGone"`  // there is no kube-system/cluster-config-v1
	// NamespaceSince is when the oldest ConfigMap of kube-system was created: the installer
	// makes its own minutes after it.
	NamespaceSince facts.Field[time.Time] `cel:"namespaceSince"`
	ConfigBroken   facts.Field[string]    `cel:"configBroken"` // why its install-config cannot be used, "" where it can
	Internal       facts.Field[string]    `cel:"internal"`     // the host of Infrastructure's apiServerInternalURI
	Expected       facts.Field[string]    `cel:"expected"`     // the host that it has by the install-config
	WrongAddress   facts.Field[bool]      `cel:"wrongAddress"` // these two differ
}

// inputsFact is the fact install-inputs.
func inputsFact() facts.Fact {
	return facts.Define("install-inputs", fault.Cluster,
		"the objects of the installation that operators go on reading: root-ca, cluster-config-v1, apiServerInternalURI",
		[]evidence.Need{
			evidence.Objects(evidence.ConfigMaps, openshift.SystemNamespace), evidence.Objects(evidence.ConfigMaps, openshift.MachineConfigNamespace),
			evidence.Objects(evidence.ControllerConfigs, ""), evidence.Objects(evidence.Infrastructures, ""),
		}, readInputs)
}

func readInputs(ctx context.Context, w *facts.World, _ fault.Subject) (inputs, error) {
	var in inputs
	if err := facts.Miss(in.root(ctx, w), &in.Published, &in.RootDiffers); err != nil {
		return in, err
	}
	domain, item, err := in.config(ctx, w)
	if err := facts.Miss(err, &in.ConfigGone, &in.NamespaceSince, &in.ConfigBroken); err != nil {
		return in, err
	}
	if err := facts.Miss(in.address(ctx, w, domain, item), &in.Internal, &in.Expected, &in.WrongAddress); err != nil {
		return in, err
	}
	return in, nil
}

// root compares the published CA with the copy in the ControllerConfig. The
// operator writes the copy at each sync (openshift/machine-config-operator:
// pkg/operator/sync.go syncRenderConfig; before 4.19 with the API server's serving
// CAs in one bundle, so it may have more).
func (in *inputs) root(ctx context.Context, w *facts.World) error {
	bundle, o, err := published(ctx, w)
	if err != nil {
		return err
	}
	cc, ok, err := w.Get(ctx, evidence.ControllerConfigs, "", openshift.MachineConfigController)
	if err == nil && !ok {
		err = &evidence.Unavailable{Need: evidence.Objects(evidence.ControllerConfigs, ""), Why: evidence.NotCollected, Detail: "there is no ControllerConfig"}
	}
	if err != nil {
		return err
	}
	have, err := fromBase64(cc, evidence.String(cc.Content, "spec", "rootCAData"))
	if err != nil {
		return err
	}
	shared := slices.ContainsFunc(bundle, func(c *x509.Certificate) bool { return slices.ContainsFunc(have, c.Equal) })
	item := o.Shows("data", "CAs "+subjects(bundle), time.Time{})
	in.Published.Set(o.Namespace+"/"+o.Name, item)
	in.RootDiffers.Set(!shared, item, cc.Shows("spec.rootCAData", fmt.Sprintf("CAs %s, one of them is the same: %t", subjects(have),
		shared), time.Time{}))
	return nil
}

// alwaysPublished are ConfigMaps of kube-system that every cluster has: where one of them was
// listed the namespace was read, and not a single object of it
// (kubernetes/kubernetes:pkg/controlplane/controller/clusterauthenticationtrust,
// pkg/controller/certificates/rootcacertpublisher).
var alwaysPublished = []string{"extension-apiserver-authentication", "kube-root-ca.crt", openshift.RootCAMap}

// config reads kube-system/cluster-config-v1 and returns the cluster's domain.
func (in *inputs) config(ctx context.Context, w *facts.World) (domain string, item evidence.Item, err error) {
	list, err := w.List(ctx, evidence.ConfigMaps, openshift.SystemNamespace)
	if err != nil {
		return "", item, err
	}
	for _, o := range list {
		facts.Earliest(&in.NamespaceSince, o.Created(), o.Shows("metadata.creationTimestamp", "ConfigMap "+o.Name+" exists", o.Created()))
	}
	i := slices.IndexFunc(list, func(o evidence.Object) bool { return o.Name == openshift.InstallConfigMap })
	if i < 0 {
		if !slices.ContainsFunc(list, func(o evidence.Object) bool { return slices.Contains(alwaysPublished, o.Name) }) {
			return "", item, &evidence.Unavailable{
				Need:   evidence.Objects(evidence.ConfigMaps, openshift.SystemNamespace),
				Why:    evidence.NotCollected,
				Supply: evidence.Supply{Kind: evidence.SupplyGet, Resource: "cm", Namespace: openshift.SystemNamespace},
			}
		}
		item = evidence.Listed(evidence.ConfigMaps, openshift.SystemNamespace, fmt.Sprintf("no cluster-config-v1 among the %d ConfigMaps", len(list)))
		in.ConfigGone.Set(true, item)
		in.ConfigBroken.Set("", item)
		return "", item, nil
	}
	o := list[i]
	in.ConfigGone.Set(false, o.Shows("metadata.name", "ConfigMap cluster-config-v1 exists", o.Created()))
	domain, broken := domainOf(evidence.String(o.Content, "data", "install-config"))
	text := "install-config of " + domain
	if broken != "" {
		text = broken
	}
	item = o.Shows("data.install-config", text, time.Time{})
	in.ConfigBroken.Set(broken, item)
	return domain, item, nil
}

// domainOf returns the cluster's domain by an install-config, and why operators cannot use
// it (openshift/cluster-etcd-operator:pkg/operator/configobservation/controlplanereplicascount
// readDesiredControlPlaneReplicas).
func domainOf(text string) (domain, broken string) {
	const most = 1 << 20
	if text == "" {
		return "", "it has no install-config"
	}
	var c struct {
		BaseDomain string `json:"baseDomain"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
		ControlPlane struct {
			Replicas *int `json:"replicas"`
		} `json:"controlPlane"`
	}
	if err := yamlin.Unmarshal([]byte(text), &c, 2*most); err != nil {
		return "", "its install-config is not YAML"
	}
	if c.BaseDomain == "" || c.Metadata.Name == "" {
		return "", "its install-config has no name or no base domain"
	}
	domain = c.Metadata.Name + "." + strings.TrimSuffix(c.BaseDomain, ".")
	if c.ControlPlane.Replicas == nil {
		return domain, "its install-config has no controlPlane.replicas"
	}
	return domain, ""
}

// isAnotherName reports whether a host is a name other than the expected one. An address
// is no name: platforms without a DNS of their own may have one there.
func isAnotherName(host, expected string) bool {
	_, err := netip.ParseAddr(host)
	return err != nil && !strings.EqualFold(strings.TrimSuffix(host, "."), expected)
}

// address compares the address of the internal API with the one that the installer gives
// it (openshift/installer:pkg/asset/manifests/utils.go getInternalAPIServerURL).
func (in *inputs) address(ctx context.Context, w *facts.World, domain string, item evidence.Item) error {
	need := evidence.Objects(evidence.Infrastructures, "")
	infra, ok, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err == nil && !ok {
		err = &evidence.Unavailable{Need: need, Why: evidence.NotCollected}
	}
	if err != nil {
		return err
	}
	uri := evidence.String(infra.Content, "status", "apiServerInternalURI")
	shown := infra.Shows("status.apiServerInternalURI", "apiServerInternalURI: "+uri, time.Time{})
	u, err := url.Parse(uri)
	if err != nil || u.Hostname() == "" {
		return &evidence.Unavailable{
			Need:   need,
			Why:    evidence.NotCollected,
			Detail: "Infrastructure has no apiServerInternalURI",
			Supply: evidence.Supply{Kind: evidence.SupplyGet, Resource: "infrastructure", Name: "cluster"},
		}
	}
	in.Internal.Set(u.Hostname(), shown)
	switch {
	case domain == "":
		err = &evidence.Unavailable{
			Need:   evidence.Objects(evidence.ConfigMaps, openshift.SystemNamespace),
			Why:    evidence.NotCollected,
			Detail: "no install-config names the cluster's domain",
		}
	case obfuscation.Found(uri) || obfuscation.Found(domain):
		err = obfuscation.Unavailable(need, "the cluster's domain")
	default:
		in.Expected.Set("api-int."+domain, item)
		in.WrongAddress.Set(isAnotherName(u.Hostname(), "api-int."+domain), shown, item)
		return nil
	}
	return facts.Miss(err, &in.Expected, &in.WrongAddress)
}
