package netcheck

import (
	"errors"
	"net"
	"syscall"
)

// The values of IP_MTU_DISCOVER and IPV6_MTU_DISCOVER (ip(7), ipv6(7); include/uapi/linux/in.h):
// both forbid fragments.
const (
	learnMTU = 2 // IP_PMTUDISC_DO: not larger than what the kernel knows of the path
	probeMTU = 3 // IP_PMTUDISC_PROBE: up to the MTU of the interface
)

func dontFragment(fd uintptr, ip string, discover int) error {
	if header(ip) == 28 {
		return syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_MTU_DISCOVER, discover)
	}
	return syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IPV6, syscall.IPV6_MTU_DISCOVER, discover)
}

// mtuOf is what the kernel knows of the path of a connected socket.
func mtuOf(conn *net.UDPConn, ip string) (mtu int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	level, option := syscall.IPPROTO_IP, syscall.IP_MTU
	if header(ip) != 28 {
		level, option = syscall.IPPROTO_IPV6, syscall.IPV6_MTU
	}
	var failed error
	err = raw.Control(func(fd uintptr) { mtu, failed = syscall.GetsockoptInt(int(fd), level, option) })
	return mtu, errors.Join(err, failed)
}
