package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// TouchSecret writes the plan's annotation to the Secret of a BareMetalHost.
const TouchSecret ActionName = "touch-secret"

// touchSecret gives the Secret of a BareMetalHost another version, so that metal3 writes the whole
// address into Ironic again and tries at once. Without that, a host that is enrolled keeps its
// old path: metal3 compares only the host and port of the address
// (metal3-io/baremetal-operator: pkg/provisioner/ironic/register.go bmcAddressMatches,
// Register; internal/controller/metal3.io/baremetalhost_controller.go registerHost; seen with
// v0.12.2 in the lab).
func touchSecret() action {
	return action{
		name: TouchSecret,
		plan: planTouch,
		check: func(s Step) error {
			return need(map[string]string{"object": s.Args.Object, "host": s.Args.Host})
		},
		fits: func(p *Plan, s Step) error {
			if !slices.ContainsFunc(p.Steps, func(o Step) bool { return writesAddress(o) && o.Args.Object == s.Args.Host }) {
				return errors.New("no step of the plan writes the address that metal3 is to take")
			}
			return nil
		},
		reads: func(a Args) []readRule {
			return []readRule{{object: bareMetalHostRef(a.Host), fields: []string{credentialsName}}}
		},
		describe: func(s *Step) {
			ref := secretRef(openshift.MachineAPINamespace, s.Args.Object)
			s.Subject, s.Risk, s.Proof = ref.String(), fault.RiskPower, ProvedInLab
			s.Title = fmt.Sprintf("annotate Secret %s, so that metal3 registers %s with the whole address now", s.Args.Object, s.Args.Host)
			s.RiskText = "metal3 manages the machine behind the address"
			s.OC = fmt.Sprintf("oc -n %s annotate secret %s %s=DATE --overwrite", openshift.MachineAPINamespace, s.Args.Object, planAnnotation)
			s.PreImage, s.Inverse = "the annotation as it was", "write the annotation back"
			s.Expect.Text = "metal3 has registered " + s.Args.Host + " with it"
		},
		prepare: func(ctx context.Context, e env, s Step) (*act, string, error) {
			if err := secretOfHost(ctx, e, s); err != nil {
				return nil, "", err
			}
			ref := secretRef(openshift.MachineAPINamespace, s.Args.Object)
			o, err := e.read(ctx, ref)
			if err != nil {
				return nil, "", err
			}
			w, err := e.patch(ref, "", o, map[string]any{planMark: e.plan.ID}, "the annotation as it was")
			return w, "", err
		},
		seen: func(ctx context.Context, e env, s Step) (bool, string, error) {
			ref := secretRef(openshift.MachineAPINamespace, s.Args.Object)
			o, err := e.api.Get(ctx, ref)
			if err != nil {
				return false, fmt.Sprintf("%s could not be read: %v", ref, err), nil
			}
			ok, _, err := credentialsTried(ctx, e, s, o)
			return ok, "metal3 has not registered " + s.Args.Host + " with the address yet", err
		},
		dependants: func(context.Context, env, Step, Write) (string, error) { return "", nil },
	}
}

// writesAddress reports whether the step writes the address of a BMC.
func writesAddress(s Step) bool { return s.Action == ChangeFields && s.Args.Remedy == bmcAddressRemedy }

// planTouch plans the annotation after each new address.
func planTouch(ctx context.Context, d *draft) error {
	for _, s := range d.plan.Steps {
		if !writesAddress(s) {
			continue
		}
		ref := bareMetalHostRef(s.Args.Object)
		host, err := d.API.Get(ctx, ref)
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		secret := stringAt(host, "spec", "bmc", "credentialsName")
		if secret == "" {
			d.leaveOut("the registration of %s is not in this plan: the host has no Secret (spec.bmc.credentialsName)", s.Args.Object)
			continue
		}
		switch _, err := d.API.Get(ctx, secretRef(openshift.MachineAPINamespace, secret)); {
		case apierrors.IsNotFound(err):
			d.leaveOut("the registration of %s is not in this plan: Secret %s does not exist; make a plan for %s, too", s.Args.Object, secret, bmcCredentials)
			continue
		case err != nil:
			return fmt.Errorf("read Secret %s: %w", secret, err)
		}
		rd, err := reading(ref, host, credentialsName)
		if err != nil {
			return err
		}
		// It is for no fault of its own: metal3 clears the error while it tries again.
		d.add(Step{Action: TouchSecret, Reads: []Reading{rd}, Deadline: minutes(10), Args: Args{Object: secret, Host: s.Args.Object}})
	}
	return nil
}
