package check

import (
	"context"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// isBootstrap reports whether a name is that of the host which starts an installation. It never becomes a
// node (openshift/installer: data/data/bootstrap/files/usr/local/bin/bootkube.sh.template).
func (l *look) isBootstrap(ctx context.Context, name string) bool {
	known := slices.ContainsFunc(l.d.Hosts, func(h diagnosis.HostState) bool { return h.Bootstrap() && h.Name == name })
	short, _, _ := strings.Cut(name, ".")
	if !known && short != "bootstrap" && !strings.HasSuffix(short, "-bootstrap") {
		return false
	}
	list, err := l.some(ctx, evidence.Nodes, "")
	return err != nil || !slices.ContainsFunc(list, func(n *evidence.Object) bool { return n.Name == name })
}

// errBootstrap is the answer to a command on the bootstrap host that is not judged.
func errBootstrap(name string) error {
	return &undecided{name + " is the bootstrap host, which never becomes a node: what this does to the installation is not known",
		"openshift-install wait-for bootstrap-complete --dir DIR says whether the installation still needs it"}
}

// bootstrapGoes judges that the bootstrap host is stopped, restarted or deleted.
func (l *look) bootstrapGoes(ctx context.Context, name, verb string) (*decision, error) {
	d := &decision{verdict: Unsafe, objects: []string{"the bootstrap host " + name}, undo: "virsh start " + name,
		verify: []string{"openshift-install wait-for bootstrap-complete --dir DIR"}}
	switch verb {
	case "start":
		d.verdict, d.why, d.undo = Safe, "it starts the bootstrap host", "virsh shutdown "+name
		return d, nil
	case "undefine":
		d.undo, d.lost = "none without virsh dumpxml and a copy of the disks", "the machine, and with --remove-all-storage its disks"
	case "reset", "reboot":
		d.undo = comesBack
	}
	if f, ok := l.present("bootstrap-mc-mismatch"); ok {
		d.why = "nodes want a rendered config that exists only on the bootstrap host: its copy there is one way to repair that"
		d.instead = []string{"save it first: ssh core@" + name + " sudo tar -C /etc/mcs -czf - bootstrap > bootstrap-configs.tar.gz, which has secrets in it",
			"rollcall explain recreate-missing-render"}
		d.evidence = f.Evidence
		return d, nil
	}
	version, err := l.one(ctx, evidence.ClusterVersions, "", "version")
	if err != nil {
		return nil, errBootstrap(name)
	}
	history, _ := evidence.Field(version.Content, "status", "history").([]any)
	for _, h := range history {
		if m, _ := h.(map[string]any); evidence.String(m, "state") == "Completed" {
			d.verdict, d.why = Safe, "the installation is complete: the bootstrap host is no part of the cluster any more"
			d.evidence = []evidence.Item{version.Shows("status.history", "completed "+evidence.String(m, "version"), l.d.Now)}
			return d, nil
		}
	}
	d.why = "the installation is not complete: until bootstrap-complete the bootstrap host runs a control plane, an etcd member and the machine config " +
		"server for the hosts that boot"
	d.evidence = []evidence.Item{version.Shows("status.history", "no Completed update", l.d.Now)}
	d.instead = []string{"openshift-install wait-for bootstrap-complete --dir DIR: it says when it is safe to remove the bootstrap host"}
	return d, nil
}
