package metalhost

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Control is what a cluster shows of its control plane. What could not be read is in Unread.
type Control struct {
	Etcd      kube.Object // of the etcd operator
	Endpoints kube.Object // ConfigMap etcd-endpoints: the members by ID
	Load      Load        // MachineConfigPool master and the Secret with the Ignition config
	Sets      []kube.Object
	Unread    map[string]error
}

const masterUserData = "master-user-data-managed"

// LookControl reads what is needed to plan how a control-plane host is replaced. It reads only.
func LookControl(ctx context.Context, api API) (Control, error) {
	c := Control{Unread: map[string]error{}, Load: Load{Unread: map[string]error{}}}
	one := func(into map[string]error, what string, r kube.Ref) kube.Object {
		o, err := api.Get(ctx, r)
		if err != nil {
			into[what] = err
			return nil
		}
		return o
	}
	c.Etcd = one(c.Unread, "etcd", kube.Ref{Group: openshift.OperatorGroup, Version: "v1", Resource: "etcds", Name: "cluster"})
	c.Endpoints = one(c.Unread, "endpoints", kube.Ref{Version: "v1", Resource: "configmaps", Namespace: openshift.EtcdNamespace, Name: "etcd-endpoints"})
	c.Load.Pool = one(c.Load.Unread, "pool", kube.Ref{Group: openshift.MachineConfigGroup, Version: "v1", Resource: "machineconfigpools", Name: "master"})
	c.Load.UserData = one(c.Load.Unread, "user data", secretRef(masterUserData))
	var err error
	c.Sets, err = api.List(ctx, kube.Ref{Group: openshift.MachineGroup, Version: "v1", Resource: "controlplanemachinesets", Namespace: Namespace})
	if err != nil {
		c.Unread["sets"] = err
	}
	return c, ctx.Err()
}

// active is the name of the ControlPlaneMachineSet that replaces Machines itself, "" where none does
// (openshift/api:machine/v1/types_controlplanemachineset.go ControlPlaneMachineSetStateActive).
func (c Control) active() string {
	for _, o := range c.Sets {
		if evidence.String(o, "spec", "state") == "Active" {
			return evidence.String(o, "metadata", "name")
		}
	}
	return ""
}

// The operator's words (openshift/cluster-etcd-operator:pkg/etcdcli/health.go memberHealth.Status).
var (
	membersForm   = regexp.MustCompile(`^(\d+)(?: of (\d+))? members are available`)
	unhealthyForm = regexp.MustCompile(`(?:^|[ ,])([^ ,]+) is unhealthy`)
	unstartedForm = regexp.MustCompile(`(?:^|[ ,])([^ ,]+) has not started`)
)

// etcdCheck refuses where the member of the host cannot be spared: then its loss, or its removal, takes the quorum. total
// is the number of members.
func (c Control) etcdCheck(node string) (check Check, total int, healthy bool) {
	if err := c.Unread["etcd"]; err != nil {
		return unknownStop("the health of etcd: " + err.Error()), 0, false
	}
	if conditionOf(c.Etcd, "EtcdMembersControllerDegraded")["status"] == "True" {
		return stop("the etcd operator cannot see its members, so what it reports is old (EtcdMembersControllerDegraded)"), 0, false
	}
	available := conditionOf(c.Etcd, "EtcdMembersAvailable")
	text, _ := available["message"].(string)
	m := membersForm.FindStringSubmatch(text)
	switch {
	case available["status"] == "False":
		return stop("etcd has no quorum: " + evidence.Shorten(text, 160) + ". Restore it first: `rollcall explain restore-etcd-quorum`"), 0, false
	case m == nil:
		return unknownStop(fmt.Sprintf("how many members of etcd are healthy: EtcdMembersAvailable is %.80q", text)), 0, false
	}
	well, _ := strconv.Atoi(m[1])
	total = well
	if m[2] != "" {
		total, _ = strconv.Atoi(m[2])
	}
	var bad []string
	for _, form := range []*regexp.Regexp{unhealthyForm, unstartedForm} {
		for _, x := range form.FindAllStringSubmatch(text+" "+evidence.String(conditionOf(c.Etcd, "EtcdMembersDegraded"), "message"), -1) {
			if !slices.Contains(bad, x[1]) {
				bad = append(bad, x[1])
			}
		}
	}
	others := slices.DeleteFunc(slices.Clone(bad), func(n string) bool { return n == node })
	count := fmt.Sprintf("%d of %d members of etcd are healthy", well, total)
	switch {
	case total < 3:
		return stop(count + ": with fewer than 3 members none can be replaced in this way, the API would stop"), total, false
	case len(others) > 0:
		return stop(count + ": " + strings.Join(others, ", ") + " is not. Repair that one first: without the member of this host too " +
			"few are left"), total, false
	case len(bad) != total-well:
		return unknownStop(count + ": which ones are not is not shown"), total, false
	case len(bad) == 1:
		return passed(count + ", and the one that is not is that of this host. Until the new one is in, no other may fail"), total, false
	}
	return warning(count + ", that of this host as well: from step 2 on no other may fail until the new one is in. Do it only when " +
		"the host must go"), total, true
}

func (c Control) rolloutCheck(node string) Check {
	list, _ := evidence.Field(c.Etcd, "status", "nodeStatuses").([]any)
	if c.Etcd == nil {
		return unknown("whether a revision of etcd is being installed: " + c.Unread["etcd"].Error())
	}
	for _, x := range list {
		n, _ := x.(map[string]any)
		if name := evidence.String(n, "nodeName"); name != node && number(n["targetRevision"]) > number(n["currentRevision"]) {
			return stop("a revision of etcd is being installed on " + name + ": wait until it is")
		}
	}
	return passed("no revision of etcd is being installed on another host")
}

// override is spec.unsupportedConfigOverrides of the etcd operator with which it rolls out while a member is missing
// (openshift/cluster-etcd-operator:pkg/operator/ceohelpers/unsupported_override.go).
const override = "useUnsupportedUnsafeNonHANonProductionUnstableEtcd"

func (c Control) overrideCheck() Check {
	switch v := evidence.Field(c.Etcd, "spec", "unsupportedConfigOverrides", override); {
	case c.Etcd == nil:
		return unknown("whether the quorum guard of the etcd operator is on: " + c.Unread["etcd"].Error())
	case v != nil && fmt.Sprint(v) != "false":
		return warning("the quorum guard of the etcd operator is off already (" + override + "): who has done that, and why?")
	}
	return passed("the quorum guard of the etcd operator is on")
}

// memberID is the ID of the member with one of these addresses, "" not known. The operator writes voting members only
// (openshift/cluster-etcd-operator:pkg/operator/etcdendpointscontroller/etcdendpointscontroller.go syncConfigMap).
func (c Control) memberID(ips []string) string {
	id := ""
	for key, ip := range texts(evidence.Field(c.Endpoints, "data")) {
		if slices.Contains(ips, ip) && hexForm.MatchString(key) {
			if id != "" {
				return ""
			}
			id = key
		}
	}
	return id
}

var hexForm = regexp.MustCompile(`^[0-9a-f]{1,16}$`)

// controlNodes are the other control-plane Nodes that are Ready, and those that are not.
func (s Seen) controlNodes(node string) (ready, away []string) {
	for _, n := range s.Nodes {
		name := evidence.String(n, "metadata", "name")
		switch {
		case name == node || !(Member{Node: n}).Control():
		case isTrue(n, "Ready"):
			ready = append(ready, name)
		default:
			away = append(away, name)
		}
	}
	slices.Sort(ready)
	return ready, away
}

// functional says that the Machine API works for the control plane: then the etcd operator adds a member only for a Node
// whose address a Machine has (openshift/cluster-etcd-operator:pkg/operator/ceohelpers/machine_api.go IsFunctional).
func (s Seen) functional() string {
	for _, o := range s.Machines {
		if m := machineOf(o); evidence.String(o, "metadata", "labels", openshift.MachineRoleLabel) == "master" && m.phase == "Running" {
			return m.name
		}
	}
	return ""
}

func (s Seen) controlChecks(c Control, m Member) (checks []Check, healthy bool) {
	node := m.NodeName()
	switch s.Topology {
	case "HighlyAvailable":
		checks = append(checks, passed("the control plane is HighlyAvailable"))
	case "":
		checks = append(checks, unknownStop("the topology of the control plane: Infrastructure cluster was not read"))
	default:
		checks = append(checks, stop("the topology of the control plane is "+s.Topology+": this procedure is for three hosts or more (HighlyAvailable)"))
	}
	etcd, _, healthy := c.etcdCheck(orText(node, m.HostName()))
	checks = append(checks, etcd, c.rolloutCheck(node), c.overrideCheck(), s.updateCheck())
	switch ready, away := s.controlNodes(node); {
	case len(away) > 0:
		checks = append(checks, stop("another control-plane Node is not Ready: "+strings.Join(away, ", ")+". One at a time"))
	case len(ready) < 2:
		checks = append(checks, stop(fmt.Sprintf("%d other control-plane Nodes are Ready: two are needed", len(ready))))
	default:
		checks = append(checks, passed("the other control-plane Nodes are Ready: "+strings.Join(ready, ", ")))
	}
	checks = append(checks, c.Load.poolCheck("master"), c.Load.userDataCheck(masterUserData))
	if err := c.Unread["sets"]; err != nil && !apierrors.IsNotFound(err) {
		checks = append(checks, unknownStop("whether a ControlPlaneMachineSet replaces Machines of the control plane: "+err.Error()))
	}
	return checks, healthy
}
