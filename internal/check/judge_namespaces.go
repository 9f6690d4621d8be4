package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// namespaces judge the deletion of namespaces.
var namespaces = []Judgment{{
	ID: "delete-namespace", Commands: "oc delete namespace|project", Matches: is("namespace", "delete"),
	Reads: []evidence.Need{evidence.Objects(evidence.Machines, ""), evidence.Objects(evidence.BareMetalHosts, "")},
	Final: "everything in a namespace is deleted with it",
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		if c.Open {
			return nil, errOpen
		}
		worst := &decision{verdict: Reads}
		var hits []string
		for _, t := range targets(c.Args[1:]) {
			if t.kind != "namespace" || t.name == "" {
				continue
			}
			hits = append(hits, "namespace/"+t.name)
			if d := l.deleteNamespace(ctx, t.name); d.verdict.rank() > worst.verdict.rank() {
				worst = d
			}
		}
		if len(hits) == 0 {
			return nil, undecidedf("which namespaces it deletes is not in its text: give the command with their names")
		}
		worst.objects = hits
		return worst, nil
	},
	Sources: []fault.Ref{
		{Repo: "kubernetes/apiserver", Path: "pkg/admission/plugin/namespace/lifecycle/lifecycle.go", Symbol: "immortalNamespaces"},
		{Repo: "openshift/cluster-etcd-operator", Path: "pkg/operator/starter.go", Symbol: "NewStaticResourceController"},
		{Repo: "openshift/cluster-etcd-operator", Path: "pkg/tlshelpers/tlshelpers.go", Symbol: "CreateSignerCert"},
		{Repo: "openshift/machine-config-operator", Path: "install/0000_80_machine-config_00_namespace.yaml"},
		{Repo: "openshift/machine-api-operator", Path: "install/0000_30_machine-api-operator_00_namespace.yaml"},
	},
}}

// noWayBack is the undo of a namespace: the API server has no way to stop its deletion.
const noWayBack = "none: a namespace that is being deleted cannot be taken back; Secrets and ConfigMaps only come back from a backup"

// deleteNamespace judges one namespace by its name: that it is not in the source makes it no safer.
func (l *look) deleteNamespace(ctx context.Context, name string) *decision {
	pods := "its pods"
	if list, err := l.read(ctx, evidence.Pods, name); err == nil && len(list) > 0 {
		pods = "its " + counted(len(list), "pod", "pods")
	}
	d := &decision{verdict: Unsafe, undo: noWayBack, instead: []string{"rollcall diagnose co/OPERATOR: the cause; delete only the one object that is wrong"}}
	switch {
	case slices.Contains([]string{"default", openshift.SystemNamespace, "kube-public"}, name):
		return &decision{verdict: Safe, why: "the API server refuses to delete " + name + ": nothing happens", lost: "nothing"}
	case name == openshift.EtcdNamespace:
		l.deleteEtcdNamespace(ctx, d)
	case name == openshift.MachineConfigNamespace:
		l.deleteConfigNamespace(ctx, d, pods)
	case name == openshift.MachineAPINamespace:
		l.deleteMachineNamespace(ctx, d)
	case slices.Contains([]string{openshift.APIServerNamespace, openshift.ControllerManagerNamespace, openshift.SchedulerNamespace}, name):
		d.why = "its static pods run on from the files on the hosts, but every certificate and revision in it is deleted: a control-plane host that starts " +
			"anew, or a new revision, has nothing to start from until its operator has made all of it again"
		d.lost = "certificates and signers, and the revisions of the static pods"
	case strings.HasPrefix(name, "openshift-") || strings.HasPrefix(name, "kube-"):
		d.why = fmt.Sprintf("it is a namespace of the platform: %s stop, and no PodDisruptionBudget is asked. Its operator creates again what its manifests "+
			"have; Secrets, certificates and settings that were made at installation or by people do not come back", pods)
		d.lost = "what its operator does not create: Secrets, ConfigMaps, volumes"
	default:
		d.verdict, d.lost = Person, "objects and data; of a hosted control plane also the volumes of its etcd"
		d.why = fmt.Sprintf("everything in it is deleted: %s, Secrets, and the data of its volumes, where their reclaim policy is Delete", pods)
		d.instead = []string{volumesKept}
	}
	return d
}

const volumesKept = "oc get pv -o custom-columns=NAME:.metadata.name,POLICY:.spec.persistentVolumeReclaimPolicy,CLAIM:.spec.claimRef.name"

// deleteEtcdNamespace: the members run on from the hosts' files; everything that renews or replaces them is gone.
func (l *look) deleteEtcdNamespace(ctx context.Context, d *decision) {
	d.lost = "the etcd certificates of each node, the CA bundles, the etcd signer where it is in this namespace, ConfigMap etcd-endpoints, all revisions"
	d.why = "the members run on from the files on their hosts, but their certificates, the CA bundle and every revision are deleted: the operator makes " +
		"new ones, with a new signer in newer versions, and rolls all members"
	d.instead = []string{"rollcall diagnose co/etcd", backupFirst}
	s, hosted, err := l.etcd(ctx)
	if err != nil || hosted {
		return
	}
	d.evidence = s.evidence
	if spare := s.spare(); spare != "" {
		d.why += ". And " + spare
	}
}

// deleteConfigNamespace: its operator comes back, two credentials do not, or not as they were.
func (l *look) deleteConfigNamespace(ctx context.Context, d *decision, pods string) {
	d.lost = "Secret machine-config-server-tls (up to 4.18 nobody creates it again, from 4.19 only where there are MachineSets); the token of " +
		"node-bootstrapper, which hosts have on disk to ask for a certificate"
	d.why = "the cluster-version-operator creates the namespace and the machine-config-operator again, but not Secret machine-config-server-tls: " +
		"no new host can boot. Hosts also keep the old bootstrap token, so one whose certificate ends cannot ask for another. " +
		strings.ToUpper(pods[:1]) + pods[1:] + " stop meanwhile, the daemons of all nodes too"
	d.instead = []string{"rollcall diagnose co/machine-config", "rollcall explain delete-mcs-tls"}
	if why, proof := l.noBoot(ctx); why != "" {
		d.why, d.evidence = why+" already. "+strings.ToUpper(d.why[:1])+d.why[1:], proof
	}
}

// deleteMachineNamespace: each Machine and BareMetalHost is deleted, while what carries that out is deleted, too.
func (l *look) deleteMachineNamespace(ctx context.Context, d *decision) {
	none := 0
	count := func(r evidence.Resource, what string) string {
		list, err := l.read(ctx, r, "")
		if err != nil {
			return "all " + what + "s"
		}
		if len(list) == 0 {
			none++
		}
		d.evidence = append(d.evidence, evidence.Listed(r, openshift.MachineAPINamespace, counted(len(list), what, what+"s")))
		return counted(len(list), what, what+"s")
	}
	d.why = fmt.Sprintf("it deletes %s and %s: their hosts are drained, deprovisioned and switched off, masters too. Where their controllers go first, "+
		"the finalizers hold the namespace in Terminating, and no Machine or host is managed any more",
		count(evidence.Machines, "Machine"), count(evidence.BareMetalHosts, "BareMetalHost"))
	if none == 2 {
		d.why = "it has no Machine and no BareMetalHost; the cluster-version-operator creates the namespace and its operators again, but the user-data " +
			"Secrets that hosts were booted with do not all come back"
	}
	d.lost = "Machines, MachineSets, BareMetalHosts with their inspection, the passwords of the BMCs, the user-data Secrets of the pools"
	d.instead = []string{"rollcall diagnose co/machine-api", "oc get machine,bmh -n " + openshift.MachineAPINamespace}
}

// counted writes a number with its noun.
func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
