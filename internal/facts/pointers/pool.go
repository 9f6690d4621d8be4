package pointers

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/certs"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// Pool is the fact pool-pointers: the pointer configs in Secrets for hosts of one
// pool. The operator makes and renews <pool>-user-data-managed; <pool>-user-data is
// the installer's and nobody's afterwards
// (openshift/machine-config-operator:manifests/userdata_secret.yaml, pkg/operator/sync.go).
type Pool struct {
	Secrets   []string `cel:"secrets"`   // that are there
	Unread    []string `cel:"unread"`    // those of them whose contents were not read
	Used      []string `cel:"used"`      // those that a MachineSet gives to its hosts
	Missing   []string `cel:"missing"`   // that a MachineSet names and that are not there
	Outdated  []string `cel:"outdated"`  // whose authority did not sign what the machine config server shows
	Uncovered []string `cel:"uncovered"` // whose address the server's certificate is not for
	Address   string   `cel:"address"`   // of the first of these
	Authority string   `cel:"authority"` // names of the authorities of the first outdated one
	InUse     bool     `cel:"inUse"`     // a MachineSet uses one that is outdated or not covered
}

// Fact is the fact pool-pointers.
func Fact() facts.Fact {
	return facts.DefinePlain("pool-pointers", fault.Pool, "the pointer configs in Secrets: their address and authority against the machine config server's certificate",
		append(certs.ServingNeeds(), evidence.Objects(evidence.Secrets, hosts.MachineAPI), evidence.Objects(evidence.MachineSets, hosts.MachineAPI)), read)
}

const (
	plain   = "-user-data"
	managed = "-user-data-managed"
)

func read(ctx context.Context, w *facts.World, s fault.Subject) (Pool, facts.Proof, error) {
	var f Pool
	var p facts.Proof
	secrets, err := w.List(ctx, evidence.Secrets, hosts.MachineAPI)
	if err != nil {
		return f, p, err
	}
	named, err := f.machineSets(ctx, w, s.Name, &p)
	if err != nil {
		return f, p, err
	}
	serving, servingErr := certs.ReadServing(ctx, w)
	if _, ok := evidence.AsUnavailable(servingErr); servingErr != nil && !ok {
		return f, p, servingErr
	}
	var dark error // why the contents of one were not compared
	for _, name := range append([]string{s.Name + plain, s.Name + managed}, named...) {
		i := slices.IndexFunc(secrets, func(o evidence.Object) bool { return o.Name == name })
		switch {
		case slices.Contains(f.Secrets, name) || slices.Contains(f.Missing, name):
		case i >= 0:
			f.Secrets = append(f.Secrets, name)
			if err := f.look(secrets[i], slices.Contains(named, name), serving, servingErr, &p); err != nil {
				dark = err
			}
		case slices.Contains(named, name):
			f.Missing = append(f.Missing, name)
			p.Add(evidence.Locator{Path: "secrets -n " + hosts.MachineAPI}, "no Secret "+name, time.Time{}, "missing", "secrets")
		}
	}
	if len(f.Secrets)+len(f.Missing) == 0 {
		return f, p, facts.NotApplicable("no pointer config of pool %s is kept in the cluster", s.Name)
	}
	f.unknown(dark, &p)
	return f, p, nil
}

// unknown marks what a pointer that was not compared leaves open: what the others
// show is shown all the same.
func (f *Pool) unknown(dark error, p *facts.Proof) {
	if dark == nil {
		return
	}
	if len(f.Outdated) == 0 {
		_ = miss(p, dark, "outdated", "authority")
	}
	if len(f.Uncovered) == 0 {
		_ = miss(p, dark, "uncovered", "address")
	}
	if !f.InUse {
		_ = miss(p, dark, "inUse")
	}
}

// machineSets returns the Secrets that the pool's MachineSets name. A MachineSet is
// of the pool whose role its Machines have.
func (f *Pool) machineSets(ctx context.Context, w *facts.World, pool string, p *facts.Proof) ([]string, error) {
	sets, err := w.List(ctx, evidence.MachineSets, hosts.MachineAPI)
	if err != nil {
		return nil, miss(p, err, "used", "missing", "inUse")
	}
	var named []string
	for _, o := range sets {
		labels, _ := evidence.Field(o.Content, "spec", "template", "metadata", "labels").(map[string]any)
		if role, _ := labels["machine.openshift.io/cluster-api-machine-role"].(string); role != pool {
			continue
		}
		name := userDataOf(o)
		if name == "" || slices.Contains(named, name) {
			continue
		}
		named = append(named, name)
		f.Used = append(f.Used, name)
		p.Add(o.Loc.At("spec.template.spec.providerSpec.value"), "MachineSet "+o.Name+" gives its hosts Secret "+name, time.Time{}, "used", "missing", "inUse")
	}
	return named, nil
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

// contents are the fields that need the contents of a Secret.
var contents = []string{"outdated", "uncovered", "address", "authority", "inUse"}

// look compares one pointer with what the server shows, or will show after a restart. The error says why it could
// not. A pointer that leads elsewhere, or names no authority, is not judged.
func (f *Pool) look(o evidence.Object, used bool, serving certs.Serving, servingErr error, p *facts.Proof) error {
	text := evidence.String(o.Content, "data", "userData")
	if text == "" || sanitize.Redacted(text) {
		f.Unread = append(f.Unread, o.Name)
		return unread(o.Name)
	}
	c, err := Parse(text)
	if err != nil {
		return &evidence.Unavailable{Need: evidence.Objects(evidence.Secrets, hosts.MachineAPI), Why: evidence.Damaged, Detail: o.Name + ": " + err.Error()}
	}
	if servingErr != nil {
		return servingErr
	}
	loc := o.Loc.At("data.userData")
	if c.Pool == "" {
		p.Add(loc, o.Name+" leads to no machine config server", o.Created(), "secrets")
		return nil
	}
	leaf := serving.Chain[0]
	fits := certs.ChainSignedBy(serving.Chain, c.Authorities) || certs.ChainSignedBy(serving.Kept, c.Authorities)
	if names := strings.Join(c.Names, ", "); len(c.Authorities) > 0 && !fits {
		if len(f.Outdated) == 0 {
			f.Authority = names
		}
		f.Outdated, f.InUse = append(f.Outdated, o.Name), f.InUse || used
		p.Add(loc, o.Name+" trusts "+names, o.Created(), contents...)
		p.Add(serving.Loc, "served: "+leaf.Subject.String()+", signed by "+leaf.Issuer.String(), time.Time{}, "outdated")
	} else {
		p.Add(loc, o.Name+" trusts "+names+", which signed what is served", o.Created(), "outdated")
	}
	if !certs.Covers(leaf, c.Host) {
		if len(f.Uncovered) == 0 {
			f.Address = c.Host
		}
		f.Uncovered, f.InUse = append(f.Uncovered, o.Name), f.InUse || used
		p.Add(loc, o.Name+" leads to "+c.Host, o.Created(), contents...)
		p.Add(serving.Loc, "what is served is for "+strings.Join(certs.Names(leaf), ", "), time.Time{}, "uncovered")
	}
	return nil
}

func unread(name string) error {
	return &evidence.Unavailable{Need: evidence.Objects(evidence.Secrets, hosts.MachineAPI), Why: evidence.NotAsked,
		Detail: "the contents of Secret " + name + " were not read",
		Supply: "--read-secrets " + hosts.MachineAPI + " (of a pointer config its address and authorities are kept)"}
}
