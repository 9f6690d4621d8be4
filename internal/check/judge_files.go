package check

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// files judge what is moved and deleted on a host.
var files = []Judgment{{
	ID: "etcd-manifest", Commands: "mv|rm etcd-pod.yaml", Matches: func(c *shellcommand.Call) bool { return away(c, `/etcd-pod\.yaml$`) },
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		n, err := l.hostNode(ctx, c)
		if err != nil {
			return nil, err
		}
		s, hosted, err := l.etcd(ctx)
		if err != nil || hosted {
			return nil, hostedEtcd(err)
		}
		why, bad := s.without(n.Name)
		if !bad {
			left := s.healthy - 1
			if slices.Contains(s.unhealthy, n.Name) {
				left = s.healthy
			}
			why = fmt.Sprintf("the member stops in seconds and %d members are left, none to spare; nobody puts the file back, and a moved file repairs "+
				"no mirror pod", left)
		}
		return &decision{verdict: Unsafe, why: why, evidence: s.evidence, objects: []string{"etcd member " + n.Name}, lost: "nothing on the disk",
			undo: "move the file back",
			instead: []string{"a new revision by its operator: spec.forceRedeploymentReason of etcd/cluster",
				"from 4.18: sudo /usr/local/bin/disable-etcd.sh, where a restore asks for it"},
			verify: []string{"etcdctl endpoint health --cluster"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/cluster-etcd-operator", Path: "bindata/etcd/disable-etcd.sh"}},
}, {
	ID: "static-pod-manifest", Commands: "mv|rm /etc/kubernetes/manifests/*", Matches: func(c *shellcommand.Call) bool {
		return away(c, `^/etc/kubernetes/(manifests|static-pod-resources)(/|$)`)
	},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		n, err := l.hostNode(ctx, c)
		if err != nil {
			return nil, err
		}
		why, bad, proof, err := l.oneAway(ctx, n.Name)
		if err != nil {
			return nil, err
		}
		if !bad {
			why = "the static pod stops on " + n.Name + " until somebody puts the file back; the pods of the others go on"
		}
		return &decision{verdict: Unsafe, why: why, evidence: proof, objects: hostOf(c), undo: "move the file back",
			instead: []string{"a new revision by its operator: spec.forceRedeploymentReason"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/library-go", Path: "pkg/operator/staticpod/installerpod"}},
}, {
	ID: "etcd-data", Commands: "rm|mv /var/lib/etcd", Matches: func(c *shellcommand.Call) bool { return away(c, `^/var/lib/etcd(/|$)`) },
	Final: "the data of an etcd member that is deleted does not come back",
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		n, err := l.hostNode(ctx, c)
		if gone := (*notThere)(nil); asNotThere(err, &gone) || c.Host == "" {
			return &decision{verdict: Person, why: "whether " + hostOf(c)[0] + " has an etcd member is not known: if it has, its data does not come back",
				objects: hostOf(c),
				undo:    "none without a backup", instead: []string{"mv /var/lib/etcd to another name instead of rm", backupFirst}}, nil
		}
		if err != nil {
			return nil, err
		}
		s, hosted, err := l.etcd(ctx)
		if err != nil || hosted {
			return nil, hostedEtcd(err)
		}
		d := &decision{verdict: Unsafe, evidence: s.evidence, objects: []string{"etcd member " + n.Name}, lost: "its data",
			undo:    "none without a backup; a member that is added anew takes the data of the others",
			instead: []string{"rollcall explain replace-control-plane-node", backupFirst}}
		switch {
		case s.members == 1:
			d.why = "it is the only member: its data is the cluster"
		case slices.Contains(s.unhealthy, n.Name):
			d.why = n.Name + " is unhealthy and is still a member: remove the member first, stop its pod, then move the directory away"
		default:
			d.why = fmt.Sprintf("%s is healthy: its member breaks, and %d of %d are left, none to spare", n.Name, s.healthy-1, s.members)
		}
		return d, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/openshift-docs", Path: "modules/restore-replace-stopped-etcd-member.adoc"}},
}, {
	ID: "kubelet-identity", Commands: "rm|mv /var/lib/kubelet/pki, /var/lib/kubelet/kubeconfig, /etc/kubernetes/kubeconfig", Local: true,
	Matches: func(c *shellcommand.Call) bool {
		return away(c, `^(/var/lib/kubelet/(pki|kubeconfig)|/etc/kubernetes/kubeconfig)(/|$)`)
	},
	Decide:  decideIdentity,
	Sources: []fault.Ref{{Repo: "kubernetes/kubernetes", Path: "pkg/kubelet/certificate/bootstrap/bootstrap.go", Symbol: "LoadClientConfig"}},
}, {
	ID: "wipe", Commands: "wipefs, dd, mkfs, sgdisk, parted, blkdiscard, coreos-installer install, rm -rf /var/lib/kubelet", Local: true,
	Matches: func(c *shellcommand.Call) bool {
		return c.Effect == shellcommand.Changes && slices.Contains(diskPrograms, c.Program) || away(c, `^/(var(/lib(/kubelet)?)?)?/?$`)
	},
	Final:   "what is on the disk is gone for good",
	Decide:  decideWipe,
	Sources: []fault.Ref{{Repo: "util-linux/util-linux", Path: "misc-utils/wipefs.8.adoc"}},
}}

var diskPrograms = []string{"wipefs", "dd", "mkfs", "mkfs.xfs", "mkfs.ext4", "sgdisk", "sfdisk", "parted", "blkdiscard", "coreos-installer"}

// decideWipe: which disk a name such as /dev/sda is, no source says; what the host carries, it does.
func decideWipe(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	d := &decision{verdict: Person, why: "what is on the disk is gone for good", objects: hostOf(c), undo: "none", lost: "the disk",
		instead: []string{"compare the serial number or WWN of the disk first: lsblk -o NAME,SERIAL,WWN,MOUNTPOINTS"}}
	if c.Host == "" {
		d.why += ". On which host it runs is not in its text: on a node of the cluster it can be the disk that the node runs from"
		return d, nil
	}
	n, err := l.hostNode(ctx, c)
	if gone := (*notThere)(nil); asNotThere(err, &gone) {
		d.why += ". " + c.Host + " is no node of the cluster that was read"
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	d.objects = []string{refOf(n)}
	silent, item, err := l.silence(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	d.evidence = []evidence.Item{item}
	s, hosted, err := l.etcd(ctx)
	etcd := err == nil && !hosted && control(n)
	switch {
	case silent > 0 && etcd && s.healthy < s.quorum:
		d.verdict, d.evidence = Unsafe, append(d.evidence, s.evidence...)
		d.why = fmt.Sprintf("etcd has no quorum (%d of %d members are healthy): the data on the disk of %s may be needed to restore it", s.healthy, s.members,
			n.Name)
		d.instead = append(d.instead, "rollcall explain etcd-no-quorum")
	case silent > 0:
		d.why += fmt.Sprintf(". %s has not reported for %s: right only if the host is installed again", n.Name, ago(silent))
	case control(n):
		d.verdict = Unsafe
		d.why = n.Name + " is a control-plane node that reports: where this is its disk, the etcd member and its data are gone for good"
		if etcd {
			d.evidence = append(d.evidence, s.evidence...)
			if why, bad := s.without(n.Name); bad {
				d.why += ". And " + why
			}
		}
		d.instead = append(d.instead, "rollcall explain replace-control-plane-node")
	default:
		d.why += ". " + n.Name + " reports and runs: right only for a disk that it does not run from, or after a drain and the deletion of its node"
	}
	return d, nil
}

// away reports whether a call moves or deletes a path that fits a pattern.
func away(c *shellcommand.Call, pattern string) bool {
	if c.Program != "mv" && c.Program != "rm" || len(c.Args) == 0 {
		return false
	}
	from := c.Args
	if c.Program == "mv" && len(from) > 1 {
		from = from[:len(from)-1]
	}
	return slices.ContainsFunc(from, func(a string) bool {
		return matches(path.Clean(strings.TrimSuffix(strings.TrimPrefix(a, "/host"), "/*")), pattern)
	})
}

// decideIdentity: without its certificate the kubelet asks for one, which somebody must approve.
func decideIdentity(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	n, err := l.hostNode(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &decision{verdict: Unsafe, objects: []string{refOf(n)}, undo: "move the files back; after rm there is none",
		lost:    "the identity of the kubelet; with pki also its serving certificate",
		instead: []string{"rollcall explain rebuild-kubelet-certificate", "rollcall fix kubelet-script " + n.Name},
		verify:  []string{"rollcall csr list --node " + n.Name}}
	silent, item, err := l.silence(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	d.evidence = []evidence.Item{item}
	switch {
	case away(c, `^/etc/kubernetes/kubeconfig`):
		d.why = "it is the credential with which the kubelet asks for a certificate: without it there is no way back but a new one from the cluster"
	case silent == 0:
		d.why = n.Name + " reports, so its certificate works: without the files the next start of the kubelet needs a request that somebody approves by hand"
	default:
		d.verdict = Person
		d.why = fmt.Sprintf("%s has not reported for %s. Moving the client certificate away can be right, one step of its recovery; somebody has to "+
			"approve the request behind it", n.Name, ago(silent))
	}
	return d, nil
}
