package plan

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// Silence is a port that answers no connection, as behind a firewall that drops packets: its
// queue of connections is full, and Linux then drops what asks for another one
// (https://docs.kernel.org/networking/ip-sysctl.html: tcp_abort_on_overflow).
type Silence struct {
	fd    int
	first net.Conn // what fills the queue
}

// Silent makes one at ADDRESS:PORT, of IPv4.
func Silent(address string) (*Silence, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Is4() {
		return nil, fmt.Errorf("make %s silent: it is not an address and a port", address)
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make %s silent: %w", address, err)
	}
	s := &Silence{fd: fd}
	err = errors.Join(
		syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(fd, &syscall.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}),
		syscall.Listen(fd, 0),
	)
	if err == nil {
		s.first, err = net.Dial("tcp", address)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make %s silent: %w", address, err), s.Close())
	}
	return s, nil
}

// Close lets the port be closed, and refuse.
func (s *Silence) Close() error {
	var err error
	if s.first != nil {
		err = s.first.Close()
	}
	return errors.Join(err, syscall.Close(s.fd))
}
