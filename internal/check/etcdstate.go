package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/etcd"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// etcdState is how etcd stands, by its operator.
type etcdState struct {
	healthy, members, quorum int
	unhealthy                []string
	evidence                 []evidence.Item
}

// etcd reads the state of etcd. hosted is true where this cluster runs no etcd itself.
func (l *look) etcd(ctx context.Context) (s etcdState, hosted bool, err error) {
	fact := etcd.Fact()
	v := l.w.Compute(ctx, fact, fault.Subject{Kind: fault.Cluster})
	if v.Err != nil {
		if _, unavailable := evidence.AsUnavailable(v.Err); unavailable {
			return s, false, v.Err
		}
		return s, true, nil
	}
	for name, to := range map[string]*int{"available": &s.healthy, "members": &s.members, "quorum": &s.quorum} {
		if *to, err = fieldOf[int](fact, v, name); err != nil {
			return s, false, err
		}
	}
	if s.unhealthy, err = fieldOf[[]string](fact, v, "unhealthy"); err != nil {
		return s, false, err
	}
	s.evidence = v.Proof([]int{fieldIndex(fact, "available")})
	return s, false, nil
}

func fieldIndex(f facts.Fact, name string) int {
	return slices.IndexFunc(f.Fields, func(t fault.FieldType) bool { return t.Name == name })
}

func fieldOf[T any](f facts.Fact, v facts.Value, name string) (out T, err error) {
	i := fieldIndex(f, name)
	if i < 0 {
		return out, fmt.Errorf("fact %s has no field %s", f.Name, name)
	}
	value, err := v.Field(i)
	if err != nil {
		return out, err
	}
	out, _ = value.(T)
	return out, nil
}

// quorumLost says that etcd is known to have no quorum: then nothing can be written. "" where it is not.
func (l *look) quorumLost(ctx context.Context) (string, []evidence.Item) {
	if f, ok := l.present("etcd-no-quorum"); ok {
		return "etcd has no quorum: the API cannot write, and no member can be spared", f.Evidence
	}
	if s, hosted, err := l.etcd(ctx); err == nil && !hosted && s.healthy < s.quorum {
		return fmt.Sprintf("etcd has no quorum (%d of %d members are healthy): the API cannot write, and no member can be spared", s.healthy,
			s.members), s.evidence
	}
	return "", nil
}

// without says what is left of etcd when the member on a node stops; bad is true where that is
// not enough, or leaves none to spare when another one is missing already.
func (s etcdState) without(node string) (why string, bad bool) {
	left := s.healthy
	if !slices.Contains(s.unhealthy, node) {
		left--
	}
	members := fmt.Sprintf("%d members are left", left)
	if left == 1 {
		members = "1 member is left"
	}
	switch {
	case s.members == 1:
		return "it is the only etcd member: the API stops with it", true
	case left < s.quorum && len(s.unhealthy) > 0:
		return fmt.Sprintf("etcd has no member to spare: %s is unhealthy, without %s %s and %d are needed, so the API stops", strings.Join(s.unhealthy, ", "),
			node, members, s.quorum), true
	case left < s.quorum:
		return fmt.Sprintf("etcd has no member to spare: it has %d, without %s %s and %d are needed, so the API stops", s.members, node, members,
			s.quorum), true
	}
	return fmt.Sprintf("%d of %d etcd members stay, %d are needed", left, s.members, s.quorum), false
}

// spare is why no member can be spared, "" where one can.
func (s etcdState) spare() string {
	switch {
	case s.members == 1:
		return "it is the only etcd member: the API stops with it"
	case len(s.unhealthy) > 0:
		return fmt.Sprintf("%s is unhealthy: etcd has no member to spare (%d of %d healthy, %d needed)", strings.Join(s.unhealthy, ", "), s.healthy,
			s.members, s.quorum)
	case s.healthy <= s.quorum:
		return fmt.Sprintf("etcd has no member to spare (%d of %d healthy, %d needed)", s.healthy, s.members, s.quorum)
	}
	return ""
}

// oneAway says whether the control plane stands a control-plane node going away for a while: etcd
// keeps its quorum, and no other control-plane node is away or being changed.
func (l *look) oneAway(ctx context.Context, node string) (why string, bad bool, proof []evidence.Item, err error) {
	s, hosted, err := l.etcd(ctx)
	if err != nil || hosted {
		return "this cluster runs no etcd of its own", false, nil, err
	}
	if why, bad = s.without(node); bad {
		return why, true, s.evidence, nil
	}
	busy, err := l.busy(ctx, node)
	if err != nil {
		return "", false, nil, err
	}
	if busy != "" {
		return busy + ": one control-plane node at a time", true, s.evidence, nil
	}
	return why, false, s.evidence, nil
}

// settled is why nothing that rolls the control plane may be started, "" where it may.
func (l *look) settled(ctx context.Context) (string, []evidence.Item, error) {
	if why, proof, err := l.updating(ctx); err != nil || why != "" {
		return why, proof, err
	}
	list, err := l.all(ctx, evidence.ClusterOperators, "")
	if err != nil {
		return "", nil, err
	}
	for _, o := range list {
		for _, c := range []struct{ kind, want string }{{"Available", "True"}, {"Degraded", "False"}, {"Progressing", "False"}} {
			status, message := condition(o, c.kind)
			if status != "" && status != c.want {
				return fmt.Sprintf("operator %s is not settled: %s=%s %s", o.Name, c.kind, status, evidence.Shorten(message, 120)),
					[]evidence.Item{o.Shows("status.conditions", c.kind+"="+status+" "+message, l.d.Now)}, nil
			}
		}
	}
	s, hosted, err := l.etcd(ctx)
	if err != nil || hosted {
		return "", nil, err
	}
	if len(s.unhealthy) > 0 || s.healthy < s.members {
		return fmt.Sprintf("etcd has %d healthy members of %d (%s)", s.healthy, s.members, strings.Join(s.unhealthy, ", ")), s.evidence, nil
	}
	return "", s.evidence, nil
}

// condition is the status and message of a condition of an object.
func condition(o *evidence.Object, kind string) (status, message string) {
	list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, c := range list {
		m, _ := c.(map[string]any)
		if m["type"] == kind {
			status, _ = m["status"].(string)
			message, _ = m["message"].(string)
		}
	}
	return status, message
}

// updating says that an update runs, "" where none does.
func (l *look) updating(ctx context.Context) (string, []evidence.Item, error) {
	cv, err := l.one(ctx, evidence.ClusterVersions, "", "version")
	if err != nil {
		return "", nil, err
	}
	status, message := condition(cv, "Progressing")
	if status == "" {
		return "", nil, &evidence.Unavailable{Need: evidence.Objects(evidence.ClusterVersions, ""), Why: evidence.NotCollected,
			Detail: "ClusterVersion does not show whether an update runs"}
	}
	if status != "True" {
		return "", nil, nil
	}
	return "an update, or the installation, is under way: " + evidence.Shorten(message, 120),
		[]evidence.Item{cv.Shows("status.conditions", "Progressing=True "+message, l.d.Now)}, nil
}
