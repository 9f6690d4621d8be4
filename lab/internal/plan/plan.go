// Package plan gives a lab its addresses: a network of its own in 127.0.0.0/8,
// so that every address of the cluster can use the product's own port numbers
// without meeting another lab or another server of the machine.
package plan

import (
	"fmt"
	"hash/fnv"
	"net"
)

// Ports of the product.
const (
	APIPort     = 6443
	MCSPort     = 22623 // openshift/machine-config-operator:pkg/server/api.go SecurePort
	KubeletPort = 10250
	EtcdPort    = 2379
	// BMCPort is 443 on a real one, which needs root.
	BMCPort = 8443
)

// MostHosts is for how many machines a network is kept free.
const MostHosts = 30

// Net is a network 127.x.y.0/24.
type Net struct {
	X byte `json:"x"`
	Y byte `json:"y"`
}

// IP returns one address of the network.
func (n Net) IP(host byte) string { return net.IPv4(127, n.X, n.Y, host).String() }

// API is the virtual address of the API and of the machine config server.
func (n Net) API() string { return n.IP(5) }

// Ingress is the virtual address of the ingress; nothing listens there.
func (n Net) Ingress() string { return n.IP(6) }

// Etcd is where the lab's one etcd listens.
func (n Net) Etcd() string { return n.IP(7) }

// Local is for servers that the cluster's clients have no business with.
func (n Net) Local() string { return n.IP(8) }

// HostedAPI is where the API server of a hosted cluster listens.
func (n Net) HostedAPI() string { return n.IP(9) }

// HostedEtcd is where its etcd listens.
func (n Net) HostedEtcd() string { return n.IP(10) }

// Mirror is the address of a registry; nothing listens there.
func (n Net) Mirror() string { return n.IP(11) }

// Firewalled is an address that answers no connection to a hosted cluster's node port.
func (n Net) Firewalled() string { return n.IP(12) }

// Host is the address of the machine with that number.
func (n Net) Host(i int) string { return n.IP(byte(20 + i)) }

// BMC is the address of that machine's management controller.
func (n Net) BMC(i int) string { return n.IP(byte(120 + i)) }

// CIDR is the machine network.
func (n Net) CIDR() string { return n.IP(0) + "/24" }

// APIURL is where clients and kubelets find the API server. The lab has no
// DNS, so that the cluster's api and api-int names are this address.
func (n Net) APIURL() string { return fmt.Sprintf("https://%s:%d", n.API(), APIPort) }

// MCSURL is where a booting host of a pool finds its config.
func (n Net) MCSURL(pool string) string {
	return fmt.Sprintf("https://%s:%d/config/%s", n.API(), MCSPort, pool)
}

// Pick returns a network in which all the ports are free. The same seed gives
// the same network as long as it is free.
func Pick(seed string) (Net, error) {
	h := fnv.New32a()
	h.Write([]byte(seed))
	sum := h.Sum32()
	for i := range uint32(500) {
		// 127.0.y and 127.53.y are used by others: localhost itself,
		// systemd-resolved.
		n := Net{X: byte(64 + (sum+i)%128), Y: byte((sum >> 8) + i)}
		if n.Free() {
			return n, nil
		}
	}
	return Net{}, fmt.Errorf("find a free network in 127.0.0.0/8: none in 500 tries")
}

// Free says whether nothing listens on any of the network's ports.
func (n Net) Free() bool {
	want := [][2]any{
		{n.API(), APIPort}, {n.API(), MCSPort}, {n.Etcd(), EtcdPort},
		{n.HostedAPI(), APIPort}, {n.HostedEtcd(), EtcdPort},
	}
	for i := range MostHosts {
		for _, port := range []int{APIPort, MCSPort, KubeletPort} {
			want = append(want, [2]any{n.Host(i), port})
		}
		want = append(want, [2]any{n.BMC(i), BMCPort})
	}
	for _, w := range want {
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", w[0], w[1]))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

// FreePort returns a port that nothing listens on, on any address. Another
// process may take it before it is used; who starts a server with it must
// notice that.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
