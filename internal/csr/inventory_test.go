package csr_test

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/csr"
)

// TestInventoryInOneWay: an inventory that can be read in two ways is an error.
func TestInventoryInOneWay(t *testing.T) {
	const one = "hosts:\n- name: fern\n  role: worker\n  ips: [192.0.2.40]\n"
	for name, text := range map[string]string{
		"addresses twice":             one + "  ips: [192.0.2.41]\n",
		"a name twice":                one + "  name: moss\n",
		"hosts twice":                 one + "hosts: []\n",
		"a time twice":                one + "  expect: {from: 2026-05-01T12:00:00Z, from: 2026-05-01T13:00:00Z, until: 2026-05-01T14:00:00Z}\n",
		"a second document":           "hosts: []\n---\n" + one,
		"an empty second document":    one + "---\n",
		"a broken second document":    one + "---\n[",
		"another case":                strings.Replace(one, "ips", "IPs", 1),
		"both cases":                  one + "  Ips: [192.0.2.41]\n",
		"both cases in JSON":          `{"hosts":[{"name":"fern","Name":"moss","role":"worker"}]}`,
		"twice in JSON":               `{"hosts":[{"name":"fern","name":"moss","role":"worker"}]}`,
		"two documents of JSON":       `{"hosts":[]}` + "\n" + `{"hosts":[{"name":"fern","role":"worker"}]}`,
		"Hosts":                       strings.Replace(one, "hosts", "Hosts", 1),
		"an unknown field":            one + "  ip: 192.0.2.41\n",
		"an unknown field at the top": one + "host: []\n",
		"a list":                      "- name: fern\n  role: worker\n",
		"a text":                      "fern",
		"an address of two hosts":     one + "- {name: moss, role: worker, ips: [192.0.2.40]}\n",
		"a mapped address of two":     one + "- {name: moss, role: worker, ips: ['::ffff:192.0.2.40']}\n",
		"a time without a zone":       one + "  expect: {from: 2026-05-01T12:00:00, until: 2026-05-01T14:00:00}\n",
		"merged fields":               "hosts:\n- <<: {name: moss, role: master}\n  name: fern\n",
		"merged fields of an anchor":  "hosts:\n- &a {name: moss, role: worker}\n- <<: *a\n  name: fern\n",
		"a tag":                       strings.Replace(one, "fern", "!!binary ZmVybg==", 1),
		"a tag of one's own":          strings.Replace(one, "fern", "!host fern", 1),
		"a number":                    strings.Replace(one, "fern", "0x17", 1),
		"a yes":                       strings.Replace(one, "fern", "yes", 1),
		"no address of one host":      strings.Replace(one, "192.0.2.40", "0.0.0.0", 1),
		"an address as a name":        one + "  dns: [192.0.2.99]\n",
		"a role in capitals":          strings.Replace(one, "worker", "Worker", 1),
		"a day":                       one + "  expect: {from: 2026-05-01, until: 2026-05-02}\n",
	} {
		if hosts, err := csr.ParseInventory([]byte(text), "here"); err == nil {
			t.Errorf("%s: read as %+v", name, hosts)
		}
	}
	for name, text := range map[string]string{
		"once":               one,
		"in JSON":            `{"hosts":[{"name":"fern","role":"worker","ips":["192.0.2.40"],"expect":{"from":"2026-05-01T12:00:00Z","until":"2026-05-01T14:00:00Z"}}]}`,
		"a window":           one + "  expect: {from: 2026-05-01T12:00:00Z, until: '2026-05-01T14:00:00+02:00'}\n",
		"a number in quotes": one + "  dns: ['23']\n",
		"marked":             "---\n" + one,
	} {
		hosts, err := csr.ParseInventory([]byte(text), "here")
		if name == "a window" { // until is before from, in another zone
			if err == nil {
				t.Errorf("%s: the zone is passed over", name)
			}
			continue
		}
		if err != nil || len(hosts) != 1 || hosts[0].Name != "fern" || len(hosts[0].IPs) != 1 {
			t.Errorf("%s: %+v, %v", name, hosts, err)
		}
	}
	if hosts, err := csr.ParseInventory([]byte("# saved empty\n"), "here"); err != nil || len(hosts) > 0 {
		t.Errorf("empty: %v, %v", hosts, err)
	}
}
