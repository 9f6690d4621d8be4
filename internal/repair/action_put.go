package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Remedies that write the content of Secrets and ConfigMaps.
const (
	bmcCredentials  = "correct-bmc-credentials"
	credentialFlags = "--bmc-user USER --bmc-password-file FILE"
	mcsCertificate  = "regenerate-mcs-certificate"

	bmcAddressRemedy = "correct-bmc-address" // and its Secret is touched
)

// place is where a remedy writes content.
type place struct{ resource, namespace, name string }

// places are the only objects that put-content writes for the certificate of the machine
// config server: the leaf, the authority and its bundle
// (openshift/oc: pkg/cli/admin/ocpcertificates/regeneratemco/rotatecerts.go), and the pointers
// that no operator writes (updatesecrets.go).
func places() []place {
	return []place{
		{"secrets", MirrorNamespace, mcsLeaf}, {"secrets", MirrorNamespace, mcsAuthority}, {"configmaps", MirrorNamespace, mcsAuthority},
		{"secrets", bareMetalNamespace, "worker-user-data"}, {"secrets", bareMetalNamespace, "master-user-data"},
	}
}

func putRef(s Step) Ref {
	return Ref{Version: "v1", Resource: s.Args.Resource, Namespace: s.Args.Namespace, Name: s.Args.Object}
}

// checkPlace refuses every object but those of the remedy.
func checkPlace(s Step) error {
	at := place{s.Args.Resource, s.Args.Namespace, s.Args.Object}
	switch s.Args.Remedy {
	case bmcCredentials:
		if at.resource == "secrets" && at.namespace == bareMetalNamespace && s.Args.Host != "" {
			return nil
		}
	case mcsCertificate:
		if slices.Contains(places(), at) {
			return nil
		}
	}
	return fmt.Errorf("args: %s does not write %s", s.Args.Remedy, putRef(s))
}

// putContentAction creates an object, or writes some keys of its data. The values come from
// the store and are in no plan, journal or message. Nothing is ever deleted for it.
func putContentAction() action {
	return action{
		check: func(s Step) error {
			return errors.Join(checkPlace(s), need(map[string]string{"content": s.Args.Content, "object": s.Args.Object}))
		},
		prepare: preparePut,
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			c, err := r.content(s)
			if err != nil {
				return false, "", err
			}
			ref := putRef(s)
			o, err := r.API.Get(ctx, ref)
			if err != nil {
				return false, fmt.Sprintf("%s could not be read: %v", ref, err), nil
			}
			if keys := c.differs(ref, o); len(keys) > 0 {
				return false, fmt.Sprintf("%s of %s is another value", strings.Join(keys, ", "), ref), nil
			}
			if s.Args.Remedy == bmcCredentials {
				return r.tried(ctx, s, o)
			}
			return true, "", nil
		},
		dependants: func(ctx context.Context, r *run, s Step, w Write) (string, error) {
			absent, err := digestFields(nil, nil)
			if err != nil {
				return "", err
			}
			if s.Args.Remedy == mcsCertificate && w.Before == absent {
				return fmt.Sprintf("there was no %s before; without it no machine config server that restarts comes up again", putRef(s)), nil
			}
			c, err := r.content(s)
			if err != nil {
				return "", err
			}
			ref := putRef(s)
			o, err := r.API.Get(ctx, ref)
			if err != nil {
				return "", fmt.Errorf("read %s: %w", ref, err)
			}
			if keys := c.differs(ref, o); len(keys) > 0 {
				return fmt.Sprintf("%s of %s was changed since", strings.Join(keys, ", "), ref), nil
			}
			return "", nil
		},
	}
}

func preparePut(ctx context.Context, r *run, s Step) (*act, string, error) {
	if err := r.belongs(ctx, s); err != nil {
		return nil, "", err
	}
	c, err := r.content(s)
	if err != nil {
		return nil, "", err
	}
	ref := putRef(s)
	set := c.fields(ref.Resource)
	set[planMark] = r.plan.ID
	o, err := r.API.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		return r.createPut(ref, c, set)
	case err != nil:
		return nil, "", refuse("%s could not be read: %v", ref, err)
	case len(c.differs(ref, o)) == 0:
		return nil, "it has this content already", nil
	}
	w, err := r.patchAct(ref, "", o, set, "the values as they were (kept pre-image)")
	if err != nil {
		return nil, "", err
	}
	if w.preImage, err = salted(w.preImage); err != nil {
		return nil, "", err
	}
	return w, "", w.recognizedBy(o, set, planMark)
}

func (r *run) createPut(ref Ref, c content, set map[string]any) (*act, string, error) {
	fields := slices.Sorted(maps.Keys(set))
	diff, err := diffText(ref, nil, fields, set)
	if err != nil {
		return nil, "", err
	}
	object := c.object(ref, r.plan.ID)
	w := &act{
		Write:    Write{Target: ref, Fields: fields, Inverse: "delete it, if it is still the one that was created"},
		preImage: []byte("absent"), diff: diff,
		do: func(ctx context.Context, dryRun bool) (Object, error) { return r.API.Create(ctx, ref, object, dryRun) },
	}
	return w, "", w.recognizedBy(nil, set, planMark)
}

// salted adds a random value to a pre-image that is secret, so that its digest, which is in
// the journal, does not give a short value away. The inverse reads named fields only.
func salted(pre []byte) ([]byte, error) {
	var values map[string]any
	if err := json.Unmarshal(pre, &values); err != nil {
		return nil, errors.New("encode pre-image")
	}
	salt, err := newSalt()
	if err != nil {
		return nil, err
	}
	values["salt"] = salt
	return json.Marshal(values)
}

// belongs refuses a Secret that is not the one that the BareMetalHost of the step's fault names.
func (r *run) belongs(ctx context.Context, s Step) error {
	if s.Action == PutContent && s.Args.Remedy != bmcCredentials {
		return nil
	}
	for _, k := range s.While {
		name, err := bareMetalHostOf(ctx, r.API, k.Subject.Name)
		if err != nil {
			return refuse("it is not known whether %s belongs to %s: %v", s.Args.Object, k.Subject, err)
		}
		if name != s.Args.Host {
			return refuse("BareMetalHost %s is not that of %s, which is %s", s.Args.Host, k.Subject, name).instead("make a new plan")
		}
	}
	host, err := r.read(ctx, bareMetalHostRef(s.Args.Host))
	if err != nil {
		return err
	}
	if have := stringAt(host, "spec", "bmc", "credentialsName"); have != s.Args.Object {
		return refuse("BareMetalHost %s names the Secret %s, not %s", s.Args.Host, orNone(have), s.Args.Object).instead("make a new plan")
	}
	return nil
}

// tried waits until metal3 has tried the new credentials
// (openshift/baremetal-operator: apis/metal3.io/v1alpha1/baremetalhost_types.go CredentialsStatus).
func (r *run) tried(ctx context.Context, s Step, secret Object) (bool, string, error) {
	host, err := r.API.Get(ctx, bareMetalHostRef(s.Args.Host))
	if err != nil {
		return false, fmt.Sprintf("the host could not be read: %v", err), nil
	}
	want, have := stringAt(secret, "metadata", "resourceVersion"), stringAt(host, "status", "goodCredentials", "credentialsVersion")
	return have == want, "metal3 has not accepted the new credentials yet", nil
}

func describePut(s *Step) {
	ref := putRef(*s)
	s.Subject, s.Proof, s.Risk = ref.String(), ProvedInLab, fault.RiskReversible
	s.PreImage, s.Inverse = "the values as they were, or that there is none", "write the old values back, or delete what was created, unless somebody changed it since"
	s.Expect.Text = ref.String() + " has the new content"
	kind := map[string]string{"secrets": "secret", "configmaps": "configmap"}[ref.Resource]
	switch s.Args.Remedy {
	case bmcCredentials:
		s.Title = fmt.Sprintf("write user and password of the BMC into Secret %s; metal3 registers %s with them", ref.Name, s.Args.Host)
		s.RiskText = "with wrong values the BMC may lock the account after some attempts"
		s.OC = fmt.Sprintf("oc -n %s create secret generic %s --from-file=username=FILE --from-file=password=FILE --dry-run=client -o yaml | oc apply -f -", ref.Namespace, ref.Name)
		s.Expect.Text = "metal3 has registered " + s.Args.Host + " with them"
	case mcsCertificate:
		s.Title = fmt.Sprintf("write the certificate of the machine config server into %s", ref)
		s.RiskText = "no node that runs is touched; a saved pointer with another authority is refused by the servers"
		s.OC = fmt.Sprintf("oc -n %s apply -f FILE   # the %s %s", ref.Namespace, kind, ref.Name)
		s.Inverse = "write the old values back, unless somebody changed them since; what did not exist before stays: the servers need it"
		if s.Args.Namespace == bareMetalNamespace {
			s.Title = fmt.Sprintf("write the new authority into the pointer %s", ref)
		}
	}
}
