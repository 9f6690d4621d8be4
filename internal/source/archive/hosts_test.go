package archive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// TestNamedByJournals: a journal by itself names its hosts; the bootstrap host is one.
func TestNamedByJournals(t *testing.T) {
	kubelet := func(host string) string {
		return "Nov 12 03:04:05 " + host + " kubenswrapper[123]: I1112 03:04:05.1 123 x.go:1] y\n"
	}
	const (
		start            = "May 12 04:54:38 localhost.localdomain systemd[1]: Started Bootstrap a Kubernetes cluster.\n"
		clusterBootstrap = "May 12 04:58:00 api.x.example.com bootkube.sh[4356]: Starting cluster-bootstrap...\n"
	)
	for name, c := range map[string]struct{ tree, want string }{
		"one":                 {"-- kubelet.log --\n" + kubelet("localhost") + kubelet("w1.example.com"), "w1.example.com/"},
		"several":             {"-- kubelet.log --\n" + kubelet("W1") + kubelet("m0") + kubelet("w1"), "w1/ m0/"},
		"in ISO":              {"-- kubelet.log --\n2026-11-12T03:04:05.123456+0000 w1 kubenswrapper[1]: x\n", "w1/"},
		"no name yet":         {"-- kubelet.log --\n" + kubelet("localhost"), ""},
		"of the bootstrap":    {"-- bootkube.log --\n" + start + clusterBootstrap, "bootstrap/bootstrap"},
		"a bundle's":          {"-- log-bundle-1/bootstrap/journals/kubelet.log --\n" + kubelet("x"), "bootstrap/bootstrap"},
		"of a must-gather":    {"-- mg/host_service_logs/masters/kubelet_service.log --\n" + kubelet("m0"), ""},
		"an object, no lines": {clusterA, ""},
	} {
		list, err := open(t, c.tree).List(t.Context(), evidence.NamedHosts, "")
		var got []string
		for _, o := range list {
			got = append(got, o.Name+"/"+evidence.String(o.Content, "role"))
		}
		if strings.Join(got, " ") != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// TestOtherSystems: a kernel of another distribution shows that a machine is no host of a cluster, unless
// any of its logs has a line of what only those hosts run.
func TestOtherSystems(t *testing.T) {
	const (
		ubuntu = "May 08 00:49:10 s1 kernel: Linux version 5.11.0-16-generic (buildd@lgw01-amd64-035) (gcc (Ubuntu 10.3.0-1ubuntu1) 10.3.0, GNU ld (GNU Binutils for Ubuntu) 2.36.1) #17-Ubuntu SMP\n"
		debian = "May 08 00:49:10 s1 kernel: Linux version 6.1.0-13-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld 2.40) #1 SMP\n"
		rhcos  = "May 08 00:49:10 s1 kernel: Linux version 5.14.0-427.el9.x86_64 (mockbuild@x86-vm-08) (gcc (GCC) 11.4.1 20231218 (Red Hat 11.4.1-3), GNU ld 2.35.2) #1 SMP\n"
		ostree = "May 08 00:49:10 s1 kernel: Command line: BOOT_IMAGE=(hd0,gpt3)/boot/ostree/x/vmlinuz ostree=/ostree/boot.1/x/0 root=UUID=1\n"
		crio   = "May 08 00:50:10 s1 crio[9]: x\n"
		other  = "May 08 00:50:10 s1 systemd[1]: x\n"
	)
	for name, c := range map[string]struct{ tree, want string }{
		"Ubuntu":                 {"-- a.log --\n" + ubuntu + other, "Ubuntu"},
		"Debian":                 {"-- a.log --\n" + debian, "Debian"},
		"Ubuntu, in several":     {"-- a.log --\n" + other + "-- b.log --\n" + ubuntu, "Ubuntu"},
		"RHCOS":                  {"-- a.log --\n" + rhcos, ""},
		"no kernel":              {"-- a.log --\n" + other, ""},
		"Ubuntu with CRI-O":      {"-- a.log --\n" + ubuntu + crio, ""},
		"Ubuntu, CRI-O's is one": {"-- a.log --\n" + ubuntu + "-- b.log --\n" + crio, ""},
		"an OSTree deployment":   {"-- a.log --\n" + ostree + ubuntu, ""},
	} {
		list, err := open(t, c.tree).List(t.Context(), evidence.NamedHosts, "")
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %v, %v", name, list, err)
			continue
		}
		got := ""
		for _, o := range namedhost.Others(list) {
			if got = o.System.Name; o.Name != "s1" || o.Loc.Line == 0 || o.Loc.Path == "" || o.System.Kernel == "" {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if got != c.want {
			t.Errorf("%s: the other system is %q, want %q", name, got, c.want)
		}
	}
}

// TestSeenInJournals: the first line of a host, and the first one of its kubelet, are kept without their
// messages: they show that the machine runs, and that its kubelet was started.
func TestSeenInJournals(t *testing.T) {
	const (
		boot    = "Nov 12 03:00:00 w1 systemd[1]: Reached target Basic System.\n"
		crio    = "Nov 12 03:01:00 w1 crio[9]: time=\"x\" level=info msg=\"token s3cret\"\n"
		kubelet = "Nov 12 03:04:05 w1 hyperkube[123]: I1112 03:04:05.1 123 x.go:1] secret\n"
	)
	for name, c := range map[string]struct{ lines, seen, kubelet string }{
		"a kubelet":         {kubelet + kubelet, "1 Nov 12 03:04:05 w1 hyperkube[123]", "1 Nov 12 03:04:05 w1 hyperkube[123]"},
		"others before it":  {boot + crio + kubelet, "1 Nov 12 03:00:00 w1 systemd[1]", "3 Nov 12 03:04:05 w1 hyperkube[123]"},
		"no kubelet":        {crio, "1 Nov 12 03:01:00 w1 crio[9]", ""},
		"after other lines": {"Nov 12 02:00:00 localhost kernel: x\n" + kubelet, "2 Nov 12 03:04:05 w1 hyperkube[123]", "2 Nov 12 03:04:05 w1 hyperkube[123]"},
	} {
		list, err := open(t, "-- host.log --\n"+c.lines).List(t.Context(), evidence.NamedHosts, "")
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %v, %v", name, list, err)
			continue
		}
		h, err := namedhost.Of(list[0])
		if err != nil {
			t.Fatal(err)
		}
		for what, l := range map[string]*namedhost.Line{c.seen: h.Seen, c.kubelet: h.Kubelet} {
			got := ""
			if l != nil {
				got = fmt.Sprint(l.Number, " ", l.Head)
			}
			if got != what {
				t.Errorf("%s: %q, want %q", name, got, what)
			}
		}
	}
}
