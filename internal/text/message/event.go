package message

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/text/logline"
	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// event is an event of Kubernetes, as `oc get events` and `oc describe` print it.
type event struct {
	line            int
	text            []byte
	warning         bool
	age             time.Duration // since it was seen last; unknownAge where that is not printed
	reason, message string
	object          string // kind/name, "" where it is not printed
	namespace       string
	count           int           // how often it was seen, 0 where it is not printed
	over            time.Duration // for how long it was seen again, 0 where that is not printed
	from            string        // what reports it, "" where it is not printed
	node            string        // the host to which its pod was assigned, "" where no event says it
	described       bool          // it is of oc describe: what that prints is in the text
}

const unknownAge = time.Duration(math.MaxInt64)

// An event of a start is trouble only when it was seen again and again, and any event is past
// when others are much newer.
const (
	startingTimes = 5
	startsFor     = 5 * time.Minute
	eventPast     = time.Hour
	eventNew      = 30 * time.Minute
)

// startEvents are warnings that every cluster has while pods start, stop and move: trouble
// only when they do not end. quietEvents are warnings about nothing that fails.
var (
	startEvents = set("Unhealthy", "ProbeError", "FailedMount", "FailedAttachVolume", "NetworkNotReady", "FailedCreatePodSandBox", "BackOff", "FailedKillPod",
		"FailedPreStopHook", "NodeNotReady", "FailedToUpdateEndpoint", "FailedToUpdateEndpointSlices", "FailedToCreateEndpoint", "FailedScheduling",
		"ProbeWarning", "ErrorReconcilingNode", "ErrorUpdatingResource", "FailedUpdate")
	quietEvents = set("Rebooted", "InvalidDiskCapacity", "DNSConfigForming", "TopologyAwareHintsDisabled", "FastControllerResync", "OwnerRefInvalidNamespace",
		"ClusterInfrastructureStatus", "UnsupportedConfigOverrides", "ReportEtcdMembersErrorUpdatingStatus",
		"AlreadyPresent", "NoPods", "CalculateExpectedPodCountFailed")
	// placing are warnings that a pod has no node or gets no volume: its start does not go on before they end, and an
	// event of the same pod says so.
	placing = set("FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedScheduling")
	// restEvents end no warning of their object.
	restEvents = set("Pulling", "BackOff", "Killing", "Pulled", "SuccessfulDelete")
)

// beginning are reasons of what is tried, such as EnsuringLoadBalancer and Pulling: they end no warning.
var beginning = regexp.MustCompile(`^[A-Z][a-z]+ing(?:[A-Z]|$)`)

// row reads an event from a row of a table.
func (t *table) event(line []byte) (event, bool) {
	cells, ok := octable.Row(strings.TrimRight(string(line), " \r\n"), t.columns)
	if !ok {
		return event{}, false
	}
	get := func(name string) string {
		if i, ok := t.at[name]; ok {
			return cells[i]
		}
		return ""
	}
	e := event{warning: get("TYPE") == "Warning", reason: get("REASON"), message: get("MESSAGE"),
		object: get("OBJECT"), namespace: cmp.Or(get("NAMESPACE"), t.in), age: unknownAge}
	if get("TYPE") != "Warning" && get("TYPE") != "Normal" || e.reason == "" || strings.Contains(e.reason, " ") {
		return event{}, false
	}
	if e.object == "" && get("KIND") != "" {
		name, _, _ := strings.Cut(get("NAME"), ".")
		e.object = strings.ToLower(get("KIND")) + "/" + name
	}
	if age, ok := octable.Age(cmp.Or(get("LAST SEEN"), get("LASTSEEN"), get("AGE"))); ok {
		e.age = age
	}
	e.count, _ = strconv.Atoi(get("COUNT"))
	return e, true
}

var describedEvent = regexp.MustCompile(`^\s*(Warning|Normal)\s{2,}([A-Z][A-Za-z]+)\s{2,}(\S+)(?: \(x(\d+) over ([^\s)]+)\))?\s{2,}(\S[^\s].*?)\s{2,}(\S.*)$`)

// describedRow reads an event from a row of `oc describe`.
func describedRow(line []byte) (event, bool) {
	m := describedEvent.FindSubmatch(bytes.TrimRight(line, " \r\n"))
	if m == nil {
		return event{}, false
	}
	e := event{warning: m[1][0] == 'W', reason: string(m[2]), message: string(m[7]), age: unknownAge, from: string(m[6]), described: true}
	if age, ok := octable.Age(string(m[3])); ok {
		e.age = age
	}
	e.over, _ = octable.Age(string(m[5]))
	e.count, _ = strconv.Atoi(string(m[4]))
	return e, true
}

// described is the object that the command "oc describe KIND NAME" names, as kind/name, and its namespace.
func described(command []byte) (object, namespace string) {
	var args []string
	words := strings.Fields(string(command))
	for i := slices.Index(words, "describe") + 1; i > 0 && i < len(words); i++ {
		flag, value, has := strings.Cut(words[i], "=")
		switch {
		case flag == "-n" || flag == "--namespace":
			if !has && i+1 < len(words) {
				i++
				value = words[i]
			}
			namespace = value
		case !strings.HasPrefix(flag, "-"):
			args = append(args, words[i])
		}
	}
	if len(args) == 0 {
		return "", namespace
	}
	kind, name, ok := strings.Cut(args[0], "/")
	if !ok && len(args) > 1 {
		name = args[1]
	}
	if name == "" {
		return "", namespace
	}
	return singular(kind) + "/" + name, namespace
}

// beginsEvent reports whether a line can be an event of `oc describe`.
func beginsEvent(line []byte) bool {
	m := bytes.TrimLeft(line, " ")
	return bytes.HasPrefix(m, []byte("Warning  ")) || bytes.HasPrefix(m, []byte("Normal  "))
}

// alone reports whether events are a few of one object, as somebody pastes them to ask about it. In a list of
// all events warnings of a start say nothing.
func alone(list []event) bool {
	const few = 20
	return len(list) <= few && !slices.ContainsFunc(list, func(e event) bool { return e.object != list[0].object })
}

// addEvents makes errors of the warnings that are not known and not past. Ready: the text shows that an object is ready.
// Of waiting pods, by their names, the text shows that they are not scheduled: their events are not of a start.
func (f *found) addEvents(list []event, known map[int]bool, ready bool, waiting map[string]string) {
	asked := alone(list) && !ready
	nothingElse := len(f.states)+len(f.errors) == 0
	newest := unknownAge
	ends, scheduled := map[string]time.Duration{}, map[string]time.Duration{}
	nodes := map[string]string{}
	for _, e := range list {
		newest = min(newest, e.age)
		if e.warning {
			continue
		}
		if m := assignedTo.FindStringSubmatch(e.message); m != nil && e.reason == "Scheduled" {
			nodes[e.object] = m[1]
		}
		to := ends
		if e.reason == "Scheduled" {
			to = scheduled
		} else if restEvents[e.reason] || beginning.MatchString(e.reason) {
			continue
		}
		if have, ok := to[e.object]; !ok || e.age < have {
			to[e.object] = e.age
		}
	}
	for _, e := range list {
		if !e.warning || known[e.line] || quietEvents[e.reason] {
			continue
		}
		end, ended := ends[e.object]
		ended = ended && end <= e.age && e.reason != "BackOff"
		if e.reason == "FailedScheduling" {
			at, ok := scheduled[e.object]
			ended = ended || ok && at <= e.age
		}
		_, waits := waiting[strings.TrimPrefix(e.object, "pod/")]
		waits = waits && e.reason == "FailedScheduling"
		old := e.age != unknownAge && e.age > eventPast && newest < eventNew && !waits
		starts := startEvents[e.reason] && e.count < startingTimes && (e.reason != "FailedScheduling" || e.age < podStarts)
		starts = starts && !(asked && (placing[e.reason] && nothingElse || e.age != unknownAge && max(e.age, e.over) >= startsFor)) && !heldElsewhere(e)
		if ended || old || starts && !waits {
			continue
		}
		e.message, e.node = whole(list, e), nodes[e.object]
		f.addEvent(e)
	}
}

// heldElsewhere reports whether a volume cannot be attached because another node or pod has it: that does not end by itself
// (kubernetes/kubernetes:pkg/controller/volume/attachdetach/reconciler/reconciler.go reportMultiAttachError).
func heldElsewhere(e event) bool {
	return e.reason == "FailedAttachVolume" && strings.HasPrefix(e.message, "Multi-Attach error")
}

// dropEnded drops what messages show in lines of events about volumes and nodes of pods that a later event of the same
// pod ends.
func (f *found) dropEnded(x *Index, list []event) {
	var ended []int
	for _, e := range list {
		if e.warning && placing[e.reason] && slices.ContainsFunc(list, func(later event) bool {
			return !later.warning && later.object == e.object && later.age <= e.age && !restEvents[later.reason] && !beginning.MatchString(later.reason) &&
				(later.reason != "Scheduled" || e.reason == "FailedScheduling")
		}) {
			ended = append(ended, e.line)
		}
	}
	if len(ended) > 0 {
		f.hits = slices.DeleteFunc(f.hits, func(h hit) bool { return x.rules[h.rule].Normal == "" && slices.Contains(ended, h.line) })
	}
}

// whole is the message of an event. Where it was cut, an earlier one of the same object has the rest.
func whole(list []event, e event) string {
	best := e.message
	for _, other := range list {
		if other.object == e.object && other.reason == e.reason && len(other.message) > len(best) && strings.HasPrefix(other.message, best) {
			best = other.message
		}
	}
	return best
}

// schedulingNext is what to look at, by the scheduler's own reason (kubernetes/kubernetes:pkg/scheduler/framework/plugins: nodeunschedulable,
// tainttoleration, nodeports, nodeaffinity, noderesources, volumebinding).
var schedulingNext = []struct{ says, next string }{
	{"free ports for the requested pod ports", "another pod holds the host port on each node that fits: oc get pods -n NAMESPACE -o wide. More replicas than " +
		"such nodes: as long as the others run nothing is missing, and the number of replicas can be lowered"},
	{"were not ready", nodesNext}, {"node.kubernetes.io/not-ready", nodesNext}, {"node.kubernetes.io/unreachable", nodesNext},
	{"were unschedulable", "oc get nodes: SchedulingDisabled is a node that is cordoned, by a person or for an update: oc describe node NODE shows since when"},
	{"Insufficient ", resourcesNext}, // before the taint, which control-plane nodes always have
	{"untolerated taint", "the message has the taint: oc get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints shows who has it. A taint that " +
		"a controller sets (node.kubernetes.io/*, node.cloudprovider.kubernetes.io/*) ends with its reason, and is not removed by hand"},
	{"node affinity", "oc get pod POD -n NAMESPACE -o yaml: nodeSelector and affinity; oc get nodes --show-labels: no node has these labels"},
	{"is being deleted", pvcNext},
	{"persistentvolumeclaim", "oc get pvc -n NAMESPACE: a claim of that name has to be there before the pod gets a node; who deployed the pod makes it"},
	{"unbound immediate PersistentVolumeClaims", "oc get pvc,pv -n NAMESPACE, then oc describe pvc: its events have the reason"},
}

// pvcNext is said of a claim that is being deleted while a pod needs it.
const pvcNext = "oc describe pvc -n NAMESPACE: it stays, with its finalizer kubernetes.io/pvc-protection, until no pod of Used By is left; " +
	"then who deployed the pod re-creates it. oc get pv: the reclaim policy of its volume decides whether the data goes with it"

// nodesNext is said where the nodes are the reason, and not what they have to give.
const nodesNext = "the nodes are the reason: oc get nodes -o wide, then oc describe node of one that is not ready. Its condition Ready has the reason; " +
	"after that the pods of the network on it, and the journal of its kubelet"

const resourcesNext = "oc describe nodes shows what is requested on each; give the nodes what is short, or lower the requests"

// nextOfScheduling is what to look at for a pod that is not scheduled.
func nextOfScheduling(e event) string {
	for _, s := range schedulingNext {
		if strings.Contains(e.message, s.says) {
			_, name, _ := strings.Cut(e.object, "/")
			return strings.NewReplacer("NAMESPACE", cmp.Or(e.namespace, "NAMESPACE"), "POD", cmp.Or(name, "POD")).Replace(s.next)
		}
	}
	return resourcesNext
}

func (f *found) addEvent(e event) {
	says := e.reason + ": " + e.message
	s := state{namespace: e.namespace}
	if kind, name, ok := strings.Cut(e.object, "/"); ok {
		s.kind, s.name = strings.ToLower(kind), name
		says = s.kind + " " + name + ": " + says
	}
	if e.reason == "FailedScheduling" { // it says why
		s.says, s.why, s.line, s.text = e.reason+": "+e.message, true, e.line, string(bytes.TrimRight(e.text, "\r\n"))
		s.next = nextOfScheduling(e)
		f.states = append(f.states, s)
		return
	}
	l := logline.Line{Level: logline.Error, Form: logline.State, Message: []byte(e.reason + ": " + e.message)}
	form := f.addError(e.line, e.text, l, nil)
	form.says, form.next = says, e.next(s)
}

// assignedTo is what the scheduler says of the host that it chose (kubernetes/kubernetes:pkg/scheduler/schedule_one.go).
var assignedTo = regexp.MustCompile(`^Successfully assigned \S+ to (\S+)`)

// noContainer are warnings of a pod of which no container has run: it has no log
// (kubernetes/kubernetes:pkg/kubelet/events/event.go).
var noContainer = set("FailedCreatePodSandBox", "FailedMount", "FailedMapVolume", "FailedAttachVolume", "NetworkNotReady")

// next is what to look at for a warning that nobody knows: nothing that the text has already, and no log where there is none.
func (e event) next(s state) string {
	host := cmp.Or(e.node, "NODE")
	switch {
	case e.reason == "FailedCreatePodSandBox":
		return "the words behind the last colon are the reason: the container runtime of the host refuses before any container runs, so the pod has no log. " +
			"On " + host + ": sudo journalctl -u crio --no-pager -n 50. oc get pods -A -o wide --field-selector spec.nodeName=" + host +
			" shows whether other new pods of the host start"
	case noContainer[e.reason]:
		return "the words behind the last colon are the reason; no container has run, so the pod has no log. On " + host +
			": sudo journalctl -u kubelet --no-pager -n 50"
	case !e.described:
		return s.describe()
	case s.kind == "pod":
		_, logs, _ := strings.Cut(s.describe(), "; ")
		return logs
	case e.from != "":
		return "the message of the event is the reason; " + e.from + " reports it: its log has what went before"
	}
	return s.describe()
}
