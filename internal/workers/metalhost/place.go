package metalhost

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

// autoscaleAnnotation makes the replicas of a MachineSet those of the hosts that match
// (openshift/cluster-api-provider-baremetal:pkg/controller/machineset/mapper.go AutoScaleAnnotation).
const autoscaleAnnotation = openshift.Metal3Group + "/autoscale-to-hosts"

// deleteAnnotation chooses the Machine that a MachineSet deletes when it is scaled down
// (openshift/machine-api-operator:pkg/controller/machineset/delete_policy.go DeleteNodeAnnotation,
// oldDeleteNodeAnnotation).
const (
	deleteAnnotation    = openshift.MachineGroup + "/delete-machine"
	oldDeleteAnnotation = openshift.MachineGroup + "/cluster-api-delete-machine"
)

// set is what is looked at of a MachineSet.
type set struct {
	name, uid  string
	replicas   int
	known      bool // spec.replicas is there
	generation int64
	bareMetal  bool
	selector   labels.Selector
	wrong      string // why its hostSelector cannot be used
	members    labels.Selector
	autoscale  bool
	userData   string
	deleting   bool
	role       string
}

func setOf(o kube.Object) set {
	value := evidence.Field(o, "spec", "template", "spec", "providerSpec", "value")
	provider, _ := value.(map[string]any)
	s := set{
		name: evidence.String(o, "metadata", "name"), uid: evidence.String(o, "metadata", "uid"),
		generation: number(evidence.Field(o, "metadata", "generation")),
		// openshift/cluster-api-provider-baremetal:pkg/apis/baremetal/v1alpha1/baremetalmachineproviderspec_types.go
		bareMetal: evidence.String(provider, "kind") == "BareMetalMachineProviderSpec",
		userData:  evidence.String(provider, "userData", "name"),
		deleting:  evidence.String(o, "metadata", "deletionTimestamp") != "",
		role:      evidence.String(o, "spec", "template", "metadata", "labels", openshift.MachineRoleLabel),
	}
	if v := evidence.Field(o, "spec", "replicas"); v != nil {
		s.replicas, s.known = int(number(v)), true
	}
	_, s.autoscale = texts(evidence.Field(o, "metadata", "annotations"))[autoscaleAnnotation]
	s.selector, s.wrong = hostSelector(provider)
	s.members = labels.SelectorFromSet(texts(evidence.Field(o, "spec", "selector", "matchLabels")))
	return s
}

// hostSelector is the hostSelector of a provider spec (actuator.go SelectorFromProviderSpec).
func hostSelector(provider map[string]any) (labels.Selector, string) {
	all := labels.NewSelector()
	for key, value := range texts(evidence.Field(provider, "hostSelector", "matchLabels")) {
		r, err := labels.NewRequirement(key, selection.Equals, []string{value})
		if err != nil {
			return labels.Nothing(), err.Error()
		}
		all = all.Add(*r)
	}
	expressions, _ := evidence.Field(provider, "hostSelector", "matchExpressions").([]any)
	for _, e := range expressions {
		m, _ := e.(map[string]any)
		var values []string
		list, _ := evidence.Field(m, "values").([]any)
		for _, v := range list {
			values = append(values, fmt.Sprint(v))
		}
		r, err := labels.NewRequirement(evidence.String(m, "key"), selection.Operator(strings.ToLower(evidence.String(m, "operator"))), values)
		if err != nil {
			return labels.Nothing(), err.Error()
		}
		all = all.Add(*r)
	}
	return all, ""
}

// takes says that a Machine of the set may choose a host with these labels.
func (s set) takes(l map[string]string) bool {
	return s.bareMetal && s.wrong == "" && !s.deleting && s.selector.Matches(labels.Set(l))
}

// machine is what is looked at of a Machine.
type machine struct {
	name, uid, phase string
	host             string // namespace/name of its BareMetalHost, "" where it has none
	node             string
	nodeUID          string
	created          time.Time
	deleting         bool
	failed           string // status.errorReason or errorMessage
	marked           bool   // it is the next to be deleted
	labels           map[string]string
	addresses        []address
	bareMetal        bool
	selector         labels.Selector
}

type address struct{ kind, value string }

func machineOf(o kube.Object) machine {
	annotations := texts(evidence.Field(o, "metadata", "annotations"))
	provider, _ := evidence.Field(o, "spec", "providerSpec", "value").(map[string]any)
	m := machine{
		name: evidence.String(o, "metadata", "name"), uid: evidence.String(o, "metadata", "uid"),
		phase: evidence.String(o, "status", "phase"), host: annotations[openshift.HostOnMachineAnnotation],
		node: evidence.String(o, "status", "nodeRef", "name"), nodeUID: evidence.String(o, "status", "nodeRef", "uid"),
		created: timeOf(o, "metadata", "creationTimestamp"), deleting: evidence.String(o, "metadata", "deletionTimestamp") != "",
		failed: evidence.String(o, "status", "errorReason"), marked: annotations[deleteAnnotation] != "" || annotations[oldDeleteAnnotation] != "",
		labels:    texts(evidence.Field(o, "metadata", "labels")),
		bareMetal: evidence.String(provider, "kind") == "BareMetalMachineProviderSpec",
	}
	if m.failed == "" {
		m.failed = evidence.String(o, "status", "errorMessage")
	}
	m.selector, _ = hostSelector(provider)
	list, _ := evidence.Field(o, "status", "addresses").([]any)
	for _, x := range list {
		a, _ := x.(map[string]any)
		m.addresses = append(m.addresses, address{evidence.String(a, "type"), evidence.String(a, "address")})
	}
	return m
}

// waits says that the Machine takes the first host that is available and matches.
func (m machine) waits() bool {
	return m.bareMetal && m.host == "" && !m.deleting && m.node == "" && m.phase != "Failed"
}

// inSet are the Machines of a MachineSet.
func inSet(s set, all []machine) []machine {
	return slices.DeleteFunc(slices.Clone(all), func(m machine) bool { return s.members.Empty() || !s.members.Matches(labels.Set(m.labels)) })
}

func (s Seen) machines() []machine {
	var list []machine
	for _, o := range s.Machines {
		list = append(list, machineOf(o))
	}
	return list
}

func (s Seen) sets() []set {
	var list []set
	for _, o := range s.Sets {
		list = append(list, setOf(o))
	}
	slices.SortFunc(list, func(a, b set) int { return strings.Compare(a.name, b.name) })
	return list
}

func (s Seen) hosts() []host {
	var list []host
	for _, o := range s.Hosts {
		list = append(list, hostOf(o))
	}
	return list
}

// Place is where a host becomes a worker.
type Place struct {
	Set     string
	UID     string
	From    int
	Scale   bool // this run scales it to From+1
	Waiting []string
	Awaited bool // a Machine waits for the host, or comes without this run
	// By says who makes the Machine where this run does not scale.
	By string
}

// Place finds the MachineSet of a host. ok is false where there is none that is known to be meant; the
// checks say why.
func (s Seen) Place(w Want) (p Place, checks []Check, ok bool) {
	if why := s.Unread["machinesets"]; why != nil {
		return p, []Check{unknownStop("which MachineSet takes the host: " + why.Error())}, false
	}
	if why := s.Unread["machines"]; why != nil {
		return p, []Check{unknownStop("which Machines wait for a host: " + why.Error())}, false
	}
	chosen, refusal := s.choose(w)
	if chosen == nil {
		return p, []Check{refusal}, false
	}
	p = Place{Set: chosen.name, UID: chosen.uid, From: chosen.replicas}
	checks = append(checks, passed(fmt.Sprintf("MachineSet %s takes the host (role %s, %d replicas)", chosen.name, orText(chosen.role, "not named"),
		chosen.replicas)))
	taken := map[string]bool{} // the provider writes consumerRef first, and then the annotation of the Machine
	for _, h := range s.hosts() {
		taken[h.consumer] = true
	}
	for _, m := range s.machines() {
		if !m.waits() || taken[m.name] || !m.selector.Matches(labels.Set(w.Labels)) {
			continue
		}
		if len(inSet(*chosen, []machine{m})) == 0 {
			checks = append(checks, stop(fmt.Sprintf("Machine %s, which is not of MachineSet %s, waits for a host and would take this "+
				"one: give it a host, "+
				"or delete it, first", m.name, chosen.name)))
			continue
		}
		p.Waiting = append(p.Waiting, m.name)
	}
	return s.scaling(w, *chosen, p, checks)
}

// choose is the MachineSet that a person named, or the only one that takes the host.
func (s Seen) choose(w Want) (*set, Check) {
	var fits []set
	for _, one := range s.sets() {
		if w.MachineSet == one.name {
			switch {
			case !one.bareMetal:
				return nil, stop("MachineSet " + one.name + " is not of the bare metal provider")
			case one.wrong != "":
				return nil, stop("the hostSelector of MachineSet " + one.name + " cannot be read: " + one.wrong)
			case one.deleting:
				return nil, stop("MachineSet " + one.name + " is being deleted")
			case !one.takes(w.Labels):
				return nil, stop(fmt.Sprintf("MachineSet %s takes only hosts with the labels %s: give them with --label "+
					"KEY=VALUE", one.name, one.selector))
			}
			return &one, Check{}
		}
		if one.takes(w.Labels) {
			fits = append(fits, one)
		}
	}
	switch {
	case w.MachineSet != "":
		return nil, stop("there is no MachineSet " + w.MachineSet + " in " + Namespace)
	case len(fits) == 1:
		return &fits[0], Check{}
	case len(fits) > 1:
		var names []string
		for _, f := range fits {
			names = append(names, f.name)
		}
		return nil, stop("several MachineSets take the host (" + strings.Join(names, ", ") + "): choose one with --machineset")
	}
	var names []string
	for _, one := range s.sets() {
		if one.bareMetal {
			names = append(names, fmt.Sprintf("%s wants %s", one.name, orText(one.selector.String(), "any")))
		}
	}
	if len(names) == 0 {
		return nil, stop("no MachineSet of the bare metal provider is in " + Namespace + ": metal3 would inspect the host, and nothing " +
			"would make it a node")
	}
	return nil, stop("no MachineSet takes a host with these labels (" + strings.Join(names, "; ") + "): --label KEY=VALUE")
}

// scaling decides who makes the Machine.
func (s Seen) scaling(w Want, chosen set, p Place, checks []Check) (Place, []Check, bool) {
	kept := nodepool.KeptBy(object(s.Sets, chosen.name), kube.FieldManager)
	scaler := ""
	for _, o := range s.Scalers {
		if evidence.String(o, "spec", "scaleTargetRef", "name") == chosen.name && evidence.String(o, "spec", "scaleTargetRef", "kind") == "MachineSet" {
			scaler = evidence.String(o, "metadata", "name")
		}
	}
	switch why := s.unknown("autoscalers"); {
	case len(p.Waiting) > 0:
		p.Awaited = true
		p.By = "Machine " + strings.Join(p.Waiting, ", ") + " waits for a host already: nothing is scaled"
	case chosen.autoscale:
		p.Awaited = true
		p.By = "annotation " + autoscaleAnnotation + " makes the replicas those of the hosts: the provider scales it"
	case w.NoScale:
		p.By = "nobody, as asked with --no-scale: `oc -n " + Namespace + " scale machineset " + chosen.name + " --replicas N` does it later"
	case scaler != "":
		checks = append(checks, stop("MachineAutoscaler "+scaler+" writes the replicas of the MachineSet, and would undo it: with "+
			"--no-scale the host is "+
			"made available for it"))
	case why != "":
		checks = append(checks, unknownStop("whether an autoscaler writes the replicas of the MachineSet: "+why+"; with --no-scale it is not scaled"))
	case kept != "":
		checks = append(checks, stop("another tool writes MachineSet "+chosen.name+" again ("+kept+"): change the replicas there, and "+
			"use --no-scale"))
	case !chosen.known:
		checks = append(checks, stop("MachineSet "+chosen.name+" has no spec.replicas"))
	default:
		p.Scale = true
		checks = append(checks, s.rivals(w, chosen)...)
	}
	return p, checks, true
}

// rivals are other hosts that the new Machine may take: the provider chooses at random.
func (s Seen) rivals(w Want, chosen set) []Check {
	var names []string
	for _, h := range s.hosts() {
		if h.name != w.Name && h.free() && chosen.selector.Matches(labels.Set(h.labels)) {
			names = append(names, h.name)
		}
	}
	if len(names) == 0 {
		return []Check{passed("no other host is available that the new Machine could take")}
	}
	return []Check{stop(fmt.Sprintf("other hosts are available for MachineSet %s (%s), and a new Machine takes one of them at random: "+
		"scale for them first, "+
		"or add this host with --no-scale", chosen.name, strings.Join(names, ", ")))}
}

func object(list []kube.Object, name string) kube.Object {
	for _, o := range list {
		if evidence.String(o, "metadata", "name") == name {
			return o
		}
	}
	return nil
}

func orText(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
