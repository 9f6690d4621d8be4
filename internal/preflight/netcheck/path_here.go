package netcheck

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// here measures from this machine.
type here struct{ ports []int }

// knocked are ports of hosts at which something may listen or refuse: SSH of the live ISO and
// of nodes, the kubelet, the API server.
var knocked = []int{22, openshift.KubeletPort, openshift.APIPort}

// delays takes the first port at which the host answers.
func (h here) delays(ctx context.Context, ip string, n int) ([]time.Duration, string, error) {
	ports := make(chan int, len(h.ports))
	var group sync.WaitGroup
	for _, p := range h.ports {
		group.Go(crash.Func(func() {
			if _, ok := knock(ctx, ip, p, 3*time.Second); ok {
				ports <- p
			}
		}))
	}
	go crash.Func(func() { group.Wait(); close(ports) })()
	port, ok := <-ports
	if !ok {
		return nil, "", nil
	}
	var times []time.Duration
	for i := 0; i < n && ctx.Err() == nil; i++ {
		if d, ok := knock(ctx, ip, port, beforeResend); ok {
			times = append(times, d)
		}
		time.Sleep(20 * time.Millisecond) // apart, so that one full queue does not lose all
	}
	return times, "TCP " + strconv.Itoa(port), ctx.Err()
}

// knock opens a connection and closes it; nothing is sent. ok is that it was accepted or
// refused.
func knock(ctx context.Context, ip string, port int, within time.Duration) (time.Duration, bool) {
	began := time.Now()
	conn, err := outbound.Dialer(within).DialContext(ctx, "tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	took := time.Since(began)
	if err == nil {
		_ = conn.Close()
	}
	return took, err == nil || wire.Classify(err, probe.StageNone) == probe.ErrRefused
}

func (here) method() string { return "UDP" }

// traced is the first port that traceroute(8) sends to: hosts have it closed.
const traced = "33434"

// udp opens a socket for one packet: answers of the kernel belong to it alone.
func udp(ctx context.Context, ip string, discover int) (*net.UDPConn, error) {
	dialer := outbound.Dialer(0)
	dialer.Control = func(_, _ string, raw syscall.RawConn) error {
		var err error
		return errors.Join(raw.Control(func(fd uintptr) { err = dontFragment(fd, ip, discover) }), err)
	}
	conn, err := dialer.DialContext(ctx, "udp", net.JoinHostPort(ip, traced))
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil // what DialContext returns for "udp"
}

// send sends first what the interface takes, whatever the kernel remembers of the path; where
// that is refused it is sent as what the kernel learns of.
func (here) send(ctx context.Context, ip string, size int) (fate, int, error) {
	f, _, err := packet(ctx, ip, size, probeMTU)
	if f != tooLarge || err != nil {
		return f, 0, err
	}
	return packet(ctx, ip, size, learnMTU)
}

func packet(ctx context.Context, ip string, size, discover int) (fate, int, error) {
	conn, err := udp(ctx, ip, discover)
	if err != nil {
		return silent, 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(1100 * time.Millisecond))
	if _, err = conn.Write(make([]byte, size-header(ip))); err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	var timeout net.Error
	switch {
	case err == nil, errors.Is(err, syscall.ECONNREFUSED): // a service that answers has the packet, too
		return arrived, 0, nil
	case errors.Is(err, syscall.EMSGSIZE):
		limit, err := mtuOf(conn, ip)
		return tooLarge, limit, err
	case errors.As(err, &timeout) && timeout.Timeout():
		return silent, 0, nil
	}
	return silent, 0, err
}

// header is the size of the headers of IP and UDP.
func header(ip string) int {
	if net.ParseIP(ip).To4() != nil {
		return 28
	}
	return 48
}

// mtu is that of the interface, not the kernel's memory of the path.
func (here) mtu(ctx context.Context, ip string) (int, error) {
	conn, err := outbound.Dial(ctx, "udp", net.JoinHostPort(ip, traced))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	local, _, _ := net.SplitHostPort(conn.LocalAddr().String())
	interfaces, err := net.Interfaces()
	if err != nil {
		return 0, err
	}
	for _, i := range interfaces {
		list, _ := i.Addrs()
		for _, a := range list {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(net.ParseIP(local)) {
				return i.MTU, nil
			}
		}
	}
	return 0, nil
}
