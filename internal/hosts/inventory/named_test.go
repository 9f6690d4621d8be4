package inventory_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

func withNamed(t *testing.T, list ...namedhost.Host) *inventory.Inventory {
	t.Helper()
	files, err := fixture.Base(metal)
	if err != nil {
		t.Fatal(err)
	}
	s, err := archive.FS(files, "dir")
	if err != nil {
		t.Fatal(err)
	}
	set, err := fixture.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	r := reader.New(set, clean, nil, reader.Limits{}, s, namedhost.New(list...))
	roll, err := inventory.Read(t.Context(), facts.NewWorld(r, time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Coverage() {
		if strings.Contains(c.Need, "namedhosts") && c.State == evidence.Missing {
			t.Errorf("the coverage has %v", c)
		}
	}
	return roll
}

// TestNamed: a host that the user names is in the inventory and expected; one of the name or
// the address of another is that other.
func TestNamed(t *testing.T) {
	expect := func(name string, addresses ...string) namedhost.Host {
		return namedhost.Host{Name: name, Addresses: addresses, By: namedhost.Expect}
	}
	before := withNamed(t)
	w0 := before.Hosts[slices.IndexFunc(before.Hosts, func(h inventory.Host) bool { return h.Name == "w0" })]
	for name, c := range map[string]struct {
		named namedhost.Host
		more  int
		is    string // the host that goes by the name then
	}{
		"a new one":              {expect("w9"), 1, "w9"},
		"a new one, its address": {expect("w9", "192.0.2.212"), 1, "w9"},
		"by its name":            {expect("W0"), 0, "w0"},
		"by its full name":       {expect("w0.lark.example.com"), 0, "w0"},
		"by its address":         {expect("rack7-u3", w0.Addresses[0]), 0, "w0"},
		"an address as the name": {expect(w0.Addresses[0]), 0, "w0"},
		"by a console":           {namedhost.Host{Name: "w9", By: namedhost.Console, Console: true}, 1, "w9"},
		"the bootstrap host":     {namedhost.Host{Name: "bootstrap", Role: namedhost.Bootstrap, By: namedhost.Bundle}, 0, ""},
	} {
		roll := withNamed(t, c.named)
		if len(roll.Hosts) != len(before.Hosts)+c.more {
			t.Errorf("%s: %d hosts, want %d more than %d", name, len(roll.Hosts), c.more, len(before.Hosts))
		}
		i := slices.IndexFunc(roll.Hosts, func(h inventory.Host) bool { return h.Name == c.named.Name || slices.Contains(h.Aliases, c.named.Name) })
		if c.is == "" {
			if i >= 0 {
				t.Errorf("%s is in the inventory", name)
			}
			continue
		}
		if i < 0 || roll.Hosts[i].Name != c.is || !roll.Hosts[i].Expected || roll.Hosts[i].Named == nil ||
			roll.Hosts[i].OnlyNamed() != (c.more > 0) || inventory.ConsoleGiven(roll.Hosts[i]) != (c.named.Console || roll.Hosts[i].Console != "") {
			t.Errorf("%s: %d, %+v", name, i, roll.Hosts[max(i, 0)])
		}
	}
}
