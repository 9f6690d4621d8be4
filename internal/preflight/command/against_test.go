package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
)

// TestForNewHostsOpen: a host that does not join for an unknown reason leaves it open whether
// new ones will, and the verdict names it.
func TestForNewHostsOpen(t *testing.T) {
	const why = "host guest1: ignition-fetched is failed"
	d := &diagnosis.Diagnosis{
		Verdict: diagnosis.Verdict{Class: diagnosis.Undetermined, Reason: why},
		Hosts:   []diagnosis.HostState{{Name: "guest1", Expected: true, Stage: fault.IgnitionFetched, State: diagnosis.StageFailed}},
	}
	got := forNewHosts(d, &fault.Catalog{}).Verdict
	if got.Class != diagnosis.Undetermined || !strings.HasSuffix(got.Reason, why) {
		t.Errorf("%+v, want undetermined and %q", got, why)
	}
	d.Hosts = []diagnosis.HostState{{Name: "m0", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed}}
	d.Verdict = diagnosis.Verdict{Class: diagnosis.Healthy}
	if got := forNewHosts(d, &fault.Catalog{}).Verdict; got.Class != diagnosis.Healthy {
		t.Errorf("%+v, want healthy", got)
	}
}

// TestAskMore: what a cluster can still be asked comes first, with the call that asks it.
func TestAskMore(t *testing.T) {
	probe := diagnosis.Gap{Supply: []evidence.Supply{{Kind: evidence.SupplyProbe}}}
	journals := diagnosis.Gap{Supply: []evidence.Supply{{Kind: evidence.SupplyJournals}}}
	a := &app{App: &cmdutil.App{Name: "rollcall"}, source: session.Options{Hosted: "clusters/a.b"}}
	d := &diagnosis.Diagnosis{}
	d.Groups.Gaps = []diagnosis.Gap{journals, probe}
	askMore(d, a.source)
	var kinds []evidence.SupplyKind
	for _, g := range d.Groups.Gaps {
		kinds = append(kinds, g.Supply[0].Kind)
	}
	if want := []evidence.SupplyKind{evidence.SupplyProbe, evidence.SupplySecrets, evidence.SupplyJournals}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	if got := d.Groups.Gaps[1].Supply[0].Namespace; got != "clusters-a-b" {
		t.Errorf("Secrets of %s, want those of the control plane", got)
	}
	a.source.ReadSecrets = []string{"clusters-a-b"}
	if got, want := a.againstCall("prod"), "rollcall preflight --against prod --hosted clusters/a.b --read-secrets clusters-a-b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.Groups.Gaps = []diagnosis.Gap{journals}
	if askMore(d, a.source); len(d.Groups.Gaps) != 1 {
		t.Errorf("%+v: the Secrets were read", d.Groups.Gaps)
	}
}
