package stages

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// machine is what a host told of itself, where somebody looked on it.
type machine struct {
	identity    onhost.Identity
	identityLoc evidence.Locator
	config      onhost.Config // zero where it could not be read
	configLoc   evidence.Locator
}

// readOnHost reads what rollcall-host collected on the host, nil if it did not run there.
func readOnHost(ctx context.Context, w *facts.World, h inventory.Host) (*machine, error) {
	if h.OnHost == "" {
		return nil, nil
	}
	var m machine
	o, ok, err := w.Get(ctx, evidence.HostIdentities, "", h.OnHost)
	if err != nil || !ok {
		return nil, tolerate(err)
	}
	if m.identity, err = evidence.Decode[onhost.Identity](o); err != nil {
		return nil, tolerate(err)
	}
	m.identityLoc = o.Loc
	o, ok, err = w.Get(ctx, evidence.HostConfigs, "", h.OnHost)
	if err != nil || !ok {
		return &m, tolerate(err)
	}
	m.configLoc = o.Loc
	m.config, err = evidence.Decode[onhost.Config](o)
	return &m, tolerate(err)
}

// tolerate passes on defects only: what could not be read leaves its stages unknown.
func tolerate(err error) error {
	if _, ok := evidence.AsUnavailable(err); ok {
		return nil
	}
	return err
}

// stage is what the machine itself proves of a stage of its start; false where it
// says nothing.
func (m *machine) stage(s fault.Stage) (diagnosis.StageState, bool) {
	if m == nil {
		return diagnosis.StageState{}, false
	}
	file := func(f onhost.File) []evidence.Item {
		loc := m.configLoc
		loc.Path = f.Path
		return []evidence.Item{{Locator: loc, Excerpt: "the file is there", Time: f.Modified}}
	}
	c := m.config
	switch {
	case (s == fault.Powered || s == fault.Imaged) && m.identity.BootID != "":
		return passed(m.identity.At, evidence.Item{Locator: m.identityLoc, Excerpt: "somebody looked on the running machine", Time: m.identity.At}), true
	case s == fault.Powered && m.identity.NameFrom != "":
		return passed(m.identity.At, evidence.Item{
			Locator: m.identityLoc,
			Excerpt: "what the machine shows was collected while it ran",
			Time:    m.identity.At,
		}), true
	case s == fault.IgnitionFetched && c.Served.Exists:
		return passed(c.Served.Modified, file(c.Served.File)...), true
	case s == fault.IgnitionFetched && c.Encapsulated.Exists:
		return passed(c.Encapsulated.Modified, file(c.Encapsulated)...), true
	case s == fault.FirstBoot && c.Encapsulated.Exists:
		return waiting(c.Encapsulated.Modified, "the unit of the first boot still has its input", file(c.Encapsulated)...), true
	case s == fault.FirstBoot && c.EncapsulatedBak.Exists:
		return passed(c.EncapsulatedBak.Modified, file(c.EncapsulatedBak)...), true
	case s == fault.ClientCert && m.identity.Client.Leaf != nil:
		return m.certificate()
	}
	return diagnosis.StageState{}, false
}

// certificate is what the kubelet's certificate on the disk proves.
func (m *machine) certificate() (diagnosis.StageState, bool) {
	p, now := m.identity.Client, m.identity.At
	loc := m.identityLoc
	loc.Path = p.Path
	proof := evidence.Item{Locator: loc, Excerpt: "certificate of " + p.Leaf.CommonName, Time: p.Leaf.NotBefore}
	switch {
	case now.After(p.Leaf.NotAfter):
		return failed(p.Leaf.NotAfter, "the certificate on its disk has ended", proof), true
	case p.KeyFits && !now.Before(p.Leaf.NotBefore):
		return passed(p.Leaf.NotBefore, proof), true
	}
	return diagnosis.StageState{}, false
}
