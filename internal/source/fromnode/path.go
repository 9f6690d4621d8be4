package fromnode

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
)

// interfaceMTU prints the MTU of the interface that leads to an address. Both programs and the
// file are on each node (github.com/coreos/fedora-coreos-config: manifests/networking-tools.yaml).
const interfaceMTU = `set -- $(ip -o route get "$1"); while [ "$1" != dev ]; do shift || exit 1; done; cat "/sys/class/net/$2/mtu"`

// Addresses returns what ip prints of the node's addresses.
func (n *Node) Addresses(ctx context.Context) (string, error) {
	return n.print(ctx, "ip", "-o", "addr", "show", "scope", "global")
}

// MTU returns what the kernel has of the interface that leads to an address.
func (n *Node) MTU(ctx context.Context, address string) (string, error) {
	if _, err := netip.ParseAddr(address); err != nil {
		return "", fmt.Errorf("look for the interface on node %s: %w", n.Name, err)
	}
	return n.print(ctx, "bash", "-c", interfaceMTU, "rollcall", address)
}

// Ping returns what ping prints of packets that must not be fragmented. size is without
// headers. Each has a second for its answer.
func (n *Node) Ping(ctx context.Context, address string, size, count int) (string, error) {
	if _, err := netip.ParseAddr(address); err != nil {
		return "", fmt.Errorf("ping from node %s: %w", n.Name, err)
	}
	return n.print(ctx, "ping", "-n", "-M", "do", "-i", "0.2", "-W", "1", "-c", strconv.Itoa(count), "-s", strconv.Itoa(size), address)
}

// print runs a command that ends by itself. That it fails is in what it prints, but where it
// could not be run at all.
func (n *Node) print(ctx context.Context, argv ...string) (string, error) {
	out := &limited{left: most}
	err := n.Run.Run(plain{ctx}, append([]string{"timeout", lookupSeconds}, argv...), nil, out, out)
	var exit *Exit
	switch {
	case errors.As(err, &exit) && exit.Code >= 125: // timeout(1): it failed, or the command cannot be run, or is missing
		return "", &Error{n.Name, fmt.Errorf("%s does not run there (%w)", argv[0], err)}
	case err != nil && exit == nil:
		return "", &Error{n.Name, err}
	case err == nil && out.String() == "":
		return "", &Error{n.Name, errLost}
	}
	return out.String(), nil
}
