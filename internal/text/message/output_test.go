package message

import "testing"

// The output of a command is read with the command that is above it.
func TestOutputs(t *testing.T) {
	x := builtIn(t)
	for name, tt := range map[string]struct {
		text   string
		result Result
		shows  string // a fault, or the words of a failure
	}{
		"curl of the machine config server": {"$ curl -kI https://api-int.c.example.com:22623/config/worker\nHTTP/1.1 500 Internal Server Error\n", Unknown,
			"the machine config server at api-int.c.example.com:22623: it answers with an error of its own (HTTP 5xx)"},
		"curl that works":                   {"$ curl -kI https://api-int.c.example.com:22623/config/worker\nHTTP/1.1 200 OK\n", Absent, ""},
		"a registry that asks for a login":  {"$ curl -sSI https://r.example.com/v2/\nHTTP/1.1 401 Unauthorized\n", Absent, ""},
		"a registry that is not there":      {"[core@w1 ~]$ curl -sSI https://r.example.com/v2/\nHTTP/2 503\n", Unknown, "image-pull-server-error"},
		"no time source answers":            {"$ chronyc sources\n^? 192.0.2.1                     0   7     0     -     +0ns[   +0ns] +/-    0ns\n", Present, "host-clock-not-synchronised"},
		"one of two is selected":            {"^* 192.0.2.2                     2   6   377    21    +12us[  +15us] +/-   20ms\n^? 192.0.2.1                     0   7     0     -     +0ns[   +0ns] +/-    0ns\n", Absent, ""},
		"a certificate that expired":        {"$ openssl x509 -in /var/lib/kubelet/pki/kubelet-client-current.pem -noout -dates\nnotBefore=Mar 27 06:57:00 2026 GMT\nnotAfter=Mar 28 06:39:47 2026 GMT\n$ date -u\nSun Mar 29 05:21:18 UTC 2026\n", Present, "kubelet-client-cert-expired"},
		"one that is valid":                 {"notBefore=Mar 27 06:57:00 2026 GMT\nnotAfter=Mar 28 06:39:47 2026 GMT\nFri Mar 27 08:21:18 UTC 2026\n", Absent, ""},
		"dates without a time":              {"notBefore=Mar 27 06:57:00 2026 GMT\nnotAfter=Mar 28 06:39:47 2026 GMT\n", Absent, ""},
		"is-active":                         {"sh-5.1# systemctl is-active kubelet crio\nactive\nfailed\n", Unknown, "a systemd unit failed"},
		"the same word in another output":   {"$ cat notes\nactive\nfailed\n", Absent, ""},
		"a container that ended":            {"$ sudo podman ps -a\n3f1c0a7b9d2e  quay.io/a/b@sha256:12  bootkube  5 minutes ago  Exited (1) 4 minutes ago  bootkube\n", Unknown, "a container exited with an error"},
		"a container that ended well":       {"$ sudo podman ps -a\n3f1c0a7b9d2e  quay.io/a/b@sha256:12  bootkube  5 minutes ago  Exited (0) 4 minutes ago  bootkube\n", Absent, ""},
		"df":                                {"$ df -h /sysroot\n/dev/sda4        120G  120G     0 100% /sysroot\n", Present, "host-file-system-full"},
		"a name that DNS does not have":     {"$ host mirror.c.example.com\nHost mirror.c.example.com not found: 3(NXDOMAIN)\n", Unknown, "a name does not exist in DNS (NXDOMAIN)"},
		"the name of the API is not in DNS": {"$ host api-int.c.example.com\nHost api-int.c.example.com not found: 3(NXDOMAIN)\n", Present, "host-cannot-resolve-api"},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			got := ""
			for _, m := range append(r.Symptoms, r.Matches...) {
				got = m.Fault + m.Failure
			}
			if r.Result != tt.result || got != tt.shows {
				t.Errorf("%s, %q, want %s, %q: %+v", r.Result, got, tt.result, tt.shows, r)
			}
		})
	}
}
