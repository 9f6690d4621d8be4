package logline

import "testing"

func TestFailing(t *testing.T) {
	for text, want := range map[string]Failure{
		`Get "https://api-int.c.example.com:6443/api/v1/nodes": dial tcp 192.0.2.5:6443: connect: connection refused`: {Leaf: Refused, Scheme: "https",
			Host: "api-int.c.example.com", Port: "6443", Path: "/api/v1/nodes"},
		`failed to dial: dial tcp 192.0.2.5:2379: i/o timeout`:                                           {Leaf: Timeout, Host: "192.0.2.5", Port: "2379"},
		`dial tcp: lookup quay.io on 192.0.2.53:53: no such host`:                                        {Leaf: NameUnknown, Host: "quay.io", Resolver: "192.0.2.53"},
		`curl: (6) Could not resolve host: mirror.example.com`:                                           {Leaf: NameUnknown, Host: "mirror.example.com"},
		`curl: (7) Failed to connect to api-int.c.example.com port 22623 after 3 ms: Connection refused`: {Leaf: Refused, Host: "api-int.c.example.com", Port: "22623"},
		`curl: (22) The requested URL returned error: 503`:                                               {Leaf: ServerError},
		`pinging container registry r.example.com:5000: Get "https://r.example.com:5000/v2/": EOF`:       {Leaf: Closed, Scheme: "https", Host: "r.example.com", Port: "5000", Path: "/v2/"},
		`open /etc/kubernetes/kubeconfig: no such file or directory`:                                     {Leaf: NoFile, Object: "/etc/kubernetes/kubeconfig"},
		`/usr/local/bin/bootkube.sh: line 81: oc: command not found`:                                     {Leaf: NoCommand, Object: "oc"},
		`nodes "w1" is forbidden: User "system:node:w2" cannot get resource "nodes" at the cluster scope`: {Leaf: NotAllowed,
			Object: "system:node:w2", Field: "get nodes"},
		`could not apply: DaemonSet.apps "a-node" is invalid: spec.template.spec.containers[0].lifecycle: Required value: must specify`: {Leaf: Invalid,
			Object: "DaemonSet.apps a-node", Field: "spec.template.spec.containers[0].lifecycle"},
		`creating Pod: pods "a-1" is forbidden: policy: infrastructure.config.openshift.io \"cluster\" not found`: {Leaf: Missing,
			Object: "infrastructure.config.openshift.io cluster"},
		`User: arn:aws:iam::1:user/x is not authorized to perform: iam:CreateRole on resource: y status code: 403, request id: z`: {Leaf: CloudDenied,
			Object: "iam:CreateRole"},
		`error(MissingQuota): compute.googleapis.com/networks is not available in global`: {Leaf: CloudQuota, Object: "compute.googleapis.com/networks"},
		`VcpuLimitExceeded: You have requested more vCPU capacity`:                        {Leaf: CloudQuota, Object: "VcpuLimitExceeded"},
		`secret \"a\" not found, and then dial tcp 192.0.2.1:6443: connection refused`:    {Leaf: Refused, Host: "192.0.2.1", Port: "6443"},
		`Error: initializing source docker://r.example.com/a:b: reading manifest: received unexpected HTTP status: 502 Bad Gateway`: {Leaf: ServerError,
			Scheme: "docker", Host: "r.example.com", Port: "443", Path: "/a:b"},
		`HTTPSConnectionPool(host='192.0.2.7', port=443): Max retries exceeded with url: /redfish/v1/ (Caused by X: [Errno 113] No route to host)`: {Leaf: NoRoute,
			Scheme: "https", Host: "192.0.2.7", Port: "443", Path: "/redfish/v1/"},
		`x509: certificate is valid for a.example.com, not b.example.com`: {Leaf: OtherName},
		`fork/exec /usr/bin/crun: exec format error`:                      {Leaf: ExecFormat, Object: "/usr/bin/crun"},
	} {
		if got, ok := Failing([]byte(text)); !ok || got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", text, got, want)
		}
	}
	for _, text := range []string{"all is well", "", "took 503 ms", "version 4.14.503", "error: something unknown"} {
		if got, ok := Failing([]byte(text)); ok {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// TestLookUp: where a name was looked up at a name server, what came of that is about the name server.
func TestLookUp(t *testing.T) {
	const asked = "lookup r.example.com on 192.0.2.53:53: "
	for text, want := range map[string]Leaf{
		asked + "read udp 192.0.2.9:41000->192.0.2.53:53: i/o timeout":                  NameServer,
		asked + "read udp 192.0.2.9:41000->192.0.2.53:53: read: connection refused":     NameServer,
		asked + "dial udp 192.0.2.53:53: connect: network is unreachable":               NameServer,
		asked + "dial udp 192.0.2.53:53: connect: no route to host":                     NameServer,
		asked + "server misbehaving":                                                    NameServer,
		asked + "no such host":                                                          NameUnknown,
		asked + "i/o timeout; then dial tcp 192.0.2.7:443: connect: connection refused": Refused,
		"dial tcp 192.0.2.7:443: connect: connection refused":                           Refused,
	} {
		got, ok := Failing([]byte(`Get "https://r.example.com:5000/v2/": dial tcp: ` + text))
		if !ok || got.Leaf != want || got.Host != "r.example.com" && want != Refused {
			t.Errorf("%s: %+v, want %s", text, got, want)
		}
	}
}
