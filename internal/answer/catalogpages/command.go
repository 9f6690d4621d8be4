package catalogpages

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// used is a command in a step, without its arguments.
type used struct {
	program string
	words   []string // verb, and the kind of object where the verb alone says little
}

func (u used) String() string { return strings.Join(append([]string{u.program}, u.words...), " ") }

// The words that are found in commands.
var (
	shellWords = []string{"sudo", "do", "done", "then", "else", "fi", "if", "while", "until", "in", "!", "{", "}", "watch", "time", "exec", "xargs", "nohup"}
	loopWords  = []string{"for", "case", "esac", "true", "false", "read", "set", "export", "exit"}
	// withVerb are programs whose first words say what they do.
	withVerb = []string{"oc", "kubectl", "rollcall", "systemctl", "crictl", "podman", "etcdctl", "openshift-install", "rpm-ostree", "hypershift",
		"nmcli", "ip", "skopeo", "virtctl", "nmstatectl", "coreos-installer"}
	// withKind are verbs of oc that are followed by a kind of object.
	withKind = []string{"get", "describe", "delete", "edit", "patch", "annotate", "label", "scale", "logs", "create", "debug"}
	// withSecond are words after which another verb follows.
	withSecond = []string{"adm", "certificate", "policy", "release", "ocp-certificates", "rollout", "auth", "config", "image", "csr", "fix", "member",
		"endpoint", "alarm", "agent", "set", "wait-for", "create", "snapshot", "connection", "device"}
	// withValue are flags whose value is a word of its own.
	withValue = []string{"-n", "--namespace", "-c", "--kubeconfig", "--context", "--dir", "-l", "-f", "-o", "--log-level", "-p", "--as", "-u"}
	// filters only shape what another command prints, or write a text.
	filters = []string{"grep", "egrep", "head", "tail", "sort", "uniq", "awk", "sed", "cut", "tr", "wc", "jq", "yq", "column", "base64", "tee",
		"echo", "printf", "cat", "sh", "env", "umask"}
	plainWord = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)
	assigned  = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	heredoc   = regexp.MustCompile(`<<-?\s*['"]?(\w+)['"]?`)
)

// kinds are short or singular names of kinds, by the name in the index.
var kinds = map[string]string{
	"node": "nodes", "pod": "pods", "po": "pods", "co": "clusteroperators", "clusteroperator": "clusteroperators", "bmh": "baremetalhosts",
	"baremetalhost": "baremetalhosts", "mcp": "machineconfigpools", "machineconfigpool": "machineconfigpools", "mc": "machineconfigs",
	"machineconfig": "machineconfigs", "machine": "machines", "machineset": "machinesets", "secret": "secrets", "configmap": "configmaps", "cm": "configmaps",
	"deployment": "deployments", "deploy": "deployments", "hostedcluster": "hostedclusters", "nodepool": "nodepools", "service": "services", "svc": "services",
	"namespace": "namespaces", "ns": "namespaces", "agent": "agents", "infraenv": "infraenvs", "event": "events", "daemonset": "daemonsets", "ds": "daemonsets",
}

// commandsOf lists the commands of a step: of pipes, of command substitutions and those
// that run on a host or in a container, too.
func commandsOf(text string) []used {
	var list []used
	for _, words := range split(withoutHeredocs(text)) {
		list = append(list, commandOf(words)...)
	}
	return list
}

// withoutHeredocs drops what is input of a command.
func withoutHeredocs(text string) string {
	var kept []string
	end := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if end != "" {
			if strings.TrimSpace(line) == end {
				end = ""
			}
			continue
		}
		if m := heredoc.FindStringSubmatch(line); m != nil {
			end = m[1]
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// split takes a text apart into simple commands and these into words. Quoted text is part
// of a word.
func split(text string) [][]string {
	var list [][]string
	var words []string
	word, quote := "", rune(0)
	endWord := func() {
		if word != "" {
			words = append(words, word)
		}
		word = ""
	}
	end := func() {
		endWord()
		if len(words) > 0 {
			list = append(list, words)
		}
		words = nil
	}
	var before rune
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote = r
		case r == '(' && before == '$':
			word = strings.TrimSuffix(word, "$")
			end()
		case strings.ContainsRune("\n;|()", r), r == '&' && before != '>':
			end()
		case r == ' ' || r == '\t':
			endWord()
		default:
			word += string(r)
		}
		before = r
	}
	end()
	return list
}

// commandOf names one simple command, and the one that it starts elsewhere.
func commandOf(words []string) []used {
	for len(words) > 0 && (slices.Contains(shellWords, words[0]) || assigned.MatchString(words[0]) || strings.HasPrefix(words[0], "-")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	program := path.Base(words[0])
	if !plainWord.MatchString(program) || slices.Contains(loopWords, program) {
		return nil
	}
	words = words[1:]
	var inner []used
	if at := slices.Index(words, "--"); at >= 0 {
		inner = commandOf(elsewhere(words[at+1:]))
		words = words[:at]
	}
	u := used{program: program}
	if slices.Contains(withVerb, program) {
		u.words = verbOf(words)
	}
	return append([]used{u}, inner...)
}

// elsewhere drops what only leads to a command on a node.
func elsewhere(words []string) []string {
	if len(words) > 1 && words[0] == "chroot" {
		return words[2:]
	}
	return words
}

// verbOf returns the words that say what a program does.
func verbOf(words []string) []string {
	var list []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case slices.Contains(withValue, w):
			i++
			continue
		case strings.HasPrefix(w, "-"):
			continue
		}
		if len(list) > 0 && !slices.Contains(withSecond, list[len(list)-1]) {
			if slices.Contains(withKind, list[len(list)-1]) {
				w, _, _ = strings.Cut(w, "/")
				w, _, _ = strings.Cut(w, ",")
				if name, ok := kinds[w]; ok {
					w = name
				}
				if plainWord.MatchString(w) {
					list = append(list, w)
				}
			}
			return list
		}
		if !plainWord.MatchString(w) {
			return list
		}
		list = append(list, w)
	}
	return list
}
