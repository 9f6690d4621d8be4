package answer

import (
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

const fewSupplies = 3

// mustGather is the kind of a source that is one: internal/source/archive/layout/mustgather.
const mustGather = "must-gather"

// installDirectory is the kind of a source of openshift-install's files alone: internal/source/install.
const installDirectory = "install directory"

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
	if len(t.installerNextCommands()) > 0 {
		if in := t.d.Cluster.Installer; in.Completed() && in.Step != "bootstrapped" {
			return "check the cluster (reads only)"
		}
		if t.d.Cluster.Installer.Blocked == "api" {
			return "find why the API does not answer"
		}
		return "continue the installation"
	}
	return "get what would decide (reads only)"
}

// waitsInVain reports whether the lines of a text show a cause, or that the installation failed: then no other
// wait helps.
func (t *text) waitsInVain() bool {
	r := t.o.Messages
	return r != nil && (r.Result == message.Present || slices.ContainsFunc(r.Symptoms, func(m message.Match) bool { return m.Failure == installFailed }))
}

// installFailed is what the catalog says of the last line of openshift-install.
const installFailed = "the installation failed"

// installerNextCommands are the commands that continue the installation, if only its log is known.
func (t *text) installerNextCommands() []string {
	in := t.d.Cluster.Installer
	if in == nil || t.waitsInVain() || len(t.d.Hosts) > 0 || len(t.d.Unexplained) > 0 || len(t.d.Roots) > 0 {
		return nil
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
	if next := t.installerNextCommands(); len(next) > 0 {
		for _, command := range next {
			add(command)
		}
		if in := t.d.Cluster.Installer; in.Step == "assets" || in.Ended == "made" {
			return list // there is no cluster yet to ask
		}
	}
	if r := t.o.Messages; r != nil && r.System != "" && len(t.d.Hosts) == 0 {
		add("kubectl get nodes -o wide; kubectl get pods -A -o wide")
		add("kubectl cluster-info dump --output-directory DIR    # objects, events and logs")
		return list
	}
	if gathered := t.o.gathered(); len(gathered) > 0 && t.o.setting.Phase != "" && len(t.d.Hosts) == 0 {
		if t.o.setting.Phase == message.NothingMade {
			gathered[0] += "    # there is no cluster yet to ask"
		}
		return append(list, gathered...)
	}
	if hosted := t.ofHosted(); len(hosted) > 0 {
		return append(list, hosted...)
	}
	read := slices.ContainsFunc(t.d.Coverage, func(c evidence.Coverage) bool { return c.State == evidence.Read })
	if len(t.d.Hosts) == 0 && t.d.Source.Kind == "live" && !read {
		add(t.o.know("diagnose --from PATH") + "    # a must-gather that was made while the API answered")
		gaps = nil
	}
	if t.d.Verdict.Class == diagnosis.Undetermined {
		for _, command := range t.describing() {
			add(command)
		}
		if t.d.Source.Kind == installDirectory && len(t.d.Hosts) > 0 { // no API that oc could ask
			add(t.o.Again("diagnose --console "+t.d.Hosts[0].Name+"=FILE") + "    # FILE: the text of its screen")
			return list
		}
		before := len(list)
		for _, g := range gaps {
			for _, s := range g.Supply {
				add(t.o.fetch(s))
			}
		}
		if t.d.Source.Kind != "live" && len(list)-before > fewSupplies { // too much to fetch piece by piece
			why := "then"
			if t.d.Source.Kind == mustGather {
				why = "this one lacks parts; then"
			}
			list = append(list[:before], "oc adm must-gather    # "+why+": "+t.o.know("diagnose --from DIR"))
			if instead := t.o.gathered(); len(instead) > 0 {
				list = append(list[:before], instead...)
			}
		}
	}
	return list
}

// ofHosted are the commands that decide about a hosted cluster of which only objects were given: a must-gather of the
// management cluster has neither its hosts nor its objects.
func (t *text) ofHosted() []string {
	namespace, name, ok := strings.Cut(t.d.Cluster.ReadHosted, "/")
	if !ok || len(t.d.Hosts) > 0 || t.d.Verdict.Class != diagnosis.Undetermined {
		return nil
	}
	list := []string{t.o.know("diagnose --hosted "+t.d.Cluster.ReadHosted) + "    # with the kubeconfig of the management cluster"}
	if !t.d.Cluster.ReadNodePools {
		list = append(list, "oc get nodepools -n "+namespace+" -o yaml    # on the management cluster: which nodes "+name+" has, and why one is missing")
	}
	dump := t.o.supply(evidence.Supply{Kind: evidence.SupplyHyperShiftDump, Namespace: namespace, Name: name})
	return append(list, dump+"    # then: "+t.o.know("diagnose --from DIR"))
}
