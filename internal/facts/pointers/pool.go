package pointers

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/certs"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/inventory"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// Pool is the fact pool-pointers: the pointer configs in Secrets for hosts of one
// pool. The operator makes and renews <pool>-user-data-managed; <pool>-user-data is
// the installer's and no one's afterwards
// (openshift/machine-config-operator:manifests/userdata_secret.yaml, pkg/operator/sync.go).
type Pool struct {
	Secrets   facts.Field[[]string] `cel:"secrets"`   // that are there
	Unread    facts.Field[[]string] `cel:"unread"`    // those of them whose contents were not read
	Used      facts.Field[[]string] `cel:"used"`      // those that a MachineSet gives to its hosts
	Missing   facts.Field[[]string] `cel:"missing"`   // that a MachineSet names and that are not there
	Outdated  facts.Field[[]string] `cel:"outdated"`  // whose authority did not sign what the machine config server shows
	Uncovered facts.Field[[]string] `cel:"uncovered"` // whose address the server's certificate is not for
	Address   facts.Field[string]   `cel:"address"`   // of the first of these
	Authority facts.Field[string]   `cel:"authority"` // names of the authorities of the first outdated one
	InUse     facts.Field[bool]     `cel:"inUse"`     // a MachineSet uses one that is outdated or not covered
}

// pointers is a Pool while its Secrets are compared.
type pointers struct {
	Pool
	secrets, unread, used, missing, outdated, uncovered []string
	address, authority                                  string
	inUse                                               bool
}

// Fact is the fact pool-pointers.
func Fact() facts.Fact {
	return facts.Define("pool-pointers", fault.Pool, "the pointer configs in Secrets: their address and authority against the machine config server's certificate",
		append(certs.ServingNeeds(), evidence.Objects(evidence.Secrets, inventory.MachineAPI), evidence.Objects(evidence.MachineSets, inventory.MachineAPI)), read)
}

const (
	plain   = "-user-data"
	managed = "-user-data-managed"
)

func read(ctx context.Context, w *facts.World, s fault.Subject) (Pool, error) {
	var f pointers
	secrets, err := w.List(ctx, evidence.Secrets, inventory.MachineAPI)
	if err != nil {
		return Pool{}, err
	}
	setsErr := f.machineSets(ctx, w, s.Name)
	if _, ok := evidence.AsUnavailable(setsErr); setsErr != nil && !ok {
		return Pool{}, setsErr
	}
	serving, servingErr := certs.ReadServing(ctx, w)
	if _, ok := evidence.AsUnavailable(servingErr); servingErr != nil && !ok {
		return Pool{}, servingErr
	}
	var dark error // why the contents of one were not compared
	for _, name := range append([]string{s.Name + plain, s.Name + managed}, f.used...) {
		i := slices.IndexFunc(secrets, func(o evidence.Object) bool { return o.Name == name })
		switch {
		case slices.Contains(f.secrets, name) || slices.Contains(f.missing, name):
		case i >= 0:
			f.secrets = append(f.secrets, name)
			f.Secrets.Prove(evidence.Item{Locator: secrets[i].Loc, Excerpt: "Secret " + name + " exists", Time: secrets[i].Created()})
			if err := f.look(secrets[i], slices.Contains(f.used, name), serving, servingErr); err != nil {
				dark = err
			}
		case slices.Contains(f.used, name):
			f.missing = append(f.missing, name)
			facts.Prove(evidence.Dangling(evidence.Secrets, inventory.MachineAPI, "no Secret "+name), &f.Missing, &f.Secrets)
		}
	}
	if len(f.secrets)+len(f.missing) == 0 {
		return Pool{}, facts.NotApplicable("no pointer config of pool %s is kept in the cluster", s.Name)
	}
	return f.fields(setsErr, dark), nil
}

// fields returns what was found. What a pointer that was not compared leaves open is
// unknown: what the others show is shown all the same.
func (f *pointers) fields(setsErr, dark error) Pool {
	p := f.Pool
	p.Secrets.Set(f.secrets)
	p.Unread.Set(f.unread)
	p.Used.Set(f.used)
	p.Missing.Set(f.missing)
	p.Outdated.Set(f.outdated)
	p.Authority.Set(f.authority)
	p.Uncovered.Set(f.uncovered)
	p.Address.Set(f.address)
	p.InUse.Set(f.inUse)
	if setsErr != nil {
		_ = facts.Miss(setsErr, &p.Used, &p.Missing, &p.InUse)
	}
	if dark != nil && len(f.outdated) == 0 {
		_ = facts.Miss(dark, &p.Outdated, &p.Authority)
	}
	if dark != nil && len(f.uncovered) == 0 {
		_ = facts.Miss(dark, &p.Uncovered, &p.Address)
	}
	if dark != nil && !f.inUse {
		_ = facts.Miss(dark, &p.InUse)
	}
	return p
}

// machineSets notes the Secrets that the pool's MachineSets name. A MachineSet is
// of the pool whose role its Machines have.
func (f *pointers) machineSets(ctx context.Context, w *facts.World, pool string) error {
	sets, err := w.List(ctx, evidence.MachineSets, inventory.MachineAPI)
	if err != nil {
		return err
	}
	for _, o := range sets {
		labels, _ := evidence.Field(o.Content, "spec", "template", "metadata", "labels").(map[string]any)
		if role, _ := labels["machine.openshift.io/cluster-api-machine-role"].(string); role != pool {
			continue
		}
		name := userDataOf(o)
		if name == "" || slices.Contains(f.used, name) {
			continue
		}
		f.used = append(f.used, name)
		facts.Prove(o.Shows("spec.template.spec.providerSpec.value", "MachineSet "+o.Name+" gives its hosts Secret "+name, time.Time{}), &f.Used, &f.Missing, &f.InUse)
	}
	return nil
}

// userDataOf is the Secret that a MachineSet names: "userData" for bare metal, else
// "userDataSecret" (openshift/api:machine/v1beta1/types_vsphereprovider.go,
// openshift/cluster-api-provider-baremetal:pkg/apis/baremetal/v1alpha1).
func userDataOf(set evidence.Object) string {
	at := []string{"spec", "template", "spec", "providerSpec", "value"}
	for _, field := range []string{"userData", "userDataSecret"} {
		if name := evidence.String(set.Content, append(slices.Clone(at), field, "name")...); name != "" {
			return name
		}
	}
	return ""
}

// look compares one pointer with what the server shows, or will show after a restart.
// The error says why it could not. A pointer that leads elsewhere, or names no
// authority, is not judged.
func (f *pointers) look(o evidence.Object, used bool, serving certs.Serving, servingErr error) error {
	text := evidence.String(o.Content, "data", "userData")
	if text == "" || sanitize.Redacted(text) {
		f.unread = append(f.unread, o.Name)
		return unread(o.Name)
	}
	c, err := Parse(text)
	if err != nil {
		return &evidence.Unavailable{Need: evidence.Objects(evidence.Secrets, inventory.MachineAPI), Why: evidence.Damaged, Detail: o.Name + ": " + err.Error()}
	}
	if servingErr != nil {
		return servingErr
	}
	shows := func(text string) evidence.Item { return o.Shows("data.userData", o.Name+text, o.Created()) }
	if c.Pool == "" {
		f.Secrets.Prove(shows(" leads to no machine config server"))
		return nil
	}
	leaf := serving.Chain[0]
	fits := certs.ChainSignedBy(serving.Chain, c.Authorities) || certs.ChainSignedBy(serving.Kept, c.Authorities)
	if names := strings.Join(c.Names, ", "); len(c.Authorities) > 0 && !fits {
		if len(f.outdated) == 0 {
			f.authority = names
		}
		f.outdated, f.inUse = append(f.outdated, o.Name), f.inUse || used
		facts.Prove(shows(" trusts "+names), &f.Outdated, &f.Authority, &f.InUse)
		f.Outdated.Prove(evidence.Item{Locator: serving.Loc, Excerpt: "served: " + leaf.Subject.String() + ", signed by " + leaf.Issuer.String()})
	} else {
		f.Outdated.Prove(shows(" trusts " + names + ", which signed what is served"))
	}
	covers, known := certs.Covers(leaf, c.Host)
	if !known {
		return evidence.Replaced(evidence.Objects(evidence.Secrets, inventory.MachineAPI), "the address in "+o.Name)
	}
	if !covers {
		if len(f.uncovered) == 0 {
			f.address = c.Host
		}
		f.uncovered, f.inUse = append(f.uncovered, o.Name), f.inUse || used
		facts.Prove(shows(" leads to "+c.Host), &f.Uncovered, &f.Address, &f.InUse)
		f.Uncovered.Prove(evidence.Item{Locator: serving.Loc, Excerpt: "what is served is for " + strings.Join(certs.Names(leaf), ", ")})
	} else {
		f.Uncovered.Prove(shows(" leads to " + c.Host + ", which the served certificate is for"))
	}
	return nil
}

func unread(name string) error {
	return &evidence.Unavailable{Need: evidence.Objects(evidence.Secrets, inventory.MachineAPI), Why: evidence.NotAsked,
		Detail: "the contents of Secret " + name + " were not read",
		Supply: evidence.Supply{Kind: evidence.SupplySecrets, Namespace: inventory.MachineAPI}}
}
