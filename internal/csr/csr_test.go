package csr

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// TestJudge changes one thing at a time of a case that is approved.
func TestJudge(t *testing.T) {
	client := func() *scene {
		return &scene{askClient(), clientRequest(), &Expectation{Name: "control0", Role: "master", IPs: []string{"192.0.2.10"}, Source: "--expect",
			Explicit: true, NotBefore: noon.Add(-5 * time.Minute), Boot: "it booted"}, Snapshot{Now: noon}}
	}
	serving := func() *scene {
		s := client()
		s.asked = askServing()
		s.r = s.request()
		issued := clientRequest()
		issued.State, issued.Approval.Reason = csrs.Issued, Reason
		s.p.Requests = []csrs.Request{issued}
		s.p.Nodes = []Node{{Name: "control0", Control: true, Addresses: []string{"192.0.2.10"}},
			{Name: "control1", Control: true, Addresses: []string{"192.0.2.11"}}}
		s.p.VIPs = []string{"192.0.2.5"}
		s.p.CIDRs = []netip.Prefix{netip.MustParsePrefix("10.128.0.0/14")}
		return s
	}
	// ask regenerates the request with another content.
	ask := func(change func(*asked)) func(*scene) {
		return func(s *scene) { change(&s.asked); s.r = s.request() }
	}
	declare := func(s *scene, ip string) {
		ask(func(a *asked) { a.template.IPAddresses = []net.IP{net.ParseIP(ip)} })(s)
		s.e.IPs = []string{ip}
	}
	sibling := func(s *scene, state csrs.State, at time.Duration) {
		o := clientRequest()
		o.Name, o.UID, o.State, o.Created = "csr-b", "b", state, s.r.Created.Add(at)
		s.p.Requests = append(s.p.Requests, o)
	}
	// rival is another key's request for the same host.
	rival := func(s *scene, state csrs.State, at time.Duration) {
		o := s.r
		o.Name, o.UID, o.State, o.Created = "csr-r", "r", state, s.r.Created.Add(at)
		o.KeyDigest = strings.Repeat("f", 64)
		s.p.Requests = append(s.p.Requests, o)
	}
	// elsewhere is a request to another signer for the host's name.
	elsewhere := func(s *scene, state csrs.State, at time.Duration, otherKey bool) {
		o := clientRequest()
		o.Name, o.UID, o.State, o.Created = "csr-o", "o", state, s.r.Created.Add(at)
		o.Signer, o.Kind, o.CN, o.KeyDigest = "kubernetes.io/kube-apiserver-client", csrs.Other, s.r.CN, s.r.KeyDigest
		if otherKey {
			o.KeyDigest = strings.Repeat("e", 64)
		}
		s.p.Requests = append(s.p.Requests, o)
	}
	alsoNamed := func(s *scene, name string) {
		ask(func(a *asked) { a.template.DNSNames = append(a.template.DNSNames, name) })(s)
		s.e.DNS = append(s.e.DNS, name)
		s.p.Names = []string{"api.c.example.com", "api-int.c.example.com"}
		s.p.Apps = []string{"apps.c.example.com", "shop.example.org"}
	}
	rename := func(s *scene, to string) {
		ask(func(a *asked) { a.template.Subject.CommonName = openshift.NodeUserPrefix + to })(s)
		s.e.Name = to
	}
	named := func(s *scene) { s.e.Key = s.r.KeyDigest }
	const several = "no other key asks for the host's identity"
	tests := []struct {
		name   string
		base   func() *scene
		change func(*scene)
		want   string // part of the refusal; "" is approved
	}{
		{"client", client, func(*scene) {}, ""},
		{"client with the old usages", client, ask(func(a *asked) {
			a.api.Spec.Usages = []certificatesv1.KeyUsage{"key encipherment", "digital signature", "client auth"}
		}), ""},
		{"another Node has its name as a hostname", client, func(s *scene) {
			s.p.Nodes = []Node{{Name: "egret", Hostnames: []string{"Control0."}}}
		}, "node egret has it as its hostname"},
		{"a serving name is the hostname of another Node", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = append(a.template.DNSNames, "moss.example") })(s)
			s.e.DNS, s.p.Nodes[1].Hostnames = []string{"moss.example"}, []string{"moss.example"}
		}, "node control1 has the name moss.example"},
		{"two keys got the client certificate", serving, func(s *scene) {
			o := s.p.Requests[0]
			o.Name, o.UID, o.KeyDigest = "csr-d", "d", strings.Repeat("d", 64)
			s.p.Requests = append(s.p.Requests, o)
		}, "one key got the host's client certificate"},
		{"two keys got it, and a person named the serving key", serving, func(s *scene) {
			o := s.p.Requests[0]
			o.Name, o.UID, o.KeyDigest = "csr-d", "d", strings.Repeat("d", 64)
			s.p.Requests = append(s.p.Requests, o)
			named(s)
		}, ""},
		{"two keys got it, one before the host booted", serving, func(s *scene) {
			o := s.p.Requests[0]
			o.Name, o.UID, o.KeyDigest, o.Created = "csr-d", "d", strings.Repeat("d", 64), s.e.NotBefore.Add(-time.Minute)
			s.p.Requests = append(s.p.Requests, o)
		}, ""},
		{"an address of a Machine that calls itself otherwise", serving, func(s *scene) {
			s.p.Declared = []Declared{{Object: "Machine m-9", Names: []string{"m-9", "moss"}, Hostnames: []string{"moss"}, Addresses: []string{"192.0.2.10"}}}
		}, "192.0.2.10 is an address of Machine m-9"},
		{"an address of an object that may be the host", serving, func(s *scene) {
			s.p.Declared = []Declared{{Object: "BareMetalHost rack-9", Names: []string{"rack-9"}, Addresses: []string{"192.0.2.10"}}}
		}, ""},
		{"an address of its own Machine", serving, func(s *scene) {
			s.p.Declared = []Declared{{Object: "Machine m-0", Names: []string{"m-0", "control0"}, Hostnames: []string{"control0"}, Addresses: []string{"192.0.2.10"}}}
		}, ""},
		{"an address that another inventory gives to another host", serving, func(s *scene) {
			s.e = For([]Expectation{*s.e, {Name: "moss", IPs: []string{"192.0.2.10"}, Source: "a Machine"}}, "control0")
		}, "192.0.2.10 is also an address of moss (a Machine)"},
		{"an address that another inventory gives to the same host", serving, func(s *scene) {
			s.e.DNS = []string{"rack-0"}
			s.e = For([]Expectation{*s.e, {Name: "rack-0", IPs: []string{"192.0.2.10"}, Source: "a BareMetalHost"}}, "control0")
		}, ""},
		{"an older Node whose Machine belongs to one of another UID", serving, func(s *scene) {
			s.p.Requests = nil
			s.e.Explicit, s.e.Role, s.e.Joined, s.e.JoinedUID = false, "worker", "control0", "before"
			s.p.Nodes[0].Created, s.p.Nodes[0].UID = noon.Add(-48*time.Hour), "now"
		}, "there is no client request of it with a certificate"},
		{"another key whose signer failed", client, func(s *scene) {
			s.p.Requests = append(s.p.Requests, csrs.Request{Name: "csr-f", UID: "f", Kind: csrs.Client, Signer: s.r.Signer, State: csrs.Failed,
				NodeName: s.e.Name, Requester: s.r.Requester, CN: s.r.CN, Created: s.e.NotBefore.Add(time.Second), KeyDigest: strings.Repeat("f", 64)})
		}, several},
		{"it is being deleted", client, func(s *scene) { s.r.Leaving = true }, "not being deleted"},
		{"another key for another name of the object that declares it", client, func(s *scene) { asOther(s, csrs.Pending) }, several},
		{"another key got another name of the object", client, func(s *scene) { asOther(s, csrs.Issued) }, several},
		{"another name of the object was denied", client, func(s *scene) { asOther(s, csrs.Denied) }, ""},
		{"it is a Node under another of its names", client, func(s *scene) {
			byObject(s)
			s.p.Nodes = append(s.p.Nodes, Node{Name: "m-0"})
		}, "node m-0 has the name m-0"},
		{"a Node has the name of its object, and a person named the host", client, func(s *scene) {
			byObject(s)
			s.e.Explicit = true
			s.p.Nodes = append(s.p.Nodes, Node{Name: "m-0"})
		}, "node m-0 has the name m-0"},
		{"another key asks for another name of a host that a person named", client, func(s *scene) {
			asOther(s, csrs.Pending)
			s.e.Explicit = true
		}, several},
		{"a name of the inventory is another Node's address", client, func(s *scene) {
			s.e.DNS = []string{"moss.example"}
			s.p.Nodes = []Node{{Name: "egret", Hostnames: []string{"Moss.example."}}}
		}, "node egret has the name moss.example"},
		{"another signer certified another of its names", client, func(s *scene) {
			elsewhere(s, csrs.Issued, time.Second, true)
			s.e.DNS = []string{"moss.example"}
			s.p.Requests[len(s.p.Requests)-1].CN = "system:node:Moss.example"
		}, "no other key"},
		{"a node of another of its names asked before", client, func(s *scene) {
			s.e.DNS = []string{"moss.example"}
			s.p.Requests = append(s.p.Requests, csrs.Request{Name: "csr-n", UID: "n", Kind: csrs.Serving, State: csrs.Pending, NodeName: "moss.example",
				Requester: "system:node:moss.example", Created: s.e.NotBefore.Add(time.Second), KeyDigest: strings.Repeat("f", 64)})
		}, "no one is that node yet"},
		{"a serving request with the approved certificate", serving, func(s *scene) { credential(s, "X509SHA256=aa", "X509SHA256=aa") }, ""},
		{"a serving request with another certificate", serving, func(s *scene) { credential(s, "X509SHA256=aa", "X509SHA256=bb") }, "it was made with another one"},
		{"a serving request with a token", serving, func(s *scene) { s.r.Used = "JTI=aa" }, "a credential that is no certificate"},
		{"a serving request with the certificate that a stranger approved", serving, func(s *scene) {
			credential(s, "X509SHA256=aa", "X509SHA256=aa")
			s.p.Requests[0].Approval.Reason = "Foo"
		}, "approved with reason Foo"},
		{"a serving request older than the client request", serving, func(s *scene) {
			s.p.Requests[0].Created = s.r.Created.Add(time.Minute)
		}, "there is no client request"},
		{"it is not expected", client, func(s *scene) { s.e = nil }, "it is not expected"},
		{"another host is expected", client, func(s *scene) { s.e.Name = "control9" }, "the host is expected"},
		{"a master that no person named", client, func(s *scene) { s.e.Explicit = false }, "named by a person"},
		{"a host of unknown role that no person named", client, func(s *scene) { s.e.Explicit, s.e.Role = false, "" }, "named by a person"},
		{"a host of another pool that no person named", client, func(s *scene) { s.e.Explicit, s.e.Role = false, "infra" }, "named by a person"},
		{"a host of another pool that a person named", client, func(s *scene) { s.e.Role = "infra" }, ""},
		{"another signer certified the name", client, func(s *scene) { elsewhere(s, csrs.Issued, time.Second, true) }, several},
		{"another signer certified the name for a kubelet that serves", serving, func(s *scene) { elsewhere(s, csrs.Approved, time.Second, true) }, several},
		{"another signer certified the same key", client, func(s *scene) { elsewhere(s, csrs.Issued, time.Second, false) }, ""},
		{"another signer is asked and has not answered", client, func(s *scene) { elsewhere(s, csrs.Pending, time.Second, true) }, ""},
		{"another signer certified the name before the host booted", client, func(s *scene) { elsewhere(s, csrs.Issued, -time.Hour, true) }, "no other key"},
		{"another signer's certificate of the name is over", client, func(s *scene) {
			elsewhere(s, csrs.Issued, -time.Hour, true)
			s.p.Requests[len(s.p.Requests)-1].Until = noon
		}, ""},
		{"another signer put the name into a certificate", client, func(s *scene) {
			elsewhere(s, csrs.Issued, time.Second, true)
			o := &s.p.Requests[len(s.p.Requests)-1]
			o.CN, o.Certified, o.Until = "foo", []string{"alice", s.r.CN}, noon.Add(time.Hour)
		}, "no other key"},
		{"the node itself asked before", client, func(s *scene) {
			s.p.Requests = append(s.p.Requests, csrs.Request{Name: "csr-n", UID: "n", Kind: csrs.Serving, State: csrs.Pending, NodeName: s.e.Name,
				Requester: s.r.CN, Created: s.e.NotBefore.Add(time.Second), KeyDigest: strings.Repeat("f", 64)})
		}, "no one is that node yet"},
		{"its Machine has a Node that is gone", client, func(s *scene) {
			s.e.Explicit, s.e.Role, s.e.Joined = false, "worker", "control0"
		}, "no Node has joined"},
		{"its name is that of the API", client, func(s *scene) { s.p.Names = []string{"control0"} }, "is a name of the cluster's API"},
		{"the Node has no addresses yet", serving, func(s *scene) { s.p.Nodes[0].Addresses = nil }, "cannot be checked yet"},
		{"the Node has no addresses yet, and the address is virtual", serving, func(s *scene) {
			s.p.Nodes[0].Addresses = nil
			declare(s, "192.0.2.5")
		}, "VIP"},
		{"a worker of the roll", client, func(s *scene) { s.e.Explicit, s.e.Role = false, "worker" }, ""},
		{"system:admin asks", client, ask(func(a *asked) { a.api.Spec.Username = "system:admin" }), "asked for by the node bootstrapper"},
		{"an extra group", client, ask(func(a *asked) { a.api.Spec.Groups = append(a.api.Spec.Groups, "system:masters") }), "groups are exactly"},
		{"an extra organisation", client, ask(func(a *asked) { a.template.Subject.Organization = []string{"system:nodes", "system:masters"} }), "only organization"},
		{"another common name", client, ask(func(a *asked) { a.template.Subject.CommonName = "system:admin" }), "common name is system:node:"},
		{"a usage too many", client, ask(func(a *asked) { a.api.Spec.Usages = append(a.api.Spec.Usages, "server auth") }), "usages are exactly"},
		{"a name in a client request", client, ask(func(a *asked) { a.template.DNSNames = []string{"api"} }), "no names, addresses"},
		{"a URI in a client request", client, ask(func(a *asked) { a.template.URIs = []*url.URL{{Scheme: "spiffe", Host: "x"}} }), "no names, addresses"},
		{"another signer", client, ask(func(a *asked) { a.api.Spec.SignerName = "example.com/x" }), "kubelet joins"},
		{"a renewal", client, ask(func(a *asked) { a.api.Spec.Username = "system:node:control0" }), "kubelet joins"},
		{"denied before", client, func(s *scene) { s.r.State = csrs.Denied }, "already denied"},
		{"unknown boot", client, func(s *scene) { s.e.NotBefore = time.Time{} }, "not known when the host booted"},
		{"older than the boot", client, func(s *scene) { s.r.Created = noon.Add(-6 * time.Minute) }, "after the host could first ask"},
		{"older than an hour", client, func(s *scene) { s.e.NotBefore = noon.Add(-3 * time.Hour); s.r.Created = noon.Add(-2 * time.Hour) }, "less than an hour old"},
		{"from the future", client, func(s *scene) { s.r.Created = noon.Add(time.Minute) }, "less than an hour old"},
		{"a newer one with the same key waits", client, func(s *scene) { sibling(s, csrs.Pending, time.Second) }, "the newest"},
		{"an older one with the same key waits", client, func(s *scene) { sibling(s, csrs.Pending, -time.Second) }, ""},
		{"another key asked later", client, func(s *scene) { rival(s, csrs.Pending, time.Second) }, several},
		{"another key asked before", client, func(s *scene) { rival(s, csrs.Pending, -time.Second) }, several},
		{"another key asked before the boot", client, func(s *scene) { rival(s, csrs.Pending, -30*time.Minute) }, ""},
		{"another key was approved", client, func(s *scene) { rival(s, csrs.Approved, -time.Second) }, several},
		{"another key has its certificate", client, func(s *scene) { rival(s, csrs.Issued, time.Second) }, several},
		{"another key was denied", client, func(s *scene) { rival(s, csrs.Denied, time.Second) }, ""},
		{"another request cannot be read", serving, func(s *scene) {
			rival(s, csrs.Pending, time.Second)
			s.p.Requests[len(s.p.Requests)-1].KeyDigest = ""
		}, several},
		{"another key asks for the serving certificate", serving, func(s *scene) { rival(s, csrs.Pending, -time.Second) }, several},
		{"another key, and a person named this one", client, func(s *scene) { rival(s, csrs.Pending, time.Second); named(s) }, ""},
		{"another key, and a person named that one", client, func(s *scene) {
			rival(s, csrs.Pending, time.Second)
			s.e.Key = strings.Repeat("f", 64)
		}, "the key that a person named"},
		{"alone, and a person named another key", client, func(s *scene) { s.e.Key = strings.Repeat("e", 64) }, "the key that a person named"},
		{"alone, and a person named its key", client, named, ""},
		{"another key was approved, and a person named this one", client, func(s *scene) { rival(s, csrs.Issued, -time.Second); named(s) }, "csr-r was approved"},
		{"a name with a line break", client, func(s *scene) { rename(s, "control0\ncsr-real") }, "a name that a host can have"},
		{"a name that drives a terminal", client, func(s *scene) { rename(s, "\x1b]0;x\a") }, "a name that a host can have"},
		{"a name in capitals", client, func(s *scene) { rename(s, "Control0") }, "a name that a host can have"},
		{"a name of another alphabet", client, func(s *scene) { rename(s, "c\u043entrol0") }, "a name that a host can have"},
		{"another was approved", client, func(s *scene) { sibling(s, csrs.Issued, -time.Second) }, "csr-b was approved"},
		{"another was approved before the boot", client, func(s *scene) { sibling(s, csrs.Issued, -30*time.Minute) }, ""},
		{"the Node exists", client, func(s *scene) { s.p.Nodes = []Node{{Name: "control0", Ready: true, Renewed: noon}} }, "the Node does not exist"},
		{"the Node lives and is named for a rebuild", client, func(s *scene) {
			s.e.Rebuild, s.p.Nodes = true, []Node{{Name: "control0", Renewed: noon.Add(-time.Minute)}}
		}, "the Node does not exist"},
		{"the Node is dead and not named", client, func(s *scene) { s.p.Nodes = []Node{{Name: "control0", Renewed: noon.Add(-time.Hour)}} },
			"the Node does not exist"},
		{"the Node is dead and named for a rebuild", client, func(s *scene) {
			s.e.Rebuild, s.p.Nodes = true, []Node{{Name: "control0", Renewed: noon.Add(-time.Hour)}}
		}, ""},
		{"a storm for the host", client, func(s *scene) {
			for range MaxOfHost + 1 {
				sibling(s, csrs.Pending, -time.Second)
			}
		}, "storm"},
		{"a storm for other hosts", client, func(s *scene) {
			for i := range 4000 {
				o := clientRequest()
				o.NodeName, o.CN, o.KeyDigest = "x"+strconv.Itoa(i), "x", ""
				s.p.Requests = append(s.p.Requests, o)
			}
		}, ""},
		{"serving", serving, func(*scene) {}, ""},
		{"serving after the approver's client", serving, func(s *scene) { s.p.Requests[0].Approval.Reason = "NodeCSRApprove" }, ""},
		{"serving after nobody's client", serving, func(s *scene) { s.p.Requests = nil }, "client request was approved"},
		{"serving after the controller manager's client", serving, func(s *scene) { s.p.Requests[0].Approval.Reason = "AutoApproved" },
			"client request was approved"},
		{"serving for another node", serving, ask(func(a *asked) { a.template.Subject.CommonName = "system:node:control1" }), "asked for by the node itself"},
		{"serving without a Node", serving, func(s *scene) { s.p.Nodes = nil }, "the Node exists"},
		{"a strange name", serving, ask(func(a *asked) { a.template.DNSNames = []string{"control0", "api-int.example"} }), "every name"},
		{"a declared name", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = []string{"control0", "Control0.example"} })(s)
			s.e.DNS = []string{"control0.example"}
		}, ""},
		{"a declared name that is a Node's", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = []string{"control0", "control1"} })(s)
			s.e.DNS = []string{"control1"}
			s.p.Nodes = append(s.p.Nodes, Node{Name: "control1"})
		}, "node control1 has the name control1"},
		{"a declared name that is the first label of a Node's", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = []string{"control0", "Control7"} })(s)
			s.e.DNS = []string{"control7"}
			s.p.Nodes = append(s.p.Nodes, Node{Name: "control7.example.com"})
		}, "another host's"},
		{"a declared name that another expected host has", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = []string{"control0", "moss"} })(s)
			s.e.DNS, s.e.Shared = []string{"moss"}, []string{"moss"}
		}, "another host's"},
		{"an address of another expected host", client, func(s *scene) {
			s.e = For([]Expectation{*s.e, {Name: "rack-0.example", IPs: s.e.IPs, Role: "worker", Source: "a BareMetalHost"}}, "control0")
		}, "no other host has one of its addresses"},
		{"a rival for a longer name that another inventory has for its address", client, func(s *scene) {
			s.e = For([]Expectation{*s.e, {Name: "control0.example", IPs: s.e.IPs, Role: "worker", Source: "an Agent"}}, "control0")
			rival := s.r
			rival.Name, rival.UID, rival.CN, rival.NodeName, rival.KeyDigest = "csr-r", "r", "system:node:control0.example", "control0.example", strings.Repeat("e", 64)
			s.p.Requests = append(s.p.Requests, rival)
		}, "no other key"},
		{"a longer name that another inventory has for its address", client, func(s *scene) {
			s.e = For([]Expectation{*s.e, {Name: "control0.example", IPs: s.e.IPs, Role: "worker", Source: "an Agent"}}, "control0")
		}, ""},
		{"an address of a Machine that is called otherwise", client, func(s *scene) {
			s.p.Declared = []Declared{{Object: "Machine m9", Names: []string{"m9", "moss"}, Hostnames: []string{"moss"}, Addresses: s.e.IPs}}
		}, "no other host has one of its addresses"},
		{"a rival for the whole name of the Machine with its address", client, func(s *scene) {
			s.p.Declared = []Declared{{Object: "Machine m0", Names: []string{"m0", "control0.example"}, Hostnames: []string{"control0.example"}, Addresses: s.e.IPs}}
			rival := s.r
			rival.Name, rival.UID, rival.CN, rival.NodeName, rival.KeyDigest = "csr-r", "r", "system:node:control0.example", "control0.example", strings.Repeat("e", 64)
			s.p.Requests = append(s.p.Requests, rival)
		}, "no other key"},
		{"a declared name that a BareMetalHost has", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = []string{"control0", "spare"} })(s)
			s.e.DNS, s.p.Declared = []string{"spare"}, declaredBy(nil, []map[string]any{{"metadata": map[string]any{"name": "spare"}}})
		}, "another host's"},
		{"a declared name that another Machine has", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = []string{"control0", "m9.example"} })(s)
			s.e.DNS, s.p.Declared = []string{"m9.example"}, []Declared{{Object: "Machine m9", Names: []string{"m9"}}}
		}, "another host's"},
		{"two BareMetalHosts have its name", client, func(s *scene) {
			s.p.Declared = declaredBy(nil, []map[string]any{{"metadata": map[string]any{"name": "control0"}},
				{"metadata": map[string]any{"name": "rack2-u7"}, "status": map[string]any{"hardware": map[string]any{"hostname": "control0"}}}})
		}, "no two hosts have its name"},
		{"two Machines have its name", serving, func(s *scene) {
			s.p.Declared = []Declared{{Object: "Machine a", Names: []string{"a", "control0"}, Node: "control0"}, {Object: "Machine b", Names: []string{"b", "control0"}}}
		}, "no two hosts have its name"},
		{"a BareMetalHost with its name is being deleted", client, func(s *scene) {
			s.p.Declared = declaredBy(nil, []map[string]any{{"metadata": map[string]any{"name": "control0"}},
				{"metadata": map[string]any{"name": "control0", "deletionTimestamp": "2026-05-01T12:00:00Z"}}})
		}, ""},
		{"its Machine names its BareMetalHost", client, func(s *scene) {
			s.p.Declared = declaredBy([]map[string]any{{
				"metadata": map[string]any{"name": "lab-x2", "annotations": map[string]any{openshift.HostOnMachineAnnotation: "openshift-machine-api/control0"}},
				"status":   map[string]any{"addresses": []any{map[string]any{"type": "Hostname", "address": "control0"}}}}},
				[]map[string]any{{"metadata": map[string]any{"name": "control0"}, "status": map[string]any{"hardware": map[string]any{"hostname": "control0"}}}})
		}, ""},
		{"the names of its own Machine and BareMetalHost", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = []string{"control0", "rack-7"} })(s)
			s.e.DNS = []string{"rack-7"}
			s.p.Declared = declaredBy([]map[string]any{{"metadata": map[string]any{"name": "lab-x2"}, "status": map[string]any{
				"nodeRef":   map[string]any{"name": "control0"},
				"addresses": []any{map[string]any{"type": "Hostname", "address": "control0"}}}}},
				[]map[string]any{{"metadata": map[string]any{"name": "rack-7"}, "spec": map[string]any{"consumerRef": map[string]any{"name": "lab-x2"}}}})
		}, ""},
		{"a named host whose Machine belongs to another Node", client, func(s *scene) {
			s.p.Declared = []Declared{{Object: "Machine m0", Names: []string{"m0", "control0"}, Node: "othernode"}}
		}, "belongs to no other Node"},
		{"a BareMetalHost from which nothing boots", client, func(s *scene) {
			s.e.Explicit, s.e.Role, s.e.NotInstalled = false, "worker", "its BareMetalHost is available"
		}, "is available"},
		{"the same, and a person named the host", client, func(s *scene) { s.e.NotInstalled = "its BareMetalHost is available" }, ""},
		{"a declared wildcard", serving, func(s *scene) { alsoNamed(s, "*.example.com") }, "is not a name of one host"},
		{"a declared name with a dot at its end", serving, func(s *scene) { alsoNamed(s, "control0.") }, "is not a name of one host"},
		{"a declared address as a name", serving, func(s *scene) { alsoNamed(s, "192.0.2.12") }, "is not a name of one host"},
		{"a declared name that every host has", serving, func(s *scene) { alsoNamed(s, "localhost") }, "is not a name of one host"},
		{"a declared name of a Service", serving, func(s *scene) { alsoNamed(s, "kubernetes.default.svc") }, "is a name of a Service"},
		{"a declared name of the API", serving, func(s *scene) { alsoNamed(s, "api-int.c.example.com") }, "is a name of the cluster's API"},
		{"a declared name of applications", serving, func(s *scene) { alsoNamed(s, "console.apps.c.example.com") }, "is a name of the cluster's applications"},
		{"a further name, and the domains of applications are not known", serving, func(s *scene) {
			alsoNamed(s, "control0.c.example.com")
			s.p.AppsGap = "ingresses: not collected"
		}, "is not known: ingresses"},
		{"its own name alone, and the domains of applications are not known", serving, func(s *scene) { s.p.AppsGap = "ingresses: not collected" }, ""},
		{"a name of applications under a domain of their own", serving, func(s *scene) { alsoNamed(s, "console.shop.example.org") }, "is a name of the cluster's applications"},
		{"a declared name of the host's own", serving, func(s *scene) { alsoNamed(s, "control0.c.example.com") }, ""},
		{"a first label that two Nodes have", serving, func(s *scene) {
			s.p.Nodes = append(s.p.Nodes, Node{Name: "control0.example.org"})
		}, ""},
		{"an address that is not declared", serving, func(s *scene) { s.e.IPs = []string{"192.0.2.99"} }, "is not declared"},
		{"no address declared", serving, func(s *scene) { s.e.IPs = nil }, "addresses are declared"},
		{"an address that is not the Node's", serving, func(s *scene) { declare(s, "192.0.2.77") }, "not in the Node's"},
		{"the VIP", serving, func(s *scene) {
			declare(s, "192.0.2.5")
			s.p.Nodes[0].Addresses = []string{"192.0.2.5"}
		}, "VIP"},
		{"another node's address", serving, func(s *scene) {
			declare(s, "192.0.2.11")
			s.p.Nodes[0].Addresses = []string{"192.0.2.11"}
		}, "the address of node control1"},
		{"an address of a pod", serving, func(s *scene) {
			declare(s, "10.128.0.9")
			s.p.Nodes[0].Addresses = []string{"10.128.0.9"}
		}, "network of pods"},
		{"masters as well in a serving request", serving, ask(func(a *asked) {
			a.template.Subject.Organization = []string{"system:nodes",
				"system:masters"}
		}), "only organization"},
		{"client authentication as well in a serving request", serving, ask(func(a *asked) {
			a.api.Spec.Usages = append(a.api.Spec.Usages,
				"client auth")
		}), "usages are exactly"},
		{"masters among the groups of a node", serving, ask(func(a *asked) { a.api.Spec.Groups = append(a.api.Spec.Groups, "system:masters") }),
			"groups are exactly"},
		{"an email address in a serving request", serving, ask(func(a *asked) { a.template.EmailAddresses = []string{"a@b.c"} }), "no other extension"},
		{"a request that was not decoded", client, func(s *scene) {
			s.r = csrs.Request{Name: "x", Kind: csrs.Client, State: csrs.Pending, NodeName: "control0"}
		}, "one PEM block"},
		{"a name with a trailing dot", serving, ask(func(a *asked) { a.template.DNSNames = []string{"control0."} }), "every name"},
		{"any name of a domain", serving, func(s *scene) {
			ask(func(a *asked) { a.template.DNSNames = []string{"*.example"} })(s)
			s.e.DNS = []string{"x.example"}
		}, "every name"},
		{"an address as a name", serving, ask(func(a *asked) { a.template.DNSNames = []string{"192.0.2.10"} }), "every name"},
		{"the loopback address, declared", serving, func(s *scene) { declare(s, "127.0.0.1"); s.p.Nodes[0].Addresses = s.e.IPs }, "is not an address of a host"},
		{"a link-local address, declared", serving, func(s *scene) { declare(s, "fe80::1"); s.p.Nodes[0].Addresses = s.e.IPs }, "is not an address of a host"},
		{"every address, declared", serving, func(s *scene) { declare(s, "0.0.0.0"); s.p.Nodes[0].Addresses = s.e.IPs }, "is not an address of a host"},
		{"a group's address, declared", serving, func(s *scene) { declare(s, "224.0.0.1"); s.p.Nodes[0].Addresses = s.e.IPs }, "is not an address of a host"},
		{"an address of the host and a strange one", serving, ask(func(a *asked) {
			a.template.IPAddresses = append(a.template.IPAddresses, net.ParseIP("198.51.100.1"))
		}), "is not declared"},
		{"only its Node has the address", serving, func(s *scene) { s.e.Explicit, s.e.Role, s.e.IPs = false, "worker", nil }, "--expect control0=ADDRESS"},
		{"a second client certificate that nobody trusted", serving, func(s *scene) {
			rogue := clientRequest()
			rogue.State, rogue.Approval.Reason = csrs.Issued, "AutoApproved"
			s.p.Requests = append([]csrs.Request{rogue}, s.p.Requests...)
		}, "client request was approved"},
		{"its Machine belongs to another Node", client, func(s *scene) { s.e.Joined = "control7" }, "no other Node"},
		{"its Machine belongs to its Node", serving, func(s *scene) { s.e.Joined = "control0" }, ""},
		{"the same key asks for another host", client, func(s *scene) {
			o := s.r
			o.Name, o.UID, o.NodeName, o.CN = "csr-o", "o", "control1", "system:node:control1"
			s.p.Requests = append(s.p.Requests, o)
		}, "asks for no other name"},
		{"who is expected could not be read", client, func(s *scene) { s.e, s.p.Unread = nil, "machines: forbidden" },
			"not known whether it is expected: machines: forbidden"},
		{"nothing asked for", serving, ask(func(a *asked) { a.template.DNSNames, a.template.IPAddresses = nil, nil }), "at least one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.base()
			tt.change(s)
			s.p.Requests = append(s.p.Requests, s.r)
			slices.SortStableFunc(s.p.Requests, func(a, b csrs.Request) int { return a.Created.Compare(b.Created) })
			d := Judge(s.r, s.e, s.p)
			if d.Approve != (tt.want == "") || !strings.Contains(d.Why, tt.want) {
				t.Errorf("approve %t: %s; want %q", d.Approve, d.Why, tt.want)
			}
			if strings.Contains(d.Why, several) != (d.WayOut != "") {
				t.Errorf("way out %q of: %s", d.WayOut, d.Why)
			}
			if d.Approve != (d.NotProven != "") {
				t.Errorf("an approval says what was not proven: %q", d.NotProven)
			}
		})
	}
}
