package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// night is one incident from its first screen to its end: what was typed, when, and what the
// screens showed.
type night struct {
	*world
	began time.Time
	lines []string // the record
	acts  int      // commands of the tool, and what a person did at a host or elsewhere
}

// note adds a line to the record.
func (n *night) note(kind, text string) {
	since := time.Since(n.began).Round(time.Second)
	n.lines = append(n.lines, fmt.Sprintf("%02d:%02d  %-8s %s", int(since.Minutes()), int(since.Seconds())%60, kind, text))
}

// run is one command of the tool; it must end with one of the exit codes. Its screen is in the
// record.
func (n *night) run(codes []int, args ...string) result {
	n.t.Helper()
	n.acts++
	n.note("rollcall", strings.Join(args, " "))
	ask := n.live
	if len(args) > 0 && args[0] == "explain" {
		ask = n.rollcall // it asks no cluster
	}
	r := ask(args...)
	n.note("", fmt.Sprintf("exit %d", r.code))
	for line := range strings.Lines(r.out) {
		n.lines = append(n.lines, "       | "+strings.TrimRight(line, "\n"))
	}
	if !slices.Contains(codes, r.code) {
		n.t.Fatalf("want exit %v: %s", codes, r)
	}
	return r
}

// sees runs a command that only looks, and wants words on its screen: those that the next act
// follows from.
func (n *night) sees(words []string, args ...string) {
	n.t.Helper()
	codes := []int{2, 3} // the cluster is not well
	if len(args) > 0 && args[0] == "explain" {
		codes = []int{0}
	}
	r := n.run(codes, args...)
	for _, word := range words {
		if !strings.Contains(r.out, word) {
			n.t.Errorf("rollcall %s does not show %q:\n%s", strings.Join(args, " "), word, r.out)
		}
	}
}

// fixes plans a repair and applies it. Where another cause of the night is still present, that
// is none of this plan's.
func (n *night) fixes(fault string, flags ...string) {
	n.t.Helper()
	plan := filepath.Join(n.t.TempDir(), fault+".yaml")
	n.run([]int{0}, append([]string{"fix", "plan", "--root", fault, "--to", plan}, flags...)...)
	apply := []string{"fix", "apply", plan, "--yes"}
	if slices.Contains(flags, "--probe") {
		apply = append(apply, "--probe")
	}
	n.run([]int{0}, apply...)
}

// does is what a person does without the tool.
func (n *night) does(where, what string) {
	n.acts++
	n.note(where, what)
}

// script has the script for a kubelet written and returns how it is run on the host. What
// systemd and chrony do there is the lab's.
func (n *night) script(node string) (onHost func(verb string)) {
	n.t.Helper()
	dir := n.t.TempDir()
	script := filepath.Join(dir, "kubelet-"+node+".sh")
	n.run([]int{0}, "fix", "kubelet-script", node, "--to", script)
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		n.t.Fatal(err)
	}
	for name, body := range map[string]string{
		"systemctl": fmt.Sprintf("case \"$1\" in stop) verb=off ;; start) verb=on ;; *) exit 1 ;; esac\nexec %q --dir %q host %s $verb", labBin, n.dir, node),
		"chronyc":   "echo 'Leap status     : Normal'",
		"hostname":  "echo " + node,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/bash\n"+body+"\n"), 0o700); err != nil {
			n.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(n.disk(node, "/root"), 0o700); err != nil {
		n.t.Fatal(err)
	}
	return func(verb string) {
		n.t.Helper()
		n.does("host", "sudo bash "+filepath.Base(script)+" "+verb)
		cmd := exec.CommandContext(n.t.Context(), "bash", script, verb)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "ROLLCALL_ROOT="+n.disk(node, ""))
		out, err := cmd.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			n.lines = append(n.lines, "       | "+strings.TrimRight(line, "\n"))
		}
		if err != nil {
			n.t.Fatalf("%s on %s: %v\n%s", verb, node, err, out)
		}
	}
}

// approves approves the two requests that a kubelet makes one after the other since it was
// started again. A refusal is tried again, as its text says; its first text is in the record.
func (n *night) approves(node string, started time.Time) {
	n.t.Helper()
	for _, signer := range []string{certificatesv1.KubeAPIServerClientKubeletSignerName, certificatesv1.KubeletServingSignerName} {
		tries := 0
		eventually(n.t, 9*time.Minute, func() string {
			name := n.newest(node, signer, started)
			if name == "" {
				return node + " has not asked " + signer
			}
			if tries++; tries == 1 {
				n.run([]int{0}, "csr", "list", "--node", node)
			}
			args := []string{"csr", "approve", name, "--expect", node + "=" + n.address(node), "--booted-after", "20m", "--rebuild", "--yes"}
			r := n.live(args...)
			n.acts++
			if r.code == 0 || tries == 1 {
				n.note("rollcall", strings.Join(args, " "))
			}
			switch {
			case r.code == 0:
				n.note("", fmt.Sprintf("exit 0, at try %d", tries))
				return ""
			case tries == 1:
				n.note("", "refused: "+strings.TrimSpace(r.err))
			}
			time.Sleep(20 * time.Second)
			return r.String()
		})
	}
}

// newest is the last request of a node for a signer that waits, and was made since then.
func (n *night) newest(node, signer string, since time.Time) (name string) {
	n.t.Helper()
	list, err := n.kubernetes(n.t).CertificatesV1().CertificateSigningRequests().List(n.t.Context(), metav1.ListOptions{})
	if err != nil {
		n.t.Fatal(err)
	}
	last := since.Add(-time.Second) // the API has whole seconds
	for _, r := range list.Items {
		if lab.CommonName(&r) == "system:node:"+node && r.Spec.SignerName == signer && len(r.Status.Conditions) == 0 && r.CreationTimestamp.After(last) {
			name, last = r.Name, r.CreationTimestamp.Time
		}
	}
	return name
}

// ends waits until the tool shows that all is well, and looks once more.
func (n *night) ends() {
	n.t.Helper()
	n.run([]int{0}, "watch", "--timeout", "12m", "--stable-for", "1m", "--stop-on", "never")
	n.run([]int{0})
	d := parse(n.t, n.live("-o", "json"))
	if d.Verdict.Class != "healthy" {
		n.t.Errorf("the verdict is %s (%s)", d.Verdict.Class, d.Verdict.Reason)
	}
	for _, h := range d.Hosts {
		if h.State != "passed" && h.State != "not-applicable" {
			n.t.Errorf("%s is not done: %s", h.Name, d.hosts())
		}
	}
}

// nights are incidents from `rollcall` without words on.
var nights = []struct {
	name, trouble string
	play          func(*night)
}{
	{"a worker refuses the server's certificate", "mcs-certificate-expired", func(n *night) {
		n.sees([]string{"--console worker3=FILE"})
		n.sees([]string{"--probe"}, "diagnose", "--console", "worker3="+n.consoleFile("worker3"))
		n.sees([]string{"has expired", "rollcall explain regenerate-mcs-certificate"}, "diagnose", "--probe")
		n.sees([]string{"rollcall fix plan"}, "explain", "regenerate-mcs-certificate")
		n.fixes("mcs-certificate-expired", "--probe")
		n.ends()
	}},
	{"inspection, kubelet and address", "inspection-silent+kubelet-certificate-lost+vip-outside-machine-network", func(n *night) {
		n.sees([]string{"control2"})
		n.sees([]string{"control2", "spare2", "machine network"}, "diagnose")
		n.fixes("vip-not-in-machine-network", "--machine-network", "203.0.113.0/24")
		onHost := n.script("control2")
		onHost("check")
		started := time.Now()
		onHost("apply")
		n.approves("control2", started)
		onHost("finish")
		n.does("outside", "the network card of spare2 is made to boot the ramdisk")
		n.outside(n.t, "boot-medium", "spare2")
		n.fixes("inspection-ramdisk-failed", "--inspect-again", "spare2")
		n.ends()
	}},
	{"etcd's manifest moved, the kubelet an administrator", "etcd-manifest-moved+kubelet-as-admin", func(n *night) {
		n.sees([]string{"control1"})
		n.sees([]string{"control1", "etcd"}, "diagnose")
		n.does("host", "sudo mv /home/core/etcd-pod.yaml /etc/kubernetes/manifests/etcd-pod.yaml   (on control2)")
		if err := os.Rename(n.find(n.t, "control2", "etcd-pod.yaml"), n.disk("control2", "/etc/kubernetes/manifests/etcd-pod.yaml")); err != nil {
			n.t.Fatal(err)
		}
		onHost := n.script("control1")
		onHost("check")
		started := time.Now()
		onHost("apply")
		n.approves("control1", started)
		onHost("finish")
		n.ends()
	}},
}

// TestNight plays whole incidents on the lab's servers: nothing is typed but the tool's
// commands, the script that it writes for a host, and what a person does at hardware. It logs
// the record of each night.
func TestNight(t *testing.T) {
	if testing.Short() {
		t.Skip("brings labs up")
	}
	if os.Getenv(full) == "" {
		t.Skip("several minutes each; in .ci/run full")
	}
	t.Parallel()
	for _, one := range nights {
		t.Run(one.name, func(t *testing.T) {
			w := up(t, one.trouble, true)
			n := &night{world: w, began: time.Now()}
			defer func() {
				t.Logf("%d commands and acts in %s:\n%s", n.acts, time.Since(n.began).Round(time.Second), strings.Join(n.lines, "\n"))
			}()
			one.play(n)
		})
	}
}
