package repair

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const (
	bmcCredentials  = "correct-bmc-credentials"
	credentialFlags = "--bmc-user USER --bmc-password-file FILE"
	credentialsName = "/spec/bmc/credentialsName" // the field of a BareMetalHost that names its Secret
)

// Credentials are the user and password of a BMC. They go into the store and nowhere else.
type Credentials struct{ User, Password string }

// correctBMCCredentials writes the Secret of a host's BMC.
func correctBMCCredentials() contentRemedy {
	return contentRemedy{
		remedy: bmcCredentials,
		plan:   planCredentials,
		mayWrite: func(a Args) bool {
			return a.Resource == "secrets" && a.Namespace == openshift.MachineAPINamespace && a.Host != ""
		},
		reads: func(a Args) []readRule {
			return []readRule{{object: bareMetalHostRef(a.Host), fields: credentialReads()}}
		},
		belongs: secretOfHost,
		describe: func(s *Step, ref Ref) {
			s.Title = fmt.Sprintf("write user and password of the BMC into Secret %s; metal3 registers %s with them", ref.Name, s.Args.Host)
			s.RiskText = "with wrong values the BMC may lock the account after some attempts"
			s.OC = fmt.Sprintf("oc -n %s create secret generic %s --from-file=username=FILE --from-file=password=FILE "+
				"--dry-run=client -o yaml | oc apply -f -", ref.Namespace, ref.Name)
			s.Expect.Text = "metal3 has registered " + s.Args.Host + " with them"
		},
		effect: credentialsTried,
		rights: append(append(findHostRights(), access(bareMetalHostRef(""), "", "get")...),
			access(secretRef(openshift.MachineAPINamespace, ""), "", "get", "create", "patch", "delete")...),
		asks: credentialFlags,
	}
}

// credentialReads are the fields of a BareMetalHost that the credentials depend on.
func credentialReads() []string { return append(hostReads(), credentialsName, bmcAddress) }

func planCredentials(ctx context.Context, d *draft) error {
	for _, k := range d.remedies[bmcCredentials] {
		if d.ask.BMC == nil {
			d.leaveOut("the credentials of the BMC of %s are not in this plan: give them with "+credentialFlags, k.Subject.Name)
			continue
		}
		name, err := bareMetalHostOf(ctx, d.API, k.Subject.Name)
		if err != nil {
			return err
		}
		ref := bareMetalHostRef(name)
		host, err := d.API.Get(ctx, ref)
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		secret := stringAt(host, "spec", "bmc", "credentialsName")
		if secret == "" {
			d.leaveOut("the credentials are not in this plan: BareMetalHost %s names no Secret (spec.bmc.credentialsName)", name)
			continue
		}
		if others := d.alsoUse(ctx, name, secret); others != "" {
			d.note("Secret %s is also that of %s: the values change for them, too", secret, others)
		}
		digest, err := storeContent(d.Store, content{Type: "Opaque", Data: map[string]string{"username": d.ask.BMC.User, "password": d.ask.BMC.Password}})
		if err != nil {
			return err
		}
		rd, err := reading(ref, host, credentialReads()...)
		if err != nil {
			return err
		}
		d.add(Step{Action: PutContent, Reads: []Reading{rd}, While: []fault.Key{k}, Deadline: minutes(10),
			Args: Args{Remedy: bmcCredentials, Resource: "secrets", Namespace: openshift.MachineAPINamespace, Object: secret, Host: name, Content: digest}})
		return nil // one plan has one pair of values
	}
	return nil
}

// alsoUse names the other hosts that use a Secret.
func (d *draft) alsoUse(ctx context.Context, host, secret string) string {
	list, err := d.API.List(ctx, bareMetalHostRef(""))
	if err != nil {
		return "hosts that could not be listed"
	}
	var names []string
	for _, o := range list {
		if name := stringAt(o, "metadata", "name"); name != host && stringAt(o, "spec", "bmc", "credentialsName") == secret {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// secretOfHost refuses a Secret that is not the one of the BareMetalHost of the step's faults.
func secretOfHost(ctx context.Context, e env, s Step) error {
	for _, k := range s.While {
		name, err := bareMetalHostOf(ctx, e.api, k.Subject.Name)
		if err != nil {
			return refuse("it is not known whether %s belongs to %s: %v", s.Args.Object, k.Subject, err)
		}
		if name != s.Args.Host {
			return refuse("BareMetalHost %s is not that of %s, which is %s", s.Args.Host, k.Subject, name).instead("make a new plan")
		}
	}
	host, err := e.read(ctx, bareMetalHostRef(s.Args.Host))
	if err != nil {
		return err
	}
	if have := stringAt(host, "spec", "bmc", "credentialsName"); have != s.Args.Object {
		return refuse("BareMetalHost %s names the Secret %s, not %s", s.Args.Host, orNone(have), s.Args.Object).instead("make a new plan")
	}
	return nil
}

// credentialsTried waits until metal3 has tried the credentials of a Secret
// (openshift/baremetal-operator: apis/metal3.io/v1alpha1/baremetalhost_types.go CredentialsStatus).
func credentialsTried(ctx context.Context, e env, s Step, secret Object) (bool, string, error) {
	host, err := e.api.Get(ctx, bareMetalHostRef(s.Args.Host))
	if err != nil {
		return false, fmt.Sprintf("the host could not be read: %v", err), nil
	}
	want, have := stringAt(secret, "metadata", "resourceVersion"), stringAt(host, "status", "goodCredentials", "credentialsVersion")
	return have == want, "metal3 has not accepted the new credentials yet", nil
}
