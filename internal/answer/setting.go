package answer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// fitting is advice without the steps that cannot be done where the texts are from: before the API is there, on another
// platform, in another product. Where one of those would change or keep something, what is changed after it is left out, too.
func (t *text) fitting(list []fault.Advice) []fault.Advice {
	return each(list, func(a fault.Advice) fault.Advice {
		var kept []fault.Step
		var files []string
		needed := false
		for _, s := range a.Steps {
			usesFile := slices.ContainsFunc(files, func(name string) bool { return strings.Contains(s.Run, name) })
			switch fits := t.o.setting.Fits(s.Do + "\n" + s.Run); {
			case fits && !usesFile && !(needed && s.Changes):
				kept = append(kept, s)
			case !fits:
				for _, m := range writtenFile.FindAllStringSubmatch(s.Run, -1) {
					files = append(files, m[1])
				}
				needed = needed || s.Changes || len(files) > 0
			}
		}
		if n := len(a.Steps) - len(kept); n > 0 {
			if t.leftOut == nil {
				t.leftOut = map[string]int{}
			}
			t.leftOut[a.ID] = n
			a.Steps = kept
		}
		if !t.o.setting.Fits(a.Verify.Run) {
			a.Verify.Run = ""
		}
		return a
	})
}

// cannotDo notes a remedy whose change cannot be made where the text is from: nothing leads to it.
func (t *text) cannotDo(id string) {
	if t.cannot == nil {
		t.cannot = map[string]bool{}
	}
	t.cannot[id] = true
}

// writtenFile is a file that a command writes: what comes after it needs the file.
var writtenFile = regexp.MustCompile(`> ?([\w.-]+\.\w+)`)

// missingSteps says how many steps of a remedy were left out, and why. Where none is left, it says what to look at instead.
func (t *text) missingSteps(a fault.Advice) {
	n := t.leftOut[a.ID]
	if n == 0 {
		return
	}
	words := "are left out: they need"
	if n == 1 {
		words = "is left out: it needs"
	}
	t.Para(2, page.Span{}, page.Dim, page.Count(n, "step", "steps")+" "+words+" what does not exist "+whereOf(t.o.setting)+".")
	if instead := t.o.setting.Instead(); len(a.Steps) == 0 && instead != "" {
		t.Lead(2, page.Bold.Span("Next: "), "  ", page.Plain, instead, 0)
	}
}

// whereOf says where a text is from.
func whereOf(s message.Setting) string {
	switch {
	case s.System != "":
		return "outside of OpenShift"
	case s.NoMirror && s.Phase == message.Bootstrap && !s.API:
		return "before the API answers, or is for a mirror, and the text has none"
	case s.NoMirror && s.Phase == "":
		return "without a mirror"
	case s.Phase == message.NothingMade:
		return "before the machines are made"
	case s.Phase == message.Bootstrap && !s.API:
		return "before the API answers"
	case s.Product == message.Hosted:
		return "in a hosted cluster"
	case s.Product != "":
		return "in " + string(s.Product)
	}
	return "on this platform"
}

// beforeCluster is where single files are from that tell of an installation and of no cluster: of the assisted-service,
// or of the bootstrap host.
func beforeCluster(d *diagnosis.Diagnosis, s message.Setting) message.Setting {
	read := func(r evidence.Resource) bool {
		return slices.ContainsFunc(d.Coverage, func(c evidence.Coverage) bool {
			return c.Need == r.String() && (c.State == evidence.Read || c.State == evidence.Partial) && c.Count > 0
		})
	}
	switch {
	case d.Source.Kind != textSource && d.Source.Kind != filesSource || read(evidence.Nodes) || read(evidence.ClusterVersions):
	case read(evidence.AssistedClusters):
		s.Phase, s.Agent = message.Bootstrap, true
	case read(evidence.BootstrapServices):
		s.Phase, s.API = message.Bootstrap, true // whether it answers is what its log is about
	}
	return s
}

// filesSource is the kind of a source of single files: internal/source/install.
const filesSource = "files"

// gathered is what to gather where the cluster of a text has no API yet: commands, each with what it is for. None where
// a must-gather can be made.
func (o Options) gathered() []string {
	scan := "    # then: " + o.know("scan journal.txt")
	switch s := o.setting; {
	case s.Phase == message.NothingMade && s.InstallLog: // the log is what was given
		return []string{o.know("preflight DIR")}
	case s.Phase == message.NothingMade:
		return []string{o.know("scan DIR/.openshift_install.log"), o.know("preflight DIR")}
	case s.Phase == message.Bootstrap && s.Agent:
		return []string{
			"ssh core@RENDEZVOUS_IP sudo /usr/local/bin/agent-gather -O > agent-gather.tar.xz    # then: " + o.know("diagnose --from agent-gather.tar.xz"),
			o.know("diagnose --rendezvous RENDEZVOUS_IP") + "    # asks the assisted-service, while it runs",
			"ssh core@HOST sudo journalctl -b --no-pager > journal.txt" + scan,
		}
	case s.Phase == message.Bootstrap && s.Bundle != "":
		return []string{o.know("diagnose --from " + s.Bundle)}
	case s.Phase == message.Bootstrap:
		return []string{
			"openshift-install gather bootstrap --dir DIR    # then: " + o.know("diagnose --from log-bundle-TIME.tar.gz"),
			"ssh core@BOOTSTRAP_IP sudo journalctl -b --no-pager > journal.txt" + scan,
		}
	case s.Phase == message.Firmware:
		return []string{o.know("diagnose --console HOST=FILE") + "    # FILE: what its screen shows from power-on, as the BMC or the hypervisor records it"}
	case s.Product == message.MicroShift:
		return []string{
			"sudo journalctl -b -u microshift --no-pager > journal.txt" + scan,
			"oc get nodes,pods -A -o wide > pods.txt    # then: " + o.know("scan pods.txt"),
		}
	case s.Product == message.Hosted:
		return []string{o.know("diagnose --hosted NAMESPACE/NAME") + "    # NAMESPACE: of the HostedCluster, with the kubeconfig of the management cluster"}
	}
	return nil
}

// gatheredWords say what gathered is for.
func gatheredWords(s message.Setting) string {
	switch {
	case s.Phase == message.NothingMade && s.InstallLog:
		return "there is no cluster yet to ask: correct what the log names, and check the plan before the next try."
	case s.Phase == message.Bootstrap && !s.Agent && s.Bundle != "":
		return "the cluster does not exist yet: read the logs that openshift-install has gathered."
	case s.Phase == message.NothingMade:
		return "there is no cluster yet to ask: read the whole log of openshift-install, and check its plan before the next try."
	case s.Phase == message.Firmware:
		return "no system runs on the host yet: keep its whole screen."
	case s.Phase == message.Bootstrap:
		return "the cluster does not exist yet: read what the bootstrap host logs."
	case s.Product == message.MicroShift:
		return "MicroShift is not gathered as a cluster: read its journal and its pods."
	case s.Product == message.Hosted:
		return "ask both clusters: the hosted one and the one that runs its control plane."
	}
	return ""
}
