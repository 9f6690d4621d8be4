package csr

import (
	"slices"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
)

func TestExpected(t *testing.T) {
	gone := metav1.NewTime(noon)
	machine := func(edit func(*apitypes.Machine)) *inventory.Machine {
		m := &inventory.Machine{}
		edit(&m.API)
		return m
	}
	declared := []inventory.Host{
		{Name: "worker-0", Aliases: []string{"m-0", "worker-0.example"}, Expected: true, Role: "worker", Addresses: []string{"192.0.2.20", "192.0.2.99"},
			BMH: &inventory.BMH{}},
		{Name: "worker-1", Aliases: []string{"localhost"}, Expected: true, Role: "worker", Addresses: []string{"192.0.2.21", "192.0.2.99"}, BMH: &inventory.BMH{}},
		{Name: "twin", Expected: true, Addresses: []string{"192.0.2.31"}, Machine: machine(func(*apitypes.Machine) {})},
		{Name: "worker-3", Aliases: []string{"twin"}, Expected: true, Addresses: []string{"192.0.2.32"}, Planned: &inventory.Planned{}},
		{Name: "spare", Expected: true, Spare: true, BMH: &inventory.BMH{}},
		{Name: "claimed"},
		{Name: "leaving", Expected: true, Machine: machine(func(m *apitypes.Machine) { m.DeletionTimestamp = &gone })},
		{Name: "leaving-bmh", Expected: true, BMH: &inventory.BMH{API: metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &gone}}}},
		{Name: "linked", Expected: true, Machine: machine(func(m *apitypes.Machine) { m.Status.NodeRef = &corev1.ObjectReference{Name: "other"} })},
	}
	torn := Expected([]inventory.Host{{Name: "torn", Expected: true, Role: "worker", Machine: machine(func(m *apitypes.Machine) {
		m.Labels = map[string]string{openshift.MachineRoleLabel: "worker", openshift.MachineTypeLabel: "master"}
	})}}, func(inventory.Host) (time.Time, string) { return noon, "" })
	if len(torn) != 1 || torn[0].Role != "" {
		t.Errorf("labels of two roles: %+v", torn)
	}
	shared := Expected([]inventory.Host{
		{Name: "fern", Aliases: []string{"fern.example", "moss", "Oak"}, Expected: true},
		{Name: "moss.example", Aliases: []string{"oak.example"}},
	}, func(inventory.Host) (time.Time, string) { return noon, "" })
	if len(shared) != 1 || !slices.Equal(shared[0].Shared, []string{"moss", "Oak"}) {
		t.Errorf("names that two hosts have: %+v", shared)
	}
	named := func(object string, names ...string) Expectation {
		all := Expected([]inventory.Host{{Name: object, Aliases: names, Expected: true, Machine: machine(func(m *apitypes.Machine) {
			m.Name = object
			for _, n := range names {
				m.Status.Addresses = append(m.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalDNS, Address: n})
			}
		})}}, func(inventory.Host) (time.Time, string) { return noon, "" })
		return all[0]
	}
	for _, tt := range []struct {
		names []string
		want  string
		dns   int
	}{{nil, "m-7", 0}, {[]string{"fern"}, "fern", 0}, {[]string{"fern", "fern.example"}, "fern", 1}, {[]string{"m-7.example"}, "m-7", 1}, {[]string{"localhost"}, "m-7", 1}} {
		if e := named("m-7", tt.names...); e.Name != tt.want || len(e.DNS) != tt.dns {
			t.Errorf("a Machine that is called %q: %s, %q", tt.names, e.Name, e.DNS)
		}
	}
	object := func(hostname, bmh string) Expectation {
		var host metal3.BareMetalHost
		host.Name = bmh
		m := machine(func(m *apitypes.Machine) {
			m.Name = "m-7"
			m.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: hostname}}
		})
		return Expected([]inventory.Host{{Name: "fern", Aliases: []string{"m-7", "rack-9"}, Expected: true, Machine: m, BMH: &inventory.BMH{API: host}}},
			func(inventory.Host) (time.Time, string) { return noon, "" })[0]
	}
	if e := object("fern", "rack-9"); e.Name != "fern" || len(e.DNS) > 0 {
		t.Errorf("a host that calls itself otherwise has the names of its objects: %+v", e)
	}
	if e := object("rack-9.example", "rack-9"); !slices.Contains(e.DNS, "rack-9") {
		t.Errorf("a host that has the name of its BareMetalHost has lost it: %+v", e)
	}
	agent := func(spec string) string {
		return role(inventory.Host{Role: "worker", Assisted: &inventory.Assisted{API: assisted.Host{Role: "worker", SpecRole: spec}}})
	}
	if agent("") != "worker" || agent("auto-assign") != "worker" || agent("worker") != "worker" || agent("master") != "" {
		t.Error("an Agent whose spec and status have two roles has one")
	}
	failed := Expected([]inventory.Host{{Name: "m-8", Expected: true, Machine: machine(func(m *apitypes.Machine) {
		phase := "Failed"
		m.Status.Phase = &phase
	})}}, func(inventory.Host) (time.Time, string) { return noon, "" })
	if len(failed) > 0 {
		t.Errorf("a Machine that failed is expected: %+v", failed)
	}
	list := Expected(declared, func(h inventory.Host) (time.Time, string) { return noon, "it booted: " + h.Name })
	list = append(list, Expectation{Name: "twin.example", Explicit: true, IPs: []string{"192.0.2.77"}})
	for _, tt := range []struct {
		node   string
		ips    []string
		source string // "" is not expected
		joined string
	}{
		{"worker-0", []string{"192.0.2.20"}, "a BareMetalHost", ""}, // 192.0.2.99 is of two hosts
		{"worker-0.example", []string{"192.0.2.20"}, "a BareMetalHost", ""},
		{"worker-0.evil", nil, "", ""},
		{"WORKER-0", []string{"192.0.2.20"}, "a BareMetalHost", ""}, // refused by its name, later
		{"worker", nil, "", ""},
		{"", nil, "", ""},
		{"localhost", nil, "", ""},
		{"twin", nil, "", ""}, // two hosts go by it
		{"worker-3", []string{"192.0.2.32"}, "the install's plan", ""},
		{"spare", nil, "", ""},
		{"claimed", nil, "", ""},
		{"leaving", nil, "", ""},
		{"leaving-bmh", nil, "", ""},
		{"linked", nil, "a Machine", "other"},
	} {
		e := For(list, tt.node)
		if (e != nil) != (tt.source != "") {
			t.Errorf("%q: expected %v", tt.node, e)
			continue
		}
		if e != nil && (e.Name != tt.node || e.Source != tt.source || !slices.Equal(e.IPs, tt.ips) || e.Joined != tt.joined || e.Boot == "") {
			t.Errorf("%q: %+v", tt.node, e)
		}
	}
	if e := For(list, "twin.example"); e == nil || !e.Explicit {
		t.Errorf("a person named it: %+v", e)
	}
}
