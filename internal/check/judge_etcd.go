package check

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

const backupFirst = "make a backup of etcd first: sudo /usr/local/bin/cluster-backup.sh /home/core/backup on a healthy control-plane node"

// etcdMembers judge etcdctl.
var etcdMembers = []Judgment{{
	ID: "member-remove", Commands: "etcdctl member remove", Matches: func(c *shellcommand.Call) bool { return c.Is("etcdctl", "member", "remove") },
	Final:   "a member that is removed does not come back under its ID",
	Reads:   []evidence.Need{evidence.Objects(evidence.EtcdAnswers, "")},
	Decide:  decideMemberRemove,
	Sources: []fault.Ref{{Repo: "openshift/openshift-docs", Path: "modules/restore-replace-stopped-etcd-member.adoc"}},
}, {
	ID: "defrag", Commands: "etcdctl defrag", Matches: func(c *shellcommand.Call) bool { return c.Is("etcdctl", "defrag") },
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		s, hosted, err := l.etcd(ctx)
		if err != nil || hosted {
			return nil, hostedEtcd(err)
		}
		d := &decision{verdict: Unsafe, evidence: s.evidence, lost: "nothing", undo: "it ends by itself",
			instead: []string{"leave it to the operator of etcd, which defragments above 45 % by itself"},
			verify:  []string{"etcdctl endpoint status --cluster -w table"}}
		if up, proof, err := l.updating(ctx); err != nil {
			return nil, err
		} else if up != "" {
			d.why, d.evidence = up, proof
			return d, nil
		}
		if why := s.spare(); why != "" {
			d.why = "each member is blocked while it is defragmented, and " + why
			return d, nil
		}
		d.verdict, d.why = Safe, fmt.Sprintf("all %d members are healthy: each is blocked for some seconds, one after the other; take the leader last",
			s.members)
		return d, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/cluster-etcd-operator", Path: "pkg/operator/defragcontroller"}},
}, {
	ID: "etcd-snapshot", Commands: "etcdctl snapshot save", Local: true, Matches: func(c *shellcommand.Call) bool {
		return c.Is("etcdctl", "snapshot", "save") || c.Is("etcdctl", "snapshot", "status")
	},
	Decide: func(context.Context, *look, *shellcommand.Call) (*decision, error) {
		return &decision{verdict: Safe, why: "it writes a file and changes nothing in etcd",
			instead: []string{"cluster-backup.sh also saves the static pods, which a restore needs"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/cluster-etcd-operator", Path: "bindata/etcd/cluster-backup.sh"}},
}, {
	ID: "etcd-write", Commands: "etcdctl put, del, member add, snapshot restore, move-leader, alarm disarm", Matches: func(c *shellcommand.Call) bool {
		return c.Program == "etcdctl" && c.Effect == shellcommand.Changes
	},
	Final: "what is written to etcd past the API cannot be undone",
	Decide: func(context.Context, *look, *shellcommand.Call) (*decision, error) {
		return &decision{verdict: Person, why: "it changes etcd past the API and past its operator", undo: "only from a backup",
			instead: []string{backupFirst, "rollcall diagnose"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/cluster-etcd-operator", Path: "pkg/operator/clustermembercontroller"}},
}}

// hostedEtcd is why a command on etcd is not judged where its cluster runs none.
func hostedEtcd(err error) error {
	if err != nil {
		return err
	}
	return undecidedf("etcd of a hosted cluster runs in its management cluster, and is not read here")
}

func decideMemberRemove(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	s, hosted, err := l.etcd(ctx)
	if err != nil || hosted {
		return nil, hostedEtcd(err)
	}
	d := &decision{verdict: Unsafe, evidence: s.evidence, undo: "none for this ID; the operator adds the node again as a new member, from an empty directory",
		lost: "the member with its data", instead: []string{"rollcall explain replace-control-plane-node", backupFirst},
		verify: []string{"etcdctl member list -w table", "etcdctl endpoint health --cluster"}}
	switch {
	case s.members == 1:
		d.why = "it is the only member: with it all data of the cluster is gone"
		return d, nil
	case len(s.unhealthy) == 0 && s.healthy <= s.quorum:
		d.why = s.spare()
		return d, nil
	}
	if len(c.Args) < 3 || c.Open {
		return nil, errOpen
	}
	name, item, err := l.member(ctx, c.Args[2])
	if err != nil {
		return nil, err
	}
	if d.objects, d.evidence = []string{"etcd member " + name}, append(d.evidence, item); !slices.Contains(s.unhealthy, name) {
		d.why = fmt.Sprintf("%s is healthy: without it %d members are left, none to spare", name, s.healthy-1)
		return d, nil
	}
	d.verdict = Person
	d.why = fmt.Sprintf("%s is unhealthy, and %d of %d members are healthy: it is the step of a replacement. Compare the ID, and make a backup first",
		name, s.healthy, s.members)
	return d, nil
}

// member is the name of the member of an ID, in hex.
func (l *look) member(ctx context.Context, id string) (string, evidence.Item, error) {
	list, err := l.read(ctx, evidence.EtcdAnswers, "")
	if err != nil {
		return "", evidence.Item{}, err
	}
	want, err := strconv.ParseUint(id, 16, 64)
	if err != nil {
		return "", evidence.Item{}, &notThere{what: "etcd member", name: id}
	}
	for _, o := range list {
		members, _ := evidence.Field(o.Content, "answer", "members").([]any)
		for _, m := range members {
			one, _ := m.(map[string]any)
			if fmt.Sprint(one["ID"]) == strconv.FormatUint(want, 10) {
				name, _ := one["name"].(string)
				return name, o.Shows("answer.members", fmt.Sprintf("%s is %s", id, name), l.d.Now), nil
			}
		}
	}
	return "", evidence.Item{}, &undecided{"which member has the ID " + id + " is not known",
		"oc -n openshift-etcd rsh -c etcdctl etcd-NODE etcdctl member list -w table"}
}
