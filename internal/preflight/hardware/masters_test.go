package hardware

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// The checks are proved by the cases of internal/preflight. Here is what the
// comparison of masters rests on.

func machine(name, role string, s *bmc.System) host {
	var h host
	h.Host, h.Role, h.System = name, role, s
	return h
}

func propertyOf(t *testing.T, name string) property {
	t.Helper()
	i := slices.IndexFunc(properties, func(p property) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("no property %q", name)
	}
	return properties[i]
}

func TestMasters(t *testing.T) {
	var names []string
	for _, h := range masters([]host{machine("m0", "master", nil), machine("w0", "worker", nil), machine("m1", "master", nil)}) {
		names = append(names, h.Host)
	}
	if !slices.Equal(names, []string{"m0", "m1"}) {
		t.Errorf("masters: %v", names)
	}
	if n := len(masters([]host{machine("a", "", nil), machine("b", "", nil)})); n != 2 {
		t.Errorf("without roles %d of 2 are compared", n)
	}
}

// TestCompare: the odd one out is named, and what is not known is no difference.
func TestCompare(t *testing.T) {
	memory := propertyOf(t, "memory")
	list := []host{
		machine("m0", "master", &bmc.System{MemoryGiB: 32}), machine("m1", "master", &bmc.System{MemoryGiB: 64}),
		machine("m2", "master", &bmc.System{MemoryGiB: 64}), machine("m3", "master", &bmc.System{}), machine("m4", "master", nil),
	}
	if usual := memory.usual(list); usual != "64 GiB" {
		t.Errorf("usual: %q", usual)
	}
	var differs check.Problems
	memory.compare(&differs, list)
	proof := differs.Evidence()
	if len(differs.Names()) != 1 || len(proof) != 1 || !strings.HasPrefix(proof[0].Excerpt, "m0: memory is 32 GiB, that of 2 others is 64 GiB: ") {
		t.Errorf("%v, %v", differs.Names(), proof)
	}
	if got := differs.Names()[0]; got != "memory (m0)" {
		t.Errorf("the odd one is not in the name: %q", got)
	}
	var apart check.Problems // no value is that of most
	memory.compare(&apart, []host{list[0], list[1], machine("m5", "master", &bmc.System{MemoryGiB: 128})})
	if proof := apart.Evidence(); apart.Names()[0] != "memory" || len(proof) != 1 || !strings.HasPrefix(proof[0].Excerpt, "memory: m0 32 GiB, m1 64 GiB, m5 128 GiB; each master") {
		t.Errorf("%v, %v", apart.Names(), proof)
	}
	var two check.Problems // of two none is the odd one
	memory.compare(&two, list[:2])
	if two.Names()[0] != "memory" || len(two.Evidence()) != 1 {
		t.Errorf("%v, %v", two.Names(), two.Evidence())
	}
	var none check.Problems
	memory.compare(&none, list[1:])
	if len(none.Names()) != 0 {
		t.Errorf("equal machines differ: %v", none.Names())
	}
}

// TestCheck: a problem of one host is known whatever the others show; without one, all have
// to be known.
func TestCheck(t *testing.T) {
	list := []host{machine("m0", "", nil), machine("m1", "", nil), machine("m2", "", nil)}
	results := func(r ...result) func(host) result {
		return func(h host) result { return r[slices.IndexFunc(list, func(x host) bool { return x.Host == h.Host })] }
	}
	var found, open check.Problems
	eachHost(&found, list, results(fine, wrong("it is off"), result{unknown: "no answer"}))
	if err := found.Unread(); err != nil || len(found.Names()) != 1 {
		t.Errorf("a problem beside an unknown one: %v, %v", found.Names(), err)
	}
	eachHost(&open, list, results(fine, fine, result{unknown: "no answer"}))
	if err := open.Unread(); err == nil || !strings.Contains(err.Error(), "m2: no answer") {
		t.Errorf("an unknown one: %v", err)
	}
}

// TestClock: a second more or less is no difference between clocks that are off.
func TestClock(t *testing.T) {
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	clock := propertyOf(t, "BMC clock")
	for off, want := range map[time.Duration]string{
		0: "right", -59 * time.Second: "right", 10*time.Minute + time.Second: "10m ahead", 10*time.Minute - time.Second: "10m ahead",
		-(2*time.Hour + 30*time.Minute): "2h30m behind", -(73017323 * time.Second): "2 years 115 days behind", 26*time.Hour + 5*time.Second: "1 day 2h ahead",
	} {
		var h host
		h.Manager = &bmc.Manager{Clock: at.Add(off), AskedAt: at}
		if got := clock.of(h); got != want {
			t.Errorf("%s: %q, want %q", off, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for d, want := range map[time.Duration]string{
		90 * time.Second: "1m30s", 5 * time.Minute: "5m", time.Hour: "1h", 2*time.Hour + 5*time.Minute + time.Second: "2h5m", 24 * time.Hour: "1 day",
		76*time.Hour + 10*time.Second: "3 days 4h", 100 * 24 * time.Hour: "100 days", 365 * 24 * time.Hour: "1 year", 366 * 24 * time.Hour: "1 year 1 day",
		20286*time.Hour + 49*time.Minute: "2 years 115 days", 24*time.Hour - time.Second: "24h", time.Hour - time.Millisecond: "1h",
	} {
		if got := distance(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// TestDriver: the drivers ilo5-redfish and ilo5-virtualmedia are other names of redfish and
// redfish-virtualmedia: they fit BMCs of any vendor that those fit.
func TestDriver(t *testing.T) {
	for _, c := range []struct{ driver, maker, firmware, want string }{
		{"ilo5-virtualmedia", "HPE", "iLO 5 v2.72", ""}, {"ilo5-virtualmedia", "Lenovo", "2.83", ""}, {"ilo5-redfish", "Supermicro", "1", ""},
		{"ilo5-virtualmedia", "Dell Inc.", "6.00.30.00", ""}, {"ilo5-virtualmedia", "Dell Inc.", "5.10.00.00", "ilo5-virtualmedia needs iDRAC firmware 6"},
		{"redfish-virtualmedia", "Dell Inc.", "5.10.00.00", "write idrac-virtualmedia"}, {"redfish", "Dell Inc.", "5.10.00.00", ""},
		{"idrac-virtualmedia", "HPE", "iLO 5 v2.72", "is for BMCs of Dell"}, {"idrac-redfish", "Lenovo", "2.83", "is for BMCs of Dell"}, {"idrac-virtualmedia", "Dell Inc.", "5.10", ""},
	} {
		h := machine("m0", "master", &bmc.System{Manufacturer: c.maker})
		h.Driver, h.Manager = c.driver, &bmc.Manager{Firmware: c.firmware}
		if r := h.wrongDriver(); r.unknown != "" || (c.want == "") != (r.problem == "") || !strings.Contains(r.problem, c.want) {
			t.Errorf("%s at %s: %+v", c.driver, c.maker, r)
		}
	}
}
