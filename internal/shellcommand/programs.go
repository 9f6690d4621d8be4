package shellcommand

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
)

// program is what is known of one program.
type program struct {
	name    string
	reads   map[string]string // verb -> what it does; the verb "" stands for all others
	changes map[string]string
	judge   func(words []string) (Effect, string)
}

// filters only shape what another command prints.
var filters = []string{"grep", "egrep", "head", "tail", "sort", "uniq", "awk", "sed", "cut", "tr", "wc", "jq", "yq", "less", "more", "column",
	"xargs", "base64", "tee"}

// programs are the programs of advice about clusters. A verb that is not listed is unknown.
var programs = known()

func known() map[string]program {
	m := map[string]program{}
	add := func(names []string, reads, changes map[string]string) {
		for _, n := range names {
			p := program{name: names[0], reads: reads, changes: changes}
			p.judge = p.byVerb
			m[n] = p
		}
	}
	add([]string{"oc", "kubectl"}, map[string]string{
		"get": "lists objects", "describe": "shows objects and their events", "logs": "shows logs", "explain": "shows the fields of a kind",
		"version": "shows versions", "whoami": "shows the user", "status": "shows a summary", "api-resources": "lists kinds", "cluster-info": "shows addresses",
		"diff": "compares objects with a file", "wait": "waits for a condition", "events": "lists events", "top": "shows usage",
		"auth can-i":  "asks whether the rights suffice",
		"adm inspect": "saves objects and logs", "adm must-gather": "saves an archive of the cluster; it runs pods for that", "adm top": "shows usage",
		"adm node-logs": "shows journals of a node", "adm release info": "shows a release", "adm wait-for-stable-cluster": "waits for the operators",
		"config view": "shows the kubeconfig", "config current-context": "shows the context", "image info": "shows an image",
		"adm upgrade status": "shows the update",
	}, map[string]string{
		"delete": "deletes objects", "patch": "changes objects", "apply": "creates or changes objects", "create": "creates objects",
		"replace": "replaces objects",
		"edit":    "changes objects", "annotate": "changes annotations", "label": "changes labels", "scale": "changes the number of replicas",
		"set":     "changes objects",
		"rollout": "restarts or rolls back pods", "run": "starts a pod", "exec": "runs a command in a container", "rsh": "opens a shell in a container",
		"debug": "starts a debug pod with full rights on the node; what it does depends on the command in it", "cp": "copies files from or to a container",
		"adm certificate": "approves or denies certificate requests", "adm drain": "evicts the pods of a node", "adm cordon": "stops scheduling to a node",
		"drain": "evicts the pods of a node", "cordon": "stops scheduling to a node", "uncordon": "allows scheduling to a node again",
		"adm uncordon": "allows scheduling to a node again", "adm taint": "changes taints", "adm upgrade": "starts or changes an update",
		"adm ocp-certificates": "regenerates certificates",
		"adm policy":           "changes rights", "adm reboot-machine-config-pool": "reboots the nodes of a pool", "login": "writes a token to the kubeconfig",
		"config": "changes the kubeconfig",
	})
	add([]string{"systemctl"}, map[string]string{"status": "shows a service", "is-active": "shows a service", "is-failed": "shows a service",
		"list-units": "lists services",
		"cat":        "shows a unit", "show": "shows a unit", "list-jobs": "lists jobs", "--failed": "lists failed services"},
		map[string]string{"restart": "restarts a service", "start": "starts a service", "stop": "stops a service", "reload": "reloads a service",
			"enable":  "enables a service",
			"disable": "disables a service", "mask": "masks a service", "reboot": "reboots the host", "poweroff": "switches the host off",
			"daemon-reload": "reads units again", "reset-failed": "forgets failures"})
	add([]string{"crictl"}, map[string]string{"ps": "lists containers", "pods": "lists pods", "logs": "shows logs", "inspect": "shows a container",
		"inspectp": "shows a pod", "images": "lists images", "info": "shows the runtime", "stats": "shows usage"},
		map[string]string{"rm": "removes containers", "rmp": "removes pods", "stop": "stops containers", "stopp": "stops pods", "rmi": "removes images",
			"pull": "pulls an image", "exec": "runs a command in a container"})
	add([]string{"podman"}, map[string]string{"ps": "lists containers", "logs": "shows logs", "inspect": "shows a container", "images": "lists images"},
		map[string]string{"run": "starts a container", "image prune": "removes images", "image rm": "removes images", "rmi": "removes images",
			"system prune": "removes images, containers and networks", "system reset": "removes all of podman's images and containers",
			"volume prune": "removes volumes", "volume rm": "removes volumes", "container prune": "removes containers", "pod rm": "removes pods",
			"kill": "stops containers", "restart": "restarts containers", "start": "starts containers", "rm": "removes containers", "stop": "stops containers",
			"pull": "pulls an image", "login": "writes credentials", "exec": "runs a command in a container"})
	add([]string{"etcdctl"}, map[string]string{"member list": "lists the members", "endpoint": "asks the members", "alarm list": "lists alarms",
		"get": "reads keys"},
		map[string]string{"member remove": "removes a member", "member add": "adds a member", "put": "writes keys", "del": "deletes keys",
			"defrag":       "defragments; the member is blocked meanwhile",
			"alarm disarm": "disarms alarms", "snapshot": "saves or restores a backup", "move-leader": "moves the leader"})
	add([]string{"openshift-install"}, map[string]string{"wait-for": "waits for the installation", "agent wait-for": "waits for the installation",
		"gather": "saves logs of the hosts", "version": "shows the version", "explain": "shows fields", "analyze": "reads a log bundle"},
		map[string]string{"create": "creates files or a cluster", "destroy": "destroys the cluster", "agent": "creates files"})
	add([]string{"rpm-ostree"}, map[string]string{"status": "shows deployments", "db": "shows packages", "kargs": "shows kernel arguments"},
		map[string]string{"rebase": "changes the operating system", "rollback": "changes the operating system", "upgrade": "changes the operating system",
			"install": "changes the operating system", "reset": "changes the operating system"})
	add([]string{"ipmitool"}, map[string]string{"sel": "shows the event log", "sdr": "shows sensors", "mc": "shows the BMC",
		"lan": "shows the network of the BMC", "power status": "shows the power", "chassis status": "shows the power",
		"chassis power status": "shows the power", "fru": "shows the hardware", "sensor": "shows sensors", "sol info": "shows the serial console"},
		map[string]string{"": "controls the host through its BMC"})
	add([]string{"virsh"}, map[string]string{"list": "lists machines", "dominfo": "shows a machine", "console": "opens the console",
		"domstate": "shows a machine", "dumpxml": "shows a machine", "domblklist": "lists disks", "domiflist": "lists interfaces",
		"net-list": "lists networks"},
		map[string]string{"": "controls virtual machines"})
	add([]string{"nmcli"}, map[string]string{"con show": "shows connections", "c show": "shows connections", "connection show": "shows connections",
		"device": "shows devices", "dev": "shows devices", "general": "shows the state"},
		map[string]string{"": "changes the network of the host"})
	add([]string{"chronyc"}, map[string]string{"sources": "shows time servers", "tracking": "shows the clock", "sourcestats": "shows time servers",
		"activity": "shows time servers"},
		map[string]string{"makestep": "sets the clock", "": "controls chrony"})
	add([]string{"rollcall"}, map[string]string{"": "shows something"},
		map[string]string{"fix apply": "carries a plan out", "fix resume": "continues a repair", "fix undo": "undoes a repair",
			"csr approve": "approves certificate requests"})
	for _, n := range []string{"journalctl", "openssl", "ping", "nc", "dig", "nslookup", "getent", "ip", "ss", "netstat", "df", "ls", "cat", "stat", "date",
		"timedatectl", "hostname",
		"uname", "dmesg", "lsblk", "traceroute", "tracepath", "arping", "ps", "env", "echo", "lsof", "blkid", "sha256sum", "sleep",
		"grep", "head", "tail", "jq", "yq", "base64", "find", "host", "mount", "free", "ethtool", "lspci"} {
		add([]string{n}, map[string]string{"": "shows something"}, nil)
	}
	for n, does := range map[string]string{"touch": "creates a file", "rm": "removes files", "mv": "moves files", "cp": "copies files", "ln": "links files",
		"chmod": "changes rights of files", "chown": "changes owners of files",
		"reboot": "reboots the host", "shutdown": "switches the host off", "poweroff": "switches the host off", "halt": "stops the host",
		"kill":  "ends processes",
		"pkill": "ends processes", "killall": "ends processes",
		"wipefs": "wipes a disk", "dd": "writes raw data", "mkfs": "formats a disk", "mkfs.xfs": "formats a disk", "mkfs.ext4": "formats a disk",
		"sgdisk": "changes partitions", "sfdisk": "changes partitions", "parted": "changes partitions", "blkdiscard": "wipes a disk",
		"iptables":   "changes the firewall",
		"nft":        "changes the firewall",
		"restorecon": "changes labels of files", "vi": "edits a file", "vim": "edits a file", "nano": "edits a file", "scp": "copies files between hosts",
		"rsync":            "copies files between hosts",
		"coreos-installer": "writes a disk or an image", "helm": "changes releases", "hypershift": "changes hosted clusters", "hcp": "changes hosted clusters",
		"gcloud": "changes the cloud", "aws": "changes the cloud",
		"cluster-restore.sh": "restores etcd from a backup", "quorum-restore.sh": "restores the quorum of etcd"} {
		add([]string{n}, nil, map[string]string{"": does})
	}
	curl := m["journalctl"]
	curl.name, curl.judge = "curl", judgeCurl
	m["curl"] = curl
	add([]string{"export"}, map[string]string{"": "sets a variable in this shell"}, nil)
	oc := m["oc"]
	oc.judge = func(words []string) (Effect, string) { return judgeDebug(m, oc, words) }
	m["oc"], m["kubectl"] = oc, oc
	for _, n := range []string{"ssh", "chroot", "bash", "sh"} {
		m[n] = program{name: n, judge: func(words []string) (Effect, string) { return inner(m, words) }}
	}
	return m
}

// byVerb judges by the first words that are no flags.
func (p program) byVerb(words []string) (Effect, string) {
	var verbs []string
	for i := 0; i < len(words) && len(verbs) < 3; i++ {
		w := words[i]
		if strings.HasPrefix(w, "-") {
			if _, ok := p.reads[w]; ok {
				return Reads, p.reads[w]
			}
			if len(w) == 2 && !strings.Contains(w, "=") && i+1 < len(words) && p.name != "journalctl" {
				i++ // the value of a short flag
			}
			continue
		}
		verbs = append(verbs, w)
	}
	for n := len(verbs); n > 0; n-- {
		verb := strings.Join(verbs[:n], " ")
		if does, ok := p.reads[verb]; ok {
			return Reads, does
		}
		if does, ok := p.changes[verb]; ok {
			if p.name == "oc" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--dry-run") && w != "--dry-run=none" }) {
				return Reads, "tries a change without making it"
			}
			if verb == "csr approve" && !slices.Contains(words, "--yes") {
				return Reads, "shows what it would approve"
			}
			return Changes, does
		}
	}
	if does, ok := p.reads[""]; ok {
		return Reads, does
	}
	if does, ok := p.changes[""]; ok {
		return Changes, does
	}
	return Unknown, ""
}

// maxDeep is how many words behind its -- a command in a debug pod may have before a further --.
const maxDeep = 100

// judgeDebug also says what the command in a debug pod does.
func judgeDebug(programs map[string]program, oc program, words []string) (Effect, string) {
	effect, does := oc.byVerb(words)
	if !slices.Contains(words, "debug") {
		return effect, does
	}
	i := slices.Index(words, "--")
	if i < 0 || i+1 == len(words) {
		return Changes, "opens a shell in a debug pod with full rights on the node; each command in it can be asked separately"
	}
	if deep := words[i+1:]; len(deep) > maxDeep && slices.Contains(deep[maxDeep:], "--") { // debug pods in debug pods: each would read all the others
		return Changes, does
	}
	inside, what := inner(programs, words[i+1:])
	switch inside {
	case Reads:
		return Changes, "starts a debug pod on the node and removes it after; the command in it only reads: it " + what
	case Changes:
		return Changes, "changes the node through a debug pod: it " + what
	}
	return Changes, does
}

// judgeCurl: a request without data and with no method of its own reads.
func judgeCurl(words []string) (Effect, string) {
	for i, w := range words {
		name, method, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			method = words[i+1]
		}
		switch {
		case name == "-X" || name == "--request":
			if method != "" && !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, strings.ToUpper(method)) {
				return Changes, "sends a request that changes something"
			}
		case name == "-d" || strings.HasPrefix(name, "--data") || name == "-T" || name == "--upload-file" || name == "-F":
			return Changes, "sends data"
		}
	}
	return Reads, "sends a request"
}

// inner judges the command that another program runs.
func inner(programs map[string]program, words []string) (Effect, string) {
	for i, w := range words {
		if p, ok := programs[w[strings.LastIndexByte(w, '/')+1:]]; ok && p.name != "host" && w != "bash" && w != "sh" {
			return p.judge(words[i+1:])
		}
	}
	if len(words) == 1 && strings.HasPrefix(words[0], "/") {
		return Reads, "opens a shell in the file system of the host"
	}
	return Unknown, "runs a command somewhere else"
}

// NearVerb is the known verb of a program that is nearest to the first word of a call, "" where the
// word is known or none is near.
func (c *Call) NearVerb() string {
	p := programs[c.Program]
	if len(c.Args) == 0 {
		return ""
	}
	parent := ""
	if c.Args[0] == "adm" && len(c.Args) > 1 {
		parent = "adm "
	}
	word := strings.Fields(strings.Join(c.Args, " "))[len(strings.Fields(parent))]
	var list []string
	for _, verbs := range []map[string]string{p.reads, p.changes} {
		for v := range verbs {
			rest, ok := strings.CutPrefix(v, parent)
			if rest, _, _ = strings.Cut(rest, " "); !ok || rest == "" {
				continue
			}
			if rest == word {
				return ""
			}
			list = append(list, rest)
		}
	}
	slices.Sort(list)
	if near := suggest.Nearest(word, slices.Compact(list)); near != "" {
		return parent + near
	}
	return ""
}

// Verbs reports whether the program of a call does nothing without a verb.
func (c *Call) Verbs() bool {
	p := programs[c.Program]
	_, reads := p.reads[""]
	_, changes := p.changes[""]
	return len(p.reads)+len(p.changes) > 0 && !reads && !changes
}
