package archive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// identities are what tells clusters apart, the strongest first. An archive has several
// values of one where it has several objects.
var identities = []struct {
	what     string
	resource evidence.Resource
	name     string // "" is any
	path     []string
}{
	{"cluster ID", evidence.ClusterVersions, "version", []string{"spec", "clusterID"}},
	{"infrastructure name", evidence.Infrastructures, "cluster", []string{"status", "infrastructureName"}},
	{"UID of kube-system", evidence.Namespaces, openshift.SystemNamespace, []string{"metadata", "uid"}},
	{"UID of the pool master", evidence.MachineConfigPools, "master", []string{"metadata", "uid"}},
	{"machine ID of a node", evidence.Nodes, "", []string{"status", "nodeInfo", "machineID"}},
	{"system UUID of a node", evidence.Nodes, "", []string{"status", "nodeInfo", "systemUUID"}},
}

// SeveralClustersError says that archives cannot be read as one.
type SeveralClustersError struct {
	One, Other string // what the user called them
	Why        string
}

// Error implements error.
func (e *SeveralClustersError) Error() string {
	return fmt.Sprintf("--from %s and --from %s cannot be read as one: %s; read one of them at a time", e.One, e.Other, e.Why)
}

// identity has the values of each of identities.
type identity [][]string

func (i identity) known() bool {
	return slices.ContainsFunc(i, func(v []string) bool { return len(v) > 0 })
}

// Join makes several archives parts of one reading. They must be provably of one cluster:
// the strongest identity that two of them both have is the same. What has none:
//   - files of objects in no layout are taken for one cluster as long as nothing in them
//     contradicts that, as files in one directory are (joinfiles.go);
//   - a collection of rollcall-host: see joinMachines;
//   - any other archive without an identity, such as a journal, is taken for one of the same
//     cluster, and its Description says so; its times are not "now" where another archive
//     has one.
//
// Afterwards the locators of objects and lines have the name of their archive.
func Join(ctx context.Context, sources []*Source) error {
	if len(sources) < 2 {
		return nil
	}
	ids := make([]identity, len(sources))
	first := -1
	for i, s := range sources {
		var err error
		if ids[i], err = s.identity(ctx); err != nil {
			return err
		}
		if first < 0 && ids[i].known() {
			first = i
		}
	}
	clock, err := hasClock(ctx, sources, ids)
	if err != nil {
		return err
	}
	var proved identity
	unproven := map[*Source]bool{}
	files := newFileSet()
	for i, s := range sources {
		s.joined = true
		if slices.ContainsFunc(sources[:i], func(o *Source) bool { return o.base == s.base }) {
			s.base = s.name
		}
		same := false // something proves that it is of the cluster of those before
		switch {
		case i == first:
			proved = ids[i]
		case ids[i].known():
			why := differ(proved, ids[i])
			same = why == ""
			if why == unproved && files.only(sources[:i], s) {
				why = ""
				s.note(assumed)
			}
			if why != "" {
				return &SeveralClustersError{sources[first].name, s.name, why}
			}
			proved = proved.with(ids[i])
		}
		if err := files.add(ctx, s, same); err != nil {
			return err
		}
		switch {
		case ids[i].known():
		case len(s.ix.Objects) > 0 && files.only(sources, s):
			s.note(assumed)
		default:
			unproven[s] = true
			s.unproven = clock
			s.note(unprovenReason(clock))
		}
	}
	return joinMachines(ctx, sources, unproven)
}

// note notes why it is not proven of which cluster an archive is.
func (s *Source) note(reason string) {
	s.notes = append(s.notes, evidence.Coverage{Need: "cluster of " + s.base, State: evidence.Partial, Reason: reason})
}

// hasClock reports whether an archive with an identity has a time.
func hasClock(ctx context.Context, sources []*Source, ids []identity) (bool, error) {
	for i, s := range sources {
		if !ids[i].known() {
			continue
		}
		d, err := s.Describe(ctx)
		if err != nil {
			return false, err
		}
		if !d.Now.IsZero() {
			return true, nil
		}
	}
	return false, nil
}

func unprovenReason(clock bool) string {
	const reason = "no cluster ID: read as one cluster with the others"
	if clock {
		return reason + ", and its times do not count as now"
	}
	return reason
}

func (s *Source) identity(ctx context.Context) (identity, error) {
	id := make(identity, len(identities))
	for i, q := range identities {
		list, err := s.List(ctx, q.resource, "")
		if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
			return nil, fmt.Errorf("find the cluster of %s: %w", s.name, err)
		}
		for _, o := range list {
			if v := evidence.String(o.Content, q.path...); v != "" && (q.name == "" || o.Name == q.name) {
				id[i] = append(id[i], v)
			}
		}
	}
	return id, nil
}

// with returns the values of both.
func (i identity) with(o identity) identity {
	both := make(identity, len(identities))
	for k := range both {
		if both[k] = o[k]; k < len(i) {
			both[k] = slices.Concat(i[k], o[k])
		}
	}
	return both
}

const unproved = "nothing that both hold shows that they are of one cluster"

// differ says why two identities are not provably one, "" when they are.
func differ(a, b identity) string {
	why, different := apart(a, b)
	if why == "" && !different {
		return unproved
	}
	if different {
		return why
	}
	return ""
}

// apart compares the strongest identity that both have. Without one, why is empty.
func apart(a, b identity) (why string, different bool) {
	for i, q := range identities {
		if i >= len(a) || len(a[i]) == 0 || len(b[i]) == 0 {
			continue
		}
		if slices.ContainsFunc(b[i], func(v string) bool { return slices.Contains(a[i], v) }) {
			return "the " + q.what + " is the same", false
		}
		return fmt.Sprintf("they are of different clusters: the %s is %s in the one and %s in the other", q.what, quoted(a[i]), quoted(b[i])), true
	}
	return "", false
}

func quoted(list []string) string {
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	if len(list) > 3 {
		list = append(list[:3], "...")
	}
	return strings.Join(list, ", ")
}
