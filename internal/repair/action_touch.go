package repair

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// touchSecret writes the plan's annotation to the Secret of a BareMetalHost. Its version is then
// another one, and metal3 writes the whole address into Ironic again and tries at once. Without
// that, a host that is enrolled keeps its old path: metal3 compares only the host and port of the
// address (metal3-io/baremetal-operator: pkg/provisioner/ironic/register.go bmcAddressMatches,
// Register; internal/controller/metal3.io/baremetalhost_controller.go registerHost; seen with
// v0.12.2 in the lab).
func touchSecret() action {
	return action{
		check: func(s Step) error {
			return need(map[string]string{"object": s.Args.Object, "host": s.Args.Host})
		},
		prepare: func(ctx context.Context, r *run, s Step) (*act, string, error) {
			if err := r.belongs(ctx, s); err != nil {
				return nil, "", err
			}
			ref := secretRef(bareMetalNamespace, s.Args.Object)
			o, err := r.read(ctx, ref)
			if err != nil {
				return nil, "", err
			}
			w, err := r.patchAct(ref, "", o, map[string]any{planMark: r.plan.ID}, "the annotation as it was")
			return w, "", err
		},
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			ref := secretRef(bareMetalNamespace, s.Args.Object)
			o, err := r.API.Get(ctx, ref)
			if err != nil {
				return false, fmt.Sprintf("%s could not be read: %v", ref, err), nil
			}
			ok, _, err := r.tried(ctx, s, o)
			return ok, "metal3 has not registered " + s.Args.Host + " with the address yet", err
		},
		dependants: func(context.Context, *run, Step, Write) (string, error) { return "", nil },
	}
}

func describeTouch(s *Step) {
	ref := secretRef(bareMetalNamespace, s.Args.Object)
	s.Subject, s.Risk, s.Proof = ref.String(), fault.RiskPower, ProvedInLab
	s.Title = fmt.Sprintf("annotate Secret %s, so that metal3 registers %s with the whole address now", s.Args.Object, s.Args.Host)
	s.RiskText = "metal3 manages the machine behind the address"
	s.OC = fmt.Sprintf("oc -n %s annotate secret %s %s=DATE --overwrite", bareMetalNamespace, s.Args.Object, planAnnotation)
	s.PreImage, s.Inverse = "the annotation as it was", "write the annotation back"
	s.Expect.Text = "metal3 has registered " + s.Args.Host + " with it"
}

// touch plans the annotation after a new address.
func (b *building) touch(ctx context.Context) error {
	for _, s := range b.plan.Steps {
		if s.Action != ChangeFields || s.Args.Remedy != bmcAddressRemedy {
			continue
		}
		ref := bareMetalHostRef(s.Args.Object)
		host, err := b.API.Get(ctx, ref)
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		secret := stringAt(host, "spec", "bmc", "credentialsName")
		if secret == "" {
			b.open("the registration of %s is not in this plan: the host has no Secret (spec.bmc.credentialsName)", s.Args.Object)
			continue
		}
		switch _, err := b.API.Get(ctx, secretRef(bareMetalNamespace, secret)); {
		case apierrors.IsNotFound(err):
			b.open("the registration of %s is not in this plan: Secret %s does not exist; make a plan for %s, too", s.Args.Object, secret, bmcCredentials)
			continue
		case err != nil:
			return fmt.Errorf("read Secret %s: %w", secret, err)
		}
		rd, err := reading(ref, host, secretName)
		if err != nil {
			return err
		}
		// It is for no fault of its own: metal3 clears the error while it tries again.
		b.add(Step{Action: TouchSecret, Reads: []Reading{rd}, Deadline: minutes(10), Args: Args{Object: secret, Host: s.Args.Object}})
	}
	return nil
}

// secretName is the field of a BareMetalHost that names its Secret.
const secretName = "/spec/bmc/credentialsName"
