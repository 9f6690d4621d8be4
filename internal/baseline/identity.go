package baseline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Identity is what shows which cluster it is, in addition to the cluster ID. None of it
// changes while a cluster lives: an Infrastructure keeps its name (openshift/api:
// config/v1 InfrastructureStatus.InfrastructureName), and neither kube-system nor the pool
// master can be deleted and created again.
type Identity struct {
	InfrastructureName string `json:"infrastructureName,omitempty"`
	KubeSystemUID      string `json:"kubeSystemUID,omitempty"`
	MasterPoolUID      string `json:"masterPoolUID,omitempty"`
}

// Same says whether a baseline and what it is compared with are of one cluster.
type Same string

// The answers.
const (
	SameYes     Same = "yes"
	SameNo      Same = "no"
	SameUnknown Same = "unknown"
)

// SameCluster is that answer with what shows it. Where it is unknown, the reasons are why,
// and what is known that is no proof.
type SameCluster struct {
	Same    Same     `json:"same"`
	Reasons []string `json:"reasons"`
	ByID    bool     `json:"-"` // the cluster ID was compared
}

// identify reads what shows which cluster it is. What cannot be read is left out.
func (b *Baseline) identify(ctx context.Context, l Lister) error {
	for _, q := range []struct {
		from evidence.Resource
		name string
		to   *string
		path []string
	}{
		{evidence.ClusterVersions, "version", &b.Cluster, []string{"spec", "clusterID"}},
		{evidence.Infrastructures, "cluster", &b.Identity.InfrastructureName, []string{"status", "infrastructureName"}},
		{evidence.Namespaces, openshift.SystemNamespace, &b.Identity.KubeSystemUID, []string{"metadata", "uid"}},
		{evidence.MachineConfigPools, "master", &b.Identity.MasterPoolUID, []string{"metadata", "uid"}},
	} {
		list, err := l.Some(ctx, q.from, "")
		if _, unread := evidence.AsUnavailable(err); err != nil && !unread {
			return err
		}
		for _, o := range list {
			value := evidence.String(o.Content, q.path...)
			if o.Name == q.name && !obfuscation.Found(value) {
				*q.to = value
			}
		}
	}
	return nil
}

// sameCluster decides by the cluster ID where both sides have it. Without it, a difference of
// anything else is proof: it is of another cluster. The UIDs of objects are the same in clusters that were installed from
// one image of an installed cluster, so they only count together with a machine.
func sameCluster(was, is Baseline) SameCluster {
	equal := func(what, a, b string) *SameCluster {
		switch {
		case a == "" || b == "":
			return nil
		case a == b:
			return &SameCluster{Same: SameYes, Reasons: []string{fmt.Sprintf("the %s is the same: %s", what, a)}}
		}
		return &SameCluster{Same: SameNo, Reasons: []string{fmt.Sprintf("the %s was %s, and is %s", what, a, b)}}
	}
	if s := equal("cluster ID", was.Cluster, is.Cluster); s != nil {
		s.ByID = true
		return *s
	}
	name := equal("infrastructure name", was.Identity.InfrastructureName, is.Identity.InfrastructureName)
	uids := []*SameCluster{
		equal("UID of kube-system", was.Identity.KubeSystemUID, is.Identity.KubeSystemUID),
		equal("UID of the pool master", was.Identity.MasterPoolUID, is.Identity.MasterPoolUID),
	}
	for _, s := range append([]*SameCluster{name}, uids...) {
		if s != nil && s.Same == SameNo {
			return *s
		}
	}
	if name != nil {
		return *name
	}
	m := machines(was, is)
	objects := uids[0]
	if objects == nil {
		objects = uids[1]
	}
	if config := sameConfig(was, is); objects == nil && config != "" {
		objects = &SameCluster{Reasons: []string{fmt.Sprintf("the UID of MachineConfig %s is the same", config)}}
	}
	if objects != nil && m.same != "" {
		return SameCluster{Same: SameYes, Reasons: []string{objects.Reasons[0], m.same + " is the same machine"}}
	}
	why := SameCluster{Same: SameUnknown, Reasons: []string{noID("in the baseline", was), noID("now", is)}}
	if objects != nil {
		why.Reasons = append(why.Reasons, objects.Reasons...)
	}
	why.Reasons = append(why.Reasons, m.words)
	if a, b := value(was, Network, "infrastructure/cluster", apiURL), value(is, Network, "infrastructure/cluster", apiURL); a != "" && b != "" {
		words := fmt.Sprintf("the URL of the API is the same: %s", a)
		if a != b {
			words = fmt.Sprintf("the URL of the API was %s, and is %s", a, b)
		}
		why.Reasons = append(why.Reasons, words)
	}
	return why.clean()
}

func (s SameCluster) clean() SameCluster {
	var list []string
	for _, r := range s.Reasons {
		if r != "" {
			list = append(list, r)
		}
	}
	s.Reasons = list
	return s
}

// Err is what refuses a baseline of another cluster.
func (s SameCluster) Err() error {
	if s.Same != SameNo {
		return nil
	}
	return errors.New("these are different clusters: " + strings.Join(s.Reasons, "; "))
}

// noID says why one side has no cluster ID, "" where it has one.
func noID(when string, b Baseline) string {
	if b.Cluster != "" {
		return ""
	}
	for _, g := range b.Missing {
		if g.Area == Version {
			return fmt.Sprintf("no cluster ID %s: %s", when, g.Reason)
		}
	}
	return "no cluster ID " + when
}

const apiURL = "status.apiServerURL"

func value(b Baseline, area Area, subject, name string) string {
	for _, e := range b.Entries {
		if e.key() == (Entry{Area: area, Subject: subject, Name: name}) {
			return e.Value
		}
	}
	return ""
}

// sameConfig is the name of a MachineConfig that has one UID on both sides.
func sameConfig(was, is Baseline) string {
	had := map[Entry]bool{}
	for _, e := range was.Entries {
		if e.Area == Configs && e.Name == "metadata.uid" {
			had[e] = true
		}
	}
	for _, e := range is.Entries {
		if had[e] {
			return strings.TrimPrefix(e.Subject, "mc/")
		}
	}
	return ""
}

// fleet is what the Nodes of both sides show.
type fleet struct {
	same  string // a Node that is on the same machine
	words string
}

// machines compares Nodes by name and by what identifies their machines. A cluster that is
// installed again on its machines has the same: that alone is no proof.
func machines(was, is Baseline) fleet {
	names, ids := map[string]bool{}, map[Entry]bool{}
	for _, e := range was.Entries {
		if e.Area == Nodes {
			names[e.Subject] = true
			ids[e] = e.Name == "systemUUID" || e.Name == "machineID"
		}
	}
	var f fleet
	here := map[string]bool{}
	common := map[string]bool{}
	alike := map[string]bool{}
	for _, e := range is.Entries {
		if e.Area != Nodes {
			continue
		}
		here[e.Subject] = true
		if names[e.Subject] {
			common[e.Subject] = true
		}
		if ids[e] && !obfuscation.Found(e.Value) {
			if alike[e.Subject] = true; f.same == "" {
				f.same = e.Subject
			}
		}
	}
	switch {
	case len(names) == 0 || len(here) == 0:
	case len(common) == 0:
		f.words = fmt.Sprintf("none of the %d nodes of the baseline is here", len(names))
	case len(alike) == 0:
		f.words = fmt.Sprintf("%d of %d nodes have names of the baseline, and none is known to be the same machine", len(common), len(here))
	default:
		f.words = fmt.Sprintf("%d of %d nodes are machines of the baseline", len(alike), len(here))
	}
	return f
}
