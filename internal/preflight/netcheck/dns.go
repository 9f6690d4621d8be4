package netcheck

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/rollcall-project/rollcall/internal/outbound"
)

// The resolver of the standard library looks into the /etc/hosts of this machine first. What
// one name server of the plan answers is asked for here, with no file in between.

// maxMessage is the longest answer that is read, over UDP and over TCP.
const maxMessage = 16 << 10

// errs of name servers.
var (
	errNoSuchName = errors.New("no such name")
	errNoAnswer   = errors.New("the name server does not answer")
	errFailure    = errors.New("the name server answers with")
)

// exchange sends one question and returns its answers. dial opens the connection; of an
// answer that does not fit in a datagram it asks again over TCP (RFC 1035, 4.2).
func exchange(ctx context.Context, dial func(ctx context.Context, network string) (net.Conn, error), name string,
	kind dnsmessage.Type) ([]dnsmessage.Resource, error) {
	query, err := queryOf(name, kind)
	if err != nil {
		return nil, err
	}
	for _, network := range []string{"udp", "tcp"} {
		answers, cut, err := exchangeOver(ctx, dial, network, query)
		if err != nil || !cut {
			return answers, err
		}
	}
	return nil, errors.New("the answer is cut, over TCP, too")
}

func queryOf(name string, kind dnsmessage.Type) ([]byte, error) {
	n, err := dnsmessage.NewName(name + ".")
	if err != nil {
		return nil, fmt.Errorf("%q is not a name: %w", name, err)
	}
	var random [2]byte
	_, _ = rand.Read(random[:]) // it never fails
	id := binary.BigEndian.Uint16(random[:])
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: n, Type: kind, Class: dnsmessage.ClassINET}},
	}
	return m.Pack()
}

// exchangeOver asks once. Datagrams of somebody else are passed over until the time ends.
func exchangeOver(ctx context.Context, dial func(context.Context, string) (net.Conn, error), network string, query []byte) (
	answers []dnsmessage.Resource, cut bool, err error) {
	conn, err := dial(ctx, network)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer conn.Close()
	if until, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(until)
	}
	framed := query
	if network == "tcp" {
		framed = append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)
	}
	if _, err := conn.Write(framed); err != nil {
		return nil, false, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	for range 8 {
		raw, err := readMessage(conn, network)
		if err != nil {
			return nil, false, fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		answers, cut, ok, err := readAnswer(raw, query)
		if ok {
			return answers, cut, err
		}
	}
	return nil, false, fmt.Errorf("%w: what arrives does not answer the question", errNoAnswer)
}

func readMessage(conn net.Conn, network string) ([]byte, error) {
	buf := make([]byte, maxMessage)
	if network == "udp" {
		n, err := conn.Read(buf)
		return buf[:n], err
	}
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(size[:]))
	if n > maxMessage {
		return nil, errors.New("its answer is too long")
	}
	_, err := io.ReadFull(conn, buf[:n])
	return buf[:n], err
}

// readAnswer reads a message; ok is false where it is not the answer to the query: it has another number, or
// another question (RFC 5452, 9.1). An error may come without the question.
func readAnswer(raw, query []byte) (answers []dnsmessage.Resource, cut, ok bool, _ error) {
	var p, asked dnsmessage.Parser
	h, err := p.Start(raw)
	mine, errMine := asked.Start(query)
	if err != nil || errMine != nil || h.ID != mine.ID || !h.Response {
		return nil, false, false, nil
	}
	questions, err := p.AllQuestions()
	want, errMine := asked.Question()
	if err != nil || errMine != nil || !asks(questions, want, h.RCode) {
		return nil, false, false, nil
	}
	if h.Truncated {
		return nil, true, true, nil
	}
	switch h.RCode {
	case dnsmessage.RCodeSuccess:
	case dnsmessage.RCodeNameError:
		return nil, false, true, errNoSuchName
	default:
		return nil, false, true, fmt.Errorf("%w %s", errFailure, rcode(h.RCode))
	}
	for range 4 * maxAddresses {
		r, err := p.Answer()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			break
		}
		if err != nil {
			return nil, false, true, errors.New("its answer cannot be read")
		}
		answers = append(answers, r)
	}
	return answers, false, true, nil
}

// asks reports whether the questions of an answer are the one that was asked. Names are compared without case.
func asks(questions []dnsmessage.Question, want dnsmessage.Question, code dnsmessage.RCode) bool {
	if len(questions) == 0 {
		return code != dnsmessage.RCodeSuccess && code != dnsmessage.RCodeNameError
	}
	got := questions[0]
	return len(questions) == 1 && got.Type == want.Type && got.Class == want.Class && strings.EqualFold(got.Name.String(), want.Name.String())
}

// rcode is a code as dig writes it (RFC 1035, 4.1.1; RFC 6895, 2.3).
func rcode(c dnsmessage.RCode) string {
	switch c {
	case dnsmessage.RCodeFormatError:
		return "FORMERR"
	case dnsmessage.RCodeServerFailure:
		return "SERVFAIL"
	case dnsmessage.RCodeNotImplemented:
		return "NOTIMP"
	case dnsmessage.RCodeRefused:
		return "REFUSED"
	}
	return fmt.Sprintf("RCODE %d", uint16(c))
}

// addressesFrom asks one name server for the addresses of a name.
func addressesFrom(ctx context.Context, dial func(context.Context, string) (net.Conn, error), name string) ([]string, error) {
	var found []string
	var none error
	for _, kind := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
		answers, err := exchange(ctx, dial, name, kind)
		if errors.Is(err, errNoSuchName) {
			none = err
			continue
		}
		if err != nil {
			return found, err
		}
		for _, r := range answers {
			switch body := r.Body.(type) {
			case *dnsmessage.AResource:
				found = append(found, netip.AddrFrom4(body.A).String())
			case *dnsmessage.AAAAResource:
				found = append(found, netip.AddrFrom16(body.AAAA).Unmap().String())
			}
		}
	}
	if len(found) == 0 && none == nil {
		none = errNoSuchName // the name has no address
	}
	if len(found) > 0 {
		none = nil
	}
	return found, none
}

// namesFrom asks one name server for the names of an address.
func namesFrom(ctx context.Context, dial func(context.Context, string) (net.Conn, error), address string) ([]string, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return nil, err
	}
	answers, err := exchange(ctx, dial, arpa(ip), dnsmessage.TypePTR)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, r := range answers {
		if body, ok := r.Body.(*dnsmessage.PTRResource); ok {
			found = append(found, body.PTR.String())
		}
	}
	if len(found) == 0 {
		return nil, errNoSuchName
	}
	return found, nil
}

// arpa is the name under which the names of an address are found, without its last dot.
func arpa(ip netip.Addr) string {
	if ip.Is4() {
		b := ip.As4()
		return fmt.Sprintf("%d.%d.%d.%d.in-addr.arpa", b[3], b[2], b[1], b[0])
	}
	b := ip.As16()
	name := ""
	for i := len(b) - 1; i >= 0; i-- {
		name += fmt.Sprintf("%x.%x.", b[i]&0xf, b[i]>>4)
	}
	return name + "ip6.arpa"
}

// dialServer opens connections to one name server.
func (c *checker) dialServer(address string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, network string) (net.Conn, error) {
		return outbound.Dialer(3*time.Second).DialContext(ctx, network, address)
	}
}
