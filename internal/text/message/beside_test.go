package message

import (
	"strings"
	"testing"
)

// A fact of the page stands before the failure that it explains, and before no other one.
func TestBesideFirst(t *testing.T) {
	x := builtIn(t)
	const (
		updates = "$ oc adm upgrade\n  Reason: RemoteFailed\n  Message: Unable to retrieve available updates: " +
			"Get \"https://api.openshift.com/api/upgrades_info/v1/graph?arch=amd64\": dial tcp 192.0.2.243:443: connect: connection timed out\n\n"
		get      = "E0101 10:00:00.000000       1 sync.go:1] Get \"https://api.lab.example.org:6443/api/v1/nodes\": dial tcp 10.0.0.5:6443: connect: "
		own      = get + "connection timed out\n\n"
		refused  = get + "connection refused\n\n"
		proxied  = "  Message: Get \"https://api.openshift.com/api/upgrades_info/v1/graph\": proxyconnect tcp: dial tcp 192.0.2.8:3128: i/o timeout\n\n"
		head     = "apiVersion: config.openshift.io/v1\nkind: Proxy\nmetadata:\n  name: cluster\nspec:\n  httpProxy: http://192.0.2.8:3128\n"
		httpOnly = head + "  noProxy: example.org\nstatus:\n  httpProxy: http://192.0.2.8:3128\n"
		both     = head + "  httpsProxy: http://192.0.2.8:3128\n  noProxy: example.org\n"
		off      = "$ for n in a b; do\n  ssh $n sysctl -n net.ipv4.conf.br-ex.forwarding \\\n    net.ipv4.ip_forward\ndone\nw1: 0 1\nw2: 0 1\nw3: 1 1\n"
		one      = "net.ipv4.conf.br-ex.forwarding = 0\nnet.ipv4.ip_forward = 1\n"
		on       = "net.ipv4.conf.br-ex.forwarding = 1\nnet.ipv4.ip_forward = 0\n"
		members  = "etcd: EtcdMembersDegraded: 1 of 3 members are available, a is unhealthy, b is unhealthy\n\n"
	)
	for name, tt := range map[string]struct{ text, want string }{
		"https that goes past the proxy":         {updates + httpOnly, "has httpProxy and no httpsProxy"},
		"the object comes first":                 {httpOnly + "\n" + updates, "has httpProxy and no httpsProxy"},
		"it has both":                            {updates + both, ""},
		"it is cut behind httpProxy":             {updates + head, ""},
		"the request went through the proxy":     {proxied + httpOnly, ""},
		"a server of the cluster":                {own + httpOnly, ""},
		"nothing has failed":                     {httpOnly, ""},
		"forwarding of some hosts is off":        {own + off, "br-ex.forwarding is 0 on w1, w2"},
		"forwarding of a host is off":            {own + one, "br-ex.forwarding is 0"},
		"members that an operator cannot reach":  {members + one, "br-ex.forwarding is 0"},
		"forwarding is on":                       {own + on, ""},
		"a program does not listen":              {refused + one, ""},
		"a server outside, and forwarding is on": {updates + on, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			got := ""
			if len(r.Symptoms) > 0 && r.Symptoms[0].Beside {
				got = r.Symptoms[0].Failure
			}
			if !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") || tt.want != "" && (r.Result != Unknown || len(r.Symptoms) < 2) {
				t.Errorf("%q, want %q: %s %+v", got, tt.want, r.Result, r.Symptoms)
			}
		})
	}
}

// What is next for an event has no log of a pod of which no container has run, and no command that was pasted.
func TestNextOfEvent(t *testing.T) {
	x := builtIn(t)
	const (
		described = "$ oc describe pod/web\nName:         web\nNamespace:    shop\nStatus:       Pending\n\nEvents:\n" +
			"  Type     Reason                  Age                  From               Message\n" +
			"  ----     ------                  ----                 ----               -------\n" +
			"  Normal   Scheduled               4m41s                default-scheduler  Successfully assigned shop/web to w7.lab.example.org\n"
		sandbox = "  Warning  FailedCreatePodSandBox  1s (x23 over 40m)    kubelet            Failed to create pod sandbox: " +
			"rpc error: code = Unknown desc = the frob is not there\n"
		other = "  Warning  Odd                     1s (x23 over 40m)    kubelet            the frob is not there\n"
	)
	for name, tt := range map[string]struct {
		text      string
		want, not string
	}{
		"no sandbox":                     {described + sandbox, "On w7.lab.example.org: sudo journalctl -u crio", "--previous"},
		"no command above":               {strings.TrimPrefix(described, "$ oc describe pod/web\n") + sandbox, "spec.nodeName=w7.lab.example.org", "oc describe"},
		"a warning, and the description": {described + other, "oc logs web -n shop", "oc describe"},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			if len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Next, tt.want) || strings.Contains(r.Errors[0].Next, tt.not) {
				t.Errorf("%+v", r.Errors)
			}
		})
	}
}

// A candidate that the text refutes is not named.
func TestRefutedCandidates(t *testing.T) {
	x := builtIn(t)
	const (
		failed = "ERROR Bootstrap failed to complete: : bootstrap process timed out: context deadline exceeded\n"
		listed = "ERROR Attempted to gather ClusterOperator status after wait failure: Listing ClusterOperator objects: " +
			"Get \"https://api.lab.example.org:6443/apis/config.openshift.io/v1/clusteroperators\": "
		dead  = "https://192.0.2.3:2379 is unhealthy: failed to commit proposal: context deadline exceeded\n"
		alive = "https://192.0.2.2:2379 is healthy: successfully committed proposal: took = 7.1ms\n"
	)
	for name, tt := range map[string]struct {
		text, candidate string
		want            bool
	}{
		"nothing is known of the API": {failed, "api-connection-refused", true},
		"the API is refused":          {listed + "dial tcp 192.0.2.5:6443: connect: connection refused\n" + failed, "api-connection-refused", true},
		"the address answers":         {listed + "dial tcp 192.0.2.5:6443: connect: no route to host\n" + failed, "installer-name-not-resolved", false},
		"a server answers": {listed + "tls: failed to verify certificate: x509: certificate is valid for kubernetes, not api.lab.example.org\n" + failed,
			"api-connection-refused", false},
		"an endpoint of etcd":              {dead, "etcd-no-quorum", true},
		"and another one that has written": {dead + alive, "etcd-no-quorum", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			got := false
			for _, m := range append(r.Matches, r.Symptoms...) {
				for _, id := range m.Candidates {
					got = got || id == tt.candidate
				}
			}
			if got != tt.want {
				t.Errorf("candidate %s: %v, want %v", tt.candidate, got, tt.want)
			}
		})
	}
}
