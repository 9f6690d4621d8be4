package etcd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Answers is the fact etcd-answers: what etcd itself told a must-gather. It is asked
// through one etcd pod that runs; without one there are no answers
// (openshift/must-gather:collection-scripts/gather_etcd).
type Answers struct {
	Members   []string `cel:"members"`   // names; NAME-PENDING-... for one that never started
	Unhealthy []string `cel:"unhealthy"` // addresses that did not answer in time
	Alarm     string   `cel:"alarm"`     // NOSPACE, CORRUPT, or "" for none
	On        string   `cel:"on"`        // the members that raised it
	LargestMB int64    `cel:"largestMB"` // of the members' databases
}

var answersFact = facts.DefinePlain("etcd-answers", fault.Cluster, "what etcd itself answered: members, health, alarms",
	[]evidence.Need{answersNeed}, readAnswers)

var answersNeed = evidence.Objects(evidence.EtcdAnswers, "")

// alarms are the values of AlarmType (etcd-io/etcd:api/etcdserverpb/rpc.proto).
var alarms = map[string]string{"1": "NOSPACE", "2": "CORRUPT", "NOSPACE": "NOSPACE", "CORRUPT": "CORRUPT"}

func readAnswers(ctx context.Context, w *facts.World, _ fault.Subject) (Answers, facts.Proof, error) {
	a := Answers{Members: []string{}, Unhealthy: []string{}}
	var p facts.Proof
	list, err := w.List(ctx, evidence.EtcdAnswers, "")
	if err != nil {
		return a, p, err
	}
	answers := map[string]evidence.Object{}
	for _, o := range list {
		answers[o.Name] = o
	}
	miss := func(name string, fields ...string) {
		detail := "no " + name + " of etcd"
		if o, ok := answers[name]; ok {
			detail = fmt.Sprintf("%s of etcd: %s", name, cmp.Or(evidence.String(o.Content, "error"), "it is not what etcdctl prints"))
		}
		for _, field := range fields {
			p.Miss(field, &evidence.Unavailable{Need: answersNeed, Why: evidence.NotCollected, Detail: detail, Supply: "oc adm must-gather"})
		}
	}
	names, ok := a.listed(answers["member_list"], &p)
	if !ok {
		miss("member_list", "members")
	}
	if !a.health(answers["endpoint_health"], &p) {
		miss("endpoint_health", "unhealthy")
	}
	if !a.sizes(answers["endpoint_status"], &p) {
		miss("endpoint_status", "largestMB")
	}
	if !a.alarms(answers["alarm_list"], names, &p) {
		miss("alarm_list", "alarm", "on")
	}
	return a, p, nil
}

// listed returns the names of members by their IDs.
func (a *Answers) listed(o evidence.Object, p *facts.Proof) (map[string]string, bool) {
	list, ok := evidence.Field(o.Content, "answer", "members").([]any)
	names := map[string]string{}
	for _, e := range list {
		m, is := e.(map[string]any)
		if !is {
			continue
		}
		name := evidence.String(m, "name")
		if peers, _ := m["peerURLs"].([]any); name == "" && len(peers) > 0 {
			name = fmt.Sprintf("NAME-PENDING-%v", peers[0]) // as the operator calls it: openshift/cluster-etcd-operator:pkg/etcdcli/health.go GetMemberNameOrHost
		}
		names[fmt.Sprint(m["ID"])] = name
		a.Members = append(a.Members, name)
	}
	slices.Sort(a.Members)
	if ok {
		p.Add(o.Loc.At("answer.members"), strings.Join(a.Members, ", "), time.Time{}, "members")
	}
	return names, ok
}

// health reads which addresses answered. Those of sockets never do from outside.
func (a *Answers) health(o evidence.Object, p *facts.Proof) bool {
	list, ok := evidence.Field(o.Content, "answer").([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		endpoint := evidence.String(m, "endpoint")
		if healthy, known := m["health"].(bool); known && !healthy && strings.HasPrefix(endpoint, "http") {
			a.Unhealthy = append(a.Unhealthy, endpoint)
			p.Add(o.Loc, endpoint+" is not healthy: "+evidence.String(m, "error"), time.Time{}, "unhealthy")
		}
	}
	slices.Sort(a.Unhealthy)
	return ok
}

func (a *Answers) sizes(o evidence.Object, p *facts.Proof) bool {
	list, ok := evidence.Field(o.Content, "answer").([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		a.LargestMB = max(a.LargestMB, evidence.Int(m, "Status", "dbSize")/1e6)
	}
	if ok {
		p.Add(o.Loc, fmt.Sprintf("the largest database has %d MB", a.LargestMB), time.Time{}, "largestMB")
	}
	return ok
}

// alarms reads which alarms are raised; CORRUPT goes before NOSPACE. Without one
// etcdctl prints an object without the field.
func (a *Answers) alarms(o evidence.Object, names map[string]string, p *facts.Proof) bool {
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
		p.Add(o.Loc.At("answer.alarms"), kind+" of "+name, time.Time{}, "alarm", "on")
	}
	for _, kind := range []string{"CORRUPT", "NOSPACE"} {
		if on := by[kind]; len(on) > 0 {
			slices.Sort(on)
			a.Alarm, a.On = kind, strings.Join(slices.Compact(on), ", ")
			return true
		}
	}
	p.Add(o.Loc, "no alarm", time.Time{}, "alarm", "on")
	return true
}
