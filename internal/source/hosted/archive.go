package hosted

import (
	"context"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

// Archives reads archives as a hosted cluster with its management cluster. want is
// NAMESPACE/NAME; where it is empty, only a dump of HyperShift is read so, because
// such a dump is made of one hosted cluster. nil without an error means that the
// archives are to be read as they are.
func Archives(ctx context.Context, list []*archive.Source, want string) (evidence.Source, error) {
	if i := slices.IndexFunc(list, func(s *archive.Source) bool { return s.Recorded() != nil }); i >= 0 {
		if have := list[i].Recorded().String(); want != "" && want != have {
			return nil, fmt.Errorf("--hosted %s: the collection was made of %s", want, have)
		}
		return nil, nil // a collection answers as its run was answered
	}
	dump := slices.ContainsFunc(list, (*archive.Source).Dump)
	if len(list) == 0 || want == None || want == "" && !dump {
		return nil, nil
	}
	management, found, err := managing(ctx, list)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && want == "" {
		return nil, nil // a part of a dump: it is read as it is
	}
	ref, err := Pick(found, want)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(list), func(s *archive.Source) bool { return slices.Contains(management, s) })
	for _, m := range management {
		if n, ok := m.Nested(ref.Name); ok {
			others = append(others, n)
		}
	}
	for _, group := range [][]*archive.Source{management, others} {
		if err := archive.Join(ctx, group); err != nil {
			return nil, err
		}
	}
	s := &Source{Ref: ref, Management: several(management), Skip: []string{archive.NestedNeed(ref.Name)}}
	if s.Cluster = several(others); s.Cluster == nil {
		s.Why = &evidence.Unavailable{Why: evidence.NotCollected,
			Detail: "the archive holds nothing of the hosted cluster itself (hostedcluster-" + ref.Name + "/)",
			Supply: evidence.Supply{Kind: evidence.SupplyHyperShiftDump, Namespace: ref.Namespace, Name: ref.Name}}
	}
	return s, nil
}

// managing returns the archives that hold HostedClusters, and these.
func managing(ctx context.Context, list []*archive.Source) ([]*archive.Source, []evidence.Hosted, error) {
	var management []*archive.Source
	var found []evidence.Hosted
	for _, s := range list {
		refs, _, err := Find(ctx, s)
		if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
			return nil, nil, err
		}
		if len(refs) == 0 {
			continue
		}
		management = append(management, s)
		for _, r := range refs {
			if !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	return management, found, nil
}

// several reads archives of one cluster as one source; nil if there are none.
func several(list []*archive.Source) evidence.Source {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	var all joined
	for _, s := range list {
		all = append(all, s)
	}
	return all
}
