package netcheck

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// entry is a message of netlink about one neighbor.
func entry(ip string, index int, nud uint16, mac []byte) []byte {
	attr := func(kind uint16, value []byte) []byte {
		b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
		b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		return b
	}
	body := []byte{syscall.AF_INET, 0, 0, 0}
	body = binary.NativeEndian.AppendUint32(body, uint32(index))
	body = binary.NativeEndian.AppendUint16(body, nud)
	body = append(body, 0, 0)
	body = append(body, attr(ndaDst, netip.MustParseAddr(ip).AsSlice())...)
	if mac != nil {
		body = append(body, attr(ndaLLAddr, mac)...)
	}
	head := binary.NativeEndian.AppendUint32(nil, uint32(syscall.SizeofNlMsghdr+len(body)))
	head = binary.NativeEndian.AppendUint16(head, syscall.RTM_NEWNEIGH)
	return append(append(head, make([]byte, 10)...), body...)
}

func TestParseNeighbors(t *testing.T) {
	mac := []byte{0x52, 0x54, 0, 1, 2, 3}
	raw := append(entry("192.0.2.5", 2, nudReachable, mac), entry("192.0.2.6", 2, nudFailed, nil)...)
	raw = append(raw, entry("2001:db8::1", 3, nudStale, mac)...)
	table, err := parseNeighbors(raw)
	if err != nil || len(table) != 3 || table[0].mac.String() != "52:54:00:01:02:03" || table[0].index != 2 {
		t.Fatalf("%+v %v", table, err)
	}
	c := &checker{links: []link{{"eno1", 2, 1500, netip.MustParsePrefix("192.0.2.9/24"), "52:54:00:00:00:09"}, {"eno2", 3, 1500, netip.MustParsePrefix("2001:db8::9/64"), ""}}}
	for ip, want := range map[string]string{"192.0.2.5": probe.NeighborAnswered, "192.0.2.6": probe.NeighborSilent, "192.0.2.7": "", "2001:db8::1": ""} {
		for _, late := range []bool{false, true} {
			a := probe.NetAnswer{Host: ip}
			c.enter(&a, table, nil, late)
			if a.Neighbor != want || want == "" && late != (a.NotRun != "") {
				t.Errorf("%s, late %v: %+v", ip, late, a)
			}
		}
	}
	a := probe.NetAnswer{Host: "192.0.2.5"}
	if c.enter(&a, nil, errors.New("no"), false); a.NotRun == "" || a.Neighbor != "" {
		t.Errorf("%+v", a)
	}
}

// TestOwnAddress: the machine that asks may be a host of the plan; its MAC address shows that.
func TestOwnAddress(t *testing.T) {
	c := &checker{links: []link{{"eno1", 2, 1500, netip.MustParsePrefix("192.0.2.9/24"), "52:54:00:00:00:09"}}}
	c.want.hosts = []question{{"host m0", "192.0.2.9"}, {"host m1", "192.0.2.10"}, {"host m2", "198.51.100.1"}}
	c.Now = time.Now
	list := c.neighborAnswers()
	if a := list[0]; a.Neighbor != probe.NeighborAnswered || a.MAC != "52:54:00:00:00:09" || a.NotRun != "" {
		t.Errorf("itself: %+v", a)
	}
	if a := list[1]; a.Neighbor != "" || a.NotRun != "" {
		t.Errorf("a neighbor: %+v", a)
	}
	if a := list[2]; a.NotRun == "" {
		t.Errorf("in another network: %+v", a)
	}
}

// TestReadNeighbors: the kernel of this machine is asked, without rights.
func TestReadNeighbors(t *testing.T) {
	if _, err := readNeighbors(); err != nil {
		t.Skipf("netlink is closed here: %v", err)
	}
}

func FuzzNeighbors(f *testing.F) {
	f.Add(entry("192.0.2.5", 2, nudReachable, []byte{1, 2, 3, 4, 5, 6}))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := parseNeighbors(raw)
		if err == nil && len(list) > len(raw)/ndmsgSize {
			t.Errorf("%d of %d bytes", len(list), len(raw))
		}
	})
}
