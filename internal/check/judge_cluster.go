package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

var settledReads = []evidence.Need{evidence.Objects(evidence.ClusterOperators, ""), evidence.Objects(evidence.ClusterVersions, "")}

// certificates judge oc adm ocp-certificates.
var certificates = []Judgment{{
	ID: "remove-old-trust", Commands: "oc adm ocp-certificates remove-old-trust", Reads: settledReads,
	Matches: func(c *shellcommand.Call) bool { return c.Is("oc", "adm", "ocp-certificates", "remove-old-trust") },
	Final:   "whatever still has a certificate of the old CA is cut off",
	Decide: func(ctx context.Context, l *look, _ *shellcommand.Call) (*decision, error) {
		d := &decision{verdict: Unsafe, lost: "CAs in the bundles", undo: "none: the CAs are gone",
			instead: []string{"renew all leaves first, and wait: oc adm wait-for-stable-cluster"}}
		why, proof, err := l.settledNodes(ctx)
		if err != nil {
			return nil, err
		}
		if d.why, d.evidence = why, proof; why == "" {
			d.verdict, d.why = Person, "whatever still has a certificate of the old CA is cut off: kubelets, and kubeconfigs outside of the cluster, "+
				"whose age is not known here"
		}
		return d, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/oc", Path: "pkg/cli/admin/ocpcertificates"}},
}, {
	ID: "regenerate-certificates", Commands: "oc adm ocp-certificates regenerate-…", Reads: settledReads,
	Matches: func(c *shellcommand.Call) bool { return c.Is("oc", "adm", "ocp-certificates") },
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		topology, err := platform.Topology(ctx, l.w)
		if err != nil {
			return nil, err
		}
		d := &decision{verdict: Unsafe, lost: "the old certificates", undo: "none, and none is needed for leaves",
			verify: []string{"oc adm wait-for-stable-cluster", "oc get co"}}
		switch topology.Text {
		case "External":
			return nil, undecidedf("the certificates of a hosted cluster are kept in its management cluster")
		case "SingleReplica":
			d.why, d.evidence = "it is the only control-plane node: its API stops while its pods roll", []evidence.Item{topology.Item()}
			return d, nil
		}
		why, proof, err := l.settled(ctx)
		if err != nil {
			return nil, err
		}
		if d.why, d.evidence = why, proof; why != "" {
			return d, nil
		}
		d.verdict, d.why = Safe, "all operators are settled and etcd is whole: one rollout, a control-plane node at a time"
		if has(c, `top-level`) {
			d.verdict, d.why = Person, "signers are renewed: kubeconfigs and trust outside of the cluster break later"
		}
		return d, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/oc", Path: "pkg/cli/admin/ocpcertificates"}},
}}

// settledNodes is settled, and each node reports.
func (l *look) settledNodes(ctx context.Context) (string, []evidence.Item, error) {
	why, proof, err := l.settled(ctx)
	if err != nil || why != "" {
		return why, proof, err
	}
	list, err := l.all(ctx, evidence.Nodes, "")
	if err != nil {
		return "", nil, err
	}
	for _, n := range list {
		silent, item, err := l.silence(ctx, n.Name)
		if err != nil {
			return "", nil, err
		}
		if silent > 0 {
			return fmt.Sprintf("node %s has not reported for %s", n.Name, ago(silent)), []evidence.Item{item}, nil
		}
	}
	return "", proof, nil
}

// updates judge updates of the cluster.
var updates = []Judgment{{
	ID: "update", Commands: "oc adm upgrade --to, --to-latest, --to-image, --force, --clear", Reads: settledReads,
	Matches: func(c *shellcommand.Call) bool {
		if !c.Is("oc", "adm", "upgrade") {
			return false
		}
		for _, f := range []string{"--to", "--to-image", "--to-latest", "--force", "--clear", "--to-multi-arch"} {
			if _, ok := c.Flag(f); ok {
				return true
			}
		}
		return len(c.Args) > 2
	},
	Final:  "an update is not undone",
	Decide: decideUpdate,
	Sources: []fault.Ref{{Repo: "openshift/oc", Path: "pkg/cli/admin/upgrade/upgrade.go"}, {Repo: "openshift/cluster-version-operator",
		Path: "pkg/payload/precondition"}},
}}

func decideUpdate(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	d := &decision{verdict: Unsafe, undo: "none: an update goes forward only", lost: "the way back to this version",
		instead: []string{"oc adm upgrade recommend --version VERSION", backupFirst}, verify: []string{"oc adm upgrade status", "rollcall watch"}}
	topology, err := platform.Topology(ctx, l.w)
	if err != nil {
		return nil, err
	}
	if topology.Text == "External" {
		d.why, d.evidence = "a hosted cluster is updated by spec.release of its HostedCluster: what is set here is overwritten",
			[]evidence.Item{topology.Item()}
		return d, nil
	}
	list, err := l.all(ctx, evidence.MachineConfigPools, "")
	if err != nil {
		return nil, err
	}
	why, proof, err := l.settledNodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if status, message := condition(p, "Degraded"); status == "True" && why == "" {
			_, message2 := condition(p, "NodeDegraded")
			why, proof = "pool "+p.Name+" is degraded: "+evidence.Shorten(strings.TrimSpace(message+" "+message2), 150),
				[]evidence.Item{p.Shows("status.conditions", "Degraded=True", l.d.Now)}
		}
	}
	if d.why, d.evidence = why, proof; why != "" {
		return d, nil
	}
	d.verdict, d.why = Person, "an update is not undone. Nothing that was read here speaks against it"
	if _, force := c.Flag("--force"); force {
		d.why = "an update is not undone, and --force leaves out the signature and every precondition: whether they would hold was not read"
		d.instead = append([]string{"the same without --force: it says which precondition fails"}, d.instead...)
	}
	return d, nil
}

// installer judges openshift-install.
var installer = []Judgment{{
	ID: "destroy-cluster", Commands: "openshift-install " +
		"destroy", Local: true, Matches: func(c *shellcommand.Call) bool { return c.Is("openshift-install", "destroy") },
	Final: "destroy deletes the state of DIR, its only kubeconfig included, and on a cloud the cluster with its volumes",
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		nodes, err := l.read(ctx, evidence.Nodes, "")
		if err != nil {
			return nil, err
		}
		d := &decision{verdict: Unsafe, objects: []string{"cluster " + l.d.Cluster.ID}, undo: "none",
			instead: []string{"openshift-install gather bootstrap --dir DIR, to keep the evidence", "rollcall explain repeat-installation"},
			why: fmt.Sprintf("this cluster has %d nodes. On bare metal and platform none their hosts run on, and the only kubeconfig to them is gone; "+
				"on a cloud they are deleted", len(nodes))}
		if len(nodes) == 0 {
			return nil, undecidedf("no node was read: whether the cluster carries anything is not known")
		}
		return d, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/installer", Path: "pkg/destroy/baremetal/baremetal.go", Symbol: "Run"}},
}, {
	ID: "create-cluster", Commands: "openshift-install create cluster|ignition-configs|manifests, agent create image", Local: true,
	Matches: func(c *shellcommand.Call) bool {
		return c.Is("openshift-install", "create") || c.Is("openshift-install", "agent", "create")
	},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		if len(c.Args) > 1 && c.Args[1] == "cluster" {
			return &decision{verdict: Person, why: "it installs another cluster, and repeats every mistake that is still in install-config.yaml",
				undo:    "openshift-install destroy cluster",
				instead: []string{"rollcall preflight DIR"}}, nil
		}
		return &decision{verdict: Safe, why: "it writes files only; it consumes install-config.yaml: keep a copy", lost: "install-config.yaml in DIR",
			undo: "the copy", verify: []string{"rollcall preflight DIR"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/installer", Path: "cmd/openshift-install/create.go"}},
}}

// hostedClusters judge what is done to HostedClusters and NodePools.
var hostedClusters = []Judgment{{
	ID: "delete-nodepool", Commands: "oc delete nodepool", Matches: is("nodepool", "delete"), Reads: []evidence.Need{evidence.Objects(evidence.NodePools, "")},
	Final: "the Secrets and ConfigMaps of a NodePool go with it at once",
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.NodePools, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		d := &decision{verdict: Person, objects: refs(list), undo: "a new NodePool has another token: hosts are made anew", verify: []string{"oc get nodes"}}
		if kind := evidence.String(list[0].Content, "spec", "platform", "type"); kind == "None" {
			d.why, d.lost = "its token and user-data Secrets go at once. Its nodes stay, with their machines and kubelets, and nothing manages them",
				"the Secrets with which hosts join"
			d.instead = []string{"rollcall worker delete, for each of its hosts first"}
		} else {
			d.why, d.lost = "its machines of platform "+kind+" are deleted, with their disks", "its nodes"
		}
		return d, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/hypershift", Path: "hypershift-operator/controllers/nodepool/nodepool_controller.go", Symbol: "delete"}},
}, {
	ID: "delete-hostedcluster", Commands: "oc delete hostedcluster", Matches: func(c *shellcommand.Call) bool {
		return is("hostedcluster", "delete")(c) || (c.Program == "hypershift" || c.Program == "hcp") && len(c.Args) > 0 && c.Args[0] == "destroy"
	},
	Reads: []evidence.Need{evidence.Objects(evidence.HostedClusters, "")},
	Final: "a hosted cluster that is deleted takes its etcd with it",
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		args := c.Args[1:]
		if c.Program != "oc" {
			args = []string{"hostedcluster/" + c.Value("--name")}
		}
		list, err := l.picked(ctx, evidence.HostedClusters, c, args)
		if err != nil {
			return nil, err
		}
		return &decision{verdict: Person, objects: refs(list), lost: "the volumes of its etcd, its NodePools, its certificates",
			undo:    "none without a backup of etcd",
			why:     "its NodePools go first, then its control plane with the volumes of etcd. Hosts of platform None stay, and loop on an API that is gone",
			instead: []string{"back up the etcd of the hosted cluster first", "drain and delete its hosts first"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/hypershift", Path: "hypershift-operator/controllers/hostedcluster/hostedcluster_controller.go", Symbol: "delete"}},
}}

// generic are writes of which only a part can be judged: that they write, and what is missing.
var generic = []Judgment{{
	ID: "write", Commands: "oc apply, create, replace, edit, patch, delete, label, annotate, set of other objects", Matches: func(c *shellcommand.Call) bool {
		return c.Program == "oc" && c.Effect == shellcommand.Changes
	},
	Decide: func(_ context.Context, _ *look, c *shellcommand.Call) (*decision, error) {
		what := strings.Join(c.Args[:min(2, len(c.Args))], " ")
		if _, force := c.Flag("--force"); force && c.Is("oc", "replace") {
			return &decision{verdict: Unsafe, why: "replace --force deletes the object and creates it again: what its finalizers and owners do to that " +
				"is not judged",
				instead: []string{"oc apply, or oc replace without --force, after oc diff"}}, nil
		}
		_, file := c.Flag("-f", "--filename", "-k")
		switch {
		case file:
			return nil, undecidedf("what is in the file is not known here: oc diff -f FILE shows what would change")
		case c.Args[0] == "edit":
			return nil, &undecided{"what is changed in the editor is not known here", "give the change as oc patch, with the field and its value"}
		case c.Args[0] == "patch":
			return nil, &undecided{"what " + what + " changes is not judged",
				"the same with --dry-run=server -o yaml shows the object as it would be, and changes nothing"}
		}
		return nil, undecidedf("what %s changes is not judged", what)
	},
	Sources: []fault.Ref{{Repo: "kubernetes/kubectl", Path: "pkg/cmd"}},
}}
