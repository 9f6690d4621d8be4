package metalhost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/page"
)

// ReplaceChecks are all that could be in the way of replacing a worker, or be lost with it. now is that of the run: a
// lease ends.
func (s Seen) ReplaceChecks(ctx context.Context, api API, e Exchange, now time.Time) ([]Check, error) {
	m, h := machineOf(e.Member.Machine), hostOf(e.Member.Host)
	checks := []Check{s.metal3Check(), s.updateCheck()}
	checks = append(checks, e.hostChecks(h)...)
	checks = append(checks, e.machineChecks(m)...)
	set := s.SetOf(e.Member.Machine)
	if set == nil {
		return append(checks, stop("no MachineSet is the controller of Machine "+m.name+": nothing would make a new Machine")), nil
	}
	one := setOf(set)
	checks = append(checks, s.countCheck(one))
	checks = append(checks, s.takeChecks(e, one)...)
	node := e.Member.NodeName()
	pool := poolOf(one.userData)
	load, err := LookLoad(ctx, api, node, pool, one.userData)
	if err != nil {
		return checks, err
	}
	checks = append(checks, load.poolCheck(pool), load.userDataCheck(one.userData))
	if node == "" {
		checks = append(checks, passed("it has no Node: nothing is drained"))
	} else {
		checks = append(checks, s.placeCheck(node), load.budgetCheck(node), load.routerCheck(node), load.leaseCheck(node, now))
		checks = append(checks, load.lostChecks(node)...)
		checks = append(checks, load.storageChecks(s.Nodes, e.Member.Node, e.Local)...)
		checks = append(checks, s.nodeCheck(e.Member))
	}
	checks = append(checks, s.healthCheck(Want{Name: h.name, Labels: h.labels, MachineSet: one.name}), s.approverCheck())
	return append(checks, warning("the new Machine is there from the beginning, and the cluster-machine-approver approves first certificates within "+
		"two hours of its creation: where drain, cleaning and installation take longer, this run approves the request of this host")), nil
}

func (s Seen) updateCheck() Check {
	if s.Updating != "" {
		return stop("an update of the cluster is under way: " + evidence.Shorten(s.Updating, 120))
	}
	return passed("no update of the cluster is under way")
}

// hostChecks are about the BareMetalHost: metal3 must be able to clean it.
func (e Exchange) hostChecks(h host) []Check {
	var checks []Check
	switch {
	case h.external:
		return []Check{stop("BareMetalHost " + h.name + " is externally provisioned: metal3 does not install it, and no Machine takes it. Install it " +
			"in the way in which it was first installed")}
	case h.foreign:
		return []Check{stop("BareMetalHost " + h.name + " is consumed by something else than a Machine of " + Namespace)}
	case h.deleting:
		return []Check{stop("BareMetalHost " + h.name + " is being deleted already")}
	case h.paused, h.detached:
		return []Check{stop("BareMetalHost " + h.name + " is " + held(h) + ": metal3 does not clean it. Remove the annotation first")}
	case h.state != "provisioned":
		checks = append(checks, stop(fmt.Sprintf("BareMetalHost %s is %s: only one that is provisioned is replaced. It is %s", h.name,
			orText(h.state, "new"), orText(stateMeanings[h.state], "in a state that this program does not know"))))
	}
	switch {
	case h.errorType != "" && e.same():
		checks = append(checks, stop("metal3 reports an error of BareMetalHost "+h.name+", which would hold its cleaning: "+h.text()))
	case h.errorType != "" && e.Drop:
		checks = append(checks, warning("metal3 reports an error of BareMetalHost "+h.name+": "+h.text()+". Where it cannot be cleaned, it is deleted "+
			"after the drain; metal3 gives up after more than 3 errors of registration"))
	case h.errorType != "":
		checks = append(checks, stop("metal3 reports an error of BareMetalHost "+h.name+", which would hold the deletion of its Machine: "+h.text()+
			". With --delete-old-host it is deleted after the drain"))
	default:
		checks = append(checks, passed("metal3 reports no error of BareMetalHost "+h.name+" (state "+h.state+")"))
	}
	return checks
}

func held(h host) string {
	if h.paused {
		return "paused"
	}
	return "detached"
}

// machineChecks are about the Machine that is deleted.
func (e Exchange) machineChecks(m machine) []Check {
	if m.deleting {
		return []Check{stop("Machine " + m.name + " is being deleted already: rollcall diagnose host/" + orText(m.node, m.name) + " shows how far it is")}
	}
	if node := e.Member.NodeName(); node != "" && m.node == "" {
		return []Check{stop("Machine " + m.name + " does not refer to Node " + node + " (status.nodeRef): the Machine API would not drain it " +
			"and not delete it")}
	}
	checks := []Check{passed(fmt.Sprintf("Machine %s is %s", m.name, orText(m.phase, "without a phase")))}
	for _, kind := range []string{"preDrain", "preTerminate"} {
		hooks, _ := evidence.Field(e.Member.Machine, "spec", "lifecycleHooks", kind).([]any)
		for _, x := range hooks {
			hook, _ := x.(map[string]any)
			checks = append(checks, warning(fmt.Sprintf("hook %s of Machine %s holds its deletion until %s removes it (%s)", evidence.String(hook, "name"),
				m.name, orText(evidence.String(hook, "owner"), "its owner"), kind)))
		}
	}
	annotations := texts(evidence.Field(e.Member.Machine, "metadata", "annotations"))
	if _, undrained := annotations[openshift.MachineGroup+"/exclude-node-draining"]; undrained {
		checks = append(checks, stop("Machine "+m.name+" has the annotation machine.openshift.io/exclude-node-draining: its pods would be cut off. Remove it "+
			"first"))
	}
	return checks
}

// countCheck: the MachineSet makes a new Machine because it counts one fewer that is not being deleted
// (openshift/machine-api-operator:pkg/controller/machineset/controller.go shouldExcludeMachine, syncReplicas).
func (s Seen) countCheck(one set) Check {
	live := 0
	for _, m := range inSet(one, s.machines()) {
		if !m.deleting {
			live++
		}
	}
	switch {
	case one.deleting:
		return stop("MachineSet " + one.name + " is being deleted")
	case !one.known:
		return stop("MachineSet " + one.name + " has no spec.replicas")
	case live > one.replicas:
		return stop(fmt.Sprintf("MachineSet %s wants %d Machines and has %d: it would make no new one", one.name, one.replicas, live))
	case live < one.replicas:
		return stop(fmt.Sprintf("MachineSet %s wants %d Machines and has %d: it makes others at this moment, which may take the host", one.name,
			one.replicas, live))
	}
	return passed(fmt.Sprintf("MachineSet %s wants %d Machines and has them: it makes a new one for the one that is deleted", one.name, one.replicas))
}

// takeChecks say which host the new Machine takes: at random one that is available at that moment, else the next that
// becomes it (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go chooseHost).
func (s Seen) takeChecks(e Exchange, one set) []Check {
	var checks []Check
	takes := object(s.Hosts, e.takes())
	switch h := hostOf(takes); {
	case one.wrong != "":
		return []Check{stop("the hostSelector of MachineSet " + one.name + " cannot be read: " + one.wrong)}
	case takes == nil:
		return []Check{stop("there is no BareMetalHost " + e.takes() + " in " + Namespace + ": add it first, with `host add " + e.takes() + " --no-scale`")}
	case !one.selector.Matches(labels.Set(h.labels)):
		checks = append(checks, stop(fmt.Sprintf("MachineSet %s takes only hosts with the labels %s, which BareMetalHost %s does not have", one.name,
			one.selector, h.name)))
	case !e.same() && !h.free():
		checks = append(checks, stop("BareMetalHost "+h.name+" is not available: "+h.text()))
	case !e.same() && slices.ContainsFunc(s.Nodes, func(n kube.Object) bool { return shortName(Name(n)) == shortName(orText(h.hostname, h.name)) }):
		checks = append(checks, stop("there is a Node "+orText(h.hostname, h.name)+" already: the request of the new host for a certificate would be refused"))
	}
	var free, soon []string
	for _, h := range s.hosts() {
		switch {
		case h.name == e.takes() || h.name == e.Member.HostName() || !one.selector.Matches(labels.Set(h.labels)):
		case h.free():
			free = append(free, h.name)
		case h.consumer == "" && !h.deleting && !h.external && slices.Contains([]string{"registering", "inspecting", "preparing", "deprovisioning"}, h.state):
			soon = append(soon, h.name)
		}
	}
	if len(free) > 0 {
		text := fmt.Sprintf("BareMetalHosts that are available for MachineSet %s: %s. The new Machine takes one of them at once", one.name, few(free))
		if e.same() {
			text += ", and " + e.takes() + " is left available. Where that is meant: --with " + free[0]
		} else {
			text += ", or " + e.takes() + ", at random"
		}
		checks = append(checks, stop(text))
	} else {
		checks = append(checks, passed("the new Machine can take no other host than "+e.takes()+": no other one is available"))
	}
	if len(soon) > 0 {
		checks = append(checks, warning("not available yet: BareMetalHost "+few(soon)+". Where it becomes so before "+e.takes()+" is taken, the new Machine "+
			"may take it"))
	}
	return append(checks, s.waitingCheck(e, one))
}

func (s Seen) waitingCheck(e Exchange, one set) Check {
	taken := map[string]bool{}
	for _, h := range s.hosts() {
		taken[h.consumer] = true
	}
	l := hostOf(object(s.Hosts, e.takes())).labels
	for _, m := range s.machines() {
		if m.waits() && !taken[m.name] && (m.selector.Matches(labels.Set(l)) || len(inSet(one, []machine{m})) > 0) {
			return stop("Machine " + m.name + " waits for a host and would take this one: give it a host, or delete it, first")
		}
	}
	return passed("no other Machine waits for a host")
}

// poolOf is the pool whose config a Secret with user data points to: the installer makes POOL-user-data, and the
// machine-config-operator POOL-user-data-managed (openshift/machine-config-operator:manifests/userdata_secret.yaml).
func poolOf(userData string) string {
	pool, is := strings.CutSuffix(strings.TrimSuffix(userData, "-managed"), "-user-data")
	if !is {
		return ""
	}
	return pool
}

// poolCheck: a new host gets the config that the status of its pool refers to (openshift/machine-config-operator:
// pkg/server/cluster_server.go GetConfig).
func (l Load) poolCheck(role string) Check {
	switch why := l.unknown("pool"); {
	case role == "":
		return unknown("which MachineConfigPool gives the new host its config: the user data of the MachineSet are not of the product")
	case why != "":
		return unknown("which config MachineConfigPool " + role + " gives a new host: " + why)
	case l.Pool == nil:
		return stop("there is no MachineConfigPool " + role + ": the machine config server has no config for the host")
	case evidence.String(l.Pool, "status", "configuration", "name") == "":
		return stop("the status of MachineConfigPool " + role + " refers to no config: the machine config server answers the host with HTTP 500")
	case isTrue(l.Pool, "Degraded"):
		return warning("MachineConfigPool " + role + " is degraded: the new host gets " + evidence.String(l.Pool, "status", "configuration", "name"))
	}
	return passed("MachineConfigPool " + role + " has a config for the host")
}

func (l Load) userDataCheck(name string) Check {
	switch {
	case name == "":
		return stop("the MachineSet names no user data Secret: the host would boot without Ignition config")
	case apierrors.IsNotFound(l.Unread["user data"]):
		return stop("there is no Secret " + name + " in " + Namespace + ", with the Ignition config that the new Machine gives the host")
	case l.Unread["user data"] != nil:
		return unknown("whether Secret " + name + " with the Ignition config is there: " + l.Unread["user data"].Error())
	}
	return passed("Secret " + name + " with the Ignition config is there")
}

// placeCheck: what is evicted needs a Node that is Ready and takes pods.
func (s Seen) placeCheck(node string) Check {
	ready, away := 0, 0
	for _, n := range s.Nodes {
		role := texts(evidence.Field(n, "metadata", "labels"))
		_, worker := role[openshift.NodeRolePrefix+"worker"]
		switch {
		case !worker || evidence.String(n, "metadata", "name") == node:
		case isTrue(n, "Ready") && evidence.Field(n, "spec", "unschedulable") != true:
			ready++
		default:
			away++
		}
	}
	others := page.Count(ready, "other worker takes", "other workers take") + " pods"
	switch {
	case ready == 0:
		return stop("no other worker is Ready and takes pods: what is evicted has no place")
	case away > 0:
		return warning(fmt.Sprintf("%s, and %s not Ready or cordoned", others, page.Count(away, "is", "are")))
	}
	return passed(others + "; whether there is room for more is not checked")
}

// leaseCheck: a controller of medik8s that works on the Node holds its lease.
func (l Load) leaseCheck(node string, now time.Time) Check {
	if why := l.unknown("lease"); why != "" {
		return unknown("whether another controller works on Node " + node + ": " + why)
	}
	holder, seconds := evidence.String(l.Lease, "spec", "holderIdentity"), number(evidence.Field(l.Lease, "spec", "leaseDurationSeconds"))
	renewed, err := time.Parse(time.RFC3339Nano, evidence.String(l.Lease, "spec", "renewTime"))
	if holder != "" && err == nil && !renewed.Add(time.Duration(seconds)*time.Second).Before(now) {
		return stop(fmt.Sprintf("%s works on Node %s: it holds Lease %s in %s", holder, node, leasePrefix+node, leases))
	}
	return passed("no controller of medik8s works on Node " + node)
}

// nodeCheck is about what a person has put on the Node.
func (s Seen) nodeCheck(m Member) Check {
	lost, taints := s.lostOfNode(m)
	var text []string
	if len(lost) > 0 {
		text = append(text, "labels "+strings.Join(lost, ", "))
	}
	if len(taints) > 0 {
		text = append(text, "taints "+strings.Join(taints, ", "))
	}
	if len(text) == 0 {
		return passed("the Node has no label and no taint that the new one would lack")
	}
	return warning("the new Node does not have: " + strings.Join(text, "; ") + ". A role decides its MachineConfigPool. The end of the run shows the commands")
}

// TryDelete has the API server try the deletion of the Machine, and of the old host where that is planned.
func TryDelete(ctx context.Context, api API, e Exchange) ([]Check, error) {
	var checks []Check
	refs := []struct {
		what string
		ref  kube.Ref
		o    kube.Object
	}{{"delete Machine " + e.Member.MachineName(), machineRef(e.Member.MachineName()), e.Member.Machine}}
	if e.Drop {
		refs = append(refs, struct {
			what string
			ref  kube.Ref
			o    kube.Object
		}{"delete BareMetalHost " + e.Member.HostName(), hostRef(e.Member.HostName()), e.Member.Host})
	}
	for _, x := range refs {
		var err error
		o := x.o
		for range scaleTries { // controllers write the status all the time
			err = api.Delete(ctx, x.ref, evidence.String(o, "metadata", "uid"), evidence.String(o, "metadata", "resourceVersion"), true)
			if !apierrors.IsConflict(err) {
				break
			}
			if o, err = api.Get(ctx, x.ref); err != nil {
				break
			}
		}
		switch {
		case err == nil:
			checks = append(checks, passed("the API server would accept it (dry run): "+x.what))
		case definite(err):
			checks = append(checks, stop("the API server refuses it (dry run): "+x.what+": "+err.Error()))
		default:
			return checks, fmt.Errorf("try it on the API server (dry run), nothing was changed: %s: %w", x.what, err)
		}
	}
	return checks, nil
}
