package netcheck

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

const canReadNeighbors = true

// readNeighbors reads the kernel's table of neighbors of both families; everybody may
// (rtnetlink(7), RTM_GETNEIGH).
func readNeighbors() ([]neighbor, error) {
	raw, err := syscall.NetlinkRIB(syscall.RTM_GETNEIGH, syscall.AF_UNSPEC)
	if err != nil {
		return nil, fmt.Errorf("ask netlink: %w", err)
	}
	return parseNeighbors(raw)
}

// The layout of an entry and its states (include/uapi/linux/neighbor.h): struct ndmsg has
// 12 bytes: family, 3 of padding, the interface, the state, flags and a type; attributes
// follow.
const (
	ndmsgSize = 12
	ndaDst    = 1
	ndaLLAddr = 2

	nudIncomplete = 0x01
	nudReachable  = 0x02
	nudStale      = 0x04
	nudDelay      = 0x08
	nudProbe      = 0x10
	nudFailed     = 0x20
	nudPermanent  = 0x80
)

func parseNeighbors(raw []byte) ([]neighbor, error) {
	messages, err := syscall.ParseNetlinkMessage(raw)
	if err != nil {
		return nil, fmt.Errorf("read the answer of netlink: %w", err)
	}
	var all []neighbor
	for _, m := range messages {
		if m.Header.Type != syscall.RTM_NEWNEIGH || len(m.Data) < ndmsgSize {
			continue
		}
		n := neighbor{
			index: int(int32(binary.NativeEndian.Uint32(m.Data[4:]))),
			state: stateOf(binary.NativeEndian.Uint16(m.Data[8:])),
		}
		for rest := m.Data[ndmsgSize:]; len(rest) >= 4; {
			size, kind := int(binary.NativeEndian.Uint16(rest)), binary.NativeEndian.Uint16(rest[2:])
			if size < 4 || size > len(rest) {
				break
			}
			switch value := rest[4:size]; kind {
			case ndaDst:
				if ip, ok := netip.AddrFromSlice(value); ok {
					n.ip = ip
				}
			case ndaLLAddr:
				n.mac = net.HardwareAddr(value)
			}
			rest = rest[min((size+3)&^3, len(rest)):]
		}
		if n.ip.IsValid() {
			all = append(all, n)
		}
	}
	return all, nil
}

// stateOf: an entry that is stale, or about to be asked again, is from before.
func stateOf(nud uint16) state {
	switch {
	case nud&(nudReachable|nudPermanent) != 0:
		return stateAnswered
	case nud&nudFailed != 0:
		return stateSilent
	case nud&(nudIncomplete|nudStale|nudDelay|nudProbe) != 0:
		return stateWaiting
	}
	return stateNone
}
