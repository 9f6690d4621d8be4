package message

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// state is what a row of a table, or a condition, says of one object: what is wrong with it,
// or what it still waits for.
type state struct {
	line                  int
	text                  string // the line
	kind, name, namespace string // of the object, "" where not known
	says                  string // what is wrong
	age, detail           string // how long or how old, and what the object itself says; behind says
	next                  string // the command that shows more
	waits                 bool   // no trouble yet: it is on its way
	why                   bool   // it says why
	stopped               bool   // a unit that was stopped; its host is in the place of the namespace
	effect                bool   // it only counts what other objects show
	blank                 bool   // its row has only a name
	bare                  bool   // and no blanks behind it
	hasSince              bool   // of an operator: old is how long it has been as it is
	unreported            bool   // an operator whose conditions are all Unknown
	roles, version        string // of a node
	old                   time.Duration
}

// table is the table of oc that lines are in.
type table struct {
	columns []octable.Column
	at      map[string]int // the place of a column, by name
	kind    string         // of its objects, as its command names it, "" where not known
	in      string         // the namespace that its command names
	states  []int          // columns that say how an object is
	events  bool
	skip    bool // rules of the catalog know the whole of such a table
}

// How long an object may be on its way before a table that still shows it so is trouble. A
// table shows only how old the object is.
const (
	podStarts    = 10 * time.Minute
	setJoins     = 30 * time.Minute
	machineJoins = 2 * time.Hour
	installEnds  = time.Hour
)

// stateColumns are columns whose cell is a word for how an object is.
var stateColumns = set("STATE", "STATUS", "PHASE", "PROVISIONING STATUS", "PROVISIONSTATUS", "OPERATIONAL STATUS", "HEALTH", "HEALTH STATUS", "ERROR", "ERRORS",
	"REASON", "CONDITION", "CONDITIONS", "RESULT", "STAGE", "POWERSTATE", "SYNC STATUS", "INSTALL STATUS", "LAST ERROR", "ERROR MESSAGE", "FAILURE")

// goodColumns are columns that are True where all is well, badColumns those that are True in
// trouble.
var (
	goodColumns = set("READY", "AVAILABLE", "HEALTHY", "JOINED", "SYNCED", "ESTABLISHED", "CONNECTED", "RECONCILED")
	badColumns  = set("DEGRADED", "FAILING", "FAILED", "UNHEALTHY", "STALLED")
)

// errorColumns are columns in which each text is trouble: they are empty where all is well.
var errorColumns = set("ERROR", "ERRORS", "LAST ERROR", "ERROR MESSAGE", "FAILURE")

// beginsTable reports whether a line can be the heading of a table: it begins in capitals.
func beginsTable(line []byte) bool {
	if len(line) < 12 {
		return false
	}
	for _, c := range line[:3] {
		if (c < 'A' || c > 'Z') && c != ' ' {
			return false
		}
	}
	for _, c := range line {
		if c >= 'a' && c <= 'z' {
			return false
		}
	}
	return bytes.Contains(line, []byte("NAME")) || bytes.Contains(line, []byte("REASON"))
}

// newTable reads the heading of a table; nil where the line is none, or none that says how
// its objects are. Command is what is above it.
func newTable(line, command []byte) *table {
	head := strings.TrimRight(string(line), "\r\n")
	t := &table{columns: octable.Columns(head), at: map[string]int{}}
	for i, c := range t.columns {
		t.at[c.Name] = i
	}
	t.events = t.has("TYPE", "REASON", "MESSAGE")
	if !t.events && !t.has("NAME") || len(t.columns) < 2 {
		return nil
	}
	t.skip = t.has("ROLES", "STATUS", "VERSION") || t.has("CONFIG", "UPDATED", "DEGRADED") || t.has("AVAILABLE", "PROGRESSING", "DEGRADED", "SINCE") ||
		t.has("REQUESTOR", "CONDITION")
	for i, c := range t.columns {
		if stateColumns[c.Name] || goodColumns[c.Name] || badColumns[c.Name] || c.Name == "EXTERNAL-IP" {
			t.states = append(t.states, i)
		}
	}
	t.of(command)
	return t
}

func (t *table) has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { _, ok := t.at[c]; return !ok })
}

// of takes the kind and the namespace from the command above a table, else the kind from its
// columns.
func (t *table) of(command []byte) {
	words := strings.Fields(string(command))
	for i, w := range words {
		switch next := append(words[i+1:], "")[0]; {
		case w == "get" || w == "describe":
			if t.kind == "" && !strings.HasPrefix(next, "-") && !strings.ContainsAny(next, ",") && next != "all" {
				t.kind, _, _ = strings.Cut(next, "/")
			}
		case w == "-n" || w == "--namespace":
			t.in = next
		case strings.HasPrefix(w, "--namespace="):
			t.in = strings.TrimPrefix(w, "--namespace=")
		case strings.HasPrefix(w, "-n") && len(w) > 2:
			t.in = w[2:]
		}
	}
	if t.kind = singular(t.kind); t.kind != "" {
		return
	}
	for _, k := range []struct {
		kind    string
		columns []string
	}{
		{"pod", []string{"READY", "STATUS", "RESTARTS"}}, {"baremetalhost", []string{"CONSUMER", "ONLINE"}},
		{"clusterversion", []string{"VERSION", "AVAILABLE", "PROGRESSING", "STATUS"}},
		{"machine", []string{"PHASE", "REGION"}}, {"machine", []string{"STATE", "REGION"}},
		{"machineset", []string{"DESIRED", "CURRENT", "READY", "AVAILABLE", "AGE"}},
		{"deployment", []string{"READY", "UP-TO-DATE"}}, {"managedcluster", []string{"HUB ACCEPTED"}}, {"nodepool", []string{"DESIRED NODES"}},
		{"pvc", []string{"CAPACITY", "STORAGECLASS", "VOLUME"}}, {"hostedcluster", []string{"KUBECONFIG", "PROGRESS"}},
		{"apiservice", []string{"SERVICE", "AVAILABLE"}},
		{"node", []string{"ROLES", "STATUS", "VERSION"}}, {"machineconfigpool", []string{"CONFIG", "UPDATED", "DEGRADED"}},
		{"clusteroperator", []string{"AVAILABLE", "PROGRESSING", "DEGRADED", "SINCE"}}, {"csr", []string{"REQUESTOR", "CONDITION"}},
		{"agent", []string{"CLUSTER", "APPROVED", "ROLE", "STAGE"}}, {"machines.cluster.x-k8s.io", []string{"CLUSTER", "NODENAME", "PHASE"}},
		{"clusterdeployment", []string{"INFRAID"}}, {"namespace", []string{"DISPLAY NAME"}},
	} {
		if t.has(k.columns...) {
			t.kind = k.kind
			return
		}
	}
}

// singular is a kind as somebody types it, without its plural: it stands before one name.
func singular(kind string) string {
	kind = strings.ToLower(kind)
	name, _, _ := strings.Cut(kind, ".")
	switch {
	case len(name) < 4, name == "dns", strings.HasSuffix(name, "ss"), strings.HasSuffix(name, "us"):
	case strings.HasSuffix(name, "ies"):
		name = strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "sses"), strings.HasSuffix(name, "shes"):
		name = strings.TrimSuffix(name, "es")
	default:
		name = strings.TrimSuffix(name, "s")
	}
	if name == "po" {
		name = "pod"
	}
	return name
}

// row reads a row: which object it is of, with a sentence where that is not well. Nil for a
// line that is none.
func (t *table) row(line []byte) *state {
	cells, ok := octable.Row(octable.Unmarked(strings.TrimRight(withoutTree(line), " \r\n")), t.columns)
	if !ok {
		return nil
	}
	get := func(name string) string {
		if i, ok := t.at[name]; ok {
			return cells[i]
		}
		return ""
	}
	s := &state{text: string(bytes.TrimRight(line, "\r\n")), kind: t.kind, name: get("NAME"), namespace: cmp.Or(get("NAMESPACE"), t.in)}
	if kind, name, ok := strings.Cut(s.name, "/"); ok {
		kind = kind[strings.LastIndexByte(kind, ' ')+1:] // "ControlPlane - KubeadmControlPlane/name"
		s.kind, s.name = singular(kind), name
	}
	if s.name == "" || !rowName.MatchString(s.name) {
		return nil
	}
	switch {
	case !t.skip:
		t.judge(s, cells, get)
	case t.kind == "clusteroperator" || t.kind == "co":
		t.operator(s, get)
	case t.has("ROLES", "STATUS", "VERSION"):
		s.kind, s.roles, s.version = "node", get("ROLES"), get("VERSION")
		s.old, _ = octable.Age(get("AGE"))
	}
	return s
}

// withoutTree is a row without the lines by which clusterctl describe and kubectl tree draw what belongs to
// what, one blank for each character, so that its cells stay below the names of their columns.
func withoutTree(line []byte) string {
	text := string(line)
	if !strings.ContainsAny(text, "├└│") {
		return text
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("├└│─", r) {
			return ' '
		}
		return r
	}, text)
}

// judge gives an object the sentence that its cells make, where it is not well.
func (t *table) judge(s *state, cells []string, get func(string) string) {
	age, aged := octable.Age(cmp.Or(get("SINCE"), get("AGE")))
	since := cmp.Or(get("SINCE"), get("AGE"))
	status := cmp.Or(get("STATUS"), get("PHASE"))
	if isDone(status) {
		return
	}
	says := t.counts(get)
	for _, i := range t.states {
		name, value := t.columns[i].Name, cells[i]
		if desired, err := strconv.Atoi(wanted(get)); name == "READY" && value == "" && err == nil && desired > 0 {
			value = "0" // a MachineSet has no number of none
		}
		if value == "" || s.kind == "clusterversion" && name == "STATUS" {
			continue
		}
		word, waits := t.cell(s.kind, name, value, age, aged, get)
		if word == "" {
			continue
		}
		if aged && (waits || goodColumns[name] || !inTrouble(value)) {
			if s.age = ", and it is " + since + " old"; t.has("SINCE") {
				s.age = " for " + since
			}
		}
		says, s.waits = append(says, word), waits && (s.waits || len(says) == 0)
	}
	if len(says) == 0 {
		return
	}
	s.says = strings.Join(slices.Compact(says), ", ")
	s.effect = strings.Contains(says[0], " are READY")
	if s.kind == "clusterversion" && get("STATUS") != "" {
		s.detail = ": " + get("STATUS")
	}
	for _, more := range []string{"MESSAGE", "PROVISIONDETAILS", "DETAILS", "REASON"} {
		if value := get(more); value != "" && !strings.Contains(s.says, value) && s.kind != "pod" {
			s.detail = ": " + value
			break
		}
	}
	s.next = s.describe()
}

// counts says what the cells of a NodePool and of an Agent show that no word in them says.
func (t *table) counts(get func(string) string) (says []string) {
	want, err := strconv.Atoi(get("DESIRED NODES"))
	have, err2 := strconv.Atoi(cmp.Or(get("CURRENT NODES"), "0"))
	if err == nil && err2 == nil && have < want {
		says = append(says, fmt.Sprintf("it has %d of %d nodes", have, want))
	}
	if get("APPROVED") == "false" && get("CLUSTER") != "" {
		says = append(says, "APPROVED is false, so it is not installed")
	}
	return says
}

// isDone reports whether a pod or a job ran to its end.
func isDone(status string) bool {
	return status == "Completed" || status == "Succeeded" || status == "Complete"
}

// cell is what a cell says of trouble in words, "" where it says none. Waits: it is on its
// way, and not for long.
func (t *table) cell(kind, column, value string, age time.Duration, aged bool, get func(string) string) (says string, waits bool) {
	is := fmt.Sprintf("%s is %s", column, value)
	first, _, _ := strings.Cut(value, " ")
	switch {
	case errorColumns[column]:
		if _, err := strconv.Atoi(value); err == nil || strings.EqualFold(value, "false") ||
			strings.EqualFold(value, "no") || strings.EqualFold(value, "none") || value == "-" {
			return "", false
		}
		if t.has("AGE") && column == t.columns[len(t.columns)-2].Name {
			if _, isAge := octable.Age(value); isAge { // the cells have moved
				return "", false
			}
		}
		return is, false
	case badColumns[column]:
		return when(first == "True", is), false
	case column == "EXTERNAL-IP" && value == "<pending>":
		return when(get("TYPE") == "LoadBalancer" && (age >= podStarts || !aged), "nothing gives its LoadBalancer an address"), false
	case column == "READY" && strings.Contains(value, "/"):
		ready, of, _ := strings.Cut(value, "/")
		n, err := strconv.Atoi(of)
		if err != nil || n == 0 || ready == of || t.has("STATUS") && get("STATUS") != "Running" ||
			age < podStarts && (aged || t.has("AGE")) {
			return "", false
		}
		return is, false
	case goodColumns[column] && (first == "False" || first == "Unknown"):
		if first == "False" && get("PROGRESSING") == "True" && aged && age < installEnds {
			return is, true
		}
		if first == "False" && get("SEVERITY") == "Info" { // of Cluster API: it is on its way
			return is, true
		}
		return is, false
	case goodColumns[column]:
		have, err := strconv.Atoi(value)
		want, err2 := strconv.Atoi(wanted(get))
		least := podStarts
		if kind == "machineset" {
			least = setJoins
		}
		if column != "READY" || err != nil || err2 != nil || have >= want || age < least && (aged || t.has("AGE")) {
			return "", false
		}
		return fmt.Sprintf("%d of %d are READY", have, want), false
	case inTrouble(value) && !strings.Contains(value, "SchedulingDisabled"):
		return is, false
	}
	words := wordsOf(value)
	if len(words) == 0 { // an empty cell, or a dash
		return "", false
	}
	switch words[0] {
	case "pending", "container", "pod", "init": // ContainerCreating, PodInitializing, Init:0/2
		if (column == "STATUS" || column == "PHASE") && (kind == "pod" || kind == "pvc" || kind == "persistentvolumeclaim") &&
			aged && age >= podStarts && value != "Initialized" {
			return is, false
		}
	case "provisioning", "provisioned":
		if column == "PHASE" && strings.HasPrefix(kind, "machine") && aged && age >= machineJoins {
			return is, false
		}
	}
	return "", false
}

// wanted is how many replicas an object is to have, "" where no cell shows it.
func wanted(get func(string) string) string { return cmp.Or(get("DESIRED"), get("REPLICAS")) }

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// describe is the command that shows the whole of an object.
func (s *state) describe() string {
	if s.name == "" {
		return ""
	}
	space := ""
	if s.namespace != "" {
		space = " -n " + s.namespace
	}
	command := "oc describe " + cmp.Or(s.kind, "KIND") + " " + s.name + space
	switch s.kind {
	case "pod":
		command += "; oc logs " + s.name + space + " --previous"
	case "machine":
		command += "; oc logs -n openshift-machine-api deploy/machine-api-controllers -c machine-controller"
	case "managedcluster":
		command += "; on that cluster: oc get pods -n open-cluster-management-agent"
	}
	return command
}
