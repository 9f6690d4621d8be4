package csr

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Declared is a host that a Machine or a BareMetalHost names, also where no inventory asks for it: what it is called
// is certified for no other host.
type Declared struct {
	Object string   // "Machine x"
	Names  []string // of the object, and of the host where the object has it
	Node   string   // that the Machine belongs to, "" where there is none
	// Hostnames are of Names those that the host itself has, and not only its object.
	Hostnames []string
	Addresses []string // IPs
	// ProviderID is the Machine's. ControlPlane says what makes the host one of the control plane, "" where nothing does.
	ProviderID, ControlPlane string
}

// controlPlane says what makes a Machine one of the control plane: a label for its Node, its owner, or the user-data with which it boots
// (openshift/api:machine/v1beta1 MachineSpec; openshift/installer:pkg/asset/machines/userdata.go).
func controlPlane(m map[string]any) string {
	for _, part := range [][]string{{"metadata", "labels"}, {"spec", "metadata", "labels"}} {
		v := evidence.Field(m, part...)
		labels, ok := v.(map[string]any)
		if !ok && v != nil {
			return "has labels that cannot be read"
		}
		for _, label := range []string{openshift.MasterLabel, openshift.ControlPlaneLabel} {
			if _, has := labels[label]; has {
				return "has the label " + label
			}
		}
	}
	owners, _ := evidence.Field(m, "metadata", "ownerReferences").([]any)
	for _, o := range owners {
		if owner, _ := o.(map[string]any); evidence.String(owner, "kind") == "ControlPlaneMachineSet" {
			return "is owned by a ControlPlaneMachineSet"
		}
	}
	for _, field := range []string{"userData", "userDataSecret"} {
		v := evidence.Field(m, "spec", "providerSpec", "value", field)
		if _, ok := v.(map[string]any); !ok && v != nil {
			return "boots with user-data that cannot be read"
		}
		if ofMasters(evidence.String(m, "spec", "providerSpec", "value", field, "name")) {
			return "boots with the user-data of masters"
		}
	}
	return ""
}

// ofMasters reports whether a Secret is user-data of masters: the installer's, or the one that the machine-config operator keeps
// (openshift/machine-config-operator:pkg/operator/sync.go syncMachineConfigPools, from 4.7; openshift/installer:
// data/data/manifests/bootkube, pkg/asset/machines/userdata.go).
func ofMasters(secret string) bool { return strings.HasPrefix(secret, "master-user-data") }

// declaredBy returns the hosts of Machines, with the BareMetalHosts that they consume, and the other BareMetalHosts.
func declaredBy(machines, hosts []map[string]any) []Declared {
	var list []Declared
	at, hostOf := map[string]int{}, map[string]int{} // of a Machine, and of the BareMetalHost that it names, in list
	leaves := func(o map[string]any) bool { return evidence.String(o, "metadata", "deletionTimestamp") != "" }
	for _, m := range machines {
		if leaves(m) {
			continue
		}
		name := evidence.String(m, "metadata", "name")
		d := Declared{Object: "Machine " + name, Names: []string{name}, Node: evidence.String(m, "status", "nodeRef", "name"),
			ProviderID: evidence.String(m, "spec", "providerID"), ControlPlane: controlPlane(m)}
		addresses, _ := evidence.Field(m, "status", "addresses").([]any)
		for _, a := range addresses {
			switch address, _ := a.(map[string]any); evidence.String(address, "type") {
			case "Hostname", "InternalDNS", "ExternalDNS":
				d.isCalled(evidence.String(address, "address"))
			case "InternalIP", "ExternalIP":
				d.Addresses = append(d.Addresses, evidence.String(address, "address"))
			}
		}
		at[name] = len(list)
		if _, host, ok := strings.Cut(evidence.String(m, "metadata", "annotations", openshift.HostOnMachineAnnotation), "/"); ok {
			hostOf[host] = len(list)
		}
		list = append(list, d)
	}
	for _, h := range hosts {
		if leaves(h) {
			continue
		}
		name := evidence.String(h, "metadata", "name")
		d := Declared{Object: "BareMetalHost " + name, Names: []string{name}}
		if ofMasters(evidence.String(h, "spec", "userData", "name")) {
			d.ControlPlane = "boots with the user-data of masters"
		}
		d.isCalled(evidence.String(h, "status", "hardware", "hostname"))
		nics, _ := evidence.Field(h, "status", "hardware", "nics").([]any)
		for _, n := range nics {
			if nic, _ := n.(map[string]any); evidence.String(nic, "ip") != "" {
				d.Addresses = append(d.Addresses, evidence.String(nic, "ip"))
			}
		}
		i, ok := 0, false
		if consumer := evidence.String(h, "spec", "consumerRef", "name"); consumer == "" {
			i, ok = hostOf[name]
		} else if ns := evidence.String(h, "spec", "consumerRef", "namespace"); slices.Contains([]string{"", "Machine"},
			evidence.String(h, "spec", "consumerRef", "kind")) && (ns == "" || ns == openshift.MachineAPINamespace) {
			i, ok = at[consumer] // and no other one, whatever a Machine says of this host
		}
		if ok {
			list[i].Names = append(list[i].Names, d.Names...)
			list[i].Hostnames = append(list[i].Hostnames, d.Hostnames...)
			list[i].Addresses = append(list[i].Addresses, d.Addresses...)
			list[i].ControlPlane = cmp.Or(list[i].ControlPlane, d.ControlPlane)
			continue
		}
		list = append(list, d)
	}
	return list
}

// isCalled adds a name that the host itself has; none that every host has before it has its own.
func (d *Declared) isCalled(name string) {
	if name = strings.TrimSuffix(name, "."); name == "" {
		return
	}
	d.Names = append(d.Names, name)
	if hostName(strings.ToLower(name)) && !defaultName(name) && !isAddress(name) {
		d.Hostnames = append(d.Hostnames, name)
	}
}

// other reports whether this is surely another host than one of a name: it belongs to another Node, or calls itself
// otherwise. An object alone may have any name.
func (d Declared) other(name string) bool {
	if d.called(name) || d.Node == name {
		return false
	}
	return d.Node != "" || len(d.Hostnames) > 0
}

// called reports whether a host has a name, whole or as its first label.
func (d Declared) called(name string) bool {
	return slices.ContainsFunc(d.Names, func(have string) bool { return sameName(have, name) })
}

// sameName reports whether two names are one, or one is the first label of the other.
func sameName(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	labelA, _, dotsA := strings.Cut(a, ".")
	labelB, _, dotsB := strings.Cut(b, ".")
	return dotsA != dotsB && strings.EqualFold(labelA, labelB)
}
