package message

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// A machine that its provider has made and that has no Node is in phase Provisioned (openshift/machine-api-operator:
// pkg/controller/machine/machine_controller.go and docs/user/machine-phase.md). Beside a list of the nodes, somebody asks why.
const (
	// cloudJoins is how long a host of a cloud takes at most to boot and to join; a MachineHealthCheck replaces it after 10
	// minutes (openshift/machine-api-operator:pkg/controller/machinehealthcheck, defaultNodeStartupTimeout).
	cloudJoins = 8 * time.Minute
	metalJoins = 45 * time.Minute
)

// unjoined notes a row of a Machine that has no Node yet, and how long that takes.
func (s *shown) unjoined(number int, row *state, line []byte) {
	t := s.table
	if t.has("ROLES", "STATUS", "VERSION") {
		s.listsNodes = true
		return
	}
	if row.kind != "machine" || !t.has("PHASE") || row.says != "" {
		return
	}
	cells, ok := octable.Row(octable.Unmarked(string(line)), t.columns)
	if !ok || cells[t.at["PHASE"]] != "Provisioned" {
		return
	}
	cell := func(name string) string {
		if i, ok := t.at[name]; ok {
			return cells[i]
		}
		return ""
	}
	age, aged := octable.Age(cell("AGE"))
	least := metalJoins
	if cell("REGION") != "" {
		least = cloudJoins
	}
	one := *row
	one.line, one.says, one.next = number, "its host was made, and it has no Node", unjoinedNext
	if one.waits = !aged || age < least; !one.waits {
		one.age = ", " + cell("AGE") + " after the Machine was made"
	}
	s.made = append(s.made, one)
}

const unjoinedNext = "oc get csr: a request of the host that is Pending is approved with oc adm certificate approve, after its name was " +
	"compared with the Machine. No request: the console of the host (oc describe machine has its ID at the platform): Ignition that repeats GET " +
	"is the machine config server (22623) or the network; a login prompt: sudo journalctl -b -u kubelet. " +
	"oc -n openshift-cluster-machine-approver logs deploy/machine-approver -c machine-approver-controller"

// withoutNodes are the Machines without a Node, where the text has the list of the nodes, too.
func (s *shown) withoutNodes() []state {
	if !s.listsNodes {
		return nil
	}
	named := func(one state) bool {
		return slices.ContainsFunc(s.nodeNames, func(name string) bool { return shortName(name) == one.name })
	}
	return slices.DeleteFunc(s.made, named)
}
