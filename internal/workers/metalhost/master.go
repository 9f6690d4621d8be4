package metalhost

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// Way is the procedure by which a control-plane host is replaced.
type Way string

// The ways, with the documentation that has them.
const (
	// BySet: a ControlPlaneMachineSet replaces the Machine.
	BySet Way = "a ControlPlaneMachineSet"
	// ByBMC: metal3 installs the new host (openshift/openshift-docs:
	// modules/restore-replace-stopped-baremetal-etcd-member.adoc, modules/ipi-install-replacing-a-bare-metal-control-plane-node.adoc).
	ByBMC Way = "metal3 and the BMC"
	// ByImage: a person boots an image, and links Node, Machine and BareMetalHost by hand
	// (openshift/openshift-docs:nodes/nodes/nodes-nodes-replace-control-plane.adoc and its modules, for 4.19 on).
	ByImage Way = "an image, without BMC"
	// ByHand: there is no Machine API for the control plane (openshift/openshift-docs:
	// modules/restore-replace-stopped-baremetal-etcd-member.adoc: the method that was used to create it).
	ByHand Way = "an image, without Machines"
	// ByProvider: another provider makes the machine (openshift/openshift-docs:modules/restore-replace-stopped-etcd-member.adoc).
	ByProvider Way = "a Machine of the provider"
)

// imageFrom is the first minor version whose documentation replaces a host without BMC.
const imageFrom = 19

// NewMaster is the host that comes instead, as far as a person has named it. Without that it is the same one.
type NewMaster struct{ Name, BMC, MAC string }

// MasterStep is one step of the plan. Nothing of it is done by this program.
type MasterStep struct {
	Do     string
	Run    []string // what a person runs
	Writes bool     // it changes something
	File   string   // the name of a file that Run refers to
	Lines  []string // its content
	Guard  []string // commands that only read
	Expect string   // what they show before the next step
	If     string   // what to do where they do not
}

// MasterPlan is how a control-plane host is replaced in this cluster.
type MasterPlan struct {
	Way     Way
	Checks  []Check
	Steps   []MasterStep
	Unknown []string // placeholders in the steps: what the cluster does not show
}

// master is what the steps are filled in with.
type master struct {
	seen             Seen
	control          Control
	old              Member
	to               NewMaster
	way              Way
	minor            int
	node, host       string // of the old one
	machine          string
	healthy, id      string // a Node with a healthy member; the ID of the member that goes
	newNode, newName string // of the host and of the Machine
	ip               string
	well             bool // the member that goes is healthy
	total            int  // members
	unknown          []string
}

// MasterPlan plans the replacement of a control-plane host. minor is that of the version; known is false where it is not
// known.
func (s Seen) MasterPlan(c Control, old Member, to NewMaster, minor int, known bool) MasterPlan {
	m := &master{seen: s, control: c, old: old, to: to, minor: minor, host: old.HostName(), machine: old.MachineName()}
	p := MasterPlan{}
	p.Checks, m.well = s.controlChecks(c, old)
	m.node = cmp.Or(old.NodeName(), m.host)
	_, m.total, _ = c.etcdCheck(m.node)
	m.way = m.choose()
	p.Way = m.way
	p.Checks = append(p.Checks, m.wayChecks(known)...)
	if slices.ContainsFunc(p.Checks, func(c Check) bool { return c.Stops }) {
		return p
	}
	m.fill()
	p.Steps, p.Unknown = m.steps(), m.unknown
	return p
}

func (m *master) choose() Way {
	switch bmc := evidence.String(m.old.Host, "spec", "bmc", "address") != "" || m.to.BMC != ""; {
	case m.control.active() != "":
		return BySet
	case m.old.Machine != nil && m.old.Host != nil && bmc:
		return ByBMC
	case m.old.Machine != nil && m.old.Host == nil && m.seen.NoMetal3 != "" && m.seen.Platform != "BareMetal" && m.seen.Platform != "None":
		return ByProvider
	case m.seen.functional() != "":
		return ByImage
	}
	return ByHand
}

func (m *master) wayChecks(known bool) []Check {
	switch m.way {
	case ByBMC:
		checks := []Check{m.seen.metal3Check()}
		h := hostOf(m.old.Host)
		if h.deleting || machineOf(m.old.Machine).deleting {
			checks = append(checks, stop("its Machine or its BareMetalHost is being deleted already"))
		}
		if h.errorType != "" && m.to.BMC == "" {
			checks = append(checks, warning("metal3 reports an error of its BareMetalHost: "+h.text()+". A new BMC is named with --bmc"))
		}
		return checks
	case ByImage:
		if !known {
			return []Check{unknownStop(fmt.Sprintf("whether the documentation of this version has a procedure for hosts without BMC (4.%d on)", imageFrom))}
		}
		if m.minor < imageFrom {
			return []Check{stop(fmt.Sprintf("its host has no BMC in metal3, and Machine %s is Running: the etcd operator then adds a member only "+
				"for a Node with a Machine. The product documents this from 4.%d on: ask its support, or name the BMC of the host with --bmc and --boot-mac",
				m.seen.functional(), imageFrom))}
		}
	case BySet, ByHand, ByProvider:
	}
	return []Check{passed("the way: " + string(m.way))}
}

// fill finds the names. What is not known is a word in capitals, and said.
func (m *master) fill() {
	ready, _ := m.seen.controlNodes(m.node)
	m.healthy = ready[0]
	ips := Addresses(m.old.Node)
	if len(ips) == 0 {
		ips = hostOf(m.old.Host).ips
	}
	same := m.to == (NewMaster{})
	if image := m.way == ByImage || m.way == ByHand; image && !(same && len(ips) > 0) {
		m.ip = m.or("", "IP", "the address of the new Node: `oc get nodes -o wide`")
	} else if len(ips) > 0 {
		m.ip = ips[0]
	}
	m.id = m.or(m.control.memberID(ips), "MEMBER_ID", "the ID of its member: the first column of `etcdctl member list` in the line of "+m.node)
	m.newNode = cmp.Or(m.to.Name, m.host, m.node)
	if m.machine != "" {
		m.newName = nextName(m.machine, m.seen.machines())
	} else {
		m.newName = m.newNode
	}
}

func (m *master) or(value, word, what string) string {
	if value != "" {
		return value
	}
	m.unknown = append(m.unknown, word+": "+what)
	return word
}

var endNumber = regexp.MustCompile(`^(.*?)(\d+)$`)

// nextName is the name with the next free number, as the documentation recommends for a Machine.
func nextName(name string, all []machine) string {
	parts := endNumber.FindStringSubmatch(name)
	if parts == nil {
		return name + "-1"
	}
	highest := 0
	for _, m := range all {
		if p := endNumber.FindStringSubmatch(m.name); p != nil && p[1] == parts[1] {
			n, _ := strconv.Atoi(p[2]) // too long a number is 0
			highest = max(highest, n)
		}
	}
	return parts[1] + strconv.Itoa(highest+1)
}

func q(s string) string { return shellcommand.Quote(s) }

// api is a command of oc in the namespace of the Machines, etcd one in that of etcd.
func api(line string, names ...string) string  { return in(Namespace, line, names...) }
func etcd(line string, names ...string) string { return in(openshift.EtcdNamespace, line, names...) }

func in(namespace, line string, names ...string) string {
	var words []string
	for _, n := range names {
		words = append(words, q(n))
	}
	return strings.TrimSpace("oc -n " + namespace + " " + line + " " + strings.Join(words, " "))
}

// etcdctl runs in a pod of a healthy member; its container has addresses and certificates in its environment.
func (m *master) etcdctl(line string) string {
	return "oc -n " + openshift.EtcdNamespace + " exec " + q("etcd-"+m.healthy) + " -c etcdctl -- etcdctl " + line
}

func (m *master) members() []string {
	return []string{m.etcdctl("member list -w table"), m.etcdctl("endpoint health --cluster -w table")}
}

const availableMessage = `oc get etcd cluster -o jsonpath='{.status.conditions[?(@.type=="EtcdMembersAvailable")].message}'`

// steps are those of the way, in the order of the documentation.
func (m *master) steps() []MasterStep {
	switch m.way {
	case BySet:
		return []MasterStep{m.backup(), m.bySet(), m.added()}
	case ByBMC:
		return append([]MasterStep{m.backup(), m.off(), m.removed(), m.guardOff(), m.secrets(), m.deleted()},
			m.newHost(), m.newMachine(), m.added(), m.guardOn())
	case ByProvider:
		return []MasterStep{m.backup(), m.off(), m.removed(), m.guardOff(), m.secrets(), m.deleted(), m.newMachine(), m.added(), m.guardOn()}
	case ByImage:
		return append([]MasterStep{m.backup(), m.off(), m.guardOff(), m.removed(), m.secrets(), m.deleted()},
			m.hostAgain(), m.image(), m.link(), m.addMember(), m.guardOn())
	case ByHand:
	}
	return []MasterStep{m.backup(), m.off(), m.guardOff(), m.removed(), m.secrets(), m.deleted(), m.image(), m.added(), m.guardOn()}
}

// manifest is an object as lines of YAML.
func manifest(o kube.Object) []string {
	raw, err := yaml.Marshal(o)
	if err != nil { // objects come from JSON
		return nil
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// Check refuses what cannot be meant.
func (n *NewMaster) Check() error {
	w := Want{Name: orText(n.Name, "x"), BMC: orText(n.BMC, "ipmi://192.0.2.1"), MAC: orText(n.MAC, "52:54:00:00:00:01")}
	if err := w.Check(); err != nil {
		return err
	}
	if n.MAC != "" {
		n.MAC = w.MAC
	}
	return nil
}
