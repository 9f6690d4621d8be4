package csr

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// maxInventory bounds an inventory, with its YAML aliases followed.
const maxInventory = 4 << 20

// inventoryHost is one host of an inventory as a person writes it.
type inventoryHost struct {
	Name   string   `yaml:"name"`
	Role   string   `yaml:"role"`
	IPs    []string `yaml:"ips"`
	DNS    []string `yaml:"dns"`
	Key    *string  `yaml:"key"`
	Expect *struct {
		From  string `yaml:"from"`
		Until string `yaml:"until"`
	} `yaml:"expect"`
}

// ParseInventory reads the hosts that a person expects, in YAML:
//
//	hosts:
//	- name: worker7
//	  role: worker
//	  ips: [192.0.2.17]
//	  dns: [worker7.example.com]
//	  expect: {from: 2026-05-01T12:00:00Z, until: 2026-05-01T14:00:00Z}
//
// A host without expect gets no client certificate: only serving certificates of the
// Node that it is. A line counts as a host that a person named, also for the control plane. What can
// be meant in two ways is an error: a name or an address of two hosts, an unknown field, a field
// that is there twice or in other case, a second document, a merge of fields, a tag, a word that is a number or
// a yes for some readers.
func ParseInventory(raw []byte, source string) ([]Expectation, error) {
	var file struct {
		Hosts []inventoryHost `yaml:"hosts"`
	}
	if err := yamlin.UnmarshalExact(raw, &file, maxInventory); err != nil {
		return nil, fmt.Errorf("read %s: %w", source, err)
	}
	holder := map[string]string{}
	var all []Expectation
	for i, h := range file.Hosts {
		e, err := h.expectation(source)
		if err != nil {
			return nil, fmt.Errorf("read %s: hosts[%d] %.80q: %w", source, i, h.Name, err)
		}
		for _, claim := range slices.Concat([]string{e.Name}, e.DNS, e.IPs) {
			if other, taken := holder[claim]; taken && other != e.Name {
				return nil, fmt.Errorf("read %s: %s is of the hosts %s and %s", source, claim, other, e.Name)
			} else if taken && claim == e.Name {
				return nil, fmt.Errorf("read %s: two hosts are called %s", source, e.Name)
			}
			holder[claim] = e.Name
		}
		all = append(all, e)
	}
	return all, nil
}

func (h inventoryHost) expectation(source string) (Expectation, error) {
	e := Expectation{Name: h.Name, Role: h.Role, Source: source, Explicit: true, Boot: "the inventory has no time window for it (expect: {from, until})"}
	if !hostName(h.Name) || defaultName(h.Name) || isAddress(h.Name) {
		return e, errors.New("name: want the name of a Node, in lower case, and no address")
	}
	if len(validation.IsDNS1123Subdomain(h.Role)) > 0 {
		return e, errors.New("role: want worker, master or the role of another pool, in lower case")
	}
	for _, text := range h.IPs {
		ip, err := netip.ParseAddr(text)
		if err != nil || ip.Zone() != "" || !ofOneHost(ip.Unmap()) {
			return e, fmt.Errorf("ips: %.80q is not an address of one host in a network", text)
		}
		e.IPs = append(e.IPs, ip.Unmap().String())
	}
	for _, name := range h.DNS {
		if name = strings.ToLower(name); !hostName(name) || defaultName(name) || isAddress(name) {
			return e, fmt.Errorf("dns: %.80q is not a name of one host", name)
		}
		if name != e.Name {
			e.DNS = append(e.DNS, name)
		}
	}
	if h.Key != nil {
		key, err := ParseKey(*h.Key)
		if err != nil {
			return e, err
		}
		e.Key = key
	}
	if h.Expect == nil {
		return e, nil
	}
	from, errFrom := time.Parse(time.RFC3339, h.Expect.From)
	until, errUntil := time.Parse(time.RFC3339, h.Expect.Until)
	e.NotBefore, e.NotAfter = from.UTC(), until.UTC()
	if errFrom != nil || errUntil != nil || from.IsZero() || !e.NotAfter.After(e.NotBefore) {
		return e, errors.New("expect: want from and until (RFC 3339), from being the earlier")
	}
	e.Boot = "it is expected from " + stamp(e.NotBefore) + " until " + stamp(e.NotAfter)
	return e, nil
}
