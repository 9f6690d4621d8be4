package install

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// Bounds of what is taken from a file.
const (
	maxState  = 256 << 20 // the whole of the ignition configs is in it
	maxConfig = 4 << 20
	maxHosts  = 2000
	maxWord   = 253
)

// state are the parts of the state that are read. A key is the Go type of an asset
// of the installer (openshift/installer:pkg/asset/store/store.go saveStateFile).
type state struct {
	Install  *wrapped[installConfig] `json:"*installconfig.InstallConfig"`
	Optional *wrapped[installConfig] `json:"*agent.OptionalInstallConfig"` // pkg/asset/agent/installconfig.go
	Agent    *wrapped[agentConfig]   `json:"*agentconfig.AgentConfig"`
	Hosts    *struct {
		Hosts        []agentHost
		RendezvousIP string
	} `json:"*agentconfig.AgentHosts"`
	ID *struct {
		UUID    string
		InfraID string
	} `json:"*installconfig.ClusterID"`
	Auth *authConfig `json:"*gencrypto.AuthConfig"`
}

type wrapped[T any] struct {
	Config *T `json:"config"` // decoding does not mind the case: it was Config, too
}

// authConfig are the tokens of the service on the rendezvous host
// (openshift/installer:pkg/asset/agent/gencrypto/authconfig.go AuthConfig). The
// first releases with authentication have one token for all.
type authConfig struct {
	AgentAuthToken       string
	UserAuthToken        string
	WatcherAuthToken     string
	AuthTokenExpiry      string
	AgentAuthTokenExpiry string
}

// installConfig is the part of install-config.yaml that names and counts hosts
// (openshift/installer:pkg/types/installconfig.go).
type installConfig struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	BaseDomain   string        `json:"baseDomain"`
	ControlPlane *machinePool  `json:"controlPlane"`
	Arbiter      *machinePool  `json:"arbiter"`
	Compute      []machinePool `json:"compute"`
	Platform     map[string]*struct {
		APIVIP      string      `json:"apiVIP"`
		APIVIPs     []string    `json:"apiVIPs"`
		IngressVIP  string      `json:"ingressVIP"`
		IngressVIPs []string    `json:"ingressVIPs"`
		Hosts       []metalHost `json:"hosts"`
	} `json:"platform"`
}

type machinePool struct {
	Name     string `json:"name"`
	Replicas *int   `json:"replicas"`
}

// metalHost is a host of platform baremetal
// (openshift/installer:pkg/types/baremetal/platform.go Host).
type metalHost struct {
	Name           string `json:"name"`
	Role           string `json:"role"`
	BootMACAddress string `json:"bootMACAddress"`
	BMC            struct {
		Address string `json:"address"`
	} `json:"bmc"`
	NetworkConfig networkConfig `json:"networkConfig"`
}

// agentConfig is agent-config.yaml (openshift/installer:pkg/types/agent/agent_config_type.go).
type agentConfig struct {
	RendezvousIP string      `json:"rendezvousIP"`
	Hosts        []agentHost `json:"hosts"`
}

type agentHost struct {
	Hostname   string `json:"hostname"`
	Role       string `json:"role"`
	Interfaces []struct {
		MAC string `json:"macAddress"`
	} `json:"interfaces"`
	NetworkConfig networkConfig `json:"networkConfig"`
}

// networkConfig is the part of an nmstate document that gives addresses.
type networkConfig struct {
	Interfaces []struct {
		MAC  string     `json:"mac-address"`
		IPv4 *addresses `json:"ipv4"`
		IPv6 *addresses `json:"ipv6"`
	} `json:"interfaces"`
}

type addresses struct {
	Address []struct {
		IP string `json:"ip"`
	} `json:"address"`
}

// UnmarshalJSON takes what is no nmstate document for none: people template it.
func (n *networkConfig) UnmarshalJSON(raw []byte) error {
	type plain networkConfig
	var p plain
	if json.Unmarshal(raw, &p) == nil {
		*n = networkConfig(p)
	}
	return nil
}

func (n networkConfig) into(h *Host) {
	for _, i := range n.Interfaces {
		h.mac(i.MAC)
		for _, list := range []*addresses{i.IPv4, i.IPv6} {
			if list == nil {
				continue
			}
			for _, a := range list.Address {
				if ip, err := netip.ParseAddr(a.IP); err == nil && !slices.Contains(h.Addresses, ip.String()) {
					h.Addresses = append(h.Addresses, ip.String())
				}
			}
		}
	}
}

func (h *Host) mac(m string) {
	if m = strings.ToLower(word(m)); m != "" && !slices.Contains(h.MACs, m) {
		h.MACs = append(h.MACs, m)
	}
}

// yamlConfig reads one YAML file of the directory.
func yamlConfig[T any](raw []byte) (*T, error) {
	var v T
	if err := yamlin.Unmarshal(raw, &v, 2*maxConfig); err != nil {
		return nil, fmt.Errorf("it is not YAML that fits: %w", err)
	}
	return &v, nil
}

// fill takes install-config's part.
func (i *Install) fill(c *installConfig) {
	i.Name, i.BaseDomain = word(c.Metadata.Name), word(c.BaseDomain)
	add := func(role string, p *machinePool) {
		if p != nil && p.Replicas != nil && *p.Replicas >= 0 && *p.Replicas <= maxHosts {
			i.Pools = append(i.Pools, Pool{Role: role, Replicas: *p.Replicas})
		}
	}
	add("master", c.ControlPlane)
	add("arbiter", c.Arbiter)
	for _, p := range c.Compute[:min(len(c.Compute), 16)] {
		add(word(p.Name), &p)
	}
	platforms := make([]string, 0, 1)
	for name, p := range c.Platform {
		platforms = append(platforms, word(name))
		if p == nil {
			continue
		}
		i.APIVIPs = append(i.APIVIPs, ips(append(p.APIVIPs, p.APIVIP))...)
		i.IngressVIPs = append(i.IngressVIPs, ips(append(p.IngressVIPs, p.IngressVIP))...)
		for _, m := range p.Hosts[:min(len(p.Hosts), maxHosts)] {
			h := Host{Name: word(m.Name), Role: word(m.Role), BMC: withoutUser(m.BMC.Address)}
			h.mac(m.BootMACAddress)
			m.NetworkConfig.into(&h)
			if h.Name != "" || len(h.MACs) > 0 { // hosts of platform vsphere have addresses only, and are counted below
				i.Hosts = append(i.Hosts, h)
			}
		}
	}
	slices.Sort(platforms)
	i.Platform = strings.Join(platforms, ",")
}

// fillAgent takes agent-config's part. Its hosts take the place of install-config's
// where it names any (openshift/installer:pkg/asset/agent/agentconfig/agenthosts.go).
func (i *Install) fillAgent(c *agentConfig) {
	i.Method = methodAgent
	i.RendezvousIP = word(c.RendezvousIP)
	if len(c.Hosts) == 0 {
		return
	}
	bmcs := map[string]string{}
	for _, h := range i.Hosts {
		for _, m := range h.MACs {
			bmcs[m] = h.BMC
		}
	}
	i.Hosts = nil
	for _, a := range c.Hosts[:min(len(c.Hosts), maxHosts)] {
		h := Host{Name: word(a.Hostname), Role: word(a.Role)}
		for _, n := range a.Interfaces {
			h.mac(n.MAC)
			if b := bmcs[strings.ToLower(word(n.MAC))]; b != "" {
				h.BMC = b
			}
		}
		a.NetworkConfig.into(&h)
		if h.Role == "" && i.RendezvousIP != "" && slices.Contains(h.Addresses, i.RendezvousIP) {
			h.Role = "master" // validateRendezvousIPNotWorker
		}
		i.Hosts = append(i.Hosts, h)
	}
}

func ips(list []string) []string {
	var out []string
	for _, v := range list {
		if ip, err := netip.ParseAddr(v); err == nil && !slices.Contains(out, ip.String()) {
			out = append(out, ip.String())
		}
	}
	return out
}

// withoutUser is a BMC's address without a name and a password in it.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	return word(u.String())
}

func word(s string) string {
	s = strings.TrimSpace(s)
	return s[:min(len(s), maxWord)]
}
