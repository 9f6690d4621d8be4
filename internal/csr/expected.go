package csr

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
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
		e := Expectation{Name: h.Name, Role: role(h), DNS: h.Aliases, Source: sourceOf(h), Joined: joined(h), JoinedUID: joinedUID(h), Object: objectOf(h),
			NotInstalled: notInstalled(h)}
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
		e.onlyOwnNames(h)
		e.NotBefore, e.Boot = boot(h)
		list = append(list, e)
	}
	return list
}

// onlyOwnNames takes the names of the host's Machine and BareMetalHost away where the Machine says what the host is called: no kubelet asks for the
// name of an object, and the machine approver takes it for none either (openshift/cluster-machine-approver:
// pkg/controller/csr_check.go findMatchingMachineFromInternalDNS; openshift/cluster-api-provider-baremetal:
// pkg/cloud/baremetal/actuators/machine/actuator.go nodeAddresses: the hostname that the ramdisk saw).
func (e *Expectation) onlyOwnNames(h inventory.Host) {
	if h.Machine == nil {
		return
	}
	var own []string
	for _, a := range h.Machine.API.Status.Addresses {
		switch name := strings.TrimSuffix(a.Address, "."); a.Type {
		case corev1.NodeHostName, corev1.NodeInternalDNS:
			if hostName(strings.ToLower(name)) && !defaultName(name) && !isAddress(name) {
				own = append(own, name)
			}
		}
	}
	if len(own) == 0 {
		return
	}
	objects := []string{h.Machine.API.Name}
	if h.BMH != nil {
		objects = append(objects, h.BMH.API.Name)
	}
	objects = slices.DeleteFunc(objects, func(object string) bool {
		return slices.ContainsFunc(own, func(n string) bool { return sameName(n, object) })
	})
	ofObject := func(n string) bool {
		return slices.ContainsFunc(objects, func(object string) bool { return strings.EqualFold(n, object) })
	}
	e.DNS = slices.DeleteFunc(slices.Clone(e.DNS), ofObject)
	if ofObject(e.Name) {
		e.Name = own[0]
		e.DNS = slices.DeleteFunc(e.DNS, func(n string) bool { return n == e.Name })
	}
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

// leaves reports whether an object of the host is being deleted, or the Machine API has given it up.
func leaves(h inventory.Host) bool {
	if h.Machine != nil && h.Machine.API.Status.Phase != nil && slices.Contains([]string{"Deleting", "Failed"}, *h.Machine.API.Status.Phase) {
		return true
	}
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

// role is the host's role, "" where its Machine has labels of two.
func role(h inventory.Host) string {
	if h.Machine != nil {
		if r, t := h.Machine.API.Labels[openshift.MachineRoleLabel], h.Machine.API.Labels[openshift.MachineTypeLabel]; r != "" && t != "" && r != t {
			return ""
		}
	}
	if h.Assisted != nil {
		if a := h.Assisted.API; a.SpecRole != "" && a.SpecRole != "auto-assign" && a.Role != "" && a.SpecRole != a.Role {
			return ""
		}
	}
	return h.Role
}

// joinedUID is the UID of that Node, "" where the Machine has none.
func joinedUID(h inventory.Host) string {
	if h.Machine != nil && h.Machine.API.Status.NodeRef != nil {
		return string(h.Machine.API.Status.NodeRef.UID)
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
		e := all[at]
		e.Claimed, e.Others = claimed(all, e), others(all, e)
		return &e
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
		e.Claimed, e.Others = claimed(all, e), others(all, e)
		found = &e
	}
	return found
}

// claimed are the addresses of a host that another expected one has, too, whoever declared that: of two that share
// no name neither has the address.
func claimed(all []Expectation, e Expectation) (list []Claim) {
	if len(e.IPs) == 0 {
		return nil
	}
	names := append([]string{e.Name}, e.DNS...)
	for i := range all {
		o := &all[i]
		if !slices.ContainsFunc(o.IPs, func(ip string) bool { return slices.Contains(e.IPs, ip) }) ||
			slices.ContainsFunc(append([]string{o.Name}, o.DNS...), func(n string) bool {
				return slices.ContainsFunc(names, func(have string) bool { return sameName(have, n) })
			}) {
			continue
		}
		for _, text := range o.IPs {
			if ip, err := netip.ParseAddr(text); err == nil && slices.Contains(e.IPs, text) {
				list = append(list, Claim{IP: ip.Unmap(), By: o.Name + " (" + o.Source + ")"})
			}
		}
	}
	return list
}

// others are the names of expected hosts that have one of a host's addresses.
func others(all []Expectation, e Expectation) (names []string) {
	for _, o := range all {
		if slices.ContainsFunc(o.IPs, func(ip string) bool { return slices.Contains(e.IPs, ip) }) {
			names = append(append(names, o.Name), o.DNS...)
		}
	}
	return names
}

// defaultName reports whether a name is one that every host has before it has its own.
func defaultName(name string) bool {
	return name == "localhost" || strings.HasPrefix(name, "localhost.")
}
