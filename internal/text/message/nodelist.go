package message

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nodeList is a list of all nodes of a cluster, as `oc get nodes` prints it: how many of them are of the control
// plane shows whether one has not joined.
type nodeList struct {
	whole    bool // its command asks for all nodes
	listed   []state
	arbiters int
	minor    int // of the release of Kubernetes, the newest one
}

// allNodes is a command that lists all nodes: no name and no selector is behind the kind.
var allNodes = regexp.MustCompile(`\b(?:oc|kubectl)\b.* get (?:no|nodes?)(?: (?:-o ?\S+|-w|--watch|-A|--no-headers|--show-labels|--kubeconfig[ =]\S+))*\s*$`)

// ownRelease is the version of a kubelet of OpenShift: the commit stands behind it. Other distributions have a
// word there, or nothing (openshift/kubernetes:openshift-hack/lib/build/version.sh).
var ownRelease = regexp.MustCompile(`^v1\.(\d+)\.\d+\S*\+[0-9a-f]{7,}$`)

func newNodeList(t *table, command []byte) nodeList {
	return nodeList{whole: t != nil && t.has("ROLES", "STATUS", "VERSION") && allNodes.Match(command)}
}

// see takes a row.
func (n *nodeList) see(number int, row *state) {
	if !n.whole || row.kind != "node" {
		return
	}
	roles := strings.Split(row.roles, ",")
	if slices.Contains(roles, "arbiter") {
		n.arbiters++
	}
	release := ownRelease.FindStringSubmatch(row.version)
	if release == nil {
		n.whole = false
		return
	}
	if m, err := strconv.Atoi(release[1]); err == nil {
		n.minor = max(n.minor, m)
	}
	if slices.Contains(roles, "control-plane") || slices.Contains(roles, "master") {
		row.line = number
		n.listed = append(n.listed, *row)
	}
}

// lastJoins is how old the first node of a control plane is, at most, while the others still join.
const lastJoins = 20 * time.Minute

// twoMasters is the release of Kubernetes, that of OpenShift 4.20, from which on a control plane may have two hosts.
const twoMasters = 33

// close returns what a list shows that has ended: a control plane has one host or three, from 4.18 on also four or
// five (openshift/installer:pkg/asset/agent/installconfig.go), and two are one too few.
func (n *nodeList) close() []state {
	list := *n
	*n = nodeList{}
	if !list.whole || len(list.listed) != 2 || list.arbiters > 0 || list.minor == 0 || list.minor >= twoMasters {
		return nil
	}
	if s := list.listed; max(s[0].old, s[1].old) < lastJoins {
		return nil
	}
	s := list.listed[1]
	s.kind, s.name = "", ""
	s.says = "2 nodes are of the control plane, and a control plane has 1 or 3: a host of it has not joined, or its Node was deleted"
	s.next = "which host is it? During an agent-based installation the rendezvous host joins last: on it, sudo journalctl -b -u assisted-service -u agent " +
		"--no-pager -n 50, and whether it has rebooted from its disk. Else: its console, and oc get csr"
	return []state{s}
}
