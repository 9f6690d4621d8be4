package netcheck

import (
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// bothPorts listens at one port on UDP and TCP. A port that is free on one can be taken on
// the other.
func bothPorts(t *testing.T) (udp net.PacketConn, tcp net.Listener) {
	t.Helper()
	var err error
	for range 20 {
		if udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if tcp, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(udp.LocalAddr().(*net.UDPAddr).Port)); err == nil {
			return udp, tcp
		}
		_ = udp.Close()
	}
	t.Fatal(err)
	return nil, nil
}

// nameServer answers over UDP with what it has; big names are answered over TCP only.
func nameServer(t *testing.T, records map[string]string, big bool) (port int, asked func() []string) {
	t.Helper()
	udp, tcp := bothPorts(t)
	port = udp.LocalAddr().(*net.UDPAddr).Port
	names := make(chan string, 100)
	t.Cleanup(func() { _, _ = udp.Close(), tcp.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			name, answer := reply(buf[:n], records, big)
			names <- name
			_, _ = udp.WriteTo([]byte("somebody else's"), from)
			_, _ = udp.WriteTo(answer, from)
		}
	}()
	go func() {
		for {
			conn, err := tcp.Accept()
			if err != nil {
				return
			}
			var size [2]byte
			_, _ = io.ReadFull(conn, size[:])
			buf := make([]byte, binary.BigEndian.Uint16(size[:]))
			_, _ = io.ReadFull(conn, buf)
			_, answer := reply(buf, records, false)
			_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
			_ = conn.Close()
		}
	}()
	return port, func() []string {
		var all []string
		for len(names) > 0 {
			all = append(all, <-names)
		}
		return all
	}
}

func reply(query []byte, records map[string]string, cut bool) (string, []byte) {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return "", nil
	}
	q := m.Questions[0]
	m.Response, m.Truncated = true, cut
	value, ok := records[q.Name.String()]
	switch {
	case value == "SERVFAIL":
		m.RCode = dnsmessage.RCodeServerFailure
	case !ok:
		m.RCode = dnsmessage.RCodeNameError
	case cut:
	case q.Type == dnsmessage.TypeA && netip.MustParseAddr(value).Is4():
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: netip.MustParseAddr(value).As4()}}}
	case q.Type == dnsmessage.TypePTR:
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(value)}}}
	}
	answer, _ := m.Pack()
	return q.Name.String(), answer
}

// timeServer answers as a server whose clock is ahead.
func timeServer(t *testing.T, stratum byte, ahead time.Duration) (port int) {
	t.Helper()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			if n < 48 {
				continue
			}
			now := time.Now().Add(ahead)
			answer := make([]byte, 48)
			answer[0], answer[1] = 0x24, stratum // version 4, a server
			stamp(answer[16:], now)
			copy(answer[24:32], buf[40:48])
			stamp(answer[32:], now)
			stamp(answer[40:], now)
			_, _ = udp.WriteTo(answer, from)
		}
	}()
	return udp.LocalAddr().(*net.UDPAddr).Port
}

// stamp writes a time of NTP: seconds since 1900 and their fraction.
func stamp(to []byte, at time.Time) {
	binary.BigEndian.PutUint32(to, uint32(at.Unix()+2208988800))
	binary.BigEndian.PutUint32(to[4:], uint32(uint64(at.Nanosecond())<<32/1e9))
}

func install(config map[string]any) []evidence.Object {
	return []evidence.Object{{Content: map[string]any{"type": "InstallConfig", "config": config}}}
}

// checkerOf is a checker whose services are at other ports.
func checkerOf(t *testing.T, plans []evidence.Object, p ports) *checker {
	t.Helper()
	c, err := newChecker(plans, Options{Vantage: "here", Step: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c.ports = p
	return c
}

func answerOf(t *testing.T, c *checker, kind probe.NetKind, target string) probe.NetAnswer {
	t.Helper()
	i := slices.IndexFunc(c.out, func(a probe.NetAnswer) bool { return a.Kind == kind && a.Target == target })
	if i < 0 {
		t.Fatalf("no answer %s %s", kind, target)
	}
	return c.out[i]
}

// portOf is the port of a URL of a test server.
func portOf(t *testing.T, s *httptest.Server) int {
	t.Helper()
	return s.Listener.Addr().(*net.TCPAddr).Port
}

// quiet is a server that does not write to the log of the test what clients do.
func quiet(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}
