package answer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// supplyWords say how to get evidence: one kind has the same words everywhere. In braces
// is a parameter, and behind a bar what stands there where it is not known. A part in
// brackets is left out where its parameter is not known. What begins with -- is a flag
// of `rollcall diagnose`.
var supplyWords = map[evidence.SupplyKind]string{
	evidence.SupplyMustGather:       "oc adm must-gather",
	evidence.SupplyInspect:          "oc adm inspect[ -n {namespace}] {resource}",
	evidence.SupplyGet:              "oc get {resource}[ -n {namespace}][ {name}] -o yaml",
	evidence.SupplyAPIServices:      "oc get apiservices",
	evidence.SupplyNodeLogs:         "oc adm node-logs {host|NODE}[ -u {unit}]",
	evidence.SupplyPodLog:           "oc logs -n {namespace}[ -c {container}] {name|POD}[    # the pod on {host}]",
	evidence.SupplyPreviousLog:      "oc logs --previous -n {namespace} -c {container} {name}",
	evidence.SupplySOSReport:        "sosreport on {host|the host}",
	evidence.SupplyAgentGather:      "agent-gather on {host|the host}",
	evidence.SupplyGatherBootstrap:  "openshift-install gather bootstrap --dir DIR[ --bootstrap ADDRESS --master {host}]    # then: --from FILE",
	evidence.SupplyBootstrapJournal: "sudo journalctl -b -u node-image-pull.service -u release-image.service -u bootkube.service    # on the bootstrap host",
	evidence.SupplyHyperShiftDump:   "hypershift dump cluster --namespace {namespace} --name {name} --artifact-dir DIR --dump-guest-cluster",
	evidence.SupplyWholeText:        "the whole of {path}",
	evidence.SupplyOriginal:         "the archive as it was before it was cleaned",
	evidence.SupplyAPI:              "a kubeconfig, once the API answers",
	evidence.SupplyLogin:            "valid credentials: log in again",
	evidence.SupplyRole:             "a role that may {verb} {resource}[ in namespace {namespace}]",
	evidence.SupplyNetworkPath:      "a network path to {host}",
	evidence.SupplyAssisted:         "a network path to {host}, or --install-dir DIR with its token",
	evidence.SupplyAgain:            "the same command again in a few minutes",
	evidence.SupplyProbe:            "--probe",
	evidence.SupplyProbeElsewhere:   "rollcall diagnose --probe from another machine, or rollcall-host on the node itself",
	evidence.SupplyProbeLive:        "run rollcall with access to the cluster: a probe cannot be made afterwards",
	evidence.SupplyJournals:         "--journals",
	evidence.SupplySecrets:          "--read-secrets {namespace|NAMESPACE}    # keys and tokens are kept as digests only",
	evidence.SupplyConsole:          "--console {host|HOST}=FILE",
	evidence.SupplyExpect:           "--expect NAME",
	evidence.SupplyNow:              "--now TIME",
	evidence.SupplyRendezvous:       "--rendezvous {host|IP}",
	evidence.SupplyInstallDir:       "--install-dir {path|DIR}",
	evidence.SupplyBMC:              "rollcall preflight --bmc",
	evidence.SupplyBMCRights: "look at the role of the account at the BMC of {host|the host}: it needs ConfigureComponents, which Operator and " +
		"Administrator have",
	evidence.SupplyBMCLogin:         "--bmc-credentials FILE    # with the user and the password of the BMC of {host|each host}",
	evidence.SupplyRedfish:          "rollcall preflight --bmc-list FILE    # with the Redfish address of {host|the host}, if its BMC has Redfish",
	evidence.SupplyPlan:             "rollcall preflight -f {path|install-config.yaml}",
	evidence.SupplyRelease:          "--release 4.Y    # the release that you will install",
	evidence.SupplyInstallerLog:     "--from DIR/.openshift_install.log    # of the directory that openshift-install ran in",
	evidence.SupplyOneInstall:       "--from FILE    # the log of one cluster only",
	evidence.SupplyArchive:          "--from {path}",
	evidence.SupplyArchiveOrAPI:     "--from ARCHIVE, or a kubeconfig",
	evidence.SupplyKubeconfig:       "--kubeconfig FILE",
	evidence.SupplyPlanNetwork:      "rollcall preflight --network    # from a machine in the network of the hosts",
	evidence.SupplyAddress:          "--kubeconfig FILE, or --master HOST=IP",
	evidence.SupplyHosted:           "--hosted {namespace|NAMESPACE}/{name}",
	evidence.SupplyManagement:       "--hosted {namespace}/{name} with the kubeconfig of the management cluster",
	evidence.SupplyHostedKubeconfig: "--hosted-kubeconfig FILE",
	evidence.SupplyOnHost:           "rollcall-host --collect FILE    # on {host|the machine}, then --from FILE with the others",
	evidence.SupplyHostRoot:         "run rollcall-host as root",
	evidence.SupplyHostCopy:         "copy the whole {path}, with the files that its links lead to; better: run rollcall-host on {host|the machine}",
	evidence.SupplyHostNetwork:      "rollcall-host without --no-network",
	evidence.SupplyHostNamespace:    "rollcall-host in a container that was started with --net=host",
	evidence.SupplyHostJournals:     "rollcall-host without --no-journals",
}

// onMachineWords are those of rollcall-host, which has no --from and stands on one
// machine.
var onMachineWords = map[evidence.SupplyKind]string{
	evidence.SupplyMustGather: "oc adm must-gather    # where the API answers",
	evidence.SupplyOnHost:     "rollcall-host on {host|the machine}",
	evidence.SupplyProbe:      "rollcall diagnose --probe",
}

var (
	supplyOption = regexp.MustCompile(`\[([^\]]*)\]`)
	supplyBlank  = regexp.MustCompile(`\{([a-z]+)(?:\|([^}]*))?\}`)
)

// supply says how to get evidence; "" where nothing is known to supply it.
func (o Options) supply(s evidence.Supply) string {
	words, values := supplyWords[s.Kind], s.Parameters()
	if forReader(s) && !o.Wide && !o.OnMachine {
		return o.know(askForRights)
	}
	if own, ok := onMachineWords[s.Kind]; ok && o.OnMachine {
		words = own
	}
	if !o.setting.Fits(words) || o.setting.Phase == message.Bootstrap && strings.HasPrefix(words, "oc adm ") {
		words = ""
		if list := o.gathered(); len(list) > 0 {
			words = list[0]
		}
	}
	switch { // oc spells these two differently
	case s.Kind == evidence.SupplyInspect && s.Resource == "":
		words = "oc adm inspect ns/{namespace}"
	case s.Kind == evidence.SupplyGet && s.Namespace == evidence.AllNamespaces:
		words = "oc get {resource} -A -o yaml"
	}
	words = supplyOption.ReplaceAllStringFunc(words, func(part string) string {
		if values[supplyBlank.FindStringSubmatch(part)[1]] == "" {
			return ""
		}
		return part[1 : len(part)-1]
	})
	return supplyBlank.ReplaceAllStringFunc(words, func(blank string) string {
		m := supplyBlank.FindStringSubmatch(blank)
		if v := values[m[1]]; v != "" {
			return v
		}
		return m[2]
	})
}

// HowToGet is the command that gets evidence, "" where none is known to.
func (o Options) HowToGet(s evidence.Supply) string { return o.fetch(s) }

// fetch is the command that gets evidence, with the whole call where it is a flag.
func (o Options) fetch(s evidence.Supply) string {
	switch {
	case s.Kind == evidence.SupplyAgain && o.Call != "":
		return o.Call + "    # again in a few minutes"
	case s.Kind == evidence.SupplyAgain:
		return o.Again("diagnose") + "    # again in a few minutes"
	case slices.Contains(o.Skip, s.Kind):
		return ""
	case o.isFlag(s) && o.Call != "":
		return o.Call + " " + o.supply(s)
	case o.isFlag(s):
		return o.Again("diagnose") + " " + o.supply(s)
	}
	return o.supply(s)
}

// isFlag reports whether what supplies the evidence is a flag of this command.
func (o Options) isFlag(s evidence.Supply) bool { return strings.HasPrefix(o.supply(s), "--") }

// decides says how to decide a suspect: by what would make it known, and else why it is
// not.
func (o Options) decides(s diagnosis.Suspect) string {
	if words := o.supply(s.Supply); words != "" {
		return words
	}
	return s.Reason
}
