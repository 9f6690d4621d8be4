package pointers

import (
	"context"
	"crypto/x509"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/certs"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// pool is the fact pool-pointers: the pointer configs in Secrets for hosts of one
// pool. The operator makes and renews <pool>-user-data-managed; <pool>-user-data is
// made by the installer and not updated afterwards
// (openshift/machine-config-operator:manifests/userdata_secret.yaml, pkg/operator/sync.go).
type pool struct {
	Missing   facts.Field[[]string] `cel:"missing"`   // that a MachineSet names and that are not there
	Outdated  facts.Field[[]string] `cel:"outdated"`  // whose CA did not sign what the machine config server shows
	Uncovered facts.Field[[]string] `cel:"uncovered"` // whose address the server's certificate is not for
	Address   facts.Field[string]   `cel:"address"`   // of the first of these
	Authority facts.Field[string]   `cel:"authority"` // names of the CAs of the first outdated one
	Refusing  facts.Field[[]string] `cel:"refusing"`  // outdated or not covered, and given to the hosts of a MachineSet that has some
	Sets      facts.Field[[]string] `cel:"sets"`      // these MachineSets
	Field     facts.Field[string]   `cel:"field"`     // of a MachineSet, that names the first of Refusing, else of Missing: "userData" or "userDataSecret"
	Why       facts.Field[string]   `cel:"why"`       // what is wrong with the first of Refusing
}

// pointers is a Pool while its Secrets are compared.
type pointers struct {
	pool
	secrets, used, missing, outdated, uncovered []string
	address, authority                          string

	refusing, sets []string
	field, why     string
	givers         map[string][]secretUser // by Secret
}

// secretUser is a MachineSet that gives a Secret to its hosts, in one of its fields.
type secretUser struct {
	set, field string
	hosts      bool // it has some
}

// fact is the fact pool-pointers.
func fact() facts.Fact {
	return facts.Define("pool-pointers", fault.Pool,
		"the pointer configs in Secrets: their address and CA against the machine config server's certificate",
		append(certs.ServingNeeds(), evidence.Objects(evidence.Secrets, openshift.MachineAPINamespace),
			evidence.Objects(evidence.MachineSets, openshift.MachineAPINamespace)),
		read)
}

const (
	plain   = "-user-data"
	managed = "-user-data-managed"
)

func read(ctx context.Context, w *facts.World, s fault.Subject) (pool, error) {
	f := pointers{givers: make(map[string][]secretUser)}
	secrets, err := w.List(ctx, evidence.Secrets, openshift.MachineAPINamespace)
	if err != nil {
		return pool{}, err
	}
	setsErr := f.machineSets(ctx, w, s.Name)
	if _, ok := evidence.AsUnavailable(setsErr); setsErr != nil && !ok {
		return pool{}, setsErr
	}
	serving, servingErr := certs.ReadServing(ctx, w)
	if _, ok := evidence.AsUnavailable(servingErr); servingErr != nil && !ok {
		return pool{}, servingErr
	}
	var dark error // why the contents of one were not compared
	for _, name := range append([]string{s.Name + plain, s.Name + managed}, f.used...) {
		i := slices.IndexFunc(secrets, func(o evidence.Object) bool { return o.Name == name })
		switch {
		case slices.Contains(f.secrets, name) || slices.Contains(f.missing, name):
		case i >= 0:
			f.secrets = append(f.secrets, name)
			if err := f.compare(secrets[i], serving, servingErr); err != nil {
				dark = err
			}
		case slices.Contains(f.used, name):
			f.missing = append(f.missing, name)
			facts.Prove(evidence.Dangling(evidence.Secrets, openshift.MachineAPINamespace, "no Secret "+name), &f.Missing, &f.Field)
		}
	}
	if len(f.secrets)+len(f.missing) == 0 {
		return pool{}, facts.NotApplicable("no pointer config of pool %s is kept in the cluster", s.Name)
	}
	return f.fields(setsErr, dark), nil
}

// fields returns what was found. What a pointer that was not compared leaves open is
// unknown: what the others show is shown anyway.
func (f *pointers) fields(setsErr, dark error) pool {
	p := f.pool
	p.Missing.Set(f.missing)
	p.Outdated.Set(f.outdated)
	p.Authority.Set(f.authority)
	p.Uncovered.Set(f.uncovered)
	p.Address.Set(f.address)
	p.Refusing.Set(f.refusing)
	p.Sets.Set(f.sets)
	p.Field.Set(f.nameField())
	p.Why.Set(f.why)
	if setsErr != nil {
		_ = facts.Miss(setsErr, &p.Missing, &p.Refusing, &p.Sets, &p.Field, &p.Why)
	}
	if dark != nil && len(f.outdated) == 0 {
		_ = facts.Miss(dark, &p.Outdated, &p.Authority)
	}
	if dark != nil && len(f.uncovered) == 0 {
		_ = facts.Miss(dark, &p.Uncovered, &p.Address)
	}
	if dark != nil && len(f.refusing) == 0 {
		_ = facts.Miss(dark, &p.Refusing, &p.Sets, &p.Why)
	}
	return p
}

// nameField is the field with which MachineSets here name what does not fit, else what is missing.
func (f *pointers) nameField() string {
	if f.field == "" && len(f.missing) > 0 {
		return f.givers[f.missing[0]][0].field
	}
	return f.field
}

// machineSets notes the Secrets that the pool's MachineSets name. A MachineSet is
// of the pool whose role its Machines have.
func (f *pointers) machineSets(ctx context.Context, w *facts.World, pool string) error {
	sets, err := w.List(ctx, evidence.MachineSets, openshift.MachineAPINamespace)
	if err != nil {
		return err
	}
	for _, o := range sets {
		labels, _ := evidence.Field(o.Content, "spec", "template", "metadata", "labels").(map[string]any)
		if role, _ := labels[openshift.MachineRoleLabel].(string); role != pool {
			continue
		}
		name, field := userDataOf(o)
		if name == "" {
			continue
		}
		hosts := evidence.Field(o.Content, "spec", "replicas") == nil || evidence.Int(o.Content, "spec", "replicas") > 0 // the API's default is 1
		f.givers[name] = append(f.givers[name], secretUser{o.Name, field, hosts})
		if slices.Contains(f.used, name) {
			continue
		}
		f.used = append(f.used, name)
		facts.Prove(o.Shows("spec.template.spec.providerSpec.value", "MachineSet "+o.Name+" gives its hosts Secret "+name, time.Time{}), &f.Missing,
			&f.Refusing, &f.Sets, &f.Field, &f.Why)
	}
	return nil
}

// userDataOf is the Secret that a MachineSet names: "userData" for bare metal, else
// "userDataSecret" (openshift/api:machine/v1beta1/types_vsphereprovider.go,
// openshift/cluster-api-provider-baremetal:pkg/apis/baremetal/v1alpha1).
func userDataOf(set evidence.Object) (name, field string) {
	at := []string{"spec", "template", "spec", "providerSpec", "value"}
	for _, field := range []string{"userData", "userDataSecret"} {
		if name := evidence.String(set.Content, append(slices.Clone(at), field, "name")...); name != "" {
			return name, field
		}
	}
	return "", ""
}

// refuse notes that hosts with this pointer refuse the server, where a MachineSet gives it to hosts.
func (f *pointers) refuse(secret, why string, shows ...evidence.Item) {
	givers := slices.DeleteFunc(slices.Clone(f.givers[secret]), func(g secretUser) bool { return !g.hosts })
	if len(givers) == 0 {
		return
	}
	if len(f.refusing) == 0 {
		f.field, f.why = givers[0].field, why
	}
	if !slices.Contains(f.refusing, secret) {
		f.refusing = append(f.refusing, secret)
		for _, g := range givers {
			f.sets = append(f.sets, g.set)
		}
	}
	for _, item := range shows {
		facts.Prove(item, &f.Refusing, &f.Sets, &f.Field, &f.Why)
	}
}

// compare compares one pointer with what the server shows, or will show after a restart.
// The error says why it could not. A pointer that leads elsewhere, or names no
// authority, is not judged.
func (f *pointers) compare(o evidence.Object, serving certs.Serving, servingErr error) error {
	text := evidence.String(o.Content, "data", "userData")
	if text == "" || sanitize.Redacted(text) {
		return unread(o.Name)
	}
	c, err := parse(text)
	if err != nil {
		return &evidence.Unavailable{Need: evidence.Objects(evidence.Secrets, openshift.MachineAPINamespace), Why: evidence.Damaged, Detail: o.Name +
			": " + err.Error()}
	}
	if servingErr != nil {
		return servingErr
	}
	shows := func(text string) evidence.Item { return o.Shows("data.userData", o.Name+text, o.Created()) }
	if c.Pool == "" {
		return nil
	}
	leaf := serving.Chain[0]
	fits := certs.ChainSignedBy(serving.Chain, c.Authorities) || certs.ChainSignedBy(serving.Kept, c.Authorities)
	if names := strings.Join(c.Names, ", "); len(c.Authorities) > 0 && !fits {
		if len(f.outdated) == 0 {
			f.authority = names
		}
		f.outdated = append(f.outdated, o.Name)
		trusts, served := shows(" trusts "+names),
			evidence.Item{Locator: serving.Loc, Excerpt: "served: " + leaf.Subject.String() + ", signed by " + leaf.Issuer.String()}
		facts.Prove(trusts, &f.Outdated, &f.Authority)
		f.Outdated.Prove(served)
		f.refuse(o.Name, "it trusts "+names+sameName(c.Names, leaf)+", which did not sign what the machine config server shows", trusts, served)
	} else {
		facts.Prove(shows(" trusts "+names+", which signed what is served"), &f.Outdated, &f.Refusing)
	}
	covers, known := certs.Covers(leaf, c.Host)
	if !known {
		return obfuscation.Unavailable(evidence.Objects(evidence.Secrets, openshift.MachineAPINamespace), "the address in "+o.Name)
	}
	if !covers {
		if len(f.uncovered) == 0 {
			f.address = c.Host
		}
		f.uncovered = append(f.uncovered, o.Name)
		leads, served := shows(" leads to "+c.Host),
			evidence.Item{Locator: serving.Loc, Excerpt: "what is served is for " + strings.Join(certs.Names(leaf), ", ")}
		facts.Prove(leads, &f.Uncovered, &f.Address)
		f.Uncovered.Prove(served)
		f.refuse(o.Name, "it leads to "+c.Host+", which the machine config server's certificate is not for", leads, served)
	} else {
		facts.Prove(shows(" leads to "+c.Host+", which the served certificate is for"), &f.Uncovered, &f.Refusing)
	}
	return nil
}

// sameName says that a name tells nothing here: each installation has a root-ca of its own.
func sameName(names []string, leaf *x509.Certificate) string {
	if slices.Contains(names, leaf.Issuer.CommonName) {
		return " (" + leaf.Issuer.CommonName + " with another key)"
	}
	return ""
}

func unread(name string) error {
	return &evidence.Unavailable{Need: evidence.Objects(evidence.Secrets, openshift.MachineAPINamespace), Why: evidence.NotAsked,
		Detail: "the contents of Secret " + name + " were not read",
		Supply: evidence.Supply{Kind: evidence.SupplySecrets, Namespace: openshift.MachineAPINamespace}}
}
