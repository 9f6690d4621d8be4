package netcheck

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/beevik/ntp"
)

// canned is a connection of which one side has said all that it will.
type canned struct {
	net.Conn
	in       io.Reader
	datagram []byte
	sent     []byte
}

func (c *canned) Read(p []byte) (int, error) {
	if c.in != nil {
		return c.in.Read(p)
	}
	if c.datagram == nil {
		return 0, io.EOF
	}
	n := copy(p, c.datagram)
	c.datagram = nil
	return n, nil
}

func (c *canned) Write(p []byte) (int, error) { c.sent = append(c.sent, p...); return len(p), nil }
func (*canned) Close() error                  { return nil }
func (*canned) SetDeadline(time.Time) error   { return nil }
func (*canned) RemoteAddr() net.Addr          { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (*canned) LocalAddr() net.Addr           { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// FuzzDNS: whatever a name server sends, few things are kept, and it ends.
func FuzzDNS(f *testing.F) {
	name := dnsmessage.MustNewName("api.prod.example.com.")
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true}, Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}},
		Answers: []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, 5}}}}}
	good, err := m.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[2:], false)
	f.Add(good[2:], true)
	f.Add(bytes.Repeat([]byte{0xc0}, 600), false)
	f.Fuzz(func(t *testing.T, rest []byte, overTCP bool) {
		dial := func(_ context.Context, network string) (net.Conn, error) {
			return &answering{rest: rest, tcp: network == "tcp", cut: overTCP}, nil
		}
		for _, ask := range []func() ([]string, error){
			func() ([]string, error) { return addressesFrom(t.Context(), dial, "api.prod.example.com") },
			func() ([]string, error) { return namesFrom(t.Context(), dial, "192.0.2.11") },
		} {
			found, err := ask()
			if len(found) > 8*maxAddresses || err == nil && len(found) == 0 {
				t.Errorf("%d found, %v", len(found), err)
			}
		}
	})
}

// answering sends an answer with the number of the question: whoever is on the way knows it.
type answering struct {
	canned
	rest     []byte
	tcp, cut bool
}

func (a *answering) Write(p []byte) (int, error) {
	q := p
	if a.tcp {
		q = p[2:]
	}
	answer := append([]byte{q[0], q[1]}, a.rest...)
	if a.cut && !a.tcp && len(answer) > 2 {
		answer[2] |= 0x82 // an answer, cut
	}
	if a.tcp {
		answer = append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...)
		a.in = bytes.NewReader(answer)
		return len(p), nil
	}
	a.datagram = answer
	return len(p), nil
}

// FuzzNTP: whatever a time server sends, it is an answer or an error, and its error is short.
func FuzzNTP(f *testing.F) {
	f.Add(make([]byte, 48))
	f.Add(append([]byte{0x24, 2}, bytes.Repeat([]byte{0xff}, 100)...))
	f.Fuzz(func(t *testing.T, answer []byte) {
		r, err := ntp.QueryWithOptions("127.0.0.1:123", ntp.QueryOptions{Timeout: time.Second, Dialer: func(string, string) (net.Conn, error) {
			return &echoing{answer: answer}, nil
		}})
		if err == nil {
			_ = r.Validate()
		}
		if err != nil && len(wireClip(err)) > 310 {
			t.Errorf("%d bytes", len(wireClip(err)))
		}
	})
}

// echoing sends an answer with the time of the question, without which it is not read.
type echoing struct {
	canned
	answer []byte
}

func (e *echoing) Write(p []byte) (int, error) {
	e.datagram = bytes.Clone(e.answer)
	if len(e.datagram) >= 32 && len(p) >= 48 {
		copy(e.datagram[24:32], p[40:48])
	}
	if e.datagram == nil {
		e.datagram = []byte{}
	}
	return len(p), nil
}

// FuzzRead: a file of another machine gives bounded answers or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte("kind: NetworkAnswers\nanswers: {a: {question: time, host: x, vantage: iso}}\n"))
	f.Add([]byte("kind: NetworkAnswers\nanswers: {a: &a {chain: [x]}, b: *a}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := Read(bytes.NewReader(raw))
		if err == nil && len(list) > maxAnswers {
			t.Errorf("%d answers", len(list))
		}
	})
}
