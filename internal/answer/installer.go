package answer

import (
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// installerNotes writes what the log of openshift-install shows of the reason, with the line of each.
func (t *text) installerNotes() {
	in := t.d.Cluster.Installer
	if in == nil || len(in.Notes) == 0 {
		return
	}
	t.Blank()
	t.Head(0, "What openshift-install logged")
	for _, n := range in.Notes {
		t.Lead(0, page.Plain.Span("- "), "  ", page.Plain, n.Says, 0)
		t.logged(2, page.Plain.Span(""), "", n.Line, t.limit(fewExcerpt))
		t.Para(2, page.Span{}, page.Dim, n.Locator)
	}
}

// installerNext is how an installation continues where nothing but its log was read; nil where
// that depends on why it ended (openshift/installer:cmd/openshift-install/waitfor.go,
// gather.go and agent/waitfor.go; from 4.12 on for agent).
func (o Options) installerNext(in diagnosis.Installer) []string {
	const waits = "openshift-install wait-for "
	switch {
	case in.Ended == "complete" && in.Step == "bootstrapped":
		return o.afterBootstrap(in, waits+"install-complete --dir DIR --log-level=debug")
	case in.Ended == "complete":
		return []string{o.know("diagnose --kubeconfig DIR/auth/kubeconfig") + "    # the workers can still be on their way"}
	case in.Ended == "made" && in.Form == "single-node":
		return []string{waits + "install-complete --dir DIR --log-level=debug    # when the host boots with bootstrap-in-place-for-live-iso.ign"}
	case in.Ended == "made" && in.Form == "agent":
		return []string{"openshift-install agent wait-for bootstrap-complete --dir DIR --log-level=debug    # when the hosts boot the image"}
	case in.Ended == "made" && in.Form == "install-config":
		return []string{o.know("preflight DIR"),
			"openshift-install create manifests --dir DIR    # or create ignition-configs, create cluster: each deletes install-config.yaml, so keep a copy"}
	case in.Ended == "made" && in.Form == "manifests":
		return []string{"openshift-install create ignition-configs --dir DIR    # or create cluster: both delete the manifests, so keep a copy"}
	case in.Ended == "made":
		return []string{waits + "bootstrap-complete --dir DIR --log-level=debug    # when the hosts boot with these files"}
	case in.Ended == "gather-failed" || in.Ended == "gathering":
		return []string{gatherBootstrap + "    # DIR: that of the installation, FILE: the private key of sshKey in install-config.yaml"}
	case in.Blocked == "api":
		return o.unansweredAPI(in, waits+"bootstrap-complete --dir DIR --log-level=debug")
	case in.Ended != "interrupted" && in.Ended != "running":
		return nil
	case in.Blocked == "prompt":
		return []string{"cp install-config.yaml DIR/    # a copy: openshift-install deletes the one in DIR",
			"openshift-install create ignition-configs --dir DIR    # or the command that was interrupted; no host can boot before it is done"}
	case in.Step == "assets":
		return []string{"openshift-install create ignition-configs --dir DIR    # or the command that was interrupted; no host can boot before it is done"}
	case in.Step == "agent":
		return []string{"openshift-install agent wait-for bootstrap-complete --dir DIR --log-level=debug"}
	case in.Step == "api" || in.Step == "bootstrap":
		return []string{waits + "bootstrap-complete --dir DIR --log-level=debug"}
	case in.Step == "bootstrapped" || in.Step == "initialize" || in.Step == "stable" || in.Step == "console":
		return []string{waits + "install-complete --dir DIR --log-level=debug"}
	}
	return nil
}

const gatherBootstrap = "openshift-install gather bootstrap --dir DIR --bootstrap IP --master IP --key FILE"

// afterBootstrap is what follows the bootstrap. Where users provide the hosts they also move the load balancer on, and
// nothing approves the requests of the workers (openshift/installer:docs/user/metal/install_upi.md).
func (o Options) afterBootstrap(in diagnosis.Installer, wait string) []string {
	if in.Form != "user-provisioned" {
		return []string{wait}
	}
	return []string{
		wait + "    # first remove the bootstrap host from the load balancer (6443 and 22623)",
		o.know("csr list --kubeconfig DIR/auth/kubeconfig") + "    # approve those of your workers, client and serving: nothing else does",
	}
}

// unansweredAPI is what to look at where runs waited for the API in vain; to wait again comes last.
func (o Options) unansweredAPI(in diagnosis.Installer, wait string) []string {
	list := []string{
		gatherBootstrap + "    # then: " + o.know("diagnose --from log-bundle-TIME.tar.gz"),
		"curl -k -m 10 https://BOOTSTRAP_IP:6443/readyz    # and of " + in.API + ": if they differ, look at the backends of the load balancer",
	}
	if in.Stale {
		return list
	}
	return append(list, wait+"    # when it answers ok")
}
