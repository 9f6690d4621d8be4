package repair

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Credentials are the user and password of a BMC. They go into the store and nowhere else.
type Credentials struct{ User, Password string }

// credentialReads are the fields of a BareMetalHost that the credentials depend on.
func credentialReads() []string {
	return append(hostReads(), "/spec/bmc/credentialsName", "/spec/bmc/address")
}

// credentials plans the Secret of a host's BMC.
func (b *building) credentials(ctx context.Context) error {
	for _, k := range b.remedies[bmcCredentials] {
		if b.ask.BMC == nil {
			b.open("the credentials of the BMC of %s are not in this plan: give them with "+credentialFlags, k.Subject.Name)
			continue
		}
		name, err := bareMetalHostOf(ctx, b.API, k.Subject.Name)
		if err != nil {
			return err
		}
		ref := bareMetalHostRef(name)
		host, err := b.API.Get(ctx, ref)
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		secret := stringAt(host, "spec", "bmc", "credentialsName")
		if secret == "" {
			b.open("the credentials are not in this plan: BareMetalHost %s names no Secret (spec.bmc.credentialsName)", name)
			continue
		}
		if others := b.shares(ctx, name, secret); others != "" {
			b.plan.Notes = append(b.plan.Notes, fmt.Sprintf("Secret %s is also that of %s: the values change for them, too", secret, others))
		}
		digest, err := putContent(b.Store, content{Type: "Opaque", Data: map[string]string{"username": b.ask.BMC.User, "password": b.ask.BMC.Password}})
		if err != nil {
			return err
		}
		rd, err := reading(ref, host, credentialReads()...)
		if err != nil {
			return err
		}
		b.add(Step{Action: PutContent, Reads: []Reading{rd}, While: []fault.Key{k}, Deadline: minutes(10),
			Args: Args{Remedy: bmcCredentials, Resource: "secrets", Namespace: bareMetalNamespace, Object: secret, Host: name, Content: digest}})
		return nil // one plan has one pair of values
	}
	return nil
}

// shares names the other hosts that use a Secret.
func (b *building) shares(ctx context.Context, host, secret string) string {
	list, err := b.API.List(ctx, bareMetalHostRef(""))
	if err != nil {
		return "hosts that could not be listed"
	}
	names := ""
	for _, o := range list {
		if name := stringAt(o, "metadata", "name"); name != host && stringAt(o, "spec", "bmc", "credentialsName") == secret {
			if names != "" {
				names += ", "
			}
			names += name
		}
	}
	return names
}
