package metalhost

import (
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/workers"
)

// Rights are what adding a host needs in the cluster, rolling it back included. Those of the approver
// (workers.JoinRights) come with them.
func Rights(w Want) []workers.Right {
	list := []workers.Right{
		{What: "list BareMetalHosts", Verb: "list", Group: openshift.Metal3Group, Resource: "baremetalhosts", Namespace: Namespace},
		{What: "create BareMetalHosts", Verb: "create", Group: openshift.Metal3Group, Resource: "baremetalhosts", Namespace: Namespace},
		{What: "delete BareMetalHosts", Verb: "delete", Group: openshift.Metal3Group, Resource: "baremetalhosts", Namespace: Namespace},
		{What: "read Secrets in " + Namespace, Verb: "get", Resource: "secrets", Namespace: Namespace},
		{What: "list Machines", Verb: "list", Group: openshift.MachineGroup, Resource: "machines", Namespace: Namespace},
		{What: "list MachineSets", Verb: "list", Group: openshift.MachineGroup, Resource: "machinesets", Namespace: Namespace},
	}
	if !w.HaveSecret {
		list = append(list,
			workers.Right{What: "create Secrets in " + Namespace, Verb: "create", Resource: "secrets", Namespace: Namespace},
			workers.Right{What: "delete Secrets in " + Namespace, Verb: "delete", Resource: "secrets", Namespace: Namespace})
	}
	if !w.NoScale {
		list = append(list,
			workers.Right{What: "patch MachineSets", Verb: "patch", Group: openshift.MachineGroup, Resource: "machinesets", Namespace: Namespace},
			workers.Right{What: "patch Machines (for a rollback)", Verb: "patch", Group: openshift.MachineGroup, Resource: "machines", Namespace: Namespace})
	}
	return append(list, workers.JoinRights...)
}

// ReplaceRights are what replacing a worker needs in the cluster.
func ReplaceRights(e Exchange) []workers.Right {
	list := []workers.Right{
		{What: "list BareMetalHosts", Verb: "list", Group: openshift.Metal3Group, Resource: "baremetalhosts", Namespace: Namespace},
		{What: "list Machines", Verb: "list", Group: openshift.MachineGroup, Resource: "machines", Namespace: Namespace},
		{What: "delete Machines", Verb: "delete", Group: openshift.MachineGroup, Resource: "machines", Namespace: Namespace},
		{What: "list MachineSets", Verb: "list", Group: openshift.MachineGroup, Resource: "machinesets", Namespace: Namespace},
		{What: "list pods", Verb: "list", Resource: "pods"},
		{What: "list PodDisruptionBudgets", Verb: "list", Group: "policy", Resource: "poddisruptionbudgets"},
		{What: "list PersistentVolumes", Verb: "list", Resource: "persistentvolumes"},
	}
	if e.Drop {
		list = append(list, workers.Right{What: "delete BareMetalHosts", Verb: "delete", Group: openshift.Metal3Group, Resource: "baremetalhosts",
			Namespace: Namespace})
	}
	return append(list, workers.JoinRights...)
}
