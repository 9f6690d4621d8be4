package check

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// secrets judge the deletion of Secrets and volumes.
var secrets = []Judgment{{
	ID: "delete-secret", Commands: "oc delete secret", Matches: is("secret", "delete"),
	Reads: []evidence.Need{evidence.Objects(evidence.Secrets, "")},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		for _, t := range targets(c.Args[1:]) {
			if t.name == openshift.MCSCertificate { // whether it is made again depends on what was there when its controller began
				return nil, undecidedf("whether a controller creates it again is not known: up to 4.18 none does")
			}
		}
		list, err := l.picked(ctx, evidence.Secrets, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		worst := &decision{verdict: Reads}
		for _, o := range list {
			if d := l.deleteSecret(ctx, o); d.verdict.rank() > worst.verdict.rank() {
				worst = d
			}
		}
		worst.objects = refs(list)
		return worst, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/oc", Path: "pkg/cli/admin/ocpcertificates/certregen", Symbol: "IsPlatformCertSecret"}},
}, {
	ID: "delete-data", Commands: "oc delete pvc|pv", Matches: func(c *shellcommand.Call) bool {
		return is("pvc", "delete")(c) || is("pv", "delete")(c)
	},
	Final: "the data of a volume is deleted with it",
	Decide: func(_ context.Context, _ *look, c *shellcommand.Call) (*decision, error) {
		return &decision{verdict: Person, why: "the data of the volume is deleted with it, where its reclaim policy is Delete", undo: "none without a backup",
			lost: "the data", instead: []string{volumesKept}}, nil
	},
	Sources: []fault.Ref{{Repo: "kubernetes/website", Path: "content/en/docs/concepts/storage/persistent-volumes.md"}},
}}

// deleteSecret judges one Secret by who keeps it.
func (l *look) deleteSecret(ctx context.Context, o *evidence.Object) *decision {
	d := &decision{undo: "none without a copy: oc get secret " + o.Name + " -n " + o.Namespace + " -o yaml, kept with mode 0600", lost: "its content",
		instead: []string{"oc adm ocp-certificates regenerate-leaf rotates a certificate, where the platform keeps it"}}
	owner, name := ownerOf(o)
	switch {
	case o.Annotation(openshift.CertificateIssuerAnnotation) != "" || o.Annotation(openshift.CertificateNotAfterAnnotation) != "":
		d.verdict, d.why, d.lost = Safe, "its operator keeps it, and creates it again: one rollout of what uses it", "the old certificate"
		if why, _, err := l.settled(ctx); err != nil || why != "" {
			d.verdict, d.why = Unsafe, "its operator creates it again and rolls out, and the control plane is not settled: "+why
		}
	case owner != "":
		d.verdict, d.why = Person, fmt.Sprintf("%s %s owns it; whether that creates it again is not known", owner, name)
	default:
		d.verdict, d.why = Person, "nothing shows who would create it again: what mounts it does not start without it"
	}
	return d
}
