package repair

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// RemoveMember removes one member of etcd whose host stays off.
const RemoveMember ActionName = "remove-member"

// MemberDead: member Subject is unhealthy and its host is off; all others are healthy and enough.
const MemberDead GuardName = "etcd-member-dead"

const removeDeadMember = "remove-dead-etcd-member"

// MemberAsk is which member of etcd is removed, and the backup that was made for it. With the
// name a person confirms that the host of the member stays off.
type MemberAsk struct {
	Name   string
	Backup string // a snapshot on this machine
}

var memberID = regexp.MustCompile(`^[0-9a-f]{1,16}$`)

func memberFields() []string { return []string{"/metadata/uid", "/spec/name", "/spec/peerURLs"} }

// removeMember removes one member of etcd whose host stays off. The operator does the
// same where the Machine API works and the Machine is deleted, or where neither Machine nor
// Node is left (openshift/cluster-etcd-operator:
// pkg/operator/clustermemberremovalcontroller/clustermemberremovalcontroller.go
// attemptToScaleDown, removeMemberWithoutMachine); the documentation has it done by hand
// elsewhere (openshift/openshift-docs: modules/restore-replace-stopped-baremetal-etcd-member.adoc).
func removeMember() action {
	return action{
		name:     RemoveMember,
		remedies: []remedy{{id: removeDeadMember, rights: memberRights(), asks: "--remove-member HOST --etcd-backup FILE"}},
		plan:     planRemoval,
		check: func(s Step) error {
			if !memberID.MatchString(s.Args.Object) {
				return fmt.Errorf("args.object %q is not the ID of a member", s.Args.Object)
			}
			if s.Args.Remedy != removeDeadMember {
				return fmt.Errorf("args.remedy %q removes no member", s.Args.Remedy)
			}
			return need(map[string]string{"host": s.Args.Host, "content": s.Args.Content, "backup": s.Args.Backup})
		},
		remedyOf: func(a Args) string { return a.Remedy },
		guards: func(a Args) []Guard {
			return []Guard{{Guard: MemberDead, Subject: a.Object}, {Guard: OthersAtRest, Subject: a.Host}, {Guard: FreshBackup, Subject: a.Content}}
		},
		reads: func(a Args) []readRule {
			return []readRule{{object: memberRef(a.Object), fields: memberFields()}}
		},
		describe: describeRemoval,
		prepare:  prepareRemoval,
		seen: func(ctx context.Context, e env, s Step) (bool, string, error) {
			_, err := e.api.Get(ctx, memberRef(s.Args.Object))
			if apierrors.IsNotFound(err) {
				return true, "", nil
			}
			return false, "the member is still in the list", nil
		},
		dependants: func(context.Context, env, Step, Write) (string, error) {
			return "a member that was removed cannot be added again with its data; its host joins as a new member", nil
		},
		leavesRoot: true, // the cause why the host is off
	}
}

// memberRights: members are asked and removed by etcdctl in a pod of etcd.
func memberRights() []Access {
	list := append(access(nodeRef(""), "", "get", "list"), access(etcdRef(), "", "get")...)
	list = append(list, findHostRights()...)
	list = append(list, access(podRef(openshift.EtcdNamespace, ""), "", "list")...)
	return append(list, access(podRef(openshift.EtcdNamespace, ""), "exec", "create")...)
}

func prepareRemoval(ctx context.Context, e env, s Step) (*act, string, error) {
	ref := memberRef(s.Args.Object)
	o, err := e.api.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		return nil, "member " + s.Args.Object + " is gone", nil
	case err != nil:
		return nil, "", refuse("the members of etcd could not be read: %v", err)
	}
	w, why, err := e.deletion(ref, o)
	if w != nil {
		w.Inverse, w.preImage = "none: a member that was removed cannot come back with its data", []byte("a member of etcd")
		w.diff = fmt.Sprintf("--- %s (%s)\n+++ (removed)\n", ref, s.Args.Host)
	}
	return w, why, err
}

// removable returns the member if it may be removed, by what etcd itself shows: all others are
// started, healthy and voting, three or more vote, and there is no alarm.
func removable(list []Object, id, name string) (Object, error) {
	var target Object
	healthy, voters := 0, 0
	for _, o := range list {
		have, state := stringAt(o, "spec", "name"), stringAt(o, "status", "health")
		learner := boolAt(o, "spec", "learner")
		if !learner {
			voters++
		}
		if v, _ := fieldAt(o, "/status/alarms"); canonical(v) != nil {
			return nil, refuse("etcd has raised an alarm: %v", v).instead("end the alarm first")
		}
		switch {
		case stringAt(o, "metadata", "name") == id:
			if have != name {
				return nil, refuse("member %s is %s, not %s", id, orNone(have), name).instead("make a new plan")
			}
			if state != memberUnhealthy {
				return nil, refuse("member %s (%s) is %s; only one that does not answer is removed", id, name, orNone(state))
			}
			if learner {
				return nil, refuse("member %s (%s) is a learner, which the operator itself removes or promotes", id, name)
			}
			target = o
		case state != memberHealthy || learner:
			also := ""
			if learner {
				also = " and a learner"
			}
			return nil, refuse("member %s (%s) is %s%s; all others must be healthy and vote before one is removed",
				stringAt(o, "metadata", "name"), orNone(have), orNone(state), also).
				instead("repair that one first")
		default:
			healthy++
		}
	}
	if target == nil {
		return nil, refuse("etcd has no member %s", id).instead("make a new plan")
	}
	if voters < leastMembers {
		return nil, refuse("etcd has %d voting members: without this one a single failure is the loss of the API", voters).
			instead("bring the host back, or follow the restore of the quorum (`rollcall explain restore-etcd-quorum`)")
	}
	if healthy < (voters-1)/2+1 {
		return nil, refuse("%d healthy members are not a quorum of %d", healthy, voters-1)
	}
	return target, nil
}

// guardMemberDead also compares the member with its Node, and refuses a host that may come back
// with the old data: one that is Ready, or that is on by its BareMetalHost.
func guardMemberDead(ctx context.Context, e env, s Step, g Guard) (string, error) {
	list, err := e.api.List(ctx, memberRef(""))
	if err != nil {
		return "", refuse("the members of etcd could not be read, so it is not known whether it is safe: %v", err)
	}
	target, err := removable(list, g.Subject, s.Args.Host)
	if err != nil {
		return "", err
	}
	if err := e.noRollout(ctx, s.Args.Host); err != nil {
		return "", err
	}
	nodes, err := e.api.List(ctx, nodeRef(""))
	if err != nil {
		return "", refuse("nodes could not be listed, so it is not known whether the host is down: %v", err)
	}
	host := "there is no Node of that name"
	for _, n := range nodes {
		if !inventory.SameName(stringAt(n, "metadata", "name"), s.Args.Host) {
			continue
		}
		if isTrue(n, "Ready") {
			return "", refuse("Node %s is Ready: its host is there, and so is the data of the member", s.Args.Host).
				instead("repair its etcd on the host")
		}
		if !hasAddress(n, peerAddress(target)) {
			return "", refuse("the member's address %s is not one of Node %s", orNone(peerAddress(target)), s.Args.Host).instead("find out whose member it is")
		}
		host = "its Node is not Ready"
	}
	power, err := e.hostIsOn(ctx, s.Args.Host)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("member %s (%s) does not answer, %s, %s; all %d others are healthy", g.Subject, s.Args.Host, host, power, len(list)-1), nil
}

// noRollout refuses while a revision of etcd is installed on another node.
func (e env) noRollout(ctx context.Context, host string) error {
	etcd, err := e.read(ctx, etcdRef())
	if err != nil {
		return err
	}
	for _, n := range nodeStatuses(etcd) {
		if name, _ := n["nodeName"].(string); !inventory.SameName(name, host) && intAt(n, "targetRevision") > intAt(n, "currentRevision") {
			return refuse("a revision of etcd is being installed on %s", name).instead("wait until it is")
		}
	}
	return nil
}

// hostIsOn refuses a host that its BareMetalHost shows as on; where none shows the power, a
// person has confirmed that the host stays off. The field is false, too, where the power is not
// read: without a BMC the host stays "unmanaged", and a detached one is not checked
// (metal3-io/baremetal-operator: apis/metal3.io/v1alpha1 BareMetalHostStatus.PoweredOn without
// omitempty; internal/controller/metal3.io host_state_machine.go).
func (e env) hostIsOn(ctx context.Context, host string) (string, error) {
	name, err := bareMetalHostOf(ctx, e.api, host)
	if err != nil {
		return "that its host is off is the word of a person (no BareMetalHost shows it)", nil
	}
	o, err := e.read(ctx, bareMetalHostRef(name))
	if err != nil {
		return "", err
	}
	state := stringAt(o, "status", "provisioning", "state")
	if stringAt(o, "spec", "bmc", "address") == "" || state == "" || state == "unmanaged" || stringAt(o, "status", "operationalStatus") == "detached" {
		return fmt.Sprintf("that its host is off is the word of a person (BareMetalHost %s shows no power state)", name), nil
	}
	if on, there := fieldAt(o, "/status/poweredOn"); !there || on != false {
		return "", refuse("BareMetalHost %s is not known to be off (status.poweredOn): the host could come back with the old data", name).
			instead("switch it off at its BMC and set spec.online to false")
	}
	return "its BareMetalHost is off", nil
}

func peerAddress(member Object) string {
	v, _ := fieldAt(member, "/spec/peerURLs")
	list, _ := v.([]any)
	if len(list) != 1 {
		return ""
	}
	text, _ := list[0].(string)
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	if host, _, err := net.SplitHostPort(u.Host); err == nil {
		return host
	}
	return u.Hostname()
}

func hasAddress(node Object, address string) bool {
	want, err := netip.ParseAddr(address)
	v, _ := fieldAt(node, "/status/addresses")
	list, _ := v.([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		text, _ := m["address"].(string)
		if have, bad := netip.ParseAddr(text); bad == nil && err == nil && have == want {
			return true
		}
	}
	return false
}

func describeRemoval(s *Step) {
	s.Subject, s.Risk, s.Proof = "members/"+s.Args.Object, fault.RiskDataLoss, ProvedInLab
	s.Title = fmt.Sprintf("remove member %s of etcd, which is that of %s", s.Args.Object, s.Args.Host)
	s.RiskText = "until a new member has joined, one more that fails takes the quorum; the data of this member is given up"
	s.OC = fmt.Sprintf("oc -n %s exec ETCD_POD -c etcdctl -- etcdctl member remove %s   # a pod of another node", openshift.EtcdNamespace, s.Args.Object)
	s.PreImage = "none but the backup, " + s.Args.Backup
	s.Inverse = "none: a member that was removed cannot come back with its data; the backup restores the cluster"
	s.Expect.Text = "etcd no longer lists the member"
}

// planRemoval plans the removal of the member that a person named.
func planRemoval(ctx context.Context, d *draft) error {
	while := d.remedies[removeDeadMember]
	if len(while) == 0 {
		return nil
	}
	switch {
	case d.ask.From != "":
		d.leaveOut("%s is not in this plan: the members are asked in the running cluster", removeDeadMember)
		return nil
	case d.ask.Member.Name == "":
		d.leaveOut("%s is not in this plan: where the host of the member stays away for good, name it with --remove-member HOST and the backup with "+
			"--etcd-backup FILE", removeDeadMember)
		return nil
	case d.ask.Member.Backup == "":
		d.leaveOut("%s is not in this plan: make a backup now (%s), copy its snapshot to this machine, and name it with --etcd-backup FILE",
			removeDeadMember, backupCommand)
		return nil
	}
	snapshot, err := readSnapshot(d.ask.Member.Backup)
	if err != nil {
		return err
	}
	list, err := d.API.List(ctx, memberRef(""))
	if err != nil {
		return fmt.Errorf("list members of etcd: %w", err)
	}
	for _, o := range list {
		name, id := stringAt(o, "spec", "name"), stringAt(o, "metadata", "name")
		if name != d.ask.Member.Name {
			continue
		}
		if _, err := removable(list, id, name); err != nil {
			d.leaveOut("%s is not in this plan: %s", removeDeadMember, reasonOf(err))
			return nil
		}
		rd, err := reading(memberRef(id), o, memberFields()...)
		if err != nil {
			return err
		}
		d.add(Step{Action: RemoveMember, Reads: []Reading{rd}, While: while, Deadline: minutes(5),
			Args: Args{Remedy: removeDeadMember, Object: id, Host: name, Content: snapshot.digest, Backup: snapshot.path}})
		d.note("afterwards the Secrets etcd-peer-%[1]s, etcd-serving-%[1]s and etcd-serving-metrics-%[1]s are deleted, and the host is installed again"+
			" as a new member, by the documentation of your version. That the backup is of this cluster was not checked", name)
		d.note("where the Machine API works, the operator removes the member by itself when its Machine is deleted")
		return nil
	}
	var names []string
	for _, o := range list {
		names = append(names, orNone(stringAt(o, "spec", "name")))
	}
	d.leaveOut("%s is not in this plan: etcd has no member %s; its members are %s", removeDeadMember, d.ask.Member.Name, strings.Join(names, ", "))
	return nil
}
