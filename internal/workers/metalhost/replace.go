package metalhost

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

// Replaced is a worker that a run replaces: its Machine is deleted, and the new one that its MachineSet makes takes the
// same host, or another one that is available.
type Replaced struct {
	Node       string `json:"node,omitempty"` // "" where it has none
	Machine    string `json:"machine"`
	MachineUID string `json:"machineUID"`
	Host       string `json:"host"` // its BareMetalHost
	HostUID    string `json:"hostUID"`
	TakesUID   string `json:"takesUID"` // of the BareMetalHost that takes its place, which Plan.Host names
	DropHost   bool   `json:"dropHost,omitempty"`
	LocalGoes  bool   `json:"localGoes,omitempty"` // data that is on its disks alone goes
	// Labels and Taints of the Node that nothing puts on the new one.
	Labels []string `json:"labels,omitempty"`
	Taints []string `json:"taints,omitempty"`
}

// Same says that the host itself is installed again.
func (r Replaced) Same(p Plan) bool { return r.Host == p.Host.Name }

func (r Replaced) check(p Plan) error {
	for what, name := range map[string]string{"Machine": r.Machine, "BareMetalHost": r.Host, "host": p.Host.Name, "MachineSet": p.Set} {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			return fmt.Errorf("%s %.80q is not the name of an object", what, name)
		}
	}
	if r.MachineUID == "" || r.HostUID == "" || r.TakesUID == "" || p.SetUID == "" {
		return errors.New("the plan is not complete")
	}
	if r.Same(p) && r.DropHost {
		return errors.New("a host that is installed again is not deleted")
	}
	return nil
}

// Exchange is what replacing a worker means in a cluster.
type Exchange struct {
	Member Member
	With   string // another BareMetalHost that takes its place; "" the same host is installed again
	Drop   bool   // the BareMetalHost of the worker is deleted at the end
	Local  bool   // data that is on its disks alone goes
	Name   string // as a person named the worker
}

func (e Exchange) same() bool { return e.With == "" || e.With == e.Member.HostName() }

// takes is the name of the BareMetalHost that takes the place.
func (e Exchange) takes() string {
	if e.same() {
		return e.Member.HostName()
	}
	return e.With
}

// SetOf is the MachineSet that has made a Machine, nil where none is its controller or it is not there.
func (s Seen) SetOf(machine kube.Object) kube.Object {
	owners, _ := evidence.Field(machine, "metadata", "ownerReferences").([]any)
	for _, o := range owners {
		m, _ := o.(map[string]any)
		if m["controller"] != true || evidence.String(m, "kind") != "MachineSet" {
			continue
		}
		set := object(s.Sets, evidence.String(m, "name"))
		if set != nil && evidence.String(set, "metadata", "uid") == evidence.String(m, "uid") {
			return set
		}
	}
	return nil
}

// ReplacePlan is the plan of a run. The checks have passed.
func (s Seen) ReplacePlan(e Exchange) Plan {
	set := setOf(s.SetOf(e.Member.Machine))
	old, takes := hostOf(e.Member.Host), hostOf(object(s.Hosts, e.takes()))
	m := machineOf(e.Member.Machine)
	r := &Replaced{Node: e.Member.NodeName(), Machine: m.name, MachineUID: m.uid, Host: old.name, HostUID: old.uid, TakesUID: takes.uid,
		DropHost: e.Drop, LocalGoes: e.Local}
	r.Labels, r.Taints = s.lostOfNode(e.Member)
	return Plan{Cluster: s.ClusterID, Host: Want{Name: takes.name}, Set: set.name, SetUID: set.uid, Replaces: r}
}

// ownLabels begin the labels that kubelet, cloud provider and operators put on a new Node themselves.
var ownLabels = []string{"kubernetes.io/", "beta.kubernetes.io/", "node.kubernetes.io/", "node.openshift.io/", "machine.openshift.io/",
	"feature.node.kubernetes.io/", openshift.NodeRolePrefix + "worker"}

// lostOfNode are the labels and taints of a Node that are not on the new one: a Node is made from nothing, and the
// nodelink controller copies those of its Machine (openshift/machine-api-operator:
// pkg/controller/nodelink/nodelink_controller.go).
func (s Seen) lostOfNode(m Member) (lost, taints []string) {
	template := s.SetOf(m.Machine)
	given := texts(evidence.Field(template, "spec", "template", "spec", "metadata", "labels"))
	have := texts(evidence.Field(m.Node, "metadata", "labels"))
	for _, key := range slices.Sorted(maps.Keys(have)) {
		own := slices.ContainsFunc(ownLabels, func(p string) bool { return strings.HasPrefix(key, p) })
		if v, is := given[key]; !own && (!is || v != have[key]) {
			lost = append(lost, key+"="+have[key])
		}
	}
	of := func(o kube.Object, path ...string) (all []string) {
		list, _ := evidence.Field(o, path...).([]any)
		for _, x := range list {
			t, _ := x.(map[string]any)
			text := evidence.String(t, "key")
			if v := evidence.String(t, "value"); v != "" {
				text += "=" + v
			}
			all = append(all, text+":"+evidence.String(t, "effect"))
		}
		return all
	}
	made := of(template, "spec", "template", "spec", "taints")
	for _, t := range of(m.Node, "spec", "taints") {
		if !strings.HasPrefix(t, "node.kubernetes.io/") && !slices.Contains(made, t) {
			taints = append(taints, t)
		}
	}
	return lost, taints
}

// Copies are the objects that a run takes away or changes, as files that can be read and created again.
func (e Exchange) Copies() (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, o := range map[string]kube.Object{"machine.yaml": e.Member.Machine, "baremetalhost.yaml": e.Member.Host, "node.yaml": e.Member.Node} {
		if o == nil {
			continue
		}
		kept := nodepool.Backup(o)
		if address := evidence.String(kept, "spec", "bmc", "address"); strings.Contains(address, "@") {
			return nil, errors.New("the BMC address of BareMetalHost " + e.Member.HostName() + " has a user in it: no copy is made of it")
		}
		raw, err := yaml.Marshal(kept)
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", name, err)
		}
		files[name] = raw
	}
	return files, nil
}

// Name is the name of an object.
func Name(o kube.Object) string { return evidence.String(o, "metadata", "name") }

// Cleaning says what metal3 does to the disks of a host between two Machines (metal3-io/baremetal-operator:
// apis/metal3.io/v1alpha1/baremetalhost_types.go AutomatedCleaningMode; without a value it is metadata).
func Cleaning(host kube.Object) string {
	if evidence.String(host, "spec", "automatedCleaningMode") == "disabled" {
		return "its disks are not wiped (automatedCleaningMode disabled), and the root disk is written again"
	}
	return "the partition tables of all its disks are wiped (automatedCleaningMode metadata)"
}

// Addresses are the internal addresses of a Node.
func Addresses(node kube.Object) []string {
	var ips []string
	list, _ := evidence.Field(node, "status", "addresses").([]any)
	for _, x := range list {
		if a, _ := x.(map[string]any); evidence.String(a, "type") == "InternalIP" {
			ips = append(ips, evidence.String(a, "address"))
		}
	}
	return ips
}
