package etcd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// answers is the fact etcd-answers: what etcd itself told a must-gather. It is asked
// through one etcd pod that runs; without one there are no answers
// (openshift/must-gather:collection-scripts/gather_etcd).
type answers struct {
	Members   facts.Field[[]string] `cel:"members"`   // names; NAME-PENDING-... for one that never started
	Unhealthy facts.Field[[]string] `cel:"unhealthy"` // addresses that did not answer in time
	Healthy   facts.Field[int]      `cel:"healthy"`   // addresses through which etcd answered: it then has a quorum
	Alarm     facts.Field[string]   `cel:"alarm"`     // NOSPACE, CORRUPT, or "" for none
	On        facts.Field[string]   `cel:"on"`        // the members that raised it
	LargestMB facts.Field[int64]    `cel:"largestMB"` // of the members' databases
}

var answersFact = facts.Define("etcd-answers", fault.Cluster, "what etcd itself answered: members, health, alarms",
	[]evidence.Need{answersNeed}, readAnswers)

var answersNeed = evidence.Objects(evidence.EtcdAnswers, "")

// alarms are the values of AlarmType (etcd-io/etcd:api/etcdserverpb/rpc.proto).
var alarms = map[string]string{"1": "NOSPACE", "2": "CORRUPT", "NOSPACE": "NOSPACE", "CORRUPT": "CORRUPT"}

func readAnswers(ctx context.Context, w *facts.World, _ fault.Subject) (answers, error) {
	var a answers
	list, err := w.Some(ctx, evidence.EtcdAnswers, "")
	if err != nil {
		return a, err
	}
	answers := map[string]evidence.Object{}
	for _, o := range list {
		answers[o.Name] = o
	}
	miss := func(name string, fields ...facts.Setter) {
		detail := "no " + name + " of etcd"
		if o, ok := answers[name]; ok {
			detail = fmt.Sprintf("%s of etcd: %s", name, cmp.Or(evidence.String(o.Content, "error"), "it is not what etcdctl prints"))
		}
		_ = facts.Miss(&evidence.Unavailable{
			Need:   answersNeed,
			Why:    evidence.NotCollected,
			Detail: detail,
			Supply: evidence.Supply{Kind: evidence.SupplyMustGather},
		}, fields...)
	}
	names, ok := a.listed(answers["member_list"])
	if !ok {
		miss("member_list", &a.Members)
	}
	if !a.health(answers["endpoint_health"]) {
		miss("endpoint_health", &a.Unhealthy, &a.Healthy)
	}
	if !a.sizes(answers["endpoint_status"]) {
		miss("endpoint_status", &a.LargestMB)
	}
	if !a.alarms(answers["alarm_list"], names) {
		miss("alarm_list", &a.Alarm, &a.On)
	}
	return a, nil
}

// listed returns the names of members by their IDs.
func (a *answers) listed(o evidence.Object) (map[string]string, bool) {
	list, ok := evidence.Field(o.Content, "answer", "members").([]any)
	names := map[string]string{}
	var members []string
	for _, e := range list {
		m, is := e.(map[string]any)
		if !is {
			continue
		}
		name := evidence.String(m, "name")
		if peers, _ := m["peerURLs"].([]any); name == "" && len(peers) > 0 {
			// as the operator calls it: openshift/cluster-etcd-operator:pkg/etcdcli/health.go
			// GetMemberNameOrHost
			name = fmt.Sprintf("NAME-PENDING-%v", peers[0])
		}
		names[fmt.Sprint(m["ID"])] = name
		members = append(members, name)
	}
	slices.Sort(members)
	if ok {
		a.Members.Set(members, o.Shows("answer.members", strings.Join(members, ", "), time.Time{}))
	}
	return names, ok
}

// health reads which addresses answered. Those of sockets never do from outside. One is
// healthy where a linearizable read through it succeeded, which needs a quorum
// (etcd-io/etcd:etcdctl/ctlv3/command/ep_command.go epHealthCommandFunc).
func (a *answers) health(o evidence.Object) bool {
	list, ok := evidence.Field(o.Content, "answer").([]any)
	var unhealthy []string
	var healthy []string
	for _, e := range list {
		m, _ := e.(map[string]any)
		endpoint := evidence.String(m, "endpoint")
		is, known := m["health"].(bool)
		if is {
			healthy = append(healthy, endpoint)
		}
		if known && !is && strings.HasPrefix(endpoint, "http") {
			unhealthy = append(unhealthy, endpoint)
			a.Unhealthy.Prove(o.Shows("", endpoint+" is not healthy: "+evidence.String(m, "error"), time.Time{}))
		}
	}
	slices.Sort(unhealthy)
	a.Unhealthy.Set(unhealthy)
	if ok {
		a.Healthy.Set(len(healthy), o.Shows("answer", fmt.Sprintf("%d of %d endpoints are healthy", len(healthy), len(list)), time.Time{}))
	}
	if ok && len(unhealthy) == 0 {
		a.Unhealthy.Prove(o.Shows("answer", fmt.Sprintf("%d endpoints are healthy", len(list)), time.Time{}))
	}
	return ok
}

func (a *answers) sizes(o evidence.Object) bool {
	list, ok := evidence.Field(o.Content, "answer").([]any)
	var largest int64
	for _, e := range list {
		m, _ := e.(map[string]any)
		largest = max(largest, evidence.Int(m, "Status", "dbSize")/1e6)
	}
	if ok {
		a.LargestMB.Set(largest, o.Shows("", fmt.Sprintf("the largest database has %d MB", largest), time.Time{}))
	}
	return ok
}

// alarms reads which alarms are raised; CORRUPT goes before NOSPACE. Without one
// etcdctl prints an object without the field.
func (a *answers) alarms(o evidence.Object, names map[string]string) bool {
	answer, ok := evidence.Field(o.Content, "answer").(map[string]any)
	if _, failed := answer["error"]; !ok || failed {
		return false
	}
	list, _ := answer["alarms"].([]any)
	by := map[string][]string{}
	for _, e := range list {
		m, _ := e.(map[string]any)
		kind := alarms[fmt.Sprint(m["alarm"])]
		if kind == "" {
			continue
		}
		id := fmt.Sprint(m["memberID"])
		name := cmp.Or(names[id], "member "+id)
		by[kind] = append(by[kind], name)
		facts.Prove(o.Shows("answer.alarms", kind+" of "+name, time.Time{}), &a.Alarm, &a.On)
	}
	for _, kind := range []string{"CORRUPT", "NOSPACE"} {
		if on := by[kind]; len(on) > 0 {
			slices.Sort(on)
			a.Alarm.Set(kind)
			a.On.Set(strings.Join(slices.Compact(on), ", "))
			return true
		}
	}
	none := o.Shows("", "no alarm", time.Time{})
	a.Alarm.Set("", none)
	a.On.Set("", none)
	return true
}
