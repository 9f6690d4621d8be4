package inventory

import "regexp"

// markPerhapsNodes finds Machines that may be hosts that are already counted: a row of `oc get machines` does not have the
// Node, and on many platforms a Machine and its Node have different names. A Machine that is Provisioning or Provisioned
// has no Node yet (openshift/machine-api-operator:pkg/controller/machine/controller.go Reconcile, phaseRunning).
func (b *builder) markPerhapsNodes() {
	var free []*Host // with a Node of no known Machine
	for _, h := range b.list {
		if h.settleRole(); h.Node != nil && h.Machine == nil {
			free = append(free, h)
		}
	}
	for _, phase := range []string{"Running", "Failed", "Deleting"} {
		for _, h := range b.list {
			if h.Node != nil || h.Machine == nil || !h.Machine.part || h.Machine.API.Status.NodeRef != nil ||
				h.Machine.API.Status.Phase == nil || *h.Machine.API.Status.Phase != phase {
				continue
			}
			for i, n := range free {
				if ofControlPlane(h) == (n.Role == master) {
					h.PerhapsNode, free = true, append(free[:i:i], free[i+1:]...)
					break
				}
			}
		}
	}
}

const master = "master"

var masterName = regexp.MustCompile(`-(?:master|control-plane)-\d+$`)

// ofControlPlane reports whether a Machine is of the control plane. Where nothing else tells, its name does: openshift-install
// calls these Machines CLUSTER-master-N (openshift/installer:pkg/asset/machines).
func ofControlPlane(h *Host) bool {
	return h.Role == master || h.Role == "" && masterName.MatchString(h.Machine.API.Name)
}
