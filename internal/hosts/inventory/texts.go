package inventory

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// Consoles selects what screens and serial lines of hosts showed.
var Consoles = evidence.TextQuery{Kind: evidence.Console}

// The signatures that say whose console it is and which pool it asked for.
const (
	sigConsole    = "hosts.console"
	sigConsoleURL = "hosts.console-url"
)

func (b *builder) consoles(ctx context.Context, w *facts.World, need evidence.Need) error {
	seen, err := w.Matches(ctx, need.Text, sigConsole)
	if err != nil {
		return err
	}
	urls, err := w.Matches(ctx, need.Text, sigConsoleURL)
	if err != nil {
		return err
	}
	for _, m := range slices.Concat(seen, urls) {
		if m.Text.Host == "" {
			continue
		}
		h := b.match(named(m.Text.Host), b.shortNamed(m.Text.Host))
		if h == nil && namedhost.IsBootstrap(m.Text.Host) {
			continue
		}
		if h == nil {
			h = b.add(m.Text.Host)
		}
		h.alias(m.Text.Host)
		h.Console = m.Text.Path
		if len(m.Groups) > 1 {
			h.Pool = Pool{Name: m.Groups[1], Standing: Proven, Excerpt: strings.TrimSpace(m.Line.Text), Loc: m.Line.Loc}
		}
	}
	return nil
}

// installHost is a host that install-config names.
type installHost struct {
	Name           string `json:"name"`
	Role           string `json:"role"`
	BootMACAddress string `json:"bootMACAddress"`
}

// installConfig is the part of install-config that names and counts hosts
// (openshift/installer:pkg/types/installconfig.go InstallConfig,
// pkg/types/baremetal/platform.go Host).
type installConfig struct {
	ControlPlane *struct {
		Replicas *int `json:"replicas"`
	} `json:"controlPlane"`
	Compute []struct {
		Name     string `json:"name"`
		Replicas *int   `json:"replicas"`
	} `json:"compute"`
	Platform struct {
		BareMetal *struct {
			Hosts []installHost `json:"hosts"`
		} `json:"baremetal"`
	} `json:"platform"`
}

// maxInstallConfig bounds what is parsed: real ones are a few KiB.
const maxInstallConfig = 1 << 20

// installConfig reads kube-system/cluster-config-v1, which the installer writes
// and is not updated: it counts the hosts of day one.
func (b *builder) installConfig(ctx context.Context, w *facts.World, need evidence.Need) error {
	o, ok, err := w.Get(ctx, need.Resource, need.Namespace, openshift.InstallConfigMap)
	if err != nil || !ok {
		return err
	}
	text := evidence.String(o.Content, "data", "install-config")
	if text == "" || len(text) > maxInstallConfig {
		return nil
	}
	var c installConfig
	if err := yamlin.Unmarshal([]byte(text), &c, 2*maxInstallConfig); err != nil {
		return &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: fmt.Sprintf("%s: install-config cannot be read: %v", o.Loc.Path, err)}
	}
	loc := o.Loc.At("data.install-config")
	if c.Platform.BareMetal != nil {
		for _, ih := range c.Platform.BareMetal.Hosts {
			b.installHost(ih)
		}
	}
	if c.ControlPlane != nil && c.ControlPlane.Replicas != nil {
		b.count("master", *c.ControlPlane.Replicas, loc)
	}
	for _, p := range c.Compute {
		if p.Replicas != nil {
			b.count(p.Name, *p.Replicas, loc)
		}
	}
	return nil
}

// count keeps how many hosts of a role an install-config asks for. With a Machine
// API the MachineSets say how many workers there are to be.
func (b *builder) count(role string, wanted int, loc evidence.Locator) {
	if slices.ContainsFunc(b.gaps, func(g Gap) bool { return g.Of == "" && g.Role == role }) {
		return // an install directory said it already
	}
	if role != "master" && role != "arbiter" && (b.sets || slices.ContainsFunc(b.list, func(h *Host) bool {
		return h.Machine != nil && h.Machine.API.Labels[openshift.MachineRoleLabel] == role
	})) {
		return
	}
	b.gaps = append(b.gaps, Gap{Role: role, Wanted: wanted, Loc: loc})
}

// installHost is a host of day one. The installer makes a BareMetalHost of each
// (openshift/installer:pkg/asset/machines/baremetal/hosts.go Hosts): where there
// are some and this one's is gone, somebody has taken the host away since.
func (b *builder) installHost(ih installHost) {
	h := b.match(b.hasMAC([]string{ih.BootMACAddress}), named(ih.Name), b.shortNamed(ih.Name))
	if h == nil && b.bmhsRead {
		return
	}
	if h == nil {
		h = b.add(ih.Name)
	}
	h.alias(ih.Name)
	h.mac(ih.BootMACAddress)
	if h.Role == "" {
		h.Role = ih.Role
	}
}

func (b *builder) claims(ctx context.Context, w *facts.World, need evidence.Need) error {
	list, err := w.List(ctx, need.Resource, need.Namespace)
	if err != nil {
		return err
	}
	for _, o := range list {
		if evidence.String(o.Content, "spec", "signerName") != certificatesv1.KubeAPIServerClientKubeletSignerName {
			continue
		}
		name, ok := RequestedNode(o)
		if !ok {
			continue
		}
		h := b.match(named(name), b.shortNamed(name))
		if h == nil {
			h = b.add(name)
			h.Expected = false
		}
		h.Claims = append(h.Claims, Claim{Name: o.Name, Created: o.Created(), Loc: o.Loc})
	}
	for _, h := range b.list {
		slices.SortStableFunc(h.Claims, func(x, y Claim) int { return x.Created.Compare(y.Created) })
	}
	return nil
}

// RequestedNode returns the node that a request's common name names, be it for
// the kubelet or for the node's network plugins, and false where it asks for
// something else or cannot be read.
func RequestedNode(csr evidence.Object) (string, bool) {
	raw, err := base64.StdEncoding.DecodeString(evidence.String(csr.Content, "spec", "request"))
	if err != nil {
		return "", false
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return "", false
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "", false
	}
	for _, prefix := range []string{openshift.NodeUserPrefix, openshift.OVNUserPrefix, openshift.MultusUserPrefix} {
		if name, ok := strings.CutPrefix(request.Subject.CommonName, prefix); ok {
			return name, name != ""
		}
	}
	return "", false
}

// Shows returns whether a text may be of the host: it is, or does not say whose it is.
func Shows(name string) func(evidence.Text) bool {
	return func(t evidence.Text) bool { return t.Host == "" || SameName(t.Host, name) }
}

// CutOff returns why a text that may be of the host was not read to its end, nil where
// all were, or if there is none. It is for facts in which the last line counts.
func CutOff(ctx context.Context, w *facts.World, q evidence.TextQuery, name string) error {
	err := w.Gap(ctx, q, Shows(name))
	if u, ok := evidence.AsUnavailable(err); ok && !u.Why.MayHideObjects() {
		return nil
	}
	return err
}

// ConsoleSeen reports whether a console of the host was given that shows its
// first boot.
func ConsoleSeen(ctx context.Context, w *facts.World, name string) (bool, error) {
	lines, err := w.Matches(ctx, Consoles, sigConsole)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(lines, func(m evidence.Match) bool { return SameName(m.Text.Host, name) }), nil
}
