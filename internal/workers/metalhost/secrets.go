package metalhost

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// loses refuses to delete a host with which a Secret of others is deleted: metal3 makes a host the owner of the
// Secrets that it names (metal3-io/baremetal-operator:pkg/secretutils/secret_manager.go claimSecret), and the
// garbage collector deletes what has no other owner.
func (r *Runner) loses(ctx context.Context, h host) error {
	w := r.Journal.Plan.Host
	var names []string
	for name, foreign := range map[string]bool{w.Secret: w.HaveSecret, w.NetworkData: w.NetworkData != ""} {
		if !foreign {
			continue
		}
		o, err := r.API.Get(ctx, secretRef(name))
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("find out whether Secret %s stays without its host: %w", name, err)
		}
		owners, _ := evidence.Field(o, "metadata", "ownerReferences").([]any)
		other := slices.ContainsFunc(owners, func(x any) bool { m, _ := x.(map[string]any); return evidence.String(m, "uid") != h.uid })
		if len(owners) > 0 && !other {
			names = append(names, name)
		}
	}
	if len(names) == 0 || r.SecretsGo {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("BareMetalHost %s is not deleted: metal3 has made it the only owner of Secret %s, which this run has not made and which is deleted "+
		"with it. Keep a copy, and allow it with --delete-secrets", h.name, strings.Join(names, ", "))
}

// deleteSecret deletes the Secret that the run has made, unless another host uses it. The Secret may have gone
// with its host, which metal3 makes its owner.
func (r *Runner) deleteSecret(ctx context.Context) error {
	p, s := r.Journal.Plan, r.Journal.Status()
	if p.Host.HaveSecret || s.Secret == "" || s.did(DeletedSecret) {
		return nil
	}
	list, err := r.API.List(ctx, hostRef(""))
	if err != nil {
		return fmt.Errorf("find out whether another host uses Secret %s: %w", p.Host.Secret, err)
	}
	if i := slices.IndexFunc(list, func(o kube.Object) bool { return evidence.String(o, "spec", "bmc", "credentialsName") == p.Host.Secret }); i >= 0 {
		return fmt.Errorf("the Secret %s is used by BareMetalHost %s, and stays", p.Host.Secret, evidence.String(list[i], "metadata", "name"))
	}
	if err := r.Journal.add(Record{Kind: DeletingSecret}); err != nil {
		return err
	}
	for range scaleTries {
		o, err := r.API.Get(ctx, secretRef(p.Host.Secret))
		if apierrors.IsNotFound(err) || err == nil && evidence.String(o, "metadata", "uid") != s.Secret {
			r.Report("Secret " + p.Host.Secret + " is gone")
			return r.Journal.add(Record{Kind: DeletedSecret})
		}
		if err == nil {
			err = r.API.Delete(ctx, secretRef(p.Host.Secret), s.Secret, evidence.String(o, "metadata", "resourceVersion"), false)
		}
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete Secret %s: %w", p.Host.Secret, err)
		}
		if r.pause(ctx) != nil {
			break
		}
	}
	return &LateError{"Secret " + p.Host.Secret + " is being deleted and not gone"}
}
