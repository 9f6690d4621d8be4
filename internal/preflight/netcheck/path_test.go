package netcheck

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/apipath"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// fakeWires is a path that loses packets above carries, with or without a report.
type fakeWires struct {
	own, carries int
	reports      bool
	dead         bool
}

func (f fakeWires) delays(context.Context, string, int) ([]time.Duration, string, error) {
	if f.dead {
		return nil, "", nil
	}
	return []time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond}, "TCP 22", nil
}

func (f fakeWires) send(_ context.Context, _ string, size int) (fate, int, error) {
	switch {
	case f.dead:
		return silent, 0, nil
	case size <= f.carries:
		return arrived, 0, nil
	case f.reports:
		return tooLarge, f.carries, nil
	}
	return silent, 0, nil
}

func (f fakeWires) mtu(context.Context, string) (int, error) { return f.own, nil }
func (fakeWires) method() string                             { return "fake" }

func TestSize(t *testing.T) {
	for name, s := range map[string]struct {
		wires            fakeWires
		passed, reported int
		class            probe.ErrorClass
		notRun           bool
	}{
		"whole":               {fakeWires{own: 1500, carries: 1500}, 1500, 0, "", false},
		"small interface":     {fakeWires{own: 1400, carries: 1500}, 1400, 0, "", false},
		"reported":            {fakeWires{own: 1500, carries: 1400, reports: true}, 1400, 1400, "", false},
		"silent":              {fakeWires{own: 1500, carries: 1401}, 1398, 0, "", false},
		"only small":          {fakeWires{own: 1500, carries: 600}, 0, 0, "", false},
		"interface not known": {fakeWires{carries: 1400, reports: true}, 0, 0, "", true},
		"nothing answered":    {fakeWires{own: 1500, dead: true}, 0, 0, probe.ErrTimeout, false},
	} {
		c := checkerOf(t, nil, ports{})
		c.wires = s.wires
		a := probe.NetAnswer{Kind: probe.NetSize, Host: "192.0.2.11", Size: 1500}
		c.size(t.Context(), &a)
		if d := a.Passed - s.passed; d < -4 || d > 4 || a.Reported != s.reported || a.ErrorClass != s.class || a.NotRun != "" != s.notRun {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestDelay(t *testing.T) {
	c := checkerOf(t, nil, ports{})
	c.wires = fakeWires{}
	var a probe.NetAnswer
	if c.delay(t.Context(), &a); a.Sent != 10 || a.Lost != 7 || a.Median != 2 || a.Max != 3 {
		t.Errorf("%+v", a)
	}
	c.wires = fakeWires{dead: true}
	a = probe.NetAnswer{}
	if c.delay(t.Context(), &a); a.Sent != 0 || a.ErrorClass != probe.ErrTimeout {
		t.Errorf("%+v", a)
	}
}

// TestLoopback: a closed port of this machine answers, to TCP and to a datagram.
func TestLoopback(t *testing.T) {
	for _, ip := range []string{"127.0.0.1", "::1"} {
		t.Run(ip, func(t *testing.T) {
			if l, err := net.Listen("tcp", net.JoinHostPort(ip, "0")); err != nil {
				t.Skipf("this machine has no %s: %v", ip, err)
			} else {
				l.Close()
			}
			h := here{ports: []int{9}}
			times, method, err := h.delays(t.Context(), ip, 3)
			if err != nil || method != "TCP 9" || len(times) != 3 {
				t.Errorf("%v %q %v", times, method, err)
			}
			mtu, err := h.mtu(t.Context(), ip)
			if err != nil || mtu < 1500 {
				t.Fatalf("%d %v", mtu, err)
			}
			if f, _, err := h.send(t.Context(), ip, 1500); f != arrived || err != nil {
				t.Errorf("%v %v", f, err)
			}
		})
	}
}

// printed is what the programs of a node print.
type printed struct{ ping, mtu, addr string }

func (p printed) Ping(context.Context, string, int, int) (string, error) { return p.ping, nil }
func (p printed) MTU(context.Context, string) (string, error)            { return p.mtu, nil }
func (p printed) Addresses(context.Context) (string, error)              { return p.addr, nil }

var _ apipath.Paths = printed{}

func TestPing(t *testing.T) {
	good := "PING 192.0.2.11 (192.0.2.11) 56(84) bytes of data.\n64 bytes from 192.0.2.11: icmp_seq=1 ttl=64 time=0.312 ms\n64 bytes from 192.0.2.11: icmp_seq=2 ttl=64 time=12 ms\n"
	p := pinger{printed{ping: good, mtu: "1400\n"}}
	times, method, err := p.delays(t.Context(), "192.0.2.11", 10)
	if err != nil || method != "ping" || len(times) != 2 || times[1] != 12*time.Millisecond {
		t.Errorf("%v %q %v", times, method, err)
	}
	for text, want := range map[string]struct {
		fate  fate
		limit int
	}{
		good: {arrived, 0},
		"ping: local error: message too long, mtu=1400\n":                                   {tooLarge, 1400},
		"From 192.0.2.1 icmp_seq=1 Frag needed and DF set (mtu = 1420)\n":                   {tooLarge, 1420},
		"PING ::1(::1) 70000 data bytes\nping: local error: message too long, mtu: 65536\n": {tooLarge, 65536},
		"From 2001:db8::1 icmp_seq=1 Packet too big: mtu=1280\n":                            {tooLarge, 1280},
		"PING ::1(::1) 100 data bytes\n108 bytes from ::1: icmp_seq=1 ttl=64 time=0.2 ms\n": {arrived, 0},
		"1 packets transmitted, 0 received, 100% packet loss, time 0ms\n":                   {silent, 0},
		"64 bytes from 192.0.2.11: icmp_seq=1 ttl=64 time=99999999999999999999999.9 ms\n":   {silent, 0},
	} {
		f, limit, err := pinger{printed{ping: text}}.send(t.Context(), "192.0.2.11", 1500)
		if f != want.fate || limit != want.limit || err != nil {
			t.Errorf("%q: %v %d %v", text, f, limit, err)
		}
	}
	if n, err := p.mtu(t.Context(), "192.0.2.11"); n != 1400 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	got, err := networksOf(t.Context(), printed{addr: "1: lo    inet 127.0.0.1/8 scope host lo\n2: br-ex    inet 192.0.2.10/24 brd 192.0.2.255 scope global\n5: ovn-k8s-mp0    inet 10.128.0.2/23 scope global\n"})
	if err != nil || len(got) != 1 || got[0] != "192.0.2.0/24" {
		t.Errorf("%v %v", got, err)
	}
}

// FuzzNode: what a node prints is foreign text; whatever it is, times and sizes stay in their bounds.
func FuzzNode(f *testing.F) {
	f.Add("64 bytes from 192.0.2.11: icmp_seq=1 ttl=64 time=0.312 ms\n")
	f.Add("ping: local error: message too long, mtu: 65536\n")
	f.Add("2: br-ex    inet 192.0.2.10/24 brd 192.0.2.255 scope global\n")
	f.Add("1400\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := pinger{printed{ping: text, mtu: text, addr: text}}
		times, _, err := p.delays(t.Context(), "192.0.2.11", 10)
		if err != nil || len(times) > 10 {
			t.Errorf("%d times, %v", len(times), err)
		}
		for _, d := range times {
			if d < 0 || d > 10*time.Second {
				t.Errorf("%v", d)
			}
		}
		if _, limit, err := p.send(t.Context(), "192.0.2.11", 1500); err != nil || limit < 0 || limit > 99999 {
			t.Errorf("limit %d, %v", limit, err)
		}
		if n, err := p.mtu(t.Context(), "192.0.2.11"); err != nil || n != 0 && n < smallest {
			t.Errorf("mtu %d, %v", n, err)
		}
		if all, err := networksOf(t.Context(), printed{addr: text}); err != nil || len(all) > maxAddresses {
			t.Errorf("%v, %v", all, err)
		}
	})
}
