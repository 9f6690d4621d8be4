package lookup

import (
	"slices"
	"strings"
	"unicode"
)

// same are names of one and the same thing, in questions and on pages alike. The first one
// stands for all of them. Upper and lower case, plurals and the ways of writing two words
// (bare metal, bare-metal, BareMetal) do not matter.
var same = [][]string{
	{"mcp", "machine config pool", "machineconfigpool", "pool"},
	{"mcs", "machine config server"},
	{"mcd", "machine config daemon"},
	{"mco", "machine config operator"},
	{"mcc", "machine config controller"},
	{"mc", "machine config", "machineconfig"},
	{"csr", "certificate signing request", "certificatesigningrequest", "certificate request"},
	{"bmh", "bare metal host", "baremetalhost", "metal host"},
	{"bmo", "bare metal operator", "baremetal operator"},
	{"baremetal", "bare metal"},
	{"co", "cluster operator", "clusteroperator", "operator"},
	{"cvo", "cluster version operator", "cluster version", "clusterversion"},
	{"np", "node pool", "nodepool"},
	{"hcp", "hosted", "hosted cluster", "hostedcluster", "hosted control plane", "hosted controlplane", "hypershift"},
	{"sno", "single node openshift", "single node"},
	{"cp", "control plane", "controlplane", "master"},
	{"kapi", "kube api server", "kube apiserver", "kubeapi", "api server", "apiserver"},
	{"kcm", "kube controller manager"},
	{"ign", "ignition"},
	{"notready", "not ready", "unready"},
	{"cordon", "cordoned", "scheduling disabled", "unschedulable"},
	{"pdb", "pod disruption budget", "poddisruptionbudget", "disruption budget"},
	{"vip", "virtual address", "virtual ip", "virtual ip address", "api vip", "ingress vip"},
	{"ca", "certificate authority", "authority"},
	{"unknown ca", "unknown authority", "unknown ca"},
	{"lb", "load balancer", "loadbalancer"},
	{"dns", "name server", "nameserver", "resolv", "resolver", "resolv conf"},
	{"ntp", "time server", "time source", "chrony", "chronyd", "chronyc"},
	{"disk full", "no space left on device", "no space left", "no space", "disk full", "file system full", "filesystem full", "enospc"},
	{"power off", "power off", "powered off", "switch off", "switched off", "poweroff"},
	{"power on", "power on", "powered on", "switch on", "switched on"},
	{"unreachable", "not reachable", "cannot reach", "does not reach", "not reach", "cannot be reached", "unreachable"},
	{"timeout", "timed out", "time out", "deadline exceeded"},
	{"crashloop", "crash loop", "crash loop back off", "crash loop backoff", "crashloopbackoff"},
	{"oom", "out of memory", "oom killed", "lack of memory"},
	{"image pull", "pull image", "image pull back off", "image pull backoff", "err image pull",
		"imagepullbackoff", "errimagepull", "pulls images", "pull images"},
	{"certificate", "cert"},
	{"mtu"}, {"desync", "out of sync", "mismatch"},
	{"update", "upgrade"},
	{"restore", "recover", "recovery"},
	{"delete", "remove"},
	{"tls", "ssl"},
	{"config", "configuration"},
	{"address", "ip"},
	{"filesystem", "file system"},
	{"hostname", "host name"},
	{"ovn", "ovnkube", "ovn kubernetes"},
	{"cni", "network plugin"},
	{"kubeconfig", "kube config"},
}

// nearby are words that a page may have instead of the one that was asked for. They count
// less than the word itself.
var nearby = map[string][]string{
	"stuck":       {"wait", "hang", "hung", "long", "progress", "loop"},
	"hang":        {"stuck", "wait", "long", "progress"},
	"fail":        {"error", "refuse", "crash", "cannot"},
	"failure":     {"error", "fail"},
	"error":       {"fail"},
	"miss":        {"without", "lost", "gone", "never"},
	"lost":        {"gone", "miss"},
	"pend":        {"wait", "approve"},
	"block":       {"wait", "hold", "refuse", "held"},
	"hold":        {"block", "wait"},
	"drift":       {"differ", "wrong", "skew", "synchronize"},
	"skew":        {"differ", "wrong", "synchronize"},
	"time":        {"clock", "ntp"},
	"clock":       {"time", "ntp"},
	"ntp":         {"clock", "time", "synchronize"},
	"join":        {"register", "node", "first boot"},
	"worker":      {"host", "node"},
	"node":        {"host", "kubelet"},
	"host":        {"node", "bmh"},
	"server":      {"host"},
	"bmh":         {"host", "metal3"},
	"metal3":      {"bmh", "ironic", "baremetal"},
	"hcp":         {"np"},
	"csr":         {"request", "approve"},
	"pdb":         {"evict", "drain"},
	"evict":       {"drain", "pdb"},
	"terminat":    {"delete", "evict"},
	"dns":         {"resolve", "name"},
	"resolve":     {"dns"},
	"unauthoriz":  {"401", "refuse", "credential"},
	"credential":  {"password", "secret"},
	"password":    {"credential"},
	"x509":        {"certificate", "tls"},
	"tls":         {"certificate"},
	"unreachable": {"answer", "hold", "reach", "route"},
	"reach":       {"answer", "route"},
	"lb":          {"haproxy", "keepalived", "backend"},
	"vip":         {"keepalived", "vrrp"},
	"desync":      {"differ", "bootstrap"},
	"degrade":     {"fail", "unavailable"},
	"500":         {"5xx"},
	"503":         {"5xx"},
	"502":         {"5xx"},
	"install":     {"bootstrap"},
	"reinstall":   {"install"},
	"down":        {"stop", "not run"},
	"dead":        {"stop", "unhealthy", "lost"},
	"slow":        {"long", "latency"},
	"sno":         {"cp"},
	"kapi":        {"api"},
	"registry":    {"image pull", "mirror"},
	"reboot":      {"restart", "boot"},
	"idrac":       {"bmc", "redfish"},
	"ilo":         {"bmc", "redfish"},
	"ipmi":        {"bmc", "power"},
	"redfish":     {"bmc"},
	"pxe":         {"boot", "provision"},
	"iso":         {"image", "virtual media"},
	"restore":     {"backup", "replace"},
	"ovn":         {"network"},
	"network":     {"ovn"},
	"ign":         {"mcs"},
	"cvo":         {"update"},
	"shutdown":    {"power off", "off"},
	"outage":      {"power off", "off"},
	"after":       {"when"},
	"loop":        {"stuck", "attempt"},
}

// closest are words that nearly stand for the one that was asked for.
var closest = map[string][]string{
	"cordon":   {"drain"},
	"terminat": {"drain"},
	"ntp":      {"clock"},
	"drift":    {"wrong"},
}

// weak are words of trouble that fit too many pages to say which one is meant, by their stems.
var weak = stemSet(`stuck hang hung fail failed failure error missing wrong lost down broken bad unreachable long wait waiting`)

// silent are words that say nothing about what is asked, as they are written.
var silent = wordSet(`a about after again all also an and any anything are as at be because been before but by can cannot could did do does
	doing don for from get getting got had has have having help here how i if in into is it its just keep kept like m me my need no not now of on
	one only or our out please s should show shows so some still such t tell that the their them then there these they thing this to too try
	up use used uses using very want was we were what when where which while who why will with won would you your cluster openshift
	ocp problem problems issue issues trouble showing troubleshooting diagnose fix test step setup create script manual success sh py md yaml yml txt
	jan feb mar apr jun jul aug sep oct nov dec mon tue wed thu fri sat sun utc`)

// turning are silent words that make another thing of a name.
var turning = wordSet("no not never without all")

func stemSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range stems(words) {
		set[w] = true
	}
	return set
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// vocabulary turns text into terms: the words of the language above, each in one form.
type vocabulary struct {
	phrases map[string]string // words, stemmed, with blanks between -> the term
	longest map[string]int    // by the first word of phrases: words of the longest one
	nearby  map[string][]string
	closest map[string][]string
}

func newVocabulary() *vocabulary {
	v := &vocabulary{phrases: map[string]string{}, longest: map[string]int{}}
	for _, names := range same {
		for _, name := range names {
			words := stems(name)
			v.phrases[strings.Join(words, " ")] = strings.Join(stems(names[0]), " ")
			v.longest[words[0]] = max(v.longest[words[0]], len(words))
		}
	}
	v.nearby, v.closest = v.table(nearby), v.table(closest)
	return v
}

// table is a table of words by their terms.
func (v *vocabulary) table(words map[string][]string) map[string][]string {
	by := map[string][]string{}
	for word, list := range words {
		term := strings.Join(stems(word), " ")
		for _, near := range list {
			by[term] = append(by[term], v.asked(near)...)
		}
	}
	return by
}

// asked are the terms of a question, each once and in its order. One of nothing but silent
// words is asked for by these.
func (v *vocabulary) asked(question string) []string {
	var list []string
	for _, silently := range []bool{true, false} {
		v.each(question, silently, func(term string, part bool) {
			if !part && !slices.Contains(list, term) {
				list = append(list, term)
			}
		})
		if len(list) > 0 {
			break
		}
	}
	return list
}

// each calls a function with the terms of a text. The words of a phrase that is a term are
// parts of it.
func (v *vocabulary) each(text string, silently bool, f func(term string, part bool)) {
	raw := words(text)
	stems := make([]string, len(raw))
	for i := range raw {
		raw[i] = strings.ToLower(raw[i])
		stems[i] = stem(raw[i])
	}
	for i := 0; i < len(stems); {
		n := min(v.longest[stems[i]], len(stems)-i)
		for ; n > 0; n-- {
			term, ok := v.phrases[strings.Join(stems[i:i+n], " ")]
			if !ok {
				continue
			}
			f(term, false)
			for k := i; n > 1 && k < i+n; k++ {
				if !silent[raw[k]] && stems[k] != term {
					f(stems[k], true)
				}
			}
			break
		}
		if n > 0 {
			i += n
			continue
		}
		if len(raw[i]) > 2 && !(silently && silent[raw[i]]) {
			f(stems[i], false)
		}
		i++
	}
}

// turns are the words of a text that make another thing of its name: "approved" and "not
// approved" have the same terms.
func turns(text string) (list []string) {
	for _, w := range words(text) {
		if w = strings.ToLower(w); turning[w] && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return list
}

// stems are the words of a text, in lower case and without endings.
func stems(text string) []string {
	var list []string
	for _, w := range words(text) {
		list = append(list, stem(strings.ToLower(w)))
	}
	return list
}

// words splits a text at what is no letter and no digit, and CamelCase at its humps.
func words(text string) []string {
	var list []string
	runes := []rune(text)
	start := 0
	end := func(i int) {
		if i > start {
			list = append(list, string(runes[start:i]))
		}
		start = i
	}
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end(i)
			start = i + 1
			continue
		}
		if i == start || !unicode.IsUpper(r) {
			continue
		}
		next := rune(0)
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		plural := next == 's' && (i+2 == len(runes) || !unicode.IsLetter(runes[i+2])) // CSRs
		if unicode.IsLower(runes[i-1]) || unicode.IsLower(next) && !plural {
			end(i)
		}
	}
	end(len(runes))
	return list
}

// stem takes the ending off an English word, so that "fails", "failed" and "failing" are one
// word. It is coarse: it only has to treat questions and pages alike.
func stem(w string) string {
	if len(w) < 4 || w == "hosted" { // not of a host
		return w
	}
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "ies"):
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") && !strings.HasSuffix(w, "dns"):
		w = w[:len(w)-1]
	}
	for _, end := range []string{"isations", "izations", "isation", "ization", "ation", "ction", "ing", "ied", "ed", "ion", "al"} {
		if len(w) >= len(end)+4 && strings.HasSuffix(w, end) {
			w = strings.TrimSuffix(w, end)
			switch end {
			case "ied":
				w += "y"
			case "ction":
				w += "ct"
			}
			break
		}
	}
	w = strings.TrimSuffix(w, "e")
	if n := len(w); n > 4 && w[n-1] == w[n-2] && !strings.HasSuffix(w, "ll") && !strings.HasSuffix(w, "ss") { // planned, running
		w = w[:n-1]
	}
	return w
}
