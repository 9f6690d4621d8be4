package csr

import (
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
}

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
		d := Declared{Object: "Machine " + name, Names: []string{name}, Node: evidence.String(m, "status", "nodeRef", "name")}
		addresses, _ := evidence.Field(m, "status", "addresses").([]any)
		for _, a := range addresses {
			switch address, _ := a.(map[string]any); evidence.String(address, "type") {
			case "Hostname", "InternalDNS", "ExternalDNS":
				d.Names = append(d.Names, evidence.String(address, "address"))
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
		names := []string{name}
		if found := evidence.String(h, "status", "hardware", "hostname"); found != "" {
			names = append(names, found)
		}
		i, ok := at[evidence.String(h, "spec", "consumerRef", "name")]
		if !ok {
			i, ok = hostOf[name]
		}
		if ok {
			list[i].Names = append(list[i].Names, names...)
			continue
		}
		list = append(list, Declared{Object: "BareMetalHost " + name, Names: names})
	}
	return list
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
