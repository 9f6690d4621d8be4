package check

import (
	"context"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

var onHostSource = []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "templates/worker/01-worker-kubelet"}}

// onHost judge what is run on a host: reboots, services, containers, packages.
var onHost = []Judgment{{
	ID: "reboot", Commands: "systemctl reboot, reboot, shutdown, poweroff", Matches: func(c *shellcommand.Call) bool {
		return slices.Contains([]string{"reboot", "shutdown", "poweroff", "halt"}, c.Program) ||
			systemd(c, []string{"reboot", "poweroff", "halt", "kexec"}, "")
	},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		n, err := l.hostNode(ctx, c)
		if err != nil {
			return nil, err
		}
		if _, called := c.Flag("-c"); called && c.Program == "shutdown" {
			return &decision{verdict: Safe, objects: []string{refOf(n)}, why: "it calls a shutdown off that was ordered for later", lost: "nothing",
				undo: "order the shutdown again"}, nil
		}
		if !staysOff(c) {
			return l.away(ctx, n, "a reboot", comesBack)
		}
		undo, err := l.powerOn(ctx, n.Name)
		if err != nil {
			return nil, err
		}
		return l.away(ctx, n, "switching it off", undo)
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "templates/master/01-master-kubelet/_base/files/kubelet.yaml"}},
}, {
	ID: "reboot-pool", Commands: "oc adm reboot-machine-config-pool", Matches: func(c *shellcommand.Call) bool {
		return c.Is("oc", "adm",
			"reboot-machine-config-pool")
	},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		why, proof, err := l.settled(ctx)
		if err != nil {
			return nil, err
		}
		if why != "" {
			return &decision{verdict: Unsafe, why: why, evidence: proof}, nil
		}
		return &decision{verdict: Person, why: "each node of the pool is drained and rebooted, one after the other; it cannot be called off, only " +
			"paused", undo: "pause the pool"}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/oc", Path: "pkg/cli/admin/rebootmachineconfigpool"}},
}, {
	ID: "restart-kubelet", Commands: "systemctl restart kubelet", Matches: func(c *shellcommand.Call) bool {
		return systemd(c, []string{"restart", "stop", "start"}, "kubelet") || c.Is("oc", "adm", "restart-kubelet")
	},
	Decide: decideKubelet, Sources: []fault.Ref{{Repo: "kubernetes/kubernetes", Path: "pkg/kubelet/certificate/bootstrap/bootstrap.go",
		Symbol: "LoadClientConfig"}},
}, {
	ID: "restart-runtime", Commands: "systemctl restart crio", Matches: func(c *shellcommand.Call) bool {
		return systemd(c, []string{"restart", "stop"},
			"crio")
	},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		n, err := l.hostNode(ctx, c)
		if err != nil {
			return nil, err
		}
		if c.Args[0] == "stop" {
			return l.away(ctx, n, "the kubelet goes down with crio, and stopping it", "on the host: sudo systemctl start crio kubelet")
		}
		return l.away(ctx, n, "the kubelet goes down with crio, and a restart", comesBack)
	},
	Sources: onHostSource,
}, {
	ID: "restart-network", Commands: "systemctl restart NetworkManager|ovs-*, nmcli, ip link", Local: true, Matches: func(c *shellcommand.Call) bool {
		return systemd(c, []string{"restart", "stop"}, "NetworkManager") || systemd(c, []string{"restart", "stop"}, "ovs-configuration") ||
			c.Program == "nmcli" && c.Effect == shellcommand.Changes
	},
	Reads: []evidence.Need{evidence.Objects(evidence.NetworkConfigs, "")},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		network, err := platform.Network(ctx, l.w)
		if err != nil {
			return nil, err
		}
		if network.Text != "OVNKubernetes" {
			return nil, undecidedf("what NetworkManager owns is known for OVNKubernetes only, and this network is %s", network.Text)
		}
		return &decision{verdict: Unsafe, why: "NetworkManager owns br-ex, over which the node reaches the cluster: if a profile does not come up " +
			"again, the node and this shell are cut off",
			undo: "only from a console of the host", evidence: []evidence.Item{network.Item()}, objects: hostOf(c),
			instead: []string{"open a console of the host first; a reboot with the console open is the safer way",
				"journalctl -u ovs-configuration -u NetworkManager -n 200 | rollcall scan -"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "templates/common/_base/files/configure-ovs-network.yaml"}},
}, {
	ID: "clock", Commands: "chronyc makestep, systemctl restart chronyd", Local: true, Matches: func(c *shellcommand.Call) bool {
		return c.Program == "chronyc" && c.Effect == shellcommand.Changes || systemd(c, []string{"restart", "start"}, "chronyd")
	},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		n, err := l.hostNode(ctx, c)
		if err != nil {
			return nil, err
		}
		if control(n) && c.Program == "chronyc" {
			return &decision{verdict: Unsafe, why: "a jump of the clock of a control-plane host can end leases and etcd elections at once",
				objects: []string{refOf(n)},
				instead: []string{"see how far it is off first: chronyc tracking; below 1 s chronyd slews it by itself"}}, nil
		}
		return &decision{verdict: Safe, why: "it takes the time of its servers; containers go on", objects: []string{refOf(n)},
			verify: []string{"chronyc tracking"}}, nil
	},
	Sources: []fault.Ref{{Repo: "etcd-io/website", Path: "content/en/docs/v3.5/faq.md"}},
}, {
	ID: "change-os", Commands: "rpm-ostree rebase, install, " +
		"rollback", Local: true, Matches: func(c *shellcommand.Call) bool { return c.Program == "rpm-ostree" && c.Effect == shellcommand.Changes },
	Decide: func(_ context.Context, _ *look, c *shellcommand.Call) (*decision, error) {
		return &decision{verdict: Unsafe, why: "the machine-config-daemon owns the operating system: what differs from its config makes the node " +
			"Degraded (unexpected on-disk state)",
			objects: hostOf(c), undo: "rpm-ostree rollback and a reboot", instead: []string{"change it with a MachineConfig of the pool"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/daemon/daemon.go", Symbol: "validateOnDiskState"}},
}, {
	ID: "containers", Commands: "crictl rm|rmp|stop, podman rm|stop", Local: true, Matches: func(c *shellcommand.Call) bool {
		return (c.Program == "crictl" || c.Program == "podman") && c.Effect == shellcommand.Changes
	},
	Decide: decideContainers, Sources: []fault.Ref{{Repo: "kubernetes-sigs/cri-tools", Path: "docs/crictl.md"},
		{Repo: "cri-o/cri-o", Path: "docs/crio.conf.5.md", Symbol: "root"}},
}}

// systemd reports whether a call is of systemctl with one of some verbs on a unit; "" is no unit.
func systemd(c *shellcommand.Call, verbs []string, unit string) bool {
	if c.Program != "systemctl" || len(c.Args) == 0 || !slices.Contains(verbs, c.Args[0]) {
		return false
	}
	return unit == "" || slices.ContainsFunc(c.Args[1:], func(a string) bool { return strings.TrimSuffix(a, ".service") == unit })
}

func hostOf(c *shellcommand.Call) []string {
	if c.Host == "" {
		return []string{"this host"}
	}
	return []string{"host " + c.Host}
}

// errNoHost says that a command does not say where it runs.
var errNoHost = undecidedf("on which host it runs is not in its text: give the command with the host, as ssh core@HOST COMMAND, or " +
	"oc debug node/NODE -- chroot /host COMMAND")

// comesBack is the undo of what ends by itself.
const comesBack = "it comes back by itself"

// staysOff reports whether a host stays off after a call: shutdown does, but for -r.
func staysOff(c *shellcommand.Call) bool {
	_, halts := c.Flag("-p", "--poweroff", "--halt") // of reboot
	_, reboots := c.Flag("-r", "--reboot")
	switch c.Program {
	case "poweroff", "halt", "shutdown":
		return !reboots
	case "reboot":
		return halts
	}
	return len(c.Args) > 0 && (c.Args[0] == "poweroff" || c.Args[0] == "halt")
}

// powerOn is how a host that was switched off comes back.
func (l *look) powerOn(ctx context.Context, node string) (string, error) {
	list, err := l.some(ctx, evidence.BareMetalHosts, "")
	if err != nil {
		return "", err
	}
	for _, o := range list {
		if o.Name != node && evidence.String(o.Content, "status", "hardware", "hostname") != node {
			continue
		}
		if evidence.Field(o.Content, "spec", "online") == true {
			return "its BareMetalHost has online: true: the baremetal operator switches it on again, where its BMC answers. Else switch it on by hand", nil
		}
		return "oc patch bmh " + o.Name + " -n " + o.Namespace + ` --type merge -p '{"spec":{"online":true}}'`, nil
	}
	return "it stays off: switch it on by its BMC or hypervisor; nothing else starts it", nil
}

// hostNode is the Node of the host on which a call runs.
func (l *look) hostNode(ctx context.Context, c *shellcommand.Call) (*evidence.Object, error) {
	if c.Host == "" {
		if _, err := l.read(ctx, evidence.Nodes, ""); err != nil {
			return nil, err
		}
		return nil, errNoHost
	}
	if l.isBootstrap(ctx, c.Host) {
		return nil, errBootstrap(c.Host)
	}
	list, err := l.some(ctx, evidence.Nodes, "")
	if err != nil {
		return nil, err
	}
	for _, n := range list {
		addresses, _ := evidence.Field(n.Content, "status", "addresses").([]any)
		for _, a := range addresses {
			if m, _ := a.(map[string]any); m["address"] == c.Host {
				return n, nil
			}
		}
		if n.Name == c.Host || strings.HasPrefix(n.Name, c.Host+".") {
			return n, nil
		}
	}
	return l.one(ctx, evidence.Nodes, "", c.Host)
}

// away judges that a node goes away without a drain: for some minutes, where undo is comesBack.
func (l *look) away(ctx context.Context, n *evidence.Object, how, undo string) (*decision, error) {
	d := &decision{verdict: Unsafe, objects: []string{refOf(n)}, undo: undo,
		lost:   "what its pods have not written; they are not evicted before",
		verify: []string{"oc get node " + n.Name + " -w"}}
	if up := n.Annotation(openshift.ConfigStateAnnotation); up == "Working" || up == "Rebooting" {
		d.why = n.Name + " is being updated by its daemon: " + how + " now breaks into that"
		return d, nil
	}
	if control(n) {
		why, bad, proof, err := l.oneAway(ctx, n.Name)
		if err != nil {
			return nil, err
		}
		if d.evidence = proof; bad {
			d.why = why
			return d, nil
		}
		d.verdict, d.why = Safe, "for some minutes "+why+", and none can be spared meanwhile. One at a time"
		if undo != comesBack {
			d.why = "until it is started again " + why + ", and none can be spared meanwhile. One at a time"
		}
		d.instead = []string{"oc adm drain " + n.Name + " first, or oc adm reboot-machine-config-pool mcp/POOL (4.14 and later)"}
		return d, nil
	}
	if cordoned(n) {
		d.verdict, d.why = Safe, n.Name+" is a worker and cordoned: pods that are left end without an eviction"
		return d, nil
	}
	others, err := l.schedulable(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	if others == 0 {
		d.why = "no other node of its role is Ready and takes pods"
		return d, nil
	}
	d.why = n.Name + " is not drained: its pods end without an eviction and without a grace period of their own"
	d.instead = []string{"oc adm drain " + n.Name + " --ignore-daemonsets, then " + how}
	return d, nil
}

// decideKubelet: containers go on; a kubelet without a certificate asks again.
func decideKubelet(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	n, err := l.hostNode(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &decision{verdict: Safe, objects: []string{refOf(n)}, lost: "nothing", undo: "none needed: it is running again after it", verify: []string{
		"oc get node " + n.Name + " -w", "rollcall csr list --node " + n.Name}}
	if len(c.Args) > 0 && c.Args[0] == "stop" {
		d.verdict, d.why = Unsafe, "containers go on, but after 40 s the node is not Ready, and after 5 more minutes its pods are moved away"
		d.undo = "on the host: sudo systemctl start kubelet"
		return d, nil
	}
	waiting, err := l.pending(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range waiting {
		if r.NodeName == n.Name {
			d.why = "containers go on, and it files one more request for a certificate beside " + r.Name + ", which waits: a restart answers neither"
			d.instead = []string{"rollcall csr explain " + r.Name}
			return d, nil
		}
	}
	d.why = "containers go on, and the node stays Ready if it is back within 40 s. It does not help where the cause is at the API"
	return d, nil
}

// prunes reports whether a call deletes every image that no container uses at the moment.
func prunes(c *shellcommand.Call) bool {
	if _, prune := c.Flag("--prune", "-q"); c.Is("crictl", "rmi") {
		_, all := c.Flag("-a", "--all")
		return prune || all
	}
	return c.Is("podman", "system", "prune") || c.Is("podman", "image", "prune") || c.Is("podman", "system", "reset")
}

func decideContainers(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	d := &decision{verdict: Unsafe, objects: hostOf(c), why: "the kubelet owns the containers: it starts what is removed again; of a static pod that is " +
		"an outage of its member meanwhile",
		undo: "the kubelet starts it again", instead: []string{"oc delete pod of the pod, where the API answers"}}
	if prunes(c) {
		d.why = "podman of root and CRI-O keep their images in one store (/var/lib/containers/storage): images that nothing runs at the moment are " +
			"deleted, and the host has to pull them again"
		d.lost, d.undo = "images; where the registry does not answer, pods of this host do not start again", "pull the images again"
		d.instead = []string{"find what fills the disk first: sudo du -xh -d2 /var | sort -h | tail", "leave images to the garbage collection of the kubelet"}
		return d, nil
	}
	if c.Program == "podman" || c.Args[0] == "rmi" {
		return nil, undecidedf("what this container or image is for is not known")
	}
	n, err := l.hostNode(ctx, c)
	if err == nil && control(n) {
		if why, bad, proof, err := l.oneAway(ctx, n.Name); err == nil && bad {
			d.why, d.evidence = why, proof
		}
	}
	return d, nil
}
