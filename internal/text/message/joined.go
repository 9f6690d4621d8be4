package message

import (
	"slices"
	"strings"
)

// object is the object that a state is of. A unit stopped on a host is a state of its node.
func (s *state) object() rowObject {
	if s.stopped {
		return rowObject{kind: "node", name: s.namespace}
	}
	return rowObject{kind: s.kind, name: s.name, namespace: s.namespace}
}

// joinReason puts what says why before the first symptom, where both are about the same object: the text
// then shows the reason of what it shows first.
func joinReason(r *Report) {
	if len(r.Matches) > 0 || len(r.Symptoms) < 2 || r.Symptoms[0].Reason {
		return
	}
	of := r.Symptoms[0].about()
	at := slices.IndexFunc(r.Symptoms, func(m Match) bool {
		return m.Reason && !m.Aside && slices.ContainsFunc(m.about(), func(o rowObject) bool {
			return slices.ContainsFunc(of, func(lead rowObject) bool { return lead.has(o) })
		})
	})
	if at > 0 {
		reason := r.Symptoms[at]
		r.Symptoms = slices.Insert(slices.Delete(r.Symptoms, at, at+1), 0, reason)
	}
}

// about are the objects that a match is about.
func (m *Match) about() []rowObject {
	list := slices.Clone(m.objects)
	for _, named := range []struct{ key, kind string }{{"host", "node"}, {"node", "node"}, {"operator", "clusteroperator"}, {"pod", "pod"}} {
		if name := m.Names[named.key]; name != "" {
			list = append(list, rowObject{kind: named.kind, name: name})
		}
	}
	return list
}

// ofOperators begins the namespaces of ClusterOperators; what is behind it is the name of the operator.
const ofOperators = "openshift-"

// has reports whether another object is the same one, or a pod of this ClusterOperator. A node goes by its
// name with and without its domain.
func (o rowObject) has(other rowObject) bool {
	switch {
	case o.name == "" || other.name == "":
		return false
	case o.kind == "clusteroperator" || o.kind == "co":
		if other.kind == "pod" {
			return other.namespace == ofOperators+o.name || other.namespace == ofOperators+o.name+"-operator"
		}
		return other.name == o.name && (other.kind == "clusteroperator" || other.kind == "co")
	case o.kind == "node" && other.kind == "node":
		return shortName(o.name) == shortName(other.name)
	}
	return o.kind == other.kind && o.name == other.name && (o.namespace == other.namespace || o.namespace == "" || other.namespace == "")
}

// shortName is the name of a host without its domain.
func shortName(name string) string {
	short, _, _ := strings.Cut(name, ".")
	return short
}
