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
	count           int // how often it was seen, 0 where it is not printed
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
	// restEvents end no warning of their object.
	restEvents = set("Pulling", "BackOff", "Killing", "Pulled", "SuccessfulDelete")
)

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

var describedEvent = regexp.MustCompile(`^\s*(Warning|Normal)\s{2,}([A-Z][A-Za-z]+)\s{2,}(\S+)(?: \(x(\d+) over \S+\))?\s{2,}(\S[^\s].*?)\s{2,}(\S.*)$`)

// describedRow reads an event from a row of `oc describe`.
func describedRow(line []byte) (event, bool) {
	m := describedEvent.FindSubmatch(bytes.TrimRight(line, " \r\n"))
	if m == nil {
		return event{}, false
	}
	e := event{warning: m[1][0] == 'W', reason: string(m[2]), message: string(m[6]), age: unknownAge}
	if age, ok := octable.Age(string(m[3])); ok {
		e.age = age
	}
	e.count, _ = strconv.Atoi(string(m[4]))
	return e, true
}

// described is the object that the command "oc describe KIND NAME" names, as kind/name.
func described(command []byte) string {
	words := strings.Fields(string(command))
	for i, w := range words {
		if w != "describe" || i+1 == len(words) {
			continue
		}
		kind, name, ok := strings.Cut(words[i+1], "/")
		if !ok && i+2 < len(words) {
			name = words[i+2]
		}
		if name != "" && !strings.HasPrefix(name, "-") {
			return singular(kind) + "/" + name
		}
	}
	return ""
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
func (f *found) addEvents(list []event, known map[int]bool, ready bool) {
	asked := alone(list) && !ready
	newest := unknownAge
	ends, scheduled := map[string]time.Duration{}, map[string]time.Duration{}
	for _, e := range list {
		newest = min(newest, e.age)
		if e.warning {
			continue
		}
		to := ends
		if e.reason == "Scheduled" {
			to = scheduled
		} else if restEvents[e.reason] {
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
		old := e.age != unknownAge && e.age > eventPast && newest < eventNew
		starts := startEvents[e.reason] && e.count < startingTimes && (e.reason != "FailedScheduling" || e.age < podStarts)
		starts = starts && !(asked && e.age != unknownAge && e.age >= startsFor)
		if ended || old || starts {
			continue
		}
		f.addEvent(e)
	}
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
		s.next = "oc describe nodes shows what is requested on each; give the nodes what is short, or lower the requests"
		f.states = append(f.states, s)
		return
	}
	l := logline.Line{Level: logline.Error, Form: logline.State, Message: []byte(e.reason + ": " + e.message)}
	form := f.addError(e.line, e.text, l, nil)
	form.says, form.next = says, s.describe()
}
