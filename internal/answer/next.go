package answer

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/page"
)

const fewSupplies = 3

// supplies names what would decide, where no cause is known.
func (t *text) supplies() {
	list := t.supplyList()
	if len(list) == 0 || len(t.d.Roots) > 0 {
		return
	}
	t.Blank()
	t.Head(0, "Next: "+t.nextIs())
	for i, s := range list {
		if i == fewSupplies {
			return
		}
		t.Line(2, page.Cyan.Span(s))
	}
}

// nextIs says what the commands of supplyList are for.
func (t *text) nextIs() string {
	if t.installerNextCommand() != "" {
		if in := t.d.Cluster.Installer; in.Completed() && in.Step != "bootstrapped" {
			return "check the cluster (reads only)"
		}
		return "continue the installation"
	}
	return "get what would decide (reads only)"
}

// installerNextCommand is the command that continues the installation, if only its log is known.
func (t *text) installerNextCommand() string {
	in := t.d.Cluster.Installer
	if in == nil || len(t.d.Hosts) > 0 || len(t.d.Unexplained) > 0 || len(t.d.Roots) > 0 {
		return ""
	}
	return t.o.installerNext(*in)
}

// supplyList is what would decide, best first.
func (t *text) supplyList() []string {
	var list []string
	add := func(s string) {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	if t.mayNotRead() != "" {
		add(t.o.know(askForRights))
	}
	for _, u := range t.d.Unexplained {
		for _, s := range u.Suspects {
			add(t.o.fetch(s.Supply))
		}
	}
	gaps := t.d.Groups.Gaps
	if at := t.d.Source.Newest; !at.IsZero() {
		add("leave --now out, or give a time near " + at.Format(time.RFC3339))
		return list
	}
	if next := t.installerNextCommand(); next != "" {
		add(next)
		if in := t.d.Cluster.Installer; in.Step == "assets" || in.Ended == "made" {
			return list // there is no cluster yet to ask
		}
	}
	if r := t.o.Messages; r != nil && r.NoCluster && len(t.d.Hosts) == 0 {
		add(t.o.know("scan DIR/.openshift_install.log") + "    # there is no cluster yet to ask")
		add(t.o.know("preflight DIR"))
		return list
	}
	read := slices.ContainsFunc(t.d.Coverage, func(c evidence.Coverage) bool { return c.State == evidence.Read })
	if len(t.d.Hosts) == 0 && t.d.Source.Kind == "live" && !read {
		add(t.o.know("diagnose --from PATH") + "    # a must-gather that was made while the API answered")
		gaps = nil
	}
	if t.d.Verdict.Class == diagnosis.Undetermined {
		before := len(list)
		for _, g := range gaps {
			for _, s := range g.Supply {
				add(t.o.fetch(s))
			}
		}
		if t.d.Source.Kind != "live" && len(list)-before > fewSupplies { // too much to fetch piece by piece
			list = append(list[:before], "oc adm must-gather    # then: "+t.o.know("diagnose --from DIR"))
		}
	}
	return list
}

// installerNext is how an installation continues where nothing but its log was read; "" where
// that depends on why it ended (openshift/installer:cmd/openshift-install/waitfor.go,
// gather.go and agent/waitfor.go; from 4.12 on for agent).
func (o Options) installerNext(in diagnosis.Installer) string {
	const waits = "openshift-install wait-for "
	switch {
	case in.Ended == "complete" && in.Step == "bootstrapped":
		return waits + "install-complete --dir DIR --log-level=debug"
	case in.Ended == "complete":
		return o.know("diagnose --kubeconfig DIR/auth/kubeconfig") + "    # the workers can still be on their way"
	case in.Ended == "made":
		return waits + "bootstrap-complete --dir DIR --log-level=debug    # when the hosts boot with these files"
	case in.Ended == "gather-failed" || in.Ended == "gathering":
		return "openshift-install gather bootstrap --dir DIR --bootstrap IP --master IP --key FILE    # FILE: the private key of sshKey in install-config.yaml"
	case in.Ended != "interrupted" && in.Ended != "running":
		return ""
	case in.Step == "assets":
		return "openshift-install create ignition-configs --dir DIR    # or the command that was interrupted; no host can boot before it is done"
	case in.Step == "agent":
		return "openshift-install agent wait-for bootstrap-complete --dir DIR --log-level=debug"
	case in.Step == "api" || in.Step == "bootstrap":
		return waits + "bootstrap-complete --dir DIR --log-level=debug"
	case in.Step == "bootstrapped" || in.Step == "initialize" || in.Step == "stable" || in.Step == "console":
		return waits + "install-complete --dir DIR --log-level=debug"
	}
	return ""
}
