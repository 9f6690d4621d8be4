package update

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/certs"
	"github.com/rollcall-project/rollcall/internal/facts/eviction"
	"github.com/rollcall-project/rollcall/internal/facts/onhost"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/page"
)

// certificatesCheck: what expires while hosts are down keeps them from coming back.
//
// Sources: openshift/cluster-kube-controller-manager-operator pkg/operator/certrotationcontroller (csr-signer: 30 days, made
// again after 15); kubernetes/kubernetes pkg/kubelet/certificate (a kubelet that runs renews its certificate after 70 to 90 %
// of its time; one that is down does not).
var certificatesCheck = Check{
	ID: "certificates", Title: "certificates that expire in the window", Holds: true, Look: lookCertificates,
	Faults: []string{"api-certificate-expired", "ca-bundle-stale", "certificates-ended-while-silent", "csr-approver-not-running", "csr-client-pending",
		"csr-flood-guard", "csr-not-approved", "csr-renewal-not-approved", "csr-serving-pending", "csr-signer-expired", "csr-signer-missing",
		"kubelet-client-cert-expired", "kubelet-client-file-expired", "mcs-certificate-expired", "network-certificate-invalid"},
	Hold: []string{"csr-renewal-not-approved"},
	Sources: []fault.Ref{
		{Repo: "openshift/cluster-kube-controller-manager-operator", Path: "pkg/operator/certrotationcontroller/certrotationcontroller.go"},
		{Repo: "kubernetes/kubernetes", Path: "pkg/kubelet/certificate/kubelet.go", Symbol: "NewKubeletClientCertificateManager"},
	},
}

func lookCertificates(ctx context.Context, l *look, r *Result) error {
	if !l.external() {
		if err := l.clusterCertificates(ctx, r); err != nil {
			return err
		}
	}
	return l.kubeletCertificates(ctx, r)
}

// clusterCertificates are those with which a host is let in again.
func (l *look) clusterCertificates(ctx context.Context, r *Result) error {
	mcs, err := factOf(certs.Facts(), "mcs-certificate")
	if err != nil {
		return err
	}
	for _, c := range []struct {
		fact      facts.Fact
		says, see string
		severity  fault.Severity
	}{
		{certs.SignerFact(), "the certificate that signs those of kubelets (csr-signer)", "oc -n " + openshift.ControllerManagerNamespace +
			" get secret csr-signer -o yaml", fault.Error},
		{mcs, "the certificate of the machine config server", "oc -n " + openshift.MachineConfigNamespace + " get secret machine-config-server-tls -o yaml",
			fault.Warning},
	} {
		if err := l.expires(ctx, r, c.fact, fault.Subject{Kind: fault.Cluster}, Finding{Severity: c.severity, Says: c.says, See: c.see}); err != nil {
			return err
		}
	}
	return nil
}

// kubeletCertificates are on the hosts; rollcall-host reads them.
func (l *look) kubeletCertificates(ctx context.Context, r *Result) error {
	identity, err := factOf(onhost.Facts(), "host-identity")
	if err != nil {
		return err
	}
	for i := range l.d.Hosts {
		h := &l.d.Hosts[i]
		if !h.Expected || !h.Named() || l.explained(fault.Host, h.Name) {
			continue
		}
		f := Finding{Severity: fault.Warning, Hosts: []string{h.Name}, See: "oc get csr", Says: "the client certificate of the kubelet of " + h.Name}
		if err := l.expires(ctx, r, identity, fault.Subject{Kind: fault.Host, Name: h.Name}, f); err != nil {
			return err
		}
	}
	return nil
}

// expires adds a certificate that ends in the window. What can be an error and is not known leaves the
// answer open.
func (l *look) expires(ctx context.Context, r *Result, f facts.Fact, s fault.Subject, found Finding) error {
	about := found.Says
	if s.Kind == fault.Host { // it is the same for all hosts
		about = "the client certificates of kubelets"
	}
	end, proof, err := field[time.Time](ctx, l, f, s, "notAfter")
	u, unavailable := evidence.AsUnavailable(err)
	switch {
	case errors.Is(err, facts.ErrNotApplicable):
		return nil
	case unavailable:
		r.missed(about, u, found.Severity == fault.Error)
		return nil
	case err != nil:
		return err
	case end.IsZero() || end.Sub(l.d.Now) > l.Window:
		return nil
	case s.Kind == fault.Host && l.renews(ctx, f, s, end):
		return nil
	}
	found.Says += fmt.Sprintf(" expires in %s (%s)", end.Sub(l.d.Now).Round(time.Minute), page.Clock(end))
	found.Do, found.Evidence = []string{"wait until it is renewed, or find why it is not: " + l.diagnose(s)}, proof
	r.Findings = append(r.Findings, found)
	return nil
}

// renews reports whether a kubelet still has the time in which it renews its certificate: it begins
// after 70 to 90 % of it. The first certificate of a host is valid for a day.
func (l *look) renews(ctx context.Context, f facts.Fact, s fault.Subject, end time.Time) bool {
	begin, _, err := field[time.Time](ctx, l, f, s, "notBefore")
	return err == nil && !begin.IsZero() && l.d.Now.Sub(begin) < end.Sub(begin)*9/10
}

// remediationCheck: a host that needs long to reboot is not Ready for so long that a health check
// takes it for broken.
//
// Sources: openshift/machine-api-operator pkg/controller/machinehealthcheck/machinehealthcheck_controller.go (Reconcile,
// isAllowedRemediation, needsRemediation, remediate: without a controller owner only the external strategy acts), 4.4 to 4.20;
// medik8s/node-healthcheck-operator controllers/nodehealthcheck_controller.go (it waits by itself while ClusterVersion is
// Progressing, so it is not named here).
var remediationCheck = Check{
	ID: "remediation", Title: "health checks that may act on a host while it reboots", Look: lookRemediation,
	Reads: []evidence.Need{evidence.Objects(evidence.MachineHealthChecks, openshift.MachineAPINamespace)},
	Sources: []fault.Ref{
		{Repo: "openshift/machine-api-operator", Path: "pkg/controller/machinehealthcheck/machinehealthcheck_controller.go", Symbol: "isAllowedRemediation"},
		{Repo: "medik8s/node-healthcheck-operator", Path: "controllers/nodehealthcheck_controller.go"},
	},
}

func lookRemediation(ctx context.Context, l *look, r *Result) error {
	if l.external() {
		return excluded("a hosted cluster has no MachineHealthChecks")
	}
	list, err := l.w.Some(ctx, evidence.MachineHealthChecks, machineAPI)
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotServed {
		return excluded("the Machine API has no health checks here")
	} else if err != nil && len(list) == 0 {
		return err
	} else if ok {
		r.missed("", u, false)
	}
	machines, err := l.w.Some(ctx, evidence.Machines, machineAPI)
	if u, ok := evidence.AsUnavailable(err); ok {
		r.missed("", u, false)
	} else if err != nil {
		return err
	}
	for i := range list {
		if f, acts := l.acts(&list[i], machines); acts {
			r.Findings = append(r.Findings, f)
		}
	}
	if need := evidence.Objects(evidence.MachineHealthChecks, machineAPI); len(r.Findings) == 0 && l.w.Unlisted(ctx, need) {
		r.Missing = append(r.Missing, Missing{What: "whether there are more MachineHealthChecks: the archive has no list of them",
			Supply: "oc -n " + machineAPI + " get mhc"})
	}
	return nil
}

// acts says what a MachineHealthCheck may do while hosts reboot. The product's own, which looks for
// instances that a cloud takes away, and one that is paused or allows no remediation do nothing.
func (l *look) acts(o *evidence.Object, machines []evidence.Object) (Finding, bool) {
	most := fmt.Sprint(evidence.Field(o.Content, "spec", "maxUnhealthy"))
	notes, _ := evidence.Field(o.Content, "metadata", "annotations").(map[string]any)
	if _, paused := notes[pausedNote]; paused || most == "0" || most == "0%" {
		return Finding{}, false
	}
	after := readyTimeout(o)
	if after == "" {
		return Finding{}, false
	}
	external := o.Annotation("machine.openshift.io/remediation-strategy") != ""
	selector, _ := evidence.Field(o.Content, "spec", "selector").(map[string]any)
	f := Finding{Severity: fault.Warning}
	for i := range machines {
		m := &machines[i]
		match, ok := eviction.Matches(selector, m)
		if node := evidence.String(m.Content, "status", "nodeRef", "name"); node != "" && (match || !ok) && (external || owned(m)) {
			f.Hosts = append(f.Hosts, node)
		}
	}
	if len(f.Hosts) == 0 && len(machines) > 0 {
		return f, false
	}
	act := "deletes the Machine of"
	if external {
		act = "power-cycles"
	}
	allowed := ""
	if most != "<nil>" {
		allowed = " (maxUnhealthy " + most + ")"
	}
	f.Says = fmt.Sprintf("MachineHealthCheck %s %s a node that is not Ready for %s%s: a slow reboot is long enough", o.Name, act, after, allowed)
	f.Do = []string{fmt.Sprintf("pause it for the time of the update: oc -n %s annotate mhc %s %s=", machineAPI, o.Name, pausedNote),
		fmt.Sprintf("afterwards: oc -n %s annotate mhc %s %s-", machineAPI, o.Name, pausedNote)}
	f.See = fmt.Sprintf("oc -n %s get mhc %s -o jsonpath={.metadata.annotations}", machineAPI, o.Name)
	f.Evidence = []evidence.Item{o.Shows("spec.unhealthyConditions", "Ready for "+after, o.ReadAt)}
	return f, true
}

// owned reports whether a Machine has a controller that makes it again.
func owned(m *evidence.Object) bool {
	return ownerOf(m, "MachineSet") != "" || ownerOf(m, "ControlPlaneMachineSet") != ""
}

// readyTimeout is after how long without Ready a health check acts, "" where it does not look at Ready.
func readyTimeout(o *evidence.Object) string {
	list, _ := evidence.Field(o.Content, "spec", "unhealthyConditions").([]any)
	for _, raw := range list {
		m, _ := raw.(map[string]any)
		if m["type"] == "Ready" {
			after, _ := m["timeout"].(string)
			if after = strings.TrimSpace(after); after == "" {
				after = "its time"
			}
			return after
		}
	}
	return ""
}
