package message

import (
	"bytes"
	"net/netip"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// hostAddresses follows what `ip address` printed on several hosts: one address on two of them is trouble.
type hostAddresses struct {
	host  string // whose output it is; "" where none is
	iface string
	on    map[netip.Addr]heldAddress
	twice []state
}

// heldAddress is where an address was seen first.
type heldAddress struct {
	host   string
	listed bool // it was reported
}

var (
	showsAddresses = regexp.MustCompile(`\bip (?:-\S+ )*a(?:d(?:d(?:r(?:e(?:ss)?)?)?)?)?\b`)
	sshHost        = regexp.MustCompile(`\bssh (?:-\S+ (?:[^-\s@]\S*=\S+ )?)*(?:[\w.-]+@)?([a-zA-Z0-9][\w.-]*)`)
	ifaceLine      = regexp.MustCompile(`^\s*\d+: ([^\s:@]+)[:@]`)
	inetLine       = regexp.MustCompile(`^\s*inet6? ([0-9a-fA-F.:]+)/\d+\b.*\bscope (global|site)\b(?:.*\s([\w.-]+)\s*$)?`)
	briefLine      = regexp.MustCompile(`^(\S+)\s+(?:UP|DOWN|UNKNOWN)\s+((?:[0-9a-fA-F.:]+/\d+\s*)+)`)
	// localIfaces have the same address on each host: bridges of container runtimes, of libvirt and of the pod network.
	localIfaces = regexp.MustCompile(`^(?:lo|docker|podman|cni|virbr|veth|ovn-k8s|tun|br-int|genev|vxlan|lxc|crc|kube-|nodelocaldns|dummy)`)
)

// see reads a line. Commands name the host: the prompt before them, or the one that ssh goes to.
func (a *hostAddresses) see(number int, line []byte) {
	if typed, ok := logline.Command(line); ok {
		a.host, a.iface = "", ""
		if !showsAddresses.Match(typed) {
			return
		}
		if m := sshHost.FindSubmatch(typed); m != nil {
			a.host = string(m[1])
		} else {
			a.host = hostOf(line)
		}
		return
	}
	if a.host == "" {
		return
	}
	if m := ifaceLine.FindSubmatch(line); m != nil {
		a.iface = string(m[1])
		return
	}
	if m := inetLine.FindSubmatch(line); m != nil {
		iface := a.iface
		if iface == "" {
			iface = string(m[3])
		}
		a.held(number, line, iface, string(m[1]))
		return
	}
	if m := briefLine.FindSubmatch(line); m != nil {
		for _, field := range bytes.Fields(m[2]) {
			addr, _, _ := bytes.Cut(field, []byte("/"))
			a.held(number, line, string(m[1]), string(addr))
		}
	}
}

// held notes that the host of the output has an address.
func (a *hostAddresses) held(number int, line []byte, iface, text string) {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.IsLoopback() || addr.IsLinkLocalUnicast() || localIfaces.MatchString(iface) {
		return
	}
	first, ok := a.on[addr]
	switch {
	case !ok && len(a.on) < maxForms:
		if a.on == nil {
			a.on = map[netip.Addr]heldAddress{}
		}
		a.on[addr] = heldAddress{host: a.host}
	case ok && !first.listed && shortName(first.host) != shortName(a.host):
		a.on[addr] = heldAddress{host: first.host, listed: true}
		a.twice = append(a.twice, state{line: number, text: string(bytes.TrimRight(line, "\r\n")), why: true,
			says: "the address " + addr.String() + " is on two hosts at once: " + first.host + " and " + a.host,
			next: strings.ReplaceAll(twoHolders, "ADDRESS", addr.String())})
	}
}

// twoHolders is what to look at where two hosts have an address (openshift/machine-config-operator:
// templates/common/on-prem/files/keepalived.yaml and templates/master/00-master/on-prem/files/keepalived-keepalived.yaml).
const twoHolders = "a VIP: both hosts are VRRP MASTER, so one does not get the advertisements of the other. On each of the two: " +
	"sudo crictl logs --tail 50 \"$(sudo crictl ps -q --name '^keepalived$' | head -n1)\" (MASTER, BACKUP, FAULT and since when); " +
	"sudo tcpdump -ni INTERFACE vrrp: the advertisements of the other arrive? They are unicast between the addresses in keepalived.conf, or multicast " +
	"224.0.0.18: a switch, a firewall or another VLAN stops them; another cluster with the same router ID in this network takes part, too. " +
	"No VIP: two hosts have one static address or one DHCP reservation: ip -br addr, nmcli -f NAME,IP4.ADDRESS connection show, and " +
	"arping -D -I INTERFACE ADDRESS"
