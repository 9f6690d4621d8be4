package csr_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rollcall-project/rollcall/internal/csr"
)

// TestInventoryAddresses: an address that no host has alone is an error that names it.
func TestInventoryAddresses(t *testing.T) {
	for _, ip := range []string{
		"127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", "0.1.2.3", "169.254.7.7", "fe80::7", "224.0.0.1", "239.1.2.3", "ff02::1", "ff0e::7",
		"255.255.255.255", "240.0.0.7", "::ffff:169.254.7.7", "192.0.2.0/24", "fe80::7%eth0", "192.0.2", "",
	} {
		hosts, err := csr.ParseInventory([]byte("hosts:\n- {name: fern, role: worker, ips: [192.0.2.40, '"+ip+"']}\n"), "here")
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(ip)) || !strings.Contains(err.Error(), "fern") {
			t.Errorf("%s: %+v, %v", ip, hosts, err)
		}
	}
	for _, ip := range []string{"192.0.2.41", "10.0.0.7", "100.64.0.7", "fd00::7", "2001:db8::7", "127.0.0.7"} { // the last in a laboratory
		if _, err := csr.ParseInventory([]byte("hosts:\n- {name: fern, role: worker, ips: ['"+ip+"']}\n"), "here"); err != nil {
			t.Errorf("%s: %v", ip, err)
		}
	}
}

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
		"a byte order mark":           "\ufeff" + one,
		"an alias":                    "hosts:\n- {name: &a fern, role: worker, dns: [*a]}\n",
		"an anchor":                   strings.Replace(one, "fern", "&a fern", 1),
		"merged fields of an anchor":  "hosts:\n- &a {name: moss, role: worker}\n- <<: *a\n  name: fern\n",
		"a tag":                       strings.Replace(one, "fern", "!!binary ZmVybg==", 1),
		"a tag of one's own":          strings.Replace(one, "fern", "!host fern", 1),
		"a number":                    strings.Replace(one, "fern", "0x17", 1),
		"a yes":                       strings.Replace(one, "fern", "yes", 1),
		"no address of one host":      strings.Replace(one, "192.0.2.40", "0.0.0.0", 1),
		"an address as a name":        one + "  dns: [192.0.2.99]\n",
		"a role in capitals":          strings.Replace(one, "worker", "Worker", 1),
		"a comment that NEL ends":     "# old:\u0085- {name: moss, role: worker}\n" + one,
		"a comment that LS ends":      one + "# old:\u2028- {name: moss, role: worker}\n",
		"the same in UTF-16":          utf16le(one + "# old:\u2028- {name: moss, role: worker}\n"),
		"UTF-16":                      utf16le(one),
		"a byte of no letter":         strings.Replace(one, "worker", "worker # \xff", 1),
		"a comment that PS ends":      one + "# old:\u2029- {name: moss, role: worker}\n",
		"a comment that CR ends":      one + "# old:\r- {name: moss, role: worker}\n",
		"a name with a hidden letter": strings.Replace(one, "fern", "\"fe\u200brn\"", 1),
		"turned around":               one + "# \u202e\n",
		"a key of nothing":            one + "  key:\n",
		"an empty key":                one + "  key: ''\n",
		"a null":                      one + "  key: ~\n",
		"a name that is a date":       strings.Replace(one, "fern", "2026-05-01", 1),
		"a tag without a name":        strings.Replace(one, "fern", "! fern", 1),
		"a tag on a list":             strings.Replace(one, "hosts:", "hosts: !", 1),
		"a tag behind an anchor":      strings.Replace(one, "fern", "&a ! fern", 1),
		"a tag in front of quotes":    strings.Replace(one, "fern", "! 'fern'", 1),
		"a directive":                 "%YAML 1.1\n---\n" + one,
		"a directive of tags":         "# x\n%TAG ! tag:example.com,2000:\n---\n" + one,
		"a variation selector":        one + "# x\ufe0f\n",
		"a filler":                    one + "# x\u3164\n",
		"a blank of another width":    one + "# x\u3000y\n",
		"a private character":         one + "# x\ue000y\n",
		"Braille without dots":        one + "# x\u2800y\n",
		"an address as name":          strings.Replace(one, "fern", "192.0.2.99", 1),
		"a number as name":            strings.Replace(one, "fern", "'3221225999'", 1),
		"a hexadecimal number":        one + "  dns: ['0xc0000211']\n",
		"a number in quotes":          one + "  dns: ['23']\n",
		"a day":                       one + "  expect: {from: 2026-05-01, until: 2026-05-02}\n",
	} {
		if hosts, err := csr.ParseInventory([]byte(text), "here"); err == nil {
			t.Errorf("%s: read as %+v", name, hosts)
		}
	}
	for name, text := range map[string]string{
		"once":               one,
		"lines of Windows":   strings.ReplaceAll(one, "\n", "\r\n"),
		"in JSON":            `{"hosts":[{"name":"fern","role":"worker","ips":["192.0.2.40"],"expect":{"from":"2026-05-01T12:00:00Z","until":"2026-05-01T14:00:00Z"}}]}`,
		"a window":           one + "  expect: {from: 2026-05-01T12:00:00Z, until: '2026-05-01T14:00:00+02:00'}\n",
		"a number in quotes": one + "  dns: ['23.example']\n",
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

// utf16le is a text as editors of Windows save it.
func utf16le(text string) string {
	raw := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = append(raw, byte(unit), byte(unit>>8))
	}
	return string(raw)
}
