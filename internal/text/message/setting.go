package message

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Setting is where a text is from: how far the installation or the host was, which product it is of and on which
// platforms. What it does not show is empty. It decides which next steps can be done.
type Setting struct {
	Phase     Phase
	Product   Product
	Platforms []string // as Infrastructure names them
	NoMirror  bool     // images come from public registries, and the text has no mirror
	System    string   // another distribution of Kubernetes, or podman alone; "" for OpenShift

	API   bool // the text shows that an API answers: of the bootstrap host, or of the cluster
	Agent bool // the installation is agent-based: the rendezvous host is the bootstrap host

	Bundle     string // the log bundle that openshift-install has gathered, by the name of its file; "" where the text names none
	InstallLog bool   // the text is from the log file of openshift-install
}

// Phase is how far the installation was of which a text is.
type Phase string

// The phases. A text of a cluster has none, and so has one that does not show it.
const (
	NothingMade Phase = "nothing made" // openshift-install was making its files or the machines: there is no host and no API
	Bootstrap   Phase = "bootstrap"    // the bootstrap host runs, or the control plane was waited for
	Firmware    Phase = "firmware"     // the firmware or the boot loader of a host is at work, or its disk is locked: no system runs
	FirstBoot   Phase = "first boot"   // Ignition runs on a host, which nobody can log in to
)

// Product is what a text is of, where it is not a self-managed OpenShift.
type Product string

// The products that lack a part of OpenShift.
const (
	MicroShift Product = "MicroShift"
	CRC        Product = "CRC"
	Hosted     Product = "hosted" // a hosted control plane
)

// Words of programs in lower case. The installer's are in openshift/installer: cmd/openshift-install/create.go and
// command/waitfor.go (waitForBootstrapComplete), pkg/agent/waitfor.go and cluster.go; the scripts of the bootstrap host in
// data/data/bootstrap/files/usr/local/bin of the same repository.
var (
	bootstrapWords = regexp.MustCompile(`\b(?:bootkube|release-image-download|node-image-pull|kubelet-pause-image|crio-configure|approve-csr)\.sh\b|` +
		`\b(?:bootkube|release-image|node-image-pull|approve-csr)\.service\b|\bwait for bootstrap|wait-for bootstrap-complete|` +
		`waiting up to \S+ (?:\([^)]*\) )?for the kubernetes api|still waiting for the kubernetes api|for bootstrapping to complete|` +
		`bootstrap failed to complete|failed waiting for kubernetes api|bootstrap kube api never initialized|bootstrap process timed out|` +
		`pulling debug logs from the bootstrap|failed to wait for bootstrapping`)
	clusterWords = regexp.MustCompile(`safe to remove the bootstrap resources|for the cluster at \S+ to initialize|install complete!|` +
		`cluster operator \S+ (?:\S+ )?(?:degraded|available|progressing)\b|\bavailable +progressing +degraded\b|successfully registered node|` +
		`(?m:^[^\n]{0,80}[$#>] ?(?:sudo )?(?:oc|kubectl) (?:-\S+ \S+ )?(?:get|describe|logs|adm|debug|exec|rsh)\b)|` +
		`(?m:^kind: "?(?:node|machine|machineset|machineconfigpool|clusteroperator|clusterversion|baremetalhost|pod|event|list|hostedcluster|nodepool)\b)|` +
		`\bnodedegraded\b|machine-config-daemon-\w+|\bmachine-config-controller\b|\bprepull\b`)
	firstBootWords = regexp.MustCompile(`\bignition\[\d+\]|a start job is running for (?:coreos )?ignition`)
	firmwareWords  = regexp.MustCompile(`grub rescue>|\bgrub-core/|\bwelcome to grub\b|\bpxe-e\d\d|\bbdsdxe: |no bootable device|\bclevis-luks-askpass\b`)
	makesMachines  = regexp.MustCompile(`\bopenshift-cluster-api-guests\b|msg="?creating infrastructure resources|\binfo creating infrastructure resources|` +
		`msg="?error: \S[^\n]*\n(?:[^\n]*\n){0,6}[^\n]*\bwith (?:module\.)?\S*\.bootstrap\b`)
	apiAnswers = regexp.MustCompile(`\bapi v1\.\d+\S* up\b`)
	agentWords = regexp.MustCompile(`rendezvous|agent wait-for|agent rest api|\bagent-based\b|bootstrap kube api never initialized`)

	products = []struct {
		is   Product
		expr *regexp.Regexp
	}{
		{MicroShift, regexp.MustCompile(`\bmicroshift\b`)},
		{CRC, regexp.MustCompile(`\bcrc (?:vm|status|start|version)\b|\bcrc-\w+-master-0\b|\bapi\.crc\.testing\b|codeready containers|openshift local`)},
		{Hosted, regexp.MustCompile(`\bhypershift\b|\bhostedclusters?\b|\bnodepools?\b|\bhosted ?control ?plane|\bignition-server\b`)},
	}
)

// platforms have words that no text of another platform has: the manifests and the providers of all of them are named in
// the logs of each (openshift/api:config/v1/types_infrastructure.go, PlatformType).
var platforms = []struct {
	name string
	expr *regexp.Regexp
}{
	{"AWS", regexp.MustCompile(`\.ec2\.internal\b|\.compute\.internal\b|` +
		`\baws(?:machine|cluster)\b|arn:aws|\baws_[a-z]+\.|\bplatform(?:type)?"?: "?aws\b|\bon aws\b`)},
	{"Azure", regexp.MustCompile(`\bazure(?:machine|cluster)\b|\bazurerm_|\bplatform(?:type)?"?: "?azure\b|\bon azure\b|management\.azure\.com`)},
	{"GCP", regexp.MustCompile(`\bgcp(?:machine|cluster)\b|\bgoogle_compute_|\bplatform(?:type)?"?: "?gcp\b|\bon gcp\b|compute\.googleapis\.com`)},
	{"VSphere", regexp.MustCompile(`\bvsphere(?:vm|machine|cluster|private)?\b|\bvcenter\b|\bgovmomi\b|\bvmware\b|\besxi\b`)},
	{"OpenStack", regexp.MustCompile(`\bopenstack_|\bopenstack(?:machine|cluster)\b|\bplatform(?:type)?"?: "?openstack\b|\bon openstack\b|clouds\.yaml|` +
		`in the service catalog`)},
	{"oVirt", regexp.MustCompile(`\bovirt(?:machine|_|-engine)|\bplatform(?:type)?"?: "?ovirt\b|\bon ovirt\b`)},
	{"Nutanix", regexp.MustCompile(`\bnutanix(?:machine|cluster)\b|\bplatform(?:type)?"?: "?nutanix\b|\bon nutanix\b|\bprism central\b`)},
	{"None", regexp.MustCompile(`\bplatform(?:type)?"?: "?none\b|\bplatform(?:=| )none\b`)},
	{"BareMetal", regexp.MustCompile(`\bbmh\b|\bbaremetalhosts?\b|\bmetal3\b|\bironic\b|\bipmi|\bredfish\b|\bidrac\b|\bbmc\b|\bbare ?-?metal (?:ipi|host)|` +
		`\bplatform(?:type)?"?: "?baremetal\b`)},
}

// providerNames are the programs of all platforms, which openshift-install unpacks on each.
var providerNames = regexp.MustCompile(`terraform-provider-\S+|symlinking plugin [^\n]*|cluster-api-provider-\S+`)

// settingOf reads from a text where it is from.
// Words of openshift-install: where it puts the logs that it gathered (cmd/openshift-install/gather.go), and the lines of its
// log file, which have a time: those on a terminal have none (cmd/openshift-install/log.go).
var (
	gatheredBundle = regexp.MustCompile(`gather logs captured here \\?"?(?:[^\s"]*/)?(log-bundle-[\w.-]+\.tar\.gz)`)
	installLog     = regexp.MustCompile(`(?m)^time="[^"]+" level=debug msg=`)
	gatherAgain    = regexp.MustCompile(`openshift-install gather bootstrap --dir DIR` +
		`(?:(?:; after it: oc adm must-gather)?; then rollcall diagnose --from ARCHIVE)?`)
)

// withBundle is a next step that does not ask for logs which are gathered already.
func (s Setting) withBundle(next string) string {
	if s.Bundle == "" {
		return next
	}
	return gatherAgain.ReplaceAllLiteralString(next, "rollcall diagnose --from "+s.Bundle)
}

func settingOf(text []byte) (s Setting) {
	if m := gatheredBundle.FindAllSubmatch(text, -1); m != nil {
		s.Bundle = string(m[len(m)-1][1])
	}
	s.InstallLog = installLog.Match(text[:min(len(text), maxHinted)])
	head := bytes.ToLower(text[:min(len(text), maxHinted)])
	switch cluster := clusterWords.Match(head); {
	case cluster:
		s.API = true
	case bootstrapWords.Match(head):
		s.Phase, s.API, s.Agent = Bootstrap, apiAnswers.Match(head), agentWords.Match(head)
	case makesMachines.Match(head):
		s.Phase = NothingMade
	case firstBootWords.Match(head):
		s.Phase = FirstBoot
	case firmwareWords.Match(head):
		s.Phase = Firmware
	}
	s.NoMirror = fromPublic.Match(head) && !bytes.Contains(head, []byte("mirror"))
	for _, p := range products {
		if p.expr.Match(head) {
			s.Product = p.is
			break
		}
	}
	named := providerNames.ReplaceAll(head, nil)
	for _, p := range platforms {
		if p.expr.Match(named) {
			s.Platforms = append(s.Platforms, p.name)
		}
	}
	return s
}

var (
	usesAPI = regexp.MustCompile(`\b(?:oc|kubectl) (?:(?:-n|--kubeconfig|--context) \S+ |-\S+ )*(?:get|describe|logs|exec|rsh|debug|patch|delete|` +
		`apply|create|edit|whoami|extract|label|annotate|scale|rollout|wait|auth|explain|proxy|` +
		`adm (?:must-gather|inspect|node-logs|certificate|drain|cordon|uncordon|top|upgrade|taint|` +
		`wait-for\S*|reboot\S*))\b|\brollcall (?:csr|watch|collect|fix plan)\b`)
	ownKubeconfig = regexp.MustCompile(`kubeconfig-loopback|localhost\.kubeconfig`)
	onHost        = regexp.MustCompile(`\b(?:journalctl|systemctl|crictl)\b|\bssh core@`)

	ofBareMetal  = regexp.MustCompile(`(?i)\bbmh\b|baremetalhosts?\b|metal3|\bironic\b`)
	ofMachineAPI = regexp.MustCompile(`(?i)-n openshift-machine-api\b|\bget (?:machines?|machinesets?)\b|\bMachineSets?\b`)
	ofPools      = regexp.MustCompile(`(?i)-n openshift-machine-config-operator\b|` +
		`\b(?:get|describe|edit|patch) (?:mcp|mc|machineconfigpools?|machineconfigs?)\b`)
	operatorWords = regexp.MustCompile(`(?i)-n openshift-(?:config|cluster-version|cluster-machine-approver|etcd|kube-apiserver|` +
		`authentication|console|ingress-operator)\b|` +
		`\b(?:get|describe) (?:co|clusteroperators?|clusterversions?|image\.config\S*|infrastructure)\b|must-gather|\badm upgrade\b|\brollcall csr\b`)
	ofOwnControlPlane = regexp.MustCompile(`(?i)-n openshift-(?:etcd|kube-apiserver|cluster-machine-approver)\b`)
)

var (
	// fromPublic is an image of a registry that is nobody's mirror.
	fromPublic = regexp.MustCompile(`\b(?:quay\.io|registry\.ci\.openshift\.org|registry\.(?:access\.)?redhat\.(?:io|com)|docker\.io|ghcr\.io)` +
		`/[\w./-]+[:@]`)
	ofMirror = regexp.MustCompile(`(?i)\bmirror the release|\badm release mirror|\boc-mirror\b|\bask the mirror\b|MIRROR/PATH|\bmirror set\b`)
	// ofOtherHosts are units that the bootstrap host does not have (openshift/machine-config-operator:templates/common/_base/units).
	ofOtherHosts = regexp.MustCompile(`-u machine-config-daemon-`)
)

// clouds are platforms whose hosts have no cable, no BMC and no install medium of a user.
var clouds = []string{"AWS", "Azure", "GCP"}

var ofRacks = regexp.MustCompile(`\b(?:PXE|BMC|IPMI|Redfish|VLAN|switch port|cable)\b`)

// Fits reports whether a step can be done where the text is from: words and commands of one step. A step that needs what
// is not known to be there fits.
func (s Setting) Fits(step string) bool {
	switch {
	case !fitsSystem(s.System, step), s.NoMirror && ofMirror.MatchString(step), s.Phase == Bootstrap && ofOtherHosts.MatchString(step):
		return false
	}
	api := usesAPI.MatchString(step)
	switch own := ownKubeconfig.MatchString(step); {
	case s.Phase == NothingMade && (api || onHost.MatchString(step)) && !s.on("BareMetal"):
		return false
	case s.Phase == NothingMade && api && !own, s.Phase == Bootstrap && !s.API && api && !own:
		return false
	}
	if s.elsewhere("BareMetal") && ofBareMetal.MatchString(step) {
		return false
	}
	if len(s.Platforms) == 1 && slices.Contains(clouds, s.Platforms[0]) && ofRacks.MatchString(step) {
		return false
	}
	switch s.Product {
	case MicroShift:
		return !matchesAny(step, ofBareMetal, ofMachineAPI, ofPools, operatorWords)
	case CRC:
		return !matchesAny(step, ofBareMetal, ofMachineAPI)
	case Hosted:
		return !matchesAny(step, ofPools, ofOwnControlPlane)
	}
	return true
}

func matchesAny(step string, list ...*regexp.Regexp) bool {
	return slices.ContainsFunc(list, func(r *regexp.Regexp) bool { return r.MatchString(step) })
}

// and is where two texts of one question are from. Where they are of several phases or products, none is known.
func (s Setting) and(o Setting) Setting {
	s.API, s.Agent = s.API || o.API, s.Agent || o.Agent
	s.Bundle, s.InstallLog = cmp.Or(s.Bundle, o.Bundle), s.InstallLog || o.InstallLog
	if s.Phase == "" && !s.API {
		s.Phase = o.Phase
	} else if o.Phase != s.Phase && o.Phase != "" || o.API && o.Phase == "" {
		s.Phase = ""
	}
	if s.Product == "" {
		s.Product = o.Product
	} else if o.Product != "" && o.Product != s.Product {
		s.Product = ""
	}
	for _, p := range o.Platforms {
		if !s.on(p) {
			s.Platforms = append(s.Platforms, p)
		}
	}
	return s
}

// on reports whether the text shows a platform.
func (s Setting) on(platform string) bool { return slices.Contains(s.Platforms, platform) }

// elsewhere reports whether the text shows other platforms and not this one.
func (s Setting) elsewhere(platform string) bool {
	return len(s.Platforms) > 0 && !s.on(platform) || s.Product == MicroShift || s.Product == CRC
}

// clause is a part of a next step up to its separator. A dot within a command or a name has no blank behind it.
var clause = regexp.MustCompile(`(?:; |\. )`)

// fitting is a next step without the parts that cannot be done where the text is from.
func (s Setting) fitting(next string) string {
	if next == "" || s.Fits(next) {
		return next
	}
	var kept strings.Builder
	from := 0
	for _, at := range append(clause.FindAllStringIndex(next, -1), []int{len(next), len(next)}) {
		if s.Fits(next[from:at[0]]) {
			kept.WriteString(next[from:at[1]])
		}
		from = at[1]
	}
	return strings.TrimRight(kept.String(), ";. ")
}

// Instead is what to look at where no step of an answer fits, "" where nothing is known.
func (s Setting) Instead() string {
	switch {
	case s.System != "":
		return insteadOf(s.System)
	case s.Phase == NothingMade:
		return "on the machine with openshift-install: grep -n -E 'level=(error|fatal|warning)' DIR/.openshift_install.log: the first of them has the reason"
	case s.Phase == Bootstrap && s.Agent:
		return "on the rendezvous host: sudo journalctl -b -u assisted-service -u bootkube -u agent --no-pager -n 100"
	case s.Phase == Bootstrap:
		return "on the bootstrap host: sudo journalctl -b -u release-image -u bootkube --no-pager -n 100"
	case s.Product == MicroShift:
		return "on the host: sudo journalctl -b -u microshift --no-pager -n 100"
	}
	return ""
}

// suit takes out of the next steps what cannot be done where the text is from.
func (r *Report) suit() {
	set := func(next *string) {
		if had := *next; had != "" {
			if *next = r.Setting.fitting(had); *next == "" {
				*next = r.Setting.Instead()
			}
			*next = r.Setting.withBundle(*next)
		}
	}
	for _, list := range [][]Match{r.Matches, r.Symptoms, r.Over} {
		for i := range list {
			set(&list[i].Next)
		}
	}
	for i := range r.Errors {
		set(&r.Errors[i].Next)
	}
}
