package evidence

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Supply says what would make known what could not be read: a kind with its parameters. It is not
// a sentence: the program that prints it knows its own flags and where it runs (internal/answer).
// The zero value: nothing is known to supply it.
type Supply struct {
	Kind      SupplyKind
	Verb      string // of a right
	Resource  string // as `oc get` spells it
	Namespace string // AllNamespaces for all of them
	Name      string // of the object or the pod
	Container string
	Host      string // name or address of a machine
	Unit      string // of a journal
	Path      string // of a file or directory
}

// AllNamespaces is the Namespace of a Supply that reads all of them.
const AllNamespaces = "*"

// SupplyKind names one way to get evidence.
type SupplyKind string

// What oc and other collectors of the field give.
const (
	SupplyMustGather       SupplyKind = "must-gather"
	SupplyInspect          SupplyKind = "inspect"           // Resource, Namespace; or all of a Namespace
	SupplyGet              SupplyKind = "get"               // Resource, Namespace, Name: the object as it is now
	SupplyAPIServices      SupplyKind = "api-services"      // which aggregated API server does not answer
	SupplyNodeLogs         SupplyKind = "node-logs"         // Host, Unit
	SupplyPodLog           SupplyKind = "pod-log"           // Namespace, Container, Name; Host where the pod's name is not known
	SupplyPreviousLog      SupplyKind = "previous-log"      // Namespace, Container, Name: of the run before
	SupplySOSReport        SupplyKind = "sosreport"         // Host
	SupplyAgentGather      SupplyKind = "agent-gather"      // Host
	SupplyGatherBootstrap  SupplyKind = "gather-bootstrap"  // the log bundle; Host is a master whose logs it should hold
	SupplyBootstrapJournal SupplyKind = "bootstrap-journal" // of the services that run before bootkube
	SupplyHyperShiftDump   SupplyKind = "hypershift-dump"   // Namespace, Name of the HostedCluster
	SupplyWholeText        SupplyKind = "whole-text"        // Path of a text that was cut
	SupplyOriginal         SupplyKind = "original"          // the archive before it was obfuscated
	SupplyAPI              SupplyKind = "api"               // a kubeconfig, once the API answers
	SupplyLogin            SupplyKind = "login"
	SupplyRole             SupplyKind = "role"         // Verb, Resource, Namespace
	SupplyNetworkPath      SupplyKind = "network-path" // Host
	SupplyAssisted         SupplyKind = "assisted"     // Host: a path to the service there, or its token
)

// What another run of rollcall gives.
const (
	SupplyAgain            SupplyKind = "again" // the API server had no time
	SupplyProbe            SupplyKind = "probe"
	SupplyProbeElsewhere   SupplyKind = "probe-elsewhere" // from another machine
	SupplyProbeLive        SupplyKind = "probe-live"      // a probe cannot be made afterwards
	SupplyJournals         SupplyKind = "journals"
	SupplySecrets          SupplyKind = "secrets"           // Namespace
	SupplyConsole          SupplyKind = "console"           // Host
	SupplyExpect           SupplyKind = "expect"            // a host that the user names
	SupplyNow              SupplyKind = "now"               // the time of what is read
	SupplyRendezvous       SupplyKind = "rendezvous"        // Host
	SupplyInstallDir       SupplyKind = "install-dir"       // Path
	SupplyPlan             SupplyKind = "plan"              // install-config.yaml, or Path
	SupplyPlanNetwork      SupplyKind = "plan-network"      // the network of a plan is asked
	SupplyBMC              SupplyKind = "bmc"               // the BMCs of the plan; Host is the one that is missing
	SupplyBMCRights        SupplyKind = "bmc-rights"        // the rights of the account of a BMC; Host is that of the BMC
	SupplyBMCLogin         SupplyKind = "bmc-credentials"   // a credential of the BMC of Host
	SupplyRedfish          SupplyKind = "redfish-address"   // an address of Redfish for a host that has one of another protocol
	SupplyRelease          SupplyKind = "release"           // the release that will be installed
	SupplyInstallerLog     SupplyKind = "installer-log"     // of openshift-install
	SupplyOneInstall       SupplyKind = "one-install"       // the log of one cluster and not of several
	SupplyArchive          SupplyKind = "archive"           // Path
	SupplyArchiveOrAPI     SupplyKind = "archive-or-api"    // an archive, or a kubeconfig
	SupplyKubeconfig       SupplyKind = "kubeconfig"        // with the cluster's CAs and a credential
	SupplyAddress          SupplyKind = "address"           // of the API or a master
	SupplyHosted           SupplyKind = "hosted"            // Namespace, Name of the HostedCluster
	SupplyManagement       SupplyKind = "management"        // Namespace, Name, read from its live management cluster
	SupplyHostedKubeconfig SupplyKind = "hosted-kubeconfig" // of the hosted cluster
	SupplyOnHost           SupplyKind = "on-host"           // rollcall-host on Host
	SupplyHostRoot         SupplyKind = "on-host-root"      // rollcall-host as root
	SupplyHostCopy         SupplyKind = "on-host-copy"      // a copy of the machine's files with Path in it
	SupplyHostNetwork      SupplyKind = "on-host-network"   // rollcall-host may resolve names
	SupplyHostNamespace    SupplyKind = "on-host-namespace" // rollcall-host in the network of the machine
	SupplyHostJournals     SupplyKind = "on-host-journals"  // rollcall-host may read journals
)

// SupplyKinds lists them all.
func SupplyKinds() []SupplyKind {
	return []SupplyKind{
		SupplyMustGather, SupplyInspect, SupplyGet, SupplyAPIServices, SupplyNodeLogs, SupplyPodLog, SupplyPreviousLog,
		SupplySOSReport, SupplyAgentGather, SupplyGatherBootstrap, SupplyBootstrapJournal, SupplyHyperShiftDump,
		SupplyWholeText, SupplyOriginal, SupplyAPI, SupplyLogin, SupplyRole, SupplyNetworkPath, SupplyAssisted,
		SupplyAgain, SupplyProbe, SupplyProbeElsewhere, SupplyProbeLive, SupplyJournals, SupplySecrets, SupplyConsole, SupplyExpect,
		SupplyNow, SupplyRendezvous, SupplyInstallDir, SupplyPlan, SupplyPlanNetwork, SupplyBMC, SupplyBMCRights, SupplyBMCLogin, SupplyRedfish, SupplyRelease,
		SupplyInstallerLog,
		SupplyOneInstall, SupplyArchive,
		SupplyArchiveOrAPI, SupplyKubeconfig, SupplyAddress, SupplyHosted, SupplyManagement, SupplyHostedKubeconfig,
		SupplyOnHost, SupplyHostRoot, SupplyHostCopy, SupplyHostNetwork, SupplyHostNamespace, SupplyHostJournals,
	}
}

// SupplyOf is the Supply of the Unavailable in err's chain, zero where there is none.
func SupplyOf(err error) Supply {
	if u, ok := AsUnavailable(err); ok {
		return u.Supply
	}
	return Supply{}
}

// IsZero reports whether nothing is known to supply it.
func (s Supply) IsZero() bool { return s == Supply{} }

// parameters are the names and values of all fields but the kind, in their order.
func (s *Supply) parameters(yield func(name string, value *string)) {
	v := reflect.ValueOf(s).Elem()
	for i := 1; i < v.NumField(); i++ {
		yield(strings.ToLower(v.Type().Field(i).Name), v.Field(i).Addr().Interface().(*string))
	}
}

// Parameters are the values that are set, by the names of their fields in lower case.
func (s Supply) Parameters() map[string]string {
	set := map[string]string{}
	s.parameters(func(name string, value *string) {
		if *value != "" {
			set[name] = *value
		}
	})
	return set
}

// String is the kind and its parameters, "inspect resource=pods namespace=a".
func (s Supply) String() string {
	text := string(s.Kind)
	s.parameters(func(name string, value *string) {
		if *value != "" {
			text += " " + name + "=" + *value
		}
	})
	return text
}

// MarshalText writes the form in which a collection records it.
func (s Supply) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// supplyWord is a parameter that no shell takes for anything but one word.
var supplyWord = regexp.MustCompile(`^(\*|[A-Za-z0-9_./][A-Za-z0-9_.:@/-]*)$`)

// UnmarshalText reads what MarshalText wrote. A collection may come from anyone, and a Supply is
// printed as advice: an unknown kind, an unknown parameter, or a value that a shell would not take
// as one word gives the zero value and no error.
func (s *Supply) UnmarshalText(text []byte) error {
	*s = Supply{}
	if read, err := parseSupply(string(text)); err == nil {
		*s = read
	}
	return nil
}

func parseSupply(text string) (Supply, error) {
	kind, rest, more := strings.Cut(text, " ")
	s := Supply{Kind: SupplyKind(kind)}
	if !slices.Contains(SupplyKinds(), s.Kind) {
		return Supply{}, fmt.Errorf("there is no kind of supply %q", kind)
	}
	fields := map[string]*string{}
	s.parameters(func(name string, value *string) { fields[name] = value })
	for more {
		var pair string
		pair, rest, more = strings.Cut(rest, " ")
		name, value, _ := strings.Cut(pair, "=")
		if fields[name] == nil || !supplyWord.MatchString(value) {
			return Supply{}, fmt.Errorf("%q is not a parameter of a supply", pair)
		}
		*fields[name] = value
	}
	return s, nil
}
