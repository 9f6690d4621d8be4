package metalhost

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Member is a host of the cluster by what the API has of it. Each part may be missing.
type Member struct{ Node, Machine, Host kube.Object }

// NodeName is the name of its Node, "" where it has none.
func (m Member) NodeName() string { return evidence.String(m.Node, "metadata", "name") }

// MachineName is the name of its Machine, "" where it has none.
func (m Member) MachineName() string { return evidence.String(m.Machine, "metadata", "name") }

// HostName is the name of its BareMetalHost, "" where it has none.
func (m Member) HostName() string { return evidence.String(m.Host, "metadata", "name") }

// named says that one of its objects has the name.
func (m Member) named(name string) bool {
	return name != "" && (m.NodeName() == name || m.MachineName() == name || m.HostName() == name)
}

// text names its objects.
func (m Member) text() string {
	var all []string
	for _, x := range []struct{ kind, name string }{{"Node", m.NodeName()}, {"Machine", m.MachineName()}, {"BareMetalHost", m.HostName()}} {
		if x.name != "" {
			all = append(all, x.kind+" "+x.name)
		}
	}
	return strings.Join(all, ", ")
}

// Control says that it is a control-plane host by one of its objects. The installer labels BareMetalHosts with their role
// (openshift/installer:pkg/asset/machines/baremetal/hosts.go).
func (m Member) Control() bool {
	labels := texts(evidence.Field(m.Node, "metadata", "labels"))
	_, master := labels[openshift.MasterLabel]
	_, control := labels[openshift.ControlPlaneLabel]
	role := evidence.String(m.Machine, "metadata", "labels", openshift.MachineRoleLabel)
	of := evidence.String(m.Host, "metadata", "labels", openshift.HostRoleLabel)
	return master || control || role == "master" || of == "control-plane" || of == "master"
}

// members joins the Nodes, Machines and BareMetalHosts of a cluster: a Machine refers to its Node, a host to its Machine
// (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go consumerRefMatches). Where
// there is no Machine (any more), a Node and a host of one name are one.
func (s Seen) members() []Member {
	nodes, hosts := slices.Clone(s.Nodes), slices.Clone(s.Hosts)
	take := func(list *[]kube.Object, fits func(kube.Object) bool) kube.Object {
		i := slices.IndexFunc(*list, fits)
		if i < 0 {
			return nil
		}
		o := (*list)[i]
		*list = slices.Delete(*list, i, i+1)
		return o
	}
	var all []Member
	for _, o := range s.Machines {
		m := machineOf(o)
		one := Member{Machine: o}
		one.Node = take(&nodes, func(n kube.Object) bool {
			of := evidence.String(n, "metadata", "annotations", openshift.MachineOnNodeAnnotation)
			return m.node != "" && evidence.String(n, "metadata", "name") == m.node || of == Namespace+"/"+m.name
		})
		one.Host = take(&hosts, func(h kube.Object) bool { b := hostOf(h); return b.consumer == m.name && !b.foreign })
		if one.Host == nil && m.host != "" {
			one.Host = take(&hosts, func(h kube.Object) bool {
				b := hostOf(h)
				return b.consumer == "" && Namespace+"/"+b.name == m.host
			})
		}
		all = append(all, one)
	}
	for _, n := range nodes {
		name := evidence.String(n, "metadata", "name")
		all = append(all, Member{Node: n, Host: take(&hosts, func(h kube.Object) bool {
			b := hostOf(h)
			return b.name == name && !b.foreign && object(s.Machines, b.consumer) == nil
		})})
	}
	for _, h := range hosts {
		all = append(all, Member{Host: h})
	}
	return all
}

// Find is the host of which the Node, the Machine or the BareMetalHost has exactly this name.
func (s Seen) Find(name string) (Member, error) {
	for _, what := range []string{"nodes", "machines", "hosts"} {
		if err := s.Unread[what]; err != nil && !apierrors.IsNotFound(err) {
			return Member{}, fmt.Errorf("find %s: list the %s: %w", name, what, err)
		}
	}
	var found []Member
	var known []string
	for _, m := range s.members() {
		if m.named(name) {
			found = append(found, m)
		}
		if m.Node != nil {
			known = append(known, m.NodeName())
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		slices.Sort(known)
		return Member{}, fmt.Errorf("no Node, Machine or BareMetalHost is called %s. Nodes: %s", name, orText(strings.Join(known, ", "), "none"))
	}
	var texts []string
	for _, m := range found {
		texts = append(texts, m.text())
	}
	return Member{}, fmt.Errorf("%s is the name of several hosts (%s): name one by an object that only it has", name, strings.Join(texts, "; "))
}
