package shellcommand

import (
	"slices"
	"strings"
	"testing"
)

// show is a call on one line.
func show(c Call) string {
	s := c.Program + " " + strings.Join(c.Args, " ")
	for _, f := range []string{"-n", "-l", "-p", "--replicas", "--force", "-H", "--dir"} {
		if v, ok := c.Flag(f); ok {
			s += " " + f + "=" + v
		}
	}
	if c.OnHost {
		s += " @" + c.Host
	}
	if c.Pod != "" {
		s += " in " + c.Pod
	}
	if c.Open {
		s += " open"
	}
	if c.Of != nil {
		s += " of(" + show(*c.Of) + ")"
	}
	return s
}

// TestCalls: what is wrapped around a command is taken off, loops with a written list are unrolled.
func TestCalls(t *testing.T) {
	for text, want := range map[string]string{
		"oc delete pod x -n shop":                                                     "oc delete pod x -n=shop",
		"kubectl --context a -n shop delete pod/x --force":                            "oc delete pod/x -n=shop --force=",
		"sudo -u root systemctl restart kubelet":                                      "systemctl restart kubelet",
		"oc debug node/m1 -- chroot /host systemctl reboot":                           "systemctl reboot @m1",
		"ssh -o ConnectTimeout=5 core@m1 'sudo rm -rf /var/lib/etcd'":                 "rm /var/lib/etcd @m1",
		"oc -n openshift-etcd rsh -c etcdctl etcd-m0 etcdctl member remove 3c":        "etcdctl member remove 3c in etcd-m0",
		"oc exec -n openshift-etcd etcd-m0 -- etcdctl defrag --cluster":               "etcdctl defrag in etcd-m0",
		"for n in m0 m1; do oc delete node $n; done":                                  "oc delete node m0\noc delete node m1",
		"oc get csr -o name | xargs oc adm certificate approve":                       "oc get csr\noc adm certificate approve open of(oc get csr)",
		"oc get csr | grep w1 | xargs oc adm certificate approve":                     "oc get csr\noc adm certificate approve open",
		"oc adm certificate approve $(oc get csr -o name)":                            "oc adm certificate approve $(oc get csr -o name) open of(oc get csr)",
		"for i in $(oc get csr -o name); do oc adm certificate approve $i; done":      "oc adm certificate approve $i open of(oc get csr)",
		`oc patch mcp worker --type merge -p '{"spec":{"paused":true}}'`:              `oc patch mcp worker -p={"spec":{"paused":true}}`,
		"KUBECONFIG=x oc get nodes 2>/dev/null > f":                                   "oc get nodes",
		"oc delete node \"$NODE\"":                                                    "oc delete node $NODE open",
		"bash -c 'cd /tmp && mv a b'":                                                 "cd /tmp\nmv a b",
		"ssh core@m1 'sudo systemctl stop kubelet; sudo rm -rf /var/lib/kubelet/pki'": "systemctl stop kubelet @m1\nrm /var/lib/kubelet/pki @m1",
		"ipmitool -I lanplus -H 192.0.2.1 -U a -P b power off":                        "ipmitool power off -H=192.0.2.1",
	} {
		list, _ := Calls(text)
		var got []string
		for _, c := range list {
			got = append(got, show(c))
		}
		if g := strings.Join(got, "\n"); g != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, g, want)
		}
	}
}

func FuzzCalls(f *testing.F) {
	for _, s := range []string{"oc delete pod $(x", "ssh a 'b", "for i in a; do `x` $i", "a | | b > ", `\`, "oc exec x --"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, ok := Calls(text)
		if ok != (len(list) > 0) || len(list) > maxCalls {
			t.Errorf("%d calls, %t", len(list), ok)
		}
	})
}

// TestParts: each call of a line has its own part of the line, with what shapes its output.
func TestParts(t *testing.T) {
	for text, want := range map[string][]string{
		"oc get pods -A | grep -v Running | xargs oc delete pod":      {"oc get pods -A | grep -v Running", "xargs oc delete pod"},
		"oc get csr -o name | xargs oc adm certificate approve":       {"oc get csr -o name", "xargs oc adm certificate approve"},
		"oc get nodes -l 'a|b' > /tmp/x | tee y | oc apply -f - 2>&1": {"oc get nodes -l 'a|b' > /tmp/x | tee y", "oc apply -f - 2>&1"},
		"ssh core@m1 'sudo systemctl restart kubelet; crictl ps'":     {"ssh core@m1 sudo systemctl restart kubelet", "ssh core@m1 crictl ps"},
		"oc get nodes | grep NotReady":                                {""},
	} {
		list, _ := Calls(text)
		var got []string
		for _, c := range list {
			got = append(got, c.Part)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
