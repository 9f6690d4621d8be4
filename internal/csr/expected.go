package csr

import (
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
)

// Expected returns what objects of the cluster, or a plan, declare about the hosts that are
// to join. declared comes from inventory.Declared: what a kubelet reports of itself, in its
// Node or in a request, makes no host expected and no address its own. boot returns
// since when a host can have asked.
//
// An address that two hosts have counts for neither, and a name that another host has, too, is certified for
// neither.
func Expected(declared []inventory.Host, boot func(inventory.Host) (time.Time, string)) []Expectation {
	holders := map[string]int{}
	for _, h := range declared {
		for _, ip := range h.Addresses {
			holders[ip]++
		}
	}
	called := map[string]int{} // how many hosts have a name, or one that begins with this label
	for _, h := range declared {
		for name := range namesOf(h) {
			called[name]++
		}
	}
	var list []Expectation
	for _, h := range declared {
		if !h.Expected || h.Spare || leaves(h) {
			continue
		}
		e := Expectation{Name: h.Name, Role: h.Role, DNS: h.Aliases, Source: sourceOf(h), Joined: joined(h), Object: objectOf(h)}
		for _, ip := range h.Addresses {
			if holders[ip] == 1 {
				e.IPs = append(e.IPs, ip)
			}
		}
		for _, name := range h.Aliases {
			if called[strings.ToLower(name)] > 1 {
				e.Shared = append(e.Shared, name)
			}
		}
		e.NotBefore, e.Boot = boot(h)
		list = append(list, e)
	}
	return list
}

// namesOf are the names of a host and their first labels, in lower case.
func namesOf(h inventory.Host) map[string]bool {
	names := map[string]bool{}
	for _, name := range append([]string{h.Name}, h.Aliases...) {
		name = strings.ToLower(name)
		label, _, _ := strings.Cut(name, ".")
		names[name], names[label] = true, true
	}
	return names
}

// leaves reports whether an object of the host is being deleted.
func leaves(h inventory.Host) bool {
	return h.Machine != nil && h.Machine.API.DeletionTimestamp != nil || h.BMH != nil && h.BMH.API.DeletionTimestamp != nil ||
		h.Hosted != nil && h.Hosted.Deleting
}

// joined is the Node that the host's Machine belongs to. It can only refuse a
// request: the node link controller finds it by what the Node reports of itself
// (openshift/machine-api-operator:pkg/controller/nodelink/nodelink_controller.go).
func joined(h inventory.Host) string {
	switch {
	case h.Machine != nil && h.Machine.API.Status.NodeRef != nil:
		return h.Machine.API.Status.NodeRef.Name
	case h.Hosted != nil:
		return h.Hosted.NodeRef
	}
	return ""
}

func sourceOf(h inventory.Host) string {
	switch {
	case h.BMH != nil:
		return "a BareMetalHost"
	case h.Machine != nil, h.Hosted != nil:
		return "a Machine"
	case h.Assisted != nil, h.Agent != nil:
		return "an Agent"
	}
	return "the install's plan"
}

// objectOf is the object that declares the host.
func objectOf(h inventory.Host) ObjectRef {
	switch {
	case h.BMH != nil:
		return ObjectRef{APIVersion: "metal3.io/v1alpha1", Kind: "BareMetalHost", Namespace: h.BMH.API.Namespace, Name: h.BMH.API.Name,
			UID: string(h.BMH.API.UID)}
	case h.Machine != nil:
		return ObjectRef{APIVersion: "machine.openshift.io/v1beta1", Kind: "Machine", Namespace: h.Machine.API.Namespace, Name: h.Machine.API.Name,
			UID: string(h.Machine.API.UID)}
	}
	return ObjectRef{}
}

// For returns the expectation of the host that is to join as a Node of this name, nil
// where there is none. A person's comes first. Of the others the name must be one of
// their names, whole: a first label may be of any domain. Where two hosts have
// the name, neither is expected under it.
func For(all []Expectation, node string) *Expectation {
	if at := slices.IndexFunc(all, func(e Expectation) bool { return e.Explicit && e.Name == node }); at >= 0 {
		return &all[at]
	}
	var found *Expectation
	for _, e := range all {
		if e.Explicit || !slices.ContainsFunc(append([]string{e.Name}, e.DNS...), func(n string) bool { return strings.EqualFold(n, node) }) {
			continue
		}
		if found != nil || defaultName(node) {
			return nil
		}
		e.DNS = append(slices.Clone(e.DNS), e.Name)
		e.Name = node
		found = &e
	}
	return found
}

// defaultName reports whether a name is one that every host has before it has its own.
func defaultName(name string) bool {
	return name == "localhost" || strings.HasPrefix(name, "localhost.")
}
