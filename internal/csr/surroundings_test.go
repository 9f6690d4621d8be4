package csr

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

// lists is a cluster with these objects by resource, in YAML; another resource is not served.
type lists map[string]string

// List implements Lister.
func (l lists) List(_ context.Context, group, _, resource, _ string) ([]map[string]any, error) {
	text, served := l[resource]
	if !served {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: resource}, "")
	}
	var out []map[string]any
	err := yaml.Unmarshal([]byte(text), &out)
	for _, o := range out {
		if o["metadata"] == nil {
			o["metadata"] = map[string]any{"name": "cluster"}
		}
	}
	return out, err
}

// whole is what every cluster has.
func (l lists) whole() lists {
	for resource, text := range map[string]string{
		"certificatesigningrequests": "[]", "nodes": "[]", "leases": "[]",
		"infrastructures": "[{status: {apiServerURL: 'https://api.c.example.com:6443', apiServerInternalURI: 'https://api-int.c.example.com:6443'}}]",
		"networks":        "[{status: {serviceNetwork: [172.30.0.0/16], clusterNetwork: [{cidr: 10.128.0.0/14}]}}]",
	} {
		if _, has := l[resource]; !has {
			l[resource] = text
		}
	}
	return l
}

// TestSurroundings: every name and address of the API and of applications is known, in whatever part of which platform it is; what is
// missing or cannot be read is a gap, and no rule passes without it.
func TestSurroundings(t *testing.T) {
	infra := func(text string) lists { return lists{"infrastructures": text} }
	for _, c := range []struct {
		name string
		l    lists
		vip  string // that no host may have
		dns  string // the same
		gap  string
	}{
		{name: "the names of the API", dns: "api-int.c.example.com"},
		{name: "applications by the name of the API", dns: "console.apps.c.example.com"},
		{name: "applications under another domain", l: lists{"ingresses": "[{spec: {domain: custom.example.org}}]"}, dns: "console.custom.example.org"},
		{name: "routes under another domain", l: lists{"ingresses": "[{spec: {domain: a.example, appsDomain: Shop.Example.org.}}]"}, dns: "x.shop.example.org"},
		{name: "a second IngressController", l: lists{"ingresscontrollers": "[{status: {domain: in.example}}]"}, dns: "console.in.example"},
		{name: "a URL with a dot behind its host", l: infra("[{status: {apiServerURL: 'https://kube.example.:6443'}}]"), dns: "kube.example"},
		{name: "a URL with an address", l: infra("[{status: {apiServerURL: 'https://[2001:DB8::17]:6443'}}]"), vip: "2001:db8::17"},
		{name: "VIPs of a platform", l: infra("[{status: {apiServerURL: 'https://a.b', platformStatus: {type: X, x: {ingressIPs: [192.0.2.6]}}}}]"), vip: "192.0.2.6"},
		{name: "the old field", l: infra("[{status: {apiServerURL: 'https://a.b', platformStatus: {x: {apiServerInternalIP: 192.0.2.5}}}}]"), vip: "192.0.2.5"},
		{name: "a load balancer of a cloud", l: infra("[{status: {apiServerURL: 'https://a.b', platformStatus: " +
			"{gcp: {cloudLoadBalancerConfig: {clusterHosted: {apiLoadBalancerIPs: ['::ffff:192.0.2.7']}}}}}}]"), vip: "192.0.2.7"},
		{name: "a VIP that is only in the spec", l: infra("[{spec: {platformSpec: {vsphere: {apiServerInternalIPs: [2001:db8::5]}}}, " +
			"status: {apiServerURL: 'https://a.b'}}]"), vip: "2001:db8::5"},
		{name: "the domain of the cluster", l: infra("[{status: {apiServerURL: 'https://api.kube.example:6443'}}]"), dns: "kube.example"},
		{name: "the first label of the API", l: infra("[{status: {apiServerURL: 'https://api.kube.example:6443'}}]"), dns: "api"},
		{name: "a Service", dns: "a.b.cluster.local"},
		{name: "the old API", dns: "openshift"},
		{name: "a route of the console", l: lists{"ingresses": "[{spec: {componentRoutes: [{name: console, hostname: Console.corp.example}]}}]"}, dns: "console.corp.example"},
		{name: "a route that is in the status", l: lists{"ingresses": "[{status: {componentRoutes: [{currentHostnames: [login.corp.example]}]}}]"}, dns: "login.corp.example"},
		{name: "no Infrastructure", l: infra("[]"), gap: "infrastructures: there is none"},
		{name: "no status", l: infra("[{metadata: {name: cluster}}]"), gap: "infrastructures: there is none"},
		{name: "a VIP with zeros in front", l: infra("[{status: {apiServerURL: 'https://a.b', platformStatus: {x: {ingressIPs: [192.0.2.017]}}}}]"), gap: `"192.0.2.017" is not an address`},
		{name: "a URL without a host", l: infra("[{status: {apiServerURL: 'kube.example'}}]"), gap: "has no host"},
		{name: "an Infrastructure of another name", gap: "infrastructures: there is none",
			l: infra("[{metadata: {name: other}, status: {apiServerURL: 'https://api.c.example.com:6443'}}]")},
		{name: "a VIP with a zone", gap: "\"fe80::1%eth0\" is not an address",
			l: infra("[{status: {apiServerURL: 'https://api.c.example.com:6443', platformStatus: {baremetal: {ingressIPs: ['fe80::1%eth0']}}}}]")},
		{name: "VIPs that are not a list", gap: "ingressIPs is not a list",
			l: infra("[{status: {apiServerURL: 'https://api.c.example.com:6443', platformStatus: {baremetal: {ingressIPs: 192.0.2.6}}}}]")},
		{name: "a VIP that is a number", gap: "\"7\" is not an address",
			l: infra("[{status: {apiServerURL: 'https://api.c.example.com:6443', platformStatus: {baremetal: {apiServerInternalIP: 7}}}}]")},
		{name: "networks of Services that are not a list", l: lists{"networks": "[{status: {serviceNetwork: 172.30.0.0/16, clusterNetwork: [{cidr: 10.128.0.0/14}]}}]"},
			gap: "status has a network that is not a list"},
		{name: "a network that is a number", l: lists{"networks": "[{status: {serviceNetwork: [7], clusterNetwork: [{cidr: 10.128.0.0/14}]}}]"},
			gap: "status has a network that is not text"},
		{name: "a Network without networks of Services", l: lists{"networks": "[{status: {clusterNetwork: [{cidr: 10.128.0.0/14}]}}]"}, gap: "networks: there is none"},
		{name: "a network of pods without its CIDR", l: lists{"networks": "[{status: {serviceNetwork: [172.30.0.0/16], clusterNetwork: [{CIDR: 10.128.0.0/14}]}}]"},
			gap: "status has a network that is not text"},
		{name: "a platform that is text", l: infra("[{status: {apiServerURL: 'https://api.c.example.com:6443', platformStatus: x}}]"),
			gap: "status.platformStatus is not an object"},
		{name: "a URL that is a list", l: infra("[{status: {apiServerURL: ['https://api.c.example.com:6443']}}]"), gap: "status.apiServerURL is not text"},
		{name: "a URL with an octal address", l: infra("[{status: {apiServerURL: 'https://0300.0.2.17:6443'}}]"), gap: "not read alike"},
		{name: "VIPs, and no URL", l: infra("[{status: {platformStatus: {baremetal: {ingressIPs: [192.0.2.6]}}}}]"), gap: "infrastructures: there is none"},
		{name: "a domain with a wildcard", l: lists{"ingresses": "[{spec: {domain: '*.custom.example.org'}}]"}, dns: "console.custom.example.org"},
		{name: "a domain that is a list", l: lists{"ingresses": "[{spec: {domain: [a.example]}}]"}, gap: "spec.domain is not text"},
		{name: "routes that are an object", l: lists{"ingresses": "[{spec: {componentRoutes: {a: b}}}]"}, gap: "spec.componentRoutes is not a list"},
		{name: "a Network of another name", l: lists{"networks": "[{metadata: {name: other}, status: {serviceNetwork: [172.30.0.0/16]}}]"}, gap: "networks: there is none"},
		{name: "no Network", l: lists{"networks": "[]"}, gap: "networks: there is none"},
		{name: "a Network without a part", l: lists{"networks": "[{spec: {}}]"}, gap: "networks: there is none"},
	} {
		if c.l == nil {
			c.l = lists{}
		}
		p, err := Gather(t.Context(), c.l.whole(), noon)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := strings.Join(p.Gaps, "; "); !strings.Contains(got, c.gap) || c.gap == "" && got != "" {
			t.Errorf("%s: gaps %q, want %q", c.name, got, c.gap)
		}
		if c.vip != "" && !slices.Contains(p.VIPs, c.vip) {
			t.Errorf("%s: %q has no %s", c.name, p.VIPs, c.vip)
		}
		if c.dns != "" && p.notOfAHost(c.dns) == "" {
			t.Errorf("%s: %s may be a host's", c.name, c.dns)
		}
		if p.notOfAHost("worker7.c.example.com") != "" {
			t.Errorf("%s: a host's own name is none", c.name)
		}
	}
	for _, resource := range []string{"infrastructures", "networks"} {
		l := lists{}.whole()
		delete(l, resource)
		if p, err := Gather(t.Context(), l, noon); err != nil || len(p.Gaps) != 1 {
			t.Errorf("%s is not served: gaps %q, %v", resource, p.Gaps, err)
		}
	}
}

// TestAddressesOfOthers: an address of another Node is found however it is written, also as its hostname, and its pods' network.
func TestAddressesOfOthers(t *testing.T) {
	l := lists{"nodes": `
- metadata: {name: fern}
  spec: {podCIDRs: [10.250.3.0/24]}
  status: {addresses: [{type: Hostname, address: 192.0.2.17}, {type: InternalIP, address: 192.0.2.018}, {type: InternalIP, address: "fe80::1%eth0"},
    {type: ExternalIP, address: " 192.0.2.19 "}]}
`}
	p, err := Gather(t.Context(), l.whole(), noon)
	if err != nil {
		t.Fatal(err)
	}
	j := &judging{e: &Expectation{Name: "moss", Explicit: true}, p: p}
	for _, ip := range []string{"192.0.2.17", "192.0.2.18", "192.0.2.19", "10.250.3.9", "::192.0.2.5", "64:ff9b::c000:205", "64:ff9b:1::c000:205", "::ffff:0:c000:205",
		"2002:c000:205::1", "2001:0:c000:205::1", "2001:db8::5efe:c000:205", "2001:db8::200:5efe:c000:205", "100::1", "127.0.0.1"} {
		j.e.IPs = []string{ip}
		if j.foreign(ip, Node{Name: "moss", Addresses: []string{ip}}) == "" {
			t.Errorf("%s is certified for another host", ip)
		}
	}
	j.e.IPs = []string{"192.0.2.20"}
	if why := j.foreign("192.0.2.20", Node{Name: "moss", Addresses: j.e.IPs}); why != "" {
		t.Errorf("its own:%s", why)
	}
}

// TestIsAddress: what some reader takes for an address is no name.
func TestIsAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"192.0.2.1": true, "2001:db8::1": true, "3221225999": true, "0xc0000211": true, "192.0.2": true, "a.1": true, "0x": true, "x.0x7f": true,
		"a.23.": true, "0xfffffffffffffffffff": true, "worker7": false, "w.example.com": false, "7w": false, "0xg": false, "ip-10-0-1-2": false, "": false,
	} {
		if isAddress(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// TestReadings: an address of another host is one in every way in which some reader takes it for it.
func TestReadings(t *testing.T) {
	v4 := netip.MustParseAddr("192.0.2.17")
	for _, text := range []string{"192.0.2.17", " 192.0.2.17 ", "[192.0.2.17]", "192.0.2.17/24", "192.0.2.17.", "192.0.2.17:10250", "[192.0.2.17]:10250",
		"192.0.002.017", "3221226001", "0xC0000211", "0300.0.2.021", "030000001021", "192.0.529", "192.529", "0xc0.0x0.0x2.0x11", "::192.0.2.17", "::ffff:192.0.2.17",
		"64:ff9b::c000:211", "64:ff9b:1::c000:211", "::ffff:0:c000:211", "2002:c000:211::1", "fe80::200:5efe:192.0.2.17", "2001:db8::5efe:c000:211"} {
		if !slices.Contains(readings(text), v4) {
			t.Errorf("%q is read as %v", text, readings(text))
		}
	}
	for _, text := range []string{"fern", "", "a.b.c.d", "192.0.2.17.1", "1.2.3.256", "0x", "worker-17", "2001:db8::17", "::1", "99999999999"} {
		if slices.Contains(readings(text), v4) {
			t.Errorf("%q is read as %v", text, readings(text))
		}
	}
	if list := readings("worker7"); len(list) > 0 {
		t.Errorf("a name is read as %v", list)
	}
}

// TestWhoseMachine: a Machine that another Node is tied to, or that is one of the control plane, makes no worker expected.
func TestWhoseMachine(t *testing.T) {
	const named = "metadata: {name: m-7}, status: {addresses: [{type: InternalDNS, address: moss}]}"
	for _, c := range []struct{ name, machine, node, want string }{
		{"its own", "{" + named + "}", "{metadata: {name: fern}}", ""},
		{"the providerID of another Node", "{spec: {providerID: 'x://7'}, " + named + "}", "{metadata: {name: fern}, spec: {providerID: 'x://7'}}", "its nodeRef is fern"},
		{"the annotation of another Node", "{" + named + "}",
			"{metadata: {name: fern, annotations: {machine.openshift.io/machine: openshift-machine-api/m-7}}}", "its nodeRef is fern"},
		{"a label for its Node", "{spec: {metadata: {labels: {node-role.kubernetes.io/master: ''}}}, " + named + "}", "{metadata: {name: fern}}", "has the label"},
		{"a control plane machine set", "{metadata: {name: m-7, ownerReferences: [{kind: ControlPlaneMachineSet}]}, " +
			"status: {addresses: [{type: InternalDNS, address: moss}]}}", "{metadata: {name: fern}}", "is owned by"},
		{"user-data of masters that the operator keeps", "{spec: {providerSpec: {value: {userData: {name: master-user-data-managed}}}}, " + named + "}",
			"{metadata: {name: fern}}", "boots with"},
		{"labels that are a list", "{spec: {metadata: {labels: [node-role.kubernetes.io/master]}}, " + named + "}", "{metadata: {name: fern}}", "cannot be read"},
		{"user-data that is a list", "{spec: {providerSpec: {value: {userData: [master-user-data]}}}, " + named + "}", "{metadata: {name: fern}}", "cannot be read"},
		{"user-data of masters", "{spec: {providerSpec: {value: {userDataSecret: {name: master-user-data}}}}, " + named + "}", "{metadata: {name: fern}}", "boots with"},
	} {
		p, err := Gather(t.Context(), lists{"machines": "[" + c.machine + "]", "nodes": "[" + c.node + "]"}.whole(), noon)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		j := &judging{e: &Expectation{Name: "moss", Role: "worker"}, p: p}
		j.host()
		got := ""
		for _, check := range j.d.Checks {
			if (check.Name == "role" || check.Name == "joined") && check.Result == csrs.Refused {
				got = check.Detail
			}
		}
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	p := Snapshot{Declared: []Declared{{Object: "Machine m-7", Node: "moss", Names: []string{"m-7"}}}}
	if got := p.Awaited(csrs.Request{Kind: csrs.Serving, NodeName: "moss"}); got != "Machine m-7" {
		t.Errorf("a Machine without addresses: %q", got)
	}
	if got := p.Awaited(csrs.Request{Kind: csrs.Client, NodeName: "moss"}) + p.Awaited(csrs.Request{Kind: csrs.Serving}); got != "" {
		t.Errorf("not one that waits: %q", got)
	}
}
